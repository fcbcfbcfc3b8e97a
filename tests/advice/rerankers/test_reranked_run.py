"""Files of rerankers: what is enough, what does not count, and how they are called."""

import pytest

from lexfuse.advice.rerankers.reranked_run import read_reranker_files
from lexfuse.errors import ConfigError, DataError, NotFoundError
from lexfuse.search.spec.reranker_specs import RescoreSpec, RprsSpec
from lexfuse.storage.index_folder import IndexFolder


def written(folder, name, text):
    path = folder / f"{name}.toml"
    path.write_text(text)
    return path


def test_the_tables_alone_are_enough_and_stand_one_after_the_other(tmp_path):
    path = written(tmp_path, "both", '[[rerank]]\nmethod = "rprs"\nn = 3\n[[rerank]]\nchannel = "tfidf"\n')
    (found,) = read_reranker_files([path])
    assert found.name == "both"
    assert found.choices == (RprsSpec(n=3), RescoreSpec(channel="tfidf"))


def test_a_whole_profile_will_do_and_gives_its_name(tmp_path):
    text = 'version = 1\nname = "mine"\n[[channel]]\nname = "dense"\n[[rerank]]\nchannel = "tfidf"\ndepth = 7\n'
    (found,) = read_reranker_files([written(tmp_path, "p", text)])
    assert (found.name, found.choices) == ("mine", (RescoreSpec(channel="tfidf", depth=7),))


@pytest.mark.parametrize(
    ("text", "error", "said"),
    [
        ("", ConfigError, r"f\.toml: there is no \[\[rerank\]\]"),
        ("version = 1\nrerank = []", ConfigError, r"f\.toml: there is no \[\[rerank\]\]"),
        ("version = 9\n", ConfigError, r"f\.toml: the profile has version 9"),
        ("rerank = 3", ConfigError, r"f\.toml: rerank must be a list of tables"),
        ('[[rerank]]\nmethod = "rprs"\nn = 0', ConfigError, r"f\.toml: rerank 1: n must be at least 1"),
        ('[[reranks]]\nmethod = "rprs"', ConfigError, r"f\.toml: there is no 'reranks'; there are"),
        ("[[rerank]", DataError, r"f\.toml: not valid TOML"),
    ],
)
def test_what_is_wrong_is_told_with_the_file(tmp_path, text, error, said):
    with pytest.raises(error, match=said):
        read_reranker_files([written(tmp_path, "f", text)])


def test_two_of_one_name_are_told(tmp_path):
    (tmp_path / "other").mkdir()
    paths = [written(folder, "rprs", '[[rerank]]\nmethod = "rprs"\n') for folder in (tmp_path, tmp_path / "other")]
    with pytest.raises(ConfigError, match="are called 'rprs'; write name = "):
        read_reranker_files(paths)


def test_opening_names_the_file_the_stage_and_what_is_missing(tmp_path):
    text = '[[rerank]]\nchannel = "tfidf"\n[[rerank]]\n'
    lost = written(tmp_path, "lost", f'{text}method = "rprs"\n')
    flat = written(tmp_path, "flat", f'{text}method = "sdr"\nchannel = "bm25"\n')
    fine = written(tmp_path, "fine", f'{text}channel = "bm25"\n')
    files = {file.name: file for file in read_reranker_files([lost, flat, fine])}
    with IndexFolder.create(tmp_path / "i") as index, index.snapshot() as snapshot:
        with pytest.raises(NotFoundError, match=r"lost\.toml: rerank 2 \(rprs\): no channel 'sentences' in the index"):
            files["lost"].open(snapshot)
        with pytest.raises(ConfigError, match=r"flat\.toml: rerank 2 \(sdr\): .* make one: lexfuse index INDEX"):
            files["flat"].open(snapshot)
        opened = files["fine"].open(snapshot)
    assert (opened.name, [stage.name for stage in opened.stages]) == ("fine", ["tfidf", "bm25"])
