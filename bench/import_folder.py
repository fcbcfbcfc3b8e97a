"""Import a folder of files of law: what became of every file, the documents and seconds of each format.

    python bench/import_folder.py FOLDER [--quick] [--json]
    python bench/import_folder.py FOLDER --make --repositories CLONES     # first makes FOLDER of real law, about 200 files

--make takes files as they are from clones of public repositories (usgpo/uslm, bundestag/gesetze,
nationalarchives/tna-judgments-parser) in CLONES/OWNER+NAME/repo or CLONES/NAME, prints acts of legalize-dev/legalize-fr and
judgments of LEXFUSE_DATA/cjeu as HTML and, by Chromium, as PDF, writes ODT, and adds what users have too: files that are scanned,
locked, encrypted without a password, damaged, empty, or no text. --quick takes a quarter of them. The share of paragraph numbers
is measured on judgments that the folder has as DOCX and as official XML: how many numbers of the XML the import finds in the
DOCX. Seconds depend on the load of the machine.
"""

from __future__ import annotations

import argparse
import gzip
import html
import io
import json
import os
import re
import shutil
import subprocess
import tempfile
import time
import zipfile
from collections import Counter
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

from lexfuse.data.files import read_bytes
from lexfuse.data.formats.file_documents import documents_of
from lexfuse.data.formats.markdown_text import front_matter, markdown_blocks
from lexfuse.data.sources.file_folder import read_files
from lexfuse.errors import LexFuseError
from lexfuse.text.paragraph_documents import paragraph_documents
from runner.needs import Needs

NEEDS = Needs(
    inputs={"LEXFUSE_BENCH_FILES": "a folder of files of law, such as --make writes"}, arguments=("{LEXFUSE_BENCH_FILES}",)
)

COUNTS = {"judgments": 66, "xml": 33, "pdf": 25, "bills": 12, "codes": 10, "acts": 15, "cases": 20, "odt": 6}


def main() -> None:
    """Make the folder if asked, import it, and print what became of it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--make", action="store_true")
    parser.add_argument("--repositories", type=Path, default=Path("repositories"))
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    NEEDS.check()
    if given.make:
        if given.folder.exists():
            parser.error(f"{str(given.folder)!r} exists; --make writes a new folder")
        Needs(collections=("cjeu",)).check()
        make(given.folder, given.repositories, 4 if given.quick else 1)
    begun = time.perf_counter()
    corpus, account = read_files(given.folder, divide=paragraph_documents)
    seconds = time.perf_counter() - begun
    kinds = Counter(str(document.extra["format"]) for document in corpus)
    files = Counter({str(document.extra["file"]): str(document.extra["format"]) for document in corpus}.values())
    found = {
        **account.as_json(),
        "accounted": account.imported + len(account.skipped) == len(account.outcomes),
        "documents": len(corpus),
        "seconds": round(seconds, 1),
        "formats": {kind: {"files": files[kind], "documents": kinds[kind]} for kind in sorted(kinds)},
        "paragraph_numbers": agreement(given.folder),
    }
    if given.json:
        print(json.dumps(found, ensure_ascii=False))
        return
    print(*account.lines()[:1], f"{len(corpus):,} documents in {seconds:.1f} s", sep="\n")
    print(*(f"  {kind}: {files[kind]} files, {kinds[kind]:,} documents" for kind in sorted(kinds)), sep="\n")
    print(*(f"  skipped {one.file}: {one.code}: {one.reason}" for one in account.skipped), sep="\n")
    print(f"paragraph numbers of official XML found in DOCX: {found['paragraph_numbers']}")


def agreement(folder: Path) -> dict[str, float]:
    """Judgments that are there in both forms, and the share of the paragraph numbers of the XML that the DOCX gives too."""
    pairs = numbers = same = 0
    for word in sorted(folder.rglob("*.docx")):
        official = word.parents[1] / "xml" / f"{word.stem}.xml"
        if not official.is_file():
            continue
        try:
            wanted = {one.number for one in documents_of(read_bytes(official), official.name) if one.number.isdigit()}
            whole = documents_of(read_bytes(word), word.name)
        except LexFuseError:
            continue
        divided = paragraph_documents(whole[0]) if len(whole) == 1 else whole
        pairs, numbers, same = pairs + 1, numbers + len(wanted), same + len(wanted & {one.number for one in divided})
    return {"judgments": pairs, "paragraphs": numbers, "share": round(same / numbers, 4) if numbers else 0.0}


def make(folder: Path, clones: Path, share: int) -> None:
    """Fill a new folder with files of every kind."""
    folder.mkdir(parents=True)
    counts = {name: max(count // share, 2) for name, count in COUNTS.items()}
    judgments = list(git_files(clones, "nationalarchives+tna-judgments-parser", r"test/judgments/test\d+\.(docx|xml)"))
    for form, count in (("docx", counts["judgments"]), ("xml", counts["xml"])):
        write(folder / "judgments" / form, [one for one in judgments if one[0].endswith(form)][:count])
    write(folder / "annexes", list(git_files(clones, "bundestag+gesetze", r".*\.pdf", counts["pdf"])))
    write(folder / "guides", list(git_files(clones, "usgpo+uslm", r".*\.(docx|pdf|pptx)", 8)))
    write(folder / "bills", list(git_files(clones, "usgpo+uslm", r"(bill|previous/sample).*\.(?i:xml)", counts["bills"])))
    write(
        folder / "gesetze",
        [
            (f"{name.split('/')[-2]}.md", raw)
            for name, raw in git_files(clones, "bundestag+gesetze", r".*/index\.md", counts["codes"])
        ],
    )
    acts = list(git_files(clones, "legalize-dev+legalize-fr", r"fr/.*\.md", counts["acts"]))
    write(folder / "codes", acts[: len(acts) // 3])
    pages = {Path(name).stem: act_page(raw.decode()) for name, raw in acts[len(acts) // 3 :]}
    cases = dict(list(judgment_pages())[: counts["cases"]])
    write(folder / "pages", [(f"{name}.html", page.encode()) for name, page in [*pages.items(), *cases.items()][::2]])
    for name, page in [*pages.items(), *cases.items()][1::2]:
        write(folder / "printed", [(f"{name}.pdf", printed(page))])
    for name, page in list(cases.items())[: counts["odt"]]:
        write(folder / "odt", [(f"{name}.odt", odt(page))])
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, raw in acts[:2]:
            archive.writestr(f"packed/{Path(name).name}", raw)
        archive.writestr("packed/empty.txt", "")
    write(folder, [("more.zip", packed.getvalue())])
    write(folder / "trouble", list(trouble(printed(next(iter(cases.values()))))))


def write(folder: Path, files: list[tuple[str, bytes]]) -> None:
    """Write files under the last part of their names."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, raw in files:
        (folder / Path(name).name).write_bytes(raw)


def git_files(clones: Path, name: str, pattern: str, count: int | None = None) -> Iterator[tuple[str, bytes]]:
    """Names and contents of the files of a clone that match a pattern, evenly drawn; a clone may lack its largest files."""
    place = next((one for one in (clones / name / "repo", clones / name.partition("+")[2]) if one.is_dir()), None)
    if place is None:
        raise SystemExit(f"no clone of {name.replace('+', '/')} in {clones}")
    git = ["git", f"--git-dir={place if (place / 'HEAD').is_file() else place / '.git'}"]
    listed = subprocess.run([*git, "ls-tree", "-r", "--name-only", "HEAD"], capture_output=True, check=True, text=True).stdout
    names = [one for one in listed.splitlines() if re.fullmatch(pattern, one)]
    for one in names[:: max(len(names) // count, 1)][:count] if count else names:
        found = subprocess.run([*git, "cat-file", "blob", f"HEAD:{one}"], capture_output=True, check=False)
        if found.returncode == 0:
            yield one, found.stdout


def act_page(text: str) -> str:
    """A Markdown act as an HTML page."""
    fields, body = front_matter(text)
    tags = ((f"h{block.level}" if block.level else "p", html.escape(block.text)) for block in markdown_blocks(body[:400_000]))
    lines = "\n".join(f"<{tag}>{words}</{tag}>" for tag, words in tags)
    return whole_page(fields.get("title", ""), lines)


def whole_page(title: str, body: str) -> str:
    """An HTML page."""
    head = f'<meta charset="utf-8"><title>{html.escape(title)}</title>'
    return f"<!doctype html><html><head>{head}</head><body>{body}</body></html>"


def judgment_pages() -> Iterator[tuple[str, str]]:
    """The judgments of the CJEU as HTML pages with numbered paragraphs, by ECLI."""
    with gzip.open(Path(os.environ["LEXFUSE_DATA"]) / "cjeu" / "corpus.jsonl.gz", "rt", encoding="utf-8") as lines:
        for case, group in groupby(map(json.loads, lines), key=lambda row: row["_id"].partition("#")[0]):
            rows = sorted(group, key=lambda row: int(row["metadata"].get("paragraph") or 0))
            if len(rows) > 20:
                paragraphs = "\n".join(f"<p>{row['metadata'].get('paragraph')} {html.escape(row['text'])}</p>" for row in rows)
                yield case.replace(":", "-"), whole_page(case, f"<h1>Judgment {case}</h1>\n{paragraphs}")


def printed(page: str) -> bytes:
    """A page as PDF, by Chromium."""
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        raise SystemExit("--make needs chromium to print PDF files")
    with tempfile.TemporaryDirectory() as place:
        (Path(place) / "a.html").write_text(page, encoding="utf-8")
        options = ["--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={place}/profile", "--no-pdf-header-footer"]
        command = [browser, *options, f"--print-to-pdf={place}/a.pdf", f"file://{place}/a.html"]
        subprocess.run(command, check=True, capture_output=True, timeout=300)
        return (Path(place) / "a.pdf").read_bytes()


def odt(page: str) -> bytes:
    """A page as ODT."""
    names = "urn:oasis:names:tc:opendocument:xmlns"
    body = "".join(f"<text:p>{line}</text:p>" for line in re.findall(r"<(?:p|h1)>(.*?)</", page))
    text = f"<office:body><office:text>{body}</office:text></office:body>"
    root = f'office:document-content xmlns:office="{names}:office:1.0" xmlns:text="{names}:text:1.0"'
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.text")
        archive.writestr("content.xml", f"<{root}>{text}</office:document-content>")
    return out.getvalue()


def trouble(pdf: bytes) -> Iterator[tuple[str, bytes]]:
    """Files of which most cannot be read."""
    from pypdf import PdfReader, PdfWriter

    def rewritten(**encryption: str) -> bytes:
        writer, out = PdfWriter(clone_from=PdfReader(io.BytesIO(pdf))), io.BytesIO()
        writer.encrypt(algorithm="AES-256", **encryption)
        writer.write(out)
        return out.getvalue()

    yield "encrypted-without-password.pdf", rewritten(user_password="", owner_password="owner")  # noqa: S106 -- of a test file
    yield "locked.pdf", rewritten(user_password="secret", owner_password="owner")  # noqa: S106 -- of a test file
    yield "scanned.pdf", printed('<svg width="600" height="800"><rect width="600" height="800" fill="gray"/></svg>')
    yield "cut.pdf", pdf[: len(pdf) // 2]
    yield "empty.pdf", b""
    yield "empty.txt", b" \n"
    yield "damaged.docx", b"PK\x03\x04" + bytes(100)
    yield "no-document.docx", b"not a package"
    yield "latin.txt", "L'arrêt est annulé.".encode("latin-1")
    yield "old.doc", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
    yield "picture.pdf", b"\x89PNG\r\n\x1a\n"
    yield "entities.xml", b'<!DOCTYPE a [<!ENTITY b "b">]><a>&b;</a>'
    yield "table.csv", b"id,text\n1,law\n"
    yield "~$open.docx", b"lock"


if __name__ == "__main__":
    main()
