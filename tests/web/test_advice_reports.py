"""Advice reports of the site: what is listed, what is refused, and that nothing outside a folder is read."""

import base64
import hashlib
import json
import os

import pytest

from lexfuse.advice.findings import Verdict
from lexfuse.errors import NotFoundError
from lexfuse.web.advice_reports import experiment_named, experiments_in, policy_of, served
from lexfuse.web.messages import InterfaceLocale, messages_of
from lexfuse.web.pages.experiments import verdict_key

PAGE = '<html><style>p { color: red }</style><nav aria-label="contents"><p>C</p><ol></ol></nav><script>let a = 1;</script></html>'


def tried(members, value, outcome=None):
    method = "rrf" if len(members) > 1 else ""
    return {
        "configuration": {"members": members, "method": method, "name": " + ".join(members)},
        "value": value,
        "versus_member": {"outcome": outcome} if outcome else None,
    }


def advice(**changes):
    chosen = tried(["bm25", "dense"], 0.5, "better")
    return {
        "collection": "labour", "measure": "R@10", "documents": 9, "queries": 5, "words": ["Fuse."], "chosen": chosen,
        "tried": [tried(["bm25"], 0.3), tried(["dense"], 0.4), chosen], "confirmation": None,
    } | changes  # fmt: skip


def written(folder, plain=None, page=PAGE):
    folder.mkdir(parents=True)
    (folder / "advice.json").write_text(json.dumps(plain or advice()), encoding="utf-8")
    (folder / "report.html").write_text(page, encoding="utf-8")
    return folder


def test_a_report_in_short(tmp_path):
    written(tmp_path / "first", advice(confirmation={"queries": 7, "means": {"R@10": {"bm25 + dense": 0.45}}}))
    (found,), wrong = experiments_in([tmp_path])
    assert wrong == []
    assert (found.name, found.title, found.verdict, found.words) == ("first", "labour", Verdict.FUSE, ("Fuse.",))
    assert (found.chosen, found.value, found.best_single, found.best_value) == ("bm25 + dense", 0.5, "dense", 0.4)
    assert (found.test, found.test_queries, found.profile) == (0.45, 7, False)


def test_a_single_source_that_was_chosen(tmp_path):
    written(tmp_path / "first", advice(chosen=tried(["bm25"], None)))
    (found,), _ = experiments_in([tmp_path])
    assert found.verdict is Verdict.ALONE
    assert found.value is None


@pytest.mark.parametrize("verdict", Verdict)
def test_the_verdict_is_the_one_that_was_written_and_the_page_says_it_in_its_words(tmp_path, verdict):
    written(tmp_path / "first", advice(verdict=verdict.value))
    (found,), _ = experiments_in([tmp_path])
    assert found.verdict is verdict
    assert messages_of(InterfaceLocale.ENGLISH).text(f"experiments.{verdict_key(found)}") == verdict.value
    assert messages_of(InterfaceLocale.FRENCH).text(f"experiments.{verdict_key(found)}") != verdict.value


def test_newest_first_and_names_apart(tmp_path):
    for at, name in enumerate(["a/one", "b/one", "b/two"]):
        folder = written(tmp_path / name)
        os.utime(folder / "advice.json", (1_600_000_000 + 864_000 * at,) * 2)
    found, _ = experiments_in([tmp_path / "a", tmp_path / "b", tmp_path / "b"])
    assert [(each.name, each.folder.relative_to(tmp_path).as_posix()) for each in found] == [
        ("two", "b/two"), ("one-2", "b/one"), ("one", "a/one"),
    ]  # fmt: skip


def test_a_folder_may_be_a_report_itself(tmp_path):
    found, _ = experiments_in([written(tmp_path / "mine")])
    assert [each.name for each in found] == ["mine"]


@pytest.mark.parametrize("plain", [[], {"version": 1}, advice(chosen=None), advice(tried=3), advice(documents="many")])
def test_what_is_no_advice_is_told_and_not_shown(tmp_path, plain):
    written(tmp_path / "bad", plain or [1])
    written(tmp_path / "good")
    found, wrong = experiments_in([tmp_path])
    assert [each.name for each in found] == ["good"]
    assert len(wrong) == 1
    assert wrong[0].startswith("bad: advice.json is not what lexfuse advise writes")


def test_a_report_without_a_page_is_told(tmp_path):
    (written(tmp_path / "bad") / "report.html").unlink()
    assert experiments_in([tmp_path]) == ([], ["bad: there is no report.html; run lexfuse advise again"])


def test_links_that_lead_out_are_not_followed(tmp_path):
    secret = tmp_path / "secret.html"
    secret.write_text("secret")
    linked = written(tmp_path / "advice" / "linked")
    (linked / "report.html").unlink()
    (linked / "report.html").symlink_to(secret)
    elsewhere = written(tmp_path / "elsewhere")
    (tmp_path / "advice" / "folder").symlink_to(elsewhere)
    found, wrong = experiments_in([tmp_path / "advice"])
    assert found == []
    assert wrong == ["linked: there is no report.html; run lexfuse advise again"]


def test_a_page_that_became_a_link_is_not_read(tmp_path):
    folder = written(tmp_path / "advice" / "first")
    (found,), _ = experiments_in([tmp_path / "advice"])
    (tmp_path / "secret.html").write_text("secret")
    (folder / "report.html").unlink()
    (folder / "report.html").symlink_to(tmp_path / "secret.html")
    with pytest.raises(NotFoundError, match=r"no longer has its report.html"):
        served(found, "/experiments", "Back")


@pytest.mark.parametrize("name", ["../first", "first/../first", "", ".", "first/report.html", "/etc/passwd", "first\x00"])
def test_names_are_looked_up_and_never_joined(tmp_path, name):
    written(tmp_path / "first")
    found, _ = experiments_in([tmp_path])
    assert experiment_named(found, "first").folder == tmp_path / "first"
    with pytest.raises(NotFoundError, match="there is no experiment"):
        experiment_named(found, name)


def test_the_policy_allows_its_own_style_and_script_alone(tmp_path):
    written(tmp_path / "first")
    (found,), _ = experiments_in([tmp_path])
    report = served(found, "/experiments?a=1&b=<", "← “Back” <")
    assert '<ol><li><a href="/experiments?a=1&amp;b=&lt;">← “Back” &lt;</a></li></ol>' in report.page
    for text, directive in (("p { color: red }", "style-src"), ("let a = 1;", "script-src")):
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{directive} 'sha256-{digest}';" in report.policy
    assert "unsafe" not in report.policy
    assert report.policy.endswith("sandbox allow-scripts")


def test_a_page_without_script_allows_none():
    assert "script-src 'none'; " in policy_of("<p>text</p>")
