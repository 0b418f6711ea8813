"""Aligned evaluation against the published script of the shared task."""

from __future__ import annotations

import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqtag.corpus import read, sentence_of
from seqtag.errors import CorpusError, LabelError
from seqtag.evaluation import AlignedReport, Counts, Origin, score_aligned

OFFICIAL = {
    "tokens": "Tokens",
    "sentences": "Sentences",
    "words": "Words",
    "upos": "UPOS",
    "xpos": "XPOS",
    "feats": "UFeats",
    "alltags": "AllTags",
    "lemma": "Lemmas",
}


def sentences(text: str, name: str = "gold.conllu"):
    stream = io.BytesIO(text.encode())
    stream.name = name
    return read(stream, "conllu")


def scored(gold: str, predicted: str, **more) -> AlignedReport:
    return score_aligned(sentences(gold), sentences(predicted, "predicted.conllu"), **more)


def rows(*lines: str) -> str:
    """A sentence of lines "id form lemma upos xpos feats", what is missing being _."""
    text = ""
    for line in lines:
        fields = line.split()
        text += "\t".join(fields + ["_"] * (10 - len(fields))) + "\n"
    return text + "\n"


# --------------------------------------------------------------- agreement with the published script
FEATS = ["_", "Case=Nom", "Case=Nom|Typo=Yes", "Number=Sing|Case=Nom", "Style=Coll"]


@st.composite
def annotated(draw, characters: str) -> str:
    """CoNLL-U of a text, cut anyhow."""
    size = len(characters)
    cuts = sorted(draw(st.sets(st.integers(1, size - 1), max_size=size)) if size > 1 else [])
    ends = [*cuts, size]
    stops = draw(st.sets(st.sampled_from(ends))) | {size}
    text, number, begin = "", 1, 0

    def line(identity: str, form: str) -> str:
        labels = [draw(st.sampled_from(values)) for values in ("_lm", "NV", "_x", FEATS)]
        root = ("0", "root") if identity == "1" else ("1", "dep")
        return "\t".join([identity, form, *labels, *root, "_", "_"]) + "\n"

    for end in ends:
        form = characters[begin:end]
        if len(form) > 1 and draw(st.booleans()):
            form = form[0] + "\u00a0" + form[1:]
        count = draw(st.sampled_from([1, 1, 2, 3]))
        if count > 1:
            text += line(f"{number}-{number + count - 1}", form).replace("\troot\t", "\t_\t")
        for n in range(number, number + count):
            word = form if count == 1 else draw(st.sampled_from(["a", "b", "B", "ab", "b a"]))
            text += line(str(n), word)
        number, begin = number + count, end
        if end in stops:
            text, number = text + "\n", 1
    return text


two = st.text("abAB", min_size=1, max_size=9).flatmap(
    lambda text: st.tuples(annotated(text), annotated(text))
)


@given(two, two)
def test_counts_are_those_of_the_published_script(first, second):
    """Also of texts one behind the other: words left over in a stretch are looked at in the next."""
    udeval = pytest.importorskip("udtools.udeval", reason="udtools, which has it, is not installed")
    lenient = {"multiple_roots_okay": True}
    for texts in (first, [a + b for a, b in zip(first, second, strict=True)]):
        loaded = (udeval.load_conllu(io.StringIO(text), "", lenient) for text in texts)
        official = udeval.evaluate(*loaded)
        report = scored(*texts)
        assert list(report.metrics) == list(OFFICIAL)
        for name, other in OFFICIAL.items():
            score, counts = official[other], report.metrics[name]
            assert counts == (score.correct, score.system_total, score.gold_total), name
            if name not in ("tokens", "sentences", "words"):
                assert report.aligned_accuracy(name) == pytest.approx(score.aligned_accuracy or 0)


# ----------------------------------------------------------------------------- worked examples


def test_empty_nodes_and_white_space_do_not_count():
    gold = rows("0.1 x", "1 a", "1.1 y", "2 b")
    predicted = "1\ta b" + "\t_" * 8 + "\n\n"
    assert scored(gold, predicted).metrics["tokens"] == (0, 1, 2)
    assert scored("1\ta\u3000b" + "\t_" * 8 + "\n\n", predicted).metrics["tokens"] == (1, 1, 1)


def test_any_sentences_will_do():
    gold = sentence_of({"form": ["a", "b"], "upos": ["X", "Y"]})
    found = sentence_of({"form": ["a", "b"]})
    metrics = score_aligned([gold], [found]).metrics
    assert metrics["words"].correct == metrics["xpos"].correct == 2
    assert metrics["upos"].correct == 0


def test_sentences_are_asked_for_when_they_are_needed():
    given = {"gold": 0, "predicted": 0}

    def counted(name):
        for sentence in sentences(rows("1 a") * 50):
            given[name] += 1
            assert abs(given["gold"] - given["predicted"]) <= 1
            yield sentence

    assert score_aligned(counted("gold"), counted("predicted")).sentences == 50


# ------------------------------------------------------------------------------------- reports
def test_a_report_for_people():
    gold = rows("1 a l N", "2 b l N")
    report = scored(gold, rows("1 a l N", "2 b l V"), headline="upos", origin=Origin("0.3", seed=1))
    lines = str(report).splitlines()
    assert lines[0].split() == ["precision", "recall", "F1", "gold", "found", "aligned"]
    assert lines[1].split() == ["Tokens", "100.00", "100.00", "100.00", "2", "2"]
    assert lines[4].split() == ["UPOS", "50.00", "50.00", "50.00", "2", "2", "50.00"]
    assert [line.split()[0] for line in lines[1:9]] == list(OFFICIAL.values())
    assert lines[-1].startswith(
        "task:aligned|metric:upos-f1|sentences:1|tokens:2|words:2|model:0.3|seed:1|version:"
    )
    assert (report.score, report.metric) == (0.5, "upos-f1")
    assert repr(report) == "<seqtag.AlignedReport: upos 50.00, tokens: 2, sentences: 1>"


def test_a_report_for_programs():
    report = scored(rows("1 a"), rows("1 a"))
    document = json.loads(json.dumps(report.to_dict()))
    assert document["score"] == 1
    assert document["aligned"] == 1
    assert document["origin"] is None
    assert document["metrics"]["lemma"] == {
        **{"correct": 1, "found": 1, "gold": 1, "precision": 1, "recall": 1, "f1": 1},
        "aligned_accuracy": 1,
    }
    assert document["metrics"]["words"]["aligned_accuracy"] is None


def test_nothing_gives_zeros():
    report = scored("", "")
    assert {*report.metrics.values()} == {Counts(0, 0, 0)}
    assert report.score == 0 and report.aligned_accuracy("upos") == 0
    assert str(report).splitlines()[4].split() == ["UPOS", *["0.00"] * 3, "0", "0", "0.00"]


# ------------------------------------------------------------------------------------- errors
@pytest.mark.parametrize(
    ("gold", "predicted", "message"),
    [
        (
            rows("1 ab", "2 cd"),
            rows("1 abc", "2 x"),
            '2: expected "d" as in gold.conllu:2, found "x"',
        ),
        (
            rows("1 a", "2-3 bc", "2 b", "3 c"),
            rows("1 a", "2-3 bx", "2 b", "3 x"),
            '2: expected "c" as in gold.conllu:2, found "x"; ',
        ),
        (rows("1 a"), rows("1 a") + rows("1 b"), '3: expected the end of the text, found "b"; '),
        (rows("1 a", "2 b"), rows("1 a"), '2: expected "b", found the end of the text; '),
        ("", rows("1 a"), '1: expected the end of the text, found "a"; '),
        (rows("1 a"), "", '1: expected "a", found the end of the text; '),
        (
            rows("1 a") + rows("1 b", "2 cdefghijklmnopqrstuvwxyz"),
            rows("1 a"),
            '3: expected "bcdefghijklmnopqrstu...", found the end of the text; ',
        ),
    ],
)
def test_different_texts(gold, predicted, message):
    with pytest.raises(CorpusError) as error:
        scored(gold, predicted)
    assert f".conllu:{message}" in str(error.value)


def test_a_form_of_white_space():
    with pytest.raises(CorpusError) as error:
        scored(rows("1 a"), rows("1 a") + "1\t\u00a0" + "\t_" * 8 + "\n\n")
    assert str(error.value) == (
        "predicted.conllu:3: expected tokens with more than white space, found '\\xa0'; "
        "remove it from the file"
    )


def test_an_unknown_headline():
    with pytest.raises(LabelError) as error:
        scored("", "", headline="lemmas")
    assert str(error.value) == (
        "expected one of tokens, sentences, words, upos, xpos, feats, alltags, lemma to score, "
        "found 'lemmas' (did you mean 'lemma'?); choose one of these"
    )
