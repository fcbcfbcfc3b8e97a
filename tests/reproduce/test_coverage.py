"""docs/coverage.md: every row names a command, options, files and figures that exist."""

import pytest

from lexfuse.errors import DataError, NotFoundError
from reproduce.coverage import PAGE, SOURCE, check_command, coverage_lines, read_coverage, write_coverage


def test_every_row_of_the_page_is_true():
    assert len(read_coverage()) == 76


def test_the_page_is_that_of_the_file():
    assert PAGE.read_text("utf-8") == "\n".join(coverage_lines(read_coverage())) + "\n"


@pytest.mark.parametrize(
    ("command", "says"),
    [
        ("lexfuse retrieve", "no command 'retrieve'"),
        ("lexfuse tune", "no command ''"),
        ("lexfuse run --colour red", "run has no option --colour"),
        ("lexfuse tune bm25 --alpha 1", "bm25 has no option --alpha"),
        ("python -m reproduce --table BRUCH-77", "no table or figure 'BRUCH-77'"),
        ("python bench/nothing.py", "no script bench/nothing.py"),
        ("make everything", "is no command"),
    ],
)
def test_a_command_that_does_not_exist_is_refused(command, says):
    with pytest.raises(NotFoundError, match=says):
        check_command(command)


@pytest.mark.parametrize(
    ("before", "after", "says"),
    [
        ('code = "src/lexfuse/channels/lexical/bm25.py"', 'code = "src/nowhere.py"', "no file src/nowhere.py"),
        ('status = "partial"', 'status = "nearly"', "'nearly' is unknown; it must be one of done, partial, missing"),
        ('figure = "docs/lexical.md"', 'figure = "docs/nowhere.md"', "no table and no page docs/nowhere.md"),
    ],
)
def test_a_wrong_row_is_refused_and_nothing_is_written(tmp_path, before, after, says):
    (tmp_path / "coverage.toml").write_text(SOURCE.read_text("utf-8").replace(before, after), "utf-8")
    with pytest.raises(DataError, match=says):
        write_coverage(tmp_path / "coverage.md", tmp_path / "coverage.toml")
    assert not (tmp_path / "coverage.md").exists()
