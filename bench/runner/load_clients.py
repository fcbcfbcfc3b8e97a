"""Clients of a service in a process of their own, so that they take little of the processor time that the service needs.

    python bench/runner/load_clients.py HOST PORT CLIENTS < PATHS

Each client keeps one connection and asks its next path when it has the whole answer to the last one. Paths are lines of standard
input. Prints one JSON object: milliseconds of every request, and seconds of all. A status other than 200 ends it with an error.
"""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from queue import Empty, SimpleQueue
from urllib.parse import urlsplit

END = b"\r\n\r\n"
LENGTH = b"content-length:"
BLOCK = 1 << 16  # bytes read at once


def loaded(address: str, paths: Sequence[str], clients: int) -> tuple[list[float], float]:
    """Milliseconds of every request by some clients of another process, and requests a second."""
    place = urlsplit(address)
    command = [sys.executable, __file__, str(place.hostname), str(place.port), str(clients)]
    done = subprocess.run(command, input="\n".join(paths), capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"the clients failed: {done.stderr.strip() or done.stdout.strip()}")
    found = json.loads(done.stdout)
    return found["milliseconds"], len(paths) / found["seconds"]


def answer(connection: socket.socket, request: bytes) -> bytes:
    """The whole answer to a request; `ValueError` if it is not 200."""
    connection.sendall(request)
    received = connection.recv(BLOCK)
    while END not in received:
        received += more(connection)
    head, _, body = received.partition(END)
    if not head.startswith(b"HTTP/1.1 200"):
        raise ValueError(head.split(b"\r\n")[0].decode("latin-1"))
    fields = [line for line in head.lower().split(b"\r\n") if line.startswith(LENGTH)]
    if not fields:
        raise ValueError("the answer has no Content-Length")
    left = int(fields[0][len(LENGTH) :]) - len(body)
    parts = [body]
    while left > 0:
        parts.append(more(connection))
        left -= len(parts[-1])
    return b"".join(parts)


def more(connection: socket.socket) -> bytes:
    """What comes next."""
    found = connection.recv(BLOCK)
    if not found:
        raise ValueError("the service closed the connection")
    return found


def client(host: str, port: int, waiting: SimpleQueue[bytes]) -> list[float]:
    """Ask until nothing is left; the milliseconds of each request."""
    times = []
    with socket.create_connection((host, port), timeout=120) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        while True:
            try:
                request = waiting.get_nowait()
            except Empty:
                return times
            start = time.perf_counter()
            answer(connection, request)
            times.append(1000 * (time.perf_counter() - start))


def main() -> None:
    """Ask all paths, and print the times."""
    host, port, clients = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    waiting: SimpleQueue[bytes] = SimpleQueue()
    for path in sys.stdin.read().splitlines():
        waiting.put(f"GET {path} HTTP/1.1\r\nHost: {host}:{port}\r\n\r\n".encode("ascii"))
    start = time.perf_counter()
    with ThreadPoolExecutor(clients) as pool:
        times = [one for some in pool.map(lambda _: client(host, port, waiting), range(clients)) for one in some]
    print(json.dumps({"milliseconds": times, "seconds": time.perf_counter() - start}))


if __name__ == "__main__":
    main()
