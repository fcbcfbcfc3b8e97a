"""Hostile strings in every parameter of every address, of the API and of the page.

Nothing fails, nothing is rendered as markup, no header comes from what was sent, and nothing outside the index is read.
"""

import asyncio
import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from urllib.parse import quote_from_bytes

import pytest
from selectolax.lexbor import LexborHTMLParser

from lexfuse.data.document import Document, DocumentKind, DocumentStatus
from lexfuse.service.api_keys import KeyScope, add_key
from lexfuse.service.app import create_app
from lexfuse.service.context import ServiceContext
from lexfuse.service.problems import without_paths
from lexfuse.service.registry import IndexPlace, IndexRegistry
from lexfuse.service.settings import ServiceSettings
from lexfuse.storage.index_folder import IndexFolder
from lexfuse.web.routes import ROUTERS, add_pages
from lexfuse.web.static_files import static_files

POLICY = "default-src 'none'; script-src 'self'"
MARK = "zqx7"  # stands in hostile strings and nowhere else
SECRET = "kept-outside-of-the-index"  # noqa: S105 - the content of a file that nobody may read
PRODUCT = str(1337 * 7919)
MARKUP = (
    f"<{MARK} {MARK}=1>\"><{MARK}>'><{MARK} on{MARK}=1>--></title></textarea></script></style></option></svg><{MARK}>"
    f"<script>{MARK}</script><img src={MARK} onerror={MARK}>\" {MARK}=1 on{MARK}=1 x=\"' {MARK}=1 style={MARK} x='`{MARK}=1"
)
HOSTILE = {
    "markup": MARKUP.encode(),
    "script address": f"javascript:alert('{MARK}')//".encode(),
    "control characters": bytes(range(1, 32)) + b"\x7f" + "\u0080\u0085\u009f\u2028\u2029\ufeff\ufffe".encode() + MARK.encode(),
    "nul": b"a\x00b" + MARK.encode(),
    "lone surrogate": b"\xed\xa0\x80" + MARK.encode(),
    "no UTF-8": b"\xff\xfe\xc3(" + MARK.encode(),
    "SQL": f"' OR 1=1; DROP TABLE documents; -- \" {MARK}".encode(),
    "query language": f'"{MARK}" NEAR/2 * : ^ (a OR ) {{x}} AND NOT a* -b field:'.encode(),
    "CRLF": f"x\r\nSet-Cookie: {MARK}=1\r\nX-{MARK}: 1\r\n\r\n<{MARK}>".encode(),
    "template": f"{MARK}{{{{1337*7919}}}}${{1337*7919}}<%= 1337*7919 %>#{{1337*7919}}{{% include 'base.html' %}}".encode(),
    "format": f"%s%n%999999999d{{0.__class__}}{{x:>999999999}}{MARK}".encode(),
    "right to left": f"\u202e\u2066{MARK}\u2069\u200f\u200b\u0301".encode(),
    "huge integer": b"1" * 5000,
    "numbers": b"-1e309",
    "other digits": "١٢".encode(),
    "many digits in a citation": b"article L. " + b"1" * 5000 + b"-" + b"2" * 5000 + b" du code civil",
    "elsewhere": b"//elsewhere.example/%2f..",
    "backtracking": b"(a+)+$" + b"a" * 5000 + b"!" + b"\n" * 5000,
    "empty": b"",
}
TRAVERSALS = (
    "../secret.txt",
    "../../secret",
    "..\\secret.txt",
    "{root}/secret.txt",
    "file://{root}/secret.toml",
    "....//secret.txt",
)
LONG = (b"a" * 1_000_000, b"<b>&'\x00\r\n\xc3\xa9" * 20_000)


@dataclass(frozen=True)
class Ask:
    """A request that is fine; each of its values is replaced in turn."""

    method: str
    path: str  # {name} stands for a value of `parts`
    parts: dict[str, bytes] = field(default_factory=dict)
    query: dict[str, bytes] = field(default_factory=dict)
    form: dict[str, bytes] | None = None  # sent as multipart/form-data; `file` is a file
    body: dict[str, object] | None = None  # sent as JSON


SEARCH = {"q": b"loyer", "index": b"law", "profile": b"bm25", "filter": b"kind=statute", "as_of": b"2024-01-01"}
ASKED = {"query": b"loyer", "index": b"law", "filters": b"kind=statute", "as_of": b"2024-01-01", "language": b"fr"}
API = [
    Ask("GET", "/v1/search", query=ASKED | {"profile": b"bm25", "k": b"3", "cursor": b"", "sort": b"newest", "facets": b"true",
                                            "operators": b"false", "spelling": b"auto", "everyday": b"true"}),
    Ask("POST", "/v1/search", body={"query": "loyer", "index": "law", "profile": "bm25", "k": 3, "cursor": "", "as_of": None,
                                    "filters": ["kind=statute"], "language": "fr", "sort": "oldest", "facets": True,
                                    "operators": True, "spelling": "apply", "everyday": False}),
    Ask("POST", "/v1/similar", body={"text": "le loyer du bail", "document": "", "index": "law", "profile": "", "k": 3,
                                     "amount": 1.0, "weight": "kli", "terms": ["loyer=2"], "added": ["bail"],
                                     "dropped": ["le"], "mask": True,
                                     "before": "2024-01-01", "filters": [], "as_of": None, "language": "fr"}),
    Ask("POST", "/v1/similar", form={"file": b"le loyer du bail", "k": b"3", "terms": b"loyer", "added": b"bail"}),
    Ask("GET", "/v1/explain/{document}", {"document": b"a1"},
        ASKED | {"profile": b"bm25", "operators": b"true", "spelling": b"off", "everyday": b"true"}),
    Ask("GET", "/v1/compare", query=ASKED | {"k": b"3", "profiles": b"bm25", "operators": b"true", "spelling": b"off",
                                             "everyday": b"true"}),
    Ask("GET", "/v1/cite", query={"text": b"article L. 1", "index": b"law", "code": b"Code civil", "as_of": b"2024-01-01"}),
    Ask("POST", "/v1/cite", body={"text": "article L. 1", "index": "law", "code": "Code civil"}),
    Ask("GET", "/v1/documents/{document}", {"document": b"a1"}, {"index": b"law", "as_of": b"2024-01-01"}),
    Ask("GET", "/v1/history/{document}", {"document": b"a1"}, {"index": b"law"}),
    Ask("GET", "/v1/diff/{document}", {"document": b"a1"}, {"index": b"law", "before": b"2020-01-01", "after": b"2024-01-01"}),
    Ask("PUT", "/v1/documents/{document}", {"document": b"new"}, {"index": b"law"},
        body={"title": "T", "text": "le loyer", "language": "fr", "kind": "other", "code": "C", "number": "1", "headings": ["H"],
              "court": "C", "date": "2024-01-01", "valid_from": None, "status": "", "identifiers": ["I"], "citations": ["a1"],
              "extra": {"a": "b"}}),
    Ask("DELETE", "/v1/documents/{document}", {"document": b"nowhere"}, {"index": b"law"}),
    Ask("GET", "/v1/changes/{change}", {"change": b"unknown"}),
    Ask("POST", "/v1/feedback", body={"query": "loyer", "document": "a1", "grade": 1, "rank": 1, "profile": "bm25",
                                      "index": "law", "judge": "Anna"}),
    Ask("GET", "/v1/feedback", query={"index": b"law", "format": b"qrels", "judge": b""}),
    Ask("GET", "/v1/feedback/summary", query={"index": b"law"}),
    Ask("GET", "/v1/profiles"),
    Ask("GET", "/v1/suggest", query={"query": b"loy", "index": b"law", "k": b"3"}),
    Ask("GET", "/v1/contents", query={"index": b"law", "path": b"Code civil", "whole": b"true"}),
    Ask("POST", "/v1/search", body={"query": "loyer", "spec": {"channel": [{"name": "bm25", "k1": 0.9}], "depth": 100}}),
]  # fmt: skip
PAGES = [
    Ask("GET", "/", query=SEARCH | {"sort": b"newest", "cursor": b"", "lang": b"fr"}),
    Ask("GET", "/documents/{name}", {"name": b"a1"}, {"index": b"law", "lang": b"fr"}),
    Ask("GET", "/why/{name}", {"name": b"a1"}, SEARCH),
    Ask("GET", "/why", query=SEARCH | {"cite": b"article L. 1 du code civil"}),
    Ask("GET", "/compare", query=SEARCH),
    Ask("GET", "/similar", query={"document": b"a1", "index": b"law", "filter": b"kind=statute"}),
    Ask("POST", "/similar", form={"text": b"le loyer du bail", "index": b"law", "profile": b"", "kind": b"statute", "mask": b"1",
                                  "exclude_self": b"1", "before": b"2024-01-01", "before_own": b"1", "filter": b"kind=statute",
                                  "action": b"again", "term": b"loyer", "count": b"1", "weight": b"2", "use": b"loyer",
                                  "add": b"bail=2"}),
    Ask("POST", "/similar", form={"file": b"le loyer du bail", "document": b"", "index": b"law"}),
    Ask("GET", "/experiments"),
    Ask("GET", "/experiments/{name}", {"name": b"first"}),
    Ask("GET", "/export", query=SEARCH | {"format": b"csv", "k": b"5", "sort": b"", "language": b"fr"}),
    Ask("GET", "/help", query={"lang": b"en"}),
    Ask("POST", "/judge", form={"q": b"loyer", "document": b"a1", "grade": b"1", "rank": b"1", "profile": b"bm25",
                                "index": b"law", "next": b"/?q=loyer"}),
    Ask("GET", "/judgements", query={"format": b"qrels", "index": b"law", "judge": b""}),
    Ask("GET", "/judging", query={"index": b"law", "lang": b"fr"}),
    Ask("POST", "/judging/name", form={"judge": b"Anna", "next": b"/judging"}),
    Ask("POST", "/judging/advise", form={"index": b"law"}),
    Ask("GET", "/preferences", query={"theme": b"dark", "next": b"/?q=loyer"}),
    Ask("GET", "/static/{version}/{name}", {"version": static_files().version.encode(), "name": b"style.css"}),
    Ask("GET", "/docs"),
    Ask("GET", "/browse", query={"index": b"law", "path": b"", "whole": b"1"}),
    Ask("GET", "/changes/{name}", {"name": b"a1"}, {"index": b"law", "before": b"2020-01-01", "after": b"2024-01-01"}),
    Ask("GET", "/suggest", query={"q": b"loy", "index": b"law"}),
    Ask("GET", "/kept"),
    Ask("GET", "/feed", query=SEARCH),
]  # fmt: skip
OWN_KINDS = ("text/css", "text/javascript", "image/svg+xml", "application/atom+xml")  # that a browser shows, besides HTML
HEADERS = {
    "accept-language": b"fr", "cookie": b"lexfuse_theme=dark; lexfuse_judge=Zo%C3%A9", "x-lexfuse-part": b"results",
    "host": b"law.example", "referer": b"http://law.example/", "origin": b"", "x-request-id": b"abc", "x-api-key": b"",
    "if-match": b"*", "if-none-match": b'"a"', "range": b"bytes=0-1", "content-type": b"text/html", "content-length": b"5",
    "x-forwarded-for": b"::1", "forwarded": b"for=1", "user-agent": b"x", "accept": b"text/html", "accept-encoding": b"gzip",
}  # fmt: skip


@dataclass(frozen=True)
class Answer:
    """What came back, and what had been sent."""

    status: int
    headers: list[tuple[str, str]]
    body: bytes
    sent: str

    def header(self, name):
        return next((value for key, value in self.headers if key == name), "")

    @property
    def text(self):
        return self.body.decode("utf-8", "replace")


class Site:
    """The application with its pages, asked without a client in between, which would mend what is sent."""

    def __init__(self, app, key, root, runner):
        self.app, self.key, self.root, self.runner = app, key, root, runner

    def ask(self, method, path, query=b"", headers=None, body=b""):
        """Send one request as it is."""
        asked = {
            "host": b"law.example",
            "accept": b"text/html",
            "authorization": f"Bearer {self.key}".encode(),
            **(headers or {}),
        }
        scope = {
            "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": method, "scheme": "http",
            "path": path.decode("utf-8", "replace"), "raw_path": quote_from_bytes(path).encode(), "root_path": "",
            "query_string": query, "headers": [(name.encode(), value) for name, value in asked.items()],
            "client": ("192.0.2.1", 1), "server": ("law.example", 80), "state": {},
        }  # fmt: skip
        return self.runner.run(self._answer(scope, body))

    async def _answer(self, scope, body):
        messages, given = [], iter([{"type": "http.request", "body": body, "more_body": False}])

        async def receive():
            return next(given, {"type": "http.disconnect"})

        async def send(message):
            messages.append(message)

        await self.app(scope, receive, send)
        start = messages[0]
        headers = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in start["headers"]]
        content = b"".join(message.get("body", b"") for message in messages[1:])
        sent = f"{scope['method']} {scope['path'][:200]!r} ? {scope['query_string'][:300]!r} {body[:300]!r}"
        return Answer(start["status"], headers, content, sent)

    def send(self, ask, headers=None, repeated=1):
        """Send a request of the table."""
        path = ask.path.encode()
        for name, value in ask.parts.items():
            path = path.replace(f"{{{name}}}".encode(), value)
        query = b"&".join(
            f"{name}={quote_from_bytes(value)}".encode() for name, value in ask.query.items() for _ in range(repeated)
        )
        body, more = b"", {}
        if ask.form is not None:
            body, more = form_of(ask.form, repeated), {"content-type": b"multipart/form-data; boundary=border"}
        elif ask.body is not None:
            body, more = json.dumps(ask.body).encode(), {"content-type": b"application/json"}
        return self.ask(ask.method, path, query, {**more, **(headers or {})}, body)


def form_of(values, repeated=1):
    parts = []
    for name, value in values.items():
        filename = b'; filename="a.txt"' if name == "file" else b""
        part = (
            b'--border\r\nContent-Disposition: form-data; name="'
            + name.encode()
            + b'"'
            + filename
            + b"\r\n\r\n"
            + value
            + b"\r\n"
        )
        parts += [part] * (1 if name == "file" else repeated)
    return b"".join(parts) + b"--border--\r\n"


def changed(ask: Ask, value: bytes) -> Iterator[Ask]:
    """The request with each of its values replaced, one at a time."""
    for place in ("parts", "query", "form"):
        for name in getattr(ask, place) or {}:
            yield replace(ask, **{place: getattr(ask, place) | {name: value}})
    text = value.decode("utf-8", "surrogatepass" if value.startswith(b"\xed") else "replace")
    for name, before in (ask.body or {}).items():
        after = [text] if isinstance(before, list) else {text: text} if isinstance(before, dict) else text
        yield replace(ask, body=ask.body | {name: after})
    if ask.body:
        yield replace(ask, body=ask.body | {text: 1})


def check(answer: Answer) -> None:
    """No failure, nothing rendered, no header from what was sent, nothing read from elsewhere."""
    assert answer.status < 500, answer.sent
    assert SECRET not in answer.text, answer.sent
    assert "root:" not in answer.text, answer.sent
    assert PRODUCT not in answer.text, answer.sent
    assert len(answer.body) < 30_000_000, answer.sent
    assert answer.header("x-content-type-options") == "nosniff", answer.sent
    for name, value in answer.headers:
        assert MARK not in name, answer.sent
        assert value.isprintable(), (answer.sent, name, value)
        assert MARK not in value or name == "location", (answer.sent, name, value)
    location = answer.header("location")
    assert location[:1] in ("", "/"), (answer.sent, location)
    assert location[1:2] not in ("/", "\\"), (answer.sent, location)
    kind = answer.header("content-type").partition(";")[0]
    if kind == "text/html":
        check_markup(answer)
    elif kind.endswith("json"):
        json.loads(answer.body)
    elif answer.status < 300:
        assert answer.header("content-disposition") or kind in OWN_KINDS, answer.sent


def check_markup(answer: Answer) -> None:
    policy = answer.header("content-security-policy")
    assert "default-src 'none'" in policy, answer.sent
    assert "unsafe" not in policy, answer.sent
    for node in LexborHTMLParser(answer.text).root.traverse(include_text=False):
        assert MARK not in node.tag, (answer.sent, node.html)
        if node.tag == "script":
            assert node.attributes.get("src", "").startswith("/static/"), (answer.sent, node.html)
            assert not node.text().strip(), (answer.sent, node.html)
        for name, value in node.attributes.items():
            assert MARK not in name, (answer.sent, node.html)
            assert not name.startswith(("on", "style")), (answer.sent, node.html)
            if name in ("href", "src", "action", "formaction"):
                assert (value or "").startswith(("/", "#", "?", "./", "http://", "https://", "data:image/")), (
                    answer.sent,
                    node.html,
                )
                assert not (value or "").startswith("//"), (answer.sent, node.html)


ARTICLES = [
    Document(
        f"a{n}", title=f"Code civil, article L{n}", text=f"Le loyer du bail {n}. Voir l'article L. {n + 1}.", language="fr",
        kind=DocumentKind.STATUTE, code="Code civil", number=f"L{n}", headings=("Livre Ier",), status=DocumentStatus.IN_FORCE,
    )
    for n in range(1, 6)
]  # fmt: skip


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    root = tmp_path_factory.mktemp("hostile")
    (root / "secret.txt").write_text(SECRET, "utf-8")
    (root / "secret.toml").write_text(f'name = "{SECRET}"', "utf-8")
    IndexFolder.create(root / "law.index", documents=ARTICLES).close()
    key = add_key(root / "keys.toml", "tester", KeyScope.WRITE)
    settings = ServiceSettings(keys=root / "keys.toml", requests_per_minute=0, reload_seconds=0.0, timeout_seconds=600.0)
    service = ServiceContext(IndexRegistry.open([IndexPlace.of(root / "law.index")]), settings)
    app = create_app(service)
    add_pages(app)
    app.state.ready = True
    with asyncio.Runner() as runner:  # one loop for all, as in the service
        yield Site(app, key, root, runner)
    service.close()


def identity(ask):
    return f"{ask.method} {ask.path} {'form' if ask.form else ''}".strip()


def test_every_address_of_the_page_is_in_the_table():
    there = {
        (method, route.path.replace(":path", "")) for router in ROUTERS for route in router.routes for method in route.methods
    }
    assert there - {("HEAD", path) for _, path in there} == {(ask.method, ask.path) for ask in PAGES}


def test_every_parameter_of_the_api_is_in_the_table(site):
    document = site.app.openapi()
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            if not path.startswith("/v1/"):
                continue
            own = [ask for ask in API if (ask.method.lower(), ask.path.partition("{")[0]) == (method, path.partition("{")[0])]
            tried = {name for ask in own for name in ask.query}
            named = {one["name"] for one in operation.get("parameters", ()) if one["in"] == "query"}
            assert named <= tried, (method, path)
            assert own, (method, path)


@pytest.mark.parametrize("ask", [*API, *PAGES], ids=identity)
def test_what_is_fine_is_answered(site, ask):
    answer = site.send(ask)
    missing = ask.method == "DELETE" or ask.path in ("/experiments/{name}", "/v1/compare", "/v1/changes/{change}")
    refused = ask.path == "/judging/advise"  # too little is judged
    assert answer.status in ((404, 422) if missing else (400,) if refused else (200, 201, 303)), answer.text[:500]
    check(answer)


def test_what_was_asked_is_shown_as_it_was_asked(site):
    page = site.send(Ask("GET", "/", query={"q": MARKUP.encode()}))
    assert page.status == 200
    assert LexborHTMLParser(page.text).css_first("input[name=q]").attributes["value"] == MARKUP
    assert MARK in site.send(Ask("GET", "/documents/{name}", {"name": MARKUP.encode()})).text  # also where it is not found


@pytest.mark.parametrize(
    ("markup", "policy"),
    [
        (f"<p><{MARK}>", POLICY), (f"<p {MARK}=1>", POLICY), ("<p onclick=x>", POLICY), ("<p style='color: red'>", POLICY),
        ("<script>x</script>", POLICY), ("<script src=//x></script>", POLICY), ("<a href='javascript:x'>", POLICY),
        ("<form action=//x>", POLICY), ("<p>", "default-src 'none'; style-src 'unsafe-inline'"), ("<p>", ""),
    ],
)  # fmt: skip
def test_the_check_of_markup_can_fail(markup, policy):
    with pytest.raises(AssertionError):
        check_markup(Answer(200, [("content-security-policy", policy)], markup.encode(), ""))
    check_markup(Answer(200, [("content-security-policy", POLICY)], b'<p class="a"><a href="/">a</a>', ""))


@pytest.mark.parametrize("ask", [*API, *PAGES], ids=identity)
def test_hostile_values(site, ask):
    for value in HOSTILE.values():
        for one in changed(ask, value):
            check(site.send(one))


@pytest.mark.parametrize("ask", [*API, *PAGES], ids=identity)
def test_a_million_characters(site, ask):
    for value in LONG:
        for one in changed(ask, value):
            check(site.send(one))


class Watch:
    """Files that are opened outside of the index and of the programs that run the tests, while it is on."""

    def __init__(self, root):
        self.on, self.found = False, []
        index, keys, source = root / "law.index", root / "keys.toml", Path(__file__).parents[2] / "src"
        devices = ("/dev/fd", "/dev/null", "/dev/random", "/dev/urandom")  # not /dev/shm, where folders of tests may be
        self.own = (*map(str, (index, keys, source, sys.prefix, sys.base_prefix)), *devices, "/proc/", "/usr/", "/sys/")
        sys.addaudithook(self)  # cannot be taken away, but switched off

    def __call__(self, event, arguments):
        if not self.on or event not in ("open", "sqlite3.connect", "os.listdir", "os.scandir"):
            return
        path = arguments[0].decode("utf-8", "replace") if isinstance(arguments[0], bytes) else arguments[0]
        if not isinstance(path, str) or not (path.startswith("/") or "secret" in path or ".." in path):
            return  # a number, or a name below a folder that is open
        if not str(Path(path.removeprefix("file:")).resolve()).startswith(self.own):
            self.found.append((event, path))


@pytest.fixture(scope="module")
def watch(site):
    without_paths("/once")  # the first message that may name a path lists the root of the file system, to know its folders
    return Watch(site.root)


@pytest.fixture
def opened(watch):
    """What was opened outside, while a test runs."""
    watch.found, watch.on = [], True
    yield watch.found
    watch.on = False


@pytest.mark.parametrize("ask", [*API, *PAGES], ids=identity)
def test_nothing_outside_the_index_is_read(site, ask, opened):
    for pattern in TRAVERSALS:
        for one in changed(ask, pattern.format(root=site.root).encode()):
            check(site.send(one))
    assert opened == []


def test_the_watch_over_files_can_find_something(site, opened):
    (site.root / "secret.txt").read_text("utf-8")
    assert opened == [("open", str(site.root / "secret.txt"))]


@pytest.mark.parametrize("ask", [*API, *PAGES], ids=identity)
def test_repeated_values(site, ask):
    for times in (2, 300):
        check(site.send(ask, repeated=times))


ADDRESSES = (
    b"http://[", b"[", b"[::1", b"//[", b"http://[v1.]", b"http://a:b:c", b"http://\xe2\x84\x80", b"a@b", b"[]:1", b"::1%eth0",
    b"law.example:" + b"9" * 5000, b"nan", b"fr;q=nan", b"fr;q=1e999", b'W/"a", "', b"Basic /w==", b"Basic", b"Bearer \xff",
)  # fmt: skip
CODECS = (b"undefined", b"punycode", b"idna", b"unicode_escape", b"utf-7", b"utf-16", b"hex", b"nonsense", b"\xff", b'"')


@pytest.mark.parametrize("ask", [API[0], API[3], PAGES[1]], ids=identity)
def test_headers_that_are_no_addresses(site, ask):
    for name in (*HEADERS, "authorization", "sec-fetch-site", "x-real-ip"):
        for value in ADDRESSES:
            check(site.send(ask, {name: value}))


@pytest.mark.parametrize("ask", [API[3], PAGES[6], PAGES[7], PAGES[12]], ids=identity)
def test_charsets_that_only_python_has(site, ask):
    for codec in CODECS:
        for kind in (b"multipart/form-data; boundary=border; charset=", b"application/x-www-form-urlencoded; charset="):
            check(site.send(ask, {"content-type": kind + codec}))
    assert site.send(ask, {"content-type": b"multipart/form-data; boundary=border; charset=undefined"}).status == 400
    assert site.send(ask, {"content-type": b"multipart/form-data; boundary=border; charset=UTF8"}).status < 400


@pytest.mark.parametrize("ask", [API[0], API[9], PAGES[0], PAGES[1], PAGES[6], PAGES[12]], ids=identity)
def test_hostile_headers(site, ask):
    for name in HEADERS:
        for what in (
            "markup",
            "CRLF",
            "control characters",
            "nul",
            "no UTF-8",
            "huge integer",
            "template",
            "empty",
            "right to left",
        ):
            answer = site.send(ask, {name: HOSTILE[what]})
            check(answer)
    for name, value in HEADERS.items():
        check(site.send(ask, {name: value}))
        check(site.send(ask, {name: value * 3000}))


def test_a_hostile_name_of_a_file_is_a_name(site):
    for value in (*HOSTILE.values(), *(pattern.format(root=site.root).encode() for pattern in TRAVERSALS)):
        for path in (b"/v1/similar", b"/similar"):
            head = (
                b'--border\r\nContent-Disposition: form-data; name="file"; filename="' + value.replace(b'"', b"'") + b'"\r\n\r\n'
            )
            kind = {"content-type": b"multipart/form-data; boundary=border"}
            check(site.ask("POST", path, headers=kind, body=head + b"le loyer du bail\r\n--border--\r\n"))


BODIES = [
    b"", b"null", b"[]", b'"a"', b"{", b"\x00", b"\xff\xfe", b'{"a":' * 20_000, b"[" * 200_000, b'{"\\ud800": 1}',
    b'{"query": "\\ud800"}', b'{"query": NaN}', b'{"query": "a", "k": 1e400}', b'{"query": "a", "k": ' + b"9" * 5000 + b"}",
    b'{"query": "a", "query": "b"}', b"\xef\xbb\xbf{}", b'{"query": "a", "filters": [' + b'"a",' * 100_000 + b'"a"]}',
    b'{"text": "a", "amount": Infinity}', b'{"text": "\\u0000", "extra": {"a": [[[[{"b": null}]]]]}}',
    b'{"text": "a", "extra": ' + b'{"a":' * 500 + b"1" + b"}" * 501, b'{"text": "a", "extra": {"\\ud800": "\\udfff"}}',
    b'{"text": "a", "extra": {"a": ' + b"9" * 400 + b', "b": 1e300}}',
]  # fmt: skip


@pytest.mark.parametrize(
    "path", ["/v1/search", "/v1/similar", "/v1/cite", "/v1/feedback", "/v1/documents/body", "/similar", "/judge"]
)
def test_hostile_bodies(site, path):
    method = "PUT" if "documents" in path else "POST"
    for body in BODIES:
        for kind in (
            b"application/json",
            b"multipart/form-data; boundary=border",
            b"application/x-www-form-urlencoded",
            b"text/plain",
        ):
            check(site.ask(method, path.encode(), headers={"content-type": kind}, body=body))
            check(site.ask("GET", b"/v1/documents/body"))
            check(site.ask("GET", b"/documents/body"))


STORED = ("markup", "script address", "SQL", "template", "format", "right to left", "backtracking", "control characters")


def test_hostile_documents_are_shown_as_text(site):
    for what in STORED:
        text = HOSTILE[what].decode()[:1900]
        name = "".join(mark for mark in f"{what} {text}" if mark.isprintable())[:400]
        body = dict.fromkeys(("title", "code", "number", "court"), text) | {
            "text": f"{text}\n\nLe vocable du document.\n\n1. {text}", "headings": [text], "identifiers": [text],
            "citations": [name],
            "kind": "decision" if what == "markup" else "statute", "extra": {"url": f"javascript:{text}", text: text},
        }  # fmt: skip
        put = site.send(Ask("PUT", "/v1/documents/{document}", {"document": name.encode()}, body=body))
        assert put.status == 201, put.text
        check(put)
        own = {"name": name.encode()}
        asked = {"q": f"vocable {text}".encode()}
        shown = [
            Ask("GET", "/", query=asked), Ask("GET", "/documents/{name}", own), Ask("GET", "/why/{name}", own, asked),
            Ask("GET", "/similar", query={"document": name.encode()}), Ask("GET", "/v1/documents/{name}", own),
            Ask("GET", "/compare", query=asked),
            Ask("GET", "/", query={"q": b"vocable", "filter": f"court={text}".encode()}),
            *(Ask("GET", "/export", query=asked | {"format": kind}) for kind in (b"csv", b"json", b"trec", b"bibtex", b"ris")),
            Ask("POST", "/judge", form={"q": asked["q"], "document": name.encode(), "grade": b"1", "rank": b"1"}),
        ]  # fmt: skip
        for ask in shown:
            answer = site.send(ask)
            check(answer)
            assert answer.status in (200, 303), (what, answer.sent, answer.text[:300])
            check(site.send(ask, {"x-lexfuse-part": ask.path.strip("/").partition("/")[0].encode() or b"results"}))
        found = site.send(Ask("GET", "/", query={"q": b"vocable"}))
        assert "vocable" in found.text


def test_what_would_take_long_is_refused(site):
    """Names, words and questions have bounds on the page too, not only in the API."""
    name = b"L. 1 " * 401
    assert site.send(Ask("GET", "/why", query={"q": b"loyer", "cite": name})).status == 400
    assert site.send(Ask("GET", "/why/{name}", {"name": name}, {"q": b"loyer"})).status == 400
    assert site.send(Ask("GET", "/export", query={"q": b"a" * 20_001})).status == 413
    form = {"text": b"le loyer du bail", "action": b"again", "term": b"loyer", "use": b"loyer"}
    assert site.send(Ask("POST", "/similar", form=form | {"add": b"b" * 200})).status == 400  # 200 characters and a weight
    assert site.send(Ask("POST", "/similar", form=form | {"add": b"bail"})).status == 200


def test_an_address_is_never_made_from_the_name_that_the_client_gives(site):
    for path in (b"/compare/", b"/v1/search/", b"/experiments/", b"//compare"):
        answer = site.ask("GET", path, headers={"host": b"elsewhere.example"})
        assert (answer.status, answer.header("location")) == (404, ""), path
