"""What a reader needs in the first minute: fuse or not, how much it gains, how sure that is, what it costs."""

from __future__ import annotations

from collections import Counter

from lexfuse.advice.advice import Advice, ConfigurationResult, Difference, Outcome
from lexfuse.advice.report.charts.cell_charts import share_strip
from lexfuse.advice.report.sections.markup import Html, ReportSection, joined, listing, paragraph, shown
from lexfuse.advice.report.sections.number_format import (
    count_words,
    p_sentence,
    share_words,
    signed_words,
    size_words,
    time_words,
    value_words,
)
from lexfuse.optimisation.weight_surface import first_highest

OUTCOME_CSS = {Outcome.BETTER: "better", Outcome.WORSE: "worse", Outcome.EQUAL: "equal"}
OUTCOME_SIGN = {Outcome.BETTER: "▲", Outcome.WORSE: "▼", Outcome.EQUAL: "≈"}


def verdict_section(advice: Advice) -> ReportSection:
    """The answer, the verdict's sentences, the figures behind it, and how all fusions fared.

    >>> from lexfuse.advice.advice import Configuration
    >>> single = ConfigurationResult(Configuration(("bm25",)), (1.0,), 0.4)
    >>> section = verdict_section(Advice("i", "R@10", ("R@10",), 9, 5, 5, ("bm25",), {}, (single,), single, ("Use it.",)))
    >>> "Use it." in section.body
    True
    """
    answer = advice.verdict
    lead, *rest = advice.words or ("No verdict was written.",)
    stamp = Html(f'<p class="answer {OUTCOME_CSS[answer.outcome]}">{shown(answer.value)}</p>')
    reranking = advice.reranking.words if advice.reranking is not None else ""
    others = [words for words in rest if words != reranking]
    told = paragraph(lead, "lead"), paragraph(reranking, "lead") if reranking else ""
    body = joined(stamp, *told, _tiles(advice), listing(others, "sentences") if others else "", _scoreboard(advice))
    return ReportSection("verdict", "Verdict", body)


def best_single(advice: Advice) -> ConfigurationResult | None:
    """The single source with the highest mean on dev; the first of equal ones.

    >>> from lexfuse.advice.advice import Configuration
    >>> tried = tuple(ConfigurationResult(Configuration((name,)), (1.0,), value) for name, value in (("a", 0.2), ("b", 0.3)))
    >>> best_single(Advice("i", "R@10", ("R@10",), 9, 5, 5, ("a", "b"), {}, tried, tried[0], ())).configuration.name
    'b'
    """
    singles = [each for each in advice.tried if len(each.configuration.members) == 1]
    return singles[first_highest([each.value for each in singles])] if singles else None


def _tiles(advice: Advice) -> Html:
    chosen, single = advice.chosen, best_single(advice)
    tiles = []
    if single is not None and single.configuration != chosen.configuration:
        tiles.append(_tile(value_words(single.value), "best single source", single.configuration.name))
    tiles.append(_tile(value_words(chosen.value), "the choice", chosen.configuration.name))
    if chosen.versus_member is None:
        tiles += _highest_fusion(advice)
    else:
        tiles.append(_gain(chosen.versus_member, f"gain on dev over {chosen.best_member}"))
    if advice.confirmation is not None and advice.confirmation.versus:
        other, difference = next(iter(advice.confirmation.versus.items()))
        tiles.append(_gain(difference, f"gain on test over {other}"))
    if advice.reranking is not None:
        used = (each for each in advice.reranking.findings if each.name == advice.reranking.taken)
        tiles += [_gain(each.dev.versus, f"gain on dev of reranking by {each.name}") for each in used]
    if chosen.milliseconds is not None:
        beside = f"a query; {size_words(chosen.bytes)} of index" if chosen.bytes is not None else "a query"
        tiles.append(_tile(time_words(chosen.milliseconds), "cost of the choice", beside))
    return Html(f'<dl class="tiles" aria-label="key figures, {shown(advice.measure)}">{"".join(tiles)}</dl>')


def _highest_fusion(advice: Advice) -> list[str]:
    """What the fusion with the highest mean would gain, for a verdict against fusing."""
    compared = [(each, each.versus_member) for each in advice.tried if each.versus_member is not None]
    if not compared:
        return []
    each, versus = compared[first_highest([pair[0].value for pair in compared])]
    return [
        _gain(versus, f"highest fusion over {each.best_member}"),
        _tile(value_words(each.value), "that fusion", each.configuration.name),
    ]


def _gain(difference: Difference, beside: str) -> str:
    interval = f"{signed_words(difference.interval.low)} to {signed_words(difference.interval.high)}"
    sure = Html(f"{difference.outcome.value}, {p_sentence(difference.adjusted_p)}<br>95 %: {interval}".replace("< ", "&lt; "))
    sign = OUTCOME_SIGN[difference.outcome]
    content = Html(f'{signed_words(difference.mean)} <span class="sign" aria-hidden="true">{sign}</span>')
    return _tile(content, beside, sure, OUTCOME_CSS[difference.outcome])


def _tile(figure: str, name: str, beside: str, css: str = "") -> str:
    return f'<div class="{css}"><dt>{shown(name)}</dt><dd><b>{shown(figure)}</b><span>{shown(beside)}</span></dd></div>'


def _scoreboard(advice: Advice) -> Html:
    """Of all fusions, how many beat their best member: the sentence FUSE sums up its Tables 3 and 6 with."""
    found = Counter(each.versus_member.outcome for each in advice.tried if each.versus_member is not None)
    whole = sum(found.values())
    if not whole:
        return Html("")
    order = (Outcome.BETTER, Outcome.EQUAL, Outcome.WORSE)
    words = {Outcome.BETTER: "better", Outcome.EQUAL: "not distinguishable", Outcome.WORSE: "worse"}
    title = ", ".join(f"{found[outcome]} {words[outcome]}" for outcome in order)
    strip = share_strip([(found[outcome], OUTCOME_CSS[outcome]) for outcome in order], title, height=14)
    legend = "".join(
        f'<li class="{OUTCOME_CSS[outcome]}"><span class="sign" aria-hidden="true">{OUTCOME_SIGN[outcome]}</span> '
        f"<b>{found[outcome]:,}</b> {words[outcome]} <small>({share_words(found[outcome], whole)})</small></li>"
        for outcome in order
    )
    name = f"{count_words(whole, 'fusion', 'fusions')} beside the best member of each, corrected for all tests"
    return Html(f'<div class="scoreboard"><p>{shown(name)}</p>{strip}<ul>{legend}</ul></div>')
