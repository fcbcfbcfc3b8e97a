"""How it was measured, and what was left out."""

from __future__ import annotations

from lexfuse.advice.advice import Advice
from lexfuse.advice.report.sections.markup import ReportSection, listing, paragraph
from lexfuse.advice.report.sections.number_format import count_words


def method_section(advice: Advice) -> ReportSection:
    """The rules that all figures keep.

    >>> from lexfuse.advice.advice import Configuration, ConfigurationResult
    >>> single = ConfigurationResult(Configuration(("bm25",)), (1.0,), 0.4)
    >>> "5-fold" in method_section(Advice("i", "R@10", ("R@10",), 9, 5, 5, ("bm25",), {}, (single,), single, ())).body
    True
    """
    fused = sum(each.versus_member is not None for each in advice.tried)
    tested = (
        f"The choice was then looked at once on {count_words(advice.confirmation.queries, 'test query', 'test queries')}; "
        "nothing was changed afterwards."
        if advice.confirmation is not None
        else "No test queries were given; all figures are of dev queries."
    )
    rules = [
        f"{count_words(len(advice.sources), 'source', 'sources')} ({', '.join(advice.sources)}) over "
        f"{count_words(advice.documents, 'document', 'documents')}; "
        f"{count_words(advice.queries, 'judged dev query', 'judged dev queries')}; decided by {advice.measure}"
        + (f", reported beside {', '.join(advice.measures[1:])}." if len(advice.measures) > 1 else "."),
        f"Each of {count_words(fused, 'fusion', 'fusions')} ranks the union of what its members list, with the true score of "
        "every member where it can be asked.",
        f"Tuned weights are measured by {advice.folds}-fold cross-validation: every query by weights tuned on the other folds. "
        "The weights shown are those tuned on all dev queries.",
        "Each fusion is compared with its best single member on the same queries: paired test, two-sided; the p-values of all "
        f"{fused} are corrected together, so that among so many the lucky ones are not taken for good ones. Intervals are 95 % "
        "bootstrap intervals of the mean difference over queries; they are not corrected.",
        "“Not distinguishable” does not mean equal: it means that these queries cannot tell.",
        "The choice is not simply the highest mean, which is partly luck: of those within one standard error of it, the "
        "simplest is taken.",
        tested,
    ]
    if advice.reranking is not None:
        rules.append(
            "Rerankers were tried on top of the choice only, each in the place of its scores and fused with them (min-max, "
            "weight tuned by the same cross-validation), and compared with the same ranking before; all of these tests are "
            "corrected together. The highest of those that are better on dev enters the profile; fusions of a choice and a "
            "reranker do not."
        )
    return ReportSection("method", "How it was measured", listing(rules, "findings"))


def notes_section(advice: Advice) -> ReportSection:
    """What was left out, and why.

    >>> from lexfuse.advice.advice import Configuration, ConfigurationResult
    >>> single = ConfigurationResult(Configuration(("bm25",)), (1.0,), 0.4)
    >>> notes_section(Advice("i", "R@10", ("R@10",), 9, 5, 5, ("bm25",), {}, (single,), single, ())).body
    '<p>Nothing was left out.</p>'
    """
    body = listing(advice.notes, "findings") if advice.notes else paragraph("Nothing was left out.")
    return ReportSection("notes", "Notes", body)
