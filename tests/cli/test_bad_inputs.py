"""Bad inputs, by the rows of a catalogue: 1 to 36, what lines and fields can hold.

The others are in test_bad_inputs_files.py. Every test reads the whole message, or all that is
written; ``--lenient`` and ``--strict`` too where they make a difference.
"""

# ruff: noqa: F401, F811  (fixtures are imported, then asked for by name)
from __future__ import annotations

import json

import pytest

import seqtag
from seqtag.errors import SeqtagError
from tests.bad_inputs import COLUMNS, GOOD, NAME, bench, row, span
from tests.command_line import call, home


# ------------------------------------------------------------------------------ lines and ends
@pytest.mark.parametrize("data", [b"", b"\xef\xbb\xbf"])
def test_01_empty_file(bench, data):
    bench.write(data)
    tagged = bench.tag()
    assert (tagged.code, tagged.out, tagged.err) == (0, data, "")
    for done, what in ((bench.train(), "learn from"), (bench.eval(), "score")):
        assert (done.code, done.out) == (1, b"")
        assert done.err == f"seqtag: {NAME}: expected sentences to {what}, found none\n"
    for done, what in (
        (bench.call("eval", NAME, NAME), "score"),
        (bench.call("compare", NAME, NAME, "train.conllu"), "score"),
        (bench.call("train", "train.conllu", NAME, "-o", "new"), "learn from"),
        (bench.call("train", NAME, "train.conllu", "-o", "new"), "learn from"),
    ):  # an empty file has no columns, which is not what is wrong with it
        assert (done.code, done.out) == (1, b"")
        assert done.err == f"seqtag: {NAME}: expected sentences to {what}, found none\n"


@pytest.mark.parametrize("data", ["\n", "# a\n\n# b\n", "# a"])
def test_02_only_blank_lines_or_comments(bench, data):
    raw = bench.write(data)
    tagged = bench.tag()
    assert (tagged.code, tagged.out) == (0, raw)
    assert ("blank line" in tagged.err) is (data == "\n")
    for done, what in ((bench.train(), "learn from"), (bench.eval(), "score")):
        assert done.code == 1
        assert done.err.endswith(f"seqtag: {NAME}: expected sentences to {what}, found none\n")


def test_03_byte_order_mark(bench):
    bench.passes("\ufeff" + GOOD, 2)
    inside = GOOD + row(1, "\ufeffdog") + "\n"  # only the head of a file has one
    bench.passes(inside, 3, exact=False)


def test_04_carriage_return_and_line_feed(bench):
    bench.passes(GOOD.replace("\n", "\r\n"), 2)
    bench.passes(GOOD + GOOD.replace("\n", "\r\n"), 4)


def test_05_lone_carriage_return(bench):
    message = (
        ": expected lines that end with \\n or \\r\\n, found a carriage return (\\r) without \\n; "
        "convert the line ends of the file, for example with tr '\\r' '\\n'"
    )
    bench.refused(GOOD.replace("\n", "\r"), f":1{message}")
    bench.refused_but_leniently(GOOD + GOOD.replace("\tdog", "\td\rog"), f":5{message}")


def test_06_no_final_line_end(bench):
    bench.passes("the DET\ndog NOUN\n", 2, *COLUMNS)
    bench.passes("the DET\ndog NOUN", 2, *COLUMNS)
    bench.passes("the DET\n\ndog NOUN", 2, *COLUMNS, "--strict")


def test_07_several_blank_lines(bench):
    bench.noted(
        GOOD + "\n\n" + GOOD,
        4,
        ":4",
        "2 blank lines that end no sentence, the first here; kept",
        "expected one blank line after a sentence and none before the first, found one more; "
        "remove it",
    )
    bench.noted(
        GOOD[:-1] + " \t\n" + GOOD,
        4,
        ":3",
        "a blank line that holds spaces or tabs; treated as blank",
        "expected an empty line, found spaces or tabs; remove them",
    )


NO_TABS = (
    "expected 10 tab-separated columns, found 1 ({}); separate the columns with tabs; if this is "
    "not CoNLL-U, it looks like 10 columns: use --format columns"
)


def test_08_single_spaces_for_tabs(bench):
    spaced = GOOD.replace("\t", " ")
    bench.refused(spaced, f":1: {NO_TABS.format(chr(34) + '1 the _ DET _ _ _ _ _ _' + chr(34))}")
    bench.passes("the DET\ndog NOUN\n\n", 2, *COLUMNS)  # the separator of a column file


def test_09_two_spaces_for_tabs_and_mixed_separators(bench):
    message = NO_TABS.format('"1  the  _  DET  _  _  _  _  _  _"')
    bench.refused_but_leniently(GOOD + GOOD.replace("\t", "  "), f":4: {message}")
    bench.refused_but_leniently(
        "the DET\ndog NOUN\n\na\tDET\n\n",
        ":4: expected spaces between the columns as in the first token line, found a tab in "
        '"a\tDET"; use one separator in the file',
        *COLUMNS,
    )
    bench.noted(
        "the DET\ndog  NOUN\n\n",
        2,
        ":2",
        "a sentence with several spaces between columns, or some around them; treated as one space "
        "each",
        "expected one space between columns and none around them, found more; leave one",
        *COLUMNS,
    )


# ------------------------------------------------------------------------------------- columns
@pytest.mark.parametrize(
    ("line", "count"),
    [(row(1)[:-3] + "\n", 9), (row(1)[:-1] + "\t_\n", 11), (row(1)[:-1] + "\t\n", 11)],
)
def test_10_missing_or_extra_column_or_trailing_tab(bench, line, count):
    bench.refused_but_leniently(
        f"{GOOD}{line}\n",
        f':4: expected 10 tab-separated columns, found {count} ("{line[:-1]}"); complete the line',
    )


def test_11_column_count_changes_in_mid_file(bench):
    bench.refused_but_leniently(
        "the DET\ndog NOUN\n\na DET x\ncat NOUN x\n\n",
        ':4: expected 2 columns, found 3 ("a"); complete the line, or name the columns with '
        "--columns",
        *COLUMNS,
    )
    bench.write("the DET\ndog NOUN\n\na DET x\ncat NOUN x\n\n")
    found_out = bench.train("--label", "label")
    assert found_out.err.startswith(f"seqtag: {NAME}:4: expected 2 columns, found 3")


def test_12_two_columns_given_as_conllu(bench):
    bench.refused(
        "the\tDET\ndog\tNOUN\n\n",
        ':1: expected 10 tab-separated columns, found 2 ("the"); looks like 2 columns; use '
        "--format columns",
        "--format",
        "conllu",
    )


@pytest.mark.parametrize("column", ["form", "upos"])
def test_13_empty_form_or_tag(bench, column):
    line = row(1, **{column: ""})
    bench.refused_but_leniently(
        f"{GOOD}{line}\n",
        f":4: expected a value in the column '{column}', found an empty field in "
        f'"{line[:-1]}"; fill it in',
    )


def test_14_unannotated_tag(bench):
    raw = bench.write(GOOD + row(1, "the", "_") + row(2) + "\n")
    tagged = bench.tag()
    assert (tagged.code, tagged.out, tagged.err) == (0, 2 * GOOD.encode(), "")
    learned = bench.train()
    assert (learned.code, learned.err) == (
        1,
        f'seqtag: {NAME}:4: expected a label in the column upos, found "_" (not annotated); '
        "annotate it, or leave such sentences out with --unlabeled skip, or let seqtag train "
        "learn from their other words with --unlabeled learn-around\n",
    )
    skipped = bench.train("--unlabeled", "skip")
    assert skipped.err.startswith("seqtag: note: 1 sentences with unannotated words were skipped")
    scored = bench.eval("--json")
    assert json.loads(scored.out)["tokens"] == 4
    assert scored.err == (
        'seqtag: note: 1 of 4 gold labels in the column upos are "_" (not annotated), which is '
        "scored like any label; leave such sentences out to score only the others\n"
    )
    assert b"_" in raw


# -------------------------------------------------------------------------------------- values
@pytest.mark.parametrize(
    "form",
    [
        pytest.param("_", id="15 underscore"),
        pytest.param("10 000\u00a0km", id="16 spaces"),
        pytest.param("a\u2028b\u2029c\u0085d\ve\ff\x1cg", id="17 line ends of other standards"),
        pytest.param("\U0001f469\u200d\U0001f469\u200d\U0001f467", id="21 joiners"),
        pytest.param("\u202eabc\u202c", id="21 directions"),
        pytest.param("\u05d0\u05d1", id="21 right to left"),
        pytest.param("\u200b", id="21 invisible"),
        pytest.param("e" + "\u0301" * 1000, id="23 a thousand marks on one letter"),
        pytest.param("x" * 10**6, id="24 a million characters"),
    ],
)
def test_any_form_is_a_word(bench, form):
    bench.passes(GOOD + row(1, form) + "\n", 3, exact=False)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(span("1-2", "thedog") + GOOD, id="26 multiword token"),
        pytest.param(
            span("0.1", "x") + row(1, "the", "DET") + span("1.1", "x") + row(2) + "\n",
            id="28 empty nodes",
        ),
        pytest.param(GOOD.replace("\t_\t_\t_\n", "\tnan\t_\t_\n"), id="32 head that is no number"),
        pytest.param(GOOD.replace("\t_\t_\t_\n", "\t1\t_\t_\n"), id="32 heads that are no tree"),
        pytest.param("# a = 1\n# a = 2\n" + GOOD, id="34 key of comments twice"),
        pytest.param(
            GOOD.replace("\t_\t_\t_\t_\t_\n", "\tA=b|A=c\t_\t_\t_\t_\n"), id="35 feature twice"
        ),
    ],
)
def test_what_is_passed_through(bench, text):
    bench.passes(text, 2)


def test_18_null_byte(bench):
    bench.passes(GOOD + row(1, "a\0b") + "\n", 3, exact=False)
    tagger = seqtag.load("upos.seqtag")
    assert "the\0" not in tagger.known_words and "the" in tagger.known_words  # not cut short


def test_19_no_utf8(bench):
    convert = (
        "convert the file to UTF-8, for example with iconv -f WINDOWS-1252 -t UTF-8 (if it is "
        "Western)"
    )
    latin = (GOOD + row(1, "caf\u00e9") + "\n").encode("latin-1")
    for options in ((), ("--lenient",)):
        bench.refused(
            latin,
            ":4: expected UTF-8, found the byte 0xe9 at byte offset "
            f"{latin.index(0xE9)} (invalid continuation byte); {convert}",
            *options,
        )
    for name, found in (
        ("utf-16", "byte order mark"),
        ("utf-16-le", "alternating null bytes"),
        ("utf-16-be", "alternating null bytes"),
    ):
        shown = name.upper().replace("-L", "L").replace("-B", "B")
        bench.refused(
            GOOD.encode(name),
            f":1: expected UTF-8, found the {found} of UTF-16; convert the file, for example with "
            f"iconv -f {shown} -t UTF-8",
        )


def test_20_lone_surrogate(tmp_path):
    """Files cannot hold one: this is for who calls the library."""
    tagger = seqtag.train([["a\ud800", "b"]], [["X", "Y"]], epochs=1, min_count=1)
    assert tagger.tag(["a\ud800", "b"]) == ["X", "Y"]
    odd = seqtag.train([["a"]], [["X\ud800"]], epochs=1, min_count=1)
    with pytest.raises(SeqtagError) as caught:
        odd.save(tmp_path / "odd.seqtag")
    assert str(caught.value) == (
        "expected strings that UTF-8 can express, found 'X\\ud800' at index 0; remove the lone "
        "surrogate"
    )
    assert not (tmp_path / "odd.seqtag").exists()


def test_22_composed_and_decomposed_letters(bench):
    """Words count as their composed forms; labels and the words of two files must be the same."""
    composed, decomposed = "caf\u00e9", "cafe\u0301"
    both = row(1, composed) + "\n" + row(1, decomposed) + "\n"
    bench.write(GOOD + both)
    found = (
        "1 of 4 words are not in the composed Unicode form (NFC), such as cafe\u0301, but others "
        "are; all are read as composed, and outputs keep the original bytes\n"
    )
    assert bench.train().err.startswith(f"seqtag: note: {found}")
    assert bench.train("--label", "tokens,upos").err.count(found) == 1
    assert bench.tag().err == ""
    for one in (composed, decomposed):  # where all are spelt alike there is nothing to say
        bench.write(GOOD + row(1, one) + "\n")
        assert "NFC" not in bench.train().err + bench.eval().err
    bench.write(GOOD + both)
    first, second = (line.split(b"\t") for line in bench.tag().out.splitlines()[3:] if line)
    assert (first[1], second[1]) == (composed.encode(), decomposed.encode())
    assert first[3] == second[3]
    bench.write(f"x {composed}\n", "gold")
    bench.write(f"x {decomposed}\n", "found")
    done = bench.call("eval", "gold", "found", *COLUMNS)
    assert (done.code, done.err) == (
        0,
        "seqtag: note: 1 of the wrong labels differ from the gold label only in the Unicode "
        "normal form, such as "
        f"{composed}, in another Unicode normal form; convert both to NFC\n",
    )
    bench.write(f"a {composed}\nb {decomposed}\n")
    assert bench.train(*COLUMNS).err.startswith(
        f"seqtag: note: labels such as {composed} occur in several Unicode normal forms and are "
        "learned as different labels (1 in all); convert the data to NFC\n"
    )
    bench.write(f"{composed} x\n", "gold")
    bench.write(f"{decomposed} x\n", "found")
    done = bench.call("eval", "gold", "found", *COLUMNS)
    assert (done.code, done.err) == (
        1,
        f'seqtag: found:1: expected the words of gold:1, "{composed}", found "{decomposed}" (the '
        "same letters in another Unicode normal form: convert both to NFC); compare files of the "
        "same text\n",
    )
    for name, word in (("gold", composed), ("found", decomposed)):
        bench.write(row(1, word) + "\n", name)
    done = bench.call("eval", "gold", "found", "--raw")
    assert (done.code, done.err.count("convert both to NFC")) == (1, 1)


# --------------------------------------------------------------------------------- ids, ranges
def wrong_id(done: int, found: str) -> str:
    return (
        f"expected the id {done + 1}, a range from {done + 1} on (after the last range) or the "
        f'next empty node {done}.x, found "{found}"; number words 1, 2, 3, ... in each sentence'
    )


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (span("2-1", "x") + row(1), f":4: {wrong_id(0, '2-1')}"),
        (
            span("1-9", "x") + row(1),
            ":4: expected a range within the 1 words of the sentence, found '1-9'; correct the "
            "range, or complete the sentence",
        ),
        (
            span("1-2", "x") + row(1) + span("2-3", "y") + row(2) + row(3),
            f":6: {wrong_id(1, '2-3')}",
        ),
    ],
)
def test_27_ranges_reversed_past_the_end_or_overlapping(bench, rows, message):
    bench.refused_but_leniently(f"{GOOD}{rows}\n", message)


AGAIN = "found 1 again: sentence boundary missing? Put a blank line before a new sentence"


@pytest.mark.parametrize(
    ("ids", "message"),
    [
        ((0, 1), f":4: {wrong_id(0, '0')}"),
        ((1, 3), f":5: {wrong_id(1, '3')}"),
        ((1, 2, 2), f":6: {wrong_id(2, '2')}"),
        ((1, 1), f":5: expected the id 2, {AGAIN}"),
        ((1, 2, 1, 2), f":6: expected the id 3, {AGAIN}"),
    ],
)
def test_29_ids_with_gaps_or_that_begin_again(bench, ids, message):
    bench.refused_but_leniently(f"{GOOD}{''.join(map(row, ids))}\n", message)


@pytest.mark.parametrize("found", ["a", "\u0661", "1-2-3", "+1", "1.", "01", "-1"])
def test_30_ids_that_are_no_numbers(bench, found):
    bench.refused_but_leniently(f"{GOOD}{row(found)}\n", f":4: {wrong_id(0, found)}")


def test_31_id_of_five_thousand_digits(bench):
    bench.refused_but_leniently(
        f"{GOOD}{row('9' * 5000)}\n", f":4: {wrong_id(0, '9' * 37 + '...')}"
    )


# ----------------------------------------------------------------------- what is passed through
def test_33_comment_in_mid_sentence(bench):
    bench.refused_but_leniently(
        f"{GOOD}{row(1)}# mid\n{row(2)}\n",
        ':5: expected comments only before the first token of a sentence, found "# mid"; move it '
        "up, or put a blank line before it",
    )


def test_36_number_sign_as_a_word(bench):
    raw = bench.write("# X\nthe DET\n\n")
    tagged = bench.tag(*COLUMNS)
    assert (tagged.code, tagged.err) == (0, "")
    assert [line.split()[0] for line in tagged.out.splitlines()[:2]] == [b"#", b"the"]
    assert json.loads(bench.eval(*COLUMNS, "--json").out)["tokens"] == 2
    assert raw.startswith(b"#")
