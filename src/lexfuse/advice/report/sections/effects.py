"""How large the differences are and how sure: a forest plot of the best fusions, the one look at test, and every figure."""

from __future__ import annotations

from collections.abc import Mapping

from lexfuse.advice.advice import Advice, ConfigurationResult, Difference, Outcome
from lexfuse.advice.report.charts.cell_charts import axis_strip, interval_strip
from lexfuse.advice.report.charts.scales import LinearScale, span
from lexfuse.advice.report.sections.markup import Html, ReportSection, TableCell, dots, joined, paragraph, shown, table
from lexfuse.advice.report.sections.number_format import (
    NONE,
    count_words,
    p_words,
    signed_words,
    size_words,
    time_words,
    value_words,
    weight_words,
)
from lexfuse.advice.report.sections.summary import OUTCOME_CSS, OUTCOME_SIGN

BEST = 30  # rows of the forest plot


def forest_section(advice: Advice) -> ReportSection:
    """The fusions with the highest means, each beside its best member.

    >>> from lexfuse.advice.advice import Configuration
    >>> single = ConfigurationResult(Configuration(("bm25",)), (1.0,), 0.4)
    >>> forest_section(Advice("i", "R@10", ("R@10",), 9, 5, 5, ("bm25",), {}, (single,), single, ())).body
    '<p>No fusion was tried.</p>'
    """
    compared = [(each, each.versus_member) for each in advice.tried if each.versus_member is not None]
    if not compared:
        return ReportSection("effects", "Gains over the best member", paragraph("No fusion was tried."))
    means = {each.configuration.members[0]: each.value for each in advice.tried if len(each.configuration.members) == 1}
    best = sorted(compared, key=lambda pair: -pair[0].value)[:BEST]
    rows = [
        (
            _named(advice, each, f"{value_words(each.value)} ({each.best_member} {value_words(means.get(each.best_member))})"),
            versus,
        )
        for each, versus in best
    ]
    which = (
        f"The {len(best)} of {len(compared)} fusions with the highest {advice.measure}"
        if len(best) < len(compared)
        else f"All {count_words(len(compared), 'fusion', 'fusions')}, the highest {advice.measure} first"
    )
    caption = (
        f"{which}: difference to the best member, with its 95 % interval (bootstrap over "
        f"{count_words(advice.queries, 'query', 'queries')}) and the p-value corrected for all tests. Right of the line at 0 "
        "fusing gains. Filled: the corrected test says so at 0.05; hollow: not distinguishable."
    )
    return ReportSection("effects", "Gains over the best member", forest(rows, f"difference of {advice.measure}", caption))


def confirmation_section(advice: Advice) -> ReportSection:
    """What the test queries say, which had no part in the choice.

    >>> from lexfuse.advice.advice import Configuration
    >>> single = ConfigurationResult(Configuration(("bm25",)), (1.0,), 0.4)
    >>> advice = Advice("i", "R@10", ("R@10",), 9, 5, 5, ("bm25",), {}, (single,), single, ())
    >>> "No test queries" in confirmation_section(advice).body
    True
    """
    title = "Confirmation on test"
    found = advice.confirmation
    if found is None:
        words = "No test queries were given, so nothing here is confirmed on queries that had no part in the choice."
        return ReportSection("test", title, joined(paragraph(words), _means(advice.means, "dev", advice.queries)))
    rows = [
        (Html(f'<span class="what">over {shown(other)}<small>{shown(p_label(versus))}</small></span>'), versus)
        for other, versus in found.versus.items()
    ]
    caption = (
        f"{advice.chosen.configuration.name} on {count_words(found.queries, 'test query', 'test queries')}, looked at once: "
        f"difference of {advice.measure} with its 95 % interval, p corrected for the comparisons of this table."
    )
    plot = forest(rows, f"difference of {advice.measure} on test", caption) if rows else Html("")
    tables = _means(found.means, "test", found.queries), _means(advice.means, "dev", advice.queries)
    return ReportSection("test", title, joined(plot, *tables))


def p_label(versus: Difference) -> str:
    """The outcome in words.

    >>> from lexfuse.evaluation.bootstrap import ConfidenceInterval
    >>> p_label(Difference(0.02, ConfidenceInterval(0.001, 0.04), 0.2, 0.01, 0.03, 153))
    'better, n = 153'
    """
    return f"{versus.outcome.value}, n = {versus.queries:,}"


def forest(rows: list[tuple[Html, Difference]], axis: str, caption: str) -> Html:
    """Differences with their intervals on one scale, a row each.

    >>> from lexfuse.evaluation.bootstrap import ConfidenceInterval
    >>> row = Html("over bm25"), Difference(0.02, ConfidenceInterval(0.001, 0.04), 0.2, 0.01, 0.03, 153)
    >>> forest([row], "difference of R@10", "Gains.").count("<tr>")
    3
    """
    ends = [end for _, versus in rows for end in (versus.interval.low, versus.interval.high, versus.mean)]
    scale = LinearScale(*span([0.0, *ends], margin=0.04), 0, 100)
    body = []
    for name, versus in rows:
        css = OUTCOME_CSS[versus.outcome]
        strip = interval_strip(
            scale, versus.mean, versus.interval.low, versus.interval.high, css, hollow=versus.outcome is Outcome.EQUAL
        )
        interval = f"{signed_words(versus.interval.low)} to {signed_words(versus.interval.high)}"
        body.append(
            [
                TableCell(Html(f'<div class="named">{name}</div>'), "label"),
                TableCell(Html(strip), "strip"),
                TableCell(
                    Html(f'<span class="{css}"><b>{signed_words(versus.mean)}</b> {OUTCOME_SIGN[versus.outcome]}</span>'),
                    "number",
                ),
                TableCell(interval, "number interval"),
                TableCell(p_words(versus.adjusted_p), "number p"),
            ]
        )
    description = f"{len(rows)} differences with 95 % intervals between {signed_words(min(ends))} and {signed_words(max(ends))}."
    foot: list[str | TableCell] = [
        "",
        TableCell(Html(axis_strip(scale, axis, description)), "strip"),
        TableCell("", "number", span=3),
    ]
    head = [
        TableCell("configuration", ""),
        TableCell("", "strip"),
        TableCell("difference"),
        TableCell("95 % interval"),
        TableCell("p"),
    ]
    return table(head, body, caption, css="forest", foot=foot)


def figures_section(advice: Advice) -> ReportSection:
    """Every configuration with every figure, to sort.

    >>> from lexfuse.advice.advice import Configuration
    >>> single = ConfigurationResult(Configuration(("bm25",)), (1.0,), 0.4)
    >>> "data-order" in figures_section(Advice("i", "R@10", ("R@10",), 9, 5, 5, ("bm25",), {}, (single,), single, ())).body
    True
    """
    names = ("mean", "best member", "difference", "low", "high", "effect size", "p", "corrected p", "weights", "time", "index")
    head: list[str | TableCell] = [
        "configuration",
        *(TableCell(name, "" if name in ("best member", "weights") else "number") for name in names),
    ]
    rows = [_figures(each, advice) for each in advice.tried]
    caption = (
        "Mean on dev; difference to the best member with its 95 % interval, Cohen's d of the paired differences, p of the paired "
        "test before and after correction; weights in the order of the sources; time a query and bytes on disk of all members. "
        "A click on the name of a column sorts by it."
    )
    inside = table(head, rows, caption, css="figures sortable")
    summary = f"All {count_words(len(rows), 'configuration', 'configurations')} in figures"
    return ReportSection("figures", "Every figure", Html(f"<details><summary>{summary}</summary>{inside}</details>"))


def _named(advice: Advice, each: ConfigurationResult, beside: str = "") -> Html:
    configuration = each.configuration
    mark = ' <span class="badge">choice</span>' if configuration == advice.chosen.configuration else ""
    small = f"<small>{shown(' · '.join(filter(None, (configuration.method, beside))))}</small>"
    members = shown(" + ".join(configuration.members))
    return Html(f'{dots(advice.sources, configuration.members)}<span class="what">{members}{mark}{small}</span>')


def _means(found: Mapping[str, Mapping[str, float]], where: str, queries: int) -> Html:
    names = list(dict.fromkeys(name for each in found.values() for name in each))
    if not names:
        return Html("")
    tops = {measure: max(each.values(), default=0.0) for measure, each in found.items()}
    rows: list[list[str | TableCell]] = [
        [name, *(_mean(each.get(name), tops[measure]) for measure, each in found.items())] for name in names
    ]
    caption = f"Means of {count_words(queries, f'{where} query', f'{where} queries')}; the highest of each column in bold."
    return table(["configuration", *(TableCell(measure) for measure in found)], rows, caption, css="means")


def _mean(value: float | None, top: float) -> TableCell:
    return TableCell(value_words(value), "number top" if value == top else "number")


def _figures(each: ConfigurationResult, advice: Advice) -> list[str | TableCell]:
    versus = each.versus_member
    row: list[str | TableCell] = [
        TableCell(Html(f'<div class="named">{_named(advice, each)}</div>'), "name"),
        TableCell(value_words(each.value), order=each.value),
        TableCell(each.best_member or NONE, ""),
    ]
    if versus is None:
        row += [TableCell(NONE)] * 6
    else:
        outcome = versus.outcome
        row += [
            TableCell(
                f"{signed_words(versus.mean)} {OUTCOME_SIGN[outcome]}", f"number {OUTCOME_CSS[outcome]}", order=versus.mean
            ),
            TableCell(signed_words(versus.interval.low), order=versus.interval.low),
            TableCell(signed_words(versus.interval.high), order=versus.interval.high),
            TableCell(signed_words(versus.effect_size, 2), order=versus.effect_size),
            TableCell(p_words(versus.p), order=versus.p),
            TableCell(p_words(versus.adjusted_p), order=versus.adjusted_p),
        ]
    return [
        *row,
        TableCell(weight_words(each.weights), "weights"),
        TableCell(time_words(each.milliseconds), order=each.milliseconds),
        TableCell(size_words(each.bytes), order=each.bytes),
    ]
