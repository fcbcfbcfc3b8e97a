"""Pages and files are compressed for browsers that accept it, and are the same text for those that do not."""

import pytest

from lexfuse import Document
from lexfuse.web.compression import accepts_gzip
from lexfuse.web.static_files import static_files


@pytest.fixture
def client(site):
    return site([Document("a", text="Le prêt est gratuit.", language="fr")])


@pytest.mark.parametrize("path", ["/?q=pr%C3%AAt", "/help", static_files().url("style.css")])
def test_a_page_is_smaller_and_the_same(client, path):
    plain = client.get(path, headers={"accept-encoding": "identity"})
    small = client.get(path, headers={"accept-encoding": "gzip, br"})
    assert "content-encoding" not in plain.headers
    assert small.headers["content-encoding"] == "gzip"
    assert "Accept-Encoding" in plain.headers["vary"]
    assert "Accept-Encoding" in small.headers["vary"]
    assert int(small.headers["content-length"]) < int(plain.headers["content-length"]) / 2
    if path.startswith("/static"):
        assert small.text == plain.text


@pytest.mark.parametrize("path", ["/suggest?q=zz", static_files().url("icon.svg"), "/v1/search?q=pr%C3%AAt"])
def test_what_is_short_or_for_programs_is_sent_as_it_is(client, path):
    assert "content-encoding" not in client.get(path, headers={"accept-encoding": "gzip"}).headers


def test_weights_of_encodings():
    assert accepts_gzip("GZIP;q=0.5")
    assert not accepts_gzip("identity")
    assert not accepts_gzip("gzip; q=0, br")
