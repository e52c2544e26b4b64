"""import --verify-live against real servers, and libmemcached itself against its imported configuration strings.

  import_live_test.py PROGRAM
"""
import ctypes
import json
import os
import pathlib
import random
import shutil
import socket
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/support"))
from fleet import ask, can_connect, command, end, eventually, free_ports, start  # noqa: E402

REFUSED, UNREACHABLE = 3, 4


class ImportTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.dir = tempfile.mkdtemp(prefix="slipring-import-")
        cls.addClassCleanup(shutil.rmtree, cls.dir, True)

    @classmethod
    def run_in_background(cls, argv, port):
        with open(f"{cls.dir}/{port}.log", "w") as log:
            cls.addClassCleanup(end, start(argv, stdout=log, stderr=log, cwd=cls.dir))
        eventually(f"port {port}", lambda: can_connect(port))

    def write(self, name, text):
        path = os.path.join(self.dir, name)
        with open(path, "w") as file:
            file.write(text)
        return path

    def imported(self, *arguments, code=0):
        done = subprocess.run([program, "import", *arguments], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def owners(self, form, path, keys):
        """Where each key lies by the imported configuration: "host:port"."""
        answer = json.loads(self.imported(form, path, "--json", "--check", self.write("keys", "".join(k + "\n" for k in keys))))
        addresses = {node["name"]: node["address"] for node in answer["nodes"]}
        return [addresses[row["owner"]] for row in answer["check"]["keys"]]


class Live(ImportTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        first = free_ports(5)
        cls.redis, cls.memcached = [first, first + 1, first + 2], [first + 3, first + 4]
        for port in cls.redis:
            cls.run_in_background(["redis-server", "--port", str(port), "--bind", "127.0.0.1", "--save", ""], port)
        for port in cls.memcached:
            cls.run_in_background(["memcached", "-u", "nobody", "-l", "127.0.0.1", "-p", str(port)], port)
        cls.keys = [f"user:{{{i % 300}}}:{i}" for i in range(1500)]

    def nutcracker(self, name, ports, **changed):
        directives = {"redis": "true", "hash": "murmur", "hash_tag": '"{}"', "distribution": "ketama", **changed}
        weights = directives.pop("weights", [1, 2, 3])
        text = "p:\n" + "".join(f"  {key}: {value}\n" for key, value in directives.items() if value) + "  servers:\n"
        return self.write(name, text + "".join(f"  - 127.0.0.1:{port}:{weight} s{port}\n" for port, weight in zip(ports, weights)))

    def test_redis_keys_lie_right_or_the_cause_is_named(self):
        right = self.nutcracker("right.yml", self.redis)
        self.assertIn("nothing was verified", self.imported("twemproxy", right, "--verify-live"))
        for key, address in zip(self.keys, self.owners("twemproxy", right, self.keys)):
            ask(int(address.rsplit(":", 1)[1]), [command(b"SET", key.encode(), b"1")])
        self.assertIn("1,500 of 1,500 sampled keys", self.imported("twemproxy", right, "--verify-live"))
        for changed, cause in (({"hash": "md5"}, "100.00 % of them would if hash is murmur"),
                               ({"hash_tag": None}, "hash_tag is {}"),
                               ({"distribution": "modula"}, "distribution is ketama"),
                               ({"hash": "hsieh", "hash_tag": None}, "hash_tag is {}, and hash is murmur")):
            path = self.nutcracker("wrong.yml", self.redis, **changed)
            said = self.imported("twemproxy", path, "--verify-live", "-o", f"{self.dir}/no.toml", code=REFUSED)
            self.assertIn(cause, said)
            self.assertFalse(os.path.exists(f"{self.dir}/no.toml"))
        equal = self.nutcracker("equal.yml", self.redis, weights=[1, 1, 1])
        ask_all(self.redis, command(b"FLUSHALL"))
        for key, address in zip(self.keys, self.owners("twemproxy", equal, self.keys)):
            ask(int(address.rsplit(":", 1)[1]), [command(b"SET", key.encode(), b"1")])
        self.assertIn("weights are ignored", self.imported("twemproxy", right, "--verify-live", code=REFUSED))

    def test_memcached_keys_are_read_from_its_crawler(self):
        right = self.nutcracker("memcached.yml", self.memcached, redis=None)
        keys = [key + "%" for key in self.keys]
        for key, address in zip(keys, self.owners("twemproxy", right, keys)):
            self.store(int(address.rsplit(":", 1)[1]), key)
        answer = json.loads(self.imported("twemproxy", right, "--verify-live", "--sample", "400", "--json"))
        self.assertEqual((answer["live"]["sampled"], answer["live"]["at_home"]), (800, 800))
        wrong = self.nutcracker("wrong.yml", self.memcached, redis=None, hash="crc16")
        self.assertIn("hash is murmur", self.imported("twemproxy", wrong, "--verify-live", code=REFUSED))

    def store(self, port, key):
        with socket.create_connection(("127.0.0.1", port), 60) as connection:
            connection.sendall(f"set {key} 0 0 1\r\n1\r\n".encode())
            self.assertEqual(connection.recv(64), b"STORED\r\n")

    def test_a_server_that_does_not_answer_is_named(self):
        nobody = free_ports()
        said = self.imported("twemproxy", self.nutcracker("down.yml", [nobody]), "--verify-live", code=UNREACHABLE)
        self.assertIn(f"127.0.0.1:{nobody}", said)


def ask_all(ports, sent):
    for port in ports:
        ask(port, [sent])


class Libmemcached(ImportTest):
    """The library names the same server for 2,000 keys."""

    STRINGS = [
        "--SERVER=10.0.0.1:11211 --SERVER=10.0.0.2:11212 --SERVER=10.0.0.3 --HASH=MD5 --DISTRIBUTION=CONSISTENT",
        "--DISTRIBUTION=consistent,MD5 --SERVER=10.0.0.1/?2 --SERVER=10.0.0.2:11212/?3 --SERVER=10.0.0.9",
        "--SERVER=10.0.0.3 --SERVER=10.0.0.1 --SERVER=10.0.0.2 --HASH=FNV1_32",
        "--HASH=JENKINS --DISTRIBUTION=CONSISTENT --SERVER=b.example.com --SERVER=a.example.com:11300 --TCP-NODELAY",
        "--DISTRIBUTION=MODULA --SERVER=10.0.0.3 --SERVER=10.0.0.1 --SORT-HOSTS --BINARY-PROTOCOL",
    ]

    def test_the_library_agrees(self):
        library = ctypes.CDLL("libmemcached.so.11")
        library.memcached.restype = library.memcached_server_instance_by_position.restype = ctypes.c_void_p
        library.memcached.argtypes = [ctypes.c_char_p, ctypes.c_size_t]
        library.memcached_generate_hash.restype = ctypes.c_uint32
        library.memcached_generate_hash.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t]
        library.memcached_server_instance_by_position.argtypes = [ctypes.c_void_p, ctypes.c_uint32]
        library.memcached_server_name.restype = ctypes.c_char_p
        library.memcached_server_name.argtypes = library.memcached_server_port.argtypes = [ctypes.c_void_p]
        library.memcached_server_port.restype = ctypes.c_uint16
        library.memcached_free.argtypes = [ctypes.c_void_p]
        chance = random.Random(20261203)
        keys = ["".join(chance.choices("abcdefghijklmnop:0123456789-_", k=chance.randint(1, 40))) for _ in range(2000)]
        for text in self.STRINGS:
            client = library.memcached(text.encode(), len(text))
            self.assertTrue(client, text)
            expected = []
            for key in keys:
                at = library.memcached_generate_hash(client, key.encode(), len(key))
                server = library.memcached_server_instance_by_position(client, at)
                expected.append(f"{library.memcached_server_name(server).decode()}:{library.memcached_server_port(server)}")
            library.memcached_free(client)
            found = self.owners("libmemcached", self.write("string", text), keys)
            differing = [(k, e, f) for k, e, f in zip(keys, expected, found) if e != f]
            self.assertEqual((len(differing), differing[:3]), (0, []), text)


if __name__ == "__main__":
    program = os.path.abspath(sys.argv.pop(1))
    unittest.main(verbosity=2)
