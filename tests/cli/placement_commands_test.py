#!/usr/bin/env python3
"""schemes, place and check-vectors: what they print, and their exit codes for good and bad input."""

import glob
import json
import os
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
PROGRAM = sys.argv.pop(1)

VECTOR = {
    "system": "groupcache",
    "version": "1",
    "algorithm": "ring",
    "hash": "crc32-ieee",
    "servers": [{"name": f"10.0.0.{i}:6379", "host": f"10.0.0.{i}", "port": 6379, "weight": 1} for i in (1, 2, 3)],
    "options": {"replicas": 50, "point": "decimal(i)+name", "successor": ">="},
    "keys": ["key:0", "key:1", "key:3"],
    "owners": [0, 2, 1],
}


class Commands(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def file(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as out:
            out.write(text)
        return path

    def run_program(self, *arguments, stdin="", code=0):
        done = subprocess.run(
            [PROGRAM, *arguments], input=stdin.encode(), capture_output=True, check=False, timeout=120
        )
        self.assertEqual(done.returncode, code, done.stderr.decode())
        return done.stdout.decode(), done.stderr.decode()

    def refused(self, words, *arguments):
        out, err = self.run_program(*arguments, code=2)
        self.assertEqual(out, "")
        self.assertIn(words, err)


class Schemes(Commands):
    def test_lists_every_scheme_with_its_properties(self):
        out, _ = self.run_program("schemes")
        for word in ("redis-cluster", "weights: used", "on add or remove:", "cost:", "option ", "attribute tokens"):
            self.assertIn(word, out)

    def test_json_holds_what_the_text_says(self):
        schemes = json.loads(self.run_program("schemes", "--json")[0])
        names = [scheme["name"] for scheme in schemes]
        self.assertEqual(len(names), len(set(names)))
        self.assertGreaterEqual(len(names), 40)
        for scheme in schemes:
            for field in ("system", "source", "summary", "disruption", "cost", "weights"):
                self.assertTrue(scheme[field], scheme["name"])
        cassandra = schemes[names.index("cassandra")]
        self.assertIn("murmur3|random", [option["allowed"] for option in cassandra["options"]])

    def test_one_scheme_can_be_asked_for(self):
        out, _ = self.run_program("schemes", "ring")
        self.assertTrue(out.startswith("ring "))
        self.assertNotIn("twemproxy", out)
        self.refused('scheme "rong": unknown', "schemes", "rong")


class Place(Commands):
    def test_prints_key_tab_owner_for_every_line(self):
        out, _ = self.run_program(
            "place", "--scheme", "groupcache", "--nodes", "a=10.0.0.1:6379,b=10.0.0.2:6379,c=10.0.0.3:6379",
            stdin="key:0\nkey:1\n\nkey:3",
        )
        self.assertEqual(out, "key:0\ta\nkey:1\tc\n\ta\nkey:3\tb\n")

    def test_prints_preference_lists_as_long_as_there_are_nodes(self):
        nodes = "n1@a,n2@a,n3@a,n4@b,n5@b"
        out, _ = self.run_program("place", "--nodes", nodes, "--replicas", "3", stdin="user:1001\nsession:xyz\na\n")
        self.assertEqual(out, "user:1001\tn3,n5,n4\nsession:xyz\tn1,n4,n3\na\tn3,n5,n1\n")
        out, _ = self.run_program("place", "--nodes", "x,y", "--replicas", "9", stdin="k\n")
        self.assertEqual(sorted(out.strip().split("\t")[1].split(",")), ["x", "y"])

    def test_tokens_are_given_by_options_and_attributes(self):
        out, _ = self.run_program(
            "place", "--scheme", "redis-cluster", "--nodes", r"a;slots=0-99\,200-16383,b;slots=100-199",
            stdin="somekey\n{}\n",
        )
        self.assertEqual(out, "somekey\ta\n{}\ta\n")

    def test_nodes_come_from_files(self):
        lines = self.file("nodes.txt", "# two nodes\n\na=10.0.0.1:6379\n  b=10.0.0.2:6379*1@dc/rack\r\n")
        toml = self.file(
            "nodes.toml",
            '[[node]]\nname = "a"\nlabel = "10.0.0.1:6379"\n[[node]]\nname = "b"\nlabel = "10.0.0.2:6379"\nweight = 1\n',
        )
        listed = "a=10.0.0.1:6379,b=10.0.0.2:6379"
        keys = "".join(f"k{i}\n" for i in range(3000))
        answers = [self.run_program("place", "--nodes", n, stdin=keys)[0] for n in (lines, toml, listed)]
        self.assertEqual(answers[0].count("\n"), 3000)
        self.assertEqual(answers[0], answers[1])
        self.assertEqual(answers[0], answers[2])

    def test_overrides_pin_keys(self):
        out, _ = self.run_program(
            "place", "--nodes", "a,b", "--opt", "override.key.x=b", "--opt", "override.prefix.t:=a",
            stdin="x\nt:1\nt:2\n",
        )
        self.assertEqual(out, "x\tb\nt:1\ta\nt:2\ta\n")

    def owners(self, keys, *arguments):
        out, _ = self.run_program("place", *arguments, stdin="".join(f"{key}\n" for key in keys))
        lines = [line.split("\t") for line in out.splitlines()]
        self.assertEqual([key for key, _ in lines], list(keys))
        return [owner for _, owner in lines]

    def test_a_small_ring_with_tokens_given_by_hand(self):
        nodes = ["--nodes", "A;tokens=40,B;tokens=150,C;tokens=280"]
        small = [*nodes, "--opt", "hash=decimal", "--opt", "space=360"]
        self.assertEqual(self.owners(["10", "120", "40", "41", "281"], *small), ["A", "B", "A", "B", "A"])
        strict = [*small, "--opt", "successor=strict"]
        self.assertEqual(self.owners(["10", "120", "40", "280"], *strict), ["A", "B", "B", "A"])
        self.refused("token", "place", *nodes, "--opt", "hash=decimal", "--opt", "space=280")
        self.refused("given twice", "place", *small, "--opt", "space=280")
        self.refused("no tokens", "place", "--nodes", "A;tokens=40,B", "--opt", "hash=decimal")

    def test_every_native_scheme_and_its_options_spread_keys(self):
        # Keys that differ in more than their end: FNV spreads others badly.
        keys = [f"{i * 2654435761 % 2**32:08x}" for i in range(400)]
        variants = [["--scheme", name] for name in ("ring", "rendezvous", "maglev", "jump", "slots", "modulo",
                                                    "multiprobe", "anchor", "dx")]
        variants += [["--opt", f"hash={name}"] for name in ("sha1", "md5", "murmur3", "crc32", "fnv1a")]
        variants += [["--opt", "label={name}#{i}"], ["--opt", "successor=strict"], ["--opt", "partitions=64"],
                     ["--scheme", "slots", "--opt", "slots=64"], ["--bounded-load", "0.25"],
                     ["--scheme", "maglev", "--bounded-load", "0.1"]]
        for variant in variants:
            with self.subTest(variant):
                owners = self.owners(keys, *variant, "--nodes", "a,b,c,d")
                self.assertEqual(set(owners), set("abcd"))
                pinned = self.owners(["user:7"], *variant, "--nodes", "a=x1,b=x2,c=x3,d=x4",
                                     "--opt", "override.key.user:7=c")
                self.assertEqual(pinned, ["c"])

    def test_splitting_slots_keeps_every_owner(self):
        keys = [f"user:{i}" for i in range(400)]
        slots = ["--scheme", "slots", "--nodes", "a,b,c", "--opt", "slots=6", "--opt", "table=0-0=a;1-3=b;4-5=c"]
        self.assertEqual(self.owners(keys, *slots), self.owners(keys, *slots, "--opt", "split=2"))
        self.refused("nobody owns it", "place", *slots[:-1], "table=0-3=a")

    def test_bounded_load_gives_no_node_more_than_its_share_and_epsilon(self):
        keys = [f"user:{i}" for i in range(1000)]
        for scheme in ("ring", "rendezvous", "twemproxy", "groupcache"):
            owners = self.owners(keys, "--scheme", scheme, "--nodes", "a,b,c,d", "--bounded-load", "0.05")
            self.assertLessEqual(max(owners.count(node) for node in "abcd"), 263, scheme)
        plain = self.owners(keys, "--nodes", "a,b,c,d")
        self.assertEqual(self.owners(keys, "--nodes", "a,b,c,d", "--bounded-load", "1000"), plain)
        for epsilon in ("0", "-1", "x", "1001", "nan"):
            self.refused("--bounded-load", "place", "--nodes", "a,b", "--bounded-load", epsilon)
        self.refused("no replicas", "place", "--nodes", "a,b", "--bounded-load", "1", "--replicas", "2")

    def test_bad_input_is_refused_with_the_reason(self):
        self.refused('scheme "rong": unknown; there are: ring', "place", "--scheme", "rong", "--nodes", "a")
        self.refused('option "vnods": unknown', "place", "--opt", "vnods=3", "--nodes", "a")
        self.refused("must be", "place", "--opt", "vnodes=0", "--nodes", "a")
        self.refused("write name=value", "place", "--opt", "vnodes", "--nodes", "a")
        self.refused("given twice", "place", "--opt", "vnodes=3", "--opt", "vnodes=4", "--nodes", "a")
        self.refused("--nodes", "place")
        self.refused("--nodes", "place", "--nodes", "")
        self.refused("node name", "place", "--nodes", "a,,b")
        self.refused("named twice", "place", "--nodes", "a,a")
        self.refused("weight", "place", "--nodes", "a*-1")
        self.refused("weight", "place", "--nodes", "a*1001")
        self.refused("all nodes have weight 0", "place", "--nodes", "a*0,b*0")
        self.refused("attribute", "place", "--nodes", "a;rack=1")
        self.refused("write ;attribute=value", "place", "--nodes", "a;rack")
        self.refused("token", "place", "--scheme", "cassandra", "--nodes", "a;tokens=9223372036854775808")
        self.refused("--replicas", "place", "--nodes", "a", "--replicas", "0")

    def test_bad_files_are_refused_with_file_and_line(self):
        self.refused("no nodes", "place", "--nodes", self.file("none.txt", "# nothing\n"))
        self.refused("bad.txt: line 2: weight", "place", "--nodes", self.file("bad.txt", "a\nb*x\n"))
        self.refused("line 2", "place", "--nodes", self.file("bad.toml", '[[node]]\nname = \n'))
        self.refused("port: unknown", "place", "--nodes", self.file("key.toml", '[[node]]\nname = "a"\nport = 1\n'))
        self.refused("cannot be read", "place", "--nodes", self.folder)


class CheckVectors(Commands):
    def line(self, **changes):
        return json.dumps({**VECTOR, **changes}) + "\n"

    def test_counts_every_file_and_all(self):
        one = self.file("one.jsonl", self.line())
        two = self.file("two.jsonl", self.line() + "\n" + self.line())
        out, _ = self.run_program("check-vectors", one, two)
        self.assertEqual(
            out, f"{one}: 3 answers, 0 differing\n{two}: 6 answers, 0 differing\nall: 9 answers, 0 differing\n"
        )

    def test_names_the_first_key_that_differs_and_exits_1(self):
        path = self.file("v.jsonl", self.line() + self.line(owners=[0, 1, 0]))
        out, _ = self.run_program("check-vectors", path, code=1)
        self.assertIn(f"{path}: 6 answers, 2 differing\n", out)
        self.assertIn('groupcache line 2: key "key:1": recorded 1, here 2', out)
        self.assertIn("all: 6 answers, 2 differing\n", out)

    def test_json_says_the_same(self):
        path = self.file("v.jsonl", self.line(owners=[0, 1, 1]))
        found = json.loads(self.run_program("check-vectors", "--json", path, code=1)[0])
        self.assertEqual((found["answers"], found["differing"]), (3, 1))
        self.assertEqual(found["files"][0]["first"]["key"], "key:1")

    def test_what_it_does_not_understand_is_an_error_and_other_files_are_still_checked(self):
        good = self.file("good.jsonl", self.line())
        bad = {
            "not a JSON object": "{\n",
            "unknown": self.line(system="memcheese"),
            'option "spin": unknown': self.line(options={**VECTOR["options"], "spin": 1}),
            "3 keys but 2 answers": self.line(owners=[0, 2]),
            "must be": self.line(options={**VECTOR["options"], "replicas": 0}),
            '"replicas" is missing': self.line(options={"point": "decimal(i)+name", "successor": ">="}),
            '"servers" holds': self.line(servers=[1]),
            '"keys" is no list': self.line(keys=7),
            '"hash" is missing': self.line(hash=None),
            "no nodes": self.line(servers=[]),
            "nested deeper": '{"system":' + "[" * 100_000 + "\n",
            "replicas: \"1e+300\"": self.line(options={**VECTOR["options"], "replicas": 1e300}),
            'option replicas: "1e+20': self.line(
                options={**VECTOR["options"], "replicas": 99999999999999999999}),
            "not hexadecimal": self.line(keys=["hex:0", "b", "c"]),
        }
        for words, text in bad.items():
            with self.subTest(words):
                path = self.file("bad.jsonl", self.line() + text)
                out, err = self.run_program("check-vectors", path, good, code=2)
                self.assertIn("bad.jsonl: line 2: ", err)
                self.assertIn(words, err)
                self.assertIn(f"{good}: 3 answers, 0 differing\n", out)
        for path in (os.path.join(self.folder, "missing"), self.folder):
            _, err = self.run_program("check-vectors", path, code=2)
            self.assertIn("cannot be read", err)

    def test_every_file_of_the_project_agrees(self):
        files = sorted(glob.glob(os.path.join(ROOT, "conformance", "*.zst")))
        self.assertGreaterEqual(len(files), 37)
        text = subprocess.run(["zstd", "-dcq", *files], capture_output=True, check=True).stdout.decode()
        # SLIPRING_VECTORS_STEP: every so manieth only, where the build is a slow one.
        lines = text.splitlines(keepends=True)[:: int(os.environ.get("SLIPRING_VECTORS_STEP", "1"))]
        out, _ = self.run_program("check-vectors", "-", stdin="".join(lines))
        self.assertIn(", 0 differing\n", out)


if __name__ == "__main__":
    unittest.main()
