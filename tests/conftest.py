"""Property tests draw the same examples every time; HYPOTHESIS_PROFILE=explore draws new ones. And what several folders share."""

import importlib.util
import os
from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("steady", derandomize=True, deadline=None)
settings.register_profile("explore", deadline=None, max_examples=1000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "steady"))


@pytest.fixture(scope="session")
def small_advice():
    """The maker of small advices: tests/advise/smalladvice.py."""
    specification = importlib.util.spec_from_file_location("smalladvice", Path(__file__).parent / "advise" / "smalladvice.py")
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module.small_advice
