"""A real browser for tests that look at pages."""

import os
import shutil

import pytest


@pytest.fixture(scope="session")
def browser():
    """Debian's chromium, driven by playwright; where it is missing the test is skipped, but not where all tests must run."""
    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if program is None:
        if os.environ.get("LEXFUSE_ALL_TESTS"):
            pytest.fail("no chromium on this machine, and all tests must run")
        pytest.skip("no chromium on this machine; scripts/install-browser installs it")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as running:
        opened = running.chromium.launch(executable_path=program, args=["--no-sandbox", "--disable-background-networking"])
        yield opened
        opened.close()
