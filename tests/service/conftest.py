"""Small real libraries: one of statutes and judgments with vectors, to read; one of a few articles, to write to."""

import datetime
from pathlib import Path

import pytest

from lexfuse.channels.channel_kind import ChannelPlan
from lexfuse.channels.registry import fill_channel, plan_channel
from lexfuse.data.document import Document, DocumentKind, DocumentStatus
from lexfuse.service.registry import IndexPlace, IndexRegistry
from lexfuse.storage.index_folder import IndexFolder

DAY = datetime.date


def article(number, text, code="Code du travail", **values):
    return Document(
        f"{code.split()[-1]}-{number}", f"{code}, article {number}", text, "fr", DocumentKind.STATUTE, code, number, **values
    )


STATUTES = [
    article("L1", "Le préavis de démission est d'un mois. Il est notifié par lettre.", status=DocumentStatus.IN_FORCE),
    article("L2", "Le salarié qui démissionne respecte le préavis de l'article L. 1.", citations=("travail-L1",)),
    article(
        "L10",
        "Il est convoqué. Voir les articles L. 1 et L. 2. L'article L. 1 du code civil s'applique aussi.",
        citations=("travail-L1", "travail-L2", "civil-L1", "gone"),
    ),
    article("L1", "Le bail est un contrat. Le loyer est dû au bailleur.", code="Code civil"),
    Document(
        "old-L3",
        "Ancien article L3",
        "La rupture était libre.",
        "fr",
        DocumentKind.STATUTE,
        "Code du travail",
        "L3",
        valid_from=DAY(2000, 1, 1),
        valid_to=DAY(2010, 1, 1),
        status=DocumentStatus.REPEALED,
    ),
    Document(
        "new-L3",
        "Article L3",
        "La rupture conventionnelle est homologuée.",
        "fr",
        DocumentKind.STATUTE,
        "Code du travail",
        "L. 3",
        valid_from=DAY(2010, 1, 1),
    ),
]
JUDGMENT = """Faits et procédure

1. Le locataire n'a pas payé le loyer. Le bail a pris fin.

Il a quitté les lieux.

2. Le bailleur demande le loyer dû (affaire C-60/22, point 12).

3. La cour condamne le locataire."""
DECISIONS = [
    Document("dec-1", "Arrêt 1", JUDGMENT, "fr", DocumentKind.DECISION, court="Cour d'appel", date=DAY(2020, 5, 1)),
    Document(
        "dec-2",
        "Arrêt 2",
        "Le loyer est dû par le locataire après la fin du bail.",
        "fr",
        DocumentKind.DECISION,
        date=DAY(2018, 1, 1),
    ),
    Document(
        "dec-3",
        "Arrêt 3",
        "Le locataire doit le loyer jusqu'à la fin du bail.",
        "fr",
        DocumentKind.DECISION,
        date=DAY(2022, 1, 1),
    ),
    Document("dec-4", "Arrêt 4", "Le bail et le loyer, sans date.", "fr", DocumentKind.DECISION),
    *(
        Document(
            f"C-60/22#{number}",
            f"C-60/22, point {number}",
            text,
            "fr",
            DocumentKind.PARAGRAPH,
            number=number,
            court="CJUE",
            date=DAY(2023, 5, 4),
            identifiers=("ECLI:EU:C:2023:373", "C-60/22"),
        )
        for number, text in (("9", "Le droit de l'Union."), ("12", "La clause est abusive."), ("100", "Par ces motifs."))
    ),
]


@pytest.fixture(scope="session")
def law_folder(tmp_path_factory):
    """An index with words, vectors of documents and vectors of sentences."""
    folder = tmp_path_factory.mktemp("law") / "law.index"
    with IndexFolder.create(folder, documents=[*STATUTES, *DECISIONS]) as index:
        for name, plan in (
            ("dense", ChannelPlan("fr-legal-dense")),
            ("sentences", ChannelPlan("fr-legal-dense")),
        ):
            index.channels.make(name, plan_channel(name, plan))
            fill_channel(index, name)
    return folder


@pytest.fixture(scope="session")
def law(law_folder, tmp_path_factory):
    """A library of that index, with a profile that chooses terms."""
    profile = tmp_path_factory.mktemp("profiles") / "terms.toml"
    profile.write_text('version = 1\nname = "terms"\n\n[[channel]]\nname = "bm25"\nkli = 1.0\n', "utf-8")
    with IndexRegistry.open([IndexPlace.of(law_folder)], [profile]) as library:
        yield library


@pytest.fixture
def shelf_folder(tmp_path: Path):
    """An index of words alone, to write to."""
    folder = tmp_path / "small.index"
    IndexFolder.create(folder, documents=STATUTES[:3]).close()
    return folder


@pytest.fixture
def small(shelf_folder):
    """A library of that index."""
    with IndexRegistry.open([IndexPlace.of(shelf_folder)]) as library:
        yield library
