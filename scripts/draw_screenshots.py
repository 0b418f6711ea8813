"""Take the pictures of `seqtag report` and `seqtag serve` with a headless Chromium.

Usage: python scripts/draw_screenshots.py

Writes docs/pictures/report.png and serve.png, and their dark variants. Trains a tagger on the sample
corpus for the report, and serves the embedded English models on the loopback interface. Needs
``pip install -e '.[dev,serve]'``, and Chromium on the path or in $SEQTAG_CHROMIUM.
"""

from __future__ import annotations

import io
import os
import re
import shutil
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from PIL import Image
from playwright.sync_api import Page, sync_playwright

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[1]
OUT = ROOT / "docs" / "pictures"
SAMPLE = ROOT / "corpora" / "sample"
TEXT = "Mr. Jones can't come to London today. Time flies like an arrow; she leaves early."
VIEW = {"width": 1000, "height": 930}
SCALE = 1.6  # pixels of a picture for one of the page
COLORS = 64
SEQTAG = (sys.executable, "-m", "seqtag")


def take(page: Page, name: str) -> None:
    """Save what a page shows, in few colors."""
    for mode, suffix in (("light", ""), ("dark", "-dark")):
        page.emulate_media(color_scheme=mode)
        picture = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
        picture = picture.quantize(COLORS, dither=Image.Dither.NONE)
        path = OUT / f"{name}{suffix}.png"
        picture.save(path, optimize=True)
        print(f"{path} {path.stat().st_size / 1000:.0f} kB")


def report(page: Page, folder: Path) -> None:
    """Train on the sample, and show the report of the test part with an error explained."""
    model, html = folder / "sample.seqtag", folder / "report.html"
    train = (*SEQTAG, "train", SAMPLE / "en-sample-train.conllu", "-o", model, "-q")
    subprocess.run(train, check=True)
    test = SAMPLE / "en-sample-test.conllu"
    subprocess.run((*SEQTAG, "report", "-m", model, test, "-o", html, "-q"), check=True)
    page.goto(html.as_uri())
    take(page, "report")


def serve(page: Page) -> None:
    """Show a tagged text and the details of a word."""
    with _server() as address:
        page.goto(address)
        page.wait_for_selector("#part option", state="attached")
        page.fill("#text", TEXT)
        page.press("#text", "Control+Enter")
        page.locator("#status", has_text="words").wait_for()
        page.locator(".word", has_text="leaves").click()
        page.wait_for_selector("#details:not([hidden])")
        page.evaluate("scrollTo(0, 0)")
        take(page, "serve")


@contextmanager
def _server() -> Iterator[str]:
    command = (*SEQTAG, "serve", "-m", "en", "--port", "0")
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        try:
            line = next(line for line in process.stderr or () if "http://" in line)
            yield re.search(r"http://\S+", line)[0]
        finally:
            process.terminate()


def main() -> None:
    OUT.mkdir(exist_ok=True)
    names = (os.environ.get("SEQTAG_CHROMIUM") or "chromium", "chromium-browser", "google-chrome")
    path = next(filter(None, map(shutil.which, names)))
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        chromium = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        page = chromium.new_page(viewport=VIEW, device_scale_factor=SCALE)
        report(page, Path(folder))
        serve(page)
        chromium.close()


if __name__ == "__main__":
    main()
