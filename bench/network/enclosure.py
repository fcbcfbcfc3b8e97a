"""A network of the script's own, with the loopback device alone: what listens in it is not visible outside, and ends with it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

INSIDE = "LEXFUSE_BENCH_ENCLOSED"  # set in the namespaces
_OWN = ["-n", "-m", "-p", "--fork", "--kill-child", "--mount-proc"]


def enclose() -> None:
    """Start the script again with namespaces of its own; return in the script that was started so. All ends with it."""
    if os.environ.get(INSIDE):
        subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
        return
    if missing := [name for name in ("unshare", "ip") if shutil.which(name) is None]:
        raise SystemExit(f"{', '.join(missing)} not found; install util-linux and iproute2")
    for unshare in (["unshare"], ["unshare", "-r"]):  # who is not root needs a user namespace too
        if subprocess.run([*unshare, *_OWN, "true"], stderr=subprocess.DEVNULL, check=False).returncode == 0:
            os.execvpe(unshare[0], [*unshare, *_OWN, sys.executable, *sys.argv], os.environ | {INSIDE: "1"})  # noqa: S606
    raise SystemExit("no permission to create namespaces; run as root, or allow unprivileged user namespaces")
