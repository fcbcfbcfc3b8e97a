"""Branches of a training that wait for the files of each other."""

import time

import pytest


@pytest.fixture
def branches(recipe_named, tmp_path):
    return recipe_named("side_by_side").Branches(tmp_path, {"backbone": "first", "weights": "failing"})


def test_a_branch_begins_when_its_input_is_there(branches, tmp_path):
    def first():
        (tmp_path / "backbone").write_text("weights")

    def second():
        branches.until("backbone")
        (tmp_path / "paired").write_text((tmp_path / "backbone").read_text() + ", pairs")

    assert branches.run({"second": second, "first": first}) == 0
    assert (tmp_path / "paired").read_text() == "weights, pairs"


def test_a_failure_ends_what_waits_for_it_and_is_in_its_log(branches, tmp_path, capfd):
    def failing():
        raise ValueError("no loss")

    assert branches.run({"waiting": lambda: branches.until("weights"), "failing": failing}) == 2
    assert "no loss" in (tmp_path / "logs" / "failing.log").read_text()
    assert "'failing' has failed before there was 'weights'" in (tmp_path / "logs" / "waiting.log").read_text()
    assert "failing: failed, see its log" in capfd.readouterr().out


def test_a_failure_does_not_end_what_waits_for_another_branch(branches, tmp_path):
    def failing():
        raise ValueError("no loss")

    def first():
        while not (tmp_path / "logs" / "failing.failed").exists():
            time.sleep(0.01)
        (tmp_path / "backbone").touch()

    assert branches.run({"waiting": lambda: branches.until("backbone"), "failing": failing, "first": first}) == 1


def test_what_failed_before_is_forgotten(recipe_named, branches, tmp_path):
    (tmp_path / "logs" / "first.failed").touch()
    again = recipe_named("side_by_side").Branches(tmp_path, branches.makers)
    (tmp_path / "backbone").touch()
    again.until("backbone")
    assert again.run({"one": lambda: None}) == 0


def test_every_stage_has_a_branch(recipe_named, branches, tmp_path):
    module = recipe_named("side_by_side")

    class Recipe:
        def __getattr__(self, name):
            return lambda *_: None

    planned = module.plan(branches, Recipe(), tmp_path)
    assert {*planned} == {"models", "splade", "others", "rankings", "ship"}
    assert {*module.MAKERS.values()} < {*planned}


def test_every_file_that_a_branch_waits_for_has_a_maker(recipe_named):
    module = recipe_named("side_by_side")
    assert {*module.RANKED, "paired", "teacher"} <= {*module.MAKERS}
