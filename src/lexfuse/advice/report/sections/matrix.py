"""Every subset of the sources by every method, in one table (FUSE Tables 3 and 6)."""

from __future__ import annotations

from itertools import groupby

from lexfuse.advice.advice import Advice, ConfigurationResult
from lexfuse.advice.report.charts.cell_charts import bar_strip
from lexfuse.advice.report.charts.scales import LinearScale
from lexfuse.advice.report.sections.markup import Html, ReportSection, dots, framed, hidden, paragraph, shown
from lexfuse.advice.report.sections.number_format import count_words, p_sentence, signed_words, value_words
from lexfuse.advice.report.sections.summary import OUTCOME_CSS, OUTCOME_SIGN

_NUMBERS = {2: "two", 3: "three", 4: "four", 5: "five", 6: "six", 7: "seven", 8: "eight"}


def matrix_section(advice: Advice) -> ReportSection:
    """The matrix: a row for each subset, a column for each method, a sign for what the corrected test says.

    >>> from lexfuse.advice.advice import Configuration
    >>> single = ConfigurationResult(Configuration(("bm25",)), (1.0,), 0.4)
    >>> fused = ConfigurationResult(Configuration(("bm25", "dense"), "rrf"), (0.5, 0.5), 0.45)
    >>> tried = (single, fused)
    >>> body = matrix_section(Advice("i", "R@10", ("R@10",), 9, 5, 5, ("bm25", "dense"), {}, tried, single, ())).body
    >>> body.count("<td"), "bm25 + dense" in body
    (2, True)
    """
    fused = [each for each in advice.tried if len(each.configuration.members) > 1]
    methods = list(dict.fromkeys(each.configuration.method for each in fused))
    if not methods:
        return ReportSection("matrix", "Every combination", paragraph("No fusion was tried."))
    inner = (
        f'<table class="matrix"><thead>{_head(methods)}</thead>'
        f"{_singles(advice, len(methods))}{_groups(advice, fused, methods)}</table>"
    )
    caption = (
        f"{advice.measure} of every subset of the sources by every method, mean of "
        f"{count_words(advice.queries, 'query', 'queries')}. ▲ better and ▼ worse than the best member of the subset at 0.05, "
        "corrected for all tests; ≈ not distinguishable from it. Tuned weights are measured on queries they were not tuned on. "
        "The choice is framed."
    )
    return ReportSection("matrix", "Every combination", framed(Html(inner), caption))


def _head(methods: list[str]) -> str:
    """Two lines: "min-max" over "equal" and "tuned"; what has no second part takes both."""
    first, second = "", ""
    for family, some in groupby(methods, key=lambda method: method.split(", ")[0]):
        variants = [method.partition(", ")[2] for method in some]
        if variants == [""]:
            first += f'<th scope="col" rowspan="2">{shown(family)}</th>'
            continue
        first += f'<th scope="colgroup" colspan="{len(variants)}" class="family">{shown(family)}</th>'
        second += "".join(f'<th scope="col">{shown(variant or "as it is")}</th>' for variant in variants)
    return f'<tr><th scope="col" rowspan="2">sources</th>{first}</tr><tr>{second}</tr>'


def _singles(advice: Advice, columns: int) -> str:
    singles = [each for each in advice.tried if len(each.configuration.members) == 1]
    top = max((each.value for each in advice.tried), default=0.0)
    scale = LinearScale(0.0, top if top > 0 else 1.0, 0, 100)
    rows = ""
    for each in singles:
        colour = advice.sources.index(each.configuration.members[0]) % 8 if each.configuration.members[0] in advice.sources else 7
        chosen = " chosen" if each.configuration == advice.chosen.configuration else ""
        bar = f'<span class="bar">{bar_strip(scale, each.value, f"f{colour}")}</span>'
        rows += (
            f'<tr>{_name(advice, each.configuration.members)}<td class="single{chosen}" colspan="{columns}">'
            f"<span>{value_words(each.value)}</span>{bar}</td></tr>"
        )
    return f'<tbody><tr class="group"><th scope="rowgroup" colspan="{columns + 1}">single sources</th></tr>{rows}</tbody>'


def _groups(advice: Advice, fused: list[ConfigurationResult], methods: list[str]) -> str:
    by_members: dict[tuple[str, ...], dict[str, ConfigurationResult]] = {}
    for each in fused:
        by_members.setdefault(each.configuration.members, {})[each.configuration.method] = each
    body = ""
    for size, some in groupby(sorted(by_members, key=len), key=len):
        title = f"{_NUMBERS.get(size, str(size))} sources"
        body += f'<tbody><tr class="group"><th scope="rowgroup" colspan="{len(methods) + 1}">{title}</th></tr>'
        for members in some:
            cells = "".join(_cell(by_members[members].get(method), advice) for method in methods)
            body += f"<tr>{_name(advice, members)}{cells}</tr>"
        body += "</tbody>"
    return body


def _name(advice: Advice, members: tuple[str, ...]) -> str:
    return f'<th scope="row">{dots(advice.sources, members)}<span>{shown(" + ".join(members))}</span></th>'


def _cell(each: ConfigurationResult | None, advice: Advice) -> str:
    if each is None:
        return f'<td class="none">{hidden("not tried")}</td>'
    chosen = " chosen" if each.configuration == advice.chosen.configuration else ""
    versus = each.versus_member
    if versus is None:
        return f'<td class="{chosen.strip()}">{value_words(each.value)}</td>'
    low, high = signed_words(versus.interval.low), signed_words(versus.interval.high)
    title = f"{signed_words(versus.mean)} over {each.best_member} ({low} to {high}), corrected {p_sentence(versus.adjusted_p)}"
    sign = f'<span class="sign" aria-hidden="true">{OUTCOME_SIGN[versus.outcome]}</span>{hidden(f" {versus.outcome.value}")}'
    return f'<td class="{OUTCOME_CSS[versus.outcome]}{chosen}" title="{shown(title)}">{value_words(each.value)}{sign}</td>'
