"""One small index with every kind of channel, in a folder and in PostgreSQL."""

import datetime
import random
from urllib.parse import quote

import pytest

import lexfuse
from lexfuse.channels.postgres.export import ExportOptions, export_index
from lexfuse.data.document import DocumentKind
from lexfuse.storage.folder_snapshot import open_snapshot
from lexfuse.storage.postgres.address import PostgresAddress

TOPICS = (
    "le préavis de démission",
    "la durée du travail",
    "le contrat d'apprentissage",
    "les congés payés",
    "le salaire minimum",
)
VERBS = ("est fixé par", "dépend de", "suspend", "ne modifie pas", "prolonge")


def document(number):
    """A short article; every third has two sentences, some have dates and headings."""
    draw = random.Random(number)  # noqa: S311
    people = "le salarié" if number % 3 else "chaque apprenti"
    sentences = [
        f"{draw.choice(TOPICS).capitalize()} {draw.choice(VERBS)} {draw.choice(TOPICS)} pour {people}."
        for _ in range(1 + (number % 3 == 0) + number % 2)
    ]
    return lexfuse.Document(
        f"art-{number:03}",
        title=f"Article L. {number}",
        text=" ".join(sentences),
        language="fr",
        kind=DocumentKind.STATUTE,
        code="Code du travail" if number % 2 else "Code d'essai; DROP TABLE documents",
        number=f"L{number}",
        headings=("Partie législative", f"Livre {number % 4}"),
        valid_from=None if number % 5 == 0 else datetime.date(2010 + number % 10, 1, 1),
        valid_to=None if number % 4 else datetime.date(2022, 1, 1),
        extra={"note": "with \"quotes\" and 'more'", "n": number},
    )


@pytest.fixture(scope="session")
def law_folder(tmp_path_factory):
    """An index with words, whole vectors, vectors of sentences and learned sparse vectors; one document is deleted."""
    folder = tmp_path_factory.mktemp("law") / "law.index"
    documents = [document(number) for number in range(60)]
    with lexfuse.Index.build(folder, documents, channels=["dense", "sentences", "splade"]) as index:
        index.delete(["art-007"])
    return folder


@pytest.fixture
def export(postgres_server, law_folder):
    """Exports the index into a schema of a name, and gives its address."""

    def run(schema, folder=law_folder, **options):
        address = PostgresAddress.parse(f"{postgres_server}&schema={quote(schema)}")
        with open_snapshot(folder) as snapshot:
            return address, export_index(snapshot, folder.name, address, ExportOptions(**options))

    return run


@pytest.fixture(scope="session")
def law(law_folder):
    """The index in its folder."""
    with lexfuse.Index.open(law_folder) as index:
        yield index


@pytest.fixture(scope="session")
def law_address(postgres_server, law_folder):
    """The address of the same index in PostgreSQL."""
    address = f"{postgres_server}&schema=law"
    with open_snapshot(law_folder) as snapshot:
        export_index(snapshot, law_folder.name, PostgresAddress.parse(address))
    return address


@pytest.fixture(scope="session")
def exported(law_address):
    """The same index in PostgreSQL."""
    with lexfuse.Index.open(law_address) as index:
        yield index


@pytest.fixture(scope="session")
def approximate(postgres_server, law_folder):
    """The same index in PostgreSQL, with HNSW indexes."""
    address = PostgresAddress.parse(f"{postgres_server}&schema=hnsw")
    with open_snapshot(law_folder) as snapshot:
        export_index(snapshot, law_folder.name, address, ExportOptions(hnsw=True))
    with lexfuse.Index.open(f"{postgres_server}&schema=hnsw") as index:
        yield index
