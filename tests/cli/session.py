"""A session with LexFuse, from an index to the service: python session.py FOLDER. It tells what happened, as JSON."""

import json
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "processes"))
from launcher import run_jobs

COMMAND = str(Path(sys.executable).parent / "lexfuse")
ASKED = ["questions.csv", "test.tsv"]
MODELS = ["--model", "dense=model", "--model", "colbert=model"]
CLIENT = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
COMMANDS = {
    "import": ["import", "articles.csv", "imported"],
    "index": ["index", "articles.csv", "v.index", "--channels", "dense,colbert", *MODELS],
    "update": ["index", "articles.csv", "v.index", "--update"],
    "search": ["search", "v.index", "rendre un livre", "-c", "bm25,dense,colbert", "--fusion", "rrf", "--explain"],
    "similar": ["similar", "v.index", "judgment.txt", "-c", "bm25,dense"],
    "run": ["run", "v.index", "questions.csv", "-c", "dense", "-o", "dense.trec"],
    "evaluate": ["evaluate", "test.tsv", "dense.trec"],
    "compare": ["compare", "test.tsv", "dense.trec", "words.trec"],
    "fuse": ["fuse", "words.trec", "dense.trec", "-o", "fused.trec"],
    "tune weights": ["tune", "weights", "v.index", *ASKED, "-c", "bm25,dense", "--folds", "2"],
    "advise": ["advise", "v.index", *ASKED, "--channels", "bm25,dense", "--folds", "2", "-o", "advice"],
    "info": ["info", "v.index", "--cost"],
    "analyse": ["analyse", "le préavis de l'article L. 1234-5"],
    "train static": ["train", "static", "articles.csv", "words", "--dimension", "2"],
    "fetch": ["fetch", "fr-legal-dense"],
    "verify": ["index", "v.index", "--verify"],
}
HOSTILE = {
    "search dense": ["search", "hostile.index", "prêt", "-c", "dense"],
    "search splade": ["search", "hostile.index", "prêt", "-c", "splade"],
    "search colbert": ["search", "hostile.index", "prêt", "-c", "colbert"],
    "fill": ["index", "hostile.index", "--channels", "dense"],
    "update": ["index", "articles.csv", "hostile.index", "--update"],
    "profile": ["search", "hostile.index", "prêt", "--profile", "hostile.toml"],
    "advise": ["advise", "v.index", *ASKED, "--channels", "bm25", "--rerank", "hostile.toml", "--folds", "2", "-o", "hostile"],
    "serve": ["serve", "hostile.index", "--profile", "hostile.toml", "--port", "0"],
    "mcp": ["mcp", "hostile.index", "--profile", "hostile.toml"],
}
REQUESTS = [
    ("/v1/search", {"query": "rendre un livre"}),
    ("/v1/similar", {"text": "Le lecteur a rendu le livre en retard."}),
    ("/healthz", None),
    ("/", None),
]
CALLS = [
    {"id": 1, "method": "initialize", "params": CLIENT},
    {"method": "notifications/initialized"},
    {"id": 2, "method": "tools/call", "params": {"name": "search", "arguments": {"query": "rendre un livre"}}},
]  # fmt: skip


def served():
    """The service's port, and the status of every request."""
    command = [COMMAND, "serve", "v.index", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as service:
        address = service.stdout.readline().split(" on ")[1].split()[0]
        try:
            statuses = [asked(address + path, body) for path, body in REQUESTS]
        finally:
            service.terminate()
    return int(address.rpartition(":")[2]), statuses


def asked(address, body):
    """The status of one request, and what was said where it is none of success."""
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(address, data, {"Content-Type": "application/json"})  # noqa: S310
    try:
        with urllib.request.urlopen(request) as answer:  # noqa: S310
            answer.read()
            return answer.status
    except urllib.error.HTTPError as error:
        return [error.code, error.read().decode()]


def assisted():
    """What the command for assistants answers to a search."""
    streams = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    with subprocess.Popen([COMMAND, "mcp", "v.index"], **streams, text=True) as process:
        for call in CALLS:
            process.stdin.write(json.dumps({"jsonrpc": "2.0", **call}) + "\n")
            process.stdin.flush()
            answer = process.stdout.readline() if "id" in call else ""
        process.stdin.close()
    return answer


def main():
    jobs = {**COMMANDS, **{f"hostile {name}": arguments for name, arguments in HOSTILE.items()}}
    results = dict(zip(jobs, run_jobs([{"arguments": arguments} for arguments in jobs.values()]), strict=True))
    port, statuses = served()
    told = {
        "codes": {name: results[name]["code"] for name in COMMANDS},
        "hostile": {name: [results[f"hostile {name}"][what] for what in ("code", "stderr")] for name in HOSTILE},
        "port": port, "statuses": statuses, "assistant": assisted(),
    }  # fmt: skip
    json.dump(told, sys.stdout)


if __name__ == "__main__":
    import os

    os.chdir(sys.argv[1])
    main()
