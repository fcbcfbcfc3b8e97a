"""Machines on one machine: each is a network, process and mount namespace with a Ray node, and all are joined by a bridge.

The script runs in namespaces (`enclosure`), where it owns the bridge. Ray never binds an address of the real machine.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from network.enclosure import OWN

NETWORK = "10.77.0"
OUTSIDE = f"{NETWORK}.254"  # the script itself
PORT = 6379
_CORES = 1  # that each node has
_PATIENCE = 120  # seconds


def make_bridge() -> None:
    """Make the bridge that joins the nodes; the script must be enclosed."""
    run("ip", "link", "add", "bridge", "type", "bridge")
    run("ip", "link", "set", "bridge", "address", "02:00:00:00:00:01")  # else it changes with the nodes, and peers lose it
    run("ip", "addr", "add", f"{OUTSIDE}/24", "dev", "bridge")
    run("ip", "link", "set", "bridge", "up")


def run(*words: str | Path, check: bool = True, **options: object) -> subprocess.CompletedProcess[str]:
    """Run a command; its output is shown if it fails."""
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True, check=False, timeout=_PATIENCE, **options)  # type: ignore[call-overload]
    if check and done.returncode:
        raise SystemExit(f"{' '.join(map(str, words))} failed with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done


class RayNode:
    """A machine with a Ray node; the first one is the head."""

    def __init__(self, number: int, home: Path, environment: dict[str, str]) -> None:
        """Start it. Its part of the folder `home` is seen by its own processes alone, as ``home/machine``."""
        self.number, self.address, self._home, self._environment = number, f"{NETWORK}.{number}", home, environment
        self._link = f"node{number}"
        own = home / self._link
        shutil.rmtree(own, ignore_errors=True)  # a machine that replaces a lost one starts empty
        own.mkdir()
        script = f"mount --bind {own} {home / 'machine'} && ip link set lo up && echo up && exec cat"
        self._holder = subprocess.Popen(
            ["unshare", *OWN, "sh", "-c", script],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,  # it complains when its child is killed
            text=True,
        )
        assert self._holder.stdout is not None
        if self._holder.stdout.readline() != "up\n":
            raise SystemExit("the namespaces of a node could not be made")
        self.init = int(Path(f"/proc/{self._holder.pid}/task/{self._holder.pid}/children").read_text().split()[0])
        run("ip", "link", "add", self._link, "type", "veth", "peer", "name", "eth0", "netns", str(self.init))
        run("ip", "link", "set", self._link, "master", "bridge", "up")
        run(*self.inside("ip", "addr", "add", f"{self.address}/24", "dev", "eth0"))
        run(*self.inside("ip", "link", "set", "eth0", "up"))
        place = ["--head", "--port", str(PORT), "--include-dashboard", "false", "--temp-dir", str(home / "machine" / "ray")]
        words = place if number == 1 else ["--address", f"{NETWORK}.1:{PORT}"]
        common = ["--node-ip-address", self.address, "--num-cpus", str(_CORES), "--object-store-memory", str(80 << 20)]
        self.run(sys.executable, "-m", "ray.scripts.scripts", "start", *words, *common, "--disable-usage-stats")

    def inside(self, *words: str | Path) -> list[str]:
        """Words that run a command on the node."""
        return ["nsenter", "-t", str(self.init), "-n", "-m", "-p", "--", *map(str, words)]

    def run(self, *words: str | Path, check: bool = True) -> subprocess.CompletedProcess[str]:
        """Run a command on the node."""
        return run(*self.inside(*words), check=check, env=self._environment)

    def start(self, *words: str | Path, errors: Path) -> subprocess.Popen[str]:
        """Start a command on the node that goes on; what it says on standard error goes to a file."""
        with errors.open("w") as log:
            return subprocess.Popen(self.inside(*words), env=self._environment, stdout=subprocess.PIPE, stderr=log, text=True)

    def processes(self, name: str) -> list[int]:
        """Processes of the node with a text in their command line."""
        return [pid for pid in self._pids() if name in _command(pid)]

    @property
    def is_up(self) -> bool:
        """Whether it was not killed."""
        return self._holder.poll() is None

    def kill(self, *, silently: bool = False) -> None:
        """End all processes of the node at once, by SIGKILL; silently: its cable is cut first, so that nobody hears of it."""
        if silently:
            run("ip", "link", "set", self._link, "down")
        os.kill(self.init, signal.SIGKILL)  # the kernel then kills everything in the process namespace
        self._holder.wait()  # until all of it has ended
        run("ip", "link", "del", self._link, check=False)

    def _pids(self) -> Iterator[int]:
        own = os.readlink(f"/proc/{self.init}/ns/pid")
        for path in Path("/proc").glob("[0-9]*"):
            try:
                if os.readlink(path / "ns" / "pid") == own:
                    yield int(path.name)
            except OSError:  # it has ended
                continue


def _command(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace")
    except OSError:
        return ""


@contextmanager
def ray_nodes(count: int, home: Path, environment: dict[str, str]) -> Iterator[list[RayNode]]:
    """Nodes of one Ray cluster."""
    (home / "machine").mkdir()
    nodes: list[RayNode] = []
    try:
        for number in range(1, count + 1):
            nodes.append(RayNode(number, home, environment))  # noqa: PERF401 - those that were started must be ended
        yield nodes
    finally:
        for node in nodes:
            if node.is_up:
                node.kill()
