"""Where each source wins: shared words of query and document (CJEU 5.2), length bias (RPRS Table 8), classes of queries."""

from __future__ import annotations

import re

from lexfuse.advice.advice import Advice, ClassFinding
from lexfuse.advice.evidence.query_overlap import OverlapAnalysis, OverlapGroup
from lexfuse.advice.report.charts.axes import AxisLabels
from lexfuse.advice.report.charts.cell_charts import bar_strip
from lexfuse.advice.report.charts.line_chart import Series, line_chart
from lexfuse.advice.report.charts.scales import LinearScale
from lexfuse.advice.report.charts.svg import ChartSize
from lexfuse.advice.report.sections.markup import Html, ReportSection, TableCell, figure, joined, listing, paragraph, shown, table
from lexfuse.advice.report.sections.number_format import count_words, p_words, signed_words, value_words

_GRAMS = re.compile(r"(\d+)-grams in common")


def overlap_section(advice: Advice) -> ReportSection:
    """How much of the query stands word for word in what it looks for, by which source answers it.

    >>> from lexfuse.advice.advice import Configuration, ConfigurationResult
    >>> single = ConfigurationResult(Configuration(("bm25",)), (1.0,), 0.4)
    >>> "texts" in overlap_section(Advice("i", "R@10", ("R@10",), 9, 5, 5, ("bm25",), {}, (single,), single, ())).body
    True
    """
    title = "Words in common"
    if not advice.overlaps:
        needs = "the texts of queries and documents, and a source that matches words beside one that does not"
        return ReportSection("overlap", title, paragraph(f"Not analysed: this needs {needs}."))
    charts = [_grams(each) for each in advice.overlaps]
    caption = (
        "How many n-grams of words a query has in common with its relevant documents, mean of the queries of each group. Where "
        "the lines lie apart, verbatim overlap decides which source wins."
    )
    parts = [figure(charts, caption)]
    for each in advice.overlaps:
        parts += [Html(f"<h3>{shown(each.first)} and {shown(each.second)}</h3>"), listing(each.words, "findings"), _metrics(each)]
    return ReportSection("overlap", title, joined(*parts))


def lengths_section(advice: Advice) -> ReportSection:
    """Whether a source favours long documents.

    >>> from lexfuse.advice.advice import Configuration, ConfigurationResult
    >>> single = ConfigurationResult(Configuration(("bm25",)), (1.0,), 0.4)
    >>> lengths_section(Advice("i", "R@10", ("R@10",), 9, 5, 5, ("bm25",), {}, (single,), single, ())).body
    '<p>Not analysed: this needs the lengths of the documents.</p>'
    """
    title = "Length of documents"
    if not advice.lengths:
        return ReportSection("lengths", title, paragraph("Not analysed: this needs the lengths of the documents."))
    scale = LinearScale(-1.0, 1.0, 0, 100)
    rows: list[list[str | TableCell]] = [
        [
            each.source,
            TableCell(Html(bar_strip(scale, each.pearson, f"f{_colour(each.source, advice)}")), "strip"),
            TableCell(signed_words(each.pearson, 2)),
            TableCell(p_words(each.p)),
            TableCell(f"{each.queries:,}"),
            *(TableCell(_length(value)) for value in (each.mean_length_top, each.mean_length_relevant, each.mean_length_all)),
        ]
        for each in advice.lengths
    ]
    names = ("correlation", "p", "queries", "words, first 10", "words, relevant", "words, all")
    head: list[str | TableCell] = ["source", TableCell("−1 … 0 … +1", "strip"), *(TableCell(name) for name in names)]
    caption = (
        "Correlation (Pearson) of score and document length within each ranking, mean of the queries that have one: right of "
        "the middle the source favours long documents. p tells whether it differs from 0. Beside it the mean length of the "
        "first 10, of relevant and of all documents."
    )
    return ReportSection("lengths", title, table(head, rows, caption, css="lengths"))


def classes_section(advice: Advice) -> ReportSection:
    """What holds for citation lookups, keywords, questions and whole documents.

    >>> from lexfuse.advice.advice import Configuration, ConfigurationResult
    >>> single = ConfigurationResult(Configuration(("bm25",)), (1.0,), 0.4)
    >>> "classes" in classes_section(Advice("i", "R@10", ("R@10",), 9, 5, 5, ("bm25",), {}, (single,), single, ())).body
    True
    """
    title = "Classes of queries"
    if not advice.classes:
        return ReportSection(
            "classes", title, paragraph("Not analysed: the texts of the queries, which tell their classes, are not known.")
        )
    names = list(dict.fromkeys(name for each in advice.classes for name in each.means))
    rows = [_class_row(each, names) for each in advice.classes]
    caption = (
        f"Mean {advice.measure} of the dev queries of each class; the highest of each row in bold. A class gets a configuration "
        "of its own only where cross-validation supports it."
    )
    head: list[str | TableCell] = ["class", TableCell("queries"), *(TableCell(name, "number wrap") for name in names)]
    words = [
        Html(f"<b>{shown(each.name)}</b> ({count_words(each.queries, 'query', 'queries')}): {shown(each.words)}")
        for each in advice.classes
        if each.words
    ]
    return ReportSection(
        "classes", title, joined(table(head, rows, caption, css="means"), listing(words, "findings") if words else "")
    )


def _class_row(each: ClassFinding, names: list[str]) -> list[str | TableCell]:
    top = max(each.means.values(), default=0.0)
    cells = [
        TableCell(value_words(each.means.get(name)), "number top" if each.means.get(name) == top else "number") for name in names
    ]
    return [each.name, TableCell(f"{each.queries:,}"), *cells]


def _grams(each: OverlapAnalysis) -> str:
    series = []
    for group in each.groups:
        points = sorted((int(found[1]), mean) for metric, mean in group.means.items() if (found := _GRAMS.fullmatch(metric)))
        if points:
            name = f"{_group_name(group.name, each)} ({group.queries})"
            series.append(Series(name, tuple(float(n) for n, _ in points), tuple(mean for _, mean in points), dots=True))
    description = " ".join(
        f"{one.name}: {one.y[0]:.2f} at n = {one.x[0]:.0f}, {one.y[-1]:.2f} at n = {one.x[-1]:.0f}." for one in series
    )
    title = f"{each.first} and {each.second}, by {each.measure}"
    return line_chart(
        series, AxisLabels(title, "n, words of the n-gram", "n-grams in common", description), size=ChartSize(360, 300)
    )


def _metrics(each: OverlapAnalysis) -> Html:
    metrics = list(dict.fromkeys(metric for group in each.groups for metric in group.means))
    pairs = list(dict.fromkeys(test.groups for test in each.tests))
    tests = {(test.metric, test.groups): test for test in each.tests}
    rows: list[list[str | TableCell]] = []
    for metric in metrics:
        row: list[str | TableCell] = [metric, *(TableCell(_spread(metric, group)) for group in each.groups)]
        for pair in pairs:
            test = tests.get((metric, pair))
            if test is None:
                row.append(TableCell("–"))
                continue
            title = f"difference {signed_words(test.difference, 2)}, t = {signed_words(test.statistic, 2)}"
            row.append(TableCell(p_words(test.p), "number top" if test.p < 0.05 else "number", title=title))
        rows.append(row)
    groups = [TableCell(f"{_group_name(group.name, each)} (n = {group.queries})", "number wrap") for group in each.groups]
    tested = [TableCell(f"p: {_group_name(one, each)} / {_group_name(two, each)}", "number wrap") for one, two in pairs]
    caption = (
        f"Mean ± standard deviation in each group of queries (by {each.measure}), in words; p-values of t-tests between groups, "
        "corrected over the metrics, below 0.05 in bold."
    )
    return table(["metric", *groups, *tested], rows, caption, css="metrics")


def _spread(metric: str, group: OverlapGroup) -> str:
    if metric not in group.means:
        return "–"
    return f"{group.means[metric]:.2f} ± {group.deviations.get(metric, 0.0):.2f}"


def _group_name(name: str, each: OverlapAnalysis) -> str:
    return {"first wins": f"{each.first} wins", "second wins": f"{each.second} wins"}.get(name, name)


def _length(value: float) -> str:
    return f"{value:,.0f}" if value == value else "–"  # NaN is not itself


def _colour(source: str, advice: Advice) -> int:
    return advice.sources.index(source) % 8 if source in advice.sources else 7
