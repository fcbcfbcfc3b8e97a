import gzip
import json
import os
from pathlib import Path

import pytest

from lexfuse.text.paragraphs import Paragraph, paragraphs


def numbers(text):
    return [paragraph.number for paragraph in paragraphs(text)]


def bodies(text):
    return [(paragraph.number, paragraph.of(text)) for paragraph in paragraphs(text)]


@pytest.mark.parametrize(
    "form", ["{} The Court", "{}. The Court", "{}.  The Court", r"{}\. Leave", "{}) La cour", "{} - La cour", "{}- La cour",
             "§ {} La cour", "§{}. La cour", "[{}] The court", "**{}.** The court", "{}\nThe Court", "{}\n\nThe Court"]
)  # fmt: skip
def test_every_form_of_number(form):
    text = "\n".join(form.format(number) for number in (1, 2, 3))
    found = bodies(text)
    assert [number for number, _ in found] == ["1", "2", "3"]
    assert all(body[0] in "TL" for _, body in found)


def test_text_before_the_first_number_has_none():
    assert bodies("JUDGMENT\n\n1. One.\n2. Two.")[0] == (None, "JUDGMENT")


def test_text_without_numbers_is_one_paragraph():
    assert paragraphs(" no number ") == [Paragraph(None, 1, 10, body=1)]
    assert paragraphs("  \n ") == []


def test_a_year_or_an_amount_at_the_start_of_a_line_is_no_number():
    text = "1. In the year\n1976 the lease ended.\n2. He paid\n40 pounds and\n3.50 more.\n3. Held."
    assert numbers(text) == ["1", "2", "3"]


def test_a_list_that_restarts_is_no_paragraph():
    text = "1. One.\n2. He owed:\n1. rent;\n2. costs;\n3. interest.\n3. Three.\n4. Four.\n5. Five."
    assert numbers(text) == ["1", "2", "3", "4", "5"]
    assert bodies(text)[1][1].endswith("3. interest.")


def test_a_quoted_article_that_restarts_without_a_colon_is_no_paragraph():
    text = "1. One.\n2. Article 5\n1. States shall.\n2. Courts may.\n3. Parties may.\n3. Three.\n4. Four.\n5. Five."
    assert [body for _, body in bodies(text)] == [
        "One.",
        "Article 5\n1. States shall.\n2. Courts may.\n3. Parties may.",
        "Three.",
        "Four.",
        "Five.",
    ]


def test_a_numbered_summary_before_the_judgment_is_not_mixed_in():
    text = "1. Summary one.\n2. Summary two.\nJUDGMENT\n" + "\n".join(f"{n}. Text {n}." for n in range(1, 9))
    assert bodies(text)[1] == ("1", "Text 1.")


def test_a_missing_number_leaves_a_gap():
    assert numbers("1. a\n2. b\n4. d\n5. e") == ["1", "2", "4", "5"]


def test_a_stray_large_number_at_the_end_is_no_paragraph():
    assert numbers("1. a\n2. b\n3. c\n29. rue") == ["1", "2", "3"]


def test_an_extract_may_start_anywhere():
    assert numbers("12. a\n13. b\n14. c") == ["12", "13", "14"]


@pytest.mark.parametrize("text", ["12. a\n13. b", "12 pounds were paid", "1 pound was paid", "7. only"])
def test_too_little_evidence(text):
    assert numbers(text) == [None]


def test_a_lone_first_paragraph():
    assert numbers("1. Leave granted.") == ["1"]


def test_the_style_of_the_sequence_wins():
    text = "1 One\n2 Two:\n3. quoted\n3 Three\n4 Four"
    assert bodies(text)[2] == ("3", "Three")


def test_many_candidates_in_linear_work():
    assert numbers("1. a\n" * 50_000) == ["1"]


@pytest.mark.parametrize("form", ["{} {}", "{}. {}"])
def test_recovers_the_judgments_of_the_cjeu(form):
    folder = os.environ.get("LEXFUSE_DATA")
    if not folder:
        pytest.skip("LEXFUSE_DATA does not name the data folder")
    judgments = {}
    with gzip.open(Path(folder) / "cjeu" / "corpus.jsonl.gz", "rt", encoding="utf-8") as stream:
        for line in stream:
            row = json.loads(line)
            judgment, number = row["_id"].rsplit("#", 1)
            judgments.setdefault(judgment, []).append((number, row["text"].strip()))
    right = total = exact = 0
    for rows in judgments.values():
        text = "Judgment of the Court\n" + "\n".join(form.format(*row) for row in rows)
        found = [row for row in bodies(text) if row[0] is not None]
        right += len(set(found) & set(rows))
        total += len(set(rows))
        exact += found == rows
    assert right / total > 0.999
    assert exact >= len(judgments) - 1  # the numbers of one judgment of the collection are not in order
