"""A search pipeline as a TOML file, which `search` and `run` take, and which advice ends in."""

from lexfuse.profile.choices import ChannelChoice, FusionChoice, PipelineChoice
from lexfuse.profile.profile import Profile
from lexfuse.profile.reranks import BirchChoice, CrossEncoderChoice, RerankChoice, RescoreChoice, RprsChoice, SdrChoice

__all__ = [
    "BirchChoice",
    "ChannelChoice",
    "CrossEncoderChoice",
    "FusionChoice",
    "PipelineChoice",
    "Profile",
    "RerankChoice",
    "RescoreChoice",
    "RprsChoice",
    "SdrChoice",
]
