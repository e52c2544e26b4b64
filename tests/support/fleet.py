"""A fleet of `slipring up` for the demo and the tests that are written in Python: started on free ports in a directory
of its own, driven through the program, looked into behind its back, and ended with everything that it started."""
import ctypes
import itertools
import json
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time

BATCH = 2000
START_S = 120


class Failed(Exception):
    """Something did not come about; the text says what."""


FIRST_PORT, BLOCK_PORTS, BLOCKS = 10000, 200, 110
_block = None


def _take_block():
    """A block of ports below the range of outgoing connections that no other test program holds (child_process.cc takes
    them as well), held by a name in the kernel until this process ends."""
    global _block
    for tried in range(BLOCKS):
        number = (os.getpid() + tried) % BLOCKS
        name = socket.socket(socket.AF_UNIX)
        try:
            name.bind(f"\0slipring-test-ports-{number}")
        except OSError:
            name.close()
            continue
        _block = (name, itertools.cycle(range(FIRST_PORT + number * BLOCK_PORTS, FIRST_PORT + (number + 1) * BLOCK_PORTS)))
        return
    raise Failed("no ports: every block is taken by another test program")


def free_ports(count=1):
    """The first of `count` ports in a row that are free now and that no other test program takes."""
    if _block is None:
        _take_block()
    for first in itertools.islice(_block[1], BLOCK_PORTS):
        if (first - FIRST_PORT) % BLOCK_PORTS + count > BLOCK_PORTS:
            continue
        probes = []
        try:
            for port in range(first, first + count):
                probes.append(socket.socket())
                probes[-1].bind(("127.0.0.1", port))
            for _ in range(count - 1):
                next(_block[1])
            return first
        except OSError:
            continue
        finally:
            for probe in probes:
                probe.close()
    raise Failed(f"no {count} free ports in a row")


def eventually(what, condition, seconds=START_S):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise Failed(f"{what}: not within {seconds} s")
        time.sleep(0.02)


def can_connect(port):
    try:
        socket.create_connection(("127.0.0.1", port), 1).close()
        return True
    except OSError:
        return False


# ---- processes -------------------------------------------------------------------------------------------------------

_libc = ctypes.CDLL(None)


def _follow_parent():
    """In the child: a SIGTERM when its parent dies, and no part in a Ctrl-C on the terminal."""
    os.setsid()
    _libc.prctl(1, signal.SIGTERM)


def start(argv, **options):
    return subprocess.Popen(argv, preexec_fn=_follow_parent, **options)


def end(process, seconds=120):
    if process.poll() is None:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
    for stream in (process.stdout, process.stderr, process.stdin):
        if stream:
            stream.close()


# ---- a client that is fast enough ------------------------------------------------------------------------------------


def command(*parts):
    out = [b"*%d\r\n" % len(parts)]
    for part in parts:
        out.append(b"$%d\r\n%s\r\n" % (len(part), part))
    return b"".join(out)


def ask(port, commands):
    """The reply lines of commands that answer with one line each, in order."""
    replies = []
    with socket.create_connection(("127.0.0.1", port), 60) as connection:
        reader = connection.makefile("rb", 1 << 16)
        for at in range(0, len(commands), BATCH):
            part = commands[at : at + BATCH]
            connection.sendall(b"".join(part))
            for _ in part:
                line = reader.readline()
                if not line.endswith(b"\r\n"):
                    raise Failed(f"port {port}: the connection was closed")
                replies.append(line[:-2])
    return replies


def read_reply(reader):
    """A reply of bulk strings and arrays of them."""
    line = reader.readline()
    if not line.endswith(b"\r\n") or line[:1] not in b"*$":
        raise Failed(f"unexpected reply {line!r}")
    size = int(line[1:])
    if line[:1] == b"*":
        return [read_reply(reader) for _ in range(size)]
    return reader.read(size + 2)[:-2]


def count_missing(key_port_pairs):
    """How many of the keys do not exist on the port where they are looked for."""
    by_port = {}
    for key, port in key_port_pairs:
        by_port.setdefault(port, []).append(command(b"EXISTS", key))
    return sum(reply != b":1" for port, commands in by_port.items() for reply in ask(port, commands))


def owners(program, keys, nodes):
    """The owner of each key by the ring over `nodes`, "NAME" or "NAME*WEIGHT"."""
    done = subprocess.run([program, "place", "--nodes", ",".join(nodes)], input=b"\n".join(keys) + b"\n",
                          capture_output=True, check=True)
    return [line.rsplit(b"\t", 1)[1].decode() for line in done.stdout.splitlines()]


class RedisServer:
    """A redis-server without persistence on a free port, for a `with` statement."""

    def __enter__(self):
        self.directory = tempfile.mkdtemp(prefix="slipring-test-")
        self.port = free_ports()
        self.process = start(["redis-server", "--port", str(self.port), "--save", "", "--dir", self.directory],
                             stdout=subprocess.DEVNULL)
        eventually("redis-server answers", lambda: can_connect(self.port))
        return self

    def set_all(self, values):
        ask(self.port, [command(b"SET", key, value) for key, value in values])

    def __exit__(self, *_):
        end(self.process)
        shutil.rmtree(self.directory, ignore_errors=True)


# ---- the fleet -------------------------------------------------------------------------------------------------------


class Fleet:
    def __init__(self, program, directory=None, nodes=3, routers=2):
        self.program = program
        self.routers = routers
        self.own_dir = directory is None
        self.dir = directory or tempfile.mkdtemp(prefix="slipring-fleet-")
        self.data = os.path.join(self.dir, "data")
        self.port = free_ports(routers)
        self.api = f"127.0.0.1:{free_ports()}"
        self.log = os.path.join(self.dir, "up.log")
        with open(self.log, "w") as log:
            self.up = start([program, "up", "--nodes", str(nodes), "--routers", str(routers), "--dir", self.data, "--json",
                             "--listen", f"127.0.0.1:{self.port}", "--api", self.api],
                            stdout=subprocess.PIPE, stderr=log, text=True)
        try:
            self.what_runs = self.up.stdout.readline()
            if not self.what_runs:
                raise Failed("slipring up did not start:\n" + open(self.log).read())
        except BaseException:
            self.close()
            raise

    def close(self):
        end(self.up)
        if self.own_dir:
            shutil.rmtree(self.dir, ignore_errors=True)

    @property
    def ports(self):
        return [self.port + i for i in range(self.routers)]

    def log_of(self, part):
        """What a part ("controller", "router-1", "node-n1") wrote."""
        with open(os.path.join(self.data, "log", part + ".log"), errors="replace") as file:
            return file.read()

    def start_command(self, *arguments, json_answer=True):
        tail = ["--json"] if json_answer else []
        return start([self.program, *arguments, "--api", self.api, *tail], stdout=subprocess.PIPE,
                     stderr=subprocess.PIPE, text=True)

    def run(self, *arguments, json_answer=False):
        """A command of the program: exit code, what it printed, its errors."""
        process = self.start_command(*arguments, json_answer=json_answer)
        try:
            out, errors = process.communicate(timeout=900)
        finally:
            end(process)
        return process.returncode, out, errors

    def command(self, *arguments):
        """The same, which must succeed; its JSON answer."""
        code, out, errors = self.run(*arguments, json_answer=True)
        if code != 0:
            raise Failed(f"slipring {' '.join(arguments)}: exit {code}\n{errors}{out}")
        return json.loads(out)

    def pool(self):
        return self.command("status")["pools"][0]

    def epoch(self):
        return self.command("status")["epoch"]

    def members(self):
        """The nodes as `owners` takes them."""
        return [f"{node['name']}*{node['weight']}" for node in self.pool()["nodes"]]

    # ---- behind its back ---------------------------------------------------------------------------------------------

    def servers(self):
        """Node name -> (port, administrator, password) of every server that runs, also of those outside the pool."""
        by_port = {}
        with open(os.path.join(self.data, "credentials")) as lines:
            for line in lines:
                if line.strip() and not line.startswith("#"):
                    address, user, password = line.split()
                    by_port[int(address.rsplit(":", 1)[1])] = (user, password)
        servers = {}
        for node in self.pool()["nodes"]:
            port = int(node["address"].rsplit(":", 1)[1])
            servers[node["name"]] = (port, *by_port[port])
        return servers

    def keys_of(self, server):
        """All keys that a server holds."""
        port, user, password = server
        keys, cursor = set(), b"0"
        with socket.create_connection(("127.0.0.1", port), 60) as connection:
            reader = connection.makefile("rb", 1 << 16)
            connection.sendall(command(b"AUTH", user.encode(), password.encode()))
            if reader.readline() != b"+OK\r\n":
                raise Failed(f"port {port}: refuses its administrator")
            while True:
                connection.sendall(command(b"SCAN", cursor, b"COUNT", b"2000"))
                cursor, page = read_reply(reader)
                keys.update(page)
                if cursor == b"0":
                    return sorted(keys)

    def misplaced(self):
        """The keys that lie on another node than the one which the ring names, as (key, node, owner)."""
        members = self.members()
        found = []
        for node, server in self.servers().items():
            try:
                keys = self.keys_of(server)
            except OSError:
                # `up` ends the empty server of a node that has left.
                if node in {known["name"] for known in self.pool()["nodes"]}:
                    raise
                continue
            if keys:
                found += [(key, node, owner) for key, owner in zip(keys, owners(self.program, keys, members)) if owner != node]
        return found

    def kill_router(self, number=1):
        """Ends a router as a crash does, and waits until `up` has started it again."""
        path = os.path.join(self.data, "run", f"router-{number}.pid")
        before = self._pid(path)
        os.kill(before, signal.SIGKILL)
        eventually("the router is started again", lambda: self._pid(path) not in (before, None))
        eventually("the router serves again", lambda: self._serves(self.port + number - 1))

    @staticmethod
    def _pid(path):
        try:
            with open(path) as file:
                return int(file.read().split()[0])
        except (OSError, ValueError, IndexError):
            return None

    @staticmethod
    def _serves(port):
        try:
            return ask(port, [command(b"SET", b"probe", b"1")]) == [b"+OK"]
        except (OSError, Failed):
            return False


# ---- the load --------------------------------------------------------------------------------------------------------


class Checker:
    """The end-to-end checker at work on a fleet: clients that write and read without pause and know every answer."""

    def __init__(self, program, fleet, keys, rate=0, clients=4, prefix="check:"):
        self.program, self.keys, self.prefix = program, keys, prefix
        self.stop_file = os.path.join(fleet.dir, "stop")
        self.process = start([program, "--ports", ",".join(map(str, fleet.ports)), "--keys", str(keys), "--prefix", prefix,
                              "--clients", str(clients), "--rate", str(rate), "--stop-file", self.stop_file],
                             stdout=subprocess.PIPE, text=True)
        try:
            if self.process.stdout.readline().strip() != "loaded":
                raise Failed("the load could not be written")
        except BaseException:
            self.close()
            raise

    def names(self):
        """The keys that are there at any time."""
        done = subprocess.run([self.program, "--names", "--keys", str(self.keys), "--prefix", self.prefix],
                              capture_output=True, check=True)
        return done.stdout.splitlines()

    def finish(self):
        """Ends the clients, reads every key, and answers the report."""
        open(self.stop_file, "w").close()
        line = self.process.stdout.readline()
        self.process.wait()
        if not line:
            raise Failed("the checker ended without a report")
        return json.loads(line)

    def close(self):
        end(self.process)
