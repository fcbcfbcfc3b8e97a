"""A route whose parameters are one model in the query string, for endpoints that are asked often."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from inspect import get_annotations
from typing import Any, get_args

from fastapi import Request
from fastapi.routing import APIRoute
from pydantic import BaseModel, ValidationError
from starlette.responses import Response

from lexfuse.service.openapi import check_query_string


class QueryRoute(APIRoute):
    """Its endpoint takes the request, and `given`: a model, annotated with `Query()`.

    The model reads the query string itself. FastAPI would look at the type of each field again for every request, which takes
    longer than all other parts of the framework. What the model refuses is left to FastAPI, which makes the error. Of the
    dependencies of routers only `check_query_string`, which all routers have, is called.
    """

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """The handler of requests."""
        usual, endpoint = super().get_route_handler(), self.endpoint
        model: type[BaseModel] = get_args(get_annotations(endpoint, eval_str=True)["given"])[0]

        async def answer(request: Request) -> Response:
            lists = await check_query_string(request)
            given = request.query_params
            values = {name: given.getlist(name) if lists[name] else given[name] for name in given}
            try:
                parameters = model.model_validate(values)
            except ValidationError:
                return await usual(request)
            found: Response = await endpoint(request, parameters)
            return found

        return answer
