"""Errors as pages for browsers; other clients get problem+json."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.responses import HTMLResponse, Response

from lexfuse.service.problems import Problem, headers_of, problem_of, response_of
from lexfuse.web.messages import messages_of
from lexfuse.web.renderer import PART_HEADER, reader_of, small_page

if TYPE_CHECKING:
    from starlette.requests import Request

LONGEST_QUESTION = 1_000  # characters of a question that an error page repeats
MACHINES = ("/v1/", "/healthz", "/readyz", "/metrics", "/openapi.json")


def page_or_problem(request: Request, error: Exception, request_id: str) -> Response:
    """A page for a browser, and a problem for any other client."""
    return error_page(request, error, request_id) if wants_page(request) else response_of(error, request_id)


def wants_page(request: Request) -> bool:
    """Whether a browser or a script of a page sent the request, and not to the API."""
    if request.url.path.startswith(MACHINES):
        return False
    return PART_HEADER in request.headers or "text/html" in request.headers.get("accept", "")


def error_page(request: Request, error: Exception, request_id: str = "") -> HTMLResponse:
    """The error in the reader's language, with the detail of the problem."""
    problem = problem_of(error)
    messages = messages_of(reader_of(request).language)
    keys = {name: f"error.{name}_{problem.status}" for name in ("title", "lead")}
    shown = {name: key if messages.has(key) else f"error.{name}_other" for name, key in keys.items()}
    if messages.has(key := f"error.code.{problem.code}"):
        shown["lead"] = key
    response = small_page(
        request,
        "error.html",
        parts={request.headers.get(PART_HEADER, ""): "_problem.html"},
        status=problem.status,
        words=words_of(problem),
        request_id=request_id,
        question=question_of(request),
        **shown,
        http_status=problem.status,
    )
    response.headers.update(headers_of(error))
    return response


def question_of(request: Request) -> str:
    """The question of the address, to be asked again; not one that is itself too long.

    >>> from starlette.requests import Request
    >>> question_of(Request({"type": "http", "query_string": b"q=notice&as_of=2023-02-31"}))
    'notice'
    """
    question = request.query_params.get("q", "")
    return question if len(question) <= LONGEST_QUESTION else ""


def words_of(problem: Problem) -> str:
    """The detail of a problem, without that of failures that readers can do nothing about.

    >>> words_of(Problem.of("internal-error", "Internal error", 500, "see the log"))
    ''
    """
    return problem.detail if problem.status < 500 or problem.status == 503 else ""
