"""The card of a model that was adapted without judgements: what it is, its data, and its dev loss."""

from __future__ import annotations

from collections.abc import Mapping

from lexfuse.train.adaptation.adaptation_settings import Adaptation
from lexfuse.train.output.training_results import TrainingResult

_DENSE = "A dense encoder: one vector a text, the mean of its tokens' vectors, compared by cosine."
_WHAT: Mapping[Adaptation, str] = {
    Adaptation.MLM: "A masked-language model: a base to train retrievers from, SPLADE among them.",
    Adaptation.TSDAE: f"{_DENSE} Adapted by TSDAE: it learned vectors from which damaged sentences can be written again.",
    Adaptation.SDR: f"{_DENSE} Adapted by SDR: sentences of one paragraph are near each other.",
    Adaptation.STRUCTURE: f"{_DENSE} Adapted on pairs that the structure of law gives.",
}
_TOLD = (  # settings that adapting has a use for
    "seed", "steps", "batch", "learning_rate", "decay", "warm_up", "weight_decay", "clip", "passage_length", "precision",
)  # fmt: skip
_TRAIN = "lexfuse train dense {name} CORPUS OUT\nlexfuse train splade {name} CORPUS OUT"
_INDEX = "lexfuse index INDEX --channels dense --model dense={name}\nlexfuse search INDEX QUESTION --channels dense"


def adaptation_card(trained: TrainingResult, name: str) -> str:
    r"""The text of ``README.md``, for a model folder of this name.

    >>> from lexfuse.train.output.training_results import SeedResult, StageResult
    >>> one = SeedResult(1, (StageResult("tsdae", 10, 5, {"dev loss": 4.0}, {"dev loss": 3.5}, 2.0, False),))
    >>> plan = {"adaptation": "tsdae", "deleted": 0.6, "stage": [{"choose": "R@100"}]}
    >>> trained = TrainingResult("tsdae", "a-base", "CC0", plan, {}, (one,))
    >>> "| dev loss | 4.0000 | 3.5000 |" in adaptation_card(trained, "my-model")
    True
    """
    kind = Adaptation(trained.kind)
    about = {"Adapted from": trained.base, "Licence": trained.licence, "Adapted by": f"LexFuse, `lexfuse adapt {kind}`"}
    settings = {key: value for key, value in trained.plan.items() if key not in ("adaptation", "stage")}
    told = (*_TOLD, "temperature") if kind is Adaptation.STRUCTURE else _TOLD
    settings |= {key: value for key, value in trained.plan["stage"][0].items() if key in told}
    use = (_TRAIN if kind is Adaptation.MLM else _INDEX).format(name=name)
    parts = [
        f"# {name}", _WHAT[kind], _listed(about),
        "## Data", "No judgement was used.", _listed(trained.facts),
        "## Figures", _figures(trained),
        "## Settings", _listed(settings),
        "## Use", f"```console\n{use}\n```",
    ]  # fmt: skip
    return "\n\n".join(parts) + "\n"


def _figures(trained: TrainingResult) -> str:
    stage = trained.best.stages[0]
    if not stage.measures:
        return "Nothing was held out, so nothing was measured. The weights are those of the last step."
    rows = [f"| {name} | {stage.start[name]:.4f} | {value:.4f} |" for name, value in stage.measures.items()]
    table = "\n".join(["| held out | base | adapted |", "|---|---|---|", *rows])
    return (
        f"{table}\n\nThe weights of step {stage.best_step:,} of {stage.steps:,} are kept. The loss tells how well the model "
        "learned its task; how well it retrieves, only judged queries can tell: `lexfuse evaluate`."
    )


def _listed(values: Mapping[str, object]) -> str:
    return "\n".join(f"- {key}: {_shown(value)}" for key, value in values.items())


def _shown(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return f"{value:,}" if type(value) is int else str(value)
