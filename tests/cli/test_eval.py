"""seqtag eval: a model or a file against gold, as text, JSON and as conlleval."""

# ruff: noqa: F401, F811  (fixtures are imported, then asked for by name)
from __future__ import annotations

import json

import pytest

import seqtag
from seqtag.evaluation import score
from seqtag.labels.schemes import convert
from tests.command_line import call, chunks, conllu, home, run


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """gold.* and predicted.*: one label of 44, one chunk of 21 is wrong."""
    (tmp_path / "gold.conllu").write_text(conllu())
    (tmp_path / "predicted.conllu").write_text(conllu().replace("sees\tVERB", "sees\tNOUN", 1))
    (tmp_path / "gold.txt").write_text(chunks())
    (tmp_path / "predicted.txt").write_text(chunks().replace("B-VP", "B-NP", 1))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_two_files(folder, call):
    done = call("eval", "gold.conllu", "predicted.conllu", "--confusion", 5, "--errors", 5)
    lines = done.out.decode().splitlines()
    assert (done.code, done.err) == (0, "")
    assert "tokens                        97.73         43         44" in lines
    assert "VERB -> NOUN                      1" in lines
    assert lines[-1] == "      1  VERB         NOUN         sees"
    assert any(
        line.startswith("task:upos|metric:accuracy|scheme:none|sentences:8|") for line in lines
    )
    same = call("eval", "gold.conllu", "predicted.conllu", "--label", "xpos").out.decode()
    assert "100.00         44         44" in same
    both = call("eval", "gold.conllu", "predicted.conllu", "--label", "upos+feats").out.decode()
    assert "97.73         43         44" in both


def test_json(folder, call):
    options = ("--json", "--confusion", 5, "--errors", 5)
    document = json.loads(call("eval", "gold.conllu", "predicted.conllu", *options).out)
    assert document["score"] == document["accuracy"] == 43 / 44
    assert document["confusion"] == [["VERB", "NOUN", 1]]
    assert document["errors"] == [
        {"word": "sees", "gold": "VERB", "predicted": "NOUN", "tokens": 1}
    ]
    whole = json.loads(call("eval", "gold.conllu", "predicted.conllu", "--json").out)
    assert sum(tokens for _, _, tokens in whole["confusion"]) == 44
    assert "errors" not in whole


def test_chunks_and_conlleval(folder, call):
    report = call("eval", "gold.txt", "predicted.txt").out.decode()
    assert "chunks (iob2)" in report and "metric:conlleval-f1" in report
    printed = call("eval", "gold.txt", "predicted.txt", "--conlleval").out.decode()
    assert printed.startswith(
        "processed 44 tokens with 21 phrases; found: 21 phrases; correct: 20.\n"
    )


def test_files_of_two_chunk_schemes(folder, call):
    """The chunks are compared, and the labels of words as well."""
    found = []
    for name in ("gold.txt", "predicted.txt"):
        labeled = list(seqtag.read(folder / name))
        other = [convert(each.column("chunk"), "iob2", "iobes") for each in labeled]
        pairs = zip(labeled, other, strict=True)
        text = "".join(each.replace({"chunk": labels}) for each, labels in pairs)
        (folder / f"iobes-{name}").write_text(text)
    for gold, predicted, notes in (
        ("gold.txt", "iobes-predicted.txt", True),
        ("iobes-gold.txt", "predicted.txt", True),
        ("gold.txt", "predicted.txt", False),
    ):
        done = call("eval", gold, predicted, "--json")
        assert ("and are read as " in done.err) == notes
        report = json.loads(done.out)
        found.append((report["accuracy"], report["score"]))
    assert found[0] == found[2] and found[1][1] == found[2][1]


def test_a_model(home, call):
    done = call("eval", "-m", home / "chunk.seqtag", home / "train.txt", "--json", "--threads", 2)
    assert (done.code, done.err) == (0, "")
    document = json.loads(done.out)
    assert (document["task"], document["metric"], document["score"]) == ("chunk", "conlleval-f1", 1)
    assert (document["known_tokens"], document["unknown_tokens"]) == (44, 0)
    other = call("eval", "-m", home / "xpos.seqtag", home / "train.txt")  # pos stands in for xpos
    assert b"100.00         44         44" in other.out
    named = call("eval", "-m", home / "upos.seqtag", home / "train.conllu", "--label", "xpos")
    assert named.code == 0 and b"task:xpos|" in named.out


def test_the_signature_is_the_same_in_python(home, call):
    """It names the model's training data and seed."""
    tagger = seqtag.load(home / "upos.seqtag")
    report = score(tagger, seqtag.read(home / "train.conllu"))
    digest = tagger.info["training"]["corpus_sha256"][:8]
    assert f"|data:{digest}|seed:1|version:" in report.signature
    out = call("eval", "-m", home / "upos.seqtag", home / "train.conllu").out.decode()
    assert out == str(report)


def test_standard_input_and_formats_may_differ(folder):
    done = run("eval", "-", folder / "gold.txt", "--label", "xpos", stdin=conllu().encode())
    assert b"100.00         44         44" in done.out  # pos stands in for xpos
    done = run("eval", "-", folder / "predicted.conllu", stdin=conllu().encode())
    assert (done.code, done.err) == (0, "")
    assert b"97.73" in done.out


def test_fail_under(folder, call):
    files = ("eval", "gold.conllu", "predicted.conllu", "--fail-under")
    assert call(*files, "97.7").code == 0
    assert call(*files, "0").code == 0
    done = call(*files, "97.8")
    assert (done.code, done.err) == (3, "seqtag: upos accuracy 97.73 is under 97.8\n")
    assert b"97.73" in done.out
    done = call(*files, "100", "--json", "--quiet")
    assert (done.code, done.err) == (3, "")
    assert json.loads(done.out)["correct"] == 43


def test_files_of_other_words(folder, call):
    (folder / "other.conllu").write_text(conllu().replace("\tsees\tsees", "\thears\thears", 1))
    (folder / "first.conllu").write_text(conllu(["the dog barks ."]))
    again = "; compare files of the same text\n"
    for gold, predicted, message in (
        (
            "gold",
            "other",
            "other.conllu:10: expected the words of gold.conllu:10, "
            '"sees the dog .", '
            'found "hears the dog ."',
        ),
        (
            "first",
            "gold",
            'first.conllu: expected the words of gold.conllu:8, "a cat sees the", '
            "found the end of the file",
        ),
    ):
        done = call("eval", f"{gold}.conllu", f"{predicted}.conllu")
        assert (done.code, done.out, done.err) == (1, b"", f"seqtag: {message}{again}")


# --------------------------------------------------------------------------- texts cut otherwise
def joined() -> str:
    """The sentences with the first two words as one."""
    first, _, rest = conllu().partition("\n\n")
    comment, *words = first.split("\n")
    words[:2] = [words[0].replace("the", "thedog", 1)]
    words = [f"{i}\t{word.partition(chr(9))[2]}" for i, word in enumerate(words, 1)]
    return "\n".join([comment, *words]) + f"\n\n{rest}"


def test_aligned_files(folder, call):
    (folder / "joined.conllu").write_text(joined())
    done = call("eval", "gold.conllu", "joined.conllu", "--raw")
    assert (done.code, done.err) == (0, "")
    lines = [line.split() for line in done.out.decode().splitlines()]
    assert lines[1] == ["Tokens", "97.67", "95.45", "96.55", "44", "43"]
    assert lines[2] == ["Sentences", "100.00", "100.00", "100.00", "8", "8"]
    assert lines[4] == ["UPOS", "97.67", "95.45", "96.55", "44", "43", "100.00"]
    same = call("eval", "gold.conllu", "predicted.conllu", "--raw", "--json", "--label", "upos")
    document = json.loads(same.out)
    assert document["metric"] == "upos-f1"
    assert document["score"] == 43 / 44
    fail = ("eval", "gold.conllu", "joined.conllu", "--raw", "--fail-under", 97)
    low = call(*fail, "--label", "words")
    assert (low.code, low.err) == (3, "seqtag: words-f1 96.55 is under 97\n")
    several = call(*fail)
    assert (several.code, several.out) == (2, b"")
    assert "one of tokens, sentences, words, upos, xpos, feats, alltags, lemma; found none" in (
        several.err
    )


def test_fail_under_with_a_pipeline_compares_the_column_that_is_named(folder, call, home):
    """Words that are given are right: their score is no gate."""
    data = home / "train.conllu"
    assert call("train", data, "--label", "upos,xpos", "--epochs", 1, "-o", "p.seqtag").code == 0
    (folder / "odd.conllu").write_text(conllu().replace("\tNN\t", "\tXX\t"))
    gate = ("eval", "-m", "p.seqtag", "odd.conllu", "--fail-under", 99)
    for more in ((), ("--label", "words")):
        done = call(*gate, *more)
        assert done.code == 2 and "one of upos, xpos; found" in done.err
    low = call(*gate, "--label", "xpos")
    assert low.code == 3 and "seqtag: xpos-f1 " in low.err
    done = call(*gate, "--label", "upos")
    assert done.code == 0 and "seqtag: upos-f1 100.00 is not under 99\n" in done.err


def test_the_only_column_of_a_pipeline_needs_no_name(folder, call, home):
    train = ("train", home / "train.conllu", "--label", "tokens,upos", "--epochs", 1)
    assert call(*train, "-o", "one.seqtag").code == 0
    done = call("eval", "-m", "one.seqtag", "gold.conllu", "--fail-under", 0, "--list", "w.tsv")
    assert done.code == 0 and "seqtag: upos accuracy " in done.err
    assert (folder / "w.tsv").read_text().startswith("file\tline\tsentence")


def test_aligned_files_of_other_texts(folder, call):
    (folder / "other.conllu").write_text(conllu().replace("\ta\t", "\tthe\t", 1))
    done = call("eval", "gold.conllu", "other.conllu", "--raw")
    assert (done.code, done.out) == (1, b"")
    assert done.err == (
        'seqtag: other.conllu:8: expected "acatseesthedog." as in gold.conllu:8, found '
        '"thecatseesthedog."; compare files of the same text (white space may differ)\n'
    )
