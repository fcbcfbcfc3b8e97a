import pytest
from starlette.requests import Request
from starlette.responses import Response

from lexfuse.web.messages import InterfaceLocale
from lexfuse.web.preferences import ReaderPreferences, Theme, accepted, own_page, preferences_of


def request(query="", cookie="", accept=""):
    headers = [(b"cookie", cookie.encode()), (b"accept-language", accept.encode())]
    return Request({"type": "http", "headers": headers, "query_string": query.encode()})


@pytest.mark.parametrize(
    ("asked", "language"),
    [
        (request("lang=fr", "lexfuse_language=en", "en"), InterfaceLocale.FRENCH),
        (request("", "lexfuse_language=fr", "en"), InterfaceLocale.FRENCH),
        (request("lang=<b>", "lexfuse_language=xx", "fr-CA"), InterfaceLocale.FRENCH),
        (request("", "", "de"), InterfaceLocale.ENGLISH),
    ],
)
def test_the_parameter_comes_before_the_cookie_and_that_before_the_browser(asked, language):
    assert preferences_of(asked).language is language


@pytest.mark.parametrize("header", ["fr;q=nan, en;q=0.5", "fr;q=x, en", ";;;,en", "en" * 5000])
def test_bad_headers_do_no_harm(header):
    assert accepted(header) is InterfaceLocale.ENGLISH


def test_nothing_liked_is_the_usual_language():
    assert accepted("de, it", InterfaceLocale.FRENCH) is InterfaceLocale.FRENCH


def test_the_theme_is_one_of_three():
    assert preferences_of(request(cookie="lexfuse_theme=dark")).theme is Theme.DARK
    assert preferences_of(request(cookie='lexfuse_theme="><script>')).theme is Theme.SYSTEM
    assert {theme.following for theme in Theme} == set(Theme)


def test_only_a_language_that_was_asked_for_is_kept():
    for preferences, kept in (
        (ReaderPreferences(InterfaceLocale.FRENCH), False),
        (ReaderPreferences(InterfaceLocale.FRENCH, asked=True), True),
    ):
        response = Response()
        preferences.keep(response)
        assert ("set-cookie" in response.headers) is kept


@pytest.mark.parametrize(
    "address", ["//evil.example", "https://evil.example", "/\\evil.example", "", "/\r\nSet-Cookie: a", "/" + "a" * 9000]
)
def test_one_goes_back_to_pages_of_this_site_only(address):
    assert own_page(address) == "/"
