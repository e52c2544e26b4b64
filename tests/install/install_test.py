#!/usr/bin/env python3
"""The installed libraries work for a foreign project, and C++, C, Python, Node and the program give the same answers."""
import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from fleet import Fleet, ask, command, eventually  # noqa: E402

LOOKUPS = 1_000_000
KEYS = [f"user:{i}" for i in range(300)] + ["", "{tag}a", "{tag}b", "ключ", "a b"]
options = None


def run(*command, text=None, env=None):
    done = subprocess.run([str(part) for part in command], input=text, env=env, text=True, capture_output=True)
    if done.returncode != 0:
        raise AssertionError(f"{command}: exit {done.returncode}\n{done.stdout[-4000:]}\n{done.stderr[-4000:]}")
    return done.stdout


class Installed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.root = pathlib.Path(tempfile.mkdtemp(prefix="slipring-install-"))
        cls.prefix = cls.root / "prefix"
        run("cmake", "--install", options.build, "--prefix", cls.prefix, "--component", "library")
        cls.library = next(cls.prefix.glob("lib*/**/libslipring_c.so.1"))
        cls.build_examples()
        cls.prepare_node()

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.root)

    @classmethod
    def build_examples(cls):
        sanitize = f"-fsanitize={options.sanitize} -fno-sanitize-recover=all" if options.sanitize else ""
        # The library is C++, so a C program needs the sanitizers' part for C++ as well.
        runtime = "-fsanitize-link-c++-runtime -Wl,--no-as-needed -lstdc++" if options.sanitize else ""
        run("cmake", "-S", options.source / "examples", "-B", cls.root / "examples", "-G", "Ninja",
            f"-DCMAKE_PREFIX_PATH={cls.prefix}", f"-DCMAKE_C_COMPILER={options.cc}",
            f"-DCMAKE_CXX_COMPILER={options.cxx}", f"-DCMAKE_C_FLAGS={sanitize}", f"-DCMAKE_CXX_FLAGS={sanitize}",
            f"-DCMAKE_EXE_LINKER_FLAGS={runtime}")
        run("cmake", "--build", cls.root / "examples", "-j2")
        run(options.cc, *sanitize.split(), *runtime.split(), options.source / "tests/install/lookups.c", f"-I{cls.prefix}/include",
            f"-L{cls.library.parent}", "-lslipring_c", f"-Wl,-rpath,{cls.library.parent}", "-o", cls.root / "lookups")

    @classmethod
    def prepare_node(cls):
        modules = cls.root / "node_modules"
        binding = modules / "slipring"
        binding.mkdir(parents=True)
        source = options.source / "bindings/node"
        for name in ["package.json", "package-lock.json", "slipring.mjs"]:
            shutil.copy(source / name, binding)
        run("npm", "ci", "--prefix", binding, "--no-audit", "--no-fund")

    def env(self):
        env = dict(os.environ, SLIPRING_LIBRARY=str(self.library),
                   PYTHONPATH=str(options.source / "bindings/python"), PYTHONDONTWRITEBYTECODE="1")
        if "address" in options.sanitize:
            runtime = run(options.cc, "-print-file-name=libclang_rt.asan-x86_64.so").strip()
            env.update(LD_PRELOAD=runtime, ASAN_OPTIONS="detect_leaks=0")
        return env

    def script(self, *command, text=None):
        """A Python or Node script. Node resolves packages beside the script, so scripts run from a copy."""
        path = self.root / pathlib.Path(command[1]).name
        shutil.copy(command[1], path)
        return run(command[0], path, *command[2:], text=text, env=self.env())

    def located(self, snapshot, keys):
        """What each language says about the keys, by language."""
        text = "".join(key + "\n" for key in keys)
        examples = options.source / "examples"
        return {
            "C++": run(self.root / "examples/locate_cpp", snapshot, text=text),
            "C": run(self.root / "examples/locate_c", snapshot, text=text),
            "Python": self.script(sys.executable, examples / "python/locate.py", snapshot, text=text),
            "Node": self.script("node", examples / "node/locate.mjs", snapshot, text=text),
        }

    def test_all_languages_locate_alike_before_and_during_a_plan(self):
        for plan in [[], ["plan"]]:
            snapshot = self.root / "snapshot"
            run(options.build / "tests/write_snapshot", snapshot, *plan)
            answers = self.located(snapshot, KEYS)
            lines = answers["C++"].splitlines()
            self.assertEqual(len(lines), len(KEYS))
            self.assertGreater(len({line.split("\t")[1] for line in lines}), 4)
            for language, answer in answers.items():
                self.assertEqual(answer, answers["C++"], language)

    def epoch_of(self, snapshot):
        code = "import sys, slipring; print(slipring.Snapshot(sys.argv[1]).epoch)"
        return int(run(sys.executable, "-c", code, snapshot, env=self.env()))

    def found_by(self, running, keys):
        """What `slipring locate` says."""
        text = "".join(key + "\n" for key in keys)
        return json.loads(run(running.program, "locate", "-", "--json", "--api", running.api, text=text))["locations"]

    def assert_all_agree(self, running, keys):
        """`locate` and, on the snapshot that the router keeps, every language: owner and range of each key."""
        snapshot = pathlib.Path(running.data, "router/router-r1.snapshot")
        found = self.found_by(running, keys)
        self.assertEqual([where["key"] for where in found], keys)
        self.assertEqual({where["epoch"] for where in found}, {found[0]["epoch"]})
        eventually("the router keeps the epoch",
                   lambda: snapshot.exists() and self.epoch_of(snapshot) >= found[0]["epoch"])
        self.assertEqual(self.epoch_of(snapshot), found[0]["epoch"])
        expected = "".join(f"{where['key']}\t{where['owner']}\t{where['range']}\n" for where in found)
        for language, answer in self.located(snapshot, keys).items():
            self.assertEqual(answer, expected, language)
        return found

    def test_router_program_and_every_language_agree_on_owner_and_range_in_an_epoch(self):
        keys = [f"user:{i}" for i in range(300)] + ["{tag}a", "{tag}b", "ключ", "a b"]
        running = Fleet(str(options.build / "slipring"), routers=1)
        self.addCleanup(running.close)
        stored = ask(running.port, [command(b"SET", key.encode(), b"v") for key in keys])
        self.assertEqual(set(stored), {b"+OK"})
        found = self.assert_all_agree(running, keys)
        self.assertEqual({where["owner"] for where in found}, {"n1", "n2", "n3"})
        for node, server in running.servers().items():
            placed = sorted(where["key"].encode() for where in found if where["owner"] == node)
            self.assertEqual(running.keys_of(server), placed, node)
        # In the grace of a plan, with both placements in the snapshot.
        running.command("node", "add", "n4", "--yes", "--detach")
        eventually("n4 owns its keys", lambda: {"grace"} == {
            where["stage"] for where in self.found_by(running, keys) if where["new_owner"] == "n4"})
        found = self.assert_all_agree(running, keys)
        self.assertIn("n4", {where["owner"] for where in found})

    def test_the_program_places_as_the_library_does(self):
        program = options.build / "slipring"
        text = "".join(f"user:{i}\n" for i in range(300))
        for scheme in ["ring", "rendezvous", "maglev", "jump", "slots"]:
            library = run(self.root / "examples/place_cpp", scheme, "a", "b", "c", "d", text=text)
            self.assertEqual(len(library.splitlines()), 300)
            if program.exists():
                placed = run(program, "place", "--scheme", scheme, "--nodes", "a,b,c,d", text=text)
                self.assertEqual(placed, library, scheme)

    def test_a_million_lookups_in_every_language_agree(self):
        tests = options.source / "tests/install"
        digest = run(self.root / "lookups", LOOKUPS)
        self.assertEqual(self.script(sys.executable, tests / "lookups.py", LOOKUPS), digest)
        self.assertEqual(self.script("node", tests / "lookups.mjs", LOOKUPS), digest)

    def test_only_its_own_symbols_are_exported(self):
        exported = [line.split()[-1] for line in run("nm", "-D", "--defined-only", self.library).splitlines()]
        own = [name for name in exported if name.startswith("slipring_") and name.endswith("@@SLIPRING_1")]
        self.assertEqual(sorted(own), sorted(name for name in exported if name != "SLIPRING_1"))
        header = (options.source / "slipring/capi/slipring.h").read_text()
        for name in own:
            self.assertIn(name.split("@")[0] + "(", header)

    def test_python_raises_with_the_reason(self):
        code = ("import slipring\n"
                "try: slipring.Placement('rong', [{'name': 'a'}])\n"
                "except slipring.Error as e: print(e.code, e)\n"
                "try: slipring.Snapshot('/nonexistent')\n"
                "except slipring.Error as e: print(e.code, e)\n"
                "p = slipring.Placement('ring', [{'name': 'a'}, {'name': 'b', 'weight': 0}]); p.close()\n"
                "try: p.owner('k')\n"
                "except ValueError as e: print(e)\n")
        lines = run(sys.executable, "-c", code, env=self.env()).splitlines()
        self.assertTrue(lines[0].startswith('3 scheme "rong": unknown'), lines)
        self.assertTrue(lines[1].startswith("5 /nonexistent"), lines)
        self.assertEqual(lines[2], "closed")

    def test_node_throws_with_the_reason(self):
        script = self.root / "errors.mjs"
        script.write_text("import { Placement, Snapshot } from 'slipring';\n"
                          "for (const make of [() => new Placement('rong', [{ name: 'a' }]),"
                          " () => new Snapshot('/nonexistent')]) {\n"
                          "  try { make(); } catch (e) { console.log(e.code, e.message); }\n}\n"
                          "const p = new Placement('ring', [{ name: 'a' }, { name: 'b', zone: 'z' }], { vnodes: 64 });\n"
                          "console.log(p.preferenceList('k', 5).sort().join(), p.explain('k').point.length);\n"
                          "p.close();\ntry { p.owner('k'); } catch (e) { console.log(e.message); }\n")
        lines = run("node", script, env=self.env()).splitlines()
        self.assertTrue(lines[0].startswith('3 scheme "rong": unknown'), lines)
        self.assertTrue(lines[1].startswith("5 /nonexistent"), lines)
        self.assertEqual(lines[2:], ["a,b 16", "closed"])


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    for name in ["source", "build"]:
        parser.add_argument(f"--{name}", type=pathlib.Path, required=True)
    for name in ["sanitize", "cc", "cxx"]:
        parser.add_argument(f"--{name}", default="")
    options = parser.parse_args()
    unittest.main(argv=sys.argv[:1])
