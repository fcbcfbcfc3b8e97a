"""Separate namespaces for a script, with the loopback device alone: what listens there is invisible outside, and ends with it."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys

INSIDE = "LEXFUSE_BENCH_ENCLOSED"  # set in the namespaces
OWN = ["-n", "-m", "-p", "--fork", "--kill-child", "--mount-proc"]


def enclose() -> None:
    """Continue in a new process with separate namespaces, and exit with its status; return if this is that process."""
    if os.environ.get(INSIDE):
        subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
        return
    if missing := [name for name in ("unshare", "nsenter", "ip") if shutil.which(name) is None]:
        raise SystemExit(f"{', '.join(missing)} not found; install util-linux and iproute2")
    ways = (["unshare", *OWN], ["unshare", "-r", *OWN])  # who is not root needs a user namespace too
    way = next(
        (one for one in ways if not subprocess.run([*one, "true"], stderr=subprocess.DEVNULL, check=False).returncode), None
    )
    if way is None:
        raise SystemExit("no permission to create namespaces; run as root, or allow unprivileged user namespaces")
    process = subprocess.Popen([*way, sys.executable, *sys.argv], env=os.environ | {INSIDE: "1"})
    signal.signal(signal.SIGTERM, lambda *_: process.kill())  # which ends everything inside; unshare blocks SIGTERM
    raise SystemExit(process.wait())
