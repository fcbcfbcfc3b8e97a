"""Watches what a process does to the files of a folder, call by call, and makes a chosen call fail or kills the process there.

The process is forked and traced by the kernel (ptrace), and a seccomp filter stops it only where it touches storage. So the
calls of SQLite, of numpy and of Python are all seen, with their bytes and in their order, and the n-th call is the same one
on an idle machine as on a busy one. Linux on x86-64 only, without any package to install.
"""

import ctypes
import errno
import os
import platform
import signal
import struct
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

_libc = ctypes.CDLL(None, use_errno=True)
_libc.ptrace.restype = ctypes.c_long
_libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]

_TRACE_ME, _CONTINUE, _GET_REGISTERS, _SET_REGISTERS, _TO_RETURN, _SET_OPTIONS = 0, 7, 12, 13, 24, 0x4200
_OPTIONS = 0x1 | 0x2 | 0x4 | 0x8 | 0x80 | 0x100000  # mark system calls, follow forks and threads, seccomp, die with the tracer
_SECCOMP_STOP, _RETURN_STOP, _ANY_TASK = 7, signal.SIGTRAP | 0x80, 0x40000000
_REGISTERS = (
    "r15", "r14", "r13", "r12", "rbp", "rbx", "r11", "r10", "r9", "r8", "rax", "rcx", "rdx", "rsi", "rdi", "orig_rax",
    "rip", "cs", "eflags", "rsp", "ss", "fs_base", "gs_base", "ds", "es", "fs", "gs",
)  # fmt: skip
_ARGUMENTS = ("rdi", "rsi", "rdx", "r10", "r8", "r9")
_HERE = -100  # the folder in which a process is: AT_FDCWD

STORAGE = {
    1: "write", 18: "pwrite64", 2: "open", 257: "openat", 85: "creat", 76: "truncate", 77: "ftruncate", 74: "fsync",
    75: "fdatasync", 82: "rename", 264: "renameat", 316: "renameat2", 87: "unlink", 263: "unlinkat", 84: "rmdir", 83: "mkdir",
    258: "mkdirat",
}  # fmt: skip
UNMODELLED = {20: "writev", 296: "pwritev", 285: "fallocate", 40: "sendfile", 326: "copy_file_range", 86: "link", 265: "linkat"}
MEMORY = {9: "mmap", 12: "brk", 25: "mremap"}
EXCHANGE = 2  # the flag of renameat2 that swaps two names


@dataclass(frozen=True, slots=True)
class Event:
    """One change of the file system, or a mark that the process set by `mark`."""

    kind: str  # create, write, truncate, sync, rename, exchange, unlink, rmdir, mkdir, mark or memory
    path: str = ""
    other: str = ""  # the new name
    offset: int = 0  # of a write; the new size of a truncation
    data: bytes = b""


@dataclass(slots=True)
class Trace:
    """What a process did, and how it ended: the exit status, or minus the signal."""

    events: list[Event] = field(default_factory=list)
    status: int | None = None


Decision = int | signal.Signals | None  # the error that the call gives, the signal that the process gets, or neither


def require() -> None:
    """End this program, with exit code 75, where no process can be traced."""
    reason = "" if (sys.platform, platform.machine()) == ("linux", "x86_64") else "processes are traced on Linux with x86-64 only"
    try:
        status = None if reason else trace(lambda: None, Path("/nowhere"), lambda _: None).status
        reason = reason or (f"a traced process ended with {status}" if status else "")
    except OSError as error:
        reason = f"this system lets no process be traced: {error}"
    if reason:
        sys.stderr.write(f"{reason}\n")
        sys.exit(75)


def mark(text: str) -> None:
    """Put a mark between the events of this process, which is traced."""
    os.write(_marks(), text.encode())


def trace(
    action: Callable[[], None], root: Path, decide: Callable[[Event], Decision], calls: dict[int, str] | None = None
) -> Trace:
    """Fork, run an action there and tell what it did below a folder; `decide` is asked before each event happens."""
    child = os.fork()
    if child == 0:
        _run(action, calls or STORAGE | UNMODELLED)
    watched = _Traced(child, str(root), decide)
    try:
        watched.run()
    finally:
        if watched.trace.status is None:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, _ANY_TASK)
    return watched.trace


def _marks() -> int:
    if not hasattr(_marks, "handle"):
        _marks.handle = os.memfd_create("marks")
    return _marks.handle


def _run(action, calls):
    status = 97
    try:
        os.setpgid(0, 0)
        _marks()
        if _libc.ptrace(_TRACE_ME, 0, None, None):
            os._exit(98)
        os.kill(os.getpid(), signal.SIGSTOP)
        _stop_at(calls)
        action()
        status = 0
    except BaseException as error:
        mark(f"raised {type(error).__name__}: {error}")
    finally:
        os._exit(status)


def _stop_at(numbers):
    """Let the kernel stop this process before these system calls, and no others."""
    load, equal, give = 0x20, 0x15, 0x06
    lines = [(load, 0, 0, 0)]
    lines += [(equal, len(numbers) - at, 0, number) for at, number in enumerate(numbers)]
    lines += [(give, 0, 0, 0x7FFF0000), (give, 0, 0, 0x7FF00000)]
    filters = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *line) for line in lines))
    program = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(lines), ctypes.addressof(filters)))
    if _libc.prctl(38, 1, 0, 0, 0) or _libc.prctl(22, 2, ctypes.byref(program), 0, 0):
        raise OSError(ctypes.get_errno(), "seccomp is not allowed")


class _Traced:
    def __init__(self, child, root, decide):
        self.child, self.root, self.decide = child, root, decide
        self.trace, self.known, self.begun = Trace(), {child}, {}

    def run(self):
        _, status = os.waitpid(self.child, _ANY_TASK)
        if not os.WIFSTOPPED(status):
            raise OSError(errno.EPERM, "ptrace is not allowed")
        self._ask(_SET_OPTIONS, self.child, _OPTIONS)
        self._ask(_CONTINUE, self.child)
        while self.trace.status is None:
            task, status = os.waitpid(-self.child, _ANY_TASK)
            if os.WIFSTOPPED(status):
                self._stopped(task, status)
            elif task == self.child:
                self.trace.status = os.waitstatus_to_exitcode(status)

    def _stopped(self, task, status):
        stop, request, passed = os.WSTOPSIG(status), _CONTINUE, 0
        if status >> 16 == _SECCOMP_STOP:
            request = self._before(task)
        elif stop == _RETURN_STOP:
            self._after(task)
        elif task not in self.known:  # a new thread or process
            self.known.add(task)
        elif stop != signal.SIGTRAP:
            passed = stop
        self._ask(request, task, passed)

    def _before(self, task):
        """What is about to happen; it may be refused or the process killed."""
        registers = self._registers(task)
        event = self._event(task, registers)
        if event is None:
            return _CONTINUE
        decided = self.decide(event)
        if isinstance(decided, signal.Signals):
            self.trace.events.append(Event("mark", "killed"))
            os.kill(self.child, decided)
            return _CONTINUE
        if event.kind == "sync" and decided is None:  # the kernel has the bytes; forcing them to a real disk only takes time
            self.trace.events.append(event)
            decided = 0
        if decided is not None:
            # A heap that did not grow ends too low; all other calls give an error.
            registers["orig_rax"], registers["rax"] = -1, 0 if event.path == "brk" else -decided
            self._ask(_SET_REGISTERS, task, ctypes.create_string_buffer(struct.pack("27q", *registers.values())))
            return _CONTINUE
        self.begun[task] = event
        return _TO_RETURN

    def _after(self, task):
        """What has happened, if it did."""
        event, result = self.begun.pop(task), self._registers(task)["rax"]
        if result < 0:
            return
        if event.kind == "write":
            offset = event.offset if event.offset >= 0 else self._position(task, int(event.other)) - result
            event = Event("write", event.path, "", offset, event.data[:result])
        if event.kind != "memory":
            self.trace.events.append(event)

    def _event(self, task, registers):  # noqa: C901 -- one line a system call
        """The event that a system call would be; None for one that changes nothing below the folder."""
        name = (STORAGE | UNMODELLED | MEMORY)[registers["orig_rax"]]
        a, b, c, d, e, _ = (registers[one] for one in _ARGUMENTS)
        match name:
            case "write" | "pwrite64":
                path, data = self._open_path(task, a), self._memory(task, b, c)
                if path.startswith("/memfd:marks"):
                    return Event("mark", data.decode())
                return self._below(Event("write", path, str(a), d if name == "pwrite64" else -1, data))
            case "fsync" | "fdatasync":
                return self._below(Event("sync", self._open_path(task, a)))
            case "ftruncate":
                return self._below(Event("truncate", self._open_path(task, a), offset=b))
            case "truncate":
                return self._below(Event("truncate", self._path(task, _HERE, a), offset=b))
            case "open" | "creat":
                return self._opened(self._path(task, _HERE, a), b if name == "open" else os.O_CREAT | os.O_TRUNC)
            case "openat":
                return self._opened(self._path(task, a, b), c)
            case "mkdir" | "rmdir" | "unlink":
                return self._below(Event(name, self._path(task, _HERE, a)))
            case "mkdirat":
                return self._below(Event("mkdir", self._path(task, a, b)))
            case "unlinkat":
                return self._below(Event("rmdir" if c else "unlink", self._path(task, a, b)))
            case "rename":
                return self._below(Event("rename", self._path(task, _HERE, a), self._path(task, _HERE, b)))
            case "renameat" | "renameat2":
                kind = "exchange" if name == "renameat2" and e == EXCHANGE else "rename"
                return self._below(Event(kind, self._path(task, a, b), self._path(task, c, d)))
            case "mmap" | "brk" | "mremap":
                return Event("memory", name)
        path = self._open_path(task, b if name == "copy_file_range" else a) if name not in ("link", "linkat") else self.root
        if self._below(Event(name, path)):
            raise NotImplementedError(f"a process used {name} on {path}, which is not modelled")
        return None

    def _opened(self, path, flags):
        there = os.path.lexists(path)
        if flags & os.O_CREAT and not there:
            return self._below(Event("create", path))
        return self._below(Event("truncate", path, offset=0)) if flags & os.O_TRUNC and there else None

    def _below(self, event):
        return event if event.path == self.root or event.path.startswith(self.root + "/") else None

    def _open_path(self, task, handle):
        try:
            return os.readlink(f"/proc/{task}/fd/{handle}")
        except OSError:
            return ""

    def _path(self, task, folder, address):
        name = b""
        while b"\0" not in name:  # page by page: the next one may not be there
            name += self._memory(task, address + len(name), 4096 - (address + len(name)) % 4096)
        base = os.readlink(f"/proc/{task}/cwd") if folder == _HERE or folder == _HERE + 2**32 else self._open_path(task, folder)
        return os.path.normpath(os.path.join(base, os.fsdecode(name[: name.index(b"\0")])))

    def _memory(self, task, address, size):
        with open(f"/proc/{task}/mem", "rb", buffering=0) as memory:
            memory.seek(address)
            return memory.read(size) if size else b""

    def _position(self, task, handle):
        return int(Path(f"/proc/{task}/fdinfo/{handle}").read_text().split("pos:")[1].split()[0])

    def _registers(self, task):
        raw = ctypes.create_string_buffer(27 * 8)
        self._ask(_GET_REGISTERS, task, raw)
        return dict(zip(_REGISTERS, struct.unpack("27q", raw.raw), strict=True))

    def _ask(self, request, task, data=0):
        target = ctypes.cast(data, ctypes.c_void_p) if isinstance(data, ctypes.Array) else ctypes.c_void_p(int(data))
        if _libc.ptrace(request, task, None, target) and ctypes.get_errno() != errno.ESRCH:  # it may have been killed meanwhile
            raise OSError(ctypes.get_errno(), "ptrace")
