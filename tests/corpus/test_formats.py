"""Detection, text, tokens, word/TAG, treebanks, and writing in another format."""

from __future__ import annotations

import csv
import io
import json
from types import SimpleNamespace

import conllu
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from seqtag.corpus import (
    FORMATS,
    into_misc,
    read,
    render,
    stream,
    to_token_list,
)
from seqtag.corpus.text import word_spans
from seqtag.corpus.write import one_table
from seqtag.errors import CorpusError

CONLLU = "# text = a\n1\ta" + "\t_" * 8 + "\n\n"
POS = """
[ Pierre/NNP Vinken/NNP ]
,/,
[ 61/CD years/NNS ]
old/JJ ./.

======================================

[ Mr./NNP Vinken/NNP ]
1\\/2/CD ./.
"""
MRG = """( (S
    (NP-SBJ-1 (NNP Mr.) (NNP Vinken) )
    (VP (VBZ is) (NP (-NONE- *-1) ))
    (. .) ))
( (S (NP (DT a)) (VP (VB b))) )
"""


def sentences(text: str | bytes, format: str = "auto", **kwargs):
    data = text.encode() if isinstance(text, str) else text
    found = list(read(io.BytesIO(data), format, **kwargs))
    assert "".join(s.raw for s in found).encode() == data
    return found


def fails(call, *args, **kwargs) -> str:
    with pytest.raises(CorpusError) as caught:
        call(*args, **kwargs)
    return str(caught.value)


def test_named_formats():
    assert set(FORMATS) >= {"conllu", "columns", "text", "tokens", "tagged", "pos", "mrg"}
    assert sentences("a O\n", "conll2002")[0].columns == ("form", "ner")
    assert sentences("a DT O\n", "conll2002")[0].columns == ("form", "pos", "ner")
    assert sentences("a DT O O\n", "conll2003")[0].columns == ("form", "pos", "chunk", "ner")
    assert sentences("a x\n", columns=["label", "form"])[0].words == ["x"]
    assert sentences("", "conll2002") == sentences("", "columns") == []


def test_read_messages():
    data = io.BytesIO(b"a b\n")
    assert "expected one of the formats auto, conllu," in fails(read, data, "conll")
    assert "expected column names only with the format 'columns', found them with 'text'" in fails(
        read, data, "text", columns=["form"]
    )
    for names in ("form", ["pos"], ["form", "form"]):
        assert "expected different column names with 'form' among them" in fails(
            read, data, columns=names
        )
    assert '<stream>:1: expected "# global.columns = ID FORM ..." in the first line' in fails(
        read, data, "conllu-plus"
    )
    for names in ("ID UPOS", "FORM FORM"):
        assert "expected different column names with FORM among them" in fails(
            read, io.BytesIO(f"# global.columns = {names}\n".encode())
        )


def test_text():
    text = "Mr. Smith said \"don't\" to ``me''. He left!  \n\nA (very)\u00a0short line"
    found = sentences(text, "text")
    assert [s.words for s in found] == [
        ["Mr.", "Smith", "said", '"', "do", "n't", '"', "to", "``", "me", "''", "."],
        ["He", "left", "!"],
        [],
        ["A", "(", "very", ")", "short", "line"],
    ]
    assert [s.line for s in found] == [1, 1, 2, 3]
    assert found[0].line_of(3) == 1
    assert found[1].column("misc") == ["_", "SpaceAfter=No", "_"]
    columns = {name: found[3].column(name) for name in found[3].columns}
    assert render(columns, "conllu").startswith("# text = A (very) short line\n1\tA\t_")
    assert sentences("\ufeffHi.\n", "text")[0].words == ["Hi", "."]


@given(
    st.text(st.characters(blacklist_categories=["Cs"]), max_size=40)
    | st.text("a.\"'`!? \n(-\ufeff", max_size=40)
)
def test_text_loses_nothing(text):
    assume(text != "\x1f")  # alone, it is a gzip file that was cut
    found = sentences(text, "text")
    words = "".join("".join(s.words) for s in found)
    assert words == "".join(text.replace("\ufeff", " ").split())


def test_word_spans_survive_any_tokenizer():
    for tokens in (["x"], ["a"], []):
        odd = SimpleNamespace(tokenize=lambda _, tokens=tokens: tokens)
        assert word_spans(" a bc ", odd) == [(1, 2), (3, 5)]


def test_tokens():
    found = sentences("\ufeffHe  said\u00a0x .\r\n\n#\tb", "tokens")
    assert [s.words for s in found] == [["He", "said\u00a0x", "."], [], ["#", "b"]]
    assert to_token_list(found[0])[1]["form"] == "said\u00a0x"
    assert ":1: this format cannot store the column 'pos'; write another format" in fails(
        found[0].replace, {"pos": ["A", "B", "C"]}
    )
    assert ":1: expected one of the columns form, found 'pos'" in fails(found[0].column, "pos")
    assert repr(found[0]) == "<Sentence <stream>:1 'He said\\xa0x .'>"


def test_tagged():
    found = sentences("\ufeffThe/DT 1/2/CD\r\nx/Y", "tagged")
    assert found[0].words == ["The", "1/2"]
    assert found[0].column("pos") == ["DT", "CD"]
    assert found[0].replace({"pos": ["A", "B"]}) == "\ufeffThe/A 1/2/B\r\n"
    for bad in ("x", "/x", "x/"):
        assert f'<stream>:2: expected word/TAG, found "{bad}"; add the tag, or' in fails(
            sentences, f"a/b\na/b {bad}", "tagged"
        )
    assert ":1: expected a value for the column 'pos'" in fails(
        found[0].replace, {"pos": ["A/B", "C"]}
    )


@pytest.mark.parametrize("chunk", [*range(1, 64), 1 << 20])
def test_blank_lines_of_pos_files_stand_alone_however_blocks_fall(chunk, monkeypatch):
    monkeypatch.setattr(stream, "CHUNK", chunk)
    text = "[ The/DT dog/NN ]\nbarks/VBZ ./.\n======\n\n[ a/DT ]\n\n\n[ a/DT ]\n"
    found = [(each.raw, each.line) for each in read(io.BytesIO(text.encode()), "pos")]
    assert found == [
        ("[ The/DT dog/NN ]\nbarks/VBZ ./.\n======\n", 1),
        ("\n", 4),
        ("[ a/DT ]\n\n", 5),
        ("\n", 7),
        ("[ a/DT ]\n", 8),
    ]


def test_pos_files():
    first, second = [s for s in sentences(POS) if s]
    assert first.words == ["Pierre", "Vinken", ",", "61", "years", "old", "."]
    assert first.column("chunk") == ["B-NP", "I-NP", "O", "B-NP", "I-NP", "O", "O"]
    assert second.column("pos") == ["NNP", "NNP", "CD", "."]
    assert second.words[2] == "1\\/2"
    assert (first.line_of(0), second.line_of(3)) == (2, 10)
    assert second.replace({"pos": list("ABCD")}).endswith("[ Mr./A Vinken/B ]\n1\\/2/C ./D\n")
    for bad, line in (("[ a/A [ b/B ]", 1), ("a/A\n]", 2), ("a/A\n[ b/B\n\n", 2)):
        assert f"<stream>:{line}: expected balanced brackets without nesting" in fails(
            sentences, bad, "pos"
        )


def test_trees():
    first, second = sentences(MRG)
    assert first.words == ["Mr.", "Vinken", "is", "."]
    assert first.column("pos") == ["NNP", "NNP", "VBZ", "."]
    assert (first.line_of(3), second.line) == (4, 5)
    assert first.replace({"pos": list("ABCD")}).count("(A Mr.) (B Vinken)") == 1
    assert [len(s) for s in sentences("\n", "mrg")] == [0]
    assert "<stream>:2: expected one tree with balanced parentheses, found another text (" in fails(
        sentences, "\n(S (A b)\n", "mrg"
    )
    assert "expected a tag around every word, as in (DT the)" in fails(
        sentences, "(S (NP the dog))", "mrg"
    )


COLUMNS = {"form": ["Hi", "!"], "pos": ["UH", "."], "chunk": ["B-INTJ", "O"]}


def test_render_and_read_back():
    for format, as_ in [
        ("conllu", "conllu"),
        ("columns", "columns"),
        ("conll2000", "conll2000"),
        ("tagged", "tagged"),
        ("tokens", "tokens"),
    ]:
        [s] = sentences(render(COLUMNS, format), as_)
        assert s.words == ["Hi", "!"]
        assert render({name: [] for name in COLUMNS}, format) == ""
    assert render(COLUMNS, "columns") == "Hi\tUH\tB-INTJ\n!\t.\tO\n\n"
    assert render(COLUMNS, "tagged") == "Hi/B-INTJ !/O\n"
    assert render({"form": ["a"], "xpos": ["X"], "chunk": ["O"]}, "conll2000") == "a X O\n\n"
    values = {**COLUMNS, "xpos": ["X", "Y"], "misc": ["SpaceAfter=No", "_"], "id": ["7", "8"]}
    [tokens] = conllu.parse(render(values, "conllu"))
    assert tokens.metadata["text"] == "Hi!"
    assert [t["id"] for t in tokens] == [1, 2]
    assert tokens[0]["misc"] == {"SpaceAfter": "No", "Pos": "UH", "Chunk": "B-INTJ"}


def test_render_for_other_programs():
    named = COLUMNS | {"ner": ["O", "O"]}
    assert render(named, "conll2003") == "Hi UH B-INTJ O\n! . O O\n\n"
    [sentence] = sentences(render(named, "conll2003"), "conll2003")
    assert {name: sentence.column(name) for name in sentence.columns} == named
    tagged = {"form": ["a"], "upos": ["X"], "chunk": ["O"], "ner": ["B-X"]}
    assert render(tagged, "conll2003") == "a X O B-X\n\n"
    rows = list(csv.DictReader(io.StringIO(render(named, "tsv")), delimiter="\t", quoting=3))
    assert rows[1] == {"sentence": "1", "form": "!", "pos": ".", "chunk": "O", "ner": "O"}
    odd = {"form": ["a\tb\n", '"'], "upos": ["X", "\u2028"]}
    assert json.loads(render(odd, "jsonl")) == {"tokens": odd["form"], "upos": odd["upos"]}
    for format in ("conll2003", "tsv", "jsonl"):
        assert render({name: [] for name in named}, format) == ""


def test_what_the_formats_for_other_programs_cannot_hold():
    assert "expected a column 'chunk' to write the format conll2003, found form, pos, ner" in fails(
        render, {"form": ["a"], "pos": ["b"], "ner": ["O"]}, "conll2003"
    )
    assert (
        "expected values that fit the format tsv, found 'a\\tb' in the column 'form', word 1"
        in (fails(render, {"form": ["a\tb"]}, "tsv"))
    )
    for format in ("tokens", "tagged"):  # which read it as white space
        found = fails(render, {"form": ["a\ufeffb"], "pos": ["X"]}, format)
        assert "found 'a\\ufeffb' in the column 'form', word 1" in found
    assert (
        "expected column names other than tokens, sent_id, text, multiword, ranges in the format "
        "jsonl, found 'text'; rename it with --columns"
    ) in fails(render, {"form": ["a"], "text": ["b"]}, "jsonl")
    assert "expected column names other than sentence in the format tsv, found 'sentence'" in fails(
        render, {"form": ["a"], "sentence": ["b"]}, "tsv"
    )


def test_tables_of_other_columns_are_not_one_table():
    pieces = [b"sentence\tform\tpos\n1\ta\tX\n", b"sentence\tform\tupos\n1\ta\tX\n"]
    assert "expected the columns form, pos of the first sentence, found form, upos; write" in fails(
        list, one_table(pieces)
    )


def test_a_line_without_end_is_read_in_pieces():
    text = "The cat sat on the mat. " * 5000
    sentences = list(read(io.BytesIO(text.encode()), "text"))
    assert "".join(sentence.raw for sentence in sentences) == text
    assert sum(map(len, sentences)) == 7 * 5000
    word = "x" * 50_000
    assert "".join(s.raw for s in read(io.BytesIO(word.encode()), "text")) == word


def test_misc_has_one_rule():
    old = ["_", "Chunk=OLD", "A=b|Chunk=OLD|SpaceAfter=No|Chunk=OLDER", "Chunky=1"]
    new = {"chunk": ["B-NP", "I-NP", "O", "O"], "ner": ["O", "O", "B-X", "O"]}
    assert into_misc(old, new) == [
        "Chunk=B-NP|NER=O",
        "Chunk=I-NP|NER=O",
        "A=b|Chunk=O|SpaceAfter=No|NER=B-X",
        "Chunky=1|Chunk=O|NER=O",
    ]
    plus = "# global.columns = FORM MISC\nHi\tChunk=OLD\n!\t_\n\n"
    [sentence] = sentences(plus)
    columns = {name: sentence.column(name) for name in sentence.columns}
    text = render(columns | {"chunk": ["B-INTJ", "O"]}, "conllu")
    assert [line.split("\t")[9] for line in text.splitlines()[1:3]] == ["Chunk=B-INTJ", "Chunk=O"]
