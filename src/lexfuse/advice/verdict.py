"""The verdict in plain words: what to use, what it gains, how sure that is, and what is not worth adding."""

from __future__ import annotations

from collections.abc import Sequence

from lexfuse.advice.choice import best, compare_configurations
from lexfuse.advice.findings import (
    ClassFinding,
    ConfigurationResult,
    Confirmation,
    Difference,
    Outcome,
    Power,
    Verdict,
    verdict_of,
)
from lexfuse.advice.grid import GridTrial
from lexfuse.data.arrays import F64
from lexfuse.optimisation.cross_validation import p_said


def use(chosen: ConfigurationResult) -> str:
    """What to do, in a few words.

    >>> from lexfuse.advice.findings import Configuration
    >>> use(ConfigurationResult(Configuration(("bm25", "dense"), "tm2c2, tuned"), (0.45, 0.55), 0.4))
    'fuse bm25 and dense by TM2C2 with weights .45/.55'
    >>> use(ConfigurationResult(Configuration(("dense",)), (1.0,), 0.4))
    'use dense alone'
    """
    members = chosen.configuration.members
    return f"use {members[0]} alone" if len(members) == 1 else f"fuse {_fused(chosen)}"


def _fused(chosen: ConfigurationResult) -> str:
    members, method = chosen.configuration.members, chosen.configuration.method
    named = {"rrf": "reciprocal ranks", "borda": "Borda's count"}.get(method, method.split(",")[0].replace("tm2c2", "TM2C2"))
    weighed = method not in ("rrf", "borda")
    weights = "/".join(_weight(weight) for weight in chosen.weights)
    return f"{listed(members)} by {named}" + (f" with weights {weights}" if weighed else "")


def gain(difference: Difference, measure: str, other: str) -> str:
    """A difference in words.

    >>> from lexfuse.evaluation.bootstrap import ConfidenceInterval
    >>> gain(Difference(0.041, ConfidenceInterval(0.01, 0.07), 0.2, 0.001, 0.003, 300), "nDCG@10", "bm25 alone")
    '+0.041 nDCG@10 over bm25 alone (95 % interval +0.010 to +0.070, p = 0.003, n = 300)'
    """
    interval = f"95 % interval {difference.interval.low:+.3f} to {difference.interval.high:+.3f}"
    return (
        f"{difference.mean:+.3f} {measure} over {other} ({interval}, {p_said(difference.adjusted_p)}, n = {difference.queries})"
    )


def choice_words(
    chosen: ConfigurationResult,
    top: ConfigurationResult,
    measure: str,
    confirmation: Confirmation | None,
    power: Power | None = None,
) -> list[str]:
    """What to do and why: the verdict first, on dev, and then whether the test queries confirm it.

    >>> from lexfuse.advice.findings import Configuration
    >>> alone = ConfigurationResult(Configuration(("dense",)), (1.0,), 0.4)
    >>> choice_words(alone, alone, "R@100", None)[0]
    'Do not fuse: use dense alone (R@100 0.400 on dev).'
    >>> choice_words(alone, alone, "R@100", None, Power(25, 0.05, 0.11, 120))[:2]
    ['Too few questions to tell: 25 are judged, and it takes about 120 to show ... R@100.', 'For now, use dense alone (...).']
    """
    name, versus = chosen.configuration.name, chosen.versus_member
    words = _answer(chosen, verdict_of(chosen, power), measure, power)
    if top.configuration != chosen.configuration:
        simpler = "of it" if versus is None else "of it and less simple"
        words.append(
            f"The highest dev mean, {top.configuration.name} ({top.value:.3f} against {chosen.value:.3f}), is within one "
            f"standard error {simpler}."
        )
    if confirmation is None:
        return [*words, "No test queries were given, so nothing here is confirmed on queries that were not used for the choice."]
    mean = confirmation.means[measure][name]
    words.append(f"On {confirmation.queries} test queries, used once, it reaches {measure} {mean:.3f}.")
    return words + [_confirmed(difference, measure, other) for other, difference in confirmation.versus.items()]


def _answer(chosen: ConfigurationResult, verdict: Verdict, measure: str, power: Power | None) -> list[str]:
    """The verdict with what it rests on; every first sentence starts with the words of the verdict."""
    versus = chosen.versus_member
    reached = f"{measure} {chosen.value:.3f} on dev"
    if versus is not None:
        reached = f"{gain(versus, measure, f'{chosen.best_member} alone')} on dev, corrected for all tests made"
    if verdict is Verdict.TOO_FEW and power is not None:
        few = (
            f"{verdict}: {power.queries:,} are judged, and it takes about {power.needed:,} to show a difference of "
            f"{power.smallest:g} {measure}."
        )
        return [few, f"For now, {use(chosen)} ({reached})."]
    if versus is None:
        return [f"{verdict}: {use(chosen)} ({reached})."]
    if verdict is Verdict.FUSE:
        return [f"{verdict} {_fused(chosen)}: {reached}."]
    kept = "It is still chosen: nothing simpler is within one standard error of the highest mean."
    return [f"{verdict}: {_fused(chosen)} gives {reached}.", kept]


def additions(trials: Sequence[GridTrial], chosen: GridTrial, measure: str) -> list[str]:
    """For every source that is not part of the choice, what the best configuration with it added would gain on dev.

    >>> from lexfuse.advice.findings import Configuration
    >>> alone = [GridTrial(Configuration((name,)), None, (1.0,), np.array([0.5, 0.4, 0.6])) for name in "ab"]
    >>> fused = GridTrial(Configuration(("a", "b"), "rrf"), None, (1.0, 1.0), np.array([0.5, 0.5, 0.6]))
    >>> additions([*alone, fused], alone[0], "R@100")
    ['Adding b is not distinguishable: +0.033 R@100 at best (a + b, rrf; p = 0.423).']
    """
    members = set(chosen.configuration.members)
    others = [trial.configuration.members[0] for trial in trials if len(trial.configuration.members) == 1]
    wider = {
        other: [trial for trial in trials if set(trial.configuration.members) == members | {other}]
        for other in others
        if other not in members
    }
    tops = {other: best(found) for other, found in wider.items() if found}
    found = compare_configurations([(top.values, chosen.values) for top in tops.values()])
    return [_added(other, top.configuration.name, each, measure) for (other, top), each in zip(tops.items(), found, strict=True)]


def counts(tried: Sequence[ConfigurationResult]) -> str:
    """How many of all fusions beat their best member.

    >>> counts([])
    'No fusion was tried.'
    """
    versus = [each.versus_member for each in tried if each.versus_member is not None]
    if not versus:
        return "No fusion was tried."
    higher = sum(each.mean > 0 for each in versus)
    better, worse = (sum(each.outcome is outcome for each in versus) for outcome in (Outcome.BETTER, Outcome.WORSE))
    return (
        f"Of {len(versus)} fusions {higher} ({100 * higher / len(versus):.0f} %) have a higher dev mean than their best member; "
        f"after correction for {len(versus)} tests {better} are better, {worse} worse, and "
        f"{len(versus) - better - worse} not distinguishable from it."
    )


def power_words(power: Power, measure: str) -> str:
    """How small a difference these queries could show, and how many would show one that matters (see `power_of`).

    >>> power_words(Power(25, 0.05, 0.11, 120), "RR")
    'With 25 queries, differences of about 0.110 RR and more would be found four times out of five; 0.05 takes about 120 queries.'
    >>> power_words(Power(6, 0.05, 0.0, 59), "RR")
    'The 6 queries differ too little to say anything about rarer ones; a difference of 0.05 RR takes about 59 queries.'
    """
    if not power.enough and power.detectable <= power.smallest:
        few = f"The {power.queries:,} queries differ too little to say anything about rarer ones"
        return f"{few}; a difference of {power.smallest:g} {measure} takes about {power.needed:,} queries."
    found = f"With {power.queries:,} queries, differences of about {power.detectable:.3f} {measure} and more would be found"
    more = "smaller ones mostly not" if power.enough else f"{power.smallest:g} takes about {power.needed:,} queries"
    return f"{found} four times out of five; {more}."


def choosing_words(held_out: F64, single: GridTrial, measure: str, folds: int, seed: int) -> str:
    """What the choosing itself is worth, compared with the best single source.

    >>> from lexfuse.advice.findings import Configuration
    >>> alone = GridTrial(Configuration(("a",)), None, (1.0,), np.array([0.5, 0.4, 0.6]))
    >>> choosing_words(alone.values, alone, "RR", 5, 0)
    'Repeating the choice without each of 5 folds, and measuring on that fold, gives RR 0.500: +0.000 RR over a alone (95 % ...).'
    """
    over = gain(compare_configurations([(held_out, single.values)], seed=seed)[0], measure, f"{single.configuration.name} alone")
    chosen = f"{measure} {held_out.mean():.3f}"
    return f"Repeating the choice without each of {folds} folds, and measuring on that fold, gives {chosen}: {over}."


def class_words(classes: Sequence[ClassFinding]) -> list[str]:
    """What holds for some classes of queries only.

    >>> class_words([ClassFinding("citation", 12, {}, None, "too few to say")])
    ['Citation lookups (12 queries): too few to say.']
    """
    names = {"citation": "Citation lookups", "keywords": "Keywords", "question": "Questions", "document": "Whole documents"}
    return [f"{names[each.name]} ({each.queries} queries): {each.words}." for each in classes if each.words]


def cost_words(chosen: ConfigurationResult, tried: Sequence[ConfigurationResult]) -> list[str]:
    """What the choice costs, compared with its best member.

    >>> from lexfuse.advice.findings import Configuration
    >>> alone = ConfigurationResult(Configuration(("dense",)), (1.0,), 0.4, milliseconds=12.0, bytes=3_000_000)
    >>> cost_words(alone, [alone])
    ['A query takes 12.0 ms, one source after the other, on 3.0 MB of index.']
    """
    singles = {each.configuration.members[0]: each for each in tried if len(each.configuration.members) == 1}
    if not singles or chosen.milliseconds is None or chosen.bytes is None:
        return []
    said = f"A query takes {chosen.milliseconds:.1f} ms, one source after the other, on {_megabytes(chosen.bytes)} of index"
    member = singles.get(chosen.best_member)
    if member is None or member.milliseconds is None or member.bytes is None:
        return [f"{said}."]
    return [f"{said}; {chosen.best_member} alone takes {member.milliseconds:.1f} ms on {_megabytes(member.bytes)}."]


def listed(names: Sequence[str]) -> str:
    """Names joined as in a sentence.

    >>> listed(["a", "b", "c"])
    'a, b and c'
    """
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _confirmed(difference: Difference, measure: str, other: str) -> str:
    if difference.outcome is Outcome.BETTER:
        return f"Confirmed: {gain(difference, measure, other)}."
    if difference.outcome is Outcome.WORSE:
        return f"Refuted: {gain(difference, measure, other)}."
    return f"Not distinguishable on test: {gain(difference, measure, other)}."


def _added(other: str, name: str, difference: Difference, measure: str) -> str:
    says = {
        Outcome.EQUAL: "is not distinguishable",
        Outcome.BETTER: "helps",
        Outcome.WORSE: "hurts",
    }[difference.outcome]
    return f"Adding {other} {says}: {difference.mean:+.3f} {measure} at best ({name}; {p_said(difference.adjusted_p)})."


def _weight(weight: float) -> str:
    return f"{weight:.2f}".removeprefix("0") if weight < 1 else "1"


def _megabytes(size: int) -> str:
    return f"{size / 1e6:.1f} MB"
