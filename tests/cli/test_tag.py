"""seqtag tag: every byte but the labels comes back, in every format, through every pipe."""

# ruff: noqa: F401, F811  (fixtures are imported, then asked for by name)
from __future__ import annotations

import gc
import gzip
import json
import os
import re
import select
import signal
import struct
import subprocess
import sys
import time

import pytest

import seqtag
from tests.command_line import SENTENCES, SEQTAG, call, chunks, conllu, home, linux, posix, run

TRICKY = (
    "\ufeff\n\n# newdoc\n# text = don't see the cat\n"
    "1-2\tdon't\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No\n"
    "1\tdo\tdo\t_\t_\tA=1|A=2\t0\troot\t_\tX=1|X=2\n"
    "2\tn't\tnot\t_\t_\t_\tnan\t_\t_\t_\n"
    "2.1\tghost\t_\tGHOST\tGHOST\t_\t_\t_\t2:conj\t_\n"
    "3\tthe\u00a0big\tthe\told\told\t_\t_\t_\t_\t_\n"
    "4\tcat\u2028\u0085\tcat\t_\t_\t_\t_\t_\t_\t_\n"
    "\n\n \n# a comment alone\n\n"
    "# text = #\n1\t#\t#\t_\t_\t_\t_\t_\t_\t_"
)


def other_columns(data: bytes, filled: tuple[int, ...]) -> bytes:
    """The data with some fields of the word lines emptied."""
    lines = []
    for line in data.split(b"\n"):
        fields = line.split(b"\t")
        if re.fullmatch(rb"\d+", fields[0].removeprefix(b"\xef\xbb\xbf")):
            for at in filled:
                fields[at] = b""
        lines.append(b"\t".join(fields))
    return b"\n".join(lines)


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("tail", ["", "\n", "\n\n", "\n\n\n \n# x", "\n\n\t"])
def test_only_the_label_column_changes(home, call, tmp_path, end, tail):
    data = (TRICKY + tail).replace("\n", end).encode()
    (tmp_path / "in.conllu").write_bytes(data)
    done = call(
        "tag", "-m", home / "upos.seqtag", "-m", home / "xpos.seqtag", tmp_path / "in.conllu"
    )
    assert done.code == 0
    assert all(line.startswith("seqtag: note: ") for line in done.err.splitlines())  # blank lines
    assert done.out != data
    assert other_columns(done.out, (3, 4)) == other_columns(data, (3, 4))
    assert b"\tGHOST\tGHOST\t" in done.out and b"\told\t" not in done.out
    again = tmp_path / "again.conllu"
    again.write_bytes(done.out)
    models = ("-m", home / "upos.seqtag", "-m", home / "xpos.seqtag")
    assert call("tag", *models, again, "--to", "conllu").out == done.out


def test_column_files_keep_their_spacing(home, call, tmp_path):
    text = "the  DT   X\r\ndog NN X\n-DOCSTART- -X- O\n\n\n# NN X\nbarks VBZ X"
    (tmp_path / "in.txt").write_bytes(text.encode())
    done = call(
        "tag", "-m", home / "chunk.seqtag", tmp_path / "in.txt", "--columns", "form,pos,chunk"
    )
    assert done.code == 0, done.err
    assert re.sub(rb"\S+(\r?\n|$)", rb"X\1", done.out) == re.sub(
        rb"\S+(\r?\n|$)", rb"X\1", text.encode()
    )
    assert done.out.startswith(b"the  DT   B-NP\r\ndog NN I-NP\n")


def test_a_missing_column_is_appended(home, call, tmp_path):
    (tmp_path / "in.txt").write_text("the DT\ndog NN\n\nbarks VBZ\n")
    done = call("tag", "-m", home / "chunk.seqtag", tmp_path / "in.txt", "--columns", "form,pos")
    assert done.out == b"the DT B-NP\ndog NN I-NP\n\nbarks VBZ B-VP\n"
    (tmp_path / "words.txt").write_text("the\ndog\n\nbarks\n")
    both = ("-m", home / "xpos.seqtag", "-m", home / "chunk.seqtag")
    done = call("tag", *both, tmp_path / "words.txt", "--format", "columns")
    assert done.out == b"the\tDT\tB-NP\ndog\tNN\tI-NP\n\nbarks\tVBZ\tB-VP\n"


def test_text_with_the_embedded_models():
    """The first line of the manual."""
    done = run("tag", stdin=b"Time flies like an arrow.\n")
    assert (done.code, done.err) == (0, "")
    rows = [line.split("\t") for line in done.out.decode().splitlines() if "\t" in line]
    assert [row[1] for row in rows] == ["Time", "flies", "like", "an", "arrow", "."]
    assert [row[3] for row in rows] == ["NOUN", "VERB", "ADP", "DET", "NOUN", "PUNCT"]
    assert [row[4] for row in rows] == ["NN", "VBZ", "IN", "DT", "NN", "."]
    assert (
        done.out.startswith(
            b"# newdoc\n# newpar\n# sent_id = 1\n# text = Time flies like an arrow.\n"
        )
        and rows[4][9] == "SpaceAfter=No"
    )


@pytest.mark.parametrize(
    ("options", "text", "tagged"),
    [
        (["--format", "tokens"], "USA\n", b"1\tUSA\tUSA\tPROPN\t"),
        ([], "1\tUSA" + "\t_" * 8 + "\n\n", b"1\tUSA\tUSA\tPROPN\t"),
        ([], "USA\n", b"1\tUSA\tUSA\tPROPN\t"),
    ],
)
def test_the_first_words_of_a_process_may_all_be_in_capitals(options, text, tagged):
    done = run("tag", *options, stdin=text.encode())
    assert (done.code, done.err) == (0, "")
    assert tagged in done.out


def test_formats_of_the_output(home, call, tmp_path):
    (tmp_path / "in.txt").write_text("the dog barks.\n")
    both = ("-m", home / "xpos.seqtag", "-m", home / "chunk.seqtag", tmp_path / "in.txt")
    text = ("--format", "text")
    assert call("tag", *both, *text).out == (
        b"the\tDT\tB-NP\ndog\tNN\tI-NP\nbarks\tVBZ\tB-VP\n.\t.\tO\n\n"
    )
    assert call("tag", *both, *text, "--to", "conll2000").out == (
        b"the DT B-NP\ndog NN I-NP\nbarks VBZ B-VP\n. . O\n\n"
    )
    assert call("tag", *both, *text, "--to", "tokens").out == b"the dog barks .\n"
    assert (
        call("tag", *both[:2], both[-1], *text, "--to", "tagged").out
        == b"the/DT dog/NN barks/VBZ ./.\n"
    )
    done = call("tag", *both, *text, "--to", "conllu")
    assert b"3\tbarks\t_\t_\tVBZ\t_\t_\t_\t_\tSpaceAfter=No|Chunk=B-VP\n" in done.out
    (tmp_path / "in.tagged").write_text("the/XX  dog/XX\nbarks/XX\n")
    done = call("tag", "-m", home / "xpos.seqtag", tmp_path / "in.tagged", "--format", "tagged")
    assert done.out == b"the/DT  dog/NN\nbarks/VBZ\n"


def test_chunks_in_conllu_take_xpos_for_pos_and_go_to_misc(home, call, tmp_path):
    data = conllu().replace(
        "\tcat\tcat\tNOUN\tNN\t_\t_\t_\t_\t_", "\tcat\tcat\tNOUN\tNN\t_\t_\t_\t_\tA=b"
    )
    (tmp_path / "in.conllu").write_text("# first\n" + data)
    chunk = ("tag", "-m", home / "chunk.seqtag")
    done = call(*chunk, tmp_path / "in.conllu", "-o", tmp_path / "out")
    text = (tmp_path / "out").read_text()
    assert done.code == 0
    assert "\tcat\tcat\tNOUN\tNN\t_\t_\t_\t_\tA=b|Chunk=I-NP\n" in text
    assert text.count("Chunk=") == 44
    assert re.sub(r"\|?Chunk=\S+", "", text).replace("\t\n", "\t_\n") == "# first\n" + data
    assert call(*chunk, tmp_path / "out", "--to", "conllu").out.decode() == text  # not twice
    fields = [
        c.split("\t")
        for c in call(*chunk, tmp_path / "out", "--to", "columns").out.decode().split("\n")
    ]
    wanted = [line.split(" ")[2] for line in chunks().split("\n") if line]
    assert [row[-1] for row in fields if len(row) > 1] == wanted


def test_a_pipeline_of_processes_and_a_pipeline_of_models_agree(home):
    data = conllu(labels=False).encode()
    upos, xpos = home / "upos.seqtag", home / "xpos.seqtag"
    once = run("tag", "-m", upos, "-m", xpos, "--threads", 3, stdin=data)
    first = run("tag", "-m", upos, "-", stdin=data)
    second = run("tag", "-m", xpos, "--format", "conllu", stdin=first.out)
    assert once.code == first.code == second.code == 0
    assert once.out == second.out == conllu().encode()


def test_files_gzip_and_several_inputs(home, call, tmp_path):
    plain, packed = tmp_path / "in.conllu", tmp_path / "in.gz"
    plain.write_text(conllu(labels=False))
    packed.write_bytes(
        gzip.compress(plain.read_bytes()[:90]) + gzip.compress(plain.read_bytes()[90:])
    )
    model = ("tag", "-m", home / "upos.seqtag", "-m", home / "xpos.seqtag")
    assert call(*model, plain, packed, "-o", tmp_path / "out.gz").code == 0
    assert gzip.decompress((tmp_path / "out.gz").read_bytes()) == 2 * conllu().encode()
    assert run(*model, stdin=packed.read_bytes()).out == conllu().encode()
    (tmp_path / "empty").write_bytes(b"")
    done = call(*model, tmp_path / "empty", plain, tmp_path / "empty")
    assert (done.code, done.out) == (0, conllu().encode())
    assert call(*model, tmp_path / "empty", "-o", tmp_path / "out").code == 0
    assert (tmp_path / "out").read_bytes() == b""
    umask = os.umask(0)
    os.umask(umask)
    if os.name == "posix":
        assert (tmp_path / "out").stat().st_mode & 0o777 == 0o666 & ~umask


def test_files_of_different_formats_need_a_decision(home, call, tmp_path):
    one, two = tmp_path / "one.conllu", tmp_path / "two.txt"
    one.write_text(conllu())
    two.write_text(chunks())
    model = ("tag", "-m", home / "xpos.seqtag")
    done = call(*model, one, two)
    assert (done.code, done.out) == (1, b"")
    assert done.err == (
        f"seqtag: {two}: expected the format conllu of {one}, found columns; tag the files one by "
        "one, or choose the format of the output with --to\n"
    )
    done = call(*model, one, two, "--to", "tagged")
    assert done.code == 0
    assert done.out.decode().count("the/DT dog/NN barks/VBZ ./.\n") == 2


class Terminal:
    """A pseudo-terminal of 80 columns for a command to write to."""

    def __init__(self):
        fcntl, pty, termios = map(pytest.importorskip, ("fcntl", "pty", "termios"))
        self.ours, self.theirs = pty.openpty()
        fcntl.ioctl(self.theirs, termios.TIOCSWINSZ, struct.pack("4H", 24, 80, 0, 0))

    def shown(self) -> bytes:
        """All that was written."""
        os.write(self.theirs, b"END")
        shown = b""
        while not shown.endswith(b"END"):
            shown += os.read(self.ours, 10_000)
        os.close(self.ours)
        os.close(self.theirs)
        return shown


AT_ONCE = """
import sys
from seqtag.cli import common, main
common._SECONDS = 0
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.parametrize("quiet", [False, True])
@pytest.mark.parametrize("seconds", [0, 3])
def test_progress_is_for_terminals_only(home, tmp_path, quiet, seconds):
    (tmp_path / "in.conllu").write_text(conllu())
    program = SEQTAG if seconds else (sys.executable, "-c", AT_ONCE)
    command = [*program, "tag", "-m", home / "upos.seqtag", "in.conllu", "-o", "out"]
    terminal = Terminal()
    done = subprocess.run(
        [*command, "--quiet"] if quiet else command,
        stderr=terminal.theirs,
        stdout=subprocess.PIPE,
        cwd=tmp_path,
        timeout=60,
    )
    shown = terminal.shown()
    assert (done.returncode, done.stdout) == (0, b"")
    assert (b"/1.44k" in shown) is (not quiet and not seconds)  # the size of the file is known
    words = sum(len(sentence.split()) for sentence in SENTENCES)
    summary = rb"seqtag: %d words in \d+\.\d s, [\d,]+ words a second\r\n" % words
    assert (re.search(summary, shown) is not None) is (not quiet)
    assert run("tag", "-m", home / "upos.seqtag", tmp_path / "in.conllu", "-q").err == ""


def test_progress_does_not_come_between_the_lines_of_the_output(home, tmp_path):
    (tmp_path / "in.conllu").write_text(conllu())
    terminal = Terminal()
    command = [*SEQTAG, "tag", "-m", home / "upos.seqtag", "in.conllu", "--format", "conllu"]
    done = subprocess.run(
        command, stderr=terminal.theirs, stdout=terminal.theirs, cwd=tmp_path, timeout=60
    )
    shown = terminal.shown().replace(b"\r\n", b"\n")
    assert done.returncode == 0
    assert shown.startswith(b"# text = the dog barks .\n1\tthe\tthe\tDET\t")
    assert b"%" not in shown


ROW = "1\tdog" + "\t_" * 8 + "\n\n"


@linux
@pytest.mark.parametrize(
    ("options", "sent"),
    [
        ((), [ROW, ROW]),
        (("--threads", "2"), [ROW, ROW]),
        (("--format", "tokens", "--to", "tagged"), ["the dog\n"] * 3),
        (("--to", "tagged"), ["the dog .\n"] * 2),
    ],
)
def test_a_co_process_gets_its_answer(home, options, sent):
    command = [*SEQTAG, "tag", "-q", "-m", home / "upos.seqtag", *options]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0
    ) as process:
        for text in sent:
            process.stdin.write(text.encode())
            answer = b""
            while not answer.endswith(b"\n\n" if text is ROW else b"\n"):
                arrived, _, _ = select.select([process.stdout], [], [], 60)
                assert arrived, answer
                answer += os.read(process.stdout.fileno(), 10_000)
            assert b"NOUN" in answer
        process.stdin.close()
        assert process.wait(60) == 0


def test_what_was_found_out_is_said_once_unless_quiet(home, call, tmp_path):
    (tmp_path / "in").write_text(conllu(["the dog barks", "a cat"]))
    command = ("tag", "-m", home / "upos.seqtag", tmp_path / "in")
    note = f"seqtag: note: {tmp_path}/in: read as conllu (10 tab-separated fields in 5 of 5 rows)"
    assert call(*command, tmp_path / "in").notes == [note]
    assert call(*command, "--quiet").notes == []
    assert call(*command, "--format", "conllu").notes == []
    (tmp_path / "in").write_text(conllu(["the dog barks"] * 1200))
    [note] = call(*command).notes
    assert re.search(r"in (\d+) of \1 rows of the first 64 KiB\)$", note)
    (tmp_path / "in").write_text("the dog barks")
    note, cut = call(*command).notes
    assert note.endswith("in: read as text (1 line of 3 words)")
    assert "in: tokenized by NLTK's rules for English" in cut


@linux
def test_memory_stays_flat(home):
    """Peak memory of a run on 10 times the data is about the same."""
    script = (
        "import sys; from seqtag.cli import main; assert main(sys.argv[1:]) == 0\n"
        "[peak] = [line for line in open('/proc/self/status') if 'VmHWM' in line]\n"
        "print(peak.split()[1], file=sys.stderr)"
    )
    peaks = []
    for copies in (500, 5000):
        data = conllu().encode() * copies
        args = ("tag", "--quiet", "-m", "upos.seqtag", "-o", os.devnull)
        command = [sys.executable, "-c", script, *args]
        done = subprocess.run(
            command, input=data, capture_output=True, timeout=60, check=True, cwd=home
        )
        peaks.append(int(done.stderr) / 1024)
    assert peaks[1] < peaks[0] + 12, peaks  # MB; the data grow by 45


# ----------------------------------------------------------------- for other programs
def test_a_table_for_other_programs(home, call, tmp_path):
    for name in ("a", "b"):
        (tmp_path / name).write_text("the dog barks\nthe cat\n")
    files = (tmp_path / "a", tmp_path / "b")
    done = call("tag", "-m", home / "upos.seqtag", *files, "--format", "tokens", "--to", "tsv")
    assert done.out.decode() == (
        "sentence\tform\tupos\n"
        + "1\tthe\tDET\n1\tdog\tNOUN\n1\tbarks\tVERB\n2\tthe\tDET\n2\tcat\tNOUN\n"
        + "3\tthe\tDET\n3\tdog\tNOUN\n3\tbarks\tVERB\n4\tthe\tDET\n4\tcat\tNOUN\n"
    )
    (tmp_path / "c").write_text(conllu(SENTENCES[:1]))
    done = call("tag", "-m", home / "upos.seqtag", files[0], tmp_path / "c", "--to", "tsv")
    assert done.code == 1
    assert (
        "expected the columns form, misc, upos of the first sentence, found form, lemma" in done.err
    )


def test_an_object_for_each_sentence(call, tmp_path):
    (tmp_path / "text").write_text("They didn't stop. Why?\n")
    first, second = map(
        json.loads, call("tag", tmp_path / "text", "--to", "jsonl").out.splitlines()
    )
    assert first["tokens"] == ["They", "did", "n't", "stop", "."]
    assert first["upos"] == ["PRON", "AUX", "PART", "VERB", "PUNCT"]
    assert first["multiword"] == [[2, 3, "didn't"]]
    assert (first["sent_id"], first["text"]) == ("1", "They didn't stop.")
    assert {*second} == {*first} - {"multiword"}
    assert "head" not in first


def test_ranges_of_tokens(call, tmp_path):
    """The ranges of an object are in the whole text; words of a multiword token share one."""
    (tmp_path / "text").write_text(text := " They didn't stop.\n\nWhy\u00e9?\n")
    tag = ("tag", tmp_path / "text", "--token-ranges", "--to")
    first, second = map(json.loads, call(*tag, "jsonl").out.splitlines())
    places = [[text[start:end] for start, end in each["ranges"]] for each in (first, second)]
    assert places == [["They", "didn't", "didn't", "stop", "."], ["Why\u00e9", "?"]]
    for to in ("tsv", "columns", "tagged", "tokens"):
        done = call(*tag, to)
        assert (done.code, done.out) == (2, b"")
        assert (
            f"expected the format conllu or jsonl for --token-ranges, found {to}, which cannot "
            "store them" in done.err
        )


def test_documents_of_conll2003(home, call, tmp_path):
    """They begin with -DOCSTART- or # newdoc, and do so again."""
    text = "-DOCSTART- -X- -X- O\n\nthe DT B-NP O\ndog NN I-NP O\n\n"
    (tmp_path / "x").write_text(text)
    options = ("-m", home / "chunk.seqtag", "--to", "conll2003")
    assert call("tag", *options, tmp_path / "x", "--format", "conll2003").out.decode() == text
    (tmp_path / "y.conllu").write_text("# newdoc id = a\n" + conllu(["the dog"]))
    done = call("tag", *options, tmp_path / "y.conllu")
    assert done.code == 1
    assert done.err == (
        "seqtag: expected a column 'ner' to write the format conll2003, found form, lemma, upos, "
        "xpos, feats, head, deprel, deps, misc, chunk; add it or choose another "
        "format, such as columns\n"
    )
    names = tmp_path / "names.txt"
    names.write_text("the B-X\ndog O\n\nthe B-X\n\n")
    call("train", names, "-o", tmp_path / "ner", "--columns", "form,ner", "--epochs", 1)
    done = call("tag", *options, "-m", tmp_path / "ner", tmp_path / "y.conllu")
    head, _, first, *_ = done.out.decode().splitlines()
    assert head == "-DOCSTART- -X- -X- O"
    assert first.split()[:3] == ["the", "DT", "B-NP"]


def test_only_commands_freeze_the_heap(monkeypatch, home, call, tmp_path):
    (tmp_path / "in.conllu").write_text(conllu(), "utf-8")
    frozen = []
    monkeypatch.setattr(gc, "freeze", lambda: frozen.append(True))
    seqtag.load(home / "upos.seqtag")
    assert frozen == []
    assert call("tag", "-m", home / "upos.seqtag", tmp_path / "in.conllu").code == 0
    assert frozen == [True]
