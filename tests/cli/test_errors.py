"""Bad input and bad luck: one line that names the place and the remedy, and nothing is broken."""

# ruff: noqa: F401, F811  (fixtures are imported, then asked for by name)
from __future__ import annotations

import io
import json
import shlex

import pytest

import seqtag
from tests.command_line import call, home, linux, run


@pytest.fixture
def folder(home, tmp_path, monkeypatch):
    """A working folder with good files, bad files and models."""
    for name in ("train.conllu", "train.txt", "upos.seqtag", "chunk.seqtag"):
        (tmp_path / name).write_bytes((home / name).read_bytes())
    model = (home / "upos.seqtag").read_bytes()
    last = len(model) - 1
    files = {
        "empty": b"",
        "pointer.seqtag": b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n",
        "raw.txt": b"The dog barks.\n",
        "flip.seqtag": model[:last] + bytes([model[last] ^ 1]),
    }
    for name, data in files.items():
        (tmp_path / name).write_bytes(data)
    (tmp_path / "folder").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def check(done, code: int, message: str) -> None:
    """One line on stderr, as expected; nothing on stdout."""
    assert (done.code, done.out) == (code, b""), done
    assert done.err.startswith("seqtag: ") and done.err.count("\n") == 1, done.err
    assert message in done.err, done.err


REFUSED = [
    *(
        (
            line,
            "upos.seqtag: expected a corpus, found a seqtag model; name it with -m, in compare after "
            "the corpus (in Python, load it with seqtag.load)",
        )
        for line in (
            "compare upos.seqtag chunk.seqtag train.conllu",
            "eval -m upos.seqtag upos.seqtag --format conllu",
            "tag upos.seqtag --format text",
            "train upos.seqtag -o new",
        )
    ),
    (
        "train train.conllu --label all,misc.NER -o new",
        "name each column, such as tokens,words,upos,xpos,feats,lemma,misc.NER",
    ),
    ("train train.conllu --label upos,nonsense -o new", "to learn, found upos, nonsense; name the"),
    (
        "train train.conllu --dev train.txt -o new",
        "train.txt: expected a dev set with the columns of the training data, found one without "
        "upos (it has form, pos, chunk); give one in the same format",
    ),
    ("train train.conllu train.txt -o new", "train.txt: expected the columns id, form, lemma, "),
    ("train train.txt --templates nope -o new", "found neither of the name 'nope'; presets are ch"),
    (
        "train train.conllu --init upos.seqtag --label xpos -o new",
        "expected a column that the model to continue from labels (upos), found xpos",
    ),
    ("tag -m upos.seqtag train.conllu -o no/out", "no: No such directory; check the path"),
    (
        "report -m en train.conllu -o x.html --label words",
        "en: expected a component that labels wo",
    ),
    (
        "eval -m chunk.seqtag train.conllu",
        "train.conllu: expected a file with the column chunk, which the model predicts, found one",
    ),
    ("eval train.conllu train.txt --raw", "train.txt:1: expected CoNLL-U, which marks tokens"),
    (
        "compare train.conllu upos.seqtag en --label misc",
        "en: expected a component that labels words, one of tokens, words, upos, xpos, feats, "
        "lemma, misc.NER, found 'misc'",
    ),
    ("report -m upos.seqtag empty -o x.html", "empty: expected sentences to score, found none"),
    (
        "explain -m upos.seqtag 'the dog' --token 3",
        "the text: expected a sentence of 3 words or more, found none; choose a smaller --token",
    ),
]
"""Command lines on data that do not fit, and what the message says."""


@pytest.mark.parametrize(("line", "message"), REFUSED, ids=[line for line, _ in REFUSED])
def test_what_does_not_fit_is_refused(folder, call, line, message):
    before = sorted(folder.iterdir())
    check(call(*shlex.split(line)), 1, message)
    assert sorted(folder.iterdir()) == before


def test_no_command_shows_the_help(call):
    for args in ((), ("models",)):
        done = call(*args)
        assert (done.out + done.err.encode()).startswith(b"Usage: seqtag ")
        assert ("Commands:" if args else "Use:") in (done.out.decode() + done.err)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (
            "missing",
            "No such file or directory; embedded models: en",
        ),
        ("folder", "folder: Is a directory; name its files, as in FOLDER/*.txt"),
        (
            "train.conllu",
            "train.conllu: expected a seqtag model, found another kind of file; check the path",
        ),
        ("empty", "empty: expected a seqtag model file, found an empty file"),
        ("pointer.seqtag", "pointer.seqtag: expected a seqtag model, found a pointer of Git LFS"),
        ("flip.seqtag", "flip.seqtag: expected the checksum "),
    ],
)
def test_what_is_no_model(folder, call, name, message):
    check(call("tag", "-m", "upos.seqtag", "-m", name, "train.conllu", "-o", "out"), 1, message)
    assert not (folder / "out").exists()


def test_a_bug_is_called_one(folder, call, monkeypatch):
    def broken(*_args, **_kwargs):
        raise RuntimeError("it broke\nin two lines")

    monkeypatch.setattr("seqtag.loading.load", broken)
    done = call("info", "upos.seqtag")
    check(done, 1, "internal error, please report it: RuntimeError: it broke (seqtag --debug")
    with pytest.raises(RuntimeError):
        call("--debug", "info", "upos.seqtag")


@linux
def test_other_broken_streams(folder):
    tag = ("tag", "-m", "upos.seqtag")
    check(run(*tag, "train.conllu", "-o", "/dev/full", cwd=folder), 1, "/dev/full: No space left")
    for shell in ('exec "$@" 2>&-', 'exec "$@" 2>/dev/full'):  # nowhere to complain: work goes on
        done = run(
            "train", "train.txt", "-o", "m", "--force", "--epochs", 1, cwd=folder, shell=shell
        )
        assert (done.code, done.out, done.err) == (0, b"", "")
        assert run(*tag, "nope", cwd=folder, shell=shell).code == 1


@linux
@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize(
    "args",
    [("tag", "--format", "tokens", "-"), ("eval", "gold", "--json", "--columns", "form,upos")],
)
def test_standard_output_that_is_written_in_part(folder, args, unbuffered):
    gold = b"".join(b"the%d\tDET\ndog\tNOUN\n\n" % n for n in range(999))
    (folder / "gold").write_bytes(gold)
    command, *rest = args
    done = run(
        *(command, "-q", "-m", "upos.seqtag", *rest),
        stdin=gold.replace(b"\t", b" "),
        cwd=folder,
        env={"PYTHONUNBUFFERED": unbuffered},
        shell='ulimit -f 1; exec "$@" > out',
    )
    check(done, 1, "<stdout>: File too large")


@linux
def test_a_current_folder_that_was_removed(folder):
    shell = 'mkdir gone; cd gone; rmdir ../gone; exec "$@"'
    tag = ("tag", "-m", folder / "upos.seqtag", "--format", "tokens")
    done = run(*tag, stdin=b"the dog\n", cwd=folder, shell=shell)
    assert (done.code, done.err) == (0, "") and done.out
    check(
        run(*tag, "-o", "x", cwd=folder, shell=shell),
        1,
        "x: No such file or directory; check the path",
    )


def test_names_in_messages_survive_a_poor_locale(folder):
    poor = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    done = run("info", "n\u00e4me", cwd=folder, env=poor)
    assert done.err.startswith("seqtag: n\u00e4me: No such file or directory")
    (folder / "\u00fc.txt").write_bytes("\u00e9\t\u00c4\n\n".encode())
    done = run("eval", "\u00fc.txt", "\u00fc.txt", "--confusion", 1, cwd=folder, env=poor)
    assert (done.code, done.err) == (0, "")


# ----------------------------------------------------------------------------- hostile names
@linux
def test_names_of_files_never_reach_a_terminal_raw(tmp_path, call):
    for name in ("\x1b[2J.seqtag", "\x9b2J", "a\rb", "a\u202eb", "\udcff"):
        done = call("info", tmp_path / name)
        assert done.code == 1
        escaped = "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in name)
        assert escaped in done.err and name not in done.err


def test_names_of_several_lines_are_shown_in_one(tmp_path, call):
    """Else a file could say anything in the name of the program."""
    done = call("info", tmp_path / "a\nseqtag: all is well")
    assert done.code == 1
    assert done.err.count("\n") == 1 and r"a\nseqtag: all is well" in done.err


def test_labels_and_columns_never_reach_a_terminal_raw(tmp_path, call):
    corpus = "the\x1b[1m N\u202d\ndog V\u202e\n\nthe\x1b[1m N\u202d\n"
    sentences = seqtag.read(io.BytesIO(corpus.encode()), columns=["form", "tag"])
    seqtag.train(sentences, label="tag", epochs=1, min_count=1).save(tmp_path / "m.seqtag")
    (tmp_path / "gold.txt").write_text(corpus)
    shown = call("info", tmp_path / "m.seqtag", "--json")
    assert json.loads(shown.out)["labels"] == ["N\u202d", "V\u202e"]
    assert rb"V\u202e" in shown.out
    assert shown.code == 0
    assert not {"\x1b", "\u202d", "\u202e"} & {*shown.out.decode(), *shown.err}
