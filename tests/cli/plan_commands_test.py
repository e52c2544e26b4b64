"""The life of a plan as scripts drive it, against a fleet of `slipring up`: started and left alone, looked at, paused,
resumed, cancelled, followed and detached from, rolled back, completed; every command with its exit code."""
import json
import pathlib
import signal
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import fleet as support  # noqa: E402
from fleet import Fleet, ask, command, eventually  # noqa: E402

DONE, OTHER, USAGE, REFUSED, STOPPED = 0, 1, 2, 3, 6
KEYS = 2000


class LifeOfAPlan(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.fleet = Fleet(program, nodes=2, routers=1)
        cls.addClassCleanup(cls.fleet.close)
        ask(cls.fleet.port, [command(b"SET", b"k:%d" % i, b"v") for i in range(KEYS)])

    def run_ok(self, code, *arguments):
        got, out, errors = self.fleet.run(*arguments)
        self.assertEqual(got, code, f"{arguments}: {out}{errors}")
        return out + errors

    def newest(self):
        return self.fleet.command("plan", "list")["plans"][0]

    def expect_all_there(self):
        self.assertEqual(support.count_missing((b"k:%d" % i, self.fleet.port) for i in range(KEYS)), 0)

    def test_1_a_dry_run_says_what_would_move_and_starts_nothing(self):
        text = self.run_ok(DONE, "node", "add", "n3", "--dry-run")
        for word in ("of the key space", "until the cutover", "n1", "n3", "AFTER"):
            self.assertIn(word, text)
        self.assertEqual(self.fleet.command("plan", "list")["plans"], [])

    def test_2_without_an_answer_nothing_is_started(self):
        self.assertIn("--yes", self.run_ok(USAGE, "node", "add", "n3"))
        self.assertEqual(self.fleet.command("plan", "list")["plans"], [])

    def test_3_a_detached_plan_goes_on_and_can_be_paused_resumed_and_cancelled(self):
        text = self.run_ok(DONE, "node", "add", "n3", "--yes", "--detach", "--keys-per-second", "50")
        self.assertIn("slipring plan wait", text)
        self.assertIn("n3", self.run_ok(DONE, "plan", "list"))
        self.assertIn("stream", self.run_ok(DONE, "plan", "show"))
        for refused in (["node", "add", "n4"], ["node", "weight", "n1", "2"], ["node", "remove", "n1"]):
            self.assertIn("plan cancel", self.run_ok(REFUSED, *refused, "--yes"))
        backup = str(pathlib.Path(self.fleet.dir, "backup"))
        self.run_ok(DONE, "topology", "export", backup)
        self.assertIn("plan", self.run_ok(REFUSED, "topology", "import", backup, "--yes"))
        self.assertIn("resume", self.run_ok(DONE, "plan", "pause"))
        self.assertEqual(self.newest()["state"], "paused")
        self.run_ok(DONE, "plan", "resume")
        self.assertEqual(self.newest()["state"], "running")
        self.run_ok(DONE, "plan", "cancel")
        self.assertEqual(self.newest()["state"], "cancelled")
        self.assertEqual([node["name"] for node in self.fleet.pool()["nodes"]], ["n1", "n2"])
        for ended in ("rollback", "complete", "pause", "resume", "cancel"):
            self.assertIn("no plan is open", self.run_ok(REFUSED, "plan", ended))
        self.expect_all_there()

    def test_4_ctrl_c_detaches_and_says_how_to_come_back(self):
        process = self.fleet.start_command("node", "add", "n4", "--yes", "--keys-per-second", "50", json_answer=False)
        eventually("the plan is open", lambda: self.newest()["state"] == "running")
        eventually("it is followed", lambda: "n4" in process.stdout.readline())
        process.send_signal(signal.SIGINT)
        out, errors = process.communicate(timeout=60)
        self.assertEqual(process.returncode, DONE, out + errors)
        self.assertIn(f"slipring plan wait {self.newest()['id']}", out + errors)
        self.assertEqual(self.newest()["state"], "running")
        self.run_ok(DONE, "plan", "cancel")
        self.expect_all_there()

    def test_5_grace_and_back_and_again_and_done(self):
        epoch = self.fleet.epoch()
        text = self.run_ok(DONE, "node", "add", "n5", "--yes")
        for word in ("verification", "equal", "were held for at most", "plan rollback", "plan complete"):
            self.assertIn(word, text)
        ask(self.fleet.port, [command(b"SET", b"late:%d" % i, b"v") for i in range(200)])
        self.run_ok(DONE, "plan", "rollback", "--force")
        self.assertEqual(self.newest()["state"], "rolled_back")
        self.assertGreater(self.fleet.epoch(), epoch)
        self.assertEqual(support.count_missing((b"late:%d" % i, self.fleet.port) for i in range(200)), 0)
        self.run_ok(DONE, "node", "add", "n6", "--yes", "--detach")
        self.run_ok(DONE, "plan", "wait")
        self.run_ok(DONE, "plan", "complete")
        self.assertEqual(self.fleet.misplaced(), [])
        self.expect_all_there()

    def test_6_what_has_happened_is_told(self):
        plan = self.newest()["id"]
        events = json.loads(self.run_ok(DONE, "plan", "show", str(plan), "--events", "--json"))["events"]
        told = " ".join(e["text"] for e in events)
        for step in ("copied once", "committed as epoch", "old copies"):
            self.assertIn(step, told)
        self.assertEqual([e["sequence"] for e in events], list(range(1, len(events) + 1)))
        self.assertIn("completed", self.run_ok(DONE, "plan", "show", str(plan)))


if __name__ == "__main__":
    program = sys.argv.pop(1)
    unittest.main(verbosity=2, failfast=True)
