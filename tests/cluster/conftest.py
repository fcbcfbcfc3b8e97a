"""A small corpus, and a real Ray cluster in its own network, where nothing but the tests can reach it."""

import os
import secrets
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
BIN = Path(sys.executable).parent
PATIENCE = 120  # seconds, to end a test that would never end


@pytest.fixture(scope="session")
def articles():
    return EXAMPLES / "articles.csv"


class Enclosure:
    """Processes with a network of their own, which has nothing but the loopback device; all of them end with it."""

    def __init__(self):
        self._holder, self._enter = self._opened(["unshare"]), ["-m", "-n", "-p"]
        if self._holder is None:  # who is not root needs a user namespace too
            self._holder, self._enter = self._opened(["unshare", "-r"]), ["-U", "--preserve-credentials", "-m", "-n", "-p"]

    @property
    def is_open(self):
        return self._holder is not None

    def command(self, *words):
        """Words that run a command inside."""
        return ["nsenter", "-t", str(child_of(self._holder)), *self._enter, "--", *map(str, words)]

    def close(self):
        if self._holder is not None:
            end(self._holder)

    @staticmethod
    def _opened(unshare):
        if not all(shutil.which(name) for name in ("unshare", "nsenter", "ip")):
            return None
        words = [
            *unshare,
            "-n",
            "-p",
            "--fork",
            "--kill-child",
            "--mount-proc",
            "sh",
            "-c",
            "ip link set lo up && echo up && cat",
        ]
        holder = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        if holder.stdout.readline() == b"up\n":
            return holder
        end(holder)
        return None


def end(holder):
    """End what goes on until its input ends."""
    holder.stdin.close()
    holder.wait()
    holder.stdout.close()


def child_of(process):
    """The only child of a process."""
    return int(Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()[0])


class RayNodes:
    """Nodes of one Ray cluster on this machine, and commands of LexFuse that use it."""

    address = "127.0.0.1:6379"

    def __init__(self, enclosure, folder):
        self._enclosure, self.logs = enclosure, folder / "ray"
        self.environment = os.environ | {
            "LEXFUSE_CACHE": str(folder / "cache"),
            "LEXFUSE_SERVE_REQUESTS_PER_MINUTE": "0",  # tests ask without pause
            "LEXFUSE_SERVE_TIMEOUT_SECONDS": "120",  # nor does a busy machine
            "LEXFUSE_SERVE_MAX_WAITING": "4",
            "RAY_SERVE_HANDLE_AUTOSCALING_METRIC_PUSH_INTERVAL_S": "0.5",
            "RAY_AUTH_MODE": "token",
            "RAY_AUTH_TOKEN": secrets.token_hex(32),
            "RAY_USAGE_STATS_ENABLED": "0",
            "RAY_enable_worker_prestart": "0",  # processes are started when a test needs them
            "RAY_prestart_worker_first_driver": "0",
            "HOME": str(folder),
        }
        words = ["--head", "--port", "6379", "--include-dashboard", "false", "--temp-dir", str(folder / "ray")]
        self._start(*words)

    def _start(self, *words):
        common = [
            "--node-ip-address",
            "127.0.0.1",
            "--num-cpus",
            "8",
            "--num-gpus",
            "1",  # there is none: Ray reserves it all the same
            "--object-store-memory",
            str(80 << 20),
            "--disable-usage-stats",
        ]
        self.run(BIN / "ray", "start", *words, *common)

    def run(self, *words, check=True):
        """What a command of the network says."""
        done = subprocess.run(
            self._enclosure.command(*words), capture_output=True, text=True, env=self.environment, timeout=PATIENCE, check=False
        )
        assert done.returncode == 0 or not check, (words, done.stdout, done.stderr)
        return done

    def inside(self, *words):
        """Words that run a command where the cluster is."""
        return self._enclosure.command(*words)

    @staticmethod
    def child_of(process):
        """The command that a process has entered the network for."""
        return child_of(process)

    def start(self, *words):
        """A command of LexFuse that goes on."""
        command = self.inside(BIN / "lexfuse", *words)
        return subprocess.Popen(command, env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def lexfuse(self, *words, check=True):
        """A command of LexFuse on the cluster."""
        return self.run(BIN / "lexfuse", *words, check=check)


@pytest.fixture(scope="session")
def ray_nodes():
    """A Ray cluster with one node."""
    pytest.importorskip("ray")
    enclosure = Enclosure()
    if not enclosure.is_open:
        pytest.skip("a network of its own needs unshare, nsenter, ip and the permission to use them")
    folder = Path(tempfile.mkdtemp(prefix="lf-"))  # Ray makes sockets below it, whose names must be short
    try:
        yield RayNodes(enclosure, folder)
    finally:
        enclosure.close()
        shutil.rmtree(folder, ignore_errors=True)
