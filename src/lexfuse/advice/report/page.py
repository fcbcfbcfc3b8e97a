"""The advice as one HTML page that needs nothing else: no request, no font, no script to be read; it prints well.

Verdict first, evidence after it, method at the end. The one script only lets tables be sorted.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from lexfuse.advice.advice import Advice
from lexfuse.advice.report.charts.svg import style
from lexfuse.advice.report.sections.costs import costs_section
from lexfuse.advice.report.sections.effects import confirmation_section, figures_section, forest_section
from lexfuse.advice.report.sections.markup import ReportSection, shown
from lexfuse.advice.report.sections.matrix import matrix_section
from lexfuse.advice.report.sections.method import method_section, notes_section
from lexfuse.advice.report.sections.number_format import count_words
from lexfuse.advice.report.sections.queries import classes_section, lengths_section, overlap_section
from lexfuse.advice.report.sections.rerankers import reranking_section
from lexfuse.advice.report.sections.scores import complementarity_section, distributions_section
from lexfuse.advice.report.sections.summary import verdict_section
from lexfuse.advice.report.sections.weight_curves import curves_section

SECTIONS = (
    verdict_section,
    matrix_section,
    forest_section,
    confirmation_section,
    reranking_section,
    curves_section,
    distributions_section,
    complementarity_section,
    overlap_section,
    lengths_section,
    classes_section,
    costs_section,
    figures_section,
    method_section,
    notes_section,
)


def report_of(advice: Advice) -> str:
    """The whole page; the same advice gives the same bytes.

    >>> from lexfuse.advice.advice import Configuration, ConfigurationResult
    >>> single = ConfigurationResult(Configuration(("bm25",)), (1.0,), 0.4)
    >>> page = report_of(Advice("<code>", "R@10", ("R@10",), 9, 5, 5, ("bm25",), {}, (single,), single, ("Use bm25 alone.",)))
    >>> page.startswith("<!doctype html>"), "Use bm25 alone." in page, "<code>" in page
    (True, True, False)
    """
    sections = [make(advice) for make in SECTIONS]
    title = f"{advice.verdict.value}: {advice.collection}"
    contents = "".join(f'<li><a href="#{each.key}">{shown(each.title)}</a></li>' for each in sections)
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n<meta name="color-scheme" content="light dark">\n'
        '<link rel="icon" href="data:,">\n'
        f"<title>{shown(title)}</title>\n<style>\n{style()}{_asset('report.css')}</style>\n</head>\n<body>\n"
        f'<nav aria-label="contents"><p>Contents</p><ol>{contents}</ol></nav>\n<main>\n{_header(advice)}\n'
        + "\n".join(_placed(each) for each in sections)
        + f"\n</main>\n<script>\n{_asset('report.js')}</script>\n</body>\n</html>\n"
    )


def _header(advice: Advice) -> str:
    facts = [
        count_words(advice.documents, "document", "documents"),
        count_words(len(advice.sources), "source", "sources"),
        count_words(advice.queries, "judged dev query", "judged dev queries"),
    ]
    if advice.confirmation is not None:
        facts.append(count_words(advice.confirmation.queries, "test query", "test queries"))
    return (
        f'<header><p class="kicker">When to fuse</p><h1>{shown(advice.collection)}</h1>'
        f'<p class="facts">{shown(" · ".join(facts))} · decided by {shown(advice.measure)}</p></header>'
    )


def _placed(section: ReportSection) -> str:
    return f'<section id="{section.key}"><h2>{shown(section.title)}</h2>{section.body}</section>'


@cache
def _asset(name: str) -> str:
    return files("lexfuse.advice.report").joinpath(name).read_text("utf-8")
