"""Exports: each format read back by its own rules, with titles that try to break it."""

import csv
import datetime
import io
import json
import re

import pytest

from lexfuse.data.formats.trec_qrels import read_qrels
from lexfuse.data.formats.trec_run import read_run
from lexfuse.service.operations.export import JudgementFormat, ResultFormat, export_results, exported_judgements
from lexfuse.service.schemas.document import Judgement, Judgements
from lexfuse.service.schemas.search import MarkedSpan, SearchPage, SearchResult, SearchTiming

HOSTILE = [
    '=HYPERLINK("http://x","y")', "+1", "-1", "@SUM(A1)", "\t=1", "\r\n=1", "  =1+1",
    'a "quoted", comma',
    "line\nbreak\r\nER  - \r\nTY  - CASE", "}\n@misc{evil, title={x}}", r"\input{/etc/passwd}", "50% & #1 _x_ ^2 ~ $",
    "\x00\x07\x1b[31m", "\u2028next\u2029", "«\u00a0été\u00a0»", "<script>alert(1)</script>", "'; DROP TABLE documents; --", "",
]  # fmt: skip


def page(*results, profile="bm25", query="durée du préavis"):
    return SearchPage(
        index="i", generation=1, profile=profile, query=query, results=list(results), timing=SearchTiming(total=1.0)
    )


def result(rank, title="", id="", **values):
    facts = {
        "id": id or f"d{rank}",
        "title": title,
        "rank": rank,
        "found": "bm25",
        "score": 10.0 - rank,
        "snippet": MarkedSpan(text=title),
    }
    return SearchResult(**facts | values)


@pytest.fixture
def hostile():
    return page(*(result(at, title, court=title, headings=[title, title]) for at, title in enumerate(HOSTILE, start=1)))


@pytest.mark.parametrize(
    "title", ["＝1+1", "＋1", "－1", "＠SUM(A1)", "\u3000－1", "﹫SUM(A1)", "\u200b=1", "\ufeff=1", "\u00a0=1"]
)
def test_csv_runs_nothing_in_wide_letters_or_after_signs_that_are_not_seen(title):
    text = export_results(page(result(1, title)), ResultFormat.CSV).text
    [row] = csv.DictReader(io.StringIO(text.removeprefix("\ufeff"), newline=""))
    assert row["title"] == row["passage"] == f"'{title}"


def test_csv_is_read_back_and_runs_nothing(hostile):
    file = export_results(hostile, ResultFormat.CSV)
    assert file.text.startswith("\ufeffrank,id,title")
    rows = list(csv.DictReader(io.StringIO(file.text.removeprefix("\ufeff"), newline="")))
    assert len(rows) == len(HOSTILE)
    for row, title in zip(rows, HOSTILE, strict=True):
        shown = title.replace("\x00", "")
        assert row["title"] in (shown, f"'{shown}")
        for cell in (value for name, value in row.items() if name != "score"):
            assert not cell.strip(" ").startswith(("=", "+", "-", "@", "\t", "\r", "\n"))
    assert float(rows[-1]["score"]) < 0  # a number of our own is one


def test_bibtex_has_one_entry_each_and_no_command_of_theirs(hostile):
    text = export_results(hostile, ResultFormat.BIBTEX).text
    entries = re.findall(r"^@(\w+)\{([^,]+),$", text, re.MULTILINE)
    assert [kind for kind, _ in entries] == ["misc"] * len(HOSTILE)
    assert len({key.lower() for _, key in entries}) == len(HOSTILE)
    assert set(re.findall(r"\\[a-z]+", text)) <= {r"\textbackslash", r"\textasciitilde", r"\textasciicircum"}
    for line in text.splitlines():
        unescaped = re.sub(r"\\[{}$&#_%]", "", line)
        assert unescaped.count("{") == unescaped.count("}") or line.startswith("@misc{") or line == "}"
        assert not re.search(r"[%$&#_^~]", unescaped)


def test_bibtex_keys_are_letters_and_each_its_own():
    text = export_results(
        page(result(1, id="é t"), result(2, id="E-T"), result(3, id="№,{}"), result(4, id="…")), ResultFormat.BIBTEX
    ).text
    assert re.findall(r"@misc\{([^,]+),", text) == ["e-t", "E-T-2", "No", "..."]


def test_ris_has_one_record_each_and_no_field_of_theirs(hostile):
    text = export_results(hostile, ResultFormat.RIS).text
    lines = text.split("\r\n")
    assert lines.pop() == ""
    assert all(re.match(r"[A-Z][A-Z0-9]  - ", line) for line in lines)
    assert sum(line.startswith("TY  - ") for line in lines) == sum(line.startswith("ER  - ") for line in lines) == len(HOSTILE)
    assert all(line.isprintable() or "\u00a0" in line for line in lines)
    assert "TI  - «\u00a0été\u00a0»" in lines  # a space that does not break stays


def test_facts_of_statutes_and_decisions():
    statute = result(
        1, "Art. L1", kind="statute", code="Code du travail", number="L1", valid_from=datetime.date(2008, 5, 1),
        status="in force",
    )  # fmt: skip
    decision = result(
        2, "Arrêt", kind="decision", court="Cour and Cour", date=datetime.date(980, 2, 3), identifiers=["local 7", "C-60/22"],
    )  # fmt: skip
    ris = export_results(page(statute, decision), ResultFormat.RIS).text.split("\r\n")
    assert {"TY  - STAT", "T2  - Code du travail", "SE  - L1", "N1  - 2008-05-01/..; in force"} <= set(ris)
    assert {"TY  - CASE", "PB  - Cour and Cour", "DA  - 0980/02/03", "M1  - C-60/22"} <= set(ris)
    bibtex = export_results(page(statute, decision), ResultFormat.BIBTEX).text
    assert "author = {{Cour and Cour}}," in bibtex
    assert "number = {C-60/22}," in bibtex


def read_back(text, tmp_path):
    (tmp_path / "x.trec").write_text(text, "utf-8")
    run = read_run(tmp_path / "x.trec")
    [query] = run.queries
    return query, run.hits(query)


def test_a_run_has_the_scores_and_the_order_of_the_page(tmp_path):
    query, hits = read_back(export_results(page(result(1), result(2), result(3)), ResultFormat.TREC).text, tmp_path)
    assert ([hit.doc for hit in hits], [hit.score for hit in hits]) == (["d1", "d2", "d3"], [9.0, 8.0, 7.0])
    from lexfuse.storage.feedback import query_id

    assert query == query_id("durée du préavis")  # the judgements on it have the same


def test_a_run_keeps_the_order_where_scores_do_not_descend(tmp_path):
    cited = [result(1, score=0.5, found="citation"), result(2, score=99.0), result(3, score=98.0)]
    text = export_results(page(*cited, profile="labour law"), ResultFormat.TREC).text
    assert [hit.doc for hit in read_back(text, tmp_path)[1]] == ["d1", "d2", "d3"]
    assert text.splitlines()[0].endswith(" labour-law")


def test_ids_with_spaces_are_divided_by_tabs(tmp_path):
    hits = read_back(export_results(page(result(1, id="a b"), result(2)), ResultFormat.TREC).text, tmp_path)[1]
    assert [hit.doc for hit in hits] == ["a b", "d2"]


ODD = ("a\tb", "a\nb", " a", "a ", "\ufeffa")


def test_ids_that_a_run_cannot_hold_are_left_out_and_named(tmp_path):
    file = export_results(page(*(result(at, id=id) for at, id in enumerate(("a b", *ODD, "c"), start=1))), ResultFormat.TREC)
    assert [hit.doc for hit in read_back(file.text, tmp_path)[1]] == ["a b", "c"]
    assert file.left_out == ODD
    assert file.headers["X-LexFuse-Left-Out"] == "5: a%09b a%0Ab %20a a%20 %EF%BB%BFa"
    assert "X-LexFuse-Left-Out" not in export_results(page(result(1)), ResultFormat.TREC).headers


def judged(*documents):
    facts = {"query": "loyer", "query_id": "q1", "grade": 1, "rank": 1, "profile": "", "moment": "2024-01-01", "generation": 1}
    return Judgements(index="i", judgements=[Judgement(document=document, **facts) for document in documents])


@pytest.mark.parametrize(
    ("documents", "name"),
    [(("a", "b"), "judgements.qrels"), (("a", "b c"), "judgements.tsv"), (("a", "b c", *ODD), "judgements.tsv")],
)
def test_an_id_with_a_space_does_not_spoil_the_judgements(documents, name, tmp_path):
    file = exported_judgements(judged(*documents), JudgementFormat.QRELS)
    (tmp_path / file.name).write_text(file.text, "utf-8")
    assert file.name == name
    assert read_qrels(tmp_path / name).as_dict() == {"q1": {document: 1 for document in documents if document not in ODD}}
    assert file.left_out == tuple(document for document in documents if document in ODD)


def test_json_is_the_page(hostile):
    assert SearchPage(**json.loads(export_results(hostile, ResultFormat.JSON).text)) == hostile


@pytest.mark.parametrize("wanted", list(ResultFormat))
def test_nothing_found_is_a_file_too(wanted):
    file = export_results(page(), wanted)
    assert file.name.startswith("results.")
    assert ("d1" in file.text, "rank" in file.text) == (False, wanted is ResultFormat.CSV)
