"""The promise, whole: keys of every type, with and without an expiry, written and read without pause by four clients
through two routers while nodes join, leave and change weight. What was acknowledged is there, no answer is older than
what its writer was told, no client sees an error or a redirect; a change is taken back with the writes since; after a
completed one no node holds a key that is not its own.

  moves_under_load_test.py [--slipring PROGRAM] [--checker PROGRAM] [--keys N] [--rate OPS_PER_SECOND] [--settle SECONDS]

SLIPRING_LOAD_KEYS and SLIPRING_LOAD_RATE set the defaults. At its full size (300,000 keys): tools/moves-under-load.
"""
import argparse
import os
import pathlib
import sys
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/support"))
from fleet import Checker, Fleet, can_connect, eventually, owners  # noqa: E402

SAMPLE = 2000


def say(text):
    print(text, file=sys.stderr, flush=True)


class MovesUnderLoad(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.fleet = Fleet(options.slipring, nodes=3, routers=2)
        cls.addClassCleanup(cls.fleet.close)
        started = time.monotonic()
        cls.checker = Checker(options.checker, cls.fleet, options.keys, options.rate)
        cls.addClassCleanup(cls.checker.close)
        say(f"{options.keys:,} keys loaded in {time.monotonic() - started:.1f} s")
        cls.keys = cls.checker.names()

    def tearDown(self):
        outcome = self._outcome.result
        if outcome.failures or outcome.errors:
            for part in ("controller", "router-1", "router-2"):
                say(f"--- {part}\n" + self.fleet.log_of(part)[-6000:])

    def change(self, *arguments):
        """A change up to its cutover; it must have compared equal everywhere."""
        started = time.monotonic()
        answer = self.fleet.command("node", *arguments, "--yes")
        plan = answer["plan"]
        self.assertEqual(plan["summary"]["state"], "grace")
        self.assertTrue(plan["verification"])
        for row in plan["verification"]:
            self.assertTrue(row["equal"], row)
            self.assertEqual(row["keys_source"], row["keys_target"], row)
        keys = sum(row["keys_target"] for row in plan["verification"])
        seconds = time.monotonic() - started
        say(f"node {' '.join(arguments)}: {keys:,} keys compared in {seconds:.1f} s ({keys / seconds:,.0f}/s), "
            f"held {plan['hold_longest_us'] / 1000:.1f} ms")
        return plan

    def complete(self):
        started = time.monotonic()
        self.fleet.command("plan", "complete")
        say(f"plan complete: {time.monotonic() - started:.1f} s")
        self.assertEqual(self.fleet.misplaced(), [])

    def owners_by_the_controller(self):
        sample = [key.decode() for key in self.keys[:: max(1, len(self.keys) // SAMPLE)]]
        located = self.fleet.command("locate", *sample)["locations"]
        return {row["key"]: row["owner"] for row in located}

    def test_1_a_node_joins_and_is_taken_back_with_the_writes_since(self):
        before = self.owners_by_the_controller()
        self.assertEqual(list(before.values()),
                         owners(options.slipring, [key.encode() for key in before], self.fleet.members()))
        epoch = self.fleet.epoch()
        self.change("add", "n4")
        joined = self.fleet.epoch()
        self.assertGreater(joined, epoch)
        self.assertIn("n4", self.owners_by_the_controller().values())
        time.sleep(options.settle)  # the writes that a rollback must keep
        self.fleet.command("plan", "rollback")
        self.assertGreater(self.fleet.epoch(), joined)
        self.assertEqual(self.owners_by_the_controller(), before)
        self.assertEqual(self.fleet.misplaced(), [])

    def test_2_the_same_node_joins_again_for_good(self):
        self.change("add", "n4")
        self.complete()
        self.assertGreater(len(self.fleet.keys_of(self.fleet.servers()["n4"])), options.keys // 10)

    def test_3_a_node_gets_twice_the_share(self):
        self.change("weight", "n1", "2")
        self.complete()

    def test_4_a_node_leaves_and_holds_nothing_more(self):
        server = self.fleet.servers()["n2"]
        self.change("remove", "n2")
        self.complete()
        self.assertEqual([node["name"] for node in self.fleet.pool()["nodes"]], ["n1", "n3", "n4"])
        # `up` ends a server that left only once it holds nothing.
        eventually("the empty server is ended", lambda: not can_connect(server[0]))

    def test_5_nothing_was_lost_and_no_client_saw_an_error(self):
        report = self.checker.finish()
        say(f"{report['operations']:,} checked operations ({report['operations_per_second']:,}/s), "
            f"{report['writes_acknowledged']:,} acknowledged writes, {report['keys_verified']:,} keys read back, "
            f"longest wait {report['longest_wait_ms']:.1f} ms")
        self.assertEqual(report["first_errors"] + report["first_violations"], [])
        self.assertEqual((report["errors"], report["redirects"], report["violations"]), (0, 0, 0))
        self.assertEqual(report["keys_verified"], options.keys)
        self.assertEqual(report["keys_uncertain"], 0)


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    release = ROOT / "build/release"
    parser.add_argument("--slipring", default=str(release / "slipring"))
    parser.add_argument("--checker", default=str(release / "slipring_checker"))
    parser.add_argument("--keys", type=int, default=int(os.environ.get("SLIPRING_LOAD_KEYS", 300_000)))
    parser.add_argument("--rate", type=int, default=int(os.environ.get("SLIPRING_LOAD_RATE", 10_000)))
    parser.add_argument("--settle", type=float, default=10, help="seconds of writes between a cutover and its rollback")
    return parser.parse_args()


if __name__ == "__main__":
    options = parse()
    unittest.main(argv=sys.argv[:1], verbosity=2, failfast=True)
