"""What is said about template files."""

from __future__ import annotations

import pytest

from seqtag.errors import TemplateError
from seqtag.features.language import parse


def message(text: str, columns: list[str] | None = None) -> str:
    """What is said about a template file (and, when it is read, about these columns)."""
    with pytest.raises(TemplateError) as caught:
        templates = parse(text, "my.txt")
        assert columns is not None, f"parsed: {templates}"
        templates.compile(columns)
    return str(caught.value)
