"""What the English models learn from: nothing of the dev and test period, and only what is earlier than a question."""

from datetime import date

import pytest

from lexfuse.data.corpus import Corpus
from lexfuse.data.document import Document, DocumentKind
from lexfuse.data.formats.beir import Collection
from lexfuse.data.qrels import Qrels
from lexfuse.data.queries import Queries, Query
from lexfuse.errors import DataError

DEPOSIT = "The landlord must return the deposit within one month of the end of the lease"
CLAIM = "A tenant who leaves before the agreed term owes the rent of the months that remain"
NOTICE = "Notice of departure must be given in writing and reach the other party three months ahead"


@pytest.fixture(scope="module")
def recipe(recipe_named):
    return recipe_named("english_material")


def paragraph(case, number, year, text):
    return Document(
        f"{case}#{number}",
        text=text,
        kind=DocumentKind.PARAGRAPH,
        number=str(number),
        date=date(year, 3, 1),
        identifiers=(case,),
        language="en",
    )


def citing(text, case, number):
    return f"{text} (judgment of 1 March 2010, Example, {case}, paragraph {number})."


PARAGRAPHS = (
    paragraph("C-1/10", 1, 2010, f"{DEPOSIT}. Interest on the sum runs from the day on which the keys were handed over."),
    paragraph("C-1/10", 2, 2010, f"{CLAIM}. The court may lower the amount where that would be too hard."),
    paragraph("C-1/10", 3, 2010, f"{NOTICE}. It cannot be waived."),
    paragraph("C-2/12", 5, 2012, citing("It follows that the deposit is to be paid back once the lease is over", "C-1/10", 1)),
    paragraph("C-3/14", 7, 2014, citing("As the Court has held, a lease that ends early leaves the rent owing", "C-1/10", 2)),
    paragraph("C-4/16", 3, 2016, citing(NOTICE, "C-1/10", 2)),
    paragraph("C-5/18", 9, 2018, citing("The lessee who departs too soon must therefore pay what was agreed", "C-1/10", 2)),
)


def collection(split_of):
    texts = {document.id: document for document in PARAGRAPHS}
    answers = {"C-2/12#5": "C-1/10#1", "C-3/14#7": "C-1/10#2", "C-4/16#3": "C-1/10#2", "C-5/18#9": "C-1/10#2"}
    queries = Queries.of(Query(id, texts[id].text, "en", texts[id].date) for id in answers)
    qrels = {
        split: Qrels.of((id, doc, 1) for id, doc in answers.items() if split_of[id] == split)
        for split in ("train", "dev", "test")
    }
    return Collection(Corpus.of(PARAGRAPHS), queries, qrels)


@pytest.fixture(scope="module")
def material(recipe):
    return recipe.made(collection({"C-2/12#5": "train", "C-3/14#7": "train", "C-4/16#3": "dev", "C-5/18#9": "test"}))


def test_citing_pairs_are_of_documents_before_the_first_dev_question(material):
    assert material.before == "2016-03-01"
    assert {pair.query for pair in material.pairs["citing-paragraph"]} == {
        "It follows that the deposit is to be paid back once the lease is over.",
        "As the Court has held, a lease that ends early leaves the rent owing.",
    }


def test_a_pair_whose_query_repeats_a_dev_question_is_left_out(recipe, material):
    early = Corpus.of(PARAGRAPHS[:5])
    all_pairs = recipe.structure_pairs(early, recipe.KINDS)["cloze"]
    assert any(pair.query == f"{NOTICE}." for pair in all_pairs)  # else there was nothing to leave out
    assert material.pairs["cloze"] == [pair for pair in all_pairs if pair.query != f"{NOTICE}."]
    assert material.repeated["cloze"] == 1


def test_nothing_of_the_test_questions_is_there(recipe, material, tmp_path):
    material.write(tmp_path)
    with recipe.lzma.open(tmp_path / recipe.FILE, "rt", encoding="utf-8") as stream:
        everything = stream.read()
    assert "The lessee who departs" not in everything
    assert "C-5/18" not in everything
    assert (set(material.train), set(material.dev)) == ({"C-2/12#5", "C-3/14#7"}, {"C-4/16#3"})


def test_questions_have_both_forms(recipe, material):
    question = material.train["C-2/12#5"]
    assert "C-1/10" in question.text(recipe.Form.PRINTED)
    assert question.text(recipe.Form.MASKED) == "It follows that the deposit is to be paid back once the lease is over."
    assert (question.day, question.grades) == ("2012-03-01", {"C-1/10#1": 1})


def test_rankings_hold_earlier_documents_alone(recipe, material):
    asked = {
        f"{split}/{id}": one.day for split, some in (("train", material.train), ("dev", material.dev)) for id, one in some.items()
    }
    names = {
        name.replace(f"/{form.value}/", "/"): name for form in recipe.Form for name in material.rankings if form.value in name
    }
    assert set(names) == set(asked)
    assert len(material.rankings) == 2 * len(asked)
    for name, ranked in material.rankings.items():
        split, _, id = name.split("/", 2)
        assert ranked
        assert all(material.days[at] < asked[f"{split}/{id}"] for at in ranked)


def test_a_train_question_that_a_dev_question_repeats_is_left_out(recipe):
    again = paragraph("C-3/14", 7, 2014, citing(NOTICE, "C-1/10", 2))
    documents = [again if document.id == again.id else document for document in PARAGRAPHS]
    before = collection({"C-2/12#5": "train", "C-3/14#7": "train", "C-4/16#3": "dev", "C-5/18#9": "test"})
    queries = Queries.of(
        Query(query.id, again.text if query.id == again.id else query.text, "en", query.date) for query in before.queries
    )
    found = recipe.made(Collection(Corpus.of(documents), queries, before.qrels))
    assert set(found.train) == {"C-2/12#5"}
    assert found.repeated["train"] == 1
    assert len(found.pairs["citing-paragraph"]) == 1


def test_a_train_question_of_the_dev_period_is_refused(recipe):
    with pytest.raises(DataError, match="'C-5/18#9' is not earlier than 2014-03-01"):
        recipe.made(collection({"C-2/12#5": "train", "C-3/14#7": "dev", "C-4/16#3": "test", "C-5/18#9": "train"}))


def test_a_question_without_a_date_is_refused(recipe):
    before = collection({"C-2/12#5": "train", "C-3/14#7": "train", "C-4/16#3": "dev", "C-5/18#9": "test"})
    undated = Queries.of(Query(query.id, query.text, "en") for query in before.queries)
    with pytest.raises(DataError, match="has no date"):
        recipe.made(Collection(before.corpus, undated, before.qrels))


def test_everything_comes_back(recipe, material, tmp_path):
    material.write(tmp_path / "m")
    assert recipe.Material.read(tmp_path / "m") == material
