r"""Tables of words: a word and its values on a line, with what there is to say of all before them.

.. code-block:: text

    # seqtag table 1
    # name: news
    # words: lower0
    # absent: rare
    the     17
    of      3

Lines of the header begin with ``#`` and hold no tab; columns are parted by tabs. A line with a tab
is a row, whatever it begins with: ``#`` is a word.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from seqtag.corpus.sentence import bad_value
from seqtag.errors import CorpusError
from seqtag.files import Output

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Mapping, Sequence

FIRST_LINE = "# seqtag table 1"
"""What a table of words begins with."""

_LINE = "\t\r\n"
_ROWS = 10_000  # written at a time


def write_word_table(
    path: str | os.PathLike[str], header: Mapping[str, object], rows: Iterable[Sequence[str]]
) -> None:
    r"""Write a table of words, whole or not at all.

    Parameters
    ----------
    path
        File to write, or ``"-"`` for standard output.
    header
        What is said of the whole table, by keys without a colon.
    rows
        A word and its values each, in the order in which they are written.

    Raises
    ------
    CorpusError
        If a word or value is empty or holds a tab or line break, a word has no value, or a line
        of the header cannot be read back. Nothing is written then.
    OSError
        As the system reports it.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> path = Path(tempfile.mkdtemp(), "names")
    >>> write_word_table(path, {"words": "form"}, [("Paris", "city", "person"), ("#", "sign")])
    >>> path.read_text()
    '# seqtag table 1\n# words: form\nParis\tcity\tperson\n#\tsign\n'
    """
    name = str(path)
    lines = [FIRST_LINE]
    for key, value in header.items():
        line = f"# {key}: {value}"
        if not key or ":" in key or bad_value([line], _LINE) is not None:
            msg = (
                "expected a key without a colon, and a value, both without tabs and line breaks, "
                f"found {key!r} and {str(value)!r}; change it"
            )
            raise CorpusError(msg, source=name)
        lines.append(line)
    rest = iter(rows)
    with Output(path) as out:
        out.write(("\n".join(lines) + "\n").encode())
        while some := list(islice(rest, _ROWS)):
            for row in some:
                if len(row) < 2 or bad_value(row, _LINE) is not None:
                    msg = (
                        "expected a word and its values, none of them empty or with a tab or line "
                        f"break, found {list(row)!r}; change this row"
                    )
                    raise CorpusError(msg, source=name)
            out.write("".join("\t".join(row) + "\n" for row in some).encode())
