"""A profile as the values of its TOML file; what is as usual is left out."""

from __future__ import annotations

from dataclasses import fields
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from lexfuse.search.spec.pipeline_spec import ChannelSpec, FusionSpec, PipelineSpec, SourceChoice
from lexfuse.search.spec.reranker_specs import RerankChoice, RescoreSpec
from lexfuse.search.spec.spec_reader import VERSION

if TYPE_CHECKING:
    from lexfuse.search.spec.spec import SearchSpec


def spec_values(profile: SearchSpec) -> dict[str, Any]:
    """The values, in the order in which they are written.

    >>> from lexfuse.search.spec.spec import SearchSpec
    >>> spec_values(SearchSpec(PipelineSpec((ChannelSpec("bm25", b=0.4),))))
    {'version': 1, 'depth': 1000, 'channel': [{'name': 'bm25', 'b': 0.4}]}
    """
    head = {"version": VERSION, "name": profile.name, "description": profile.description, "depth": profile.depth}
    classes = {kind.value: _pipeline(profile.classes[kind], profile.general) for kind in sorted(profile.classes)}
    rest: dict[str, Any] = {"class": classes, "evidence": dict(profile.evidence)}
    every = head | _pipeline(profile.general, None) | rest
    return {name: value for name, value in every.items() if value not in ("", {})}


def _pipeline(pipeline: PipelineSpec, general: PipelineSpec | None) -> dict[str, Any]:
    values: dict[str, Any] = {"channel": [_choice(channel) for channel in pipeline.channels]}
    if pipeline.fusion:
        values["fusion"] = _fusion(pipeline.fusion)
    if pipeline.reranks or (general and general.reranks):  # none at all is said too, where there is one in general
        values["rerank"] = [_choice(rerank) for rerank in pipeline.reranks]
    return values


def _choice(choice: SourceChoice | RerankChoice) -> dict[str, Any]:
    if isinstance(choice, ChannelSpec):
        return _changed(choice)
    method = {} if isinstance(choice, RescoreSpec) else {"method": choice.method}
    return method | _changed(choice) | {"depth": choice.depth}


def _fusion(choice: FusionSpec) -> dict[str, Any]:
    given = {one.name: getattr(choice.options, one.name) for one in fields(choice.options)}
    values: dict[str, Any] = {"method": choice.method}
    for name, value in given.items():
        if isinstance(value, StrEnum):
            values[name] = value.value
        elif name != "weights" and isinstance(value, tuple) and len(value) == 1:
            values[name] = value[0]
        elif value not in ((), None):
            values[name] = list(value) if isinstance(value, tuple) else value
    return values


def _changed(choice: SourceChoice | RerankChoice) -> dict[str, Any]:
    """The fields that do not have their usual value."""
    changed = {one.name: value for one in fields(choice) if (value := getattr(choice, one.name)) != one.default}
    return {name: _plain(value) for name, value in changed.items()}


def _plain(value: Any) -> Any:
    if isinstance(value, StrEnum):
        return value.value
    return list(value) if isinstance(value, tuple) else value
