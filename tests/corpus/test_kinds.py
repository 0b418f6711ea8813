"""Kinds of files that people have: variants of each, made at random, are read as they are meant."""

from __future__ import annotations

import gzip
import io
import pickle
import random
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

import seqtag
from seqtag.corpus import read, sniff
from seqtag.corpus.sniff import detect_format
from seqtag.errors import CorpusError
from tests.command_line import call, home
from tests.layouts import make, sentences_of

__all__ = ["call", "home"]

SEEDS = st.integers(0, 10_000)


def of(text: str | bytes, **options):
    data = text if isinstance(text, bytes) else text.encode()
    return [each for each in read(io.BytesIO(data), **options) if len(each)]


@given(SEEDS, st.integers(11, 19), st.booleans())
def test_ids_of_ranges_and_empty_nodes_are_no_words(seed, width, commented):
    draw, lines, words = random.Random(seed), [], []
    for i, sentence in enumerate(sentences_of(draw, 8)):
        lines += [f"# sent_id = {i}"] * commented
        for number, (form, _, label) in enumerate(sentence, 1):
            if draw.random() < 0.2 and number < len(sentence):
                lines.append("\t".join([f"{number}-{number + 1}", "both", *"_" * (width - 2)]))
            upos = draw.choice(["NOUN", "VERB", "PROPN"])
            row = [str(number), form, form.lower(), upos, *"_" * (width - 6), label, "x"]
            lines.append("\t".join(row))
            if draw.random() < 0.1:
                lines.append("\t".join([f"{number}.1", "it", *"_" * (width - 2)]))
        lines.append("")
        words.append([form for form, *_ in sentence])
    text = "\n".join(lines) + "\n"
    found = of(text)
    assert [each.words for each in found] == words
    assert found[0].columns[:4] == ("id", "form", "lemma", "upos")
    tagged = "".join(each.replace({"upos": ["X"] * len(each)}) for each in found)
    assert all(
        ("X" in row.split("\t")) == row.split("\t")[0].isdecimal()
        for row in tagged.split("\n")
        if "\t" in row
    )


@given(SEEDS, st.sampled_from([" ", "  ", "\u00a0"]), st.sampled_from(["form pos ner", "form ner"]))
def test_blanks_around_values_are_left_out_and_noted(seed, blank, order):
    draw = random.Random(seed)
    made = make(sentences_of(draw, 10), order=order)
    rows = [line.split("\t") for line in made.text.split("\n")]
    padded = draw.sample([row for row in rows if len(row) > 1], 5)
    for row in padded:
        at = draw.randrange(len(row))
        row[at] = draw.choice([row[at] + blank, blank + row[at]])
    text = "\n".join("\t".join(row) for row in rows)
    found = of(text)
    assert [each.words for each in found] == made.words
    assert [each.column("ner") for each in found] == made.labels
    assert [m.count for m in sniff(io.BytesIO(text.encode())).misfits] == [5]


@given(SEEDS)
def test_sentences_without_blank_lines_end_at_punctuation_if_asked(seed):
    made = make(sentences_of(random.Random(seed), 20))
    text = "\n".join(line for line in made.text.split("\n") if line) + "\n"
    assert [len(each) for each in of(text)] == [sum(map(len, made.words))]
    assert [each.words for each in of(text, sentences="punctuation")] == made.words


@given(SEEDS, st.integers(11, 16))
def test_brackets_of_conll_2012(seed, width):
    """Chunks in brackets, in the last column; rows have as many columns as they need."""
    draw = random.Random(seed)
    sentences = sentences_of(draw, 8)
    lines = ["#begin document (a/b); part 000"]
    for sentence in sentences:
        labels = [label for *_, label in sentence]
        more = ["-"] * (width - 11) + ["-"] * draw.randint(0, 3)
        for i, (form, pos, label) in enumerate(sentence):
            last = i + 1 == len(labels) or not labels[i + 1].startswith("I")
            kind = label[2:]
            name = "*"
            if label.startswith("B"):
                name = f"({kind})" if last else f"({kind}*"
            elif label.startswith("I") and last:
                name = "*)"
            lines.append("  ".join(["a/b", "0", str(i), form, pos, *"*----", name, *more]))
        lines.append("")
    text = "\n".join([*lines, "#end document", ""])
    found = of(text)
    assert [each.words for each in found] == [[form for form, *_ in each] for each in sentences]
    assert [each.column("ner") for each in found] == [[o for *_, o in each] for each in sentences]
    for each in found:
        assert each.replace({"ner": each.column("ner")}) == each.raw
        names = ["O", "B-X", "I-X", *["O"] * (len(each) - 4), "B-Y"]
        [again] = of(lines[0] + "\n" + each.replace({"ner": names}).removeprefix(lines[0] + "\n"))
        assert again.column("ner") == names


@pytest.mark.parametrize("order", ["form pos ner", "form ner", "id form pos ner"])
@pytest.mark.parametrize("spelling", ["plain", "small", "zero"])
def test_a_blind_file_is_filled_as_the_training_file_is_written(tmp_path, call, order, spelling):
    draw = random.Random(1)
    seen, unseen = sentences_of(draw, 30), sentences_of(draw, 15)
    how = {"order": order, "spelling": spelling}
    (tmp_path / "train").write_text(make(seen, **how).text)
    gold = make(unseen, **how)
    blind = make([[(form, pos, "O") for form, pos, _ in each] for each in unseen], **how)
    (tmp_path / "blind").write_text(blind.text)
    assert call("train", tmp_path / "train", "-o", tmp_path / "m", "-q").code == 0
    done = call("tag", "-m", tmp_path / "m", tmp_path / "blind", "-q")
    assert done.out.decode() == gold.text


@given(SEEDS, st.integers(0, 3))
def test_the_columns_of_conllu_plus_may_be_named_anywhere(seed, place):
    draw = random.Random(seed)
    blocks = [["# newdoc id = a"], *([f"# sent_id = {i}"] for i in range(3))]
    for block, sentence in zip(blocks[1:], sentences_of(draw, 3), strict=True):
        rows = enumerate(sentence, 1)
        block += [*(f"{i}\t{form}\t{label}" for i, (form, _, label) in rows), ""]
    blocks.insert(place + 1, ["# global.columns = ID FORM UNER:TAG"])
    text = "\n".join(line for block in blocks for line in block) + "\n"
    stream = read(io.BytesIO(text.encode()))
    assert (stream.format, stream.columns) == ("conllu-plus", ("id", "form", "uner:TAG"))
    assert "".join(each.raw for each in stream) == text


@pytest.mark.parametrize("before", ["", "w-"])
def test_rows_with_ids_become_json(tmp_path, call, before):
    text = make(sentences_of(random.Random(1), 5), order="id form pos ner").text
    (tmp_path / "in").write_text("".join(before * bool(r) + f"{r}\n" for r in text.splitlines()))
    columns = ("--columns", "id,form,_,ner")
    done = call("tag", tmp_path / "in", "--to", "jsonl", "--only", "upos", "-q", *columns)
    assert (done.code, done.out.count(b'"tokens"')) == (0, 5)


@pytest.mark.parametrize("separator", [",", ";"])
@pytest.mark.parametrize("head", ["", "sep={}\n"])
def test_rows_of_a_spreadsheet_that_are_empty_end_sentences(separator, head):
    rows = ["word,pos,tag", *["Ada,NNP,B-PER", "ran,VBD,O", ".,.,O", ",,"] * 5]
    text = head.format(separator) + "".join(f"{row}\n" for row in rows).replace(",", separator)
    sentences = list(seqtag.read(io.BytesIO(text.encode())))
    assert [each.words for each in sentences if len(each)] == [["Ada", "ran", "."]] * 5
    assert sentences[0].columns == ("form", "pos", "ner")
    assert "".join(each.raw for each in sentences) == text


@pytest.mark.parametrize(
    ("head", "row"),
    [("id,text,stars", '{},"Great food, bad service.",{}'), ("id\ttitle", "{}\tDogs bark in Oslo")],
)
def test_tables_of_texts_are_refused(head, row):
    text = f"{head}\n" + "".join(row.format(i, i % 5) + "\n" for i in range(30))
    with pytest.raises(CorpusError, match="expected one word in each row, found texts such as '"):
        seqtag.sniff(io.BytesIO(text.encode()))


@pytest.mark.parametrize("space", ["\u00a0", "\u3000"])
def test_other_spaces_between_word_and_label_are_refused(space):
    rows = [f"Ada{space}B-PER", f"ran{space}O", f".{space}O", ""]
    with pytest.raises(CorpusError, match="found a no-break or ideographic space in most rows"):
        sniff(rows * 5)
    assert sniff([*rows[:1], *["ran O", ". O", ""] * 5]).columns[0] == "form"


def test_labels_are_added_in_the_spelling_of_the_model(tmp_path, call):
    """Also to a file that has neither the column nor blank lines."""
    (tmp_path / "train.txt").write_text("Ada b-per\nran o\nRome b-loc\n. o\n\n" * 5)
    model = tmp_path / "m.seqtag"
    assert call("train", tmp_path / "train.txt", "-o", model, "--epochs", 3, "-q").code == 0
    (tmp_path / "words.txt").write_text("Ada\nran\nEOS\nRome\nEOS\n")
    done = call("tag", "-m", model, "--sentences", "EOS", tmp_path / "words.txt", "-q")
    assert done.code == 0, done.err
    lines = done.out.decode().splitlines()
    assert [line.split()[0] for line in lines] == ["Ada", "ran", "EOS", "Rome", "EOS"]
    assert {line.split()[1] for line in lines if line != "EOS"} <= {"b-per", "b-loc", "o"}


def test_scores_are_no_parts_of_speech():
    rows = ["Ada\tB-PER\t.93", "ran\tO\t0.5", ".\tO\t1.0", ""]
    assert sniff(rows * 5).columns == ("form", "ner", "3")


def test_a_comment_within_a_sentence_is_named():
    rows = "Ada\tB-PER\nran\tO\n.\tO\n# end\n\n" * 5
    with pytest.raises(CorpusError, match=r":4: .*or name its mark with --comment if it is a com"):
        list(seqtag.read(io.BytesIO(rows.encode())))
    given = seqtag.read(io.BytesIO(rows.encode()), comment="#")
    assert [len(each) for each in given] == [3] * 5


def test_labels_may_be_empty_in_most_rows():
    """``Ada<TAB>B-PER``, ``ran<TAB>``: no raw text."""
    text = "Ada\tB-PER\nran\t\nand\t\nran\t\n.\t\n\n" * 10
    sentence = next(iter(seqtag.read(io.BytesIO(text.encode()))))
    assert sentence.columns == ("form", "ner")
    assert sentence.column("ner") == ["B-PER", "O", "O", "O", "O"]
    assert sentence.replace({"ner": ["O", "O", "B-LOC", "O", "O"]}).splitlines()[:3] == [
        "Ada\t_",
        "ran\t",
        "and\tB-LOC",
    ]


@pytest.mark.parametrize("joint", "|/")
def test_words_may_have_several_tags(joint):
    """As in spaCy's format iob; a few such words have the mark themselves."""
    many, few = f"Ada{joint}NNP{joint}B-PER ", f"Ada{joint}B-PER "
    assert sniff([few * 5 + many] * 20).columns == ("form", "ner")
    assert sniff([many * 5] * 20).columns == ("form", "pos", "ner")


LINES_OF_TAGS = [
    ("the/at dog/nn sees/vbz a/at cat/nn ./.", "", ("form", "pos")),
    ("我们/r 走/v 吧/y 。/w 他/r 走/v", "", ("form", "pos")),
    ("the_at dog_nn barks_vbz a_at cat_nn", "_", ("form", "pos")),
    ("猫/名詞/ネコ が/助詞/ガ 犬/名詞/イヌ 寝る/動詞/ネル", "", ("form", "pos", "3")),
    ("Mira/PERSON Falk/PERSON likes/O Norvale/LOCATION very/O much/O ./O", "", ("form", "ner")),
]


@pytest.mark.parametrize(("line", "separator", "columns"), LINES_OF_TAGS)
def test_words_have_tags_if_these_are_few_and_recur(line, separator, columns):
    layout = sniff([line] * 10)
    assert (layout.format, layout.separator, layout.columns) == ("tagged", separator, columns)
    given = {"separator": separator} if separator else {}
    assert sniff([line], format="tagged", **given).columns == columns


@pytest.mark.parametrize(
    "line",
    [
        "and/or he/she or/and his/her",
        "1/2 3/4 1/4 3/4",
        "12/05/2024 13/05/2024 14/06/2024",
        "km/h m/s kg/m",
        "src/lib/a.py src/lib/b.py",
        "https://a.example/x https://a.example/y",
        "/usr/bin /usr/lib",
        "get_user set_name get_name set_user add_user add_name",
    ],
)
def test_slashes_between_others_than_words_and_tags_are_text(line):
    assert sniff([line] * 10).format == "text"


def test_names_joined_to_words_are_read_and_written_as_the_file_has_them():
    line = "Mira/PERSON Falk/PERSON likes/O Norvale/LOCATION ./O we/O do/O\n"
    sentence = next(iter(seqtag.read(io.BytesIO(line.encode() * 10))))
    assert sentence.column("ner")[:4] == ["I-PERSON", "I-PERSON", "O", "I-LOCATION"]
    assert sentence.replace({"ner": sentence.column("ner")}) == line
    labels = ["O", "O", "O", "B-PERSON", "O", "O", "O"]
    assert sentence.replace({"ner": labels}).startswith("Mira/O Falk/O likes/O Norvale/PERSON ")


def test_types_are_chunks_before_other_columns_if_most_words_are_outside():
    rows = ["Mira\tPERSON\tdep", "Falk\tPERSON\tdep", "is\tO\tdep", "in\tO\tdep", "Oslo\tCITY\tdep"]
    layout = sniff([*rows, ".\tO\tpunct", "", *rows, "again\tO\tdep", "now\tO\tdep"])
    assert layout.spelling(layout.columns[1]).place == "type"
    layout = sniff(["a\tN\tdep", "b\tO\tdep", "c\tV\tdep", "d\tN\tdep", "e\tO\tdep"])
    assert not layout.spellings


@pytest.mark.parametrize(
    ("start", "found"),
    [
        (b"%PDF-1.4\n%\xe2\xe3\n", "PDF; convert it with pdftotext"),
        (b"PK\x03\x04\x14\0", "a ZIP archive, as of DOCX or XLSX; unpack it"),
        (b"PAR1\x15", "Parquet or Arrow; "),
        (b"\xff\xff\xff\xff\x98\x01\0\0", "Parquet or Arrow; "),
        (b"{\\rtf1", "RTF; "),
        (zlib.compress(b"Dogs bark."), "zlib data, as of spaCy's DocBin; "),
        (pickle.dumps(["Dogs"]), "a pickle or arrays; load it where it comes from"),
        (b"a.txt".ljust(257, b"\0") + b"ustar\x0000", "a tar archive; unpack it with tar -xf"),
        (
            gzip.compress(b"a.txt".ljust(257, b"\0") + b"ustar\x0000", mtime=0),
            "a tar archive; unpack it with tar -xf",
        ),
        (
            b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n",
            "a pointer of Git LFS instead of the file; fetch it with git lfs pull",
        ),
    ],
)
def test_files_that_are_no_text_are_refused_by_name(start, found):
    with pytest.raises(CorpusError, match=f"^<stream>:1: expected text, found {found}"):
        seqtag.sniff(io.BytesIO(start))


def test_compressed_files_need_no_suffix():
    assert [each.words for each in of(gzip.compress(b"Ada B-PER\nran O\n\n" * 9, mtime=0))][:1] == [
        ["Ada", "ran"]
    ]


def test_conll_2006_may_lack_its_last_two_columns():
    rows = ["1\tDogs\t_\tN\tNNS\t_\t2\tsubj", "2\tbark\t_\tV\tVBP\t_\t0\troot", ""]
    names = ("id", "form", "lemma", "upos", "xpos", "feats", "head", "deprel")
    assert sniff(rows * 3).columns == names
    short = "\n".join([*rows * 3, rows[0][:-5], *rows])
    with pytest.raises(CorpusError, match=r":10: expected 8 columns, found 7 "):
        of(short)


ROWS = [("Ada", "B-PER"), ("King", "I-PER"), ("saw", "O"), ("Rome", "B-LOC"), (".", "O")]


@pytest.mark.parametrize(
    "odd", ["S-PER", "OO", "0", "B-", "X", "b-PER", "B_PER", "<pad>", "B--PER", "B-per"]
)
@given(st.integers(20, 60), st.data())
def test_one_odd_label_among_chunk_labels_is_named_with_its_line(odd, count, data):
    lines = [line for _ in range(count) for line in [*map("\t".join, ROWS), ""]]
    at = data.draw(st.sampled_from([i for i, line in enumerate(lines) if line]))
    lines[at] = f"{lines[at].split()[0]}\t{odd}"
    [found] = [m for m in sniff(lines).misfits if repr(odd) in m.text]
    assert (found.line, found.count) == (at + 1, 1)


@pytest.mark.parametrize(
    ("columns", "order"),
    [
        (lambda s, w: ["1-1".replace("1-1", f"{s}-{w}"), "FORM", "NER"], "1 form ner"),
        (lambda s, w: ["FORM", f"{7 * s + w}", f"{7 * s + w + 3}", "NER"], "form 2 3 ner"),
        (lambda s, w: ["FORM", "NER", f"{s}"], "form ner sentence"),
        (lambda s, w: ["FORM", f"{s}", "NER"], "form sentence ner"),
        (lambda s, w: [f"{s * 7919:08x}1", "FORM", "NER"], "sentence form ner"),
        (lambda s, w: [f"doc{s // 20}", f"{s}", "FORM", "NER"], "1 sentence form ner"),
    ],
)
def test_numbers_and_ids_are_no_words(columns, order):
    lines, words = [], []
    for s in range(1, 61):
        for w, (form, label) in enumerate(ROWS, 1):
            values = {"FORM": form, "NER": label}
            lines.append("\t".join(values.get(name, name) for name in columns(s, w)))
        lines += [""] * ("sentence" not in order)
        words.append([form for form, _ in ROWS])
    text = "\n".join(lines) + "\n"
    assert sniff(lines).columns == tuple(order.split())
    assert [each.words for each in of(text)] == words


def test_a_few_numbers_are_labels():
    lines = ["Ada\tNNP\t0", "runs\tVBZ\t1", "", "Bob\tNNP\t0", "sat\tVBD\t2", ""] * 10
    assert sniff(lines).columns == ("form", "2", "3")
    pairs = [line.replace("\tNNP", "").replace("\tVBZ", "").replace("\tVBD", "") for line in lines]
    assert sniff(pairs).columns == ("form", "label")


def test_a_given_mark_of_comments_always_wins():
    text = "# corpus\n" + "Ada NNP\nsaw VBD\n# NNP\n\n" * 20
    assert sum(map(len, of(text, comment="#"))) == 40
    assert sum(map(len, of(text, comment="none"))) == 61


def test_a_header_that_is_repeated_where_files_were_joined():
    one = "word\ttag\n" + "Ada\tNNP\nsaw\tVBD\n\n" * 15
    assert {each.words[0] for each in of(one + one)} == {"Ada"}
    assert sum(map(len, of(one + one))) == 60


TEXTS = [
    "# Results\n",
    "-DOCSTART- begins a document of CoNLL-2003.\nIt is a line.\nWhy?\n",
    "EOS\nis a line of MeCab\nafter sentences.\n",
    "Li Wei\nEOS R5\nAda Bob\nEva Lund\n",
    "EOS R5 Mark II\nAda Bob\nEva Lund\n",
    "1\t我喜欢北京。\n2\t他在学校学习。\n3\t你好吗？\n",
    "\u00a0\n\u3000\n",
]


@pytest.mark.parametrize("text", TEXTS)
def test_one_line_makes_no_columns_of_a_text(text):
    assert detect_format(text.encode(), is_text=True).format == "text"


@given(SEEDS, st.sampled_from(",;|"), st.sampled_from(["EOS", "-DOCSTART-"]))
def test_marks_of_sentences_make_a_table_to_tag_one(seed, separator, mark):
    sentences = sentences_of(random.Random(seed), 8)
    ends = "EOS" if mark == "EOS" else "blank"
    text = make(sentences, separator=separator, mark=ends).text
    head = f"{mark}\n\n" * (ends == "blank")
    layout = detect_format(f"{head}{text}".encode(), is_text=True)
    assert (layout.separator, layout.columns) == (separator, ("form", "pos", "ner"))


@given(SEEDS, st.sampled_from([8, 10, 11, 14]))
def test_a_column_of_ids_is_not_enough_for_a_treebank(seed, width):
    """There must be heads, too."""
    lines, words = [], []
    for sentence in sentences_of(random.Random(seed), 8):
        for number, (form, _, label) in enumerate(sentence, 1):
            lines.append("\t".join([str(number), form, *"a_a_a_a_a_a"[: width - 3], label]))
        lines.append("")
        words.append([form for form, *_ in sentence])
    found = of("\n".join(lines) + "\n")
    assert [each.words for each in found] == words
    assert "upos" not in found[0].columns
    assert found[0].columns[width - 1] == "ner"


@given(SEEDS)
def test_a_tab_after_each_row_changes_no_names(seed):
    rows = [
        f"{number}\t{form}\t_\tNOUN\t_\t_\t{number - 1}\tdep\t_\t_\t\n"
        for sentence in sentences_of(random.Random(seed), 3)
        for number, (form, *_) in enumerate([*sentence, ("", "", "")], 1)
    ]
    text = "".join(row if "\t\t_" not in row else "\n" for row in rows)
    assert sniff(io.BytesIO(text.encode())).columns[:4] == ("id", "form", "lemma", "upos")


@given(SEEDS, st.integers(2, 5), st.booleans())
def test_numbers_of_sentences_are_no_ids(seed, count, header):
    sentences = sentences_of(random.Random(seed), count)
    rows = [f"{i}\t{form}\t{o}" for i, each in enumerate(sentences, 1) for form, _, o in each]
    text = "\n".join(["Sentence\tWord\tTag\n"] * header + rows) + "\n"
    assert [each.words for each in of(text)] == [[form for form, *_ in each] for each in sentences]


@given(SEEDS, st.sampled_from(["word\tpos\tlabel", "doc\tstart\ttoken\tpos\tstance"]))
def test_headers_with_other_names_or_with_names_that_are_labels(seed, titles):
    draw = random.Random(seed)
    sentences = sentences_of(draw, 8)
    before = "a.txt\t7\t" if "doc" in titles else ""
    rows = [
        f"{before}{form}\tX\t{draw.choice(['POS', 'NEG'])}" for s in sentences for form, *_ in s
    ]
    found = of("\n".join([titles, *rows]) + "\n")
    assert sum(map(len, found)) == len(rows)
    assert "form" in found[0].columns


@given(SEEDS, st.booleans(), st.sampled_from(["POS", "0.75"]))
def test_offsets_are_never_the_words(seed, with_ids, label):
    draw, lines = random.Random(seed), []
    sentences = sentences_of(draw, 20)
    for sentence in sentences:
        for number, (form, *_) in enumerate(sentence, 1):
            tag = draw.choice([label, "0.5" if label[0] == "0" else "NEG"])
            row = [str(number)] * with_ids + [form, str(7 * len(lines)), tag]
            lines.append("\t".join(row))
        lines.append("")
    words = [[form for form, *_ in each] for each in sentences]
    assert [each.words for each in of("\n".join(lines) + "\n")] == words


@given(SEEDS)
def test_a_sentence_that_begins_with_the_mark_makes_no_words_of_comments(seed):
    sentences = sentences_of(random.Random(seed), 30)
    sentences[7].insert(0, ("#", "RB", "O"))
    lines = []
    for i, sentence in enumerate(sentences):
        lines += [f"# sent {i}", *(" ".join(word) for word in sentence), ""]
    found = of("\n".join(lines) + "\n")
    assert [each.words for each in found] == [[form for form, *_ in each] for each in sentences]


@given(SEEDS)
def test_a_tag_that_is_a_title_makes_no_header(seed):
    sentences = sentences_of(random.Random(seed), 8)
    rows = [
        f"{'NUM' if i % 3 == 0 else 'X'}\t{form}"
        for s in sentences
        for i, (form, *_) in enumerate(s)
    ]
    assert not sniff(rows).header
    assert not sniff(["ran\tNE", *rows[:5]]).header
