"""A fleet of `slipring up` for tests: its processes, its router as a Redis client sees it, and who holds a key."""
import json
import pathlib
import socket
import subprocess
import time

START_SECONDS = 120


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    for s in sockets:
        s.bind(("127.0.0.1", 0))
    ports = [s.getsockname()[1] for s in sockets]
    for s in sockets:
        s.close()
    return ports


def eventually(what, seconds=60):
    """The first true answer of what(); the last one after so many seconds."""
    end = time.monotonic() + seconds
    while True:
        answer = what()
        if answer or time.monotonic() > end:
            return answer
        time.sleep(0.05)


class Redis:
    def __init__(self, port):
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=30)
        self._file = self._socket.makefile("rb")

    def ask(self, *words):
        """The first line of the reply."""
        words = [word.encode() for word in words]
        parts = [b"*%d\r\n" % len(words)] + [b"$%d\r\n%s\r\n" % (len(word), word) for word in words]
        self._socket.sendall(b"".join(parts))
        return self._file.readline().rstrip().decode()

    def close(self):
        self._file.close()
        self._socket.close()


class Fleet:
    def __init__(self, program, folder):
        self._program, self.folder = program, pathlib.Path(folder)
        self.port, self._api = free_ports(2)
        self._log = open(self.folder / "up.log", "wb+")
        self._up = subprocess.Popen(
            [program, "up", "--nodes", "3", "--dir", self.folder / "data", "--listen", f"127.0.0.1:{self.port}",
             "--api", f"127.0.0.1:{self._api}", "--json"], stdout=self._log, stderr=subprocess.STDOUT)
        if not eventually(lambda: '"routers"' in self.log() or self._up.poll() is not None, START_SECONDS):
            raise AssertionError(f"up did not start:\n{self.log()}")
        if self._up.poll() is not None:
            raise AssertionError(f"up ended:\n{self.log()}")

    def log(self):
        return (self.folder / "up.log").read_text(errors="replace")

    def close(self):
        subprocess.run([self._program, "down", "--dir", self.folder / "data"], capture_output=True, check=False)
        self._up.wait(timeout=60)
        self._log.close()

    def command(self, *words, text=None):
        done = subprocess.run([self._program, *words, "--api", f"127.0.0.1:{self._api}"], input=text, text=True,
                              capture_output=True, check=False)
        if done.returncode != 0:
            raise AssertionError(f"{words}: exit {done.returncode}\n{done.stdout}\n{done.stderr}")
        return done.stdout

    def locate(self, keys):
        return json.loads(self.command("locate", "-", "--json", text="".join(key + "\n" for key in keys)))["locations"]

    @property
    def snapshot(self):
        """What the router writes for programs that look keys up themselves."""
        return self.folder / "data/router/router-r1.snapshot"

    def holders(self, address, keys):
        """Those of the keys that the server at this address holds."""
        lines = (self.folder / "data/credentials").read_text().splitlines()
        user, password = next(line.split()[1:] for line in lines if line.startswith(address + " "))
        server = Redis(int(address.rsplit(":", 1)[1]))
        try:
            if server.ask("AUTH", user, password) != "+OK":
                raise AssertionError(f"{address}: no entry")
            return {key for key in keys if server.ask("EXISTS", key) == ":1"}
        finally:
            server.close()
