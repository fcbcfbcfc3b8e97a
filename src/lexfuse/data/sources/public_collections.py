"""Public collections that anyone can make: what each is and is not, its licence, and the pinned files it is made from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import lexfuse
from lexfuse.data import downloads
from lexfuse.data.downloads import PackageRegistry, PinnedPackage
from lexfuse.data.formats.beir import Collection
from lexfuse.data.read_report import ReadReport
from lexfuse.data.sources.labour_sheets import read_sheets
from lexfuse.data.sources.names import PublicName, SourceName
from lexfuse.data.sources.registry import read_source


@dataclass(frozen=True, slots=True)
class PublicCollection:
    """A collection and the files it is made from: the first has the documents, a second the sheets that ask about them."""

    name: PublicName
    title: str
    language: str
    documents: int
    queries: int
    megabytes: float  # to download
    licence: str
    is_: str
    is_not: str
    source: SourceName
    packages: tuple[PinnedPackage, ...]

    def read(self, files: Sequence[Path], report: ReadReport | None = None) -> Collection:
        """Read the files of its packages, in their order."""
        collection = read_source(self.source, files[0], report)
        for sheets in files[1:]:
            collection = read_sheets(sheets, collection.corpus, report)
        return collection

    def provenance(self) -> str:
        """What PROVENANCE.md says: content, licence, sources, versions and checksums."""
        lines = [f"# {self.name.value}", "", f"{self.title}. {self.is_}", "", f"What it is not: {self.is_not}", ""]
        lines += [f"Licence: {self.licence}", "", f"Made by `lexfuse collect {self.name.value}`, LexFuse {lexfuse.__version__}."]
        lines += ["", "## Sources", ""]
        for package in self.packages:
            path = f", file {package.path}" if package.path else ""
            version = "commit" if package.registry is PackageRegistry.GIT else "version"
            lines.append(f"- {package.registry.value}: {package.name}, {version} {package.version}{path}")
            lines.append(f"  sha256 {package.sha256}")
        return "\n".join(lines) + "\n"


def public_collections() -> dict[PublicName, PublicCollection]:
    """Every collection by name.

    >>> public_collections()[PublicName.LEGALQUAD].language
    'de'
    """
    collections = [
        PublicCollection(
            PublicName.FRENCH_LABOUR_LAW,
            "French labour law: four codes, and the labour ministry's questions",
            "fr",
            29_115,
            671,
            15.3,
            "law and sheets: Licence Ouverte 2.0 (Etalab); npm packages: Apache-2.0",
            "Articles of the codes of labour, social security, rural law and relations with the administration. Sections of the "
            "ministry's sheets are the questions, the articles that they cite the labels; splits by sheet.",
            "BSARD or LLeQA, which are Belgian; citizens' own words; complete judgements: editors cite what they need. It has "
            "the codes but other questions than fr-labour, on which LexFuse's results were measured.",
            SourceName.LEGI,
            (downloads.LEGI, downloads.SHEETS),
        ),
        PublicCollection(
            PublicName.CONSTITUTION_OF_INDIA,
            "The Constitution of India",
            "en",
            465,
            17,
            0.1,
            "PyPI package: Apache-2.0; the text of the law is an official work",
            "Every article, with 17 one-sentence summaries of landmark cases as questions.",
            "A benchmark: the package's author wrote the summaries, most name their article, and each has one label.",
            SourceName.CONSTITUTION,
            (downloads.CONSTITUTION,),
        ),
        PublicCollection(
            PublicName.HUMAN_RIGHTS_JUDGMENTS,
            "Judgments of the European Court of Human Rights",
            "en, fr",
            60,
            0,
            1.2,
            "PyPI package: Apache-2.0; the Court allows reproduction with its name as the source",
            "60 whole judgments of 1968 to 1997, 31 in English and 29 in French, with parties, days and application numbers: "
            "case law to compare with a judgment of your own.",
            "The case law of the Court: the package has them as samples for its tests. There are no questions and no labels.",
            SourceName.HUMAN_RIGHTS,
            (downloads.JUDGMENTS,),
        ),
        PublicCollection(
            PublicName.LEGALQUAD,
            "LegalQuAD: German court decisions with a question on each",
            "de",
            200,
            200,
            4.1,
            "the repository states none; decisions are official works (§ 5 UrhG); cite Hoppe et al. (AIKE 2021)",
            "200 decisions of German courts and 200 questions, each with the one decision that it was written on.",
            "A search in all case law: the corpus has only the decisions that were asked about, one label each, and other "
            "decisions that answer a question were not judged. The source lost its line breaks, so numbers run into words.",
            SourceName.LEGALQUAD,
            (downloads.LEGALQUAD,),
        ),
        PublicCollection(
            PublicName.SCIFACT,
            "SciFact: scientific claims and abstracts, as BEIR splits them",
            "en",
            5183,
            1109,
            2.9,
            "claims: CC BY 4.0; abstracts: ODC-By 1.0 (Semantic Scholar)",
            "The collection of BRUCH's tables: 5,183 abstracts, 809 claims for training, 300 for the test; the labels agree with "
            "BEIR's, pair for pair.",
            "Law. It serves to check LexFuse against published figures. BEIR has no dev split.",
            SourceName.SCIFACT,
            (downloads.SCIFACT,),
        ),
    ]
    return {collection.name: collection for collection in collections}
