"""What to do about each reranker, in plain words: use it, leave it out because it does not help, or because it harms."""

from __future__ import annotations

from collections.abc import Sequence

from lexfuse.advice.findings import Difference, Outcome, RerankEffect, RerankFinding
from lexfuse.advice.verdict import gain, listed
from lexfuse.optimisation.cross_validation import p_said
from lexfuse.optimisation.weight_surface import first_highest

_OVER = "the choice without it"


def recommended_rerankers(findings: Sequence[RerankFinding], measure: str) -> str:
    """The reranker to use: of those that are better on dev the one with the highest mean, the first of equal ones; or none.

    >>> recommended_rerankers([], "R@10")
    ''
    """
    better = [each for each in findings if each.dev.versus.outcome is Outcome.BETTER]
    return better[first_highest([each.dev.means[measure] for each in better])].name if better else ""


def finding_words(finding: RerankFinding, measure: str, taken: str) -> tuple[str, ...]:
    """What was found about one reranker, sentence by sentence.

    >>> from lexfuse.evaluation.bootstrap import ConfidenceInterval
    >>> none = RerankEffect({"R@10": 0.4}, Difference(0.001, ConfidenceInterval(-0.01, 0.012), 0.0, 0.6, 0.8, 153))
    >>> for words in finding_words(RerankFinding("mono", ("cross-encoder",), 50, 812.5, none, none, 0.4), "R@10", ""):
    ...     print(words)
    mono does not help here, so leave it out: +0.001 R@10 over the choice without it (95 % ..., p = 0.800, n = 153) on dev.
    It reranks the first 50 documents by cross-encoder and takes 812.5 ms a query.
    Fused with the scores of the choice (weight .40, tuned), it is not distinguishable from the choice: +0.001 R@10 (...) on dev.
    """
    name, gained = finding.name, gain(finding.dev.versus, measure, _OVER)
    does = {
        Outcome.BETTER: "helps, so use it" if name == taken else f"helps, but {taken} helps more, so use that",
        Outcome.EQUAL: "does not help here, so leave it out",
        Outcome.WORSE: "harms, so leave it out",
    }[finding.dev.versus.outcome]
    words = [
        f"{name} {does}: {gained} on dev.",
        f"It reranks the first {finding.depth:,} documents by {', then '.join(finding.stages)} and takes "
        f"{finding.milliseconds:,.1f} ms a query.",
        _fused_words(finding, measure),
    ]
    if finding.test is not None and finding.fused_test is not None:
        words.append(
            f"On {finding.test.versus.queries} test queries, used once: {_test_words(finding.test.versus, measure)}; "
            f"fused, {_test_words(finding.fused_test.versus, measure)}."
        )
    return tuple(words)


def summary_words(findings: Sequence[RerankFinding], measure: str, taken: str) -> str:
    """All of it in one sentence.

    >>> from lexfuse.evaluation.bootstrap import ConfidenceInterval
    >>> bad = RerankEffect({"R@10": 0.3}, Difference(-0.1, ConfidenceInterval(-0.2, -0.05), -0.5, 0.001, 0.002, 153))
    >>> summary_words([RerankFinding("mono", ("cross-encoder",), 50, 812.5, bad, bad, 0.0)], "R@10", "")
    'Reranking: leave out mono, which harms (-0.100 R@10 on dev, p = 0.002).'
    """
    parts = [f"use {each.name} ({_figures(each.dev, each.test, measure)})" for each in findings if each.name == taken]
    why = {
        Outcome.BETTER: f"which helps less than {taken}",
        Outcome.EQUAL: "which does not help here",
        Outcome.WORSE: "which harms",
    }
    left = [
        f"{each.name}, {why[each.dev.versus.outcome]} ({_figures(each.dev, each.test, measure)})"
        for each in findings
        if each.name != taken
    ]
    if left:
        parts.append(f"leave out {listed(left)}")
    fused = [
        f"{each.name} ({_figures(each.fused_dev, each.fused_test, measure)})"
        for each in findings
        if each.name != taken and each.fused_dev.versus.outcome is Outcome.BETTER
    ]
    if fused:
        helps = "helps" if len(fused) == 1 else "help"
        parts.append(f"fused with the choice instead of replacing its scores, {listed(fused)} {helps} on dev")
    return f"Reranking: {'; '.join(parts)}."


def _figures(dev: RerankEffect, test: RerankEffect | None, measure: str) -> str:
    said = f"{dev.versus.mean:+.3f} {measure} on dev, {p_said(dev.versus.adjusted_p)}"
    if test is None:
        return said
    return f"{said}; {test.versus.mean:+.3f} on test, {p_said(test.versus.adjusted_p)}"


def _fused_words(finding: RerankFinding, measure: str) -> str:
    versus = finding.fused_dev.versus
    is_ = {
        Outcome.BETTER: "better than the choice",
        Outcome.EQUAL: "not distinguishable from the choice",
        Outcome.WORSE: "worse than the choice",
    }[versus.outcome]
    weight = f"{finding.weight:.2f}".removeprefix("0")
    interval = f"95 % interval {versus.interval.low:+.3f} to {versus.interval.high:+.3f}"
    return (
        f"Fused with the scores of the choice (weight {weight}, tuned), it is {is_}: {versus.mean:+.3f} {measure} "
        f"({interval}, {p_said(versus.adjusted_p)}) on dev."
    )


def _test_words(versus: Difference, measure: str) -> str:
    said = {Outcome.BETTER: "better", Outcome.EQUAL: "not distinguishable", Outcome.WORSE: "worse"}[versus.outcome]
    return f"{said}, {versus.mean:+.3f} {measure} ({p_said(versus.adjusted_p)})"
