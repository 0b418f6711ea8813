"""Attributes of a user's own, from a Python file that registers them."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from seqtag.errors import TemplateError
from seqtag.features.attributes import described, line_in, registered, unregister

if TYPE_CHECKING:
    from os import PathLike


def load_attributes(path: str | PathLike[str]) -> list[str]:
    r"""Run a Python file, and return the names of the attributes that it has registered.

    The file is code: it can do whatever a program of the user can. To load it again replaces what
    it registered before.

    Parameters
    ----------
    path
        A file in which functions are decorated with `seqtag.features.attribute`.

    Raises
    ------
    TemplateError
        If the file is no Python, fails, or registers nothing.
    OSError
        If it cannot be read.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp(), "mine.py")
    >>> _ = path.write_text(
    ...     "from seqtag.features import attribute\n"
    ...     "@attribute('initial')\n"
    ...     "def initial(word):\n"
    ...     "    return word[:1] or None\n"
    ... )
    >>> load_attributes(path)
    ['initial']
    """
    file, source = Path(path), str(path)
    text = file.read_bytes()
    unregister(of_file(source))
    before = registered()
    module = ModuleType(f"seqtag_attributes_{file.stem}")
    module.__file__ = source
    sys.modules[module.__name__] = module  # where dataclasses and the like look for it
    try:
        exec(compile(text, source, "exec", dont_inherit=True), module.__dict__)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # SystemExit would end the command without a word
        what = described(error)
        msg = f"expected Python that registers attributes, found an error: {what}; correct it"
        raise TemplateError(msg, source=source, line=line_in(error, source)) from error
    after = registered()
    names = sorted(name for name, function in after.items() if before.get(name) is not function)
    if not names:
        msg = (
            "expected functions decorated with seqtag.features.attribute, found none; register "
            'one with @attribute("name")'
        )
        raise TemplateError(msg, source=source)
    return names


def of_file(source: str) -> list[str]:
    """Names of the attributes that a file has registered before."""
    files = {
        name: getattr(function, "__globals__", {}).get("__file__")
        for name, function in registered().items()
    }
    return [name for name, file in files.items() if file == source]
