"""Asks the service inside its own network; commands and answers are lines of JSON on standard input and output.

Usage: http_client.py PORT CERTIFICATE

["get", path]             the status and the JSON of an answer; after a refusal it asks again, when the refusal says
["load", [path, …]]       ask again and again, in two threads, and again after a refusal
["stop"]                  end that; how many answers had which status, and what they said
["flood", path, n]        ask n times at once
["flooded"]               the statuses, headers and JSON of the answers that have come since
["kill", name]            kill one process that has the name; how many have it
["signal", name, number]  send a signal to every process that has the name; how many have it
"""

import http.client
import json
import os
import signal
import ssl
import sys
import threading
import time
from collections import Counter
from pathlib import Path

OVERLOAD = 503
PATIENCE = 240  # seconds, to end a request that is refused for ever
IS_PROGRAM = __name__ == "__main__"  # doctest imports it without arguments
PORT = int(sys.argv[1]) if IS_PROGRAM else 0
CONTEXT = ssl.create_default_context(cafile=sys.argv[2]) if IS_PROGRAM else None


def get(path):
    until = time.monotonic() + PATIENCE
    while (found := exchanged(path))[0] == OVERLOAD and "retry-after" in found[1] and time.monotonic() < until:
        time.sleep(int(found[1]["retry-after"]))
    return found[0], found[2]


def exchanged(path):
    connection = http.client.HTTPSConnection("127.0.0.1", PORT, timeout=300, context=CONTEXT)
    try:
        connection.request("GET", path)
        answer = connection.getresponse()
        raw = answer.read()
        kind = answer.headers.get("content-type", "")
        return answer.status, dict(answer.headers), json.loads(raw) if "json" in kind else raw.decode(errors="replace")
    finally:
        connection.close()


class Flood:
    """Many requests at once."""

    def __init__(self, path, number):
        self._answers = []
        for _ in range(number):
            threading.Thread(target=lambda: self._answers.append(exchanged(path)), daemon=True).start()

    def answers(self):
        return list(self._answers)


class Load:
    """Threads that ask until they are stopped."""

    def __init__(self, paths):
        self._ended, self._statuses, self._said = threading.Event(), Counter(), Counter()
        self._threads = [threading.Thread(target=self._ask, args=(paths,), daemon=True) for _ in range(2)]
        for thread in self._threads:
            thread.start()

    def stop(self):
        self._ended.set()
        for thread in self._threads:
            thread.join()
        return [dict(self._statuses), [[*json.loads(said), count] for said, count in self._said.items()]]

    def _ask(self, paths):
        while not self._ended.is_set():
            for path in paths:
                try:
                    status, headers, answer = exchanged(path)
                except OSError as error:
                    status, headers, answer = type(error).__name__, {}, {}
                if status == OVERLOAD and "retry-after" in headers:
                    time.sleep(int(headers["retry-after"]))
                    continue
                self._statuses[str(status)] += 1
                if status == 200:
                    texts = sorted({result["title"] for result in answer["results"]})
                    self._said[json.dumps([answer["generation"], answer["partial"], texts])] += 1
                else:
                    self._said[json.dumps([None, None, [str(answer)[:300]]])] += 1


def named(name):
    """Processes by what they call themselves."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if name in path.read_bytes().decode(errors="replace"):
                found.append(int(path.parent.name))
        except OSError:  # it has ended
            continue
    return sorted(pid for pid in found if pid != os.getpid())


def main():
    load = flood = None
    for line in sys.stdin:
        command, *given = json.loads(line)
        if command == "get":
            answer = get(*given)
        elif command == "load":
            load, answer = Load(*given), None
        elif command == "stop":
            answer = load.stop()
        elif command == "flood":
            flood, answer = Flood(*given), None
        elif command == "flooded":
            answer = flood.answers()
        elif command == "kill":
            answer = named(*given)
            os.kill(answer[0], signal.SIGKILL)
        else:
            answer = named(given[0])
            for pid in answer:
                os.kill(pid, given[1])
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
