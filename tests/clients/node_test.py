"""ioredis and node-redis from npm, in the versions of node/package-lock.json, unchanged, against a fleet."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from fleet import Fleet  # noqa: E402

NODE = pathlib.Path(__file__).resolve().parent / "node"


class Libraries(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        # Node resolves packages beside the script, so the tests run from a copy.
        cls.place = tempfile.mkdtemp(prefix="slipring-node-")
        cls.addClassCleanup(shutil.rmtree, cls.place, ignore_errors=True)
        for file in NODE.iterdir():
            if file.is_file():
                shutil.copy(file, cls.place)
        subprocess.run(["npm", "ci", "--no-audit", "--no-fund"], cwd=cls.place, check=True, stdout=subprocess.DEVNULL)
        cls.fleet = Fleet(program)
        cls.addClassCleanup(cls.fleet.close)

    def library(self, name):
        env = dict(os.environ, PORT=str(self.fleet.port), DATA=self.fleet.data)
        done = subprocess.run(["node", "--test", f"{name}.test.mjs"], cwd=self.place, env=env, timeout=500,
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        print("\n".join(line for line in done.stdout.splitlines() if line.startswith(("# pass", "# fail"))))

    def test_ioredis_does_ordinary_work(self):
        self.library("ioredis")

    def test_node_redis_does_ordinary_work(self):
        self.library("node_redis")


if __name__ == "__main__":
    program = sys.argv.pop(1)
    unittest.main(verbosity=2)
