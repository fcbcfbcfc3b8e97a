"""The service on loopback compared with the library call that it makes: time, pages while the index changes, memory.

    python bench/serve.py --index FOLDER [--queries QUERIES] [--latency | --suggestions] [--processes N] [--quick] [--json]
        [--requests N]

FOLDER is an index with a dense channel; a copy of it is served, since documents are written. Questions are those of QUERIES (a
BEIR folder or a file of queries), else those of the collection in the folder LEXFUSE_DATA whose judged documents the index holds,
else the titles of the index. `--latency` measures part 1 alone. Every question is new, so that no answer comes from a cache:
first each as it is; once all are asked, with a few words of another. `lexfuse serve` runs as a separate process, with its usual
settings but for the limit of requests a minute; profile hybrid, words and vectors.

1. Latency of 1, 8 and 32 clients and requests/s, compared with as many threads that call `service.operations.search.search` in
   this process, with the same questions, and with the bare ranking, `find_documents`, without snippets and with the vector of the
   question known. A client asks its next question when it has the answer (after 50 for the warm-up). With 1 client the three take
   turns, with a tenth of a second between; then it asks without pauses, as several clients do. These are a process of their own,
   which only reads answers (`runner/load_clients.py`); clients and service share the processors, as they would not in practice.
   With `--processes N` the service has N search processes, and its rate is also compared with that of a service whose threads
   search, in turns.
2. Resident memory of the service over five times N requests, at ten moments; the first of them ends the warm-up.
3. N requests of 8 clients that page through results, while documents are put and deleted through the API (N / 100 times) and
   another process changes and merges the index. It stops with an error unless all hold: every request is answered; a search sees
   all that was written before it was sent (versions, words of a document that was put, documents that were deleted); all pages of
   a ranking are of one version, no document is on two, and together they are what one large page of that version is. A cursor
   of a version that is not kept any more (410) is counted by itself.
4. Latency of `/v1/suggest`: the beginnings of questions, of 3 letters up to the whole, as they are typed; one client. It is
   measured before the rest; `--suggestions` measures it alone, on any index.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.client import HTTPConnection
from itertools import count
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

import numpy as np

from lexfuse.channels.query_context import query_context
from lexfuse.data.formats.file_format import read_queries
from lexfuse.data.formats.trec_qrels import read_qrels
from lexfuse.data.ids import Ids
from lexfuse.data.queries import Query
from lexfuse.search.results import find_documents
from lexfuse.service.api_keys import KeyScope, add_key
from lexfuse.service.operations.search import SearchQuery, search
from lexfuse.service.registry import IndexPlace, IndexRegistry
from lexfuse.storage.folder_snapshot import open_snapshot
from runner.load_clients import loaded
from runner.needs import Needs

NEEDS = Needs(inputs={"LEXFUSE_BENCH_INDEX": "an index with a dense channel"}, arguments=("--index", "{LEXFUSE_BENCH_INDEX}"))

PROFILE, K = "hybrid", 10
CLIENTS = (1, 8, 32)  # that ask without a pause
WARM_UP = 50  # questions of each client, until compiled loops are compiled in every process
READERS, PAGE, PAGES = 8, 5, 4  # who page through results while the index changes; one large page is as long as four
ALLOWED_OVERHEAD, ALLOWED_GROWTH = 5.0, 5.0  # milliseconds, percent
ALLOWED_SUGGESTION = 20.0  # milliseconds
LIBRARY, RANKING = "library call", "ranking alone, vector known"
MOMENTS = 10  # at which memory is measured
SHOWN = 5  # failures
KEEP_ALIVE = 3.0  # seconds that a connection may be idle
PAUSE = 0.1  # seconds in which the threads of an encoder stop looking for work, which would slow the next call down

Record = dict[str, Any]

CHANGE = """if True:
    import sys
    from lexfuse.data.document import Document
    from lexfuse.storage.index_folder import IndexFolder
    with IndexFolder(sys.argv[1]) as index:
        index.merge() if sys.argv[2] == "merge" else index.add([Document("bench-other", text=sys.argv[3], language="fr")])
"""


class Questions:
    """Questions that nobody has asked before, as many as are wanted, always the same."""

    def __init__(self, folder: Path, queries: Path | None = None) -> None:
        """Take the questions of a file, of the collection that is indexed, or titles."""
        with open_snapshot(folder) as snapshot:
            own = queries or _indexed_collection(snapshot.ids)
            titles = dict.fromkeys(title for title in snapshot.column("title") if title)
        self._texts = list(dict.fromkeys(read_queries(own).text)) if own else list(titles)[:1000]
        if len(self._texts) < 2:
            raise SystemExit("there are no questions: set LEXFUSE_DATA, or take an index of documents with titles")
        self._number = count()

    def next(self) -> str:
        """One more."""
        number = next(self._number)
        turn, at = divmod(number, len(self._texts))
        if not turn:
            return self._texts[at]
        words = self._texts[(at + turn + 1) % len(self._texts)].split()
        return f"{self._texts[at]} {' '.join(words[turn % 7 : turn % 7 + 3])}"

    def some(self, amount: int) -> list[str]:
        """The next few."""
        return [self.next() for _ in range(amount)]


def _indexed_collection(documents: Ids) -> Path | None:
    """The first collection of LEXFUSE_DATA whose judged documents are all in an index."""
    for qrels in sorted(Path(os.environ.get("LEXFUSE_DATA") or os.devnull).glob("*/qrels/test.tsv")):
        if all(doc in documents for doc in read_qrels(qrels).docs):
            return qrels.parent.parent
    return None


class Client:
    """A connection that stays open."""

    def __init__(self, address: str, key: str = "") -> None:
        """Connect."""
        self._connection = HTTPConnection(urlsplit(address).netloc, timeout=120)
        self._last = 0.0
        self._headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"} if key else {}

    def ask(self, method: str, path: str, body: Record | None = None) -> tuple[int, Record]:
        """The status and the answer."""
        if time.monotonic() - self._last > KEEP_ALIVE:  # the service may have closed it
            self._connection.close()
        self._connection.request(method, path, json.dumps(body) if body else None, self._headers)
        answer = self._connection.getresponse()
        content = json.loads(answer.read())
        self._last = time.monotonic()
        return answer.status, content

    def search(self, **asked: Any) -> tuple[int, Record]:
        """A page of results."""
        return self.ask("GET", search_path(**asked))


def search_path(**asked: Any) -> str:
    """The path of a search."""
    return f"/v1/search?{urlencode({'profile': PROFILE, 'k': K, **asked})}"


@dataclass(frozen=True, slots=True)
class Served:
    """A running service."""

    address: str
    processes: tuple[int, ...]  # the service, and those that search
    folder: Path
    key: str

    def client(self, *, writes: bool = False) -> Client:
        """A new client."""
        return Client(self.address, self.key if writes else "")

    def computed(self) -> float:
        """Seconds of processor time so far."""
        clocks = (~process << 3 | 2 for process in self.processes)  # those of clock_getcpuclockid(3); /proc counts in ticks
        return sum(time.clock_gettime(clock) for clock in clocks)

    def memory(self) -> float:
        """Resident memory in MiB; pages that processes share count for each."""
        pages = sum(int(Path(f"/proc/{process}/statm").read_text().split()[1]) for process in self.processes)
        return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


@contextmanager
def served(folder: Path, home: Path, environment: Mapping[str, str] = os.environ, *, processes: int = 0) -> Iterator[Served]:
    """The service of an index in a separate process, with a number of search processes."""
    home.mkdir(exist_ok=True)
    key = add_key(home / "keys.toml", "bench", KeyScope.WRITE)
    command = [
        str(Path(sys.executable).parent / "lexfuse"),
        "serve",
        str(folder),
        "--port",
        "0",
        "--keys",
        str(home / "keys.toml"),
        *(("--search-processes", str(processes)) if processes else ()),
    ]
    log = home / "log.txt"
    with log.open("w") as errors:
        process = subprocess.Popen(
            [*command, "--requests-per-minute", "0"], stdout=subprocess.PIPE, stderr=errors, text=True, env=environment
        )  # fmt: skip
    try:
        line = next((line for line in process.stdout or () if " on http://" in line), "")
        if not line:
            raise SystemExit(log.read_text("utf-8"))
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        yield Served(line.split(" on ")[1].split()[0], (process.pid, *map(int, children)), folder, key)
    finally:
        process.terminate()
        process.communicate()


def timed(call: Callable[[str], Any], questions: list[str], threads: int) -> tuple[list[float], float]:
    """Milliseconds of every call, and calls a second."""

    def one(question: str) -> float:
        start = time.perf_counter()
        call(question)
        return 1000 * (time.perf_counter() - start)

    start = time.perf_counter()
    if threads == 1:
        times = [one(question) for question in questions]
    else:
        with ThreadPoolExecutor(threads) as pool:
            times = list(pool.map(one, questions))
    return times, len(questions) / (time.perf_counter() - start)


def compared(metric: str, ours: float, peer: str, theirs: float, *, higher: bool = False) -> Record:
    """One line."""
    ratio = ours / theirs if higher else theirs / max(ours, 0.01)
    return {"metric": metric, "ours": ours, "peer": peer, "theirs": theirs, "ratio": ratio}


class Ways:
    """A question asked by a request, by the library call, and its ranking alone."""

    def __init__(self, service: Served, library: IndexRegistry) -> None:
        """Ask these."""
        self._library, self._client = library, service.client()

    def requested(self, question: str) -> None:
        """Through the service."""
        status, answer = self._client.search(query=question)
        if status != 200:
            raise SystemExit(f"the service answered {status}: {answer}")

    def called(self, question: str) -> None:
        """The same in this process."""
        with query_context():
            search(self._library, SearchQuery(query=question, profile=PROFILE, k=K)).model_dump_json()

    def ranked(self, question: str) -> None:
        """What both do first."""
        with self._library.index().lease() as opened, query_context():
            find_documents(opened.pipeline(PROFILE), Query("q", question), K + 1, citations=opened.citations)


def latency(service: Served, library: IndexRegistry, questions: Questions, amount: int) -> Iterator[Record]:
    """1, 8 and 32 clients compared with as many threads."""
    ways = Ways(service, library)
    for call in (ways.requested, ways.called, ways.ranked):
        timed(call, questions.some(WARM_UP), 1)  # compiled loops are compiled, rows are copied
    ours, theirs, alone = list[float](), list[float](), list[float]()
    our_time = their_time = 0.0
    for number, question in enumerate(questions.some(amount)):  # new to both processes, who take turns in being the first
        for first in (True, False):
            before, own_before = service.computed(), time.process_time()
            if first is (number % 2 == 0):
                ours += timed(ways.requested, [question], 1)[0]
                time.sleep(PAUSE)
                our_time += service.computed() - before
            else:
                theirs += timed(ways.called, [question], 1)[0]
                time.sleep(PAUSE)
                their_time += time.process_time() - own_before
        alone += timed(ways.ranked, [question], 1)[0]  # its vector is known by now
    yield from quantiles("1 client", ours, theirs)
    yield compared("requests/s, 1 client", float(1000 / np.mean(ours)), LIBRARY, float(1000 / np.mean(theirs)), higher=True)
    overhead = float(np.median(np.subtract(ours, theirs)))  # question by question, since some take longer than others
    yield compared("ms p50 overhead of the service, 1 client", overhead, "allowed", ALLOWED_OVERHEAD)
    yield compared("ms of processor time a request", 1000 * our_time / amount, LIBRARY, 1000 * their_time / amount)
    yield compared("ms p50, 1 client", float(np.percentile(ours, 50)), RANKING, float(np.percentile(alone, 50)))
    loaded(service.address, [search_path(query=question) for question in questions.some(WARM_UP * max(CLIENTS))], max(CLIENTS))
    for clients in CLIENTS:
        some, who = questions.some(amount), f"{clients} clients" if clients > 1 else "1 client without pauses"
        ours, our_rate = loaded(service.address, [search_path(query=question) for question in some], clients)
        theirs, their_rate = timed(ways.called, some, clients)
        yield from quantiles(who, ours, theirs)
        yield compared(f"requests/s, {who}", our_rate, LIBRARY, their_rate, higher=True)


def process_rates(service: Served, other: Served, questions: Questions, amount: int) -> Iterator[Record]:
    """Requests a second by search processes, compared with those of a service without them."""
    for clients in CLIENTS[1:]:
        rates: dict[str, list[float]] = {service.address: [], other.address: []}
        for first in (service, other, other, service):
            paths = [search_path(query=question) for question in questions.some(amount)]
            rates[first.address].append(loaded(first.address, paths, clients)[1])
        ours, theirs = (float(np.mean(rates[one.address])) for one in (service, other))
        yield compared(f"requests/s, {clients} clients, search processes", ours, "threads", theirs, higher=True)


def quantiles(who: str, ours: list[float], theirs: list[float]) -> Iterator[Record]:
    """Three of them."""
    for percent in (50, 95, 99):
        yield compared(
            f"ms p{percent}, {who}", float(np.percentile(ours, percent)), LIBRARY, float(np.percentile(theirs, percent))
        )


def suggestions(service: Served, questions: Questions, amount: int) -> Iterator[Record]:
    """How long completions take, compared with what is allowed."""
    client, times = service.client(), []
    for number, question in enumerate(questions.some(amount + 20)):
        typed = question[: 3 + number % max(len(question) - 2, 1)]
        start = time.perf_counter()
        status, answer = client.ask("GET", f"/v1/suggest?{urlencode({'query': typed})}")
        times.append(1000 * (time.perf_counter() - start))
        if status != 200:
            raise SystemExit(f"the service answered {status}: {answer}")
    for percent in (50, 95):
        yield compared(
            f"ms p{percent} of suggestions, 1 client", float(np.percentile(times[20:], percent)), "allowed", ALLOWED_SUGGESTION
        )


def memory(service: Served, questions: Questions, amount: int) -> Iterator[Record]:
    """What the service holds after that number of requests."""
    clients = [service.client() for _ in range(READERS)]
    seen: list[float] = []

    def some(client: Client) -> None:
        for question in mine[client]:
            status, answer = client.search(query=question)
            if status != 200:
                raise SystemExit(f"the service answered {status}: {answer}")

    for moment in range(1, MOMENTS + 1):
        mine = {client: questions.some(amount // MOMENTS // READERS) for client in clients}
        with ThreadPoolExecutor(READERS) as pool:
            list(pool.map(some, clients))
        seen.append(service.memory())
        yield compared(f"MiB resident after {moment * amount // MOMENTS:,} requests", seen[-1], "after the warm-up", seen[0])
    growth = max(abs(value / seen[0] - 1) for value in seen)
    yield compared(f"% change of memory over {amount:,} requests", 100 * growth, "allowed", ALLOWED_GROWTH)


@dataclass(slots=True)
class Watch:
    """What is known to all clients, and what went wrong."""

    counts: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)
    written: int = 0  # the version that the last write made
    deleted: dict[str, int] = field(default_factory=dict)  # documents that are gone, since which version
    done: bool = False  # the writer
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def count(self, kind: str) -> None:
        """One more of something."""
        with self._lock:
            self.counts[kind] += 1

    def wrong(self, kind: str, told: str) -> None:
        """Count a failure."""
        self.count(kind)
        self.failures.append(f"{kind}: {told}")

    def page(self, client: Client, **asked: Any) -> Record | None:
        """A page that is not stale; None if it could not be had."""
        before = self.written
        status, page = client.search(**asked)
        self.count("requests")
        if status == 410 and "cursor" in asked:
            self.count("gone")
            return None
        if status != 200:
            self.wrong("errors", f"{status} {page}")
            return None
        if "cursor" not in asked and page["generation"] < before:
            self.wrong("stale", f"version {page['generation']} after {before} was written")
        for result in page["results"]:
            if page["generation"] >= self.deleted.get(result["id"], 2**62):
                self.wrong("stale", f"{result['id']} was deleted")
        return page


def pages(watch: Watch, client: Client, question: str) -> None:
    """One ranking, page by page and as one large page."""
    large = watch.page(client, query=question, k=PAGE * PAGES)
    page = first = watch.page(client, query=question, k=PAGE)
    rows: list[tuple[str, float]] = []
    for number in range(PAGES):
        if page is None or first is None:
            return
        if page["generation"] != first["generation"]:
            watch.wrong("mixed", f"page {number + 1} is of version {page['generation']}, the first of {first['generation']}")
        rows += [(result["id"], result["score"]) for result in page["results"]]
        if not page["next_cursor"] or number == PAGES - 1:
            break
        page = watch.page(client, query=question, k=PAGE, cursor=page["next_cursor"])
    if len({id for id, _ in rows}) < len(rows):
        watch.wrong("mixed", "a document stands on two pages")
    if large is not None and first is not None and large["generation"] == first["generation"]:
        watch.count("compared")
        if rows != [(result["id"], result["score"]) for result in large["results"]][: len(rows)]:
            watch.wrong("mixed", "pages differ from the one large page of their version")


def finds(watch: Watch, client: Client, word: str, id: str, *, there: bool) -> None:
    """Whether a document is found by a word that only it has, at once."""
    page = watch.page(client, query=word, profile="bm25")
    seen = any(result["id"] == id and word in result["snippet"]["text"] for result in (page or {"results": []})["results"])
    if page is not None and seen is not there:
        watch.wrong("stale", f"{id} is {'not ' if there else ''}found by {word!r} after the write was answered")


def write(watch: Watch, service: Served, updates: int, requests: int) -> None:
    """Put and delete documents, and have another process change the index, spread over all requests."""
    client, words = service.client(writes=True), dict[str, str]()
    try:
        for number in range(updates):
            while watch.counts["requests"] < requests * (number + 1) // (updates + 2):
                time.sleep(0.01)
            if number == updates // 2:
                _changed_elsewhere(watch, service, client)
            goes = number % 5 == 4  # as soon as it is there
            id, word = f"bench-gone-{number}" if goes else f"bench-{number % 20}", f"zqx{number}qxz"
            text = f"Le salarié {word} a droit à un congé de {number + 1} jours, que l'employeur ne peut lui refuser."
            status, answer = client.ask("PUT", f"/v1/documents/{quote(id)}", {"title": "Essai", "text": text, "language": "fr"})
            if status not in (200, 201):
                watch.wrong("errors", f"put: {status} {answer}")
                continue
            watch.written = max(watch.written, answer["generation"])
            watch.count("updates")
            finds(watch, client, word, id, there=True)
            if id in words:
                finds(watch, client, words[id], id, there=False)
            words[id] = word
            if goes:
                status, answer = client.ask("DELETE", f"/v1/documents/{quote(id)}")
                if status != 200:
                    watch.wrong("errors", f"delete: {status} {answer}")
                    continue
                watch.deleted[id] = watch.written = answer["generation"]
                finds(watch, client, words.pop(id), id, there=False)
    finally:
        watch.done = True


def _changed_elsewhere(watch: Watch, service: Served, client: Client) -> None:
    """Another process adds a document, then merges the whole index; the service takes both over."""
    word, start = "zqxotherqxz", time.perf_counter()
    for change in ("add", "merge"):
        before = client.ask("GET", "/readyz")[1]["indexes"]
        subprocess.run([sys.executable, "-c", CHANGE, str(service.folder), change, f"Un texte {word}."], check=True)
        while client.ask("GET", "/readyz")[1]["indexes"] == before:
            if time.perf_counter() - start > 600:
                watch.wrong("errors", f"the change of another process ({change}) was not taken over")
                return
            time.sleep(0.05)
        watch.count("reloads")
    finds(watch, client, word, "bench-other", there=True)


def changes(service: Served, questions: Questions, requests: int) -> Iterator[Record]:
    """Pages while the index changes."""
    watch = Watch()

    def read(client: Client) -> None:
        while not watch.done or watch.counts["requests"] < requests:
            pages(watch, client, questions.next())

    with ThreadPoolExecutor(READERS + 1) as pool:
        writing = pool.submit(write, watch, service, max(requests // 100, 5), requests)
        for reading in [pool.submit(read, service.client()) for _ in range(READERS)]:
            reading.result()
        writing.result()
    told = ", ".join(f"{watch.counts[name]:,} {name}" for name in ("requests", "updates", "reloads", "compared"))
    for kind in ("errors", "stale", "mixed", "gone"):
        yield {"metric": f"{kind} ({told})", "ours": watch.counts[kind], "peer": "allowed", "theirs": 0, "ratio": 1.0}
    if watch.failures:
        raise SystemExit("\n".join([f"{len(watch.failures):,} failures:", *watch.failures[:SHOWN]]))


def show(record: Record, as_json: bool) -> None:
    """One line a comparison."""
    if as_json:
        print(json.dumps(record), flush=True)
    else:
        values = f"{record['ours']:12,.3f}  {record['theirs']:12,.3f}"
        print(f"{record['metric']:<52} {values}  {record['ratio']:8.2f} x  {record['peer']}", flush=True)


def main() -> None:
    """Print every comparison as it is measured."""
    parser = argparse.ArgumentParser(description="The service compared with the library call")
    parser.add_argument("--index", type=Path, required=True, metavar="FOLDER", help="an index with a dense channel; it is copied")
    parser.add_argument("--queries", type=Path, help="a BEIR folder or a file of queries to ask")
    parser.add_argument("--latency", action="store_true", help="only latency and throughput")
    parser.add_argument("--suggestions", action="store_true", help="only suggestions")
    parser.add_argument("--processes", type=int, default=0, help="search processes of the service")
    parser.add_argument("--requests", type=int, help="while the index changes; 10,000 if not given, 600 with --quick")
    parser.add_argument("--quick", action="store_true", help="fewer requests: a minute or two")
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    options = parser.parse_args()
    NEEDS.check()
    requests = options.requests or (600 if options.quick else 10_000)
    with tempfile.TemporaryDirectory() as home:
        folder = Path(shutil.copytree(options.index, Path(home, options.index.resolve().name)))
        questions = Questions(folder, options.queries)
        with served(folder, Path(home), processes=options.processes) as service:
            for record in suggestions(service, questions, 100 if options.quick else 1000):
                show(record, options.json)
            if options.suggestions:
                return
            with IndexRegistry.open([IndexPlace.of(folder)]) as library:
                for record in latency(service, library, questions, max(requests // 10, 100) if options.quick else 1000):
                    show(record, options.json)
            if options.processes:
                with served(folder, Path(home, "threads")) as other:
                    for record in process_rates(service, other, questions, 200 if options.quick else 1000):
                        show(record, options.json)
            parts = () if options.latency else (memory(service, questions, 5 * requests), changes(service, questions, requests))
            for part in parts:
                for record in part:
                    show(record, options.json)


if __name__ == "__main__":
    main()
