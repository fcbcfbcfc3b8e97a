"""Words that two paragraphs share: the rare ones, and none where everything is the same."""

from lexfuse.data.document import Document
from lexfuse.search.index_version import IndexVersion
from lexfuse.search.words.shared_words import shared_words
from lexfuse.storage.index_folder import IndexFolder

TEXTS = [
    "The court heard the tenant.",
    "The court heard the owner.",
    "The court fined him.",
    "The court fined her.",
    "It rained.",
]


def test_only_words_that_few_documents_have_are_shared(tmp_path):
    documents = [Document(str(at), text=text, language="en") for at, text in enumerate(TEXTS)]
    with IndexFolder.create(tmp_path / "law.index", documents=documents) as folder:
        version = IndexVersion(folder.snapshot())
        first, second = "The court heard the tenant on rain.", "A tenant came to court in the rain."
        one, two = shared_words(version, first, second, "en")
        assert [match.of(first) for match in one] == ["tenant", "rain"]
        assert [match.of(second) for match in two] == ["tenant", "rain"]
        assert shared_words(version, first, first.upper(), "en") == ((), ())
