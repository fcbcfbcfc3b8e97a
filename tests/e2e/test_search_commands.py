"""Index, search and run through the real command."""

import json
import shutil
from pathlib import Path

import pytest
from launcher import lexfuse

EXAMPLES = Path(__file__).parents[2] / "examples"


def found(index, *arguments) -> list[str]:
    done = lexfuse("search", index, *arguments, "--json")
    assert done.returncode == 0, done.stderr
    return [result["id"] for result in json.loads(done.stdout)["results"]]


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    folder = tmp_path_factory.mktemp("built") / "library.index"
    done = lexfuse("index", EXAMPLES / "articles.csv", folder, "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["documents"] == 6
    return folder


@pytest.fixture
def index(built, tmp_path):
    return shutil.copytree(built, tmp_path / "library.index")


def test_search_finds_by_words_and_shows_marked_snippets(built):
    done = lexfuse("search", built, "retard de prêt", "--json")
    first = json.loads(done.stdout)["results"][0]
    assert first["id"] == "lib-4"
    words = [first["snippet"][start:end] for start, end in first["matches"]]
    assert words == ["retard", "prêt"]


def test_cited_documents_come_first(built):
    assert found(built, "que dit l'article R. 1 du code des bibliothèques")[0] == "lib-5"
    assert found(built, "articles L. 2 à L. 4", "-k", "3") == ["lib-2", "lib-3", "lib-4"]


def test_stems_and_stop_words_are_chosen_when_an_index_is_built(tmp_path):
    plain = tmp_path / "plain.index"
    assert lexfuse("index", EXAMPLES / "articles.csv", plain, "--no-stems", "--no-stop-words").returncode == 0
    assert found(plain, "mineur", "--spelling", "off") == []  # the articles have "mineurs"
    assert sorted(found(plain, "est")) == ["lib-2", "lib-3", "lib-4"]
    done = lexfuse("index", EXAMPLES / "articles.csv", plain, "--update", "--no-stems")
    assert done.returncode == 2
    assert "--no-stems is for a new index" in done.stderr


def test_a_language_is_forced_on_documents_and_questions(tmp_path):
    law = tmp_path / "law.jsonl"
    law.write_text('{"_id": "a", "text": "Kündigungen", "language": "fr"}\n{"_id": "b", "text": "Fristen"}\n', encoding="utf-8")
    assert lexfuse("index", law, tmp_path / "law.index", "--language", "de").returncode == 0
    assert found(tmp_path / "law.index", "kuendigung") == ["a"]
    assert found(tmp_path / "law.index", "kündigung", "--language", "en") == []  # read with English stems
    for command in (
        ("index", law, tmp_path / "other.index", "--language", "german"),
        ("search", tmp_path / "law.index", "Frist", "--language", "german"),
        ("similar", tmp_path / "law.index", law, "--language", "german"),
        ("analyse", "Frist", "--language", "german"),
    ):
        done = lexfuse(*command)
        assert done.returncode == 2
        assert "unknown language 'german'; did you mean 'de' (German)? Known are ar, ca" in " ".join(done.stderr.split())
    assert not (tmp_path / "other.index").exists()
    assert "--language is for a corpus" in lexfuse("index", tmp_path / "law.index", "--merge", "--language", "de").stderr


def test_the_form_of_idf(built, tmp_path):
    """Robertson's logarithm of the odds is negative for a word of most articles: FUSE eq. 1, BSARD eq. 3, CJEU eq. 1."""
    query = ("search", built, "bibliothèques", "--json")
    usual, papers = (json.loads(lexfuse(*query, *flags).stdout)["results"] for flags in ((), ("--idf", "robertson")))
    assert all(result["score"] > 0 for result in usual)
    assert papers
    assert all(result["score"] < 0 for result in papers)
    (tmp_path / "search.toml").write_text('version = 1\n[[channel]]\nname = "bm25"\nidf = "robertson"\n')
    assert json.loads(lexfuse(*query, "--profile", tmp_path / "search.toml").stdout)["results"] == papers


def test_filters_and_validity(built):
    assert found(built, "prêt lecteur", "--filter", "headings^=Partie législative > Titre II") == ["lib-3", "lib-4"]
    assert "lib-4" not in found(built, "retard prêt", "--as-of", "2021-01-01")
    assert found(built, "prêt", "--filter", "court=nobody") == []


def test_explanation_adds_up(built):
    asked = ["search", built, "cotisation annuelle des lecteurs", "--explain", "--json"]
    by_words, by_default = (json.loads(lexfuse(*asked, *more).stdout)["results"] for more in (["--channels", "bm25"], []))
    assert [result["score"] for result in by_default] == sorted((result["score"] for result in by_default), reverse=True)
    for result in by_default:  # BM25, reranked by the structure of the law
        assert sum(part["contribution"] for part in result["fusion"]["parts"]) == pytest.approx(result["score"], rel=1e-5)
        assert [part["source"] for part in result["fusion"]["before"]["parts"]] == ["bm25"]
    for result in by_words:
        assert sum(part["contribution"] for part in result["explanation"]) == pytest.approx(result["score"], rel=1e-5)


def test_bad_filters_dates_and_folders(built, tmp_path):
    unknown = lexfuse("search", built, "prêt", "--filter", "couleur=bleu")
    assert unknown.returncode == 4
    assert "headings" in unknown.stderr
    assert lexfuse("search", built, "prêt", "--as-of", "soon").returncode == 2
    assert lexfuse("search", tmp_path, "prêt").returncode == 4
    assert lexfuse("search", built, "prêt", "--k1", "-1").returncode == 2
    assert lexfuse("search", built, "prêt", "-k", "0").returncode == 2


@pytest.mark.parametrize("query", ["de la", "x", "γλώσσα", "mot " * 20000])
def test_odd_queries_are_answered(built, query):
    assert lexfuse("search", built, query).returncode == 0


@pytest.mark.parametrize("query", [" ", "!?"])
def test_a_question_without_a_word_is_refused(built, query):
    refused = lexfuse("search", built, query)
    assert refused.returncode == 2
    assert "the question is empty" in refused.stderr


def test_the_filters_of_a_profile_apply(built, tmp_path):
    profile = tmp_path / "one.toml"
    profile.write_text('version = 1\nfilters = ["number=L4"]\n\n[[channel]]\nname = "bm25"\n', "utf-8")
    found = json.loads(lexfuse("search", built, "prêt bibliothèque lecteur", "--profile", profile, "--json").stdout)["results"]
    assert [result["id"] for result in found] == ["lib-4"]


def test_add_update_delete_merge_verify(index, tmp_path):
    (tmp_path / "new.jsonl").write_text(
        '{"_id": "lib-9", "text": "Le bibliobus passe le mardi.", "metadata": {"language": "fr"}}\n'
    )
    assert json.loads(lexfuse("index", tmp_path / "new.jsonl", index, "--add", "--json").stdout)["added"] == 1
    assert found(index, "bibliobus") == ["lib-9"]
    again = lexfuse("index", tmp_path / "new.jsonl", index, "--add")
    assert again.returncode == 3
    assert "lib-9" in again.stderr
    (tmp_path / "new.jsonl").write_text('{"_id": "lib-9", "text": "Le bus passe le jeudi.", "metadata": {"language": "fr"}}\n')
    assert json.loads(lexfuse("index", tmp_path / "new.jsonl", index, "--update", "--json").stdout)["updated"] == 1
    assert found(index, "bibliobus") == []
    assert found(index, "jeudi") == ["lib-9"]
    gone = json.loads(lexfuse("index", index, "--delete", "lib-9", "--delete", "nobody", "--merge", "--json").stdout)
    assert (gone["deleted"], gone["missing"], gone["documents"]) == (1, ["nobody"], 6)
    assert lexfuse("index", index, "--verify").returncode == 0


def test_verify_names_a_damaged_file(index):
    victim = next(index.glob("segments/*/bm25/weights.npy"))
    content = bytearray(victim.read_bytes())
    content[-1] ^= 0xFF
    victim.write_bytes(content)
    done = lexfuse("index", index, "--verify")
    assert done.returncode == 3
    assert "weights.npy" in done.stdout
    assert lexfuse("index", index, "--rebuild", "--verify").returncode == 0


def test_an_index_in_the_way_is_kept_unless_forced(index):
    refused = lexfuse("index", EXAMPLES / "articles.csv", index)
    assert refused.returncode == 5
    assert found(index, "prêt")
    assert lexfuse("index", EXAMPLES / "articles.csv", index, "--force", "--fields", "title:2,text").returncode == 0
    assert lexfuse("index", EXAMPLES / "articles.csv", index, "--force", "--fields", "colour").returncode == 2


def test_run_writes_a_trec_file_that_evaluate_reads(built, tmp_path):
    out = tmp_path / "bm25.trec"
    parameters = ["--k1", "0.9", "--b", "0.4", "--depth", "5", "--name", "bm25"]
    done = lexfuse("run", built, EXAMPLES / "questions.csv", "-o", out, *parameters, "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["queries"] == 3
    values = json.loads(lexfuse("evaluate", EXAMPLES / "test.tsv", out, "-m", "R@5", "--json").stdout)
    assert values["bm25"]["R@5"] > 0
    assert lexfuse("run", built, EXAMPLES / "questions.csv", "-o", tmp_path / "again.trec", *parameters).returncode == 0
    assert (tmp_path / "again.trec").read_bytes() == out.read_bytes()


def tuned(built, *arguments):
    return lexfuse("tune", "bm25", built, EXAMPLES / "questions.csv", EXAMPLES / "test.tsv", *arguments)


def test_tune_tries_the_grid_and_saves_the_surface(built, tmp_path):
    done = tuned(built, "--k1", "0.9,1.2", "--b", "0,0.4,0.75", "-m", "RR", "-o", tmp_path / "surface.json", "--json")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert json.loads((tmp_path / "surface.json").read_text("utf-8")) == told
    assert (told["k1s"], told["b_s"]) == ([0.9, 1.2], [0.0, 0.4, 0.75])
    assert max(map(max, told["surface"])) == told["value"] == told["surface"][told["k1s"].index(told["k1"])][
        told["b_s"].index(told["b"])
    ]  # fmt: skip


def test_tune_shows_the_surface_and_warns_at_the_edge(built):
    done = tuned(built, "--k1", "1.2", "--b", "0.4,0.75", "-m", "RR")
    assert done.returncode == 0, done.stderr
    assert "k1 down, b across" in " ".join(done.stdout.split())
    assert "best: k1 1.2" in done.stdout
    assert "edge of the grid" in done.stderr


def test_tune_refuses_a_grid_that_is_none_and_parameters_out_of_range(built):
    for arguments, words in ((["--k1", "a,b"], "--k1 takes numbers"), (["--b", "0.5,2"], "b must lie between 0 and 1")):
        done = tuned(built, *arguments)
        assert done.returncode == 2
        assert words in done.stderr


def test_tune_needs_judged_queries(built, tmp_path):
    (tmp_path / "other.tsv").write_text("query-id\tcorpus-id\tscore\n", encoding="utf-8")
    done = lexfuse("tune", "bm25", built, EXAMPLES / "questions.csv", tmp_path / "other.tsv")
    assert done.returncode == 3
    assert "judgements" in done.stderr


def test_fuse_makes_one_run_of_several(tmp_path):
    runs = [EXAMPLES / "words.trec", EXAMPLES / "vectors.trec"]
    for method in ("tm2c2", "convex", "rrf", "srrf", "borda", "combmnz", "combmax"):
        done = lexfuse("fuse", *runs, "--fusion", method, "-o", tmp_path / f"{method}.trec", "--json")
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["queries"] == 3
    done = lexfuse("evaluate", EXAMPLES / "test.tsv", tmp_path / "rrf.trec", "-m", "R@5", "--json")
    assert json.loads(done.stdout)["rrf"]["R@5"] == 1.0


def test_fuse_refuses_what_cannot_be(tmp_path):
    runs = [EXAMPLES / "words.trec", EXAMPLES / "vectors.trec"]
    for arguments, words in (
        (["--fusion", "mean"], "no fusion 'mean'"),
        (["--fusion", "convex", "--weights", "0.3,0.3"], "weights must sum to 1"),
        (["--fusion", "rrf", "--eta", "-1"], "eta must be positive"),
        (["--fusion", "rrf", "--alpha", "0.3"], "the fusion rrf has no alpha"),
        (["--missing", "mean"], "'mean' is not one of"),
        (["--fusion", "convex", "--weights", "a"], "--weights takes numbers"),
    ):
        done = lexfuse("fuse", *runs, *arguments, "-o", tmp_path / "x.trec")
        assert (done.returncode, words in done.stderr) == (2, True), done.stderr
    assert not (tmp_path / "x.trec").exists()


def test_why_a_document_stands_where_it_stands_also_one_that_is_not_found(built):
    arguments = ("search", built, "retard de prêt", "-c", "bm25,tfidf", "-k", "1", "--why", "lib-4", "--why", "lib-6")
    why = json.loads(lexfuse(*arguments, "--json").stdout)["why"]
    assert [(one["doc"], one["listed"]) for one in why] == [("lib-4", True), ("lib-6", False)]
    assert why[0]["rank"] == 1
    assert set(why[0]["others"]) == {"tm2c2", "convex", "rrf", "srrf", "borda", "combmnz", "combmax"}
    shown = lexfuse(*arguments).stdout
    assert "lib-6: not among the candidates; would be rank" in shown
    assert "under each fusion with its usual parameters: tm2c2 rank 1, convex rank 1, rrf rank 1" in shown


def test_why_refuses_a_document_that_is_not_there(built):
    done = lexfuse("search", built, "prêt", "--why", "lib-99")
    assert done.returncode not in (0, 1)
    assert "lib-99" in done.stderr
    assert "Traceback" not in done.stderr


def test_search_fuses_channels_and_explains_each_share(built):
    done = lexfuse("search", built, "retard de prêt", "-c", "bm25,tfidf", "--fusion", "rrf", "--explain", "--json")
    assert done.returncode == 0, done.stderr
    first = json.loads(done.stdout)["results"][0]
    assert first["id"] == "lib-4"
    assert set(first["sources"]) == {"bm25", "tfidf"}
    assert sum(part["contribution"] for part in first["fusion"]["parts"]) == pytest.approx(first["score"], abs=1e-6)


def test_queries_that_are_documents_do_not_find_themselves(built, tmp_path):
    """A query with the id of a document; the depth counts the others."""
    asked = tmp_path / "queries.jsonl"
    asked.write_text('{"_id": "lib-4", "text": "retard de prêt"}\n{"_id": "other", "text": "retard de prêt"}\n', "utf-8")
    ranked = {}
    for option in ((), ("--exclude-self",)):
        out = tmp_path / f"run{len(option)}.trec"
        assert lexfuse("run", built, asked, "--depth", "1", "-o", out, *option).returncode == 0
        ranked[bool(option)] = [line.split()[:3:2] for line in out.read_text("utf-8").splitlines()]
    assert ranked[False] == [["lib-4", "lib-4"], ["other", "lib-4"]]
    assert ranked[True] == [["lib-4", "lib-3"], ["other", "lib-4"]]


def test_an_article_that_the_code_does_not_have_is_named(built):
    done = lexfuse("search", built, "l'article L. 99 du code des bibliothèques renvoie aux prêts")
    assert "Code des bibliothèques has no article L99" in done.stderr
    assert json.loads(lexfuse("search", built, "article L. 99 du code des bibliothèques", "--json").stdout)["notes"]
