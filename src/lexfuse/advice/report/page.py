"""The advice as one HTML page that needs nothing else: no request, no font, no script to be read; it prints well.

Verdict first, evidence after it, method at the end: one Jinja template for each section. Everything they write is escaped; only
charts, the style sheet and the one script, which sorts tables, are markup. No template can declare text safe.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from lexfuse.advice.findings import Outcome
from lexfuse.advice.report import number_format, results, section_charts
from lexfuse.advice.report.charts.cell_charts import histogram_strip, numbered
from lexfuse.advice.report.charts.svg import printable, style

if TYPE_CHECKING:
    from lexfuse.advice.advice import Advice

SECTIONS = {
    "verdict": "Verdict",
    "matrix": "Every combination",
    "effects": "Gains over the best member",
    "test": "Confirmation on test",
    "reranking": "Reranking",
    "weights": "Weights of pairs",
    "distributions": "Score distributions",
    "complementarity": "Complementarity",
    "overlap": "Words in common",
    "lengths": "Length of documents",
    "classes": "Classes of queries",
    "costs": "Cost",
    "figures": "Every figure",
    "method": "How it was measured",
    "notes": "Notes",
}
_FOLDER = Path(__file__).parent
_SIGNS = {Outcome.BETTER: "▲", Outcome.WORSE: "▼", Outcome.EQUAL: "≈"}
_FILTERS = {
    "value": number_format.value_words,
    "signed": number_format.signed_words,
    "significant": number_format.significant_words,
    "p": number_format.p_words,
    "p_sentence": number_format.p_sentence,
    "prose": number_format.prose,
    "time": number_format.time_words,
    "size": number_format.size_words,
    "operations": number_format.operation_words,
    "whole": number_format.whole_words,
    "count": number_format.count_words,
    "share": number_format.share_words,
    "weights": number_format.weight_words,
    "css": section_charts.OUTCOME_CSS.__getitem__,
    "sign": _SIGNS.__getitem__,
}
_VALUES = (
    results.singles, results.single_means, results.best_single, results.fusions, results.best_fusion, results.best_fusions,
    results.outcome_counts, results.method_families, results.subsets_by_size, results.reranked_rows, results.timed_results,
    results.cost_front, results.column_names, results.score_basis, results.colour, section_charts.forest_scale,
    section_charts.group_name,
)  # fmt: skip
_CHARTS = (
    section_charts.outcome_strip, section_charts.mean_strip, section_charts.correlation_strip, section_charts.length_charts,
    section_charts.difference_strip, section_charts.forest_axis, section_charts.weight_charts,
    section_charts.distribution_charts, section_charts.pair_strip, section_charts.region_charts, section_charts.overlap_charts,
    section_charts.cost_charts, histogram_strip, numbered,
)  # fmt: skip
_REMOVED = ("safe", "xmlattr", "urlize", "tojson")  # filters that give markup; none is needed


def report_of(advice: Advice) -> str:
    """The whole page; the same advice gives the same bytes.

    >>> from lexfuse.advice.advice import Advice
    >>> from lexfuse.advice.findings import Configuration, ConfigurationResult
    >>> single = ConfigurationResult(Configuration(("bm25",)), (1.0,), 0.4)
    >>> page = report_of(Advice("<code>", "R@10", ("R@10",), 9, 5, 5, ("bm25",), {}, (single,), single, ("Use bm25 alone.",)))
    >>> page.startswith("<!doctype html>"), "Use bm25 alone." in page, "<code>" in page
    (True, True, False)
    """
    styles, script = (number_format.markup((_FOLDER / name).read_text("utf-8")) for name in ("report.css", "report.js"))
    return _environment().get_template("report.html").render(
        advice=advice, sections=SECTIONS, style=number_format.markup(style()) + styles, script=script
    )  # fmt: skip


@cache
def _environment() -> Environment:
    made = Environment(
        loader=FileSystemLoader(_FOLDER / "templates"), autoescape=True, undefined=StrictUndefined, trim_blocks=True,
        lstrip_blocks=True, auto_reload=False, keep_trailing_newline=False, finalize=_printable,
    )  # fmt: skip
    for name in _REMOVED:
        del made.filters[name]
    made.filters.update(_FILTERS)
    made.globals.update({each.__name__: each for each in _VALUES})
    made.globals.update({each.__name__: _drawn(each) for each in _CHARTS})
    return made


def _printable(value: Any) -> Any:
    """What HTML cannot hold becomes U+FFFD, in text and in markup."""
    if isinstance(value, Markup):
        return number_format.markup(printable(value))
    return printable(value) if isinstance(value, str) else value


def _drawn(draw: Callable[..., str | list[str]]) -> Callable[..., Markup | list[Markup]]:
    """A chart, or several, as markup; charts escape all words they write."""

    def drawn(*values: Any) -> Markup | list[Markup]:
        made = draw(*values)
        return number_format.markup(made) if isinstance(made, str) else [number_format.markup(each) for each in made]

    return drawn
