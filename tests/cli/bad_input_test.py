"""Bad input of operators against a fleet of `slipring up`: every one is refused with a reason that says what to do, and
the exit code that the documentation names; nothing is changed by any of them."""
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import fleet as support  # noqa: E402
from fleet import Fleet, ask, command, eventually  # noqa: E402

USAGE, REFUSED, DATA_LOSS = 2, 3, 5
fleet = None


def setUpModule():
    global fleet
    fleet = Fleet(program, nodes=2, routers=1)
    ask(fleet.port, [command(b"SET", b"k:%d" % i, b"v") for i in range(500)])


def tearDownModule():
    fleet.close()


class BadInput(unittest.TestCase):
    """After each test the topology and the plans are as they were before it."""

    def setUp(self):
        before = self.state()
        self.addCleanup(lambda: self.assertEqual(self.state(), before))

    def refused(self, arguments, code, *words):
        """The command ends with the code and names every word."""
        got, out, errors = fleet.run(*arguments)
        self.assertEqual(got, code, f"{arguments}: {out}{errors}")
        for word in words:
            self.assertIn(word, out + errors, arguments)
        return out + errors

    @staticmethod
    def state():
        status = fleet.command("status")
        return (status["epoch"], sorted((n["name"], n["address"], n["weight"]) for n in status["pools"][0]["nodes"]),
                len(fleet.command("plan", "list")["plans"]))


class Words(BadInput):
    """What is wrong in itself is found before any server is asked."""

    def test_names_that_cannot_be_names(self):
        for name in ("", "a b", "a/b", "n\n1", "x" * 65, "ä", "n*2"):
            self.refused(["node", "add", name, "127.0.0.1:1", "--yes"], USAGE, "name")
            self.refused(["node", "remove", name, "--yes"], USAGE, "name")

    def test_weights_that_are_none(self):
        for weight in ("-1", "NaN", "nan", "inf", "1e9", "1000.001", "0.0001", "1,5", "", "x"):
            self.refused(["node", "add", "n9", "127.0.0.1:1", f"--weight={weight}", "--yes"], USAGE, "weight")
            self.refused(["node", "weight", "n1", "--yes", "--", weight], USAGE, "weight")

    def test_addresses_that_are_none(self):
        for address in ("localhost", "127.0.0.1", "127.0.0.1:0", "127.0.0.1:65536", "127.0.0.1:x", ":6379", "[::1:6379",
                        "host name:1"):
            self.refused(["node", "add", "n9", address, "--yes"], USAGE, address)

    def test_options_that_are_none(self):
        for option in ("--grace=-1s", "--grace=soon", "--keys-per-second=-5", "--bytes-per-second=much"):
            self.refused(["node", "weight", "n1", "2", "--yes", option], USAGE, option.split("=")[0])

    def test_commands_without_their_arguments_name_the_help(self):
        for arguments in (["node", "add"], ["node", "weight", "n1"], ["plan", "decide"], ["node"], ["plan", "nonsense"]):
            self.refused(arguments, USAGE, "--help")


class Topology(BadInput):
    """What does not fit the fleet."""

    def test_names_and_addresses_that_are_taken(self):
        address = next(n["address"] for n in fleet.pool()["nodes"] if n["name"] == "n1")
        self.refused(["node", "add", "n1", "127.0.0.1:1", "--yes"], REFUSED, "n1")
        self.refused(["node", "add", "n9", address, "--yes"], REFUSED, address, "n1")

    def test_nodes_that_are_not_there(self):
        for arguments in (["node", "remove", "n7"], ["node", "weight", "n7", "2"]):
            self.assertIn("n7", self.refused([*arguments, "--yes"], 1, "n7"))
        self.refused(["router", "forget", "r77"], 1, "r77")

    def test_a_change_that_changes_nothing(self):
        self.refused(["node", "weight", "n1", "1", "--yes"], REFUSED, "n1")

    def test_plans_that_are_not_there(self):
        self.refused(["plan", "show", "77"], 1, "77")
        self.refused(["plan", "show", "x"], USAGE, "plan")
        self.refused(["plan", "rollback"], 1, "no plan")

    def test_backups_that_are_none(self):
        with tempfile.TemporaryDirectory() as place:
            good, bad = os.path.join(place, "good"), os.path.join(place, "bad")
            code, _, errors = fleet.run("topology", "export", good)
            self.assertEqual(code, 0, errors)
            data = pathlib.Path(good).read_bytes()
            for broken in (b"", b"no backup", data[:-3], data[: len(data) // 2] + b"X" + data[len(data) // 2 + 1 :],
                           data + b"x"):
                with open(os.open(bad, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as out:
                    out.write(broken)
                self.refused(["topology", "import", bad, "--yes"], DATA_LOSS, bad)
            self.refused(["topology", "import", os.path.join(place, "absent"), "--yes"], 1, "absent")
            os.chmod(good, 0o644)
            self.refused(["topology", "import", good, "--yes"], 1, good, "chmod 600")


class Servers(BadInput):
    """Servers that do not fit, each a real one; the pool's have an append-only file."""

    def setUp(self):
        super().setUp()
        self.place = tempfile.TemporaryDirectory()
        self.addCleanup(self.place.cleanup)

    def server(self, *options, with_admin=True):
        port = support.free_ports()
        place = os.path.join(self.place.name, str(port))
        os.mkdir(place)
        fitting = ["--save", "", "--appendonly", "yes", "--appendfsync", "everysec", "--repl-diskless-sync", "yes",
                   "--repl-diskless-sync-delay", "5"]
        process = support.start(["redis-server", "--port", str(port), "--bind", "127.0.0.1", "--dir", place, *fitting,
                                 *options], stdout=subprocess.DEVNULL)
        self.addCleanup(support.end, process)
        eventually("the server accepts", lambda: support.can_connect(port))
        if not with_admin:
            return port
        ask(port, [command(b"ACL", b"SETUSER", b"admin", b"on", b">secret-of-a-test", b"~*", b"&*", b"+@all")])
        with open(os.path.join(fleet.data, "credentials"), "a") as out:
            out.write(f"127.0.0.1:{port} admin secret-of-a-test\n")
        return port

    def node_refused(self, port, *words):
        self.refused(["node", "add", "n9", f"127.0.0.1:{port}", "--yes"], REFUSED, f"127.0.0.1:{port}", *words)
        self.refused(["node", "add", "n9", f"127.0.0.1:{port}", "--dry-run"], REFUSED, *words)

    def test_one_that_nobody_started(self):
        self.node_refused(support.free_ports(), "start the server")

    def test_one_without_credentials_of_ours(self):
        port = self.server("--requirepass", "another-secret", with_admin=False)
        self.node_refused(port, "credentials")

    def test_one_that_does_not_speak_the_protocol(self):
        port = int(fleet.api.rsplit(":", 1)[1])
        self.refused(["node", "add", "n9", f"127.0.0.1:{port}", "--yes"], REFUSED, f"127.0.0.1:{port}")

    def test_one_that_holds_keys(self):
        port = self.server()
        ask(port, [command(b"SET", b"here", b"before")])
        self.node_refused(port, "holds 1 keys", "FLUSHALL")

    def test_one_that_holds_keys_in_another_database(self):
        port = self.server()
        self.assertEqual(ask(port, [command(b"SELECT", b"3"), command(b"SET", b"here", b"before")]), [b"+OK", b"+OK"])
        self.node_refused(port, "database 3")

    def test_a_replica(self):
        primary = self.server()
        port = self.server("--replicaof", "127.0.0.1", str(primary))
        self.node_refused(port, "replica")

    def test_one_with_too_little_memory(self):
        self.node_refused(self.server("--maxmemory", "1200kb"), "maxmemory")

    def test_one_that_evicts(self):
        self.node_refused(self.server("--maxmemory", "1gb", "--maxmemory-policy", "allkeys-lru"), "noeviction")

    def test_one_that_persists_less(self):
        port = self.server("--appendonly", "no")
        self.node_refused(port, "no persistence", "--accept-weaker")
        code, out, _ = fleet.run("node", "add", "n9", f"127.0.0.1:{port}", "--dry-run", "--accept-weaker")
        self.assertEqual(code, 0, out)

    def test_one_that_would_fork_for_a_feed(self):
        self.node_refused(self.server("--repl-diskless-sync", "no"), "repl-diskless-sync yes")

    def test_one_in_cluster_mode(self):
        self.node_refused(self.server("--cluster-enabled", "yes", "--cluster-port", str(support.free_ports())), "cluster")


class OneNode(unittest.TestCase):
    """With a fleet of its own, which some of them do not survive whole."""

    def setUp(self):
        self.fleet = Fleet(program, nodes=1, routers=1)
        self.addCleanup(self.fleet.close)
        self.assertEqual(ask(self.fleet.port, [command(b"SET", b"k", b"v")]), [b"+OK"])

    def test_the_last_node_cannot_go(self):
        for arguments in (["remove", "n1"], ["weight", "n1", "0"]):
            code, out, errors = self.fleet.run("node", *arguments, "--yes")
            self.assertEqual(code, REFUSED, out + errors)
            self.assertIn("node", errors)
        self.assertTrue(self.serves())

    def serves(self):
        return ask(self.fleet.port, [command(b"EXISTS", b"k")]) == [b":1"]

    @staticmethod
    def damage(path):
        data = bytearray(path.read_bytes())
        data[len(data) // 2] ^= 0x55
        path.write_bytes(data)

    def test_a_damaged_snapshot_of_a_router_is_refused_and_named_and_never_served(self):
        folder = pathlib.Path(self.fleet.data, "router")
        eventually("the router keeps its snapshot", lambda: any(folder.rglob("*.state")))
        # Without its controller a router that starts has nothing but this file.
        controller = int(pathlib.Path(self.fleet.data, "run/controller.pid").read_text().split()[0])
        router = int(pathlib.Path(self.fleet.data, "run/router-1.pid").read_text().split()[0])
        for pid in (controller, router):
            os.kill(pid, signal.SIGSTOP)
        [path] = folder.rglob("*.state")
        self.damage(path)
        os.kill(router, signal.SIGKILL)
        log = pathlib.Path(self.fleet.data, "log/router-1.log")
        eventually("the router names the file", lambda: str(path) in log.read_text())
        os.kill(controller, signal.SIGCONT)
        eventually("it serves by what the controller says", self.serves)

    def test_damaged_metadata_is_refused_and_named_and_the_routers_serve_on(self):
        folder = pathlib.Path(self.fleet.data, "controller")
        controller = int(pathlib.Path(self.fleet.data, "run/controller.pid").read_text().split()[0])
        os.kill(controller, signal.SIGSTOP)
        [path] = [p for p in folder.rglob("*") if p.is_file() and p.read_bytes().startswith(b"SQLite format 3")]
        for beside in path.parent.glob(path.name + "-*"):
            beside.unlink()
        path.write_bytes(path.read_bytes()[:100] + b"\x55" * 8192)
        os.kill(controller, signal.SIGKILL)
        log = pathlib.Path(self.fleet.data, "log/controller.log")
        eventually("the controller names the file", lambda: str(path) in log.read_text())
        self.assertTrue(self.serves())
        self.assertEqual(self.fleet.run("status")[0], 4)
        self.assertEqual(path.read_bytes()[100:108], b"\x55" * 8, "what is damaged is left for a person to look at")


if __name__ == "__main__":
    program = sys.argv.pop(1)
    unittest.main(verbosity=2)
