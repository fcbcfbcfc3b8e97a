"""Folders of tests in memory. To make an index forces fifty small writes to the disk, and thousands of tests would wait for them.

The calls are the same, and a folder in memory loses nothing while the machine runs; what a power loss does is tried by
tests/crash/power_losses.py with a separate disk.
"""

import os
import tempfile
from pathlib import Path

MEMORY = Path("/dev/shm")  # noqa: S108 -- every folder below it has a unique name
_NEEDED = 4 << 30  # bytes; a folder of a test that passed is removed at its end


def use_memory() -> None:
    """Let this process and those that it starts make their temporary folders in memory, if there is enough and nobody chose."""
    if "TMPDIR" not in os.environ and _free() >= _NEEDED:
        os.environ["TMPDIR"] = str(MEMORY)
        tempfile.tempdir = None  # which was perhaps asked before


def _free() -> int:
    """Bytes of a file system in memory from which programs can be started; 0 where there is none."""
    if not os.access(MEMORY, os.W_OK | os.X_OK):
        return 0
    about = os.statvfs(MEMORY)
    if about.f_flag & os.ST_NOEXEC:
        return 0
    lines = Path("/proc/meminfo").read_text("ascii").splitlines()
    available = next(int(line.split()[1]) << 10 for line in lines if line.startswith("MemAvailable:"))
    return min(about.f_bavail * about.f_frsize, available // 2)
