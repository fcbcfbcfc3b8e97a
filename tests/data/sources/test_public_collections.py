"""What each public collection says of itself, and that everything it is made from is pinned."""

import re
from pathlib import Path

import pytest

from lexfuse.data.downloads import PackageRegistry
from lexfuse.data.sources.names import PublicName
from lexfuse.data.sources.public_collections import public_collections

PAGE = (Path(__file__).parents[3] / "docs" / "collections.md").read_text(encoding="utf-8")


def test_every_name_has_a_collection():
    assert list(public_collections()) == list(PublicName)


@pytest.mark.parametrize("public", public_collections().values(), ids=lambda public: public.name)
def test_every_file_is_pinned_and_the_provenance_names_it(public):
    written = public.provenance()
    assert public.licence in written
    assert public.is_not in written
    for package in public.packages:
        assert re.fullmatch("[0-9a-f]{64}", package.sha256)
        assert {package.name, package.version, package.sha256} <= set(re.split(r"[\s,]+", written))
        if package.registry is PackageRegistry.GIT:
            assert package.name.startswith("https://")
            assert re.fullmatch("[0-9a-f]{40}", package.version)


@pytest.mark.parametrize("public", public_collections().values(), ids=lambda public: public.name)
def test_the_page_has_the_same_figures(public):
    (row,) = re.findall(rf"^\| `{public.name}` \({public.language}\).*$", PAGE, re.MULTILINE)
    assert f"{public.documents:,} " in row
    assert f"| {public.queries:,} (" in row
    assert f"**{public.name}**" in PAGE


def test_the_sheets_whose_questions_are_kept_apart_are_never_fetched():
    assert not [package for public in public_collections().values() for package in public.packages if "vdd" in package.name]
