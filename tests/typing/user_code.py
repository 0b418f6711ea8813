"""User code for type checkers: never run, checked by `test_typing.py`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conllu import TokenList
from typing_extensions import assert_type

import seqtag
from seqtag import BinaryPerceptron, MulticlassPerceptron, VotedPerceptron
from seqtag.batch import Summary
from seqtag.errors import CorpusError, SeqtagError
from seqtag.evaluation import compare, intervals
from seqtag.evaluation.aligned import AlignedReport, score_aligned
from seqtag.integrations.conllu import tag_token_lists
from seqtag.integrations.nltk import SeqtagTagger
from seqtag.tagging import DocumentSentence, DocumentSpan, ScoredLabels, TagOptions

if TYPE_CHECKING:
    from pathlib import Path

    import numpy as np
    from conllu import TokenList
    from numpy.typing import NDArray


def tag(model: Path) -> None:
    tagger = seqtag.Tagger.load(model)
    assert_type(tagger, seqtag.Tagger)
    pipeline = seqtag.Pipeline.load(str(model))
    assert_type(pipeline, seqtag.Pipeline)
    assert_type(seqtag.load("en"), seqtag.Pipeline)
    assert_type(seqtag.load(model), "seqtag.Tagger | seqtag.Pipeline")
    assert_type(seqtag.load("fr", train=True), "seqtag.Tagger | seqtag.Pipeline")
    assert_type(seqtag.load(str(model)).tag_text("Stop!"), seqtag.Document)
    assert_type([word.upos for word in pipeline.tag_words(["Stop", "!"])], list[str])
    assert_type(pipeline.tag_many([["Stop"], ["!"]], threads=2), list[DocumentSentence])
    assert_type(tagger.tag_words(["Stop", "!"]), list[str])
    document = seqtag.load("en")("Time flies.")
    assert_type(document, seqtag.Document)
    assert_type(document.ents, list[DocumentSpan])
    assert_type(document.spans("chunk")[0].start, int)
    assert_type([word.lemma for sentence in document for word in sentence], list[str])
    assert_type(seqtag.load("en").tagger("upos"), seqtag.Tagger)
    assert_type(tagger.tag(["Stop", "!"]), list[str])
    assert_type(tagger.tag(("Stop", "!")), list[str])
    assert_type(tagger.tag([("Stop", "VB"), ("!", ".")]), list[str])
    assert_type(tagger.tag_many([["Stop"], ["!"]], threads=2), list[list[str]])
    assert_type(tagger.tag_many(iter([("Stop", "!")])), list[list[str]])
    assert_type(tagger.tag(["Stop", "!"], fixed_labels=["VERB", None]), list[str])
    scored = tagger.tag(["Stop", "!"], scores=True)
    assert_type(scored, ScoredLabels)
    assert_type(scored.margins, list[float])
    assert_type(scored.probabilities, "list[float] | None")
    assert_type(tagger.tag_many([["Stop"], ["!"]], scores=True), list[ScoredLabels])
    assert_type(tagger.nbest(["Stop", "!"], 2), list[tuple[float, list[str]]])
    assert_type(tagger.explain(["Stop", "!"], 0).margin, float)
    assert_type(tagger.labels, tuple[str, ...])
    assert_type(tagger.save("model.seqtag"), int)
    assert_type(tagger.tag({"form": ["Stop", "!"], "pos": ["VB", "."]}), list[str])
    assert_type(tagger.tag_text("Stop!"), seqtag.Document)
    assert_type(seqtag.load("en").tag_text("Stop!"), seqtag.Document)
    options = TagOptions(format="text", only=["upos"])
    assert_type(seqtag.tag_files(["a.txt"], "tagged", "en", options).tokens, int)
    assert_type(seqtag.tag_files([model], model, [tagger, "en"], threads=2), Summary)


def tag_streams(sentences: list[TokenList]) -> None:
    for tokens in tag_token_lists(seqtag.load("en"), iter(sentences)):
        assert_type(tokens.serialize(), str)


def read_and_train(path: Path) -> seqtag.Tagger:
    sentences = list(seqtag.read(path))
    assert_type(sentences, list[seqtag.Sentence])
    assert_type(sentences[0].words, list[str])
    seqtag.train(sentences, label="upos", epochs=5, step=0.1)
    assert_type(seqtag.train(path, label="all"), seqtag.Pipeline)
    assert_type(seqtag.train(seqtag.from_spans(["Oslo"], [[(0, 4, "LOC")]])), seqtag.Pipeline)
    assert_type(seqtag.train(path, label=["upos", "xpos"], threads=2), seqtag.Pipeline)
    assert_type(seqtag.train(path, label="upos+feats"), seqtag.Tagger)
    seqtag.train([str(path), path], label="xpos", templates="pos", dev=path)
    words, labels = [["Stop", "!"]], [["VERB", "PUNCT"]]
    tagger = seqtag.train(words, labels, label="upos", dev=(words, labels), epochs=2, update="pa")
    assert_type(tagger, seqtag.Tagger)
    partly: list[list[str | None]] = [["VERB", None]]
    seqtag.train([{"form": ["Stop", "!"]}], partly)
    seqtag.train([[("Stop", "VB"), ("!", ".")]], labels, columns=["form", "pos"], init=tagger)
    seqtag.train(path, init="en", unlabeled="learn_around")
    seqtag.train(sentences, init=tagger, epochs=3)
    return seqtag.train(path, dev=str(path), label="upos", seed=2, runs=2, threads=2)


def find_classes(path: Path) -> None:
    found = seqtag.learn_classes([path, str(path)], 100, min_count=5, format="tokens", threads=2)
    assert_type(found, seqtag.WordClasses)
    assert_type(found.of("dog"), str)
    assert_type(found.members(0), list[str])
    assert_type(seqtag.learn_classes([["a", "dog"]], on_pass=print).passes[0].perplexity, float)
    found.save(path, source="news")


def evaluate(tagger: seqtag.Tagger, path: Path) -> float:
    test = [sentence for sentence in seqtag.read(path) if sentence]
    report = seqtag.evaluate(
        [sentence.column("upos") for sentence in test],
        tagger.tag_many(test),
        words=[sentence.words for sentence in test],
        known=tagger.known_words,
    )
    assert_type(report, seqtag.Report)
    seqtag.evaluate([["B-NP", "O"]], [["B-NP", "O"]], words=[("a", "b")])
    seqtag.evaluate((["A"],), iter([("A",)]))
    assert_type(report.accuracy, float)
    assert_type(report.known_accuracy, "float | None")  # None where no words were given
    aligned = score_aligned(test, seqtag.read(path))
    assert_type(aligned, AlignedReport)
    assert_type(aligned.metrics["upos"].f1, float)
    other = seqtag.score(tagger, test, samples=True)
    assert_type(intervals(other)["accuracy"].low, float)
    comparison = compare(other, seqtag.score(tagger, test, samples=True), resamples=100)
    assert_type(comparison.differences["accuracy"].p, float)
    return report.accuracy


def classify(x: NDArray[np.float64], y: NDArray[np.int64]) -> None:
    assert_type(BinaryPerceptron().fit(x, y), BinaryPerceptron)
    assert_type(MulticlassPerceptron(max_iter=5).fit(x.tolist(), ["a", "b"]), MulticlassPerceptron)
    model = VotedPerceptron().fit([{"a": 1.0}, {"b": 2.0}], [0, 1])
    assert_type(model, VotedPerceptron)
    assert_type(model.score(x, y), float)


def errors(path: Path) -> str:
    try:
        list(seqtag.read(path))
    except CorpusError as error:
        assert_type(error.line, int | None)
        return f"{error.source}: {error.message}"
    except SeqtagError as error:
        return str(error)
    return seqtag.__version__


def nltk_tagger() -> None:
    for _word, label in SeqtagTagger(seqtag.load("en").tagger("xpos")).tag(["The", "cat"]):
        assert_type(label, str)
