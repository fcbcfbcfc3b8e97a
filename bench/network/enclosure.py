"""Separate namespaces for a script, with the loopback device alone: what listens there is invisible outside, and ends with it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

from runner.needs import ENCLOSED, namespace_problem

OWN = ["-n", "-m", "-p", "--fork", "--kill-child", "--mount-proc"]


def enclose() -> None:
    """Continue in a new process with separate namespaces, and exit with its status; return if this is that process."""
    if os.environ.get(ENCLOSED):
        subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
        return
    if reason := namespace_problem():
        raise SystemExit(reason)
    ways = (["unshare", *OWN], ["unshare", "-r", *OWN])  # who is not root needs a user namespace too
    way = next(one for one in ways if not subprocess.run([*one, "true"], stderr=subprocess.DEVNULL, check=False).returncode)
    process = subprocess.Popen([*way, sys.executable, *sys.argv], env=os.environ | {ENCLOSED: "1"})
    signal.signal(signal.SIGTERM, lambda *_: process.kill())  # which ends everything inside; unshare blocks SIGTERM
    raise SystemExit(process.wait())
