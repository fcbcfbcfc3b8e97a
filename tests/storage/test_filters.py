"""Filters: what each comparison keeps, how it is written, and what is refused."""

import datetime

import pytest

from lexfuse.channels.lexical.bm25 import BM25
from lexfuse.data.document import Document, DocumentKind, DocumentStatus
from lexfuse.data.queries import Queries, Query
from lexfuse.errors import ConfigError, NotFoundError
from lexfuse.storage.filters import FIELDS, Condition, Operator, within
from lexfuse.storage.index_folder import IndexFolder

DAY = datetime.date
DOCUMENTS = [
    Document("a", text="law", code="Code civil", kind=DocumentKind.STATUTE, number="9", headings=("Livre I", "Titre II"),
             valid_from=DAY(2000, 1, 1), valid_to=DAY(2010, 1, 1), status=DocumentStatus.REPEALED, title="Loi, décret"),
    Document("b", text="law", code="Code du travail, annexe", kind=DocumentKind.STATUTE, number="10", headings=("Livre I",),
             valid_from=DAY(2010, 1, 1), identifiers=("X1", "X2"), title="Loi"),
    Document("c", text="law", court="CJEU", kind=DocumentKind.DECISION, date=DAY(2020, 5, 4), citations=("a",), language="fr"),
    Document("d", text="law", court="CJEU\x00", date=DAY(2021, 5, 4), headings=("Livre Ier", "Titre II")),
    Document("e", text="law", valid_to=DAY(2010, 1, 1), headings=("Livre I", "Titre III")),
]  # fmt: skip


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory):
    with IndexFolder.create(tmp_path_factory.mktemp("filters") / "i", documents=DOCUMENTS[2:]) as index:
        index.add([Document("z"), *DOCUMENTS[:2]])
        index.delete(["z"])
        with index.snapshot() as opened:
            yield opened


def kept(snapshot, *conditions, **more):
    mask = within(snapshot, [Condition.parse(one) for one in conditions], **more)
    return "".join(sorted(id for id, fits in zip(snapshot.ids, mask, strict=True) if fits))


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("code=Code civil", "a"),
        ("code=code civil", ""),
        (r"code=Code du travail\, annexe", "b"),
        (r"code=Code civil,Code du travail\, annexe", "ab"),
        ("code=Code du travail, annexe", ""),  # two values, neither of which is a code
        ("code!=Code civil", "bcde"),
        ("code=", "cde"),
        ("code!=", "ab"),
        ("code^=Code", "ab"),
        ("code^=Code du travail, annexe", "b"),
        ("court=CJEU", "c"),
        ("court^=CJEU", "cd"),
        ("kind=statute,decision", "abc"),
        ("kind!=statute,decision", "de"),
        ("status=repealed", "a"),
        ("language=fr", "c"),
        ("number>=10", "ab"),  # as text: "9" comes after "10"
        ("number>10", "a"),
        ("id=a,b,nowhere", "ab"),
        ("id!=a", "bcde"),
        ("id>b", "cde"),
        ("id^=a", "a"),
        ("id='; DROP TABLE documents; --", ""),
        ("date=2020-05-04", "c"),
        ("date=24/05/2020,2021-05-04", "d"),
        ("date!=2020-05-04", "abde"),
        ("date>=2020-05-04", "cd"),
        ("date>2020-05-04", "d"),
        ("date<=2020-05-04", "c"),
        ("date<2021-05-04", "c"),
        ("date^=2020", "c"),
        (" date  >=  2021-01-01 ", "d"),
        ("headings=Titre II", "ad"),
        ("headings!=Titre II", "bce"),
        ("headings=", "c"),
        ("headings^=Livre I", "abde"),  # Livre Ier begins so too
        ("headings^=Livre I > Titre II", "ae"),
        ("headings^=Livre I >", "abe"),  # exactly this one, and all below
        ("headings^=Livre Ier > Titre", "d"),
        ("headings^=Livre I > Titre II > Chapitre", ""),
        ("identifiers=X2,X9", "b"),
        ("citations=a", "c"),
        ("title=Loi", "b"),
        (r"title=Loi\, décret", "a"),
        ("title^=Loi,", "a"),
    ],
)
def test_what_a_condition_keeps(snapshot, condition, expected):
    assert kept(snapshot, condition) == expected


def test_all_conditions_must_hold(snapshot):
    assert kept(snapshot, "kind=statute", "number=9") == "a"
    assert kept(snapshot, "kind=statute", "court=CJEU") == ""


@pytest.mark.parametrize(
    ("day", "expected"),
    [(DAY(1999, 12, 31), "cde"), (DAY(2000, 1, 1), "acde"), (DAY(2009, 12, 31), "acde"), (DAY(2010, 1, 1), "bcd"),
     (DAY(9999, 12, 31), "bcd"), (DAY(1, 1, 1), "cde")],
)  # fmt: skip
def test_in_force_on_a_day(snapshot, day, expected):
    assert kept(snapshot, as_of=day) == expected


def test_a_day_and_a_condition(snapshot):
    assert kept(snapshot, "kind=statute", as_of=DAY(2015, 1, 1)) == "b"


def test_nothing_asked_is_no_mask(snapshot):
    assert within(snapshot) is None


def test_a_filter_that_keeps_nothing_finds_nothing(snapshot):
    mask = within(snapshot, [Condition.parse("code=nowhere")])
    run = BM25(snapshot).retrieve(Queries.of([Query("q", "law", "en")]), 10, within=mask)
    assert run.hits("q") == []


def test_unknown_fields_are_told_with_those_there_are(snapshot):
    with pytest.raises(NotFoundError, match=f"no field 'colour' to filter by; there are {', '.join(FIELDS)}"):
        within(snapshot, [Condition.parse("colour=red")])


@pytest.mark.parametrize("text", ["", "code", "=x", "code~x", "a\nb=c", "text"])
def test_what_is_no_filter(text):
    with pytest.raises(ConfigError, match="a filter is written field=value"):
        Condition.parse(text)


@pytest.mark.parametrize("text", ["date>=yesterday", "date=2020-13-01", "date=2020-01-01,x", "valid_to<", "date=2999-01-01"])
def test_what_is_no_date(text):
    with pytest.raises(ConfigError, match="date was expected in a filter"):
        Condition.parse(text)


@pytest.mark.parametrize("sign", [">=", "<=", ">", "<"])
def test_lists_have_no_order(sign):
    with pytest.raises(ConfigError, match="headings is a list; filter it with =, != or"):
        Condition.parse(f"headings{sign}Livre I")


def test_how_many_values():
    with pytest.raises(ConfigError, match="date>= compares with one value, got 2"):
        Condition("date", Operator.AT_LEAST, ("2020-01-01", "2021-01-01"))
    with pytest.raises(ConfigError, match="code= compares with at least one value, got 0"):
        Condition("code", Operator.IS, ())


def test_several_beginnings(snapshot):
    mask = Condition("headings", Operator.BEGINS, ("Livre Ier", "Livre I > Titre III")).mask(snapshot)
    assert [id for id, fits in zip(snapshot.ids, mask, strict=True) if fits] == ["d", "e"]


class Counted(str):
    """A value that counts how often it is compared."""

    __slots__ = ()
    compared = 0

    def __eq__(self, other):
        Counted.compared += 1
        return str.__eq__(self, other)

    __hash__ = str.__hash__


@pytest.mark.parametrize("field", ["id", "code", "headings"])
def test_many_values_cost_no_more_than_one(snapshot, field):
    Counted.compared = 0
    Condition(field, Operator.IS, tuple(Counted(f"nowhere {n}") for n in range(1000))).mask(snapshot)
    assert Counted.compared <= 10 * len(snapshot)  # chances of the hashes, not documents times values
