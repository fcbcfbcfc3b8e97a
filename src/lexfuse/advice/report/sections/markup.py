"""The pieces of HTML that all sections are written with. What is given as `str` to be shown is escaped; markup goes by `Html`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lexfuse.advice.report.charts.svg import escaped
from lexfuse.advice.report.sections.number_format import unbroken


class Html(str):
    """Text that is markup already.

    >>> shown(Html("<b>")), shown("<b>")
    ('<b>', '&lt;b&gt;')
    """

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class ReportSection:
    """A part of the report: the name of its anchor, its title, and its content.

    >>> ReportSection("verdict", "Verdict", Html("<p>Fuse.</p>")).title
    'Verdict'
    """

    key: str
    title: str
    body: Html


@dataclass(frozen=True, slots=True)
class TableCell:
    """A cell of a table; `order` is what a sortable table sorts it by.

    >>> TableCell("0.61", order=0.6123).css
    'number'
    """

    content: str
    css: str = "number"
    title: str = ""
    order: float | None = None
    span: int = 1


def shown(content: str) -> str:
    """Content as it stands in the page.

    >>> shown("a & b")
    'a &amp; b'
    """
    return content if isinstance(content, Html) else escaped(content)


def paragraph(content: str, css: str = "") -> Html:
    """A paragraph.

    >>> paragraph("a < b")
    '<p>a &lt; b</p>'
    """
    return Html(f'<p class="{css}">{_set(content)}</p>' if css else f"<p>{_set(content)}</p>")


def listing(items: Sequence[str], css: str = "") -> Html:
    """A list.

    >>> listing(["one", "two"])
    '<ul><li>one</li><li>two</li></ul>'
    """
    start = f'<ul class="{css}">' if css else "<ul>"
    return Html(start + "".join(f"<li>{_set(item)}</li>" for item in items) + "</ul>")


def joined(*parts: str) -> Html:
    """Pieces one after the other.

    >>> joined(Html("<br>"), "<")
    '<br>&lt;'
    """
    return Html("".join(shown(part) for part in parts))


def figure(charts: Sequence[str], caption: str) -> Html:
    """Charts side by side as far as there is room, and how to read them.

    >>> figure(["<svg></svg>"], "Higher is better.").count("figcaption")
    2
    """
    drawn = "".join(f'<div class="plot">{chart}</div>' for chart in charts)
    return Html(f'<figure class="charts"><div class="plots">{drawn}</div><figcaption>{_set(caption)}</figcaption></figure>')


def table(
    head: Sequence[str | TableCell],
    rows: Sequence[Sequence[str | TableCell]],
    caption: str,
    *,
    css: str = "",
    foot: Sequence[str | TableCell] = (),
) -> Html:
    """A table whose first column names the rows; it scrolls by itself where a screen is narrow.

    >>> table(["source", "mean"], [["bm25", TableCell("0.41")]], "Means.").count("<tr>")
    2
    """
    names = "".join(_cell(each, "th", ' scope="col"') for each in head)
    body = "".join(f"<tr>{_row(row)}</tr>" for row in rows)
    ending = f"<tfoot><tr>{_row(foot)}</tr></tfoot>" if foot else ""
    inner = f"<table{_class(css)}><thead><tr>{names}</tr></thead><tbody>{body}</tbody>{ending}</table>"
    return framed(Html(inner), caption)


def framed(inner: Html, caption: str) -> Html:
    """A table in its frame, with what it shows.

    >>> framed(Html("<table></table>"), "Means.").startswith('<figure class="tabular">')
    True
    """
    scroll = f'<div class="scroll" tabindex="0" role="group" aria-label="table">{inner}</div>'
    return Html(f'<figure class="tabular"><figcaption>{_set(caption)}</figcaption>{scroll}</figure>')


def hidden(words: str) -> Html:
    """Words that only screen readers and copied text have.

    >>> hidden("better")
    '<span class="aloud">better</span>'
    """
    return Html(f'<span class="aloud">{escaped(words)}</span>')


def dots(sources: Sequence[str], members: Sequence[str]) -> Html:
    """Which of all sources are members, as a row of discs in the sources' colours.

    >>> dots(["bm25", "dense"], ["dense"]).count('class="f1"')
    1
    """
    drawn = "".join(
        f'<circle class="f{at % 8}" cx="{6 + 11 * at}" cy="6" r="4.5"/>'
        if source in members
        else f'<circle class="out" cx="{6 + 11 * at}" cy="6" r="2"/>'
        for at, source in enumerate(sources)
    )
    width = 11 * len(sources) + 2
    return Html(f'<svg class="dots" width="{width}" height="12" aria-hidden="true">{drawn}</svg>')


def _set(content: str) -> str:
    """Running text, set so that lines break at good places."""
    return unbroken(shown(content))


def _row(row: Sequence[str | TableCell]) -> str:
    return "".join(_cell(each, "td" if at else "th", "" if at else ' scope="row"') for at, each in enumerate(row))


def _cell(each: str | TableCell, name: str, scope: str) -> str:
    cell = each if isinstance(each, TableCell) else TableCell(each, "")
    if not cell.content:
        name, scope = "td", ""  # a head that says nothing is none
    title = f' title="{escaped(cell.title)}"' if cell.title else ""
    order = "" if cell.order is None else f' data-order="{cell.order:.12g}"'
    span = "" if cell.span == 1 else f' colspan="{cell.span}"'
    return f"<{name}{scope}{_class(cell.css)}{title}{order}{span}>{shown(cell.content)}</{name}>"


def _class(css: str) -> str:
    return f' class="{css}"' if css else ""
