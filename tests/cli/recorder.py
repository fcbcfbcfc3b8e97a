"""Runs a command in a network of its own and writes down everything that it sends: native look-ups and connections too.

It is a program, started by `recorded`. The network namespace has a loopback device and nothing else; every address is routed to
it, and the only name server is there, so that nothing leaves the machine and every first packet is seen.
"""

import json
import os
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import pytest

EVERY_PROTOCOL, OUTGOING, SYN, ACK = 0x0003, 4, 0x02, 0x10


def recorded(command, **others):
    """What ended the command, and what it sent: protocol, address and port. Where no network can be made, the test is skipped."""
    allowed = ["unshare", "--net", "--mount", *(["--map-root-user"] if os.geteuid() else [])]
    if shutil.which("ip") is None or subprocess.run([*allowed, "true"], capture_output=True, check=False).returncode:
        if os.environ.get("LEXFUSE_ALL_TESTS"):
            pytest.fail("no network namespaces on this machine (unshare, ip), and all tests must run")
        pytest.skip("no network namespaces on this machine: unshare or ip is missing, or not permitted")
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder, "sent.json")
        done = subprocess.run(
            [*allowed, sys.executable, __file__, str(place), *map(str, command)], capture_output=True, check=False, **others
        )
        assert place.exists(), done.stderr
        return done, json.loads(place.read_text("utf-8"))


def isolate(folder):
    """Route everything to the loopback device, and name it as the only name server."""
    for arguments in ("link set lo up", "route add default dev lo", "-6 route add default dev lo"):
        subprocess.run(["ip", *arguments.split()], check=arguments[0] != "-")
    resolver = Path(folder, "resolv.conf")
    resolver.write_text("nameserver 127.0.0.1\noptions attempts:1 timeout:1\n", encoding="utf-8")
    subprocess.run(["mount", "--bind", resolver, os.path.realpath("/etc/resolv.conf")], check=True)


def destination(packet):
    """Where a packet begins a conversation: a datagram, or the first packet of a connection; None for all others."""
    version = packet[0] >> 4
    if version == 4:
        start, protocol, address = 4 * (packet[0] & 15), packet[9], socket.inet_ntop(socket.AF_INET, packet[16:20])
    elif version == 6:
        start, protocol, address = 40, packet[6], socket.inet_ntop(socket.AF_INET6, packet[24:40])
    else:
        return None
    if protocol == socket.IPPROTO_UDP:
        return ["udp", address, struct.unpack_from("!H", packet, start + 2)[0]]
    if protocol == socket.IPPROTO_TCP and packet[start + 13] & (SYN | ACK) == SYN:
        return ["tcp", address, struct.unpack_from("!H", packet, start + 2)[0]]
    return None


def listen(sniffer, sent):
    while True:
        packet, origin = sniffer.recvfrom(65535)
        if packet == b"end" or (origin[2] == OUTGOING and packet[14:] == b"end"):
            return
        found = destination(packet[14:]) if origin[2] == OUTGOING and len(packet) > 34 else None
        if found and found not in sent:
            sent.append(found)


def main(place, *command):
    with tempfile.TemporaryDirectory() as folder:
        isolate(folder)
        sniffer = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(EVERY_PROTOCOL))
        sniffer.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 24)
        sniffer.bind(("lo", EVERY_PROTOCOL))
        sent = []
        listener = threading.Thread(target=listen, args=(sniffer, sent))
        listener.start()
        code = subprocess.run(command, check=False).returncode
        with socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as last:  # after everything that the command has sent
            last.bind(("lo", 0x88B5))
            last.send(b"\0" * 12 + b"\x88\xb5" + b"end")
        listener.join()
        Path(place).write_text(json.dumps(sent), encoding="utf-8")
    sys.exit(code)


if __name__ == "__main__":
    main(*sys.argv[1:])
