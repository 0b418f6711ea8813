"""What tag, eval and train make of bad and odd inputs: the message, the exit code, the bytes.

That a reader refuses an input, and where, is tested in tests/corpus; here it is one line for each of
the three commands, and with ``--lenient`` what it says.
"""

# ruff: noqa: F401, F811  (fixtures are imported, then asked for by name)
from __future__ import annotations

import bz2
import gzip
import json
import os
import re
import threading
from pathlib import Path

import pytest

import seqtag
from tests.command_line import SENTENCES, Caller, Result, call, conllu, home, linux, posix, run

NAME = "in"
"""The file that the data are in."""

COLUMNS = ("--columns", "form,upos")


def row(number: object, form: str = "dog", upos: str = "NOUN") -> str:
    """A row of CoNLL-U."""
    return f"{number}\t{form}\t_\t{upos}\t_\t_\t_\t_\t_\t_\n"


def span(number: str, form: str) -> str:
    """A row that is no word."""
    return f"{number}\t{form}" + "\t_" * 8 + "\n"


GOOD = row(1, "the", "DET") + row(2) + "\n"
"""A sentence of two words, which the model tags as they are tagged here."""

LENIENT_END = f"seqtag: {NAME}: 1 sentence that cannot be read was skipped\n"


def masked(data: bytes) -> bytes:
    """CoNLL-U without the tags of its words."""
    return re.sub(rb"(?m)^(\d+\t[^\t\n]*\t[^\t\n]*\t)[^\t\n]+", rb"\1?", data)


class Bench:
    """Data in a file, and the commands run on it; paths are short, as the folder is ours."""

    def __init__(self, call: Caller):
        self.call = call

    def write(self, data: str | bytes, name: str = NAME) -> bytes:
        """The data, in the file."""
        raw = data if isinstance(data, bytes) else data.encode("utf-8")
        Path(name).write_bytes(raw)
        return raw

    def tag(self, *options: object, model: str = "upos") -> Result:
        return self.call("tag", "-m", f"{model}.seqtag", NAME, *options)

    def eval(self, *options: object, model: str = "upos") -> Result:
        return self.call("eval", "-m", f"{model}.seqtag", NAME, *options)

    def train(self, *options: object) -> Result:
        return self.call("train", NAME, "-o", "new", "--force", "--epochs", 1, *options)

    def passes(
        self,
        data: str | bytes,
        words: int,
        *options: object,
        notes: str = "",
        model: str = "upos",
        exact: bool = True,
    ) -> None:
        """All commands take the data; not a byte changes but (unless `exact`) the tags.

        `notes` is all that they say of it; `words` are scored and learned from.
        """
        raw = self.write(data)
        tagged = self.tag(*options, model=model)
        assert (tagged.code, tagged.err) == (0, notes)
        assert tagged.out == raw if exact else masked(tagged.out) == masked(raw)
        scored = self.eval(*options, "--json", model=model)
        assert (scored.code, scored.err) == (0, notes)
        assert json.loads(scored.out)["tokens"] == words
        learned = self.train(*options, "--json")
        assert learned.code == 0 and learned.err.startswith(notes), learned.err
        assert json.loads(learned.out)["training"]["tokens"] == words

    def refused(self, data: str | bytes, message: str, *options: object) -> None:
        """All commands give one and the same line, and nothing but what was tagged before."""
        raw = self.write(data)
        Path("new").unlink(missing_ok=True)
        tagged = self.tag(*options)
        assert (tagged.code, tagged.err) == (1, f"seqtag: {NAME}{message}\n")
        assert raw.startswith(tagged.out) and len(tagged.out) <= len(GOOD) + 2
        for done in (self.eval(*options), self.train(*options)):
            assert (done.code, done.out, done.err) == (1, b"", f"seqtag: {NAME}{message}\n")
        assert not Path("new").exists()


@pytest.fixture
def bench(call, home, tmp_path, monkeypatch) -> Bench:
    """A folder of its own, with models; the current one."""
    for name in ("upos.seqtag", "chunk.seqtag", "train.conllu"):
        (tmp_path / name).write_bytes((home / name).read_bytes())
    monkeypatch.chdir(tmp_path)
    return Bench(call)


# ------------------------------------------------------------------------------------- refused
@pytest.mark.parametrize(
    "data", [b"", b"\xef\xbb\xbf", b"\n", b"# a = 1\n\n# newdoc\n", b"# newdoc"]
)
def test_files_without_words(bench, data):
    bench.write(data)
    tagged = bench.tag()
    assert (tagged.code, tagged.out) == (0, data)
    refused = [(bench.train(), "learn from"), (bench.eval(), "score")]
    if not data.strip():  # it has no columns, which is not what is wrong with it
        refused += [
            (bench.call("compare", NAME, NAME, "train.conllu"), "score"),
            (bench.call("train", "train.conllu", NAME, "-o", "new"), "learn from"),
            (bench.call("train", NAME, "train.conllu", "-o", "new"), "learn from"),
        ]
    for done, what in refused:
        assert (done.code, done.out) == (1, b"")
        assert done.err.endswith(f"seqtag: {NAME}: expected sentences to {what}, found none\n")


SKIPPED = {
    "carriage return": (
        GOOD + GOOD.replace("\tdog", "\td\rog"),
        ":5: expected lines that end with \\n or \\r\\n, found a carriage return (\\r) without \\n; "
        "convert the line ends of the file, for example with tr '\\r' '\\n'",
        (),
    ),
    "id": (
        f"{GOOD}{row(1)}{row(2)}{row(1)}{row(2)}\n",
        ":6: expected the id 3, found 1 again: sentence boundary missing? Put a blank line before a "
        "new sentence",
        (),
    ),
}
"""Data with one bad sentence after a good one, the message, and options."""


@pytest.mark.parametrize("what", SKIPPED)
def test_a_bad_sentence_is_refused_or_skipped(bench, what):
    data, message, options = SKIPPED[what]
    bench.refused(data, message, *options)
    said = f"seqtag: skipped: {NAME}{message}\n{LENIENT_END}"
    bench.passes(data, 2, *options, "--lenient", notes=said)
    quiet = bench.tag(*options, "--lenient", "--quiet")
    assert (quiet.code, quiet.err) == (0, said)


LATIN = (GOOD + row(1, "caf\u00e9") + "\n").encode("latin-1")
REFUSED = {
    "two columns": (
        "the\tDET\ndog\tNOUN\n\n",
        ':1: expected 10 tab-separated columns, found 2 ("the"); complete the line, or use '
        "--format columns if all lines have 2",
        ("--format", "conllu"),
    ),
    "not UTF-8": (
        LATIN,
        ":4: expected UTF-8, found the byte 0xe9 at byte offset "
        f"{LATIN.index(0xE9)} (invalid continuation byte); convert the file to UTF-8, for example "
        "with iconv -f WINDOWS-1252 -t UTF-8 (if it is Western)",
        ("--lenient",),
    ),
    "UTF-16": (
        GOOD.encode("utf-16"),
        ":1: expected UTF-8, found the byte order mark of UTF-16; convert the file, for example "
        "with iconv -f UTF-16 -t UTF-8",
        (),
    ),
    "compressed twice": (
        bz2.compress(gzip.compress(GOOD.encode())),
        ": expected text in bzip2 data, found gzip data; it is compressed twice, decompress it once",
        (),
    ),
    "another header": (
        "# global.columns = FORM UPOS\nthe\tDET\n\n# global.columns = FORM LEMMA\ndog\tNOUN\n\n",
        ":4: expected the columns form, upos in all of the file, found # global.columns with form, "
        "lemma; split the file before this line",
        ("--lenient",),
    ),
}
"""Data that no command reads, the message, and options."""


@pytest.mark.parametrize("what", REFUSED)
def test_what_cannot_be_read_is_refused(bench, what):
    data, message, options = REFUSED[what]
    bench.refused(data, message, *options)


def test_what_is_noted(bench):
    note = f"seqtag: note: {NAME}:3: a blank line that holds spaces or tabs; treated as blank\n"
    bench.passes(GOOD[:-1] + " \t\n" + GOOD, 4, notes=note)
    assert bench.tag("--quiet").err == ""


# -------------------------------------------------------------------------------------- values
@pytest.mark.parametrize(
    "form",
    [
        pytest.param("_", id="underscore"),
        pytest.param("\ufeffdog", id="byte order mark that begins no file"),
        pytest.param("10 000\u00a0km", id="spaces"),
        pytest.param("a\u2028b\u2029c\u0085d\ve\ff\x1cg", id="line ends of other standards"),
        pytest.param("a\0b", id="null byte"),
        pytest.param("\U0001f469\u200d\U0001f469\u200d\U0001f467", id="joiners"),
        pytest.param("\u202eabc\u202c", id="directions"),
        pytest.param("\u200b", id="invisible"),
        pytest.param("e" + "\u0301" * 1000, id="a thousand marks on one letter"),
        pytest.param("x" * 10**6, id="a million characters"),
        pytest.param('"', id="unpaired quote"),
    ],
)
def test_any_form_is_a_word(bench, form):
    bench.passes(GOOD + row(1, form) + "\n", 3, exact=False)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("\ufeff" + GOOD, id="byte order mark"),
        pytest.param(GOOD.replace("\n", "\r\n"), id="carriage return and line feed"),
        pytest.param(span("1-2", "thedog") + GOOD, id="multiword token"),
        pytest.param(
            span("0.1", "x") + row(1, "the", "DET") + span("1.1", "x") + row(2) + "\n",
            id="empty nodes",
        ),
        pytest.param(GOOD.replace("\t_\t_\t_\n", "\tnan\t_\t_\n"), id="head that is no number"),
        pytest.param(GOOD.replace("\t_\t_\t_\n", "\t1\t_\t_\n"), id="heads that are no tree"),
        pytest.param("# a = 1\n# a = 2\n" + GOOD, id="key of comments twice"),
        pytest.param(GOOD.replace("\t_\t_\t_\t_\t_\n", "\tA=b|A=c\t_\t_\t_\t_\n"), id="FEATS"),
        pytest.param(
            "# global.columns = ID FORM UPOS\n1\tthe\tDET\n2\tdog\tNOUN\n\n", id="CoNLL-U Plus"
        ),
    ],
)
def test_what_is_passed_through(bench, text):
    bench.passes(text, 2)


def test_document_marks(bench):
    text = "-DOCSTART- -X- -X- O\n\nthe DT B-NP O\ndog NN I-NP O\n\n"
    bench.passes(text, 2, model="chunk")
    bench.passes(text + text, 4, "--format", "conll2003", model="chunk")


def test_composed_and_decomposed_letters(bench):
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
    tagged = bench.tag()
    first, second = (line.split(b"\t") for line in tagged.out.splitlines()[3:] if line)
    assert (first[1], second[1]) == (composed.encode(), decomposed.encode())
    assert (first[3], tagged.err) == (second[3], "")
    for one in (composed, decomposed):  # where all are spelt alike there is nothing to say
        bench.write(GOOD + row(1, one) + "\n")
        assert "NFC" not in bench.train().err + bench.eval().err
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


# ------------------------------------------------------------------------------- circumstances
@posix
def test_a_folder_a_device_or_nothing_as_input(bench):
    for name, message in (
        (".", "Is a directory; name its files, as in FOLDER/*.txt"),
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


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read all")
def test_no_permission(bench):
    bench.write(GOOD)
    Path(NAME).chmod(0)
    done = bench.tag()
    assert (done.code, done.err) == (
        1,
        f"seqtag: {NAME}: Permission denied; check its permissions\n",
    )


@posix
def test_fifo_where_data_are_looked_at_twice(bench, tmp_path):
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
        ("compare", "FILE", "text", "text"),
        ("compare", "FILE", "upos.seqtag", "train.conllu"),
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


@linux
def test_no_home(bench, tmp_path):
    bench.write(GOOD)
    for env in (
        {"HOME": None, "XDG_CACHE_HOME": None, "SEQTAG_CACHE": None},
        {"HOME": "/proc", "XDG_CACHE_HOME": "/proc"},
    ):
        done = run("tag", "-m", "upos.seqtag", NAME, cwd=tmp_path, env=env)
        assert (done.code, done.out, done.err) == (0, GOOD.encode(), "")


def test_training_data_that_are_scored(bench):
    bench.write(conllu())
    done = bench.train("--dev", "train.conllu")
    assert done.err.startswith(
        "seqtag: note: 8 of the 8 sentences of the dev set are in the training data, too (100.0% "
        "of its words): its scores are too high; remove them from one of the two\n"
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


def test_poor_locale(bench, tmp_path):
    bench.write(GOOD + row(1, "caf\u00e9", "PUNCT") + "\n")
    poor = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    done = run("tag", "-m", "upos.seqtag", NAME, cwd=tmp_path, env=poor)
    assert (done.code, done.err) == (0, "")
    assert done.out == bench.tag().out
    assert "caf\u00e9".encode() in done.out
    done = run("train", NAME, "-o", "poor", "--epochs", "1", cwd=tmp_path, env=poor)
    assert (done.code, bench.train().code) == (0, 0)
    assert Path("poor").read_bytes() == Path("new").read_bytes()
