"""Column files tagged block by block: the same bytes and messages as sentence by sentence."""

from __future__ import annotations

import io
from functools import cache
from itertools import chain
from sys import getsizeof

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import seqtag
from seqtag.corpus import read, stream
from seqtag.corpus.formats import joined
from seqtag.corpus.stream import LIMITS
from seqtag.engine import backend as backends
from seqtag.errors import SeqtagError
from seqtag.features.language import parse
from seqtag.segmentation import reading
from seqtag.segmentation.reading import SegmentedText
from seqtag.tagging import streams, tables
from seqtag.tagging.streams import tag_text
from tests.command_line import chunks, conllu
from tests.segmentation.test_reading import TEXT, Contractions, Rules
from tests.strategies import NATIVE

pytestmark = pytest.mark.skipif(
    NATIVE is None or backends.BACKEND != "native", reason="the native kernel is not in use"
)


# ----------------------------------------------------------------- taggers
def learned(text: str, label: str, templates: str, **options) -> seqtag.Tagger:
    data = read(io.BytesIO(text.encode()), **options)
    return seqtag.train(data, label=label, templates=parse(templates), epochs=4, min_count=1)


WORDS = "form[0]\nsuffix(1)[0]\nform[-1]\nlabel[-1]"


@cache
def tagger(name: str) -> seqtag.Tagger:
    """A tagger by the labels it gives, and what it reads besides words."""
    if name == "chunk":
        return learned(chunks(), "chunk", "form[0]\npos[0]\npos[-1]\nlabel[-1]", format="conll2000")
    if name == "iobes":
        return seqtag.train(
            read(io.BytesIO(chunks().encode()), "conll2000"),
            label="chunk",
            epochs=4,
            templates=parse("form[0]\nlabel[-2] + label[-1]\nset encoding iobes"),
        )
    if name == "morph":
        text = conllu().replace("NN\t_", "NN\tNumber=Sing")
        return learned(text, "upos+feats", WORDS)
    if name == "shape":  # reads the label column of another
        return learned(chunks(), "chunk", "form(pos)[0]\nlabel[-1]", format="conll2000")
    if name == "new":
        text = "the D\ndog N\n\na D\ncat N\nbarks V\n"
        return learned(text, "tag", WORDS, columns=["form", "tag"])
    if name in ("lemma", "of_lemmas"):  # one has a blank; the other one reads the lemmas
        text = conllu().replace("\tbarks\tVERB", "\tbark out\tVERB")
        label, templates = ("lemma", WORDS) if name == "lemma" else ("xpos", "lemma[0]")
        return learned(text, label, templates)
    if name == "blind":
        return learned("a X\nb Y\n", "tag", "bias\nlabel[-1]", columns=["form", "tag"])
    return learned(conllu(), name, WORDS)


CHAINS = [
    *map(str.split, ["upos", "xpos upos", "morph", "upos shape", "xpos chunk", "chunk", "iobes"]),
    *map(str.split, ["new", "new upos", "xpos new iobes", "blind", "upos blind", "upos xpos upos"]),
    *map(str.split, ["new upos new", "lemma", "upos lemma of_lemmas", ""]),
    ["upos", "xpos", "morph", "lemma", "of_lemmas"],  # so many that threads share them
]


# ----------------------------------------------------------------- both ways
def outcome(
    data: bytes, names: list[str], *, backend="native", threads=1, chunk=1 << 20, to=None, **options
) -> bytes | str:
    """What tagging gives: the text, or the message of the error."""
    with pytest.MonkeyPatch.context() as patch:
        if backend == "reference":
            patch.setattr(streams.backend, "Scanner", None)
        patch.setattr(stream, "CHUNK", chunk)
        try:
            sentences = read(io.BytesIO(data), **options)
            pieces = tag_text([tagger(name) for name in names], sentences, to, threads)
            return b"".join(joined(pieces, to))
        except SeqtagError as error:
            return str(error)


def assert_same(data: bytes, names: list[str], chunk: int, **options) -> bytes | str:
    """Blocks give what sentences give, in one block or many, on one thread or three."""
    expected = outcome(data, names, backend="reference", **options)
    for threads in (1, 3):
        for size in (1 << 20, chunk):
            assert outcome(data, names, threads=threads, chunk=size, **options) == expected
    return expected


def goes_natively(data: bytes, names: list[str], **options) -> bool:
    """Whether no block is left to the readable way."""
    done = []

    class Spy(tables.TableTagger):
        def tag(self, *arguments):
            done.append(super().tag(*arguments))
            return done[-1]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tables, "TableTagger", Spy)
        outcome(data, names, **options)
    return bool(done) and None not in done


# ----------------------------------------------------------------- files
FORMS = st.sampled_from(
    [
        *("the", "dog", "barks", "#", "# a", "-DOCSTART-", "1", "_", "é", "日本", "a\u00a0b"),
        *("\u2028", "\x85", "\x0b", "\x1c", "\ufeff", "\0", "x" * 300),
    ]
)
COMMENTS = st.sampled_from(
    [
        *("# text = a b", "#", "# 1\tx", "#é", "##text=x", "#sent_id=7", "# sent_id = s-1 = 2"),
        *("#\u2003text = \u00a0é\u3000\x1c", '# text =\ufeff "\\\x01', "# sent_id =", "# text"),
    ]
)
BLANKS = st.sampled_from([""] * 8 + [" ", "\t", " \t "])


def lines_of(*parts: st.SearchStrategy[list[str]]) -> st.SearchStrategy[list[str]]:
    return st.tuples(*parts).map(lambda lists: [line for part in lists for line in part])


@st.composite
def conllu_sentences(draw) -> list[str]:
    """Lines of a sentence: comments, ranges before their words, empty nodes behind theirs."""
    lines = draw(st.lists(COMMENTS, max_size=3))
    count, covered = draw(st.integers(0, 4)), 0
    for i in range(count + 1):
        if i:
            lines.append(f"{i}\t{draw(FORMS)}\tl\tOLD\tOLD\t_\t0\t_\t_\t_")
        for empty in range(draw(st.integers(0, 2)) if draw(st.booleans()) and count else 0):
            lines.append(f"{i}.{empty + 1}\tdot" + "\t_" * 8)
        if covered <= i < count and draw(st.integers(0, 3)) == 0:
            covered = draw(st.integers(i + 1, count))
            lines.append(f"{i + 1}-{covered}\tboth" + "\t_" * 8)
    return lines


@st.composite
def column_sentences(draw, columns: int, separator: str) -> list[str]:
    """Lines of a sentence, or of the head of a document."""
    if draw(st.integers(0, 5)) == 0:
        return ["-DOCSTART-" + separator.join(["", *["-X-"] * (columns - 1)])]
    forms = FORMS.filter(lambda form: " " not in form and form != "-DOCSTART-")
    rows = st.tuples(forms, *[st.sampled_from(["NN", "O", "#"])] * (columns - 1))
    return [separator.join(row) for row in draw(st.lists(rows, max_size=4))]


ODD_LINES = st.sampled_from(
    [
        "# late comment",
        "word",
        "7\tdog" + "\t_" * 8,
        "1\tdog" + "\t_" * 8,
        "2\t" + "\t_" * 8,
        "1-2\tboth" + "\t_" * 8,
        "3-2\tboth" + "\t_" * 8,
        "1-12345678901\tx" + "\t_" * 8,
        "0.1\tdot" + "\t_" * 8,
        "01\tdog" + "\t_" * 8,
        "²\tdog" + "\t_" * 8,
        " # x",
        "a b c d",
        "a  b",
        " a",
        "a ",
        "a\tb\tc",
        "a\t",
        "\ta",
        "lone\rreturn",
        "\r",
        "# lone\rreturn",
        "-DOCSTART- late",
        "a  b  c",
    ]
)


@st.composite
def files(draw, sentence: st.SearchStrategy[list[str]]) -> bytes:
    """Sentences, blank lines of many kinds, and perhaps a line that does not belong there."""
    lines: list[str] = draw(st.lists(BLANKS, max_size=2))
    for part in draw(st.lists(sentence, max_size=6)):
        lines += [*part, *draw(st.lists(BLANKS, min_size=1, max_size=3))]
    if draw(st.integers(0, 2)) == 0:
        lines.insert(draw(st.integers(0, len(lines))), draw(ODD_LINES))
    end = draw(st.sampled_from(["\n", "\n", "\r\n", None]))  # None: mixed
    ends = ["\n", "\r\n"] if end is None else [end]
    text = "".join(line + draw(st.sampled_from(ends)) for line in lines)
    if draw(st.booleans()):
        text = text.rstrip("\r\n \t")
    return (draw(st.sampled_from(["", "", "\ufeff"])) + text).encode()


FORMATS_OF_WORDS = [None, "tokens", "tagged"]
OF_FORMS = st.sampled_from(FORMATS_OF_WORDS)


@given(
    files(conllu_sentences()),
    st.sampled_from([*FORMATS_OF_WORDS, "tsv", "jsonl"]),
    st.sampled_from(CHAINS),
    st.integers(1, 300),
)
def test_conllu_files(data, to, names, chunk):
    assert_same(data, names, chunk, format="conllu", to=to)


@given(st.data(), OF_FORMS, st.sampled_from(CHAINS), st.integers(1, 60))
def test_column_files(data, to, names, chunk):
    columns = data.draw(st.sampled_from([["form"], ["form", "pos"], ["form", "pos", "chunk"]]))
    separator = data.draw(st.sampled_from(" \t"))
    file = data.draw(files(column_sentences(len(columns), separator)))
    assert_same(file, names, chunk, columns=columns, to=to)


@pytest.mark.parametrize("chunk", [1, 10, 100])
def test_the_first_of_two_errors_is_reported(chunk):
    """A label with a space, then a line with too many columns."""
    found = assert_same(b"the\nbarks\n\n# late comment\n", ["lemma"], chunk, columns=["form"])
    assert str(found).startswith("<stream>:2: expected a value for the column 'lemma'")


@pytest.mark.parametrize("columns", [["ID", "FORM", "XPOS"], ["FORM", "UPOS", "X:Y"], ["FORM"]])
@given(data=st.data())
def test_conllu_plus_files(columns, data):
    head = f"# global.columns = {' '.join(columns)}\n"
    numbered = columns[0] == "ID"
    word = st.tuples(FORMS, *[st.just("OLD")] * (len(columns) - 1 - numbered))
    sentences = st.lists(word, min_size=1, max_size=3).map(
        lambda rows: ["\t".join([str(i)] * numbered + list(row)) for i, row in enumerate(rows, 1)]
    )
    file = head.encode() + data.draw(files(sentences))
    names = data.draw(st.sampled_from(CHAINS))
    assert_same(file, names, data.draw(st.integers(1, 60)), format="conllu-plus")


# ----------------------------------------------------------------- one thing at a time
PLAIN = (
    "\ufeff# a comment\n1-2\tdu\t_\t_\t_\t_\t_\t_\t_\t_\n1\tthe\tx\tOLD\tOLD\t_\t_\t_\t_\t_\n"
    "2\tdog\tx\tOLD\tOLD\t_\t_\t_\t_\t_\n2.1\tbig\tx\t_\t_\t_\t_\t_\t_\t_\n\n"
    "# alone\n\n1\tbarks\tx\tOLD\tOLD\t_\t_\t_\t_\tSpaceAfter=No\n\n"
)


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize(
    "names", [["upos"], ["xpos", "upos"], ["morph"], ["upos", "xpos"], ["upos", "lemma"]]
)
def test_plain_files_are_read_natively(names, end):
    data = PLAIN.replace("\n", end).encode()
    found = assert_same(data, names, 40, format="conllu")
    for to in (None, "tokens", "tagged", "tsv", "jsonl"):
        assert goes_natively(data, names, format="conllu", to=to)
    assert b"OLD" in found or len(names) > 1
    assert b"2\tdog\t" + (b"dog" if "lemma" in names else b"x") + b"\tNOUN" in found
    assert b"2.1\tbig\tx\t_\t" in found


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("separator", [" ", "\t"])
@pytest.mark.parametrize("columns", [1, 2, 3])
def test_new_columns_go_behind_the_last(columns, separator, end):
    rows = [["the", "DT", "x"], ["dog", "NN", "x"], None, ["barks", "VBZ", "x"], None]
    data = end.join(separator.join(row[:columns]) if row else "" for row in rows).encode()
    options = {"columns": ["form", "pos", "x"][:columns]}
    found = assert_same(data, ["new"], 3, **options)
    gap = "\t" if columns == 1 else separator
    new = iter("DNV")
    expected = [separator.join(row[:columns]) + gap + next(new) if row else "" for row in rows]
    assert found == end.join(expected).encode()
    assert goes_natively(data, ["new"], **options)
    assert_same(data, ["new", "iobes"], 3, **options)
    assert goes_natively(data, ["new", "iobes"], **options)


def test_a_new_column_survives_a_new_last_one():
    found = assert_same(b"the X\ndog X\n", ["new", "upos"], 3, columns=["form", "upos"])
    assert found == b"the DET D\ndog NOUN N\n"


def test_a_tagger_reads_the_labels_of_the_one_before():
    text = "".join(line.rsplit(" ", 1)[0] + "\n" if line else "\n" for line in chunks().split("\n"))
    data = text.replace("DT", "WRONG").replace("NN", "WRONG").encode()[:-1]
    found = assert_same(data, ["xpos", "chunk"], 50, columns=["form", "pos"])
    assert found.decode() == chunks()
    assert goes_natively(data, ["xpos", "chunk"], columns=["form", "pos"])


@pytest.mark.parametrize(
    ("file", "names"),
    [
        ("conllu", ["xpos", "upos"]),
        ("conllu", ["upos", "xpos"]),
        ("columns", ["xpos", "chunk"]),
        ("columns", ["upos", "shape"]),
        ("columns", ["xpos", "shape"]),
    ],
)
def test_two_taggers_are_one_after_the_other(file, names):
    """The second sees what the first would write, and nothing that will be overwritten."""
    text, options = conllu(labels=False), {"format": "conllu"}
    if file == "columns":
        text, options = chunks().replace("DT", "WRONG"), {"columns": ["form", "pos", "chunk"]}
    first = assert_same(text.encode(), names[:1], 50, **options)
    second = assert_same(first, names[1:], 50, **options)
    assert assert_same(text.encode(), names, 50, **options) == second


def test_a_byte_order_mark_before_a_blank_line_hides_no_tab():
    for head in ("\n", "-DOCSTART- x\n\n"):
        data = f"\ufeff{head}the\tDT\n".encode()
        found = assert_same(data, ["upos"], 2, columns=["form", "upos"])
        assert found == data.replace(b"DT", b"DET")


@pytest.mark.parametrize("threads", [1, 3])
def test_what_comes_before_an_error_comes_out(monkeypatch, threads):
    monkeypatch.setattr(stream, "CHUNK", 30)
    good = conllu(["the dog"], labels=False) * 4
    data = (good + "1\tonly two\n\n" + good).encode()
    pieces = tag_text([tagger("upos")], read(io.BytesIO(data), "conllu"), threads=threads)
    found = []
    with pytest.raises(SeqtagError) as error:
        found.extend(iter(pieces.__next__, None))
    assert str(error.value).startswith("<stream>:17: expected 10 tab-separated columns, found 2")
    expected = good.replace("the\t_", "the\tDET").replace("dog\t_", "dog\tNOUN")
    assert b"".join(found).decode() == expected


def test_text_that_is_not_utf_8():
    for names in (["upos"], ["new"]):
        found = assert_same(b"the\n\ndog\n\n\xe9\n\n", names, 5, columns=["form"])
        assert found.startswith("<stream>:5: expected UTF-8")


def test_lemmas_are_written_by_form_and_script():
    data = conllu(["the barks", "dogs"], labels=False).encode()
    found = assert_same(data, ["lemma", "of_lemmas"], 30, format="conllu")
    assert b"2\tbarks\tbark out\t_\tVBZ" in found
    assert goes_natively(data, ["lemma", "of_lemmas"], format="conllu")


def test_lemmas_with_blanks_do_not_fit_between_blanks():
    """Blocks before the one with such a lemma, and others behind it, are as ever."""
    text = "the DT x\n\nzzz DT x\n\ndog NN x\nbarks VBZ x\n\nthe DT x\n"
    options = {"columns": ["form", "xpos", "lemma"]}
    found = assert_same(text.encode(), ["lemma", "of_lemmas"], 10, **options)
    assert str(found).startswith(
        "<stream>:6: expected a value for the column 'lemma' that is not empty"
    )
    tabs = text.replace(" ", "\t").encode()
    found = assert_same(tabs, ["lemma", "of_lemmas"], 10, **options)
    assert b"barks\tVBZ\tbark out\n" in found


OF_WORDS = [None, "conllu", "tagged", "columns", "tsv", "jsonl", "tokens"]


@given(
    st.lists(st.lists(FORMS, max_size=5)),
    st.sampled_from(OF_WORDS),
    st.sampled_from(CHAINS),
    st.integers(1, 60),
)
def test_tokens_in_each_format(sentences, to, names, chunk):
    text = "\n".join(map(" ".join, sentences))
    assume("\0" not in text[:4])  # perhaps UTF-16, which is told by what has arrived
    for ends in ("", "\n", " \t\r\n"):
        assert_same((text + ends).encode(), names, chunk, format="tokens", to=to)


@given(TEXT, st.sampled_from(OF_WORDS), st.sampled_from(CHAINS), st.integers(1, 60))
def test_segmented_text_in_each_format(text, to, names, block):
    taggers = [tagger(name) for name in names]

    def found(threads: int) -> bytes | str:
        raw = read(io.BytesIO(text.encode()), "text")
        options = {"paragraphs": "blank", "threads": threads}
        segmented = SegmentedText(raw, Rules(), Contractions(), **options)
        try:
            return b"".join(joined(tag_text(taggers, segmented, to, threads), to))
        except SeqtagError as error:
            return str(error)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(streams.backend, "Scanner", None)
        expected = found(1)
    with pytest.MonkeyPatch.context() as patch:
        assert found(1) == expected
        patch.setattr(reading, "_BLOCK_CHARACTERS", block)
        for threads in (1, 3):
            again = found(threads)
            if isinstance(expected, bytes):
                assert again == expected
            else:
                assert isinstance(again, str)


@pytest.mark.parametrize("to", OF_WORDS[1:])
def test_words_are_written_natively(to):
    data = b"the dog barks\n\nthe dog\n"
    for names in ([], ["upos"], ["upos", "lemma"], ["new", "iobes"]):
        expected = bool(names) or to != "tagged"  # which has an error
        assert goes_natively(data, names, format="tokens", to=to) == expected


def test_a_sentence_of_too_many_tokens_is_refused():
    limits = LIMITS._replace(sentence=2)
    data = b"the dog\nthe dog barks\n"
    found = assert_same(data, ["upos"], 8, format="tokens", to="tagged", limits=limits)
    assert "<stream>:2: expected at most 2 words in a sentence" in found


# ----------------------------------------------------------------- memory and order
@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("names", [["upos"], ["xpos", "chunk"], ["morph"]])
def test_a_workspace_with_too_many_types_is_replaced(monkeypatch, threads, names):
    sentences = [f"the w{n} barks x{n % 7}" for n in range(60)]
    lines = "\n\n".join("\n".join(f"{word} _" for word in s.split()) for s in sentences) + "\n"
    options = {"columns": ["form", "pos"], "threads": threads, "chunk": 64}
    expected = outcome(lines.encode(), names, backend="reference", **options)
    starts = []

    class Counting(tables.TablePlan):
        def workspaces(self):
            starts.append(self)
            return super().workspaces()

    monkeypatch.setattr(tables, "TAGGERS_BYTES", 100)  # each has more
    monkeypatch.setattr(tables, "TablePlan", Counting)
    assert outcome(lines.encode(), names, **options) == expected
    assert len(starts) > 5 + threads


@pytest.mark.parametrize("names", [["upos"], ["upos", "lemma"]])
def test_long_words_and_lemmas_are_forgotten_by_their_bytes(monkeypatch, names):
    text = "\n\n".join(f"w{n}{'x' * 1000} _ _" for n in range(60)) + "\n"
    options = {"columns": ["form", "upos", "lemma"], "chunk": 4000}
    expected = outcome(text.encode(), names, backend="reference", **options)
    held = []

    class Spy(tables.TableTagger):
        def tag(self, block):
            done = super().tag(block)
            words = sum(map(getsizeof, chain(*self._scanner.values)))
            held.append(words + sum(each.nbytes for each in self._combined.values()))
            return done

    monkeypatch.setattr(tables, "TableTagger", Spy)
    monkeypatch.setattr(tables, "TAGGERS_BYTES", 20_000)
    assert outcome(text.encode(), names, **options) == expected
    assert len(held) > 10
    assert max(held) < 40_000


def test_a_worker_that_met_an_odd_block_goes_on():
    """The odd block numbers words before it is given up: they must not stay numbered."""
    plain, odd = "dog _\n\nthe _\n\n", "barks  _\n\nzzz  _\n\n"
    for text in (plain + odd + plain, odd + plain + odd, plain + odd + "cat _\nbarks _\nthe _\n"):
        for chunk in (7, 14, 20):
            assert_same(text.encode(), ["upos", "new"], chunk, columns=["form", "upos"])
