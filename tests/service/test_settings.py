"""Settings: which source wins, what is refused, and what is shown."""

import os
import re
import tomllib
from pathlib import Path

import pytest

from lexfuse.errors import ConfigError, DataError, NotFoundError
from lexfuse.service.settings import IndexSetting, InterfaceLanguage, ServiceSettings, SettingOrigin, load_settings


@pytest.fixture(autouse=True)
def clean(monkeypatch):
    for name in [name for name in os.environ if name.startswith("LEXFUSE_SERVE_")]:
        monkeypatch.delenv(name)


@pytest.fixture
def file(tmp_path):
    def written(text):
        path = tmp_path / "serve.toml"
        path.write_text(text, encoding="utf-8")
        return path

    return written


def test_flags_win_then_the_environment_then_the_file_then_defaults(file, monkeypatch):
    monkeypatch.setenv("LEXFUSE_SERVE_PORT", "2")
    monkeypatch.setenv("LEXFUSE_SERVE_BURST", "7")
    monkeypatch.setenv("LEXFUSE_SERVE_ANONYMOUS_READ", "false")
    loaded = load_settings({"port": 1, "title": None}, file('port = 3\nburst = 8\ntitle = "Library"\n'))
    found = loaded.settings
    assert (found.port, found.burst, found.title, found.host) == (1, 7, "Library", "127.0.0.1")
    assert found.anonymous_read is False
    origins = [loaded.origin(name) for name in ("port", "burst", "title", "host")]
    assert origins == [SettingOrigin.FLAG, SettingOrigin.ENVIRONMENT, SettingOrigin.FILE, SettingOrigin.DEFAULT]


def test_settings_made_in_code_do_not_look_at_the_environment(monkeypatch):
    monkeypatch.setenv("LEXFUSE_SERVE_PORT", "2")
    assert ServiceSettings().port == 8080


def test_lists_come_with_commas_from_the_environment(monkeypatch):
    monkeypatch.setenv("LEXFUSE_SERVE_INDEXES", "a/law.index, cases=b/x.index")
    monkeypatch.setenv("LEXFUSE_SERVE_PROFILES", "one.toml,two.toml")
    monkeypatch.setenv("LEXFUSE_SERVE_ALLOWED_HOSTS", "law.example,*.law.example")
    found = load_settings({}).settings
    assert [(one.place().name, one.folder) for one in found.indexes] == [
        ("law", Path("a/law.index")),
        ("cases", Path("b/x.index")),
    ]
    assert found.profiles == (Path("one.toml"), Path("two.toml"))
    assert found.allowed_hosts == ("law.example", "*.law.example")


def test_an_index_may_have_a_name_and_a_title(file):
    text = '[[indexes]]\nfolder = "one.index"\nname = "labour"\ntitle = "Labour law"\n[[indexes]]\nfolder = "two.index"\n'
    places = [one.place() for one in load_settings({}, file(text)).settings.indexes]
    assert [(place.name, place.title) for place in places] == [("labour", "Labour law"), ("two", "Two")]


def test_a_folder_with_an_equals_sign_in_its_path_is_a_folder():
    assert load_settings({"indexes": ["./a=b/law.index"]}).settings.indexes[0].folder == Path("a=b/law.index")


def test_relative_paths_of_the_file_count_from_its_folder(file, tmp_path):
    text = 'indexes = ["law.index", "x=sub/x.index"]\nprofiles = ["p.toml"]\nadvice = ["advice"]\nkeys = "keys.toml"\n'
    found = load_settings({}, file(text)).settings
    assert [one.folder for one in found.indexes] == [tmp_path / "law.index", tmp_path / "sub/x.index"]
    assert found.profiles == (tmp_path / "p.toml",)
    assert found.advice == (tmp_path / "advice",)
    assert found.keys == tmp_path / "keys.toml"


def test_unknown_names_are_refused_wherever_they_stand(file, monkeypatch):
    with pytest.raises(ConfigError, match=r"no setting 'prot' \(.*serve\.toml\); there are indexes, .*allowed_hosts"):
        load_settings({}, file("prot = 1"))
    monkeypatch.setenv("LEXFUSE_SERVE_BRUST", "1")
    with pytest.raises(ConfigError, match=r"no setting 'brust' .LEXFUSE_SERVE_BRUST in the environment"):
        load_settings({})


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("port = 70000", "port"),
        ('port = "many"', "valid integer"),
        ("burst = 0", "burst"),
        ("timeout_seconds = 0", "greater than 0"),
        ('language = "de"', "'en' or 'fr'"),
        ('indexes = [{ path = "x" }]', "folder"),
        ('indexes = [{ folder = "x", name = "a/b" }]', "name"),
        ("indexes = 3", "indexes"),
        ("profiles = [1]", "profiles"),
    ],
)
def test_values_that_cannot_be_are_told_with_their_file(file, text, words):
    with pytest.raises(ConfigError, match=words) as told:
        load_settings({}, file(text))
    assert "serve.toml" in str(told.value)


def test_files_that_are_no_toml_or_not_there(file, tmp_path):
    with pytest.raises(DataError, match=r"serve\.toml: not valid TOML"):
        load_settings({}, file("port = = 1"))
    with pytest.raises(NotFoundError, match="nowhere"):
        load_settings({}, tmp_path / "nowhere.toml")


def test_what_is_shown_is_a_file_that_gives_the_same_settings(file, tmp_path):
    flags = {
        "indexes": [IndexSetting(folder=tmp_path / "law.index", name="law", title='The "law"', titles={"fr": 'Le "droit"'})],
        "profiles": [tmp_path / "p.toml"],
        "language": InterfaceLanguage.FRENCH,
        "requests_per_minute": 0,
        "keys": tmp_path / "keys.toml",
        "allowed_hosts": ["law.example"],
    }
    loaded = load_settings(flags)
    shown = loaded.text()
    assert load_settings({}, file(shown)).settings == loaded.settings
    assert len(shown.splitlines()) == len(ServiceSettings.model_fields)
    assert next(line for line in shown.splitlines() if line.startswith("language")).split("#")[1].strip() == "flag"
    assert tomllib.loads(shown)["title"] == "LexFuse"


def test_what_is_not_set_is_shown_as_a_remark(file):
    shown = load_settings({}).text()
    assert "# keys is not set" in shown
    assert load_settings({}, file(shown)).settings == ServiceSettings()


def test_the_manual_lists_every_setting_with_its_variable():
    manual = (Path(__file__).parents[2] / "docs" / "service.md").read_text("utf-8")
    listed = re.findall(r"^\| `(\w+)` \| .+? \| `LEXFUSE_SERVE_(\w+)` \|", manual, re.MULTILINE)
    assert listed == [(name, name.upper()) for name in ServiceSettings.model_fields]
