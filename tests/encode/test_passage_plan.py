import pytest

from lexfuse.data.document import Document
from lexfuse.encode.model_folder.folder import ModelFolder
from lexfuse.encode.passage_plan import PassagePlan, PassageScheme
from lexfuse.encode.tokenizer import ModelTokenizer
from lexfuse.errors import ConfigError


@pytest.fixture
def tokens(tmp_path, tiny):
    return ModelTokenizer(ModelFolder.read(tiny.folder(tmp_path / "m")))


SHORT = Document("a", title="article 1", headings=("loi", "travail"), text="le salarié peut")
LONG = Document("b", title="article 2", headings=("loi",), text="le contrat de travail " * 100)
JUDGMENT = Document("c", text="Facts\n1. The lease ended.\n2. The court held that " + "the lease ended " * 80)


def test_a_document_within_the_window_is_one_passage(tokens):
    ((text, passage),) = PassagePlan().of(SHORT, tokens)
    assert text == "article 1 loi travail le salarié peut"
    assert passage.of(SHORT.text) == SHORT.text
    ((text, _),) = PassagePlan(headings=False).of(SHORT, tokens)
    assert text == "article 1 le salarié peut"


@pytest.mark.parametrize("scheme", [PassageScheme.WHOLE, PassageScheme.WINDOWS, PassageScheme.PARAGRAPHS])
@pytest.mark.parametrize("document", [LONG, JUDGMENT])
def test_every_window_fits_and_carries_the_prefix_and_all_words_are_there(tokens, scheme, document):
    found = PassagePlan(scheme, size=50, overlap=5).of(document, tokens, reserved=3)
    assert len(found) > 2
    prefix = " ".join(filter(None, (document.title, *document.headings)))
    covered = [False] * len(document.text)
    for text, passage in found:
        assert text.startswith(prefix)
        assert text.endswith(passage.of(document.text))
        assert tokens.count(text) + 3 <= tokens.room
        covered[passage.start : passage.end] = [True] * (passage.end - passage.start)
    assert all(seen or letter.isspace() for seen, letter in zip(covered, document.text, strict=True))


def test_the_beginning_is_the_first_window_of_the_whole(tokens):
    [first] = PassagePlan(PassageScheme.BEGINNING).of(LONG, tokens)
    assert first == PassagePlan(PassageScheme.WHOLE).of(LONG, tokens)[0]
    assert first[1].end < len(LONG.text)


def test_windows_have_the_size_that_was_asked(tokens):
    found = PassagePlan(PassageScheme.WINDOWS, size=10, overlap=2, headings=False).of(Document("a", text=LONG.text), tokens)
    assert max(tokens.count(text) for text, _ in found) == 10


def test_paragraphs_keep_their_numbers(tokens):
    found = PassagePlan(PassageScheme.PARAGRAPHS).of(JUDGMENT, tokens)
    assert [passage.number for _, passage in found][:2] == [None, "1"]
    assert {passage.number for _, passage in found[2:]} == {"2"}


def test_a_document_without_text_is_encoded_by_its_title(tokens):
    ((text, passage),) = PassagePlan(PassageScheme.WINDOWS).of(Document("a", title="loi"), tokens)
    assert (text, passage.start, passage.end) == ("loi", 0, 0)
    assert [text for text, _ in PassagePlan().of(Document("a"), tokens)] == [""]


def test_a_long_prefix_takes_half_of_the_window_and_outer_headings_go_first(tokens):
    headings = ("le contrat " * 30, "travail " * 20, "congé")
    document = Document("a", title="article 1", headings=headings, text="le salarié peut")
    ((text, _),) = PassagePlan().of(document, tokens)
    assert text.startswith("article 1 travail")
    assert text.endswith("congé le salarié peut")
    document = Document("a", title="loi " * 500, headings=("congé",), text="le salarié peut " * 60)
    for text, passage in PassagePlan().of(document, tokens):
        assert tokens.count(text) <= tokens.room
        assert tokens.count(passage.of(document.text)) >= 1
        assert text.startswith("loi loi")


def test_plans_and_windows_that_cannot_be(tokens):
    with pytest.raises(ConfigError, match="a size of at least 1, got 0"):
        PassagePlan(size=0)
    with pytest.raises(ConfigError, match="overlap"):
        PassagePlan(size=5, overlap=7)
    with pytest.raises(ConfigError, match="has no room after the 126 tokens"):
        PassagePlan().of(SHORT, tokens, reserved=126)


CASE = Document(
    "d", title="A v. B", headings=("Court",), language="en",
    text="The lease ended. Mr. B. left.\n\n2. He owed " + "rent and costs and " * 10 + "interest.",
)  # fmt: skip


def test_sentences_stand_alone_and_long_ones_are_cut(tokens):
    found = PassagePlan.usual(PassageScheme.SENTENCES, 12).of(CASE, tokens)
    assert [text for text, _ in found][:2] == ["The lease ended.", "Mr. B. left."]
    assert all(text == passage.of(CASE.text) for text, passage in found)
    assert [len(text.split()) for text, _ in found[2:]] == [12, 12, 12, 8]
    assert " ".join(text for text, _ in found).split() == CASE.text.split()


def test_units_of_words_are_of_one_length_but_the_last(tokens):
    found = PassagePlan.usual(PassageScheme.WORDS, 7).of(CASE, tokens)
    lengths = [len(text.split()) for text, _ in found]
    assert set(lengths[:-1]) == {7}
    assert " ".join(text for text, _ in found).split() == CASE.text.split()


@pytest.mark.parametrize("scheme", [PassageScheme.SENTENCES, PassageScheme.WORDS])
def test_a_unit_may_be_longer_than_the_window_and_a_document_without_text_has_one(tokens, scheme):
    long = Document("a", text="loi " * 500, language="fr")
    assert [passage.of(long.text) for _, passage in PassagePlan.usual(scheme, 10_000).of(long, tokens)] == [long.text.strip()]
    ((text, passage),) = PassagePlan.usual(scheme).of(Document("a", title="loi", headings=("travail",)), tokens)
    assert (text, passage.start, passage.end) == ("loi travail", 0, 0)


def test_usual_numbers():
    assert PassagePlan.usual(PassageScheme.WINDOWS) == PassagePlan(PassageScheme.WINDOWS, 200, 20)
    assert PassagePlan.usual(PassageScheme.WINDOWS, 12) == PassagePlan(PassageScheme.WINDOWS, 12, 1)
    assert PassagePlan.usual(PassageScheme.WINDOWS, 50, 0) == PassagePlan(PassageScheme.WINDOWS, 50, 0)
    with pytest.raises(ConfigError, match="sentences share nothing"):
        PassagePlan.usual(PassageScheme.SENTENCES, overlap=3)
