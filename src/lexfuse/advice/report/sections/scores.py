"""What the scores of the sources look like (FUSE Fig. 2), and whether two sources know different things (FUSE Fig. 3 and 6)."""

from __future__ import annotations

from lexfuse.advice.advice import Advice, ScoreBasis
from lexfuse.advice.contrast import ScoreScope
from lexfuse.advice.evidence.complementarity import Complementarity
from lexfuse.advice.evidence.score_distribution import ScoreDistribution
from lexfuse.advice.report.charts.axes import AxisLabels
from lexfuse.advice.report.charts.cell_charts import histogram_strip, share_strip
from lexfuse.advice.report.charts.distribution_chart import DistributionLane, hill_chart
from lexfuse.advice.report.charts.region_chart import Corner, region_chart
from lexfuse.advice.report.sections.markup import Html, ReportSection, TableCell, figure, joined, paragraph, table
from lexfuse.advice.report.sections.number_format import share_words, signed_words

_SIDES = {"A": (True, False), "B": (False, True), "C": (True, True), "D": (False, False)}  # x high, y high
_RAW = "raw"


def distributions_section(advice: Advice) -> ReportSection:
    """Raw scores source by source, and all sources on each common scale.

    >>> from lexfuse.advice.advice import Configuration, ConfigurationResult
    >>> single = ConfigurationResult(Configuration(("bm25",)), (1.0,), 0.4)
    >>> distributions_section(Advice("i", "R@10", ("R@10",), 9, 5, 5, ("bm25",), {}, (single,), single, ())).body
    '<p>No score distributions were computed.</p>'
    """
    title = "Score distributions"
    if not advice.distributions:
        return ReportSection("distributions", title, paragraph("No score distributions were computed."))
    scales = [scale for scale in dict.fromkeys(each.scale for each in advice.distributions) if scale != _RAW]
    charts = [_hills(scale, [each for each in advice.distributions if each.scale == scale], advice) for scale in scales]
    caption = (
        f"Scores of {basis_words(advice)}, on the scale of each normaliser. A lane is as high as its own highest bin; below it "
        "the line goes from the 5 % to the 95 % quantile, the thick part from 25 % to 75 %, the ring is the median. Where the "
        "hills of two sources stand over different values, the same number means different things in them, and equal weights "
        "are not equal."
    )
    raw = [each for each in advice.distributions if each.scale == _RAW]
    parts = [figure(charts, caption)] if charts else []
    return ReportSection("distributions", title, joined(*parts, _raw(raw, advice) if raw else ""))


def complementarity_section(advice: Advice) -> ReportSection:
    """What only one source of a pair finds, and where their scores agree.

    >>> from lexfuse.advice.advice import Configuration, ConfigurationResult
    >>> single = ConfigurationResult(Configuration(("bm25",)), (1.0,), 0.4)
    >>> complementarity_section(Advice("i", "R@10", ("R@10",), 9, 5, 5, ("bm25",), {}, (single,), single, ())).body
    '<p>No pairs of sources were compared.</p>'
    """
    title = "Complementarity"
    if not advice.complementarity:
        return ReportSection("complementarity", title, paragraph("No pairs of sources were compared."))
    charts = [_regions(each) for each in advice.complementarity]
    caption = (
        "Pairs of query and document by the min-max scaled scores that two sources give them; as many pairs that are not "
        "relevant as relevant ones, drawn at random. Shaded corners: high is at least the third quartile of a source's scores, "
        "low at most the first. A: only the first source scores high. B: only the second. C: both. D: neither. Relevant pairs "
        f"in A and B are what fusing can win. Scaling, quartiles and draws are over the scores of {basis_words(advice)}."
    )
    return ReportSection("complementarity", title, joined(_found(advice), figure(charts, caption), _corners(advice)))


def basis_words(advice: Advice) -> str:
    """Whose scores the section is about; of candidates where the advice does not say.

    >>> from lexfuse.advice.advice import Configuration, ConfigurationResult
    >>> single = ConfigurationResult(Configuration(("bm25",)), (1.0,), 0.4)
    >>> basis_words(Advice("i", "R@10", ("R@10",), 9, 5, 5, ("bm25",), {}, (single,), single, ()))
    'candidates, the documents that some source lists, 5 dev queries'
    """
    return (advice.score_basis or ScoreBasis(ScoreScope.CANDIDATES, advice.queries, advice.queries)).words


def _hills(scale: str, found: list[ScoreDistribution], advice: Advice) -> str:
    hills = [
        DistributionLane(each.source, each.edges, each.shares, each.quantiles, _colour(each.source, advice)) for each in found
    ]
    medians = ", ".join(f"{each.source} {each.quantiles[2]:.3g}" for each in found)
    return hill_chart(hills, AxisLabels(scale, "scaled score", "share of scores in each bin", f"Medians: {medians}."))


def _raw(raw: list[ScoreDistribution], advice: Advice) -> Html:
    rows: list[list[str | TableCell]] = [
        [
            each.source,
            TableCell(Html(histogram_strip(each.shares, f"f{_colour(each.source, advice)}")), "strip"),
            TableCell(f"{each.edges[0]:.4g} to {each.edges[-1]:.4g}".replace("-", "−")),
            *(TableCell(f"{value:.3g}".replace("-", "−")) for value in each.quantiles),
        ]
        for each in raw
    ]
    head: list[str | TableCell] = [
        "source",
        TableCell("histogram", "strip"),
        TableCell("range"),
        *(TableCell(f"{share} %") for share in (5, 25, 50, 75, 95)),
    ]
    caption = f"Raw scores of {basis_words(advice)}: histogram over the range of each source, and quantiles."
    return table(head, rows, caption, css="raw")


def _found(advice: Advice) -> Html:
    """Relevant documents that only one source finds: what there is to win."""
    rows: list[list[str | TableCell]] = []
    for each in advice.complementarity:
        whole = each.only_first + each.both + each.only_second + each.neither
        alone = f"only {each.first} {each.only_first}, only {each.second} {each.only_second}"
        title = f"{alone}, both {each.both}, neither {each.neither}"
        first, second = (f"f{_colour(source, advice)}" for source in (each.first, each.second))
        parts = [(each.only_first, first), (each.both, "both"), (each.only_second, second), (each.neither, "neither")]
        counts = (each.only_first, each.both, each.only_second, each.neither)
        rows.append(
            [
                f"{each.first} + {each.second}",
                TableCell(Html(share_strip(parts, title)), "strip"),
                *(TableCell(f"{count:,}", title=share_words(count, whole)) for count in counts),
                TableCell(signed_words(each.correlation, 2)),
            ]
        )
    head: list[str | TableCell] = [
        "pair",
        TableCell("", "strip"),
        *(TableCell(name) for name in ("only 1st", "both", "only 2nd", "neither", "correlation")),
    ]
    caption = (
        "Relevant documents that only the first source of a pair, both, only the second, or neither has among its best 100, "
        "and the correlation (Pearson) of their scaled scores. The more each finds alone, the more fusing can gain."
    )
    return table(head, rows, caption, css="pairs")


def _corners(advice: Advice) -> Html:
    names = ("A", "B", "C", "D")
    rows: list[list[str | TableCell]] = []
    for each in advice.complementarity:
        regions = {region.name: region for region in each.regions}
        cells = [
            TableCell(
                f"{share_words(regions[name].relevant, regions[name].pairs)} of {regions[name].pairs:,}"
                if name in regions
                else "–",
                title=regions[name].words if name in regions else "",
            )
            for name in names
        ]
        rows.append([f"{each.first} + {each.second}", *cells])
    head: list[str | TableCell] = [
        "pair",
        *(TableCell(name) for name in ("A: only 1st high", "B: only 2nd high", "C: both high", "D: both low")),
    ]
    return table(head, rows, "Share of relevant pairs among all sampled pairs of each corner.", css="corners")


def _regions(each: Complementarity) -> str:
    corners = [
        Corner(region.name, *_SIDES[region.name], f"{share_words(region.relevant, region.pairs)} relevant")
        for region in each.regions
        if region.name in _SIDES and region.pairs
    ]
    description = " ".join(f"{r.name}, {r.words}: {r.relevant} of {r.pairs} pairs are relevant." for r in each.regions)
    labels = AxisLabels(f"{each.first} and {each.second}", f"score of {each.first}", f"score of {each.second}", description)
    return region_chart(each.points, each.quartiles, corners, labels)


def _colour(source: str, advice: Advice) -> int:
    return advice.sources.index(source) % 8 if source in advice.sources else 7
