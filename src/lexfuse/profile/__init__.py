"""A search pipeline as a TOML file, which `search` and `run` take, and which advice ends in."""

from lexfuse.profile.choices import ChannelChoice, FusionChoice, PipelineChoice, SourceChoice
from lexfuse.profile.profile import Profile
from lexfuse.profile.reranks import BirchChoice, CrossEncoderChoice, RerankChoice, RescoreChoice, RprsChoice, SdrChoice
from lexfuse.profile.sources import CrossEncodedChoice

__all__ = [
    "BirchChoice",
    "ChannelChoice",
    "CrossEncodedChoice",
    "CrossEncoderChoice",
    "FusionChoice",
    "PipelineChoice",
    "Profile",
    "RerankChoice",
    "RescoreChoice",
    "RprsChoice",
    "SdrChoice",
    "SourceChoice",
]
