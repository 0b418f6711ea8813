"""Contrast of the colors of the pages: 4.5:1 for each pair of a text and what it is written on."""

from __future__ import annotations

import re
from itertools import product

import pytest

from seqtag.report.page import asset

ENOUGH = 4.5  # for text, by WCAG 2
PAGES = {
    "report": ("report/common.css", "report/report.css"),
    "serve": ("report/common.css", "serve/serve.css"),
}
# Rules with a background of their own, on which not all colors of text are used.
ONLY = {
    ".target": {"ink", "good", "bad"},
    **{f".matrix .h{i}": {"ink"} for i in range(1, 5)},
}
RULE = re.compile(r"(?:^|})\s*([^{}]+?)\s*{([^{}]*)}", re.M)


def colors(css):
    """The variables of the light and of the dark scheme, as channels from 0 to 255."""
    light, dark = (
        dict(re.findall(r"--([\w-]+): ([^;]+);", block))
        for block in re.findall(r":root {(.*?)}", css, re.S)
    )
    return {"light": light, "dark": light | dark}


def channels(value, scheme):
    while match := re.fullmatch(r"var\(--([\w-]+)\)", value):
        value = scheme[match[1]]
    if value.startswith("#"):
        return [int(value[i : i + 2], 16) for i in (1, 3, 5)]
    return [int(each) for each in value.split(",")]


def contrast(a, b):
    def luminance(color):
        low, high = 0.04045, 2.4
        parts = [c / 255 for c in color]
        parts = [c / 12.92 if c <= low else ((c + 0.055) / 1.055) ** high for c in parts]
        return sum(w * c for w, c in zip((0.2126, 0.7152, 0.0722), parts, strict=True))

    dark, light = sorted(map(luminance, (a, b)))
    return (light + 0.05) / (dark + 0.05)


def rules(css):
    css = re.sub(r"/\*.*?\*/", "", css, flags=re.S)
    for selector, body in RULE.findall(css):
        found = dict(re.findall(r"(?:^|[;{]\s*|\s)([\w-]+): ([^;]+)", body))
        yield selector, found


def pairs(css, scheme):
    """Where it is, and both colors: of each text on each background that it can be on."""
    grounds = {name: channels(scheme[name], scheme) for name in ("ground", "panel")}
    texts, tints = set(), []
    for selector, found in rules(css):
        assert "opacity" not in found or "fill" in found, f"{selector}: text that shines through"
        color = found.get("color", found.get("fill") if selector.endswith("text") else None)
        if color not in (None, "inherit"):
            texts.add(re.fullmatch(r"var\(--([\w-]+)\)", color)[1])
        back = found.get("background", "none")
        if tint := re.fullmatch(r"rgba\(var\(--heat\), ([\d.]+)\)", back):
            share, heat = float(tint[1]), channels(scheme["heat"], scheme)
            for name, ground in grounds.items():
                mixed = [share * a + (1 - share) * b for a, b in zip(heat, ground, strict=True)]
                tints.append((f"{selector} on {name}", ONLY.get(selector), mixed))
        elif re.fullmatch(r"var\(--[\w-]+\)", back) and back[6:-1] not in grounds:
            own = found.get("color")
            only = {own[6:-1]} if own else ONLY[selector]
            tints.append((selector, only, channels(back, scheme)))
    for name, ground in grounds.items():
        tints.append((name, None, ground))
    on_accent = {"accent-ink"}
    for (where, only, ground), text in product(tints, sorted(texts)):
        if text in only if only else text not in on_accent:
            yield f"{text} on {where}", channels(f"var(--{text})", scheme), ground


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("page", PAGES)
def test_text_can_be_read(page, scheme):
    css = "\n".join(map(asset, PAGES[page]))
    found = {where: contrast(a, b) for where, a, b in pairs(css, colors(css)[scheme])}
    assert len(found) > 10
    assert {where: round(ratio, 2) for where, ratio in found.items() if ratio < ENOUGH} == {}


def test_the_formula():
    assert contrast([0, 0, 0], [255, 255, 255]) == pytest.approx(21)
    assert contrast([119, 119, 119], [255, 255, 255]) == pytest.approx(4.478, abs=1e-3)
