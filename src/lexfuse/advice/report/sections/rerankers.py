"""Whether rerankers are worth it on top of the choice: in plain words, in a forest plot, and in figures."""

from __future__ import annotations

from collections.abc import Mapping

from lexfuse.advice.advice import Advice, RerankEffect, RerankFinding, Reranking
from lexfuse.advice.report.sections.effects import forest
from lexfuse.advice.report.sections.markup import Html, ReportSection, TableCell, joined, listing, paragraph, shown, table
from lexfuse.advice.report.sections.number_format import count_words, time_words, value_words

TITLE = "Reranking"


def reranking_section(advice: Advice) -> ReportSection:
    """Every reranker beside the choice without it, or that none was tried.

    >>> from lexfuse.advice.advice import Configuration, ConfigurationResult
    >>> single = ConfigurationResult(Configuration(("bm25",)), (1.0,), 0.4)
    >>> reranking_section(Advice("i", "R@10", ("R@10",), 9, 5, 5, ("bm25",), {}, (single,), single, ())).body
    '<p>No reranker was tried; lexfuse advise … --rerank FILE tries one on top of the choice.</p>'
    """
    found = advice.reranking
    if found is None:
        words = "No reranker was tried; lexfuse advise … --rerank FILE tries one on top of the choice."
        return ReportSection("reranking", TITLE, paragraph(words))
    said = "".join(f"<h3>{shown(each.name)}</h3>{listing(each.words, 'findings')}" for each in found.findings)
    plots = [_plot(advice, found, test=False)]
    if found.test is not None:
        plots.append(_plot(advice, found, test=True))
    return ReportSection("reranking", TITLE, joined(paragraph(found.words), Html(said), *plots, _means(advice, found)))


def _plot(advice: Advice, found: Reranking, *, test: bool) -> Html:
    """Differences to the choice without any reranker."""
    rows = []
    for each in found.findings:
        for effect, how in _effects(each, test=test):
            mark = ' <span class="badge">used</span>' if each.name == found.taken and how == _ALONE else ""
            small = f"<small>{shown(f'{how} · {value_words(effect.means.get(advice.measure))}')}</small>"
            rows.append((Html(f'<span class="what">{shown(each.name)}{mark}{small}</span>'), effect.versus))
    before = (found.test or {}) if test else found.dev
    where = "test" if test else "dev"
    many = rows[0][1].queries if rows else 0
    caption = (
        f"Rerankers on top of {advice.chosen.configuration.name} ({value_words(before.get(advice.measure))}) on "
        f"{count_words(many, f'{where} query', f'{where} queries')}: difference of {advice.measure} to the choice without them, "
        "with its 95 % interval and the p-value corrected for all rows. Right of the line at 0 reranking gains."
    )
    return forest(rows, f"difference of {advice.measure} on {where}", caption)


_ALONE, _FUSED = "ranks by its own scores", "fused with the choice"


def _effects(finding: RerankFinding, *, test: bool) -> list[tuple[RerankEffect, str]]:
    alone, fused = (finding.test, finding.fused_test) if test else (finding.dev, finding.fused_dev)
    return [(effect, how) for effect, how in ((alone, _ALONE), (fused, _FUSED)) if effect is not None]


def _means(advice: Advice, found: Reranking) -> Html:
    """The means of all measures, and what a query costs."""
    sets = ["dev", "test"] if found.test is not None else ["dev"]
    head: list[str | TableCell] = [
        "on top of the choice",
        *(TableCell(f"{each}, {one}") for one in sets for each in advice.measures),
        TableCell("time"),
    ]
    rows: list[list[str | TableCell]] = [["no reranker", *_cells(advice, [found.dev, found.test]), TableCell("–")]]
    for each in found.findings:
        alone = [each.dev.means, each.test.means if each.test else None]
        fused = [each.fused_dev.means, each.fused_test.means if each.fused_test else None]
        rows.append([each.name, *_cells(advice, alone), TableCell(time_words(each.milliseconds))])
        rows.append([f"{each.name}, fused", *_cells(advice, fused), TableCell(time_words(each.milliseconds))])
    caption = (
        "Means, and the median time that reranking adds to a query. A fusion is tuned for one measure; on dev only that one was "
        "measured on queries that it was not tuned on, and the others are left out."
    )
    return table(head, rows, caption, css="means")


def _cells(advice: Advice, sets: list[Mapping[str, float] | None]) -> list[TableCell]:
    return [TableCell(value_words(means.get(measure))) for means in sets if means is not None for measure in advice.measures]
