"""A real browser, where there is one: Chromium and playwright."""

from __future__ import annotations

import os
import shutil

import pytest

from scripts import play_page

FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-sync",
    "--disable-background-networking",
    "--disable-component-update",
]


@pytest.fixture(scope="module")  # while it is open an event loop runs, which other tests make
def chromium():
    """The browser; $SEQTAG_CHROMIUM names it, or it is on the path."""
    api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    names = [os.environ.get("SEQTAG_CHROMIUM") or "chromium", "chromium-browser", "google-chrome"]
    path = next(filter(None, map(shutil.which, names)), None)
    if path is None:
        pytest.skip("no Chromium found; install one, or name it in SEQTAG_CHROMIUM")
    with api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def built_page(tmp_path_factory):
    """The page to play with, as the site has it, and its model as a tagger."""
    folder = tmp_path_factory.mktemp("play")
    tagger = play_page.build(folder)
    return folder / "index.html", tagger


@pytest.fixture
def new_page(chromium):
    """Make pages; at the end nothing must have complained, and nothing foreign been asked for."""
    troubles, pages = [], []

    def make(origin="file:", **options):
        page = chromium.new_page(**options)
        pages.append(page)
        page.on("console", lambda message: troubles.append(message.text))
        page.on("pageerror", lambda error: troubles.append(str(error)))
        page.on(
            "request",
            lambda request: request.url.startswith(origin) or troubles.append(request.url),
        )
        page.on("dialog", lambda dialog: troubles.append(dialog.message) or dialog.dismiss())
        page.set_default_timeout(60_000)  # machines may be busy
        return page

    yield make
    for page in pages:
        page.close()
    assert troubles == []
