"""Column files and CoNLL-U: lossless, strict, and fields replaced in place."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqtag.corpus import read, stream, to_token_list
from seqtag.errors import CorpusError

FORMS = st.text(
    st.characters(blacklist_characters="\t\n\r", blacklist_categories=["Cs"]),
    min_size=1,
    max_size=6,
).filter(lambda s: s.strip(" ") == s and s and not s.startswith(("#", "-DOCSTART-", "\ufeff")))
SPACELESS = FORMS.map(lambda s: s.replace(" ", "x"))
EOLS = st.sampled_from(["\n", "\r\n"])


def row(number: object, form: str = "w", **fields: str) -> str:
    names = ("lemma", "upos", "xpos", "feats", "head", "deprel", "deps", "misc")
    return "\t".join([str(number), form, *(fields.get(name, "_") for name in names)])


def sentences(data: bytes | str, format: str = "auto", **kwargs):
    data = data.encode() if isinstance(data, str) else data
    return list(read(io.BytesIO(data), format, **kwargs))


def joined(found) -> bytes:
    return "".join(s.raw for s in found).encode()


def message(data: bytes | str, format: str = "conllu", **kwargs) -> str:
    with pytest.raises(CorpusError) as caught:
        sentences(data, format, **kwargs)
    return str(caught.value)


@st.composite
def files(draw, cells, gap: str, first_id: bool):
    """Text of a file, and its words."""
    eol, words, text = draw(EOLS), [], draw(st.sampled_from(["", "\ufeff"]))
    text += eol * draw(st.integers(0, 2))
    for _ in range(draw(st.integers(0, 4))):
        if first_id and draw(st.booleans()):
            text += f"# text = {draw(SPACELESS)}{eol}"
        forms = draw(st.lists(cells, min_size=1, max_size=4))
        for i, form in enumerate(forms, 1):
            if first_id:
                text += row(i, form, upos=draw(cells)) + eol
            else:
                text += gap.join([form, draw(cells), draw(cells)]) + eol
        blank = draw(st.sampled_from(["", " ", "\t", " \t"]))
        text += (blank + eol) * draw(st.integers(1, 3))
        words.append(forms)
    if draw(st.booleans()):
        text = text.rstrip("\r\n\t ") if words else text
    return text, words


@pytest.mark.parametrize("chunk", [1, 7, 1 << 20])
@given(data=st.data())
def test_conllu_is_lossless(chunk, data):
    text, words = data.draw(files(FORMS, "\t", True))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stream, "CHUNK", chunk)
        found = sentences(text, "conllu")
    assert joined(found) == text.encode()
    assert [s.words for s in found if s] == words
    for s in found:
        assert s.replace({"upos": s.column("upos"), "form": s.words}) == s.raw


@pytest.mark.parametrize("form", ["\x1f", "\x85", "\u2028", "\xa0"])
def test_words_may_be_white_space_other_than_blanks(form):
    found = sentences("\t".join([form] * 3) + "\n", "columns", columns=("form", "2", "3"))
    assert [s.words for s in found] == [[form]]


@pytest.mark.parametrize("gap", ["\t", " "])
@given(data=st.data())
def test_columns_are_lossless(gap, data):
    text, words = data.draw(files(SPACELESS, gap, False))
    found = sentences(text, "columns", columns=("form", "2", "3"))
    assert joined(found) == text.encode()
    words = [[word.strip("\xa0") or word for word in each] for each in words]
    assert [[word.strip("\xa0") or word for word in s.words] for s in found if s] == words
    for s in found:
        assert s.replace({"2": s.column("2")}) == s.raw
        assert s.raw.count("\n") == s.replace({"new": s.words}).count("\n")


@given(
    st.lists(st.sampled_from(["a b", "a  b", " a b", "a b ", "", " ", "\t", "\r"]), max_size=9),
    st.booleans(),
    st.integers(1, 5),
)
def test_sentence_ends_do_not_depend_on_the_chunks(lines, final, size):
    text = "\n".join(lines).replace("\n\r\n", "\r\n\r\n").replace("\r", "") + "\n" * final
    whole = sentences(text, "columns", columns=("form", "2"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stream, "CHUNK", size)
        pieces = sentences(text, "columns", columns=("form", "2"))
    assert [(s.raw, s.line, s.words) for s in whole] == [(s.raw, s.line, s.words) for s in pieces]
    assert "".join(s.raw for s in whole) == text


def test_blank_lines_open_the_next_sentence_and_lines_are_counted():
    text = "\n \n# c\n" + row(1) + "\n\n\n\t\n# newdoc\n\n" + row(1, "x") + "\n  "
    found = sentences(text)
    assert [len(s) for s in found] == [1, 0, 1]
    assert [s.line for s in found] == [1, 6, 10]
    assert [s.line_of(0) for s in (found[0], found[2])] == [4, 10]
    assert joined(found) == text.encode()


def test_ranges_and_empty_nodes_pass_through():
    lines = [
        "# a",
        row("0.1", "e"),
        row("1-2", "don't", misc="Typo=Yes"),
        row(1, "do"),
        row(2, "n't"),
        row("2.1", "e"),
        row("2.2", "f"),
        row(3, "_"),
    ]
    text = "\n".join(lines) + "\n\n"
    [s] = sentences(text)
    assert s.words == ["do", "n't", "_"]
    assert [s.line_of(i) for i in range(3)] == [4, 5, 8]
    assert s.column("id") == ["1", "2", "3"]
    changed = s.replace({"upos": ["A", "B", "C"]})
    for before, after, value in zip(
        text.split("\n"),
        changed.split("\n"),
        [None, None, None, "A", "B", None, None, "C", None, None],
        strict=True,
    ):
        fields = before.split("\t")
        if value:
            fields[3] = value
        assert after == "\t".join(fields)
    tokens = to_token_list(s)
    assert tokens[1]["id"] == (1, "-", 2)


@pytest.mark.parametrize(
    ("text", "values", "after"),
    [
        ("a X\nb Y\n", {"2": ["P", "Q"]}, "a P\nb Q\n"),
        ("a  X \r\n b Y\r\n", {"2": ["P", "Q"]}, "a  P \r\n b Q\r\n"),
        ("a  X \r\n b Y\n", {"new": ["P", "Q"]}, "a  X  P \r\n b Y Q\n"),
        ("a\tX\nb\tY\r\n\r\n", {"2": ["P", "Q"], "new": ["R", "S"]}, "a\tP\tR\nb\tQ\tS\r\n\r\n"),
        ("a X\r\nb Y", {"new": ["P", "Q"]}, "a X P\r\nb Y Q"),
        ("a\tX\nb\tY\n\n", {"new": ["P Q", "R"], "z": ["1", "2"]}, "a\tX\tP Q\t1\nb\tY\tR\t2\n\n"),
    ],
)
def test_replace_touches_nothing_else(text, values, after):
    [s] = sentences(text, "columns", columns=("form", "2"))
    assert s.replace(values) == after


def test_one_column_grows_by_a_tab():
    [s] = sentences("a\nb\n\n", "columns")
    assert s.columns == ("form",)
    assert s.replace({"label": ["X", "Y"]}) == "a\tX\nb\tY\n\n"


def test_odd_characters_are_data():
    forms = ["\x00", "a\u2028b", "\x85", "\x0b\x0c", "\xa0", "#", '"', "a\ufeff", "e\u0301" * 999]
    forms += ["a\u2002b", "a\u3000b", "a\x1cb"]
    text = "".join(f"{form} NN\n" for form in forms)
    assert sentences(text, "columns")[0].words == forms
    text = "".join(row(i, form) + "\n" for i, form in enumerate(forms, 1))
    assert sentences(text)[0].words == forms


def test_docstart_is_passed_through():
    text = "-DOCSTART- -X- O O\n\nEU NNP I-NP I-ORG\n\n"
    found = sentences(text)
    assert [s.words for s in found] == [[], ["EU"]]
    assert found[0].columns == ("form", "pos", "chunk", "ner")
    assert found[0].replace({"ner": []}) == found[0].raw
    assert found[0].line == 1 and found[1].line == 3


def test_conllu_plus():
    text = "# global.columns = ID FORM UPOS PARSEME:MWE\n1\tdie\tDET\t*\n2\tKuh\tNOUN\t*\n\n"
    [s] = sentences(text)
    assert s.columns == ("id", "form", "upos", "parseme:MWE")
    assert s.replace({"parseme:MWE": ["1", "1"]}).count("\t1\n") == 2
    assert [t["form"] for t in to_token_list(s)] == ["die", "Kuh"]
    assert "expected 4 tab-separated columns, found 3" in message(text + "1\tx\ty\n")


def test_empty_input_and_comments_only():
    assert sentences(b"") == []
    [s] = sentences("# only = this\n")
    assert (len(s), bool(s), s.words, list(to_token_list(s))) == (0, False, [], [])
    assert [len(s) for s in sentences("\n\n")] == [0]


LINES = [
    (row(1) + "\n" + row(2).removesuffix("\t_"), ":2: expected 10 tab-separated columns, found 9"),
    (row(1) + "\t\n", '_\t"); correct the line'),
    ("Haus\tNN\n", ':1: expected 10 tab-separated columns, found 2 ("Haus"); complete the'),
    ("Haus NN\n", 'found 1 ("Haus NN"); separate the columns with tabs; if this is not CoNLL-U,'),
    (row(1, "") + "\n", ":1: expected a value in the column 'form', found an empty field in "),
    (row(1) + "\n" + row(2, upos="") + "\n", ":2: expected a value in the column 'upos'"),
    (row(1) + "\n# mid\n" + row(2) + "\n", ":2: expected comments only before the first token"),
    (row(1) + "\n" + row(1) + "\n", ":2: expected the id 2, found 1 again: sentence boundary"),
    (row(1) + "\n" + row(3) + "\n", ":2: expected the id 2, a range from 2 on (after the last"),
    (
        row(1) + "\n\n" + row(2) + "\n",
        ":3: expected the id 1 at the beginning of a sentence, found",
    ),
    (row(0), 'found "0"'),
    (row("x"), 'found "x"'),
    (row("1-2-3"), 'found "1-2-3"'),
    (row("\u0661"), 'found "\u0661"'),
    (row("9" * 5000), 'found "' + "9" * 37 + '..."'),
    (row("2-1") + "\n" + row(1), 'found "2-1"'),
    (row("1.1"), 'found "1.1"'),
    (row(1) + "\n" + row("1.2"), 'found "1.2"'),
    (row("1-3") + "\n" + row(1) + "\n" + row("2-3"), ":3: "),
    ("# c\n" + row("1-9") + "\n" + row(1), ":2: expected a range within the 1 words of the"),
    (row(1) + "\r" + row(2), ":1: expected lines that end with \\n or \\r\\n, found a carriage"),
    ("\n" + row(1) + "\r", ":2: expected lines that end"),
    (b"# x\n1\t\xff", ":2: expected UTF-8, found the byte 0xff at byte offset 6"),
]


@pytest.mark.parametrize(("data", "expected"), LINES, ids=range(len(LINES)))
def test_conllu_messages(data, expected):
    assert expected in message(data)


def test_column_messages():
    assert message("das ART B\nHaus B\n", "columns", columns=["form", "pos", "chunk"]) == (
        '<stream>:2: expected 3 columns, found 2 ("Haus"); complete the line, or name the columns '
        "with --columns"
    )
    assert (
        ":2: expected spaces between the columns as in the first token line, found a tab in "
        in message("a b\nc\td\n", "columns")
    )
    assert ":2: expected a value in the column 'label', found an empty field" in message(
        "a\tb\nc\t\n", "columns"
    )
    assert ":3: expected 2 columns, found 3" in message("a b\n\nc d e\n", "conll2002")


def test_replace_messages():
    [s] = sentences("# c\n" + row(1) + "\n" + row(2))
    for values, expected in [
        ({"upos": ["A"]}, ":1: expected 2 values in the column 'upos', one per word, found 1"),
        ({"ner": ["A", "B"]}, ":1: expected one of the columns id, form, lemma"),
        ({"upos": ["A", ""]}, ":3: expected a value for the column 'upos' that is not empty"),
        (
            {"upos": ["A\tB", "C"]},
            ":2: expected a value for the column 'upos' that is not empty and holds no separator or "
            r"line break, found 'A\tB'",
        ),
    ]:
        with pytest.raises(CorpusError) as caught:
            s.replace(values)
        assert expected in str(caught.value)
    with pytest.raises(CorpusError, match="found 'ner'; choose one of these"):
        s.column("ner")


def test_memory_is_one_block(monkeypatch):
    monkeypatch.setattr(stream, "CHUNK", 1 << 12)
    seen = []

    class Endless(io.RawIOBase):
        def read(self, size=-1):
            seen.append(size)
            return ((row(1) + "\n\n") * 200).encode()

    found = iter(read(Endless(), "conllu"))
    for _ in range(1000):
        next(found)
    assert len(seen) < 9
