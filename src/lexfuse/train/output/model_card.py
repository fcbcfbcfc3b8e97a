"""The card of a trained or adapted model in Markdown: what it is, its data, its dev figures, and how to use it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from lexfuse.train.adaptation.adaptation_settings import Adaptation
from lexfuse.train.examples.parallel_text import PARALLEL
from lexfuse.train.hyperparameters import KINDS_OF, TEACHING, Hyperparameters, ModelKind, Similarity, TokenPooling
from lexfuse.train.output.training_results import TrainingResult

_WHAT: Mapping[ModelKind, str] = {
    ModelKind.DENSE: "A dense bi-encoder: one vector per text, {made}, compared by {similarity}.",
    ModelKind.TWO_TOWER: (
        "A dense bi-encoder of two towers: `queries` encodes questions, `passages` encodes documents; one vector per text, "
        "{made}, compared by {similarity}."
    ),
    ModelKind.SPLADE: "A learned sparse encoder (SPLADE-max): weights of the vocabulary's terms, compared by {similarity}.",
    ModelKind.COLBERT: "A late-interaction encoder (ColBERT): one vector per token, compared by the sum of best matches.",
    ModelKind.CROSS: "A cross-encoder (monoBERT): it reads a query and a document together and reranks candidates.",
}
_USE: Mapping[ModelKind, str] = {
    ModelKind.DENSE: "lexfuse index INDEX --channels dense --model dense={name}\nlexfuse search INDEX QUESTION --channels dense",
    ModelKind.TWO_TOWER: (
        "lexfuse index INDEX --channels dense --model dense={name}/passages --query-model dense={name}/queries\n"
        "lexfuse search INDEX QUESTION --channels dense"
    ),
    ModelKind.SPLADE: (
        "lexfuse index INDEX --channels splade --model splade={name}\nlexfuse search INDEX QUESTION --channels splade"
    ),
    ModelKind.COLBERT: (
        "lexfuse index INDEX --channels colbert --model colbert={name}\nlexfuse search INDEX QUESTION --channels colbert"
    ),
    ModelKind.CROSS: (
        'cat > profile.toml <<END\nversion = 1\n[[channel]]\nname = "bm25"\n[[rerank]]\nmethod = "cross-encoder"\n'
        'model = "{name}"\ndepth = 100\nEND\nlexfuse search INDEX QUESTION --profile profile.toml'
    ),
}
_TABLE = "`passages` encodes documents; `queries` is a table with the weight of each token in a question, read without a model."
_DENSE = "A dense encoder: one vector a text, the mean of its tokens' vectors, compared by cosine."
_ADAPTED: Mapping[Adaptation, str] = {
    Adaptation.MLM: "A masked-language model: a base to train retrievers from, SPLADE among them.",
    Adaptation.TSDAE: f"{_DENSE} Adapted by TSDAE: it learned vectors from which damaged sentences can be written again.",
    Adaptation.SDR: f"{_DENSE} Adapted by SDR: sentences of one paragraph are near each other.",
    Adaptation.STRUCTURE: f"{_DENSE} Adapted on pairs that the structure of law gives.",
}
_SHOWN_SETTINGS = (  # settings that adapting has a use for
    "seed", "steps", "batch", "learning_rate", "decay", "warm_up", "weight_decay", "clip", "passage_length", "precision",
)  # fmt: skip
_TRAIN = "lexfuse train dense {name} CORPUS OUT\nlexfuse train splade {name} CORPUS OUT"


def model_card(trained: TrainingResult, name: str) -> str:
    r"""The text of ``README.md``, for a model folder of this name.

    >>> from lexfuse.train.output.training_results import SeedResult, StageResult
    >>> one = SeedResult(1, (StageResult("judged", 10, 5, {"R@100": 0.4}, {"R@100": 0.5}, 2.0, False),))
    >>> stage = {"examples": ["judged"], **Hyperparameters().plain()}
    >>> trained = TrainingResult("dense", "a-base", "CC0", {"stage": [stage]}, {"corpus": "mine"}, (one,))
    >>> print("\n".join(model_card(trained, "my-model").splitlines()[:3]))
    # my-model
    <BLANKLINE>
    A dense bi-encoder: one vector per text, the mean of its tokens' vectors, compared by cosine.
    """
    kind, last = ModelKind(trained.kind), Hyperparameters(**_last_settings(trained))
    parts = [
        f"# {name}", _what(kind, last),
        _listed({"Trained from": trained.base, "Licence": trained.licence, "Trained by": "LexFuse, `lexfuse train`"}),
        "## Data", _listed(trained.facts),
        "## Figures", _figures(trained),
        "## Training", *_training(trained),
        "## Use", f"```console\n{_use(kind, last).format(name=name)}\n```",
    ]  # fmt: skip
    return "\n\n".join(parts) + "\n"


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
    names = (*_SHOWN_SETTINGS, "temperature") if kind is Adaptation.STRUCTURE else _SHOWN_SETTINGS
    settings |= {key: value for key, value in trained.plan["stage"][0].items() if key in names}
    use = (_TRAIN if kind is Adaptation.MLM else _USE[ModelKind.DENSE]).format(name=name)
    parts = [
        f"# {name}", _ADAPTED[kind], _listed(about),
        "## Data", "No judgement was used.", _listed(trained.facts),
        "## Figures", _adapted_figures(trained),
        "## Settings", _listed(settings),
        "## Use", f"```console\n{use}\n```",
    ]  # fmt: skip
    return "\n\n".join(parts) + "\n"


def _listed(values: Mapping[str, object]) -> str:
    return "\n".join(f"- {key}: {_shown(value)}" for key, value in values.items())


def _shown(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return f"{value:,}" if type(value) is int else str(value)


def _figures(trained: TrainingResult) -> str:
    """Dev figures before and after, over the seeds, and the data they were measured on."""
    start, measures = trained.start, trained.measures
    if not measures:
        return "Nothing was measured: no dev judgements were given. The weights are those of the last step."
    rows = [(name, start.get(name, "–"), after) for name, after in measures.items()]
    if len(trained.seeds) == 1:
        table = _table(("dev", "base", "trained"), rows)
        if PARALLEL in trained.plan["stage"][-1]["examples"]:
            return f"{table}\n\nThe weights of the last step are kept; nothing was chosen on these queries."
        how = f"The weights of step {trained.best.stages[-1].best_step:,} are kept, the best on dev."
    else:
        best = trained.best
        table = _table(
            ("dev", "base", "trained", f"kept: seed {best.seed}"), [(*row, f"{best.measures[row[0]]:.4f}") for row in rows]
        )
        seeds = ", ".join(str(one.seed) for one in trained.seeds)
        how = f"Means and standard deviations over the seeds {seeds}; the weights of seed {best.seed} are kept, the best on dev."
    return f"{table}\n\n{how} They were chosen on these queries, so expect slightly lower figures on other queries."


def _adapted_figures(trained: TrainingResult) -> str:
    stage = trained.best.stages[0]
    if not stage.measures:
        return "Nothing was held out, so nothing was measured. The weights are those of the last step."
    rows = [(name, f"{stage.start[name]:.4f}", f"{value:.4f}") for name, value in stage.measures.items()]
    table = _table(("held out", "base", "adapted"), rows)
    return (
        f"{table}\n\nThe weights of step {stage.best_step:,} of {stage.steps:,} are kept. The loss shows how well the model "
        "learned its task; how well it retrieves, only judged queries can tell: `lexfuse evaluate`."
    )


def _training(trained: TrainingResult) -> list[str]:
    """The settings of every stage, and how it ended."""
    found = []
    for number, values in enumerate(trained.plan["stage"]):
        taught = TEACHING if PARALLEL in values["examples"] else {}
        usual = Hyperparameters.usual(ModelKind(trained.kind), **taught).plain()
        rows = [
            (key, value, usual[key]) for key, value in values.items() if key in usual and _counts(key, ModelKind(trained.kind))
        ]
        results = [one.stages[number] for one in trained.seeds]
        ends = "; ".join(
            f"seed {one.seed}: {stage.steps:,} steps in {stage.seconds:,.0f} s, best at {stage.best_step:,}"
            f"{', stopped early' if stage.stopped_early else ''}"
            for one, stage in zip(trained.seeds, results, strict=True)
        )
        head = f"Stage {number + 1}, on {', '.join(values['examples'])}; {ends}."
        found += [head, _table(("setting", "value", "usual"), rows)]
    return found


def _what(kind: ModelKind, training: Hyperparameters) -> str:
    """What the model is: how its vectors are made and compared."""
    made = "that of the first token" if training.pooling is TokenPooling.CLS else "the mean of its tokens' vectors"
    if training.chunk:
        made += f", averaged over chunks of {training.chunk} tokens that share {training.chunk_overlap}"
    similarity = "dot product" if training.similarity is Similarity.DOT else "cosine"
    found = _WHAT[kind].format(made=made, similarity=similarity)
    return f"{found} {_TABLE}" if training.query_table else found


def _use(kind: ModelKind, training: Hyperparameters) -> str:
    """The commands that use the model; a query table and its passages are named like two towers."""
    return _USE[ModelKind.TWO_TOWER].replace("dense", "splade") if training.query_table else _USE[kind]


def _last_settings(trained: TrainingResult) -> dict[str, Any]:
    usual = Hyperparameters.usual(ModelKind(trained.kind)).plain()
    return {key: value for key, value in trained.plan["stage"][-1].items() if key in usual}


def _counts(setting: str, kind: ModelKind) -> bool:
    """Whether a setting applies to a kind."""
    alone = {
        "dimension": ModelKind.COLBERT,
        **dict.fromkeys(("flops_queries", "flops_passages", "flops_warm_up"), ModelKind.SPLADE),
    }
    return setting != "seed" and alone.get(setting, kind) is kind and kind in KINDS_OF.get(setting, {kind})


def _table(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    lines = [f"| {' | '.join(columns)} |", f"|{'---|' * len(columns)}"]
    return "\n".join([*lines, *(f"| {' | '.join(map(str, row))} |" for row in rows)])
