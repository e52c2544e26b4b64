"""docs/takeover.md, command by command: a nutcracker over three redis-servers with data and clients is taken over. Both
write for a while, then the clients have changed over, nutcracker ends and a fourth server joins. No key moves before
that, none is lost, no client sees an error.

  takeover_test.py --slipring PROGRAM
"""
import argparse
import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/support"))
from fleet import ask, can_connect, command, end, eventually, free_ports, read_reply, start  # noqa: E402

KEYS = 3000
CLIENTS = 4
REFUSED = 3
NUTCRACKER = """carts:
  listen: 127.0.0.1:{port}
  redis: true
  hash: murmur
  hash_tag: "{{}}"
  distribution: ketama
  timeout: 5000
  servers:
{servers}"""


class Client(threading.Thread):
    """Writes and reads keys of its own without pause, by the port that it is told, and knows what each must hold."""

    def __init__(self, number, port):
        super().__init__(daemon=True)
        self.keys = [b"cart:{u%d}:%d" % (number, i) for i in range(100)]
        self.keys += [b"own:%d:%d" % (number, i) for i in range(100)]
        self.port = port
        self.values = {}
        self.errors = []
        self.operations = 0
        self.connected_to = None
        self.ending = False

    def run(self):
        try:
            while not self.ending:
                self.serve(self.port)
        except Exception as error:  # pylint: disable=broad-except
            self.errors.append(repr(error))

    def serve(self, port):
        """One connection, until another port is asked for."""
        with socket.create_connection(("127.0.0.1", port), 60) as connection:
            reader = connection.makefile("rb")
            self.connected_to = port
            while self.port == port and not self.ending:
                key = self.keys[self.operations % len(self.keys)]
                value = b"%d" % self.operations
                connection.sendall(command(b"SET", key, value))
                self.expect(key, b"+OK\r\n", reader.readline())
                self.values[key] = value
                other = self.keys[self.operations * 7 % len(self.keys)]
                if other in self.values:
                    connection.sendall(command(b"GET", other))
                    self.expect(other, self.values[other], read_reply(reader))
                self.operations += 1
                time.sleep(0.002)  # the machine is for the move too

    def expect(self, key, wanted, got):
        if got != wanted:
            self.errors.append(f"{key}: {got} for {wanted}")


def blocks(language):
    """The fenced blocks of the page, each a list of lines."""
    text = (ROOT / "docs/takeover.md").read_text()
    return [block.splitlines() for block in re.findall(rf"```{language}\n(.*?)```", text, re.S)]


class TakeOver(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.dir = tempfile.mkdtemp(prefix="slipring-takeover-")
        cls.addClassCleanup(shutil.rmtree, cls.dir, True)
        cls.port = free_ports(10)
        cls.redis = [cls.port + i for i in range(4)]
        cls.nutcracker_port, cls.stats = cls.port + 4, cls.port + 5
        cls.router, cls.api, cls.channel = cls.port + 6, cls.port + 7, cls.port + 8
        os.makedirs(f"{cls.dir}/bin")
        os.symlink(os.path.abspath(options.slipring), f"{cls.dir}/bin/slipring")
        os.makedirs(f"{cls.dir}/slipring", 0o700)
        for port in cls.redis:
            cls.run_in_background(cls.redis_server(port), f"redis-{port}")
        for port in cls.redis:
            eventually(f"redis on {port}", lambda port=port: can_connect(port))
        cls.write("nutcracker.yml", cls.nutcracker(3))
        nutcracker = cls.run_in_background(["nutcracker", "-c", f"{cls.dir}/nutcracker.yml", "-s", str(cls.stats), "-a",
                                            "127.0.0.1"], "nutcracker")
        cls.write("nutcracker.pid", f"{nutcracker.pid}\n")  # it writes one itself only as a daemon
        eventually("nutcracker", lambda: can_connect(cls.nutcracker_port))
        cls.data = [b"cart:{u%d}:%d" % (i % 500, i) if i % 2 else b"page:%d" % i for i in range(1000, 1000 + KEYS)]
        ask(cls.nutcracker_port, [command(b"SET", key, b"v" + key) for key in cls.data])
        cls.clients = [Client(i, cls.nutcracker_port) for i in range(CLIENTS)]
        for client in cls.clients:
            client.start()
        cls.steps = blocks("sh")

    @classmethod
    def tearDownClass(cls):
        for client in cls.clients:
            client.ending = True
            client.join(60)

    @classmethod
    def write(cls, name, text):
        with open(os.path.join(cls.dir, name), "w") as file:
            file.write(text)

    @classmethod
    def redis_server(cls, port):
        os.makedirs(f"{cls.dir}/redis-{port}")
        cls.write(f"redis-{port}/redis.conf",
                  f"port {port}\nbind 127.0.0.1\ndir {cls.dir}/redis-{port}\nappendonly yes\nrepl-diskless-sync yes\n")
        return ["redis-server", f"{cls.dir}/redis-{port}/redis.conf"]

    @classmethod
    def nutcracker(cls, servers):
        lines = [f"  - 127.0.0.1:{port}:1 cart{i + 1}\n" for i, port in enumerate(cls.redis[:servers])]
        return NUTCRACKER.format(port=cls.nutcracker_port, servers="".join(lines))

    @classmethod
    def run_in_background(cls, argv, name):
        log = open(f"{cls.dir}/{name}.log", "w")
        process = start(argv, stdout=log, stderr=log)
        log.close()
        cls.addClassCleanup(end, process)
        return process

    @classmethod
    def here(cls, text):
        """The page's addresses and paths as they are in the test."""
        for i, port in enumerate(cls.redis):
            text = text.replace(f"-h 10.0.0.1{i + 1} -p 6379", f"-h 127.0.0.1 -p {port}")
            text = text.replace(f"10.0.0.1{i + 1}:6379", f"127.0.0.1:{port}")
        for port, ours in ((7400, cls.api), (7401, cls.channel), (6400, cls.router)):
            text = text.replace(f"127.0.0.1:{port}", f"127.0.0.1:{ours}")
        text = text.replace("/run/nutcracker.pid", f"{cls.dir}/nutcracker.pid")
        return text.replace("/etc/slipring", f"{cls.dir}/slipring").replace("/etc/nutcracker", f"{cls.dir}/nutcracker")

    def step(self, code=0):
        """The next block of the page; its last command ends with the code, all others with 0. What it printed."""
        printed = ""
        lines = type(self).steps.pop(0)
        environment = dict(os.environ, PATH=f"{self.dir}/bin:{os.environ['PATH']}", SLIPRING_API=f"127.0.0.1:{self.api}")
        for i, line in enumerate(map(self.here, lines)):
            if line.endswith(" &"):
                argv = [options.slipring, *line.split()[1:-1]]
                self.run_in_background(argv, argv[1])
                port = self.api if argv[1] == "controller" else self.router
                eventually(argv[1], lambda port=port: can_connect(port))
                eventually("the controller leads", lambda: self.leads(environment))
                continue
            done = subprocess.run(["bash", "-o", "pipefail", "-c", line], capture_output=True, text=True, env=environment,
                                  timeout=600, check=False)
            wanted = code if i == len(lines) - 1 else 0
            self.assertEqual(done.returncode, wanted, f"{line}\n{done.stdout}{done.stderr}{self.logs()}")
            printed += done.stdout + done.stderr
        return printed

    @staticmethod
    def leads(environment):
        return subprocess.run([options.slipring, "status"], capture_output=True, env=environment, check=False).returncode == 0

    def logs(self):
        text = ""
        for name in ("controller", "router"):
            path = f"{self.dir}/{name}.log"
            if os.path.exists(path):
                text += f"--- {name}\n" + pathlib.Path(path).read_text(errors="replace")[-3000:]
        return text

    def router_knows_the_epoch(self):
        done = subprocess.run([options.slipring, "status", "--json", "--api", f"127.0.0.1:{self.api}"], capture_output=True,
                              check=True)
        status = json.loads(done.stdout)
        return [router["epoch"] for router in status["routers"]] == [status["epoch"]]

    def keys_on(self, port):
        with socket.create_connection(("127.0.0.1", port), 60) as connection:
            connection.sendall(command(b"KEYS", b"*"))
            return set(read_reply(connection.makefile("rb")))

    def placed(self, servers):
        """Key -> port by the imported configuration with so many servers, over everything that there is."""
        path = f"{self.dir}/with-{servers}"
        self.write(f"with-{servers}.yml", self.nutcracker(servers))
        subprocess.run([options.slipring, "import", "twemproxy", path + ".yml", "-o", path + ".toml"], check=True,
                       capture_output=True)
        keys = sorted(set().union(*(self.keys_on(port) for port in self.redis)))
        done = subprocess.run([options.slipring, "place", "--config", path + ".toml"], input=b"\n".join(keys) + b"\n",
                              capture_output=True, check=True)
        names = [line.rsplit(b"\t", 1)[1].decode() for line in done.stdout.splitlines()]
        return {key: self.redis[int(name[4:]) - 1] for key, name in zip(keys, names)}

    def assert_everything_lies_as_with(self, servers):
        placed = self.placed(servers)
        self.assertTrue(set(self.data) <= set(placed))
        for port in self.redis:
            self.assertEqual(self.keys_on(port), {key for key, owner in placed.items() if owner == port})

    def assert_clients_are_served(self, by):
        before = [client.operations for client in self.clients]
        eventually("every client goes on", lambda: all(
            client.errors or client.operations > n + 50 for client, n in zip(self.clients, before)))
        self.assertEqual([client.errors for client in self.clients], [[]] * CLIENTS)
        self.assertEqual({client.connected_to for client in self.clients}, by)

    def test_the_page(self):
        self.step()  # users
        said = self.step()  # import
        self.assertIn("listen: not carried over", said)
        self.assertIn("(100.00 %)", said)
        self.write("slipring/base.toml", self.here("\n".join(blocks("toml")[0]) + "\n"))
        self.assertIn("cart3", self.step())  # controller and router
        eventually("the router knows the epoch", self.router_knows_the_epoch)

        for client in self.clients[: CLIENTS // 2]:
            client.port = self.router
        eventually("half of the clients have changed over",
                   lambda: all(client.connected_to == client.port for client in self.clients))
        self.assert_clients_are_served({self.router, self.nutcracker_port})
        self.assert_everything_lies_as_with(3)
        for client in self.clients:
            client.port = self.router
        self.assert_clients_are_served_after_change()
        refused = type(self).steps[0]
        said = self.step(REFUSED)
        self.assertRegex(said, r"client connections? past the routers: 127\.0\.0\.1:\d+ \(user default, name \"\", last command [gs]et", refused)
        self.assert_everything_lies_as_with(3)

        self.step()  # the end of nutcracker
        eventually("nutcracker has ended", lambda: not can_connect(self.nutcracker_port))
        self.assertIn("cart4", self.step())  # a fourth server
        self.assertEqual(type(self).steps, [])
        self.assert_clients_are_served({self.router})
        for client in self.clients:
            client.ending = True
            client.join(60)
        self.assert_everything_lies_as_with(4)
        self.assertGreater(len(self.keys_on(self.redis[3])), KEYS // 10)
        expected = {key: b"v" + key for key in self.data}
        for client in self.clients:
            self.assertEqual(client.errors, [])
            expected.update(client.values)
        with socket.create_connection(("127.0.0.1", self.router), 60) as connection:
            reader = connection.makefile("rb")
            for key, value in expected.items():
                connection.sendall(command(b"GET", key))
                self.assertEqual(read_reply(reader), value, key)

    def assert_clients_are_served_after_change(self):
        eventually("all clients have changed over",
                   lambda: all(client.connected_to == self.router for client in self.clients))
        self.assert_clients_are_served({self.router})


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--slipring", default=str(ROOT / "build/release/slipring"))
    options = parser.parse_args()
    unittest.main(argv=sys.argv[:1], verbosity=2)
