"""Files of tables: what they must say, and that every one has a module that measures it."""

import pytest

from lexfuse.errors import DataError
from reproduce.datasets import known_datasets
from reproduce.paper_table import HOME, PaperFigure, all_tables, read_table


@pytest.mark.parametrize(
    ("printed", "number", "decimals", "mark"),
    [("0.900 ‡*", 0.9, 3, "‡*"), (0.5, 0.5, 1, ""), ("83,503", 83503.0, 0, ""), (-0.0565, -0.0565, 4, ""), (7, 7.0, 0, "")],
)
def test_a_figure_is_read_as_printed(printed, number, decimals, mark):
    figure = PaperFigure.read(printed)
    assert (figure.number, figure.decimals, figure.mark) == (number, decimals, mark)
    assert str(figure) == str(printed)


def test_what_is_no_figure_is_refused():
    with pytest.raises(DataError, match="is no figure"):
        PaperFigure.read("about 5 %")


def test_every_table_has_a_module_known_datasets_and_reasons_for_rows_it_has():
    for table in all_tables().values():
        assert callable(table.measure), table.number
        assert {*table.datasets, *table.others} <= set(known_datasets()), table.number
        assert set(table.paper) <= set(table.datasets), table.number
        rows = {row for one in table.paper.values() for row in one}
        cells = {f"{row}, {column}" for one in table.paper.values() for row, columns in one.items() for column in columns}
        assert set(table.why) <= rows | cells, table.number


def test_every_module_of_a_table_has_its_file():
    modules = {path.with_suffix(".toml") for path in HOME.glob("*/*_*.py") if path.stem.split("_")[0] in ("table", "figure")}
    assert modules == set(HOME.glob("*/*_*.toml"))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('title = "x"\nminutes = 1', "no 'datasets'"),
        ('title = "x"\nminutes = 1\ndatasets = []\npapers = 1', "unknown key 'papers'"),
        ("title = ", "is no TOML"),
    ],
)
def test_a_wrong_file_is_refused(tmp_path, text, says):
    (tmp_path / "table_1.toml").write_text(text)
    with pytest.raises(DataError, match=says):
        read_table(tmp_path / "table_1.toml")
