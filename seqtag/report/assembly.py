"""Pages in one file: styles, data and script inside, everything else forbidden to the browser."""

from __future__ import annotations

import base64
import hashlib
import json
from html import escape
from pathlib import Path
from typing import Any

_PACKAGE = Path(__file__).parent.parent


def asset(name: str) -> str:
    """Return the text of a style sheet, script or page of a package.

    >>> asset("report/common.css").startswith("/*")
    True
    """
    return (_PACKAGE / name).read_text("utf-8")


def self_contained(
    title: str, body: str, data: Any, *, styles: tuple[str, ...], scripts: tuple[str, ...]
) -> str:
    r"""A page that asks for nothing else.

    Its policy allows this very style sheet and this very script, by their digests, so that nothing
    that a corpus holds can ever run.

    Parameters
    ----------
    title
        As text.
    body
        As HTML, with whatever it quotes escaped.
    data
        What the script works on, JSON-able.
    styles, scripts
        Names of assets.

    Examples
    --------
    >>> page = self_contained("<x>", "", "</script>", styles=(), scripts=())
    >>> page.count("<x>"), page.count("</script>")
    (0, 2)
    """
    style = "\n".join(map(asset, styles))
    script = "\n".join(map(asset, scripts))
    policy = (
        f"default-src 'none'; style-src '{_digest(style)}'; script-src '{_digest(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>{escape(title)}</title>
<style>{style}</style>
</head>
<body>
{body}
<script type="application/json" id="data">{json_in_html(data)}</script>
<script>{script}</script>
</body>
</html>
"""


def json_in_html(value: Any) -> str:
    r"""JSON that may stand in a script element: nothing in it ends the element or opens a comment.

    >>> json_in_html("</script><!--")
    '"\\u003c/script\\u003e\\u003c!--"'
    """
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    for char in "<>&\u2028\u2029":
        text = text.replace(char, f"\\u{ord(char):04x}")
    return text.encode("utf-8", "replace").decode()  # lone surrogates have no place in a file


def _digest(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
