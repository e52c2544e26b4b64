"""`slipring lab` as scripts use it: formats, sources of keys, bad input.

  lab_commands_test.py SLIPRING
"""
import csv
import io
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/support"))
from fleet import RedisServer  # noqa: E402

program = sys.argv[1]


def lab(*arguments, stdin=""):
    return subprocess.run([program, "lab", *arguments], input=stdin, capture_output=True, text=True, timeout=120)


class Formats(unittest.TestCase):
    def test_json_csv_and_svg_say_the_same(self):
        with tempfile.TemporaryDirectory() as folder:
            svg = os.path.join(folder, "plot.svg")
            arguments = ["moves", "--nodes", "a,b,c", "--remove", "b", "--sample", "1000"]
            as_json = json.loads(lab(*arguments, "--json", "--svg", svg).stdout)
            rows = list(csv.reader(io.StringIO(lab(*arguments, "--csv").stdout)))
            self.assertEqual(rows[0], ["table", "of", "share"])
            self.assertAlmostEqual(float(rows[1][2]), as_json["tables"]["moved"][0]["share"])
            self.assertEqual({row["to"] for row in as_json["tables"]["pairs"]}, {"a", "c"})
            root = xml.etree.ElementTree.parse(svg).getroot()
            self.assertTrue(root.tag.endswith("svg"))
            self.assertIn("% of all keys", "".join(root.itertext()))

    def test_keys_of_standard_input_and_none_printed(self):
        keys = "".join(f"secret:{i}\t{i}\n" for i in range(500))
        shown = lab("balance", "--nodes", "a,b*2", "--keys", "-", stdin=keys)
        self.assertEqual(shown.returncode, 0, shown.stderr)
        self.assertIn("secret:499", shown.stdout)
        hidden = lab("balance", "--nodes", "a,b*2", "--keys", "-", "--redact", stdin=keys)
        self.assertNotIn("secret", hidden.stdout + hidden.stderr)
        self.assertIn("(redacted 1)", hidden.stdout)


class OfAServer(unittest.TestCase):
    def test_reads_the_keys_and_sizes_of_a_running_server(self):
        with RedisServer() as server:
            server.set_all([(b"user:%d" % i, b"x" * (i % 50)) for i in range(3000)] + [(b"large", b"y" * 1_000_000)])
            done = lab("balance", "--count", "3", "--from", f"redis://127.0.0.1:{server.port}", "--json")
            self.assertEqual(done.returncode, 0, done.stderr)
            tables = json.loads(done.stdout)["tables"]
            self.assertEqual(sum(row["keys"] for row in tables["nodes"]), 3001)
            self.assertEqual(tables["heaviest"][0]["key"], "large")
            self.assertGreater(sum(row["bytes"] for row in tables["nodes"]), 1_000_000)

    def test_a_server_that_is_not_there(self):
        done = lab("balance", "--from", "redis://127.0.0.1:1")
        self.assertEqual(done.returncode, 4, done.stderr)
        self.assertIn("127.0.0.1:1", done.stderr)


class BadInput(unittest.TestCase):
    CASES = [
        (["balance", "--nodes", "a,a"], "a"),
        (["balance", "--count", "0"], "--count"),
        (["balance", "--count", "99999999999999999999"], "--count"),
        (["balance", "--vnodes", "0"], "--vnodes"),
        (["balance", "--vnodes", "1,x"], "--vnodes"),
        (["balance", "--vnodes", "99999999999"], "--vnodes"),
        (["balance", "--vnodes", "16777216"], "vnodes"),
        (["balance", "--shape", "round"], "--shape"),
        (["balance", "--sample", "-5"], "--sample"),
        (["balance", "--keys", "/nowhere"], "/nowhere"),
        (["balance", "--keys", "-"], "no key"),
        (["balance", "--keys", "a", "--from", "redis://127.0.0.1:1"], "only one"),
        (["balance", "--from", "http://127.0.0.1"], "redis://"),
        (["balance", "--from", "redis://user:secret@127.0.0.1:1"], "--password-file"),
        (["balance", "--svg", "/nowhere/x.svg"], "/nowhere/x.svg"),
        (["moves", "--count", "3"], "--add"),
        (["moves", "--count", "3", "--remove", "x"], "no such node"),
        (["moves", "--count", "1", "--remove", "n1"], "no node"),
        (["moves", "--count", "3", "--weight", "n1"], "NAME=WEIGHT"),
        (["moves", "--count", "3", "--weight", "n1=-1"], "n1=-1"),
        (["moves", "--count", "3", "--to-scheme", "rong"], "rong"),
        (["moves", "--count", "3", "--remove", "n1", "--hashes", "1,2"], "modulo"),
        (["karger", "--count", "1"], "two nodes"),
        (["karger", "--view-share", "0"], "--view-share"),
        (["hashes", "--buckets", "1"], "--buckets"),
        (["misses", "--hit-ratio", "1.5"], "hit ratio"),
        (["misses", "--change", "0"], "change"),
        (["misses", "--servers", "5", "--change", "-5"], "change"),
        (["misses", "--lookups", "nan"], "lookups"),
        (["misses", "--origin-capacity", "-1"], "origin capacity"),
        (["cascade", "--nodes", "1"], "nodes"),
        (["cascade", "--capacity", "0.1"], "capacity"),
        (["cascade", "--first", "n99"], "n99"),
        (["cascade", "--vnodes", "16777216"], "vnodes"),
        (["capacity", "--replicas", "0"], "--replicas"),
        (["capacity", "--bytes", "lots"], "--bytes"),
        (["capacity", "--add", "n1"], "n1"),
        (["maglev", "--tables", "250"], "250"),
        (["maglev", "--remove", "x"], "x"),
        (["maglev", "--connections", "0"], "connections"),
    ]

    def test_says_what_is_wrong_and_exits_with_2(self):
        for arguments, hint in self.CASES:
            with self.subTest(arguments):
                done = lab(*arguments)
                self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
                self.assertIn(hint, done.stderr)
                self.assertEqual(done.stdout, "")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
