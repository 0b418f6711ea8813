"""Bad inputs, by the rows of a catalogue: 37 to 54, kinds of files, models and circumstances.

All rows apply. Two are met otherwise than the catalogue has it: what was written until an error is
kept nowhere (42), as an output file is whole or not there; and weights that are not finite cannot
be in a file at all (47), as a model's weights are whole numbers.
"""

# ruff: noqa: F401, F811  (fixtures are imported, then asked for by name)
from __future__ import annotations

import bz2
import gzip
import json
import os
import threading
from pathlib import Path

import pytest

from seqtag.corpus import read, stream
from tests.bad_inputs import COLUMNS, GOOD, LENIENT_END, NAME, bench, row, span
from tests.command_line import SENTENCES, call, conllu, home, linux, posix, run
from tests.model_files import craft, metadata


# ------------------------------------------------------------------------------ other formats
def test_37_conllu_plus(bench):
    head = "# global.columns = ID FORM UPOS\n"
    bench.passes(f"{head}1\tthe\tDET\n2\tdog\tNOUN\n\n", 2)
    bench.refused_but_leniently(
        f"{head}1\tthe\tDET\n2\tdog\tNOUN\n\n1\tthe\tDET\n2\tdog\n\n",
        ':6: expected 3 tab-separated columns, found 2 ("2\tdog"); complete the line',
    )
    bench.refused(
        "# global.columns = ID UPOS\n1\tDET\n\n",
        ":1: expected different column names with FORM among them, found id, upos; correct "
        "# global.columns",
    )


@pytest.mark.parametrize("first", ["ID FORM UPOS", "FORM UPOS"])
@pytest.mark.parametrize(
    ("second", "is_same"),
    [
        ("# global.columns = {}", True),
        ("#global.columns=  {}", True),
        ("\ufeff# global.columns = {}", True),
        ("# text = global.columns = FORM LEMMA", True),
        ("# global.columns = ID FORM LEMMA", False),
        ("\ufeff#global.columns = FORM UPOS XPOS", False),
        ("# global.columns = UPOS FORM ID", False),
    ],
)
def test_37_second_header_of_conllu_plus(bench, first, second, is_same):
    ids = first.startswith("ID")
    rows = "1\tthe\tDET\n2\tdog\tNOUN\n\n" if ids else "the\tDET\ndog\tNOUN\n\n"
    text = f"# global.columns = {first}\n{rows * 2}{second.format(first)}\n{rows}"
    if is_same:
        bench.passes(text, 6, exact=False)
    else:
        names = second.partition("= ")[2].lower().replace(" ", ", ")
        message = (
            f":8: expected the columns {first.lower().replace(' ', ', ')} in all of the file, "
            f"found # global.columns with {names}; split the file before this line"
        )
        bench.write(text)
        for done in (bench.tag(), bench.tag("--lenient"), bench.eval(), bench.train()):
            assert (done.code, done.err) == (1, f"seqtag: {NAME}{message}\n")


def test_38_docstart(bench):
    text = "-DOCSTART- -X- -X- O\n\nthe DT B-NP O\ndog NN I-NP O\n\n"
    bench.passes(text, 2, model="chunk")
    bench.passes(text + text, 4, "--format", "conll2003", model="chunk")


def test_39_unpaired_quote(bench):
    bench.passes(GOOD + row(1, '"') + row(2, "'") + "\n", 4, exact=False)
    bench.write('the DET\n" DET\n\n')
    assert [line.split()[0] for line in bench.tag(*COLUMNS).out.splitlines()[:2]] == [b"the", b'"']


# --------------------------------------------------------------------------------- evaluation
def test_40_unknown_label_in_evaluation(bench):
    bench.write(GOOD.replace("NOUN", "ODD"))
    done = bench.eval("--json")
    assert (done.code, done.err) == (0, "")
    report = json.loads(done.out)
    assert (report["correct"], report["tokens"]) == (1, 2)
    assert report["labels"]["ODD"] == {
        **report["labels"]["ODD"],
        "correct": 0,
        "found": 0,
        "gold": 1,
    }
    assert b"\nODD                            0.00" in bench.eval().out


def test_41_odd_sequences_of_chunk_labels(bench):
    """A chunk may begin with I, as conlleval has it; how often it does is said."""
    bench.write("a B-NP\nb I-NP\nc I-VP\n\n", "gold")
    bench.write("a I-NP\nb I-NP\nc I-VP\n\n", "found")
    done = bench.call("eval", "gold", "found", "--columns", "form,chunk", "--json")
    assert (done.code, done.err) == (0, "")
    report = json.loads(done.out)
    assert (report["chunks"]["correct"], report["chunks"]["found"]) == (2, 2)
    assert (report["score"], report["metric"]) == (1, "conlleval-f1")
    assert (report["invalid_gold"], report["invalid_predicted"]) == (1, 2)


# ---------------------------------------------------------------------------------- compressed
DAMAGE = "fetch or compress the file again"


@pytest.mark.parametrize(
    ("damaged", "message"),
    [
        (
            lambda data: data[:-30],
            "expected the end of the gzip data, found the end of the file: it is truncated; fetch "
            "or compress it again",
        ),
        (
            lambda data: data + b"junk",
            "expected valid gzip data, found an error (Error -3 while decompressing data: incorrect "
            f"header check); {DAMAGE}",
        ),
    ],
)
@pytest.mark.parametrize("option", ["--strict", "--lenient"])
def test_42_damaged_gzip(bench, damaged, message, option):
    bench.refused(damaged(gzip.compress(500 * GOOD.encode())), f": {message}", option)
    done = bench.tag("-o", "out")
    assert (done.code, done.out) == (1, b"")
    assert not [name for name in Path().iterdir() if name.name.startswith("out")]


def test_42_compressed_twice_or_utf16(bench):
    twice = bz2.compress(gzip.compress(GOOD.encode()))
    bench.refused(
        twice,
        ": expected text in bzip2 data, found gzip data; it is compressed twice, decompress it "
        "once",
    )
    bench.refused(
        gzip.compress(GOOD.encode("utf-16")),
        ":1: expected UTF-8, found the byte order mark of UTF-16; convert the file, for example "
        "with iconv -f UTF-16 -t UTF-8",
    )


def test_43_gzip_of_several_members(bench):
    bench.write(gzip.compress(GOOD.encode()) + gzip.compress(GOOD.encode()))
    done = bench.tag()
    assert (done.code, done.out, done.err) == (0, 2 * GOOD.encode(), "")
    assert json.loads(bench.eval("--json").out)["tokens"] == 4


def test_44_row_or_text_cut_off(bench):
    cut = row(1)[:-5]
    message = f':4: expected 10 tab-separated columns, found 8 ("{cut}"); complete the line'
    bench.refused(GOOD + cut, message)
    bench.write(GOOD + cut)
    lenient = bench.tag("--lenient")
    assert (lenient.code, lenient.out) == (0, (GOOD + cut).encode())
    assert lenient.err.startswith(f"seqtag: skipped: {NAME}{message}\n{LENIENT_END}")
    for end in ("\n", ""):
        bench.noted(
            GOOD + row(1, "the", "DET").rstrip("\n") + end,
            3,
            ":4",
            "a sentence without a blank line after it, at the end of the file; is the file "
            "complete? The "
            "sentence is used as it is",
            "expected a blank line after the last sentence, found the end of the file; check that "
            "the file is complete, and add the blank line",
        )
    bench.refused(
        GOOD + span("1-2", "thedog") + row(1, "the", "DET"),
        ":4: expected a range within the 1 words of the sentence, found '1-2'; correct the range, "
        "or complete the sentence",
    )


def test_45_gzip_bomb(bench, monkeypatch):
    """What is held at once is a line or a sentence, and both have limits."""
    small = stream.ReadLimits(line=1 << 20)
    monkeypatch.setattr(read, "__kwdefaults__", {**read.__kwdefaults__, "limits": small})
    bench.write(gzip.compress(bytes(64 << 20), 9))
    assert Path(NAME).stat().st_size < 100_000
    with pytest.raises(ValueError, match="expected lines of at most 1,048,576 bytes, found a lon"):
        list(read(NAME, "conllu"))
    bench.refused(
        gzip.compress(200_000 * b"# c\n", 9),
        ":1: expected at most 65,536 comments in a sentence, found more in the one that starts "
        "here; mark the sentence boundaries, or allow more in Python with limits=",
    )


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (
            b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR",
            "1: expected UTF-8, found the byte 0x89 at byte offset 0 (invalid start byte); convert "
            "the file to UTF-8, for example with iconv -f ENCODING -t UTF-8",
        ),
        (
            b"\x7fELF\x02\x01\x01\0\0\0\0\n\0\0\0\0\0\x03\0>\0\n",
            "1: expected text, found a null byte at byte offset 7, as in binary files and UTF-16; give a text "
            "file in UTF-8, or name its format with --format",
        ),
    ],
)
def test_46_binary_file(bench, data, message):
    bench.refused(data, f":{message}")


# -------------------------------------------------------------------------------------- models
@pytest.mark.parametrize("value", ["nan", "inf", "-inf"])
def test_47_numbers_that_are_not_finite(bench, value):
    bench.write(GOOD)
    done = bench.train("--step", value)
    assert (done.code, done.out) == (2, b"")
    assert done.err == (
        "seqtag: Invalid value for '--step': the setting step expects a number above 0, at most "
        f"1,000,000, found {value} (see seqtag train --help)\n"
    )
    bench.write(f"set step {value}\nform[0]\n", "templates")
    done = bench.train("--templates", "templates")
    assert (done.code, done.out) == (1, b"")
    assert done.err.startswith("seqtag: templates:1: the setting step expects a number above 0")


def entry(dtype: str, shape: list[int], *offsets: int) -> dict[str, object]:
    return {"dtype": dtype, "shape": shape, "data_offsets": list(offsets)}


def test_48_model_of_odd_sizes_offsets_or_types(bench):
    bench.write(GOOD)
    tensor = entry("F32", [2**62], 0, 2**64)
    bench.write(craft({"__metadata__": metadata(), "w": tensor}, bytes(4)), "odd.seqtag")
    done = bench.tag(model="odd")
    assert (done.code, done.out) == (1, b"")
    assert done.err == (
        "seqtag: odd.seqtag: expected a model of at most 4294967296 bytes, found a header that "
        f"announces {2**64}; this is not a seqtag model; check the path\n"
    )


def test_49_model_of_a_newer_version(bench):
    bench.write(GOOD)
    newer = metadata(writer="seqtag 9", format=9)
    bench.write(craft({"__metadata__": newer, "w": entry("F32", [2], 0, 8)}, bytes(8)), "9.seqtag")
    done = bench.tag(model="9")
    assert (done.code, done.out) == (1, b"")
    assert done.err == (
        "seqtag: 9.seqtag: expected a file of format 5, found format 9, made by seqtag 9; upgrade "
        "seqtag\n"
    )


# ------------------------------------------------------------------------------- circumstances
@posix
def test_50_directory_fifo_device_or_nothing_as_input(bench):
    for name, message in (
        (".", "Is a directory; name a file"),
        ("nowhere", "No such file or directory; check the path"),
        ("train.conllu/x", "Not a directory; check the path"),
    ):
        for args in (
            ("tag", "-m", "upos.seqtag", name),
            ("eval", "-m", "upos.seqtag", name),
            ("train", name, "-o", "new"),
            ("train", "train.conllu", "--dev", name, "-o", "new"),
        ):
            done = bench.call(*args)
            assert (done.code, done.out, done.err) == (1, b"", f"seqtag: {name}: {message}\n")
    done = bench.call("tag", "-m", "upos.seqtag", os.devnull)
    assert (done.code, done.out, done.err) == (0, b"", "")
    os.mkfifo("fifo")
    writer = threading.Thread(target=lambda: Path("fifo").write_bytes(GOOD.encode()))
    writer.start()
    done = bench.call("tag", "-m", "upos.seqtag", "fifo")
    writer.join()
    assert (done.code, done.out, done.err) == (0, GOOD.encode(), "")


@posix
def test_50_fifo_where_data_are_looked_at_twice(bench, tmp_path):
    """Who opens a pipe again waits for ever, or finds nothing in it: what it held is kept."""
    data = conllu().encode()
    text = ("train", "train.conllu", "-o", "text", "--label", "tokens,upos", "--epochs", 1)
    assert bench.call(*text).code == 0
    os.mkfifo("fifo")
    model = ("-m", "text")
    for args in (
        ("eval", "FILE", *model),
        ("eval", "FILE", *model, "--raw"),
        ("eval", "FILE", "train.conllu", "--raw"),
        ("compare", "FILE", "text", "text", "--resamples", 5),
        ("compare", "FILE", "upos.seqtag", "train.conllu", "--resamples", 5),
        ("train", "FILE", "-o", "new", "--force", "--label", "tokens,upos", "--epochs", 1),
    ):
        named = bench.call(*("train.conllu" if arg == "FILE" else arg for arg in args))
        models = Path("new").read_bytes() if args[0] == "train" else b""
        writer = threading.Thread(target=lambda: Path("fifo").write_bytes(data), daemon=True)
        writer.start()
        piped = bench.call(*("fifo" if arg == "FILE" else arg for arg in args))
        writer.join()
        stdin = run(*("-" if arg == "FILE" else arg for arg in args), cwd=tmp_path, stdin=data)
        for done in (piped, stdin):
            assert (done.code, done.out) == (named.code, named.out), (args, done.err)
        if models:
            assert Path("new").read_bytes() == models


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read all")
def test_50_no_permission(bench):
    bench.write(GOOD)
    Path(NAME).chmod(0)
    done = bench.tag()
    assert (done.code, done.err) == (
        1,
        f"seqtag: {NAME}: Permission denied; check its permissions\n",
    )


@linux
def test_51_no_home(bench, tmp_path):
    bench.write(GOOD)
    for env in (
        {"HOME": None, "XDG_CACHE_HOME": None, "SEQTAG_CACHE": None},
        {"HOME": "/proc", "XDG_CACHE_HOME": "/proc"},
    ):
        done = run("tag", "-m", "upos.seqtag", NAME, cwd=tmp_path, env=env)
        assert (done.code, done.out, done.err) == (0, GOOD.encode(), "")


def test_52_output_that_is_the_input(bench):
    raw = bench.write(GOOD)
    message = "expected an output file other than the input"
    again = "choose another output; no file was changed"
    for done, shown in (
        (bench.tag("-o", NAME), NAME),
        (bench.tag("-o", f"./{NAME}"), f"./{NAME}"),
        (bench.call("train", NAME, "-o", NAME, "--force"), NAME),
    ):
        assert (done.code, done.out) == (1, b"")
        assert done.err == f"seqtag: {shown}: {message} {NAME!r}; {again}\n"
    assert Path(NAME).read_bytes() == raw


def test_53_training_data_that_are_scored(bench):
    bench.write(conllu())
    done = bench.train("--dev", "train.conllu")
    assert done.err.startswith(
        "seqtag: note: the dev set is the training data: its scores show how well the training "
        "data were learned, and are no basis for early stopping; give other sentences\n"
    )
    bench.write(conllu([*SENTENCES[:2], "the cat sees the big dog ."]), "dev")
    for label in ("upos", "upos,xpos"):
        done = bench.train("--dev", "dev", "--label", label)
        assert (
            done.err.count(
                "seqtag: note: 2 of the 3 sentences of the dev set are in the training data, too "
                "(58.8% of its words): its scores are too high; remove them from one of the two\n"
            )
            == 1
        )
    bench.write(conllu(["the cat sees the big dog ."]), "dev")
    assert "the dev set" not in bench.train("--dev", "dev").err


def test_54_poor_locale(bench, tmp_path):
    bench.write(GOOD + row(1, "caf\u00e9", "PUNCT") + "\n")
    poor = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    done = run("tag", "-m", "upos.seqtag", NAME, cwd=tmp_path, env=poor)
    assert (done.code, done.err) == (0, "")
    assert done.out == bench.tag().out
    assert "caf\u00e9".encode() in done.out
    done = run("train", NAME, "-o", "poor", "--epochs", "1", cwd=tmp_path, env=poor)
    assert (done.code, bench.train().code) == (0, 0)
    assert Path("poor").read_bytes() == Path("new").read_bytes()
