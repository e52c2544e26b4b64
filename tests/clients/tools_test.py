"""redis-cli and redis-benchmark, unchanged, against a fleet."""
import csv
import io
import json
import pathlib
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from fleet import Fleet  # noqa: E402

fleet = None


def setUpModule():
    global fleet
    fleet = Fleet(program)


def tearDownModule():
    fleet.close()


class RedisCli(unittest.TestCase):
    def cli(self, *arguments, text=None, port=0):
        done = subprocess.run(["redis-cli", "-p", str(port or fleet.port), *arguments], input=text, capture_output=True,
                              text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.rstrip("\n")

    def test_single_commands_answer_as_a_redis_does(self):
        self.assertEqual(self.cli("ping"), "PONG")
        self.assertEqual(self.cli("set", "cli:a", "x y"), "OK")
        self.assertEqual(self.cli("get", "cli:a", port=fleet.port + 1), "x y")
        self.assertEqual(self.cli("get", "cli:absent"), "")
        self.assertEqual(self.cli("append", "cli:a", "z"), "4")
        self.assertEqual(self.cli("incrbyfloat", "cli:f", "0.5"), "0.5")
        self.assertEqual(self.cli("rpush", "cli:l", "1", "2", "3"), "3")
        self.assertEqual(self.cli("lrange", "cli:l", "0", "-1").split(), ["1", "2", "3"])
        self.assertEqual(self.cli("type", "cli:l"), "list")
        self.assertEqual(self.cli("object", "encoding", "cli:l"), "quicklist")

    def test_keys_on_several_nodes_are_split_and_merged(self):
        pairs = [word for i in range(50) for word in (f"cli:m:{i}", str(i))]
        keys = pairs[::2]
        self.assertEqual(self.cli("mset", *pairs), "OK")
        self.assertEqual(self.cli("mget", *keys).split(), pairs[1::2])
        self.assertEqual(self.cli("exists", *keys, "cli:absent"), "50")
        self.assertEqual(self.cli("touch", *keys), "50")
        self.assertEqual(self.cli("unlink", *keys[:20]), "20")
        self.assertEqual(self.cli("del", *keys), "30")

    def test_an_error_is_an_answer_and_the_session_goes_on(self):
        lines = self.cli(text="set cli:s 1\nlpush cli:s x\nno-such-command\nget\nget cli:s\n").splitlines()
        lines = [line for line in lines if line]
        self.assertEqual(lines[0], "OK")
        self.assertTrue(lines[1].startswith("WRONGTYPE"), lines)
        self.assertTrue(lines[2].startswith("ERR unknown command"), lines)
        self.assertTrue(lines[3].startswith("ERR wrong number of arguments"), lines)
        self.assertEqual(lines[4], "1")

    def test_keys_on_two_nodes_in_one_command_are_refused_with_the_reason(self):
        done = self.cli("sinter", *[f"cli:set:{i}" for i in range(20)])
        self.assertTrue(done.startswith("CROSSSLOT"), done)
        self.assertEqual(self.cli("sinter", "{cli}a", "{cli}b"), "")

    def test_a_transaction_runs_on_one_node(self):
        lines = self.cli(text="multi\nset {cli}t 1\nincr {cli}t\nexec\nmulti\nset cli:1 a\ndiscard\nexec\n").splitlines()
        self.assertEqual(lines[:3], ["OK", "QUEUED", "QUEUED"])
        self.assertIn("2", lines[3:6])
        self.assertTrue(any(line.startswith("ERR EXEC without MULTI") for line in lines), lines)

    def test_resp3_and_the_handshake_of_a_new_redis_cli_work(self):
        self.assertEqual(self.cli("-3", "hset", "cli:h", "f", "1", "g", "2"), "2")
        self.assertEqual(sorted(self.cli("-3", "hgetall", "cli:h").split()), ["1", "2", "f", "g"])
        self.assertIn("redis_mode:standalone", self.cli("info", "server"))
        self.assertGreater(int(self.cli("command", "count")), 150)

    def test_a_mass_insertion_by_pipe_mode_has_no_error(self):
        text = "".join(f"*3\r\n$3\r\nSET\r\n${len(f'pipe:{i}')}\r\npipe:{i}\r\n$1\r\nv\r\n" for i in range(20000))
        out = self.cli("--pipe", text=text)
        self.assertIn("errors: 0, replies: 20000", out)


class RedisBenchmark(unittest.TestCase):
    TESTS = ["get", "set", "incr", "lpush", "hset", "mset"]

    def bench(self, depth, requests):
        done = subprocess.run(["redis-benchmark", "-p", str(fleet.port), "-t", ",".join(self.TESTS), "-P", str(depth),
                               "-c", "50", "-n", str(requests), "-r", "10000", "--csv"],
                              capture_output=True, text=True, timeout=280)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        for text in (done.stdout, done.stderr):
            self.assertNotIn("ERR", text.upper().replace("\"ERR", "ERR"))
            self.assertNotIn("WARNING", text)
        rates = {}
        for row in csv.reader(io.StringIO(done.stdout)):
            if row and row[0] != "test":
                rates[row[0].split()[0].lower()] = float(row[1])
        self.assertEqual(sorted(rates), sorted(self.TESTS), done.stdout)
        for name, rate in rates.items():
            self.assertGreater(rate, 0, name)
        print(f"redis-benchmark -P {depth}: " + json.dumps(rates), file=sys.stderr)

    def test_one_command_at_a_time_has_a_result_for_each_and_no_error(self):
        self.bench(1, 5000)

    def test_pipelines_of_sixteen_have_a_result_for_each_and_no_error(self):
        self.bench(16, 20000)


if __name__ == "__main__":
    program = sys.argv.pop(1)
    unittest.main(verbosity=2)
