"""A whole document as the question in a real browser: dropped, chosen or pasted, its words edited, its paragraphs aligned."""

import re

import pytest
from playwright.sync_api import expect

DROP = """([name, kind, bytes]) => {
  const given = new DataTransfer();
  given.items.add(new File([new Uint8Array(bytes)], name, { type: kind }));
  const happens = (event) => new DragEvent(event, { bubbles: true, cancelable: true, dataTransfer: given });
  const place = document.querySelector("footer");
  place.dispatchEvent(happens("dragenter"));
  place.dispatchEvent(happens("dragover"));
  window.shown = !document.querySelector("[data-drop]").hidden;
  place.dispatchEvent(happens("drop"));
}"""


def pdf(*lines):
    """A PDF of one page, with these lines as its text; without lines it is what a blank scan is."""
    shown = "".join(f"({line}) Tj 0 -16 Td " for line in lines)
    content = f"BT /F1 12 Tf 50 750 Td {shown}ET" if lines else "0 0 612 792 re f"
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>",
        f"<< /Length {len(content)} >>\nstream\n{content}\nendstream",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    out, places = "%PDF-1.4\n", []
    for number, each in enumerate(objects, start=1):
        places.append(len(out))
        out += f"{number} 0 obj\n{each}\nendobj\n"
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    end = f"xref\n0 6\n0000000000 65535 f \n{table}trailer\n<< /Size 6 /Root 1 0 R >>\nstartxref\n{len(out)}\n%%EOF\n"
    return (out + end).encode("latin-1")


def drop(page, name, kind, content):
    page.evaluate(DROP, [name, kind, list(content)])
    assert page.evaluate("window.shown")


def results(page):
    return page.locator(".likenesses .result")


def words(page):
    return [each.inner_text() for each in page.locator(".terms label span").all()]


@pytest.fixture
def found(visit, collection):
    """The page after the judgment was dropped on it."""
    page = visit("/similar")
    drop(page, "judgment.txt", "text/plain", collection.JUDGMENT.encode())
    expect(results(page).first).to_be_visible()
    return page


def test_a_file_dropped_anywhere_is_searched_with(found):
    expect(results(found).filter(has_text="Vice du consentement et rupture conventionnelle")).to_have_count(1)
    expect(found.locator("[data-drop]")).to_be_hidden()
    expect(found.locator("#found-title")).to_be_focused()
    assert "convention" in words(found)
    found.locator(".entry > summary").click()
    expect(found.locator("textarea[name=text]")).to_have_value(re.compile("La salariée a signé une convention de rupture"))


def test_paragraphs_are_aligned(found):
    pairs = results(found).first.locator(".aligned")
    expect(pairs.locator("blockquote").first).to_be_hidden()
    pairs.locator("summary").click()
    expect(pairs.locator("blockquote").first).to_be_visible()
    texts = pairs.locator("li").first.locator("blockquote").all_inner_texts()
    labels = pairs.locator("li").first.locator(".label").all_inner_texts()
    assert len(texts) == 2
    assert labels[0].startswith("Your text, paragraph ")
    assert labels[1].startswith("This document, paragraph ")


def test_words_are_dropped_weighed_and_added(found):
    before, first = words(found), results(found).first.get_by_role("heading").inner_text()
    for box in found.locator(".terms input[type=checkbox]").all():
        box.uncheck()
    found.get_by_role("checkbox", name=re.compile(f"^{re.escape(before[1])}")).check()
    found.get_by_label(f"Weight of {before[1]}", exact=True).fill("3")
    found.get_by_label("Add words").fill("loyer=5, bail")
    with found.expect_response("**/similar"):
        found.get_by_role("button", name="Search again with these words").click()
    expect(found.locator(".likenesses")).to_contain_text("Obligations du locataire")
    after = words(found)
    assert set(after) == {*before, "loyer", "bail"}
    assert after[3:] == [before[0], *before[2:]]  # put aside, and still there to be taken up
    expect(found.get_by_role("checkbox", name=re.compile(f"^{re.escape(before[0])}"))).not_to_be_checked()
    expect(found.get_by_label(f"Weight of {before[1]}", exact=True)).to_have_value("3")
    expect(found.get_by_label("Weight of loyer")).to_have_value("5")
    with found.expect_response("**/similar"):
        found.get_by_role("button", name="Pick the words again").click()
    expect(found.locator(".terms label span")).to_have_count(len(before))
    expect(results(found).first.get_by_role("heading")).to_have_text(first)
    assert words(found) == before


def test_no_word_left_is_told(visit):
    found = visit("/similar?document=lyon-2021-vice", expected=["400"])
    for box in found.locator(".terms input[type=checkbox]").all():
        box.uncheck()
    found.get_by_role("button", name="Search again with these words").click()
    expect(found.get_by_role("alert")).to_contain_text("No word is left")


@pytest.mark.parametrize(
    ("name", "kind", "content"),
    [
        ("judgment.html", "text/html", "<h1>Arrêt</h1><p>Le loyer du bail est dû par le locataire au bailleur.</p>".encode()),
        ("judgment.pdf", "application/pdf", pdf("Le loyer du bail est dû par le locataire.", "Le bailleur demande son bien.")),
    ],
)  # fmt: skip
def test_html_and_pdf(visit, name, kind, content):
    page = visit("/similar")
    page.locator("input[type=file]").set_input_files({"name": name, "mimeType": kind, "buffer": content})
    expect(results(page).first).to_contain_text(re.compile("loyer|bail", re.IGNORECASE))


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("scan.pdf", pdf(), "OCR"),
        ("empty.txt", b" ", "no text"),
        ("broken.pdf", b"%PDF-1.4 and nothing else", "damaged"),
        ("letter.docx", b"PK\x03\x04 and so on", "damaged"),
        ("odd.txt", b"\x00\x01\x02 and so on", "cannot be read"),
        ("latin.txt", "préavis".encode("latin-1"), "UTF-8"),
    ],
)
def test_files_that_cannot_be_read_are_told_in_place(visit, name, content, words):
    page = visit("/similar", expected=["422"])
    drop(page, name, "application/octet-stream", content)
    expect(page.get_by_role("alert")).to_contain_text(words)
    expect(page.get_by_role("alert")).to_be_focused()
    expect(page.locator("textarea[name=text]")).to_be_visible()


def test_a_file_that_is_too_large_is_not_sent(visit):
    page = visit("/similar")
    sent = []
    page.on("request", lambda request: sent.append(request.url))
    page.locator("form[data-similar]").evaluate("form => form.dataset.limit = 10")
    drop(page, "long.txt", "text/plain", b"more than ten bytes")
    expect(page.locator("[data-status]")).to_contain_text("too large")
    assert [url for url in sent if url.endswith("/similar")] == []


def test_a_service_that_does_not_answer_is_told(visit, collection):
    page = visit("/similar", expected=["net::ERR", "Failed to load"])
    page.route("**/similar", lambda route: route.abort())
    page.locator("textarea[name=text]").fill(collection.JUDGMENT)
    page.get_by_role("button", name="Find similar documents").click()
    expect(page.locator("[data-status]")).to_contain_text("did not answer")
    expect(page.locator("textarea[name=text]")).to_have_value(collection.JUDGMENT)


def test_it_shows_that_it_works(visit, collection):
    page = visit("/similar")
    held = []
    page.route("**/similar", lambda route: held.append(route))
    page.locator("textarea[name=text]").fill(collection.JUDGMENT)
    with page.expect_request("**/similar"):
        page.get_by_role("button", name="Find similar documents").click()
    expect(page.locator("[data-part=similar]")).to_have_attribute("aria-busy", "true")
    expect(page.locator("progress")).to_be_visible()
    expect(page.locator("[data-status]")).to_contain_text("Reading and searching")
    held[0].continue_()
    expect(results(page).first).to_be_visible()
    expect(page.locator("progress")).to_be_hidden()


def test_a_document_of_the_index(visit):
    page = visit("/documents/lyon-2021-vice")
    page.get_by_role("link", name="Similar to this").click()
    expect(page.locator(".given")).to_contain_text("Vice du consentement et rupture conventionnelle")
    expect(page.locator(".likenesses")).to_contain_text("1 left out as the document itself")
    assert "Vice du consentement et rupture conventionnelle" not in " ".join(results(page).all_inner_texts())
    page.get_by_label("Only documents older than it").check()
    page.get_by_label("Only this kind").select_option("decision")
    with page.expect_response("**/similar"):
        page.get_by_role("button", name="Find similar documents").first.click()
    expect(page.locator(".notes")).to_contain_text("later")
    years = [int(re.search(r"20\d\d", each)[0]) for each in results(page).locator(".path").all_inner_texts()]
    assert years
    assert max(years) <= 2021


def test_earlier_documents_and_hidden_citations(visit, collection):
    page = visit("/similar")
    page.locator("textarea[name=text]").fill(collection.JUDGMENT)
    page.get_by_label("Only documents dated before").fill("2015-01-01")
    page.get_by_label("Hide citations of decisions in the text").check()
    with page.expect_response("**/similar"):
        page.get_by_role("button", name="Find similar documents").click()
    expect(results(page).first).to_be_visible()
    years = [int(re.search(r"(19|20)\d\d", each)[0]) for each in results(page).locator(".path").all_inner_texts() if "20" in each]
    assert years
    assert max(years) < 2015
    expect(page.get_by_label("Only documents dated before")).to_have_value("2015-01-01")


def test_words_come_back_as_they_were(found):
    """Searching again with the same words is the same search, and its address finds it too."""

    def chosen():
        return [each.get_attribute("value") for each in found.locator(".terms input:checked").all()]

    before, shown = chosen(), results(found).locator(".title").all_inner_texts()
    found.get_by_role("button", name="Search again with these words").click()
    expect(found.get_by_text("Your own choice of words")).to_be_visible()
    assert chosen() == before
    assert results(found).locator(".title").all_inner_texts() == shown
    with found.expect_download() as started:
        found.locator(".likenesses button[value=export-csv]").click()
    assert started.value.path().read_text("utf-8-sig").startswith("rank,id,title")
    results(found).first.locator(".because summary").click()
    expect(results(found).first.locator(".because")).to_contain_text("bm25")
    assert results(found).first.locator(".pairs mark").count() > 0
    found.get_by_role("link", name="Address to share").click()
    expect(found).to_have_url(re.compile("/similar.text="))
    expect(results(found).first).to_be_visible()


def test_another_corpus_and_what_it_lacks(visit):
    page = visit("/similar?document=soc-2019-exemplaire", expert=False)
    expect(page.locator(".cited")).to_contain_text("Principe de la rupture conventionnelle")
    page.get_by_label("Search in").select_option("lending")
    page.get_by_role("button", name="Find similar documents").click()
    expect(page.locator(".likenesses")).to_contain_text("Paragraphs of this corpus cannot be compared")
    page.set_viewport_size({"width": 390, "height": 844})  # a phone folds the options, so that results come first
    expect(page.get_by_label("Search in")).to_be_hidden()
    expect(page.locator("#found-title")).to_be_in_viewport()
    page.locator(".refine > summary").click()
    expect(page.get_by_label("Search in")).to_be_visible()
