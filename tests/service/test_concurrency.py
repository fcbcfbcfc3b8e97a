"""Many threads at once: exactly what one thread gets, also while versions change, and nothing of old versions stays."""

import shutil
import weakref
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from random import Random
from threading import Barrier, Event

import pytest

from lexfuse.channels.retriever import ScoreBounds
from lexfuse.data.document import Document
from lexfuse.data.queries import Queries, Query
from lexfuse.data.run import Run
from lexfuse.errors import ConfigError
from lexfuse.search.candidates import retrieve_all
from lexfuse.search.hits import SortOrder
from lexfuse.service.operations.cursor import Cursor
from lexfuse.service.operations.document_writes import DocumentBody, delete_document, put_document
from lexfuse.service.operations.search import SearchQuery, search
from lexfuse.service.registry import IndexPlace, IndexRegistry
from lexfuse.storage.index_folder import IndexFolder
from lexfuse.text.analysis.analyser import Analyser, Folding
from lexfuse.text.analysis.vocabulary import TermEncoder, Vocabulary

THREADS = 8
PATIENCE = 600.0  # seconds after which a thread will not come any more
QUESTIONS = [
    "le loyer du bail",
    "préavis de démission",
    "article L. 1 du code civil",
    "la rupture conventionnelle",
    "clause abusive",
]
ASKS = [
    SearchQuery(query=query, profile=profile, k=k, language=language, facets=facets, sort=sort)
    for query, profile, (k, language, facets, sort) in product(
        QUESTIONS,
        ["hybrid", "bm25", "dense"],
        [(5, "fr", False, SortOrder.RELEVANCE), (3, "", True, SortOrder.RELEVANCE), (5, "", False, SortOrder.NEWEST)],
    )
]


def answer(library, ask):
    return search(library, ask).model_dump(exclude={"timing"})


def together(work, threads=THREADS):
    """Run `work(number)` on so many threads, which begin at the same moment; what each gives."""
    barrier = Barrier(threads)

    def begun(number):
        barrier.wait(PATIENCE)
        return work(number)

    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(begun, range(threads)))


def shuffled(number, items):
    mixed = list(items)
    Random(number).shuffle(mixed)  # noqa: S311
    return mixed


@pytest.fixture
def own_folder(law_folder, tmp_path):
    return shutil.copytree(law_folder, tmp_path / "own.index")


def test_threads_get_what_one_thread_gets_from_a_library_that_was_just_opened(law_folder):
    with IndexRegistry.open([IndexPlace.of(law_folder)]) as library:
        expected = {ask.digest(): answer(library, ask) for ask in ASKS}
    with IndexRegistry.open([IndexPlace.of(law_folder)]) as library:
        for found in together(lambda number: [(ask, answer(library, ask)) for ask in shuffled(number, ASKS)]):
            for ask, page in found:
                assert page == expected[ask.digest()]


def test_every_page_is_that_of_its_version_while_versions_change(own_folder):
    done, first, asks = Event(), Barrier(4), [ask for ask in ASKS if ask.profile == "hybrid"]
    with IndexRegistry.open([IndexPlace.of(own_folder)], kept=100) as library:

        def write():
            try:
                first.wait(PATIENCE)  # everybody has seen the version that was there before
                for number in range(6):
                    text = f"Le loyer du bail et le préavis de démission, texte {number}."
                    written = put_document(library, "changing", DocumentBody(text=text, language="fr"))
                    page = search(library, SearchQuery(query="loyer du bail", profile="bm25", language="fr", k=100))
                    assert page.generation >= written.generation
                    assert next(one for one in page.results if one.id == "changing").snippet.text == text
                delete_document(library, "changing")
            finally:
                done.set()

        def read(number):
            if number == 0:
                return write() or []
            seen, mixed = [], shuffled(number, asks)
            last = False
            while not last or len(seen) < len(mixed):
                last = done.is_set()  # one that is asked after the last change sees it
                ask = mixed[len(seen) % len(mixed)]
                seen.append((ask, answer(library, ask)))
                if len(seen) == 1:
                    first.wait(PATIENCE)
            return seen

        found = [pair for pairs in together(read, 4) for pair in pairs]
        versions = {page["generation"] for _, page in found}
        assert len(versions) > 1
        again = {}
        for ask, page in found:
            key = (ask.digest(), page["generation"])
            if key not in again:
                again[key] = answer(
                    library, ask.model_copy(update={"cursor": Cursor(0, page["generation"], ask.digest()).text()})
                )
            assert page == again[key]
        assert "changing" not in [
            one.id for one in search(library, SearchQuery(query="loyer du bail", profile="bm25", k=100)).results
        ]


def test_documents_are_read_by_many_threads_from_one_version(tmp_path):
    documents = [Document(f"d{at}", title=f"t{at}", text=f"mot{at} " * (1 + at % 50), language="fr") for at in range(200)]
    IndexFolder.create(tmp_path / "i", documents=documents).close()
    with IndexRegistry.open([IndexPlace.of(tmp_path / "i")]) as library, library.index().lease() as opened:

        def read(number):
            return [opened.snapshot.document(one.id) == one for one in shuffled(number, documents)]

        assert all(all(found) for found in together(read))


def test_writers_take_turns_and_nothing_is_lost(small):
    def write(number):
        return [put_document(small, f"w{number}-{at}", DocumentBody(text="zorglub", language="fr")).generation for at in range(3)]

    generations = together(write, 4)
    assert all(mine == sorted(mine) for mine in generations)
    page = search(small, SearchQuery(query="zorglub", language="fr", k=100))
    assert {one.id for one in page.results} == {f"w{number}-{at}" for number in range(4) for at in range(3)}


def test_readers_and_refreshers_leave_the_versions_that_are_to_be_kept(shelf_folder):
    with IndexRegistry.open([IndexPlace.of(shelf_folder)], kept=2) as library, IndexFolder(shelf_folder) as index:
        shelf = library.index()

        def work(number):
            for at in range(20):
                if number == 0:
                    index.add([Document("a", text=f"mot{at}", language="fr")], update=True)
                elif number == 1:
                    shelf.refresh()
                else:
                    with shelf.lease() as opened:
                        assert opened.snapshot.document("travail-L1").id == "travail-L1"

        together(work, 4)
        shelf.refresh()
        with shelf.lease():
            pass
        assert len(shelf._versions) <= 2
        assert all(version.leases == 0 for version in shelf._versions)
        assert shelf.generation == max(version.opened.generation for version in shelf._versions)


def test_nothing_of_old_versions_stays_in_memory(own_folder):
    with IndexRegistry.open([IndexPlace.of(own_folder)], kept=2) as library, IndexFolder(own_folder) as index:
        shelf, alive = library.index(), []
        for number in range(6):
            index.add([Document("a", text=f"mot{number}", language="fr")], update=True)
            shelf.refresh()
            search(
                library, SearchQuery(query="loyer du bail, article L. 1", profile="hybrid", facets=True, sort=SortOrder.NEWEST)
            )
            with shelf.lease() as opened:
                alive += [weakref.ref(opened), weakref.ref(opened.snapshot), weakref.ref(opened.pipeline("hybrid"))]
                del opened
        assert sum(one() is not None for one in alive) <= 3 * 2


class Slow:
    """A retriever that waits for the others to be asked too, or fails; its run is named after those that it is made of."""

    bounds = ScoreBounds(0.0)

    def __init__(self, name, barrier=None, inner=(), fails=False):
        self.name, self._barrier, self._inner, self._fails = name, barrier, inner, fails

    def is_quick(self, queries):
        return False

    def retrieve(self, queries, k, *, within=None):
        if self._barrier:
            self._barrier.wait(PATIENCE)
        if self._fails:
            raise ConfigError(self.name)
        names = [run.name for run in retrieve_all(self._inner, queries, k, within=within)]
        return Run.of(f"{self.name}({' '.join(names)})", {"q": {"a": 1.0}})


def test_retrievers_are_asked_at_the_same_time_and_answer_in_their_order():
    barrier = Barrier(3)
    queries = Queries.of([Query("q", "loi")])
    assert [run.name for run in retrieve_all([Slow(name, barrier) for name in "abc"], queries, 5)] == ["a()", "b()", "c()"]


def test_hybrids_of_hybrids_by_many_threads_do_not_wait_for_each_other_forever():
    queries = Queries.of([Query("q", "loi")])
    leaf = [Slow("x"), Slow("y")]
    tree = [Slow("a", inner=[Slow("b", inner=leaf), Slow("c", inner=leaf)]), Slow("d", inner=leaf)]
    expected = ["a(b(x() y()) c(x() y()))", "d(x() y())"]
    for found in together(lambda _: [[run.name for run in retrieve_all(tree, queries, 5)] for _ in range(20)], 32):
        assert found == [expected] * 20


@pytest.mark.parametrize("failing", [0, 1, 2])
def test_an_error_of_one_retriever_comes_through(failing):
    queries = Queries.of([Query("q", "loi")])
    with pytest.raises(ConfigError, match="abc"[failing]):
        retrieve_all([Slow(name, fails=at == failing) for at, name in enumerate("abc")], queries, 5)


def test_words_of_several_terms_are_read_alike_by_many_threads():
    words = [f"salarié{letter}é{other}" for letter in "abcdefghij" for other in "klmnopqrst"]
    analyser = Analyser("fr", folding=Folding.BESIDE)
    known = Vocabulary(sorted({term for word in words for term in analyser.terms(word)}))
    alone = {word: TermEncoder(analyser, known, grows=False).encode(word).tolist() for word in words}
    assert sum(len(terms) == 2 for terms in alone.values()) > 50
    for _ in range(5):
        encoder = TermEncoder(analyser, known, grows=False)
        for found in together(
            lambda number, encoder=encoder: {word: encoder.encode(word).tolist() for word in shuffled(number, words)}
        ):
            assert found == alone
