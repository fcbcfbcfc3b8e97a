"""The page that takes a document as the question, through the application."""

import html
import re

import pytest

from lexfuse.channels.channel_kind import ChannelPlan
from lexfuse.channels.registry import fill_channel, plan_channel
from lexfuse.data.document import Document, DocumentKind
from lexfuse.storage.index_folder import IndexFolder

LEASES = [
    Document(name, title=title, text=text, language="en", kind=kind)
    for name, title, text, kind in (
        ("lease-1", "Holding over", "The tenant held over after the lease ended. Rent is owed.", DocumentKind.DECISION),
        ("lease-2", "Deposit", "The landlord kept the deposit when the lease ended.", DocumentKind.DECISION),
        ("ship-1", "Salvage", "The salvor saved the vessel and has a reward.", DocumentKind.STATUTE),
    )
]
TEXT = "The lease ended and the tenant held over.\r\nThe landlord claims rent for the lease."


@pytest.fixture
def client(site):
    return site(LEASES)


def found(answer):
    return re.findall(r'<li class="result">.*?href="/documents/([^"?]+)', answer.text, re.DOTALL)


def words(answer):
    """The words of the list: name, weight, whether it is used."""
    pattern = r'name="use" value="([^"]*)"( checked)?.*?name="weight" value="([^"]*)"'
    return {match[1]: (match[3], bool(match[2])) for match in re.finditer(pattern, answer.text, re.DOTALL)}


def alert(answer):
    match = re.search(r'role="alert".*?<p>(.*?)</p>', answer.text, re.DOTALL)
    return html.unescape(match[1]) if match else None


def lacks(answer):
    """The notes that end in the command that adds sentences."""
    pattern = r"<li>([^<]*)<code>lexfuse index INDEX --channels sentences</code>"
    return [" ".join(html.unescape(words).split()) for words in re.findall(pattern, answer.text)]


def send(client, **fields):
    """The form as a browser sends it: an empty file field comes too."""
    return client.post("/similar", data=fields, files={"file": ("", b"", "application/octet-stream")})


def test_an_empty_form(client):
    answer = client.get("/similar")
    assert answer.status_code == 200
    assert found(answer) == []
    assert 'enctype="multipart/form-data"' in answer.text


def test_a_text_that_is_pasted(client):
    answer = send(client, text=TEXT, exclude_self="1")
    assert answer.status_code == 200
    assert set(found(answer)) == {"lease-1", "lease-2"}
    assert words(answer)
    assert "The lease ended and the tenant held over.\nThe landlord" in answer.text  # it travels with the form


def test_a_file(client):
    page = b"<p>The salvor saved the vessel."
    answer = client.post("/similar", data={"text": "ignored"}, files={"file": ("judgment.html", page, "text/html")})
    assert found(answer) == ["ship-1"]
    assert "The salvor saved the vessel." in answer.text
    assert "ignored" not in answer.text


def test_the_document_of_that_file_name_is_left_out(client):
    content = {"file": ("lease-1.txt", TEXT.encode(), "text/plain")}
    assert "lease-1" not in found(client.post("/similar", data={"exclude_self": "1"}, files=content))
    assert "lease-1" in found(client.post("/similar", data={}, files=content))


def test_a_document_of_the_index(client):
    answer = client.get("/similar", params={"document": "lease-1"})
    assert "lease-1" not in found(answer)
    assert "1 left out as the document itself" in answer.text
    assert client.get("/similar", params={"document": "nowhere"}).status_code == 404


def test_words_that_are_edited(client):
    answer = send(
        client,
        text=TEXT,
        action="again",
        term=["lease", "vessel"],
        count=["2", "0"],
        weight=["2", "1"],
        use=["vessel"],
        add="deposit=3",
    )
    assert set(found(answer)) == {"ship-1", "lease-2"}
    assert words(answer) == {"vessel": ("1", True), "deposit": ("3", True), "lease": ("2", False)}


def test_words_are_picked_anew_where_the_text_is_searched_again(client):
    answer = send(client, text=TEXT, action="extract", term=["vessel"], weight=["9"], use=["vessel"])
    assert "vessel" not in words(answer)


def test_filters_and_kinds(client):
    both = ["lease", "vessel"]
    assert found(send(client, text="lease vessel", action="again", term=both, use=both, kind="statute")) == ["ship-1"]
    assert found(send(client, text="The vessel.", filter="kind=decision")) == []


@pytest.mark.parametrize(
    ("fields", "status", "words"),
    [
        ({"text": " "}, 400, "both are empty"),
        ({"text": TEXT, "action": "again", "term": "lease"}, 400, "No word is left"),
        ({"text": TEXT, "action": "again", "term": "lease", "weight": "-1", "use": "lease"}, 400, "above 0"),
        ({"text": TEXT, "action": "again", "term": "lease", "weight": "much", "use": "lease"}, 400, "above 0"),
        ({"text": TEXT, "action": "again", "add": "lease=0"}, 400, "above 0"),
        ({"text": TEXT, "action": "again", "add": "lease=nan"}, 400, "above 0"),
        ({"text": TEXT, "before": "yesterday"}, 400, "cannot be searched for"),
    ],
)
def test_errors_stand_in_the_page_and_the_text_stays(client, fields, status, words):
    answer = send(client, **fields)
    assert answer.status_code == status
    assert words in alert(answer)
    assert fields["text"].split("\r")[0] in answer.text


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("a.pdf", b"%PDF-1.4 and nothing else", "endommagé"),
        ("a.txt", b"", "ne contient pas de texte"),
        ("a.doc", b"\xd0\xcf\x11\xe0", "texte, HTML, PDF, DOCX ou ODT"),
        ("a.txt", "préavis".encode("latin-1"), "UTF-8"),
        ("../../etc/<b>.pdf", b"none", "endommagé"),
    ],
)
def test_files_that_cannot_be_read_are_told_in_the_language_of_the_reader(site, name, content, words):
    answer = site(LEASES, language="fr").post("/similar", data={}, files={"file": (name, content, "application/octet-stream")})
    assert answer.status_code == 422
    assert words in alert(answer)
    assert "<b>" not in answer.text


def test_more_than_is_allowed_is_refused(site):
    answer = site(LEASES, max_body_bytes=1000).post("/similar", data={"text": "lease " * 1000})
    assert answer.status_code == 413
    assert "<html" in answer.text


def test_a_part_is_the_part_alone(client):
    answer = client.post("/similar", data={"text": TEXT}, headers={"X-LexFuse-Part": "similar"})
    assert answer.text.lstrip().startswith('<div data-part="similar"')
    assert "<html" not in answer.text


def test_hostile_texts_stay_text(client):
    hostile = '</textarea><script>x</script> lease "onfocus=x'
    word = '"><script>y</script>'
    answer = send(client, text=hostile, action="again", term=[word], use=[word, "lease"], add="lease")
    assert "<script>x" not in answer.text
    assert "<script>y" not in answer.text


def test_an_odd_form_is_no_failure(client):
    again = {"action": "again", "text": "lease"}
    for data in ({"term": ["a", "b"]}, {"count": "9" * 99, "term": "lease", "use": "lease"}, {"add": "=,==,=1, ,"}):
        assert send(client, **again, **data).status_code < 500
    assert client.post("/similar", content=b"{}", headers={"content-type": "application/json"}).status_code < 500
    assert client.post("/similar", content=b"--x", headers={"content-type": "multipart/form-data; boundary=y"}).status_code < 500


@pytest.mark.parametrize(("language", "words"), [("en", "lacks the channel “sentences”"), ("fr", "le canal « sentences »")])
def test_a_missing_channel_is_named_before_and_after_the_search(site, language, words):
    client = site(LEASES, language=language)
    for answer in (client.get("/similar"), send(client, text=TEXT), client.get("/similar", params={"document": "lease-1"})):
        (note,) = lacks(answer)
        assert words in note
    client.cookies.clear()  # citizens read what it means, without channels and commands
    plain = client.get("/similar").text
    assert {"en": "Paragraphs of this corpus cannot be compared", "fr": "ne peuvent pas être comparés"}[language] in plain
    assert "lexfuse index" not in plain


def test_a_profile_of_words_lacks_nothing(client):
    assert lacks(client.get("/similar", params={"document": "lease-1", "profile": "bm25"})) == []


def test_a_channel_that_is_not_complete_says_how_far_it_is(site, tmp_path):
    client = site(LEASES)

    def note():
        client.app.state.service.registry.refresh()
        before, after = (lacks(client.get("/similar", params=given)) for given in ({}, {"document": "lease-1"}))
        assert before == after
        return before

    with IndexFolder(tmp_path / "law.index") as index:
        index.channels.make("sentences", plan_channel("sentences", ChannelPlan("fr-legal-dense")))
        fill_channel(index, "sentences")
        assert note() == []
        index.add([Document("lease-3", text="The lease is void.", language="en")])
        (words,) = note()
        assert words.startswith("The sentences of 3 of 4 documents can be compared so far")
        fill_channel(index, "sentences")
        assert note() == []


def test_few_pairs_of_paragraphs_are_shown_and_long_ones_are_cut(site, tmp_path):
    told = "The tenant held over after the lease ended and owes the rent of the whole month to the landlord."
    text = "\n\n".join(
        f"{number}. {told} {number} chairs were left. {'Nothing else is known of them. ' * 40}" for number in range(1, 9)
    )
    client = site([Document(name, title=name, text=text, language="en", kind=DocumentKind.DECISION) for name in ("a", "b")])
    with IndexFolder(tmp_path / "law.index") as index:
        index.channels.make("sentences", plan_channel("sentences", ChannelPlan("fr-legal-dense")))
        fill_channel(index, "sentences")
    client.app.state.service.registry.refresh()
    answer = client.get("/similar", params={"document": "a"})
    total = int(re.search(r"(\d+) pairs of matching paragraphs", answer.text)[1])
    shown = re.findall(r"<blockquote>(.*?)</blockquote>", answer.text, re.DOTALL)
    assert len(shown) == 2 * 5
    assert f"{total - 5} more pairs" in answer.text
    assert all(len(re.sub(r"<[^>]*>", "", html.unescape(one))) < 520 for one in shown)
