"""Servers that are always stopped, the programs that measure them, and where all of it lies."""
import atexit
import ctypes
import json
import os
import resource
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
# What is installed and made for the benchmarks, on the disk that is measured.
LAB = Path(os.environ.get("BENCH_LAB") or ROOT / ".build" / "bench")
# Sockets are not below the lab: a socket's path has a hundred bytes.
SOCKETS = Path(tempfile.mkdtemp(prefix="atrium-bench-"))
RUN = LAB / f"run-{os.getpid()}"

running = []
counts = {}


def begin():
    """Makes our directory, and removes what runs that were killed left beside it."""
    for leftover in LAB.glob("run-*"):
        if not Path("/proc", leftover.name.removeprefix("run-")).exists():
            shutil.rmtree(leftover, ignore_errors=True)
    RUN.mkdir(parents=True)
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(most, 16384), most))


def die_with_parent():
    """For a child process: no server outlives us, however we end."""
    pr_set_pdeathsig = 1
    ctypes.CDLL(None).prctl(pr_set_pdeathsig, signal.SIGKILL)


def numbered(folder, name):
    """A path of its own for each that is asked for."""
    counts[name] = counts.get(name, 0) + 1
    return folder / f"{counts[name]}-{name}"


def new_socket(name):
    return str(numbered(SOCKETS, name))


def new_directory(name):
    path = numbered(RUN, name)
    path.mkdir()
    return path


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def dial(address, timeout=30):
    """A connection to unix:PATH or tcp:HOST:PORT."""
    if address.startswith("unix:"):
        connection = socket.socket(socket.AF_UNIX)
        connection.settimeout(timeout)
        connection.connect(address[5:])
        return connection
    host, port = address[4:].rsplit(":", 1)
    return socket.create_connection((host, int(port)), timeout)


def ask(address, data, wanted):
    """Sends data on a new connection and reads until what is wanted has come."""
    with dial(address, 5) as connection:
        connection.sendall(data)
        got = b""
        while wanted not in got:
            more = connection.recv(65536)
            if not more:
                raise EOFError(got[:200])
            got += more
        return got


class Server:
    """A server process, ready once `ready()` does not raise any more."""

    def __init__(self, name, command, address, ready, environment=None, wait=30):
        self.name = name
        self.address = address
        self.log = numbered(RUN, name + ".log")
        start = time.perf_counter()
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(
                [str(word) for word in command], stdout=log, stderr=log,
                stdin=subprocess.DEVNULL, preexec_fn=die_with_parent, cwd=RUN,
                env=environment)
        running.append(self)
        while not self.answers(ready):
            if self.process.poll() is not None or time.perf_counter() - start > wait:
                self.stop()
                raise SystemExit(f"{name} did not start; it said:\n{self.log.read_text()}")
            time.sleep(0.001)
        self.ready_ms = (time.perf_counter() - start) * 1e3

    @staticmethod
    def answers(ready):
        try:
            ready()
            return True
        except (OSError, EOFError):
            return False

    @property
    def pids(self):
        """The server and its children."""
        found, left = [], [self.process.pid]
        while left:
            pid = left.pop()
            found.append(pid)
            try:
                for thread in Path(f"/proc/{pid}/task").iterdir():
                    left += map(int, (thread / "children").read_text().split())
            except OSError:
                pass  # it has ended
        return found

    def pin(self, processors):
        for pid in self.pids:
            for thread in os.listdir(f"/proc/{pid}/task"):
                try:
                    os.sched_setaffinity(int(thread), processors)
                except ProcessLookupError:
                    pass  # it has ended

    def stop(self):
        if self in running:
            running.remove(self)
        children = self.pids[1:]
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        for child in children:
            try:
                os.kill(child, signal.SIGTERM)
            except OSError:
                pass  # it has ended


def stop_all():
    for server in list(running):
        server.stop()


@atexit.register
def clear():
    stop_all()
    shutil.rmtree(SOCKETS, ignore_errors=True)
    shutil.rmtree(RUN, ignore_errors=True)


def tool(name, *arguments, processors=None):
    """Runs one of our C programs to its end.

    Returns what it printed, as a dictionary; a failure ends everything, with what it said.
    """
    def prepare():
        die_with_parent()
        if processors:
            os.sched_setaffinity(0, processors)
    command = [str(LAB / name), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, preexec_fn=prepare, text=True, timeout=120)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(command)}: exit status {done.returncode}\n"
                         f"{done.stdout}{done.stderr}")
    return json.loads(done.stdout)


def drive(mode, server, one_core=False, **options):
    """Has peerbench drive a server; with one_core both run on processor 0."""
    options = {"address": server.address, "servers": ",".join(map(str, server.pids)), **options}
    words = [word for name, value in options.items()
             for word in ("--" + name.replace("_", "-"), value)]
    if not one_core:
        return tool("peerbench", mode, *words)
    everywhere = os.sched_getaffinity(0)
    server.pin({0})
    try:
        return tool("peerbench", mode, *words, processors={0})
    finally:
        server.pin(everywhere)


def request_file(name, text):
    """A file with a request for peerbench."""
    path = numbered(RUN, name)
    path.write_text(text, newline="")
    return path
