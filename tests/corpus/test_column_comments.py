"""Comments of column files: kept byte for byte, never words, never learned."""

from __future__ import annotations

import io
import re

from hypothesis import given
from hypothesis import strategies as st

from seqtag.corpus import read
from seqtag.corpus.lines import is_comment
from seqtag.corpus.scanner import BlockScanner
from seqtag.corpus.stream import Block
from tests.command_line import call

__all__ = ["call"]

UNER = """# newdoc id = a
# sent_id = a-1
# text = Ana vive em Lisboa
1\tAna\tB-PER\t-\tx
2\tvive\tO\t-\t-
3\tem\tO\t-\t-
4\tLisboa\tB-LOC\t-\tx

# sent_id = a-2
# text = # 1 é bom
1\t#\tO\t-\t-
2\t1\tO\t-\t-
3\té\tO\t-\t-
4\tbom\tO\t-\t-

"""
LEX = "# sent_id = 1\n" + "".join(
    f"{i}\t{form}\t{form}\t{upos}\tX\t_\t0\tdep\t_\t_\t_\t_\tN\tn\t_\t_\t_\t_\tO\n"
    for i, (form, upos) in enumerate([("the", "DET"), ("dog", "NOUN"), ("barks", "VERB")], 1)
)


def blocks_of(text, columns):
    stream = read(io.BytesIO(text.encode()), "columns", columns=columns)
    scanner = BlockScanner(stream, ["form"]) if list(stream.blocks()) else None
    return scanner, Block(text, 1)


def test_they_are_kept_and_are_not_words():
    stream = read(io.BytesIO(UNER.encode()))
    assert (stream.format, stream.columns) == ("columns", ("id", "form", "ner", "4", "5"))
    first, second = stream
    assert first.raw + second.raw == UNER
    assert first.words == ["Ana", "vive", "em", "Lisboa"]
    assert second.words[0] == "#"
    assert first.comments[0] == "# newdoc id = a"
    assert second.replace({"ner": ["O", "B-X", "O", "O"]}) == second.raw.replace("1\tO", "1\tB-X")
    assert first.line_of(0) == 4


PIECES = ["#", "##", "###", " ", "  ", "\t", "=", " = ", "# ", "newdoc", "newpar", "id", "begin "]
PIECES += ["document", "end ", "x", "-DOCSTART-", "é"]


@given(st.lists(st.sampled_from(PIECES), max_size=7).map("".join), st.sampled_from("\t "))
def test_the_kernel_knows_the_same_comments(line, gap):
    columns, row = ("form", "pos"), f"a{gap}b"
    scanner, block = blocks_of(f"{row}\n\n{line}\n{row}\n\n", columns)
    rows = scanner.scan(block)
    if rows is None:
        return
    text = io.BytesIO(block.text.encode())
    words = [s.words for s in read(text, "columns", columns=columns) if len(s)]
    assert rows.types.shape[1] == sum(map(len, words))
    commented = is_comment(line) or line.startswith("-DOCSTART-")
    assert sum(map(len, words)) == 2 + (not commented and bool(re.sub(r"\s", "", line)))
