"""The form of the page that takes a whole document as the question: its fields, its words to edit, and its address."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from urllib.parse import urlencode

from pydantic import Field
from starlette.datastructures import FormData, QueryParams

from lexfuse.data.document import DocumentKind
from lexfuse.errors import ConfigError, NoTermsError, TermWeightError
from lexfuse.service.operations.similar import SimilarParameters, Word
from lexfuse.service.parameters import page_parameters
from lexfuse.service.schemas.similar import SimilarPage

MAX_WORDS = 10_000  # to edit; a long judgment has fewer
FIELDS = (
    "text", "document", "file", "index", "profile", "kind", "exclude_self", "mask", "before", "before_own", "filter", "action",
    "term", "count", "weight", "exact", "use", "add", "target",
)  # fmt: skip
_EXPORT = "export-"  # begins the action that saves the results as a file
SHARED_TEXT = 1000  # characters of a text that its address holds; a longer one is shared by its words
ADDRESS = ("document", "text", "index", "target", "profile", "kind", "keep_self", "mask", "before", "before_own", "filter",
           "term", "exact")  # fmt: skip


class EditedParameters(SimilarParameters):
    """The parameters of a reader, who may edit more words than a program sends."""

    terms: list[Word] = Field([], max_length=MAX_WORDS)
    exact_terms: list[Word] = Field([], max_length=MAX_WORDS)


@dataclass(frozen=True, slots=True)
class EditedTerm:
    """A word of the list to edit."""

    word: str
    count: int  # in the text; 0 for an added word
    weight: str  # as written in its field
    used: bool = True
    exact: str = ""  # the terms of the index that it is for, with spaces between; empty for an added word


@dataclass(frozen=True, slots=True)
class SimilarForm:
    """The fields of the form."""

    text: str = ""
    document: str = ""
    file: str = ""  # its name
    index: str = ""
    profile: str = ""
    kind: str = ""
    exclude_self: bool = True
    mask: bool = False
    before: str = ""
    before_own: bool = False
    filters: tuple[str, ...] = ()
    words: tuple[EditedTerm, ...] = ()  # edited words; if empty, the most informative are selected
    target: str = ""  # the index that is searched, if it is not that of the document
    export: str = ""  # the format of a file instead of the page

    @property
    def edited(self) -> bool:
        """Whether the reader has edited the words."""
        return bool(self.words)

    def parameters(self) -> EditedParameters:
        """The same for the operation.

        >>> words = (EditedTerm("lease", 1, "2"), EditedTerm("the", 1, "1", used=False))
        >>> SimilarForm(text="The lease ended.", words=words).parameters().terms
        ['lease=2']
        """
        used = [each for each in self.words if each.used]
        if wrong := next((each for each in used if not _weight(each.weight)), None):
            raise TermWeightError(f"the weight of {wrong.word!r} must be above 0, got {wrong.weight!r}")
        if self.words and not used:
            raise NoTermsError("no word is left to search for; tick one, or add one")
        kinds = (f"kind={self.kind}",) if self.kind in set(DocumentKind) else ()
        same = {name: getattr(self, name) for name in ("profile", "exclude_self", "mask")}
        elsewhere = bool(self.target) and self.target != self.index
        own = {
            "index": self.target or self.index,
            "document": "" if elsewhere else self.document,
            "text": self.text if elsewhere or not self.document else "",
            "terms": [f"{each.word}={each.weight}" for each in used if not each.exact],
            "exact_terms": [f"{term}={each.weight}" for each in used for term in each.exact.split()],
            "drop_boilerplate": True,
            "explain": True,
            "before": self.before or None,
            "before_own_date": self.before_own and bool(self.document) and not elsewhere,
            "filters": [*self.filters, *kinds],
        }
        return page_parameters(EditedParameters, same | own)

    def address(self, found: SimilarPage) -> str:
        """The address that finds the same again; a long text is shared by the words that were searched for.

        >>> from lexfuse.service.schemas.search import SearchTiming
        >>> SimilarForm(document="a b", index="law").address(SimilarPage(index="law", generation=1, profile="similar", words=3,
        ...     results=[], timing=SearchTiming(total=0.0)))
        '/similar?document=a+b&index=law'
        """
        long = not self.document and len(self.text) > SHARED_TEXT
        words = [EditedTerm(term.word, term.count, f"{term.weight:g}") for term in found.terms] if long else self.words
        pairs = [
            ("document", self.document),
            ("text", "" if self.document else " ".join(each.word for each in words) if long else self.text),
            *((name, getattr(self, name)) for name in ("index", "target", "profile", "kind", "before")),
            *((name, "1" if given else "") for name, given in (("mask", self.mask), ("before_own", self.before_own))),
            ("keep_self", "" if self.exclude_self else "1"),
            *(("filter", each) for each in self.filters),
            *(("term", f"{each.word}={each.weight}") for each in words if each.used and not each.exact),
            *(("exact", f"{term}={each.weight}") for each in words if each.used for term in each.exact.split()),
        ]
        return f"/similar?{urlencode([(name, value) for name, value in pairs if value])}"


def asked_by(given: QueryParams) -> SimilarForm:
    """The form of an address.

    >>> asked_by(QueryParams("document=a&exact=rent%3D2")).words[0].weight
    '2'
    """
    texts = {name: given.get(name, "") for name in ("document", "text", "index", "target", "profile", "kind", "before")}
    return SimilarForm(
        text=texts["text"],
        document=texts["document"],
        index=texts["index"],
        target=texts["target"],
        profile=texts["profile"],
        kind=texts["kind"],
        before=texts["before"],
        mask=bool(given.get("mask")),
        before_own=bool(given.get("before_own")),
        exclude_self=not given.get("keep_self"),
        filters=tuple(each for each in given.getlist("filter") if each.strip()),
        words=(*map(_given_word, given.getlist("term")), *(_given_word(one, exact=True) for one in given.getlist("exact"))),
    )


def _given_word(text: str, *, exact: bool = False) -> EditedTerm:
    """A word of an address, ``word=weight``."""
    word, equals, weight = text.rpartition("=")
    word, weight = (word, weight) if equals and word else (text, "1")
    return EditedTerm(word, 0, weight, exact=word if exact else "")


def words_of(asked: SimilarForm, found: SimilarPage | None) -> list[EditedTerm]:
    """The list to edit: the words that were searched for, then those that the reader deselected.

    >>> words_of(SimilarForm(words=(EditedTerm("lease", 2, "1", used=False), EditedTerm("rent", 1, "2"))), None)[1].word
    'lease'
    """
    if found is None:
        return sorted(asked.words, key=lambda each: not each.used)
    searched = dict[str, EditedTerm]()  # terms that the text spells alike are one word
    for used, terms in ((True, found.terms), (False, found.set_aside)):
        for term in terms:
            exact = term.term if term.count else ""
            if (same := searched.get(term.word)) is not None:
                searched[term.word] = replace(same, exact=f"{same.exact} {exact}".strip())
            else:
                searched[term.word] = EditedTerm(term.word, term.count, f"{term.weight:g}", used, exact)
    return [*searched.values(), *(each for each in asked.words if not each.used and each.word not in searched)]


def asked_of(data: FormData) -> SimilarForm:
    """The fields of a form; edited words only if the reader searches again with them.

    >>> asked_of(FormData([("action", "again"), ("term", "rent"), ("weight", "2"), ("use", "rent"), ("add", "lease=3")])).words
    (EditedTerm(word='rent', count=0, weight='2', used=True, exact=''), EditedTerm(word='lease', count=0, ..., exact=''))
    """

    def text(name: str) -> str:
        value = data.get(name, "")
        return value if isinstance(value, str) else ""

    return SimilarForm(
        text=text("text").replace("\r\n", "\n"),
        document=text("document"),
        index=text("index"),
        profile=text("profile"),
        kind=text("kind"),
        exclude_self=bool(text("exclude_self")),
        mask=bool(text("mask")),
        before=text("before").strip(),
        before_own=bool(text("before_own")),
        filters=tuple(value for value in data.getlist("filter") if isinstance(value, str) and value.strip()),
        words=_words(data) if text("action") == "again" or text("action").startswith(_EXPORT) else (),
        target=text("target"),
        export=text("action").removeprefix(_EXPORT) if text("action").startswith(_EXPORT) else "",
    )


def _words(data: FormData) -> tuple[EditedTerm, ...]:
    """The edited words: names, counts and weights in the same order, ticks for those in use; then added words."""

    def texts(name: str) -> list[str]:
        return [value for value in data.getlist(name) if isinstance(value, str)]

    names, counts, weights, used = texts("term"), texts("count"), texts("weight"), set(texts("use"))
    exact = texts("exact")
    given = texts("add")
    if len(names) + sum(one.count(",") + 1 for one in given) > MAX_WORDS:
        raise ConfigError(f"at most {MAX_WORDS:,} words can be searched for; leave some out")
    counts += ["0"] * (len(names) - len(counts))
    weights += ["1"] * (len(names) - len(weights))
    exact += [""] * (len(names) - len(exact))
    rows = zip(names, counts, weights, exact, strict=False)
    words = [EditedTerm(name, _count(count), weight.strip() or "1", name in used, own) for name, count, weight, own in rows]
    added = dict[str, EditedTerm]()  # the last entry of a word counts
    for part in (part.strip() for one in given for part in one.split(",")):
        name, equals, weight = part.rpartition("=")
        word = EditedTerm(name.strip(), 0, weight.strip()) if equals and name.strip() else EditedTerm(part, 0, "1")
        added.pop(word.word, None)
        added[word.word] = word
    return (*(each for each in words if each.word not in added), *(each for each in added.values() if each.word))


def _count(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else 0


def _weight(text: str) -> bool:
    try:
        return 0 < float(text) < math.inf
    except ValueError:
        return False
