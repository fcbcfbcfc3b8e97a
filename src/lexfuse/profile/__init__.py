"""A search pipeline as a TOML file, which `search` and `run` take, and which advice ends in."""

from lexfuse.profile.choices import ChannelChoice, FusionChoice, PipelineChoice, RerankChoice
from lexfuse.profile.profile import Profile

__all__ = ["ChannelChoice", "FusionChoice", "PipelineChoice", "Profile", "RerankChoice"]
