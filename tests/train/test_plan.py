"""The TOML of a training: every setting can be given, what is not known is named, stages inherit."""

import datetime
import re
import tomllib
from pathlib import Path

import pytest

from lexfuse.data.corpus import Corpus
from lexfuse.data.document import Document
from lexfuse.data.qrels import Qrels
from lexfuse.data.queries import Queries, Query
from lexfuse.data.read_report import ReadReport
from lexfuse.data.run import Run
from lexfuse.errors import BusyError, ConfigError, DataError, StorageError
from lexfuse.train.examples.parallel_text import ParallelSettings
from lexfuse.train.hyperparameters import Hyperparameters, ModelKind
from lexfuse.train.learning_curve import ShareOrder, share_of
from lexfuse.train.material import TrainingMaterial, dev_examples, stage_examples
from lexfuse.train.output.work_folder import WorkFolder
from lexfuse.train.plan import MiningSettings, TrainingPlan, TrainingStage, read_plan_values

WHOLE = """
seeds = [1, 2, 3]
before_query_date = true

[training]
batch = 16
temperature = 0.02

[mining]
channel = "dense"
amount = 10
margin = 0

[dev]
pool = 500

[[stage]]
examples = ["headings", "cited"]
steps = 40
shares = { headings = 0.5, cited = 0.5 }

[[stage]]
examples = ["judged"]
temperature = 0.05
"""


def test_all_of_it(tmp_path):
    (tmp_path / "mine.toml").write_text(WHOLE)
    plan = TrainingPlan.usual(ModelKind.DENSE, read_plan_values(tmp_path / "mine.toml"))
    assert plan.seeds == (1, 2, 3)
    assert plan.before_query_date
    assert (plan.mining.channel, plan.mining.amount, plan.mining.margin) == ("dense", 10, 0)
    assert (plan.dev.pool, plan.dev.candidates) == (500, 200)
    first, second = plan.stages
    assert (first.name, first.training.steps, first.training.temperature) == ("headings+cited", 40, 0.02)
    assert (second.training.steps, second.training.batch, second.training.temperature) == (1000, 16, 0.05)
    assert plan.judged
    assert TrainingPlan.usual(ModelKind.DENSE, plan.plain()) == plan


def test_the_documentation_shows_every_setting_with_its_usual_value():
    text = (Path(__file__).parents[2] / "docs" / "training.md").read_text("utf-8")
    whole, chain, taught = (tomllib.loads(block) for block in re.findall(r"```toml\n(.*?)```", text, re.DOTALL))
    shown = {name for name in whole["training"] if name != "shares"} | {"shares", "seed"}
    assert shown == set(Hyperparameters.model_fields)
    assert set(whole["mining"]) == set(MiningSettings.model_fields)
    assert TrainingPlan.usual(ModelKind.DENSE, whole) == TrainingPlan.usual(
        ModelKind.DENSE, {"training": {"shares": {"judged": 1.0}}}
    )
    assert [stage.training.steps for stage in TrainingPlan.usual(ModelKind.DENSE, chain).stages] == [2000, 300]
    assert set(taught["parallel"]) == set(ParallelSettings.model_fields)
    assert [stage.name for stage in TrainingPlan.usual(ModelKind.DENSE, taught).stages] == ["parallel", "judged"]


def test_options_of_the_command_go_before_the_file():
    plan = TrainingPlan.usual(ModelKind.DENSE, tomllib.loads(WHOLE), {"steps": 7, "batch": 2})
    assert [(stage.training.steps, stage.training.batch) for stage in plan.stages] == [(7, 2), (7, 2)]


def test_the_usual_plan_is_that_of_the_kind():
    assert TrainingPlan.usual(ModelKind.SPLADE).stages == (TrainingStage(("judged",), Hyperparameters.usual(ModelKind.SPLADE)),)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("seed = 1", "there is no 'seed'; there are seeds"),
        ("seeds = 1", "seeds must be a list, got 1"),
        ("seeds = [1, 1]", "each once"),
        ("seeds = []", "seeds must be"),
        ("[training]\nrate = 1", "there is no 'rate'; there are steps"),
        ("[training]\nseed = 1", "write seeds = \\[1\\]"),
        ('[training]\nsteps = "many"', "steps must be a whole number"),
        ("training = 3", "training must be a table"),
        ("[mining]\ndeep = 1", "mining: there is no 'deep'"),
        ("[mining]\namount = 0.5", "mining: amount must be a whole number"),
        ("[mining]\namount = true", "must be a whole number"),
        ("[mining]\nmargin = 2", "mining: margin must be at most 1"),
        ("[mining]\ndepth = 0", "depth must be 1 or more"),
        ("[dev]\npool = -1", "pool must be 0"),
        ('examples = "judged"', "examples must be a list"),
        ("examples = []", "a stage needs examples"),
        ('examples = ["judged", "judged"]', "each kind once"),
        ('examples = ["titles"]', "there are no examples 'titles'"),
        ('examples = ["judged"]\n[[stage]]\nexamples = ["judged"]', "not in both"),
        ("[stage]\nsteps = 1", "a list of tables, \\[\\[stage\\]\\]"),
        ("[[stage]]\nsteps = 1", "examples must be a list"),
        ('[[stage]]\nexamples = ["judged"]\nseed = 3', "seed is not a setting of .training. or a stage"),
        ('[[stage]]\nexamples=["judged"]\n[[stage]]\nexamples=["judged"]\ndimension=5', "the same dimension"),
    ],
)
def test_what_cannot_be(text, said):
    with pytest.raises(ConfigError, match=said):
        TrainingPlan.usual(ModelKind.DENSE, tomllib.loads(text))


def test_cross_encoders_learn_from_judgements_alone():
    with pytest.raises(ConfigError, match="judged examples only"):
        TrainingPlan.usual(ModelKind.CROSS, {"examples": ["judged", "headings"]})


def test_broken_toml(tmp_path):
    (tmp_path / "mine.toml").write_text("seeds = [")
    with pytest.raises(DataError, match=r"mine\.toml: not valid TOML"):
        read_plan_values(tmp_path / "mine.toml")


CORPUS = Corpus.of(
    [
        Document("a", text="Le préavis dure un mois.", headings=("Livre I : La fin du contrat",), language="fr"),
        Document("b", text="Le bail est nul de plein droit.", headings=("Livre II : Le bail rural",), language="fr"),
    ]
)
QUERIES = Queries.of([Query("q", "durée du préavis"), Query("r", "le bail ?")])
TRAIN, DEV = Qrels.of([("q", "a", 1)]), Qrels.of([("r", "b", 1)])


def test_sources_of_a_stage():
    ranking = Run.of("bm25", {"q": {"b": 1.0, "a": 2.0}})
    material = TrainingMaterial("mine", CORPUS, QUERIES, TRAIN, DEV, ranking)
    report = ReadReport()
    examples = stage_examples(material, TrainingStage(("headings", "judged"), Hyperparameters()), MiningSettings(), report)
    assert examples.sources == ("headings", "judged")
    assert [row[2] for row in examples.rows() if row[3] == "judged"] == [
        ["Livre II : Le bail rural Le bail est nul de plein droit."]
    ]
    assert any("hard negatives by bm25: 1 for 1 queries" in line for line in report.lines())


def test_dev_queries_that_the_ranking_does_not_have_get_no_negatives():
    material = TrainingMaterial("mine", CORPUS, QUERIES, TRAIN, DEV, Run.of("bm25", {"q": {"b": 1.0}}))
    assert dev_examples(material, MiningSettings()).negatives.shape == (1, 0)


def test_structure_that_the_corpus_does_not_have():
    with pytest.raises(DataError, match="no pairs of the kind 'citing-paragraph'"):
        stage_examples(
            TrainingMaterial("mine", CORPUS),
            TrainingStage(("citing-paragraph",), Hyperparameters()),
            MiningSettings(),
            ReadReport(),
        )


@pytest.mark.parametrize(
    ("kind", "material", "said"),
    [
        (ModelKind.DENSE, TrainingMaterial("mine", CORPUS, QUERIES), "needs queries and train judgements"),
        (ModelKind.CROSS, TrainingMaterial("mine", CORPUS, QUERIES, TRAIN), "give an index or a run"),
    ],
)
def test_a_plan_that_needs_more(kind, material, said):
    with pytest.raises(ConfigError, match=said):
        material.check(TrainingPlan.usual(kind))


def test_an_empty_corpus():
    with pytest.raises(DataError, match="has no documents"):
        TrainingMaterial("mine", Corpus.of([]), QUERIES, TRAIN).check(TrainingPlan.usual(ModelKind.DENSE))


def test_the_digest_knows_every_part():
    parts = [
        TrainingMaterial("mine", CORPUS, QUERIES, TRAIN, DEV),
        TrainingMaterial("mine", CORPUS, QUERIES, TRAIN),
        TrainingMaterial("mine", CORPUS, QUERIES, DEV, TRAIN),
        TrainingMaterial("mine", CORPUS.select([0]), QUERIES, TRAIN, DEV),
        TrainingMaterial("mine", CORPUS, QUERIES.select([0]), TRAIN, DEV),
        TrainingMaterial("mine", CORPUS, QUERIES, TRAIN, DEV, Run.of("bm25", {"q": {"b": 1.0}})),
    ]
    assert len({material.digest() for material in parts}) == len(parts)
    assert parts[0].digest() == TrainingMaterial("other name", CORPUS, QUERIES, TRAIN, DEV).digest()


def test_a_work_folder_holds_one_training(tmp_path):
    out = tmp_path / "model"
    with WorkFolder.beside(out, {"kind": "dense", "data": "x"}).claimed() as work:
        assert work.folder == tmp_path / "model.training"
        with pytest.raises(BusyError, match="another process"), WorkFolder.beside(out, {"kind": "dense"}).claimed():
            pass
    with WorkFolder.beside(out, {"kind": "dense", "data": "x"}).claimed():
        pass
    with (
        pytest.raises(ConfigError, match="another data; remove"),
        WorkFolder.beside(out, {"kind": "dense", "data": "y"}).claimed(),
    ):
        pass


@pytest.mark.parametrize("foreign", ["notes.txt", "seed-1.tar", "plan.json.old"])
def test_a_work_folder_with_files_of_others_is_refused_and_keeps_them(tmp_path, foreign):
    out, folder = tmp_path / "model", tmp_path / "model.training"
    folder.mkdir()
    (folder / foreign).write_text("mine")
    with pytest.raises(StorageError, match=f"holds other files .'{foreign}'.; move them"), WorkFolder.beside(out, {}).claimed():
        pass
    assert [path.name for path in folder.iterdir()] == [foreign]


def test_a_link_in_the_place_of_a_work_folder_is_refused(tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "model.training").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(StorageError, match="is not a folder"), WorkFolder.beside(tmp_path / "model", {}).claimed():
        pass
    assert not any((tmp_path / "elsewhere").iterdir())


def test_a_work_folder_goes_on_with_what_a_killed_training_left(tmp_path):
    folder = tmp_path / "model.training"
    (folder / "seed-1" / "stage-1").mkdir(parents=True)
    (folder / ".plan.json.partial-abcd1234").write_text("{")
    with WorkFolder.beside(tmp_path / "model", {"kind": "dense"}).claimed() as work:
        work.remove()
    assert not folder.exists()


@pytest.mark.parametrize("percent", [0, 101, -5])
def test_shares_that_cannot_be(percent):
    with pytest.raises(ConfigError, match="shares are percentages"):
        share_of(TrainingMaterial("mine", CORPUS, QUERIES, TRAIN), percent, ShareOrder.RANDOM)


def test_shares_need_judgements():
    with pytest.raises(ConfigError, match="needs queries and train judgements"):
        share_of(TrainingMaterial("mine", CORPUS), 50, ShareOrder.RANDOM)


def test_shares_by_date():
    asked = Queries.of(Query(f"q{year}", "…", date=datetime.date(year, 1, 1)) for year in range(2011, 2021))
    judged = Qrels.of((f"q{year}", "a", 1) for year in range(2011, 2021))
    assert list(share_of(TrainingMaterial("mine", CORPUS, asked, judged), 20, ShareOrder.DATE).queries) == ["q2011", "q2012"]
    assert len(share_of(TrainingMaterial("mine", CORPUS, asked, judged), 100, ShareOrder.DATE)) == 10


PARALLEL = {"teacher": "minilm", "pairs": "pairs.csv", "columns": ["en:fr"]}


def test_a_parallel_stage_has_usual_numbers_of_its_own_and_is_written_back():
    values = {"parallel": PARALLEL, "stage": [{"examples": ["parallel"]}, {"examples": ["judged"]}]}
    plan = TrainingPlan.usual(ModelKind.DENSE, values, {"batch": 7})
    assert [(stage.training.steps, stage.training.batch) for stage in plan.stages] == [(2000, 7), (1000, 7)]
    assert TrainingPlan.usual(ModelKind.DENSE, plan.plain()) == plan
    assert "parallel" not in TrainingPlan.usual(ModelKind.DENSE).plain()
    with pytest.raises(ConfigError, match="no parallel text; read it with read_parallel"):
        TrainingMaterial("mine", Corpus.of([Document("a")]), Queries.of([]), Qrels.of([])).check(plan)


@pytest.mark.parametrize(
    ("kind", "values", "said"),
    [
        ("dense", {"stage": [{"examples": ["parallel"]}]}, "a parallel stage needs a teacher and parallel text"),
        ("dense", {"parallel": PARALLEL}, "no stage learns from them"),
        ("dense", {"parallel": PARALLEL, "examples": ["judged", "parallel"]}, "give it a stage"),
        ("dense", {"parallel": {"teacher": "minilm"}, "examples": ["parallel"]}, "parallel: .*pairs is missing"),
        ("dense", {"parallel": {**PARALLEL, "file": "a"}, "examples": ["parallel"]}, "there is no 'file'"),
        ("colbert", {"parallel": PARALLEL, "examples": ["parallel"]}, "only a dense model learns from a teacher .*, not colbert"),
    ],
)
def test_parallel_stages_that_cannot_be(kind, values, said):
    with pytest.raises(ConfigError, match=said):
        TrainingPlan.usual(ModelKind(kind), values)
