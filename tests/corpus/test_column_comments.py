"""Comments of column files: kept byte for byte, never words, never learned."""

from __future__ import annotations

import io
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqtag.corpus import read
from seqtag.corpus.lines import is_comment
from seqtag.corpus.scanner import BlockScanner
from seqtag.corpus.sniff import detect_format
from seqtag.corpus.stream import Block
from seqtag.labels.column import LabelColumn
from tests.command_line import Caller, call

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


def test_the_default_label_is_the_last_column_with_a_name():
    assert str(LabelColumn.default(("id", "form", "ner", "4", "5"))) == "ner"
    assert str(LabelColumn.default(("form", "2", "3"))) == "3"


@pytest.mark.parametrize(
    ("head", "columns"),
    [
        (b"1\ta\tB-X\n2\tb\tO\n3\tc\tO\n\n1\td\tB-X\n2\te\tO\n", "id form ner"),
        (b"1\ta\tX\n2\tb\tY\n3\tc\tX\n\n1\td\tX\n2\te\tY\n", "id form label"),
        (b"1\t10\tX\n1\t11\tY\n1\t12\tX\n", "sentence form label"),
        (LEX.encode() * 3, "id form lemma upos xpos feats head deprel deps misc 11 12 13 14 15 16"),
        (
            b"#begin document (x); part 000\nthe DT B-NP\ndog NN I-NP\n\n#end document\n",
            "form pos chunk",
        ),
        (b"###MEDLINE:1\n\nIL-2\tB-DNA\ngene\tI-DNA\n\n", "form ner"),
    ],
)
def test_columns_are_named_by_evidence(head, columns):
    named = detect_format(head)
    assert named.format == "columns"
    assert " ".join(named.columns).startswith(columns)


@pytest.mark.parametrize("line", ["#", "# NN", "# NN O", "# a b c = d", "# a\t= b", "###", "#x"])
def test_other_lines_with_a_hash_are_words(line):
    assert not is_comment(line)


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


def test_tagging_and_scoring_keep_them(tmp_path, call: Caller):
    path, model, out = tmp_path / "x.iob2", tmp_path / "m.seqtag", tmp_path / "out.iob2"
    path.write_text(UNER * 20, encoding="utf-8")
    trained = call("train", path, "-o", model)
    assert trained.code == 0, trained.err
    blank = UNER.replace("B-PER", "O").replace("B-LOC", "O") * 20
    asked = tmp_path / "asked.iob2"
    asked.write_text(blank, encoding="utf-8")
    assert call("tag", "-m", model, asked, "-o", out).code == 0
    assert out.read_text(encoding="utf-8") == UNER * 20
    scored = call("eval", "-m", model, path, "--columns", "id,form,ner,_,_", "--json")
    assert scored.code == 0, scored.err
