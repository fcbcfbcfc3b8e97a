"""`lexfuse mcp` as an assistant's client starts it: a process of its own that speaks the protocol on standard output."""

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from anyio.from_thread import start_blocking_portal
from launcher import lexfuse
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.shared.exceptions import MCPError

EXAMPLES = Path(__file__).parents[2] / "examples"
COMMAND = Path(sys.executable).parent / "lexfuse"
HELLO = {
    "jsonrpc": "2.0", "id": 1, "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}},
}  # fmt: skip


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    folder = tmp_path_factory.mktemp("mcp") / "library.index"
    done = lexfuse("index", EXAMPLES / "articles.csv", folder)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    return tmp_path_factory.mktemp("log") / "log.txt"


@pytest.fixture(scope="module")
def call(index, log):
    """Does something with a client of the command and waits for it."""
    how = StdioServerParameters(command=str(COMMAND), args=["mcp", f"articles={index}"])
    with (
        log.open("w") as errors,
        start_blocking_portal() as portal,
        portal.wrap_async_context_manager(Client(stdio_client(how, errlog=errors))) as client,
    ):
        yield lambda name, *values: portal.call(getattr(client, name), *values)


def words(answer, *, error=False):
    assert answer.is_error is error, answer.content[0].text
    return answer.content[0].text


def first_id(call):
    return call("call_tool", "search", {"query": "article"}).structured_content["results"][0]["id"]


def test_tools_are_listed(call):
    assert [tool.name for tool in call("list_tools").tools] == [
        "search",
        "similar",
        "explain",
        "cite",
        "fetch",
        "history",
        "diff",
    ]


def test_every_tool_answers(call):
    page = call("call_tool", "search", {"query": "prêt de livres", "k": 3})
    assert "Cite as: " in words(page)
    name = page.structured_content["results"][0]["id"]
    assert f"id: {json.dumps(name, ensure_ascii=False)}" in words(call("call_tool", "fetch", {"document": name}))
    assert "Rank " in words(call("call_tool", "explain", {"query": "prêt de livres", "document": name}))
    assert "Searched by" in words(call("call_tool", "similar", {"document": name, "amount": 1.0}))
    assert words(call("call_tool", "cite", {"text": "nothing is cited here"})) == "The text has no citation that is understood."
    uri = f"lexfuse://articles/documents/{name}"
    assert call("read_resource", uri).contents[0].text == words(call("call_tool", "fetch", {"document": name}))


def test_bad_input_is_a_tool_error_and_the_session_goes_on(call):
    assert "k: " in words(call("call_tool", "search", {"query": "prêt", "k": 1000}), error=True)
    assert "Not found" in words(call("call_tool", "fetch", {"document": "nowhere"}), error=True)
    with pytest.raises(MCPError, match="there is no tool"):
        call("call_tool", "drop", {})
    with pytest.raises(MCPError, match="there is no resource"):
        call("read_resource", "file:///etc/passwd")
    assert first_id(call)


def test_a_very_long_text_is_a_question_for_similar_alone(call):
    text = "Le lecteur rend les livres prêtés. " * 30_000  # 1,050,000 characters
    assert "Too large" in words(call("call_tool", "search", {"query": text}), error=True)
    assert "result" in words(call("call_tool", "similar", {"text": text}))
    assert "1,000,000 are allowed" in words(call("call_tool", "cite", {"text": text}), error=True)
    assert "no citation" in words(call("call_tool", "cite", {"text": text[:1_000_000]}))


def test_the_log_has_calls_and_no_word_of_them(call, log):
    call("call_tool", "search", {"query": "confidentiel"})
    call("call_tool", "fetch", {"document": "confidentiel"})
    lines = [json.loads(line) for line in log.read_text("utf-8").splitlines() if line.startswith("{")]
    assert {"search", "fetch"} <= {line["call"] for line in lines if line["event"] == "call"}
    assert "confidentiel" not in log.read_text("utf-8")


def test_standard_output_is_the_protocol_alone_and_the_end_of_input_ends_it(index):
    process = subprocess.Popen(
        [str(COMMAND), "mcp", str(index)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    with process:
        asked = [HELLO, {"jsonrpc": "2.0", "method": "notifications/initialized"}]
        asked.append({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "search", "arguments": [1]}})
        process.stdin.write("no JSON\n" + "".join(json.dumps(one) + "\n" for one in asked))
        process.stdin.flush()
        answers = [json.loads(process.stdout.readline()) for _ in range(2)]
        process.stdin.close()
        assert process.stdout.read() == ""
        assert process.wait(60) == 0
    assert sorted(one["id"] for one in answers) == [1, 2]
    assert next(one for one in answers if one["id"] == 1)["result"]["serverInfo"]["name"] == "lexfuse"
    assert "error" in next(one for one in answers if one["id"] == 2)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_while_it_waits_for_input(index, number):
    command = [str(COMMAND), "mcp", str(index)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        process.stdin.write(json.dumps(HELLO) + "\n")
        process.stdin.flush()
        assert json.loads(process.stdout.readline())["id"] == 1
        process.send_signal(number)
        assert process.wait(60) == -number


def test_a_folder_that_is_no_index_is_told_on_standard_error(tmp_path):
    done = lexfuse("mcp", tmp_path / "nowhere")
    assert (done.returncode, done.stdout) == (4, "")
    assert "nowhere" in done.stderr


def test_a_missing_package_names_the_extra(index):
    done = subprocess.run(
        [sys.executable, "-c", "import sys; sys.modules['mcp'] = None\nfrom lexfuse.cli import main\nmain()", "mcp", str(index)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (7, "")
    assert "lexfuse[mcp]" in done.stderr
