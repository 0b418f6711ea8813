"""Detection by the weight of the evidence: a damaged row never changes what a file is."""

from __future__ import annotations

import io
import logging
import re

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from seqtag.corpus import FORMATS, read
from seqtag.corpus.layout import LayoutOptions, Learned
from seqtag.corpus.sniff import detect_format
from seqtag.errors import CorpusError
from seqtag.labels.spelling import Spelling

WORDS = ["the", "Dog", "barks", ".", "#", "(", "1", "U.S.", "naïve", "我"]
TAGS = ["DT", "NN", "VBZ", ".", "PRP$", "-LRB-", "ADJA:Pos"]
CHUNKS = ["B-NP", "I-NP", "O", "B-VP"]


def text_of(sentences, separator: str, end: str = "\n") -> str:
    """Rows of fields as a column file."""
    blocks = (end.join(separator.join(row) for row in rows) + end for rows in sentences)
    return end.join(blocks)


def outcome(text: str, columns: int) -> int | None:
    """The line of the error, or None if the file is read; never as anything but columns."""
    try:
        stream = read(io.BytesIO(text.encode()))
        assert stream.format == "columns"
        assert len(stream.columns) == columns
        assert list(stream)
    except CorpusError as error:
        found = re.match(r"<stream>:([0-9]+): expected ", str(error))
        return int(found[1]) if found else -1
    return None


@st.composite
def column_files(draw):
    """Sentences with two to four columns; two rows at least have no label that ends sentences."""
    width = draw(st.integers(2, 4))
    choices = [WORDS, TAGS, CHUNKS, ["O", "B-PER", "I-ORG"]]
    last = {2: draw(st.sampled_from([TAGS, CHUNKS])), 3: CHUNKS, 4: choices[3]}[width]
    columns = [*choices[: width - 1], last]
    row = st.tuples(*map(st.sampled_from, columns)).map(list)
    sentences = draw(st.lists(st.lists(row, min_size=2, max_size=4), min_size=1, max_size=4))
    plain = [
        ["dog", "NN", "B-NP"][: width - 1] + last[:1],
        ["cat", "NN", "O"][: width - 1] + last[1:2],
    ]
    labels = [row[-1] for sentence in [*sentences, plain] for row in sentence]
    assume(2 * sum(label[0].isalpha() for label in labels) > len(labels))  # full stops are mixed
    return width, [*sentences, plain]


def damage(draw, row: list[str], separator: str) -> str:
    """A row with one thing wrong."""
    kind = draw(st.sampled_from(["drop", "extra", "gap", "gaps", "empty"]))
    at = draw(st.integers(0, len(row) - 1))
    other = {"\t": " ", " ": "\t"}[separator]
    if kind == "drop":
        return separator.join(row[:at] + row[at + 1 :])
    if kind == "extra":
        more = draw(st.sampled_from(["x", "NN", ".", "1"]))  # "#" would make a comment of it
        return separator.join([*row[:at], more, *row[at:]])
    if kind == "gaps":
        return other.join(row)
    if kind == "empty" and separator == "\t":
        return separator.join([*row[:at], "", *row[at + 1 :]])
    at = max(at, 1)
    return separator.join(row[:at]) + other + separator.join(row[at:])


@given(st.data(), column_files(), st.sampled_from("\t "), st.sampled_from(["\n", "\r\n"]))
def test_a_damaged_row_of_columns_is_named(data, file, separator, end):
    width, sentences = file
    assert outcome(text_of(sentences, separator, end), width) is None
    lines = text_of(sentences, separator, end).split(end)
    rows = [number for number, line in enumerate(lines) if line]
    at = data.draw(st.sampled_from(rows))
    lines[at] = damage(data.draw, lines[at].split(separator), separator)
    if not lines[at].strip() or lines[at].startswith("#"):  # a blank line, or a comment
        return
    bom = data.draw(st.sampled_from(["", "\ufeff"]))
    assert outcome(bom + end.join(lines), width) == at + 1


ODD_IDS = ["0", "2", "a", "", "1-", "01", "1.2", "-", "_", "1-1x", "\u0661", None]


@st.composite
def conllu_files(draw):
    """CoNLL-U, with or without comments and annotation."""
    sentences = []
    for _ in range(draw(st.integers(1, 3))):
        rows = []
        for number in range(1, draw(st.integers(1, 3)) + 1):
            feats = draw(st.sampled_from(["_", "Case=Nom|Number=Sing"]))
            head = draw(st.sampled_from(["_", "0", "2"]))
            word = draw(st.sampled_from(WORDS))
            rows.append([str(number), word, word, "NOUN", "NN", feats, head, "_", "_", "_"])
        sentences.append((draw(st.sampled_from(["", "# text = x\n", "# newdoc\n"])), rows))
    return sentences


@given(st.data(), conllu_files())
def test_a_damaged_row_of_conllu_is_named(data, file):
    text = "\n".join(head + text_of([rows], "\t") for head, rows in file)
    assert [s.format for s in [read(io.BytesIO(text.encode()))]] == ["conllu"]
    lines = text.split("\n")
    at = data.draw(st.sampled_from([n for n, line in enumerate(lines) if "\t" in line]))
    row = lines[at].split("\t")
    if data.draw(st.booleans()):
        row[0] = data.draw(st.sampled_from([i for i in ODD_IDS if i != row[0]]))
        lines[at] = "\t".join(field for field in row if field is not None)
    else:
        lines[at] = damage(data.draw, row, "\t")
    assume(not lines[at].startswith("#"))  # a comment, then
    stream = read(io.BytesIO("\n".join(lines).encode()))
    assert stream.format == "conllu"
    with pytest.raises(CorpusError) as caught:
        list(stream)
    assert caught.value.line == at + 1


@pytest.mark.parametrize(
    "text",
    [
        "Dear John,\tHello there\nhow are you today my friend\nfine\n",
        "\tThe dog barks.\n\tThe cat sleeps well today.\n",
        "I saw\tit.\nIt was good, very good.\n\nYes it was.\n",
        "All is well.\tNothing to see\there.\nMove on.\nPlease do so now.\n",
        "这是一个句子。\n另一个句子也在这里。\n\n第三个。\n第四个句子。\n",
        "นี่คือประโยคแรกของข้อความ\nนี่คือประโยคที่สองของข้อความ\n\nนี่คือประโยคที่สาม\nอีกประโยคหนึ่ง\n",
        "John Smith\nMary Jones\nBob Brown\n",
        "the dog barks .\nthe cat sleeps .\n" * 20,
        "the dog sleeps\na cat barks\n" * 20,
        "# Title\n\nSome text here is good.\n",
        "(A note.) Hello\n(B note.) Bye\n",
        "TCP/IP and OSI\n",
        "Take the I-95\n",
        "Evet.\nEvet.\n",
        "and/or is a word\n",
        "(Reuters) Hello (you).\n",
        "Hello\n",
        "Virginia,\nHello.\n",
        "03/21/2001 01:58 PM\nAny of them will be highlighted in red .\n",
        "Home games are on Friday , May 12 in Miami SOL\nIt is hot there .\n" * 9,
        "The old man\nwho lived here\nsees it.\n\nHe then goes to\nthe blue house.\n",
        'The dog barks\nand runs.\n\nThe cat sees it\nand "sleeps."\n',
        "A title is here\nIts text is here.\n\nA title is there\nIts text is there!\n",
        "the dog sleeps here .\na cat barks at TV\nthe dog sees it .\nshe barks too .\n" * 5,
    ],
)
def test_prose_stays_prose(text):
    assert detect_format(text.encode()).format == "text"


@pytest.mark.parametrize(
    "text",
    [
        "The dog\tbarks.\n",
        "s1\tThe dog barks .\ns2\tThe cat sleeps .\n",
        "The film is great\tPOS\nThe film is bad\tNEG\n",
        "a\tb\tc\na\tb\na\n",
        "dog nn\nbarks vb\n. punct\n\n",
        "dog nn\nbarks\n\ncat nn\nsleeps vb\n",
        "dog NN\nbarks\n",
        "dog\nbarks\n",
        "dog\nbarks loud\n\ncat\n",
        "The dog\nbarks .\n\nThe cat\nsleeps .\n\nIt rains\nhard .\n",
        "dog n\nbarks v\n. Z:\n\ncat n\nsleeps v\n. Z:\n",
        "BREAKING NEWS TODAY\nSTOCKS FALL AGAIN\n",
        "I live in the US\nShe left for the UK\n",
        "John, 24, London E14\nJohn, 22, London E17\n",
        "Tom:\tHello.\nAnn:\tHi!\nTom:\tBye.\n",
    ],
)
def test_mixed_evidence_is_refused(text):
    message = r"<stream>: expected a recognizable format, .* name it with --format columns"
    with pytest.raises(CorpusError, match=message):
        read(io.BytesIO(text.encode()))


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        ("New York\tB-LOC\nis\tO\n\n", "form ner"),
        ("học sinh\tN\nđi\tV\nhọc\tV\n\n", "form label"),
        ("( ( O\ndog NN B-NP\n\n", "form pos chunk"),
        ("dog VER:pres\ncat NOM\n\n", "form label"),
        ("x Case=Nom\ny _\n\n", "form label"),
        ("我 r\n爱 v\n你 r\n\n" * 5, "form label"),
        ("кот сущ\nспит гл\nи союз\n\n" * 5, "form label"),
        ("кот СУЩ\nспит ГЛ\n", "form label"),
        ("我\n爱\n你\n\n好\n吗\n", "form"),
        ("The\ndog\nbarks\n\n", "form"),
        ("w1 a1 B\nw2 a2 I\nw3 a3 O\n\n", "form pos chunk"),
        ("w1 a1 B-X\nw2 a2 NN\n" + "w a O\n" * 20, "form pos ner"),
        ("dog NN B-NP", "form pos chunk"),
        ("\n \n", "form"),
        ("# # I-NP\n1 CD I-NP\n\n", "form pos chunk"),
        ("a DT O\nb NN O\n\n", "form pos chunk"),
        ("a b DT x NN\nc d NN y VB\n", "form 2 3 4 5"),
        ("-DOCSTART- -X- O O\n\n", "form"),
        ("-DOCSTART- -X- O O\n\na NN B-NP O\nb NN I-NP\nc NN I-NP O\n", "form pos chunk ner"),
        ("1\ta\tB-X\n2\tb\tO\n3\tc\tO\n\n1\td\tB-X\n2\te\tO\n", "id form ner"),
        ("1\ta\tX\n2\tb\tY\n3\tc\tX\n\n1\td\tX\n2\te\tY\n", "id form label"),
        ("1\t10\tX\n1\t11\tY\n1\t12\tX\n", "sentence form label"),
        (
            "#begin document (x); part 000\na DT B-NP\nb NN I-NP\n\n#end document\n",
            "form pos chunk",
        ),
        ("###MEDLINE:1\n\nIL-2\tB-DNA\ngene\tI-DNA\n\n", "form ner"),
    ],
)
def test_columns_of_all_kinds(text, columns):
    found = detect_format(text.encode())
    assert (found.format, found.columns) == ("columns", tuple(columns.split()))


@pytest.mark.parametrize(
    ("text", "evidence"),
    [
        ("", ""),
        ("a DT B-NP\nb NN\nc NN I-NP\n", "columns form pos chunk (3 fields in 2 of 3 rows)"),
        (
            "7.8 CD B-NP\n% NN I-NP\n; : O\n1988 CD B-NP\nso RB O\n",
            "columns form pos chunk (3 fields in 5 of 5 rows)",
        ),
        ("1\ta" + "\t_" * 8 + "\n", "conllu (10 tab-separated fields in 1 of 1 row)"),
        ("# a = b\n", "conllu (nothing but comments)"),
        ("1 a _ _ _ _ _ _ _ _\n", "conllu (10 tab-separated fields in 0 of 1 row)"),
        ("#\t#\tO\n", "columns form pos chunk (3 fields in 1 of 1 row)"),
        ("# global.columns = ID FORM\n", "conllu-plus id form (named by # global.columns)"),
        ("A/B c/D\ne f/G\n", "tagged (word/TAG in 3 of 4 items)"),
        ("[ A/B ]\n", "pos (word/TAG in 1 of 1 item)"),
        ("(S (NP (DT a)\n) (V b))", "mrg (1 line of 2 open a bracket)"),
        ("NP (DT a))\n(S (NP (DT a)))\n((S (NP (DT b))))", "mrg (2 lines of 3 open a bracket)"),
        ("The dog barks.\nThe cat.\n", "text (2 lines of 2 to 3 words)"),
        ("-DOCSTART-\n", "columns form (-DOCSTART-)"),
    ],
)
def test_what_was_found_out_is_logged(text, evidence, caplog):
    with caplog.at_level(logging.INFO, "seqtag"):
        stream = read(io.BytesIO(text.encode()))
    assert caplog.messages == ([f"<stream>: read as {evidence}"] if evidence else [])
    caplog.clear()
    read(io.BytesIO(text.encode()), stream.format if text else "text")
    assert caplog.messages == []


def test_the_separator_of_most_rows_is_that_of_the_file():
    text = "a NN\nb\tNN\nc\tNN\n"
    for format in ("auto", "columns", "conll2002"):
        with pytest.raises(CorpusError, match=r"^<stream>:1: expected 2 columns, found 1"):
            list(read(io.BytesIO(text.encode()), format))


@example("#" + " " * 70_000)
@example("A" * 70_000 + "=")
@example("(" * 70_000)
@example("/A" * 35_000)
@example(("(" + "A" * 60 + " ") * 1200)
@example("\t" * 70_000)
@example("\n \n" * 20_000)
@example("# a" + "a" * 70_000)
@example("=\n" * 35_000)
@given(st.text("#(=/A \t\n1_-.é。[]", max_size=60))
def test_any_text_is_recognised_or_refused(text):
    try:
        found = detect_format(text.encode()).format
    except CorpusError as error:
        found = str(error)
    assert found in FORMATS or "name it with --format" in found


def test_blank_lines_around_all_rows_are_no_ends_of_sentences():
    rows = "# doc {}\n{}\tAda\tB-PER\n{}\tran\tO\n{}\t.\tO\n"
    text = "id\tword\ttag\n" + "".join(rows.format(i, 1, 2, 3) for i in range(4))
    for around in (f"{text}\n\n", f"\n{text}", text + text):
        found = [each.words for each in read(io.BytesIO(around.encode())) if len(each)]
        assert found == [["Ada", "ran", "."]] * (4 + 4 * (around == text + text))


def test_columns_that_only_carriage_returns_end():
    rows = "Ada\tB-PER\nran\tO\n.\tO\n\n" * 3
    with pytest.raises(CorpusError, match=r":1: expected lines that end with .n or"):
        read(io.BytesIO(rows.replace("\n", "\r").encode()))
    text = b"Ada ran home.\rThen she sat down, and slept.\r"
    assert detect_format(text).format == "text"


TEXTS = [
    "Hello, world\n",
    "Dear Ms Falk,\n",
    "a; b\n",
    "New York, NY\nParis, France\n",
    "Oslo; NO\nRome; IT\n\nBern; CH\nParis; FR\n",
    "| name | role |\n|------|------|\n| Mira | editor |\n| Tavo | editor |\n",
    "word,tag\nMira,N\nsleeps,V\n",
    "dog\tNN\n",
    "1\tGood morning to all of you\n2\tMira Falk is here today\n",
    "Paris FR\nRome IT\nBonn DE\n",
    "1 egg\n2 apples\n1 pear\n2 nuts\n",
    "Oslo NO\nBergen NO\n\nRome IT\nTurin IT\n" * 5,
    "Mira Falk\nTavo Falk\nLunet Odden\nPavo Odden\n" * 5,
    "tea OK\ntea OK\n",
    "Mira Falk\n-----\nTavo Odden\n-----\nLunet Rask\n",
    "Mira\nTavo\nLunet\n",
    "milk\neggs\n\nsoap\npaper\nbags\n",
]
TABLES = [
    ("Mira\tOslo\nTavo\tRome\n", ("form", "label"), ""),
    ("The DT B-NP\ndog NN I-NP\nbarks VBZ B-VP\n\n", ("form", "pos", "chunk"), ""),
    ("the at\ndog nn\n. .\n\n" * 4, ("form", "label"), ""),
    ("-DOCSTART-\n\nMira\nsleeps\n\n", ("form",), ""),
    ("<doc>\n<s>\nMira\nsleeps\n</s>\n<s>\nTavo\nsits\n</s>\n</doc>\n", ("form",), ""),
    ("Mira,B-PER\nsleeps,O\n\nTavo,B-PER\nsits,O\n", ("form", "ner"), ","),
    ("Mira\nsleeps\n\nTavo\nsits\n", ("form",), ","),
]


@pytest.mark.parametrize("text", TEXTS)
def test_text_to_tag_is_no_table_without_tabs_or_labels_that_recur(text):
    assert detect_format(text.encode(), is_text=True).format == "text"


@pytest.mark.parametrize(("text", "columns", "mark"), TABLES)
def test_tables_to_tag_have_tabs_or_labels_or_are_as_the_model_was_trained(text, columns, mark):
    like = Learned(("form", "ner"), "ner", Spelling(), mark) if mark else None
    layout = detect_format(text.encode(), LayoutOptions(like=like), is_text=True)
    assert (layout.format, layout.columns) == ("columns", columns)


@pytest.mark.parametrize("title", ["id", "index", "Satz", "doc", "number", "Sentence #"])
@pytest.mark.parametrize(("numbers", "name"), [("11223344", "sentence"), ("12121212", "id")])
def test_numbers_under_any_title_count_words_or_sentences(title, numbers, name):
    rows = [f"{number},{word},O" for number, word in zip(numbers, 4 * ["Mira", "ran"], strict=True)]
    found = detect_format("\n".join([f"{title},word,ner", *rows, ""]).encode())
    name = "sentence" if title == "Sentence #" else name
    assert (found.header, found.columns) == (True, (name, "form", "ner"))


@pytest.mark.parametrize(
    ("row", "columns"),
    [("Mira\tB-PER\n", ("form", "ner")), ("Mira\tNNP\n", ("form", "pos"))],
)
def test_columns_of_a_model_are_those_of_a_file_unless_it_has_what_is_learned(row, columns):
    like = Learned(("form", "pos", "ner"), "ner", Spelling(), "\t")
    assert detect_format(4 * (row + "\n").encode(), LayoutOptions(like=like)).columns == columns
