"""The progress of judging, the agreement of judges, and advice from judgements."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Lock

from lexfuse.advice.advisor import advise
from lexfuse.advice.choice import SMALLEST, fewest_queries
from lexfuse.advice.findings import ScoreScope
from lexfuse.advice.inputs import judged_questions
from lexfuse.data.judgements import ResultGrades, last_grades, merged_grade
from lexfuse.deadline import check
from lexfuse.errors import BusyError
from lexfuse.evaluation.agreement import agreement_of
from lexfuse.service.registry import IndexRegistry
from lexfuse.service.schemas.judgement_summary import JudgeProgress, JudgingSummary, PairAgreement, QuestionProgress
from lexfuse.storage.feedback import FeedbackEntry, query_id

REPORT_FOLDER = Path("advice", "judgements")  # of the index
_running = Lock()


def judging_summary(registry: IndexRegistry, index: str = "") -> JudgingSummary:
    """How far the judging of an index has come.

    >>> summary = judging_summary(registry)
    >>> summary.questions, summary.needed, summary.alpha
    (0, 59, None)
    """
    served = registry.index(index)
    with served.source.writer() as folder:
        kept = folder.feedback.kept()
    grades = last_grades((one.query, one.doc, one.judge, one.grade) for one in kept)
    progress, agreement = _questions(kept, grades), agreement_of(grades)
    return JudgingSummary(
        index=served.name,
        questions=len(progress),
        results=len(grades),
        usable=sum(one.relevant > 0 for one in progress),
        needed=fewest_queries(SMALLEST),
        judges=_judges(kept),
        progress=progress,
        shared=agreement.results,
        alpha=_number(agreement.alpha),
        pairs=[
            PairAgreement(
                first=pair.first, second=pair.second, results=pair.results, equal=pair.equal,
                kappa=_number(pair.kappa), weighted_kappa=_number(pair.weighted_kappa),
            )
            for pair in agreement.pairs
        ],
    )  # fmt: skip


def advise_on_judgements(registry: IndexRegistry, index: str = "") -> Path:
    """Run the advice on all judged questions of an index, and write its report into the index; returns the folder.

    It is the advice of ``lexfuse advise INDEX --judgements --scores-of candidates``. One runs at a time (`BusyError`), and it
    stops at the deadline of the request.
    """
    served = registry.index(index)
    with served.source.writer() as folder:
        kept, place = folder.feedback.kept(), folder.folder
    queries, qrels = judged_questions(kept)
    if not _running.acquire(blocking=False):
        raise BusyError("another advice is being computed; wait for it to end, then try again")
    try:
        with served.opened() as opened:
            found = advise(opened, queries, qrels, scores_of=ScoreScope.CANDIDATES, progress=_checked)
        check()  # nothing is written for a caller that no longer waits
        found.write_report(place / REPORT_FOLDER)
    finally:
        _running.release()
    return place / REPORT_FOLDER


@contextmanager
def _checked(_: str, __: int) -> Iterator[Callable[[int], None]]:
    """Progress that is not shown; every step stops when the caller no longer waits."""
    check()
    yield lambda _: check()


def _judges(kept: Sequence[FeedbackEntry]) -> list[JudgeProgress]:
    found: dict[str, list[FeedbackEntry]] = {}
    for one in kept:
        found.setdefault(one.judge, []).append(one)
    progress = [
        JudgeProgress(
            judge=judge,
            questions=len({one.query for one in own}),
            results=len({(one.query, one.doc) for one in own}),
            last=max(one.moment for one in own),
        )
        for judge, own in found.items()
    ]
    return sorted(progress, key=lambda one: (-one.results, one.judge))


def _questions(kept: Sequence[FeedbackEntry], grades: ResultGrades) -> list[QuestionProgress]:
    results: dict[str, list[int]] = {}
    judges: dict[str, set[str]] = {}
    for (query, _), by_judge in grades.items():
        results.setdefault(query, []).append(merged_grade(by_judge.values()))
        judges.setdefault(query, set()).update(by_judge)
    newest = dict.fromkeys(one.query for one in reversed(kept))
    return [
        QuestionProgress(
            query=query,
            query_id=query_id(query),
            results=len(results[query]),
            relevant=sum(grade > 0 for grade in results[query]),
            judges=len(judges[query]),
        )
        for query in newest
    ]


def _number(value: float) -> float | None:
    return None if math.isnan(value) else value
