"""A whole judgment as the query, through the command: files and ids, terms, dates, explanations, sentences."""

import importlib.util
import json
from pathlib import Path

import pytest

from lexfuse.cli import main

_FILE = Path(__file__).parents[2] / "tests" / "references" / "tiny.py"
specification = importlib.util.spec_from_file_location("tiny", _FILE)
tiny = importlib.util.module_from_spec(specification)
specification.loader.exec_module(tiny)

CASES = [
    (
        "lease-1",
        "2015-03-01",
        "The tenant held over after the lease ended. The landlord claims rent. Notice was given in writing.",
    ),
    ("lease-2", "2018-06-01", "A lease ended by notice. The tenant did not leave. The court ordered rent to the landlord."),
    (
        "lease-3",
        "2021-01-01",
        "The landlord kept the deposit when the lease ended; the tenant asks for the deposit and for rent.",
    ),
    ("ship-1", "2016-01-01", "The salvor saved the vessel. The owner of the vessel owes a reward for salvage to the salvor."),
    ("appeal-1", "", "The court dismissed the appeal with costs. An appeal lies from the court below (Case C-60/22)."),
]
JUDGMENT = """JUDGMENT

1. The tenant took a lease of the shop. The lease ended in May, and notice had been given by the landlord.
2. The tenant held over. The landlord claims rent from the tenant for the time after the lease ended (Case C-60/22).
3. The court finds for the landlord, with costs.
"""


@pytest.fixture
def here(monkeypatch, capsys):
    """Runs a command in this process: exit code, output, messages."""

    def call(*arguments):
        monkeypatch.setattr("sys.argv", ["lexfuse", *map(str, arguments)])
        monkeypatch.setenv("COLUMNS", "400")
        with pytest.raises(SystemExit) as ended:
            main()
        return ended.value.code or 0, *capsys.readouterr()

    return call


@pytest.fixture
def said(here):
    """What a command that must succeed says as JSON."""

    def call(*arguments):
        code, out, err = here(*arguments, "--json")
        assert code == 0, err
        return json.loads(out)

    return call


@pytest.fixture
def cases(tmp_path):
    file = tmp_path / "cases.jsonl"
    rows = [{"_id": id, "title": id, "text": text} | ({"date": date} if date else {}) for id, date, text in CASES]
    file.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return file


@pytest.fixture
def index(said, cases, tmp_path):
    said("index", cases, tmp_path / "cases.index")
    return tmp_path / "cases.index"


@pytest.fixture
def judgment(tmp_path):
    file = tmp_path / "judgment.txt"
    file.write_text(JUDGMENT, encoding="utf-8")
    return file


def found(told):
    return [result["id"] for result in told["results"]]


def test_a_file_finds_cases_like_it(said, index, judgment):
    told = said("similar", index, judgment, "--kli", "0.5", "-k", "3", "--explain", "--mask")
    assert set(found(told)) == {"lease-1", "lease-2", "lease-3"}
    assert told["query"]["document"] is None
    best = told["results"][0]
    assert sum(part["contribution"] for part in best["explanation"]) == pytest.approx(best["score"], rel=1e-5)
    assert best["matches"]
    asked = {part["term"] for part in best["explanation"]}
    shown = said("similar", index, judgment, "--kli", "0.5", "--show-terms", "--mask")
    assert {term["term"] for term in shown["terms"]} == asked  # what is shown is what is asked


def test_documents_that_a_judgment_cites_do_not_come_first(said, index, judgment):
    assert "citation" not in {result["found"] for result in said("similar", index, judgment)["results"]}


def test_html_and_gzip_say_the_same_as_text(said, index, judgment, tmp_path):
    page = tmp_path / "judgment.html"
    page.write_text("<html><body>" + "".join(f"<p>{line}</p>" for line in JUDGMENT.splitlines()) + "</body></html>", "utf-8")
    assert said("similar", index, page)["results"] == said("similar", index, judgment)["results"]


def test_a_document_of_the_index_without_itself_and_without_later_ones(said, here, index):
    assert found(said("similar", index, "lease-2", "--kli", "1"))[0] == "lease-2"
    told = said("similar", index, "lease-2", "--kli", "1", "--exclude-self", "--before-own-date")
    assert found(told) == ["lease-1"]
    assert told["left_out"] == {"own": ["lease-2"], "later": 1, "undated": 1}
    assert told["query"]["document"] == "lease-2"
    err = here("similar", index, "lease-2", "--exclude-self", "--before-own-date")[2]
    assert "left out as the document itself: lease-2" in err
    assert "1 documents have no date and were left out" in err
    assert found(said("similar", index, "lease-2", "--kli", "1", "--before", "2016-01-01")) == ["lease-1"]
    assert found(said("similar", index, "lease-2", "--kli", "1", "--filter", "date>2020-01-01")) == ["lease-3"]


def test_a_file_that_is_a_document_is_known_by_its_text_or_its_name(said, here, index, tmp_path, judgment):
    copy, named = tmp_path / "copy.txt", tmp_path / "lease-3.txt"
    copy.write_text(CASES[4][2].replace(" ", "\n"), encoding="utf-8")
    named.write_text("The tenant and the landlord.", encoding="utf-8")
    assert said("similar", index, copy, "--exclude-self", "--mask", "--kli", "1")["left_out"]["own"] == ["appeal-1"]
    assert said("similar", index, named, "--exclude-self")["left_out"]["own"] == ["lease-3"]
    code, _, err = here("similar", index, judgment, "--exclude-self")
    assert (code, "none was left out" in err) == (0, True)


def test_citations_are_hidden_on_request(said, index, judgment):
    def terms(*arguments):
        return {term["term"] for term in said("similar", index, judgment, "--kli", "1", "--show-terms", *arguments)["terms"]}

    assert "c_60_22" in terms() - terms("--mask")


def test_terms_are_shown_changed_and_given(said, here, index, judgment):
    code, out, err = here(
        "similar", index, judgment, "--show-terms", "--kli", "3", "--add-term", "salvage=3", "--drop-term", "sea"
    )
    assert (code, "4 of " in out, "salvag" in out) == (0, True, True)
    assert "'sea' was not among the terms" in err
    assert found(said("similar", index, judgment, "--kli", "3", "--add-term", "salvage=30"))[0] == "ship-1"
    assert found(said("similar", index, judgment, "--terms", "vessel,reward=2")) == ["ship-1"]
    before = {term["term"] for term in said("similar", index, judgment, "--kli", "3", "--show-terms")["terms"]}
    assert "tenant" in before
    after = said("similar", index, judgment, "--kli", "3", "--show-terms", "--drop-term", "tenants")["terms"]
    assert {term["term"] for term in after} == before - {"tenant"}


def test_people_see_titles_and_the_share_of_terms(here, index, judgment):
    code, out, _ = here("similar", index, judgment, "--explain", "--kli", "1")
    assert code == 0
    assert "1. lease-" in out
    assert "in the question 1" in out


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["x" * 5000], 4, "no document with that id"),
        (["nowhere.pdf"], 4, "no file 'nowhere.pdf', and no document with that id"),
        (["appeal-1", "--before-own-date"], 3, "'appeal-1' has no date"),
        (["lease-1", "--before", "soon"], 2, "--before: 'soon' is not a date"),
        (["lease-1", "--before", "2999-01-01"], 2, "a known day was expected"),
        (["lease-1", "--kli", "0"], 2, "KLI takes a share"),
        (["lease-1", "--term-weights", "much"], 2, "'much' is not one of"),
        (["lease-1", "--add-term", "=2"], 2, "a term is written"),
        (["lease-1", "-c", "tfidf", "--drop-term", "rent"], 2, "--drop-term chooses words for bm25"),
        (["lease-1", "-c", "tfidf", "--show-terms"], 2, "only bm25 does"),
        (["lease-1", "--fusion", "rrf"], 2, "needs several channels to fuse"),
        (["lease-1", "--profile", "p.toml", "--add-term", "rent"], 2, "and so does --add-term"),
    ],
)
def test_what_cannot_be_is_said(here, index, arguments, code, words):
    ended, _, err = here("similar", index, *arguments)
    assert (ended, words in err) == (code, True), err


def test_a_file_has_no_date_and_may_be_empty_or_without_a_known_word(here, index, judgment, tmp_path):
    assert "a file has no date" in here("similar", index, judgment, "--before-own-date")[2]
    (tmp_path / "empty.pdf").write_bytes(b"")
    code, _, err = here("similar", index, tmp_path / "empty.pdf")
    assert (code, "the file is empty" in err) == (3, True)
    (tmp_path / "other.txt").write_text("xyzzy plugh", encoding="utf-8")
    code, out, err = here("similar", index, tmp_path / "other.txt")
    assert (code, out, "nothing found" in err) == (0, "", True)


def test_channels_and_a_profile_rank_as_told(said, index, judgment, tmp_path):
    fused = said("similar", index, judgment, "-c", "bm25,tfidf", "--fusion", "rrf", "-k", "2")["results"]
    assert set(fused[0]["sources"]) == {"bm25", "tfidf"}
    profile = tmp_path / "p.toml"
    profile.write_text('version = 1\n[[channel]]\nname = "tfidf"\n', encoding="utf-8")
    assert {result["found"] for result in said("similar", index, judgment, "--profile", profile)["results"]} == {"tfidf"}


def test_run_takes_the_most_informative_terms_of_long_queries(here, said, index, judgment, tmp_path):
    queries, out = tmp_path / "queries.jsonl", tmp_path / "kli.trec"
    queries.write_text(json.dumps({"_id": "q", "text": JUDGMENT}), encoding="utf-8")
    said("run", index, queries, "-o", out, "--kli", "0.5", "--k1", "2.8", "--b", "1")
    ranked = [line.split()[2] for line in out.read_text("utf-8").splitlines()]
    assert ranked == found(said("similar", index, judgment, "--kli", "0.5", "-k", "1000"))
    code, _, err = here("run", index, queries, "-o", out, "--kli", "0.5", "-c", "tfidf")
    assert (code, "--kli chooses words for bm25" in err) == (2, True)


def test_sentences_rerank_and_show_which_paragraphs_met(said, here, cases, judgment, tmp_path, monkeypatch):
    monkeypatch.setenv("LEXFUSE_CACHE", str(tmp_path / "cache"))
    model = tiny.folder(tmp_path / "model", normalise=True)
    index = tmp_path / "sentences.index"
    said("index", cases, index, "--channels", "sentences", "--model", f"sentences={model}")
    told = said("similar", index, judgment, "--explain", "-k", "3")
    assert {result["found"] for result in told["results"]} == {"bm25>>rprs"}
    first = told["results"][0]
    why = first["rprs"]
    assert why["query_proportion"] * why["document_proportion"] == pytest.approx(first["score"], rel=1e-5)
    assert why["paragraphs"][0]["query"]["number"] in ("1", "2", "3")
    _, out, _ = here("similar", index, judgment, "--explain", "-k", "1")
    assert "of the query," in out
    assert "↔" in out
    assert {result["found"] for result in said("similar", index, judgment, "-c", "bm25")["results"]} == {"bm25"}
    monkeypatch.setattr("lexfuse.cli.similar._MANY_SENTENCES", 4)
    assert "the query has 6 sentences, which takes a while; --channels bm25" in here("similar", index, judgment)[2]
    assert "sentences" not in here("similar", index, judgment, "-c", "bm25")[2]
