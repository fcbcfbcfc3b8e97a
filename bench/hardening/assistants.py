"""Fuzzed messages to `lexfuse mcp`, the assistants' protocol on standard input and output."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from random import Random
from typing import Any

from mutations import HOSTILE, damaged, text, value

from service import COMMAND

HELLO = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "fuzz", "version": "1"}}
INTERNAL = -32603  # of JSON-RPC
ARGUMENTS: dict[str, dict[str, Any]] = {
    "search": {"query": "loyer", "index": "law", "k": 3, "filters": ["kind=statute"], "as_of": "2024-01-01", "language": "fr"},
    "similar": {"text": "le loyer du bail", "index": "law", "k": 3, "amount": 1.0, "mask": True},
    "explain": {"query": "loyer", "document": "a1", "index": "law"},
    "cite": {"text": "article L. 1 du code civil", "index": "law", "code": "Code civil"},
    "fetch": {"document": "a1", "index": "law"},
}


class AssistantFuzz:
    """Sends messages, each followed by a ping whose answer shows that the process still listens."""

    def __init__(self, index: Path, seed: int) -> None:
        """Start the process when it runs."""
        self.index = index
        self.random = Random(seed)  # noqa: S311 - no secret
        self.sent = 0
        self.failures: list[str] = []

    def run(self, count: int) -> None:
        """Send so many messages, to a new process where one has ended."""
        while self.sent < count:
            with subprocess.Popen(
                [str(COMMAND), "mcp", f"law={self.index}"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            ) as process:
                try:
                    self._session(process, count)
                finally:
                    process.kill()

    def _session(self, process: subprocess.Popen[bytes], count: int) -> None:
        tell(process, {"jsonrpc": "2.0", "id": "hello", "method": "initialize", "params": HELLO})
        self._answers(process, "hello", b"hello")
        tell(process, {"jsonrpc": "2.0", "method": "notifications/initialized"})
        while self.sent < count:
            raw, ping = self._message(), f"ping-{self.sent}"
            self.sent += 1
            try:
                assert process.stdin is not None
                process.stdin.write(raw + b"\n")
                tell(process, {"jsonrpc": "2.0", "id": ping, "method": "ping"})
            except BrokenPipeError:
                self.failures.append(f"ended: {raw[:2000]!r}")
                return
            if not self._answers(process, ping, raw):
                self.failures.append(f"ended: {raw[:2000]!r}")
                return

    def _message(self) -> bytes:
        random = self.random
        name = random.choice(sorted(ARGUMENTS))
        call = {"name": name, "arguments": value(random, ARGUMENTS[name])}
        messages: tuple[tuple[str, Any], ...] = (
            ("tools/call", call), ("tools/call", call), ("tools/call", call), ("tools/call", {"name": text(random, name)}),
            ("tools/list", {"cursor": text(random, "")}), ("resources/list", {}),
            ("resources/read", {"uri": text(random, "lexfuse://law/documents/a1")}), ("resources/templates/list", None),
            (text(random, "tools/call"), value(random, call)),
        )  # fmt: skip
        method, params = random.choice(messages)
        message = {"jsonrpc": "2.0", "id": self.sent, "method": method, "params": params}
        if random.random() < 0.1:
            message = value(random, message)
        raw = json.dumps(message).encode()
        if random.random() < 0.1:
            raw = random.choice((damaged(random, raw), random.choice(HOSTILE).encode("utf-8", "surrogatepass")))
        return raw.replace(b"\n", b" ")

    def _answers(self, process: subprocess.Popen[bytes], ping: str, raw: bytes) -> bool:
        """Read until the ping is answered; whether it is."""
        assert process.stdout is not None
        for line in process.stdout:
            answer = json.loads(line)
            error, result = answer.get("error") or {}, answer.get("result") or {}
            words = result["content"][0].get("text", "") if result.get("isError") and result.get("content") else ""
            if error.get("code") == INTERNAL or words.startswith("Internal error"):
                self.failures.append(f"internal error: {line[:300]!r} {raw[:2000]!r}")
            if answer.get("id") == ping:
                return True
        return False


def tell(process: subprocess.Popen[bytes], message: dict[str, Any]) -> None:
    """Write a message."""
    assert process.stdin is not None
    process.stdin.write(json.dumps(message).encode() + b"\n")
    process.stdin.flush()
