"""All commands that read gold labels convert them to the chunk scheme of the model."""

# ruff: noqa: F401, F811  (fixtures are imported, then asked for by name)
from __future__ import annotations

import json

import pytest

import seqtag
from seqtag.corpus import sentence_of
from seqtag.corpus.gold import GoldLabels
from seqtag.errors import LabelError
from seqtag.labels.column import LabelColumn
from seqtag.labels.schemes import convert
from tests.command_line import call

SCHEMES = ("iob2", "iobes", "iob1")
COLUMNS = ("--columns", "form,pos,chunk", "-q")
FORCE = "--force"


@pytest.fixture(scope="module")
def folder(sample_dir, tmp_path_factory):
    """The sample in each of the schemes, a model of each, and what another system says."""
    folder = tmp_path_factory.mktemp("schemes")
    for part, count in (("train", None), ("dev", 60)):
        sentences = [s for s in seqtag.read(sample_dir / f"en-sample-{part}.chunk.txt") if len(s)]
        for scheme in SCHEMES:
            labels = [convert(s.column("chunk"), "iob2", scheme) for s in sentences]
            pairs = list(zip(sentences, labels, strict=True))[:count]
            text = "".join(sentence.replace({"chunk": new}) for sentence, new in pairs)
            (folder / f"{part}.{scheme}").write_text(text)
    for scheme in SCHEMES:
        tagger = seqtag.train(folder / f"train.{scheme}", label="chunk", epochs=2)
        tagger.save(folder / f"{scheme}.seqtag")
        small = seqtag.train(folder / f"dev.{scheme}", label="chunk", epochs=1)
        small.save(folder / f"small.{scheme}.seqtag")
    return folder


def printed(done):
    """What a command printed, after it succeeded."""
    assert done.code == 0, done.err
    return done.out


def page(call, model, gold, tmp_path):
    assert call("report", "-m", model, gold, "-o", tmp_path / "r.html", FORCE, *COLUMNS).code == 0
    return (tmp_path / "r.html").read_text().replace(gold.name, "GOLD")


def calibrated(call, model, gold, tmp_path):
    target = tmp_path / "calibrated.seqtag"
    shown = printed(call("bundle", model, "--calibrate", gold, "-o", target, FORCE, *COLUMNS))
    return shown, seqtag.Tagger.load(target).model.calibration


def compared(call, model, gold, tmp_path):
    other = model.with_name(f"small.{model.stem}.seqtag")
    done = json.loads(printed(call("compare", gold, model, other, "--json", *COLUMNS)))
    del done["gold"]
    return done


def trained(call, model, gold, tmp_path):
    target = tmp_path / "trained.seqtag"
    train = model.with_name(f"train.{model.stem}")
    how = ("--label", "chunk", "--epochs", 2, "--patience", 1, "--dev", gold)
    assert call("train", train, *how, "-o", target, FORCE, *COLUMNS).code == 0
    return seqtag.load(target).info["training"]


def tuned(call, model, gold, tmp_path):
    train = model.with_name(f"train.{model.stem}")
    how = ("--label", "chunk", "--try", "epochs=1,2", "--dev", gold)
    return printed(call("tune", train, *how, *COLUMNS))


def simple(command, *options):
    return lambda call, model, gold, _: printed(
        call(command, "-m", model, gold, *COLUMNS, *options)
    )


def lists(path, *, dicts):
    """Sentences of tuples or of feature dicts, and their labels."""
    read = [s for s in seqtag.read(path, columns=["form", "pos", "chunk"]) if len(s)]
    pairs = [list(zip(s.words, s.column("pos"), strict=True)) for s in read]
    features = [[{"w": word, "p": pos} for word, pos in sentence] for sentence in pairs]
    return features if dicts else pairs, [s.column("chunk") for s in read]


def of_sklearn(call, model, gold, tmp_path, *, dicts=False):
    sklearn = pytest.importorskip("seqtag.integrations.sklearn")
    train = lists(model.with_name(f"train.{model.stem}"), dicts=dicts)
    dev = lists(gold, dicts=dicts)
    fitted = sklearn.SequencePerceptron(epochs=2).fit(*train, *dev).calibrate(*dev)
    return (
        fitted.score(*dev),
        fitted.report(*dev).accuracy,
        sklearn.chunk_f1_scorer(fitted, *dev),
        sklearn.token_accuracy_scorer(fitted, *dev),
        fitted.predict_marginals(dev[0]).tolist(),
    )


def of_feature_dicts(call, model, gold, tmp_path):
    return of_sklearn(call, model, gold, tmp_path, dicts=True)


CONSUMERS = {
    "eval": simple("eval", "--json"),
    "eval --confusion": simple("eval", "--confusion", "5", "--errors", "5"),
    "compare": compared,
    "report": page,
    "bundle --calibrate": calibrated,
    "tag --keep": simple("tag", "--keep"),
    "train --dev": trained,
    "tune --dev": tuned,
    "SequencePerceptron": of_sklearn,
    "SequencePerceptron of feature dicts": of_feature_dicts,
}


@pytest.mark.parametrize("consumer", CONSUMERS)
@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_file_in_another_scheme_gives_the_same(folder, consumer, scheme, call, tmp_path):
    model = folder / f"{scheme}.seqtag"
    found = {
        other: CONSUMERS[consumer](call, model, folder / f"dev.{other}", tmp_path)
        for other in SCHEMES
    }
    for other in SCHEMES:
        assert found[other] == found[scheme], other


def rows(labels):
    """A file with these labels, sentences are separated by a bar."""
    lines = ("" if each == "|" else f"w{i} N {each}" for i, each in enumerate(labels.split()))
    return "\n".join([*lines, "", ""])


@pytest.mark.parametrize(
    ("labels", "scheme", "kept"),
    [
        ("B-NP O | _ _", "iobes", "S-NP O"),
        ("B-NP I-NP _ | B-NP _ O", "iob2", "B-NP I-NP"),
        ("B-NP O _ O B-VP I-VP", "iobes", "S-NP O"),
        ("_ E-NP O", "iobes", "_ E-NP O"),  # they fit the scheme
    ],
)
def test_labels_that_are_kept_are_of_one_scheme(folder, labels, scheme, kept, call, tmp_path):
    path = tmp_path / "in.txt"
    path.write_text(rows(labels))
    out = printed(call("tag", "-m", folder / f"{scheme}.seqtag", path, "--keep", *COLUMNS)).decode()
    found = [line.split()[2] for line in out.splitlines() if line]
    for expected, label in zip(kept.split(), found, strict=False):
        assert expected in ("_", label)
    assert {label[0] for label in found} <= {*("OBI" if scheme == "iob2" else "OBIES")}


@pytest.mark.parametrize(
    ("labels", "scheme", "line", "message"),
    [
        ("B-NP O | B-NP _ O", "iobes", 4, "chunks of the scheme iobes, which the model writes, or"),
        ("B-NP O | _ S-NP _", "iob2", 5, "chunks of the scheme iob2, which the model writes, or"),
        ("B-NP O | _ N _", "iob2", 5, "chunk labels as the model writes them (iob2), found 'N' in"),
        ("_ S-NP _", "iob2", 2, "chunk"),
    ],
)
def test_what_cannot_be_kept_in_the_scheme_of_the_model_is_refused(
    folder,
    labels,
    scheme,
    line,
    message,
    call,
    tmp_path,
):
    """Such as a chunk of another scheme that may go on in a word without a label."""
    path = tmp_path / "in.txt"
    path.write_text(rows(labels))
    done = call("tag", "-m", folder / f"{scheme}.seqtag", path, "--keep", *COLUMNS)
    assert done.code == 1
    assert done.err.splitlines()[-1].startswith(f"seqtag: {path}:{line}: expected {message}")


@pytest.mark.parametrize(
    "command",
    ["eval -m M F", "report -m M F -o O", "tag -m M F --keep"],
)
def test_labels_of_another_kind_are_refused_with_their_line(folder, command, call, tmp_path):
    path = tmp_path / "in.txt"
    path.write_text(rows(" ".join(["B-NP I-NP O | "] * 20) + "B-NP OO"))
    places = {"M": folder / "iob2.seqtag", "F": path, "O": tmp_path / "out.html"}
    done = call(*(places.get(word, word) for word in command.split()), *COLUMNS)
    assert (done.code, done.out) == (1, b"")
    assert done.err.startswith(f"seqtag: {path}:82: expected chunk labels such as ")
    assert "found 'OO' (1 of 62 words) in the column chunk; correct it, or name it with" in done.err


def test_mistakes_in_the_scheme_of_the_model_stay():
    """A label that cannot follow another is a mistake of the annotation, which scores show."""
    good = ["B-X", "I-X", "O", "B-Y"]
    labels = [good, ["I-X", "O", "B-X", "B-Y"], good]
    assert GoldLabels(LabelColumn("ner"), "iob2").converted(labels) == labels


def test_words_without_a_label_are_left_out_where_the_scheme_is_another():
    reader = GoldLabels(LabelColumn("ner"), "iobes", partial=True)
    labels = ["B-X", "O", "_", "B-X", "I-X", "O", "B-X", "_", "O"]
    assert reader.converted([labels]) == [["S-X", "O", "_", "_", "_", "O", "_", "_", "O"]]
    with pytest.raises(LabelError, match="found '_' "):
        GoldLabels(LabelColumn("ner"), "iobes").converted([labels])


def test_a_key_that_words_outside_lack():
    words = {"form": ["a", "b", "c"], "misc": ["NE=B-X", "NE=I-X", "_"]}
    reader = GoldLabels(LabelColumn("misc.NE"), "iobes")
    assert reader.converted([reader.read(sentence_of(words))]) == [["B-X", "E-X", "O"]]


@pytest.mark.parametrize("command", ["eval -m en", "agree --label misc.NER"])
def test_a_text_has_no_gold_labels(command, call, tmp_path):
    """Not even those of a key, which other words outside of chunks lack."""
    path = tmp_path / "in.txt"
    path.write_text("Ada ran.\nWho knows?\n")
    done = call(*command.split(), path, *[path] * command.startswith("agree"))
    assert done.code == 1
    assert f"seqtag: {path}: expected a column of labels, found raw text; if there" in done.err
