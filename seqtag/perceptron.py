"""Training: epochs over a shuffled corpus, the best epoch by the dev set, runs mixed into one."""

from __future__ import annotations

import hashlib
import logging
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import chain
from os import PathLike
from typing import Any, NamedTuple

import numpy as np

from seqtag import kernels
from seqtag.corpus import Sentence, read
from seqtag.encoding import pointers
from seqtag.errors import CorpusError, LabelError
from seqtag.evaluation import Report, evaluate
from seqtag.feature_map import JointFeatureMap
from seqtag.frozen import ANY_LABEL, KnownLabels, freeze, mean
from seqtag.labels import convert, detect_scheme, join_parts
from seqtag.learning import Kept, Verdict, learn
from seqtag.parallel import in_order
from seqtag.reference import Cells, Instances, Parts
from seqtag.tagger import Tagger, known_attribute, label_order, pack, plans
from seqtag.template_set import CompiledTemplates, TemplateSet, check_setting
from seqtag.templates import load as load_templates

_log = logging.getLogger("seqtag")

DEFAULTS = {
    "epochs": 10, "update": "perceptron", "step": 1.0, "margin": 0.0,
    "min-count": 1, "encoding": "keep", "dropout": 0.0, "label-parts": "whole", "known-labels": 0,
}  # fmt: skip
"""Settings of a template set that makes none."""

PRESET_OF = {"chunk": "chunk", "ner": "ner", "feats": "morph", "upos+feats": "morph"}
"""Preset of templates for a label column; ``pos`` for all others."""


@dataclass(frozen=True)
class Epoch:
    """What happened in one pass over the training data.

    Attributes
    ----------
    run, epoch
        Counted from 1.
    updates
        Sentences that moved the weights.
    wrong_tokens
        Tokens labelled wrongly while learning.
    dev
        Report on the dev set with the averaged weights, if there is a dev set.
    best
        Whether this is the run's best epoch so far.
    """

    run: int
    epoch: int
    updates: int
    wrong_tokens: int
    dev: Report | None
    best: bool


class Corpus(NamedTuple):
    """Sentences as columns, end to end."""

    columns: list[list[str]]
    labels: list[str]
    lengths: list[int]

    def sentences(self, values: Sequence[Any]) -> list[Sequence[Any]]:
        """The values cut into sentences."""
        ends = np.cumsum(self.lengths).tolist()
        return [values[end - n : end] for end, n in zip(ends, self.lengths, strict=True)]

    def digest(self) -> str:
        """SHA-256 of the sentences, their labels and the columns in use."""
        sha = hashlib.sha256()
        for values in (*self.columns, self.labels, map(str, self.lengths)):
            sha.update("\n".join(values).encode("utf-8", "surrogatepass") + b"\0")
        return sha.hexdigest()


Source = str | PathLike[str] | Iterable[Sentence]


def train(
    data: Source | Sequence[Source],
    *,
    dev: Source | None = None,
    label: str | None = None,
    templates: str | PathLike[str] | TemplateSet | None = None,
    seed: int = 1,
    runs: int = 1,
    patience: int | None = None,
    constrain: bool = True,
    skip_unlabelled: bool = False,
    format: str = "auto",
    columns: Sequence[str] | None = None,
    threads: int = 1,
    on_epoch: Callable[[Epoch], None] | None = None,
    **settings: Any,
) -> Tagger:
    """Train a tagger with the averaged structured perceptron.

    Parameters
    ----------
    data
        Path of a corpus file, several of them, or sentences as `seqtag.read` gives them.
    dev
        Corpus to score every epoch on; the best epoch's averaged weights are kept.
    label
        Column to learn, or ``upos+feats`` for both at once. By default upos in CoNLL-U, and the
        last column of other formats.
    templates
        Preset (``pos``, ``chunk``, ``ner``, ``morph``), template file, or templates; by default
        the preset that fits the label.
    seed
        Of the shuffling. The same data, seed and seqtag give the same bytes.
    runs
        Models trained with different shuffling and averaged into one.
    patience
        With a dev set: stop after this many epochs without a better score.
    constrain
        Let a model of chunk labels give valid sequences only.
    skip_unlabelled
        Leave out sentences with ``_`` for a label instead of refusing them.
    format, columns
        As in `seqtag.read`.
    threads
        Runs trained at the same time; the model is the same on any number.
    on_epoch
        Called after each epoch, with an `Epoch`.
    **settings
        Any setting of a template file: ``epochs``, ``update``, ``step``, ``margin``,
        ``min_count``, ``encoding``, ``dropout``.

    Raises
    ------
    CorpusError, TemplateError, LabelError
        If the data have no sentences or lack a column, templates do not fit them, or labels are
        missing.

    Examples
    --------
    >>> from seqtag.corpus import read
    >>> import io
    >>> words = read(io.BytesIO(b"the DT\\ncat NN\\n\\na DT\\ndog NN\\n"), columns=["form", "tag"])
    >>> tagger = train(words, label="tag", epochs=3, min_count=1)
    >>> tagger.tag(["the", "dog"])
    ['DT', 'NN']
    """
    if seed < 0 or runs < 1 or (patience is not None and patience < 1):
        raise ValueError(
            f"expected seed >= 0, runs >= 1, patience >= 1; found {seed}, {runs}, {patience}"
        )
    if seed >= 2**32:
        raise ValueError(f"expected a seed below 2**32, found {seed}; choose a smaller one")
    with ExitStack() as files:
        sentences, available = _open(data, format, columns, files)
        label = label or default_label(available, _name(data))
        names = label.split("+") if label == "upos+feats" else [label]
        _check_label(names, available, _name(data))
        if isinstance(templates, TemplateSet):
            template_set = templates
        else:
            template_set = load_templates(templates or PRESET_OF.get(label, "pos"))
        chosen = DEFAULTS | dict(template_set.settings)
        for name, value in settings.items():
            if value is not None:
                chosen[name.replace("_", "-")] = check_setting(name.replace("_", "-"), value)
        compiled = template_set.compile([name for name in available if name not in names])
        order = label_order(compiled)
        corpus = gather(sentences, compiled.columns, label, skip_unlabelled)
    gold = corpus.sentences(corpus.labels)
    scheme = detect_scheme(gold)
    encoding = scheme
    if not scheme and settings.get("encoding") not in (None, "keep"):
        raise LabelError(
            f"expected chunk labels such as B-NP to learn as {settings['encoding']}, found labels "
            f"like {corpus.labels[0]!r}; leave the encoding out"
        )
    if scheme and chosen["encoding"] != "keep":
        encoding = str(chosen["encoding"])
        gold = [convert(labels, scheme, encoding) for labels in gold]
    flat = [name for labels in gold for name in labels]
    label_names = sorted(set(flat))
    if label_names == ["_"]:
        raise LabelError(
            f"expected labels in the column {label}, found \"_\" for every word (not annotated); "
            "choose another column with --label"
        )
    _warn_of_odd_labels(label_names, len(flat), label)
    number = {name: i for i, name in enumerate(label_names)}
    y = np.fromiter(map(number.__getitem__, flat), np.int32, len(flat))
    parts = split_labels(label_names) if chosen["label-parts"] == "split" else None
    features = JointFeatureMap(
        compiled, *plans(compiled), corpus.columns, corpus.lengths, len(label_names), order,
        int(chosen["min-count"]), parts,
    )  # fmt: skip
    known_labels = ANY_LABEL
    if chosen["known-labels"]:
        known_labels = labels_of_known_words(
            compiled, corpus.columns, y, int(chosen["known-labels"])
        )

    config = {
        "label": label,
        "scheme": scheme,
        "encoding": encoding,
        "constrain": bool(constrain and scheme and order),
        "columns": list(available_for(compiled.columns, available)),
        "templates": str(TemplateSet(template_set.templates)),
        "training": {
            **{name.replace("-", "_"): value for name, value in chosen.items()},
            "seed": seed,
            "runs": runs,
            "sentences": len(corpus.lengths),
            "tokens": len(flat),
            "corpus_sha256": corpus.digest(),
        },
    }

    known = (
        set(corpus.columns[compiled.columns.index("form")]) if "form" in compiled.columns else ()
    )

    def tagger_of(cells: Cells, **more: Any) -> Tagger:
        weights = freeze(cells, features.keys, features.edge_keys, len(label_names))
        training = config["training"] | {"unit": weights.unit} | more
        tensors = pack(weights, label_names, known, parts, known_labels)
        return Tagger(config | {"training": training}, tensors)

    judge = None
    if dev is not None:
        with ExitStack() as files:
            dev_sentences, dev_columns = _open(dev, format, columns, files)
            missing = [name for name in (*compiled.columns, *names) if name not in dev_columns]
            if missing:
                raise CorpusError(
                    "expected a dev set with the columns of the training data, found one without "
                    f"{', '.join(missing)} (it has {', '.join(dev_columns)}); "
                    "give one in the same format",
                    source=_name(dev),
                )
            dev_corpus = gather(dev_sentences, compiled.columns, label, skip_unlabelled)
        judge = _Judge(dev_corpus, scheme)

    def judge_cells(cells: Cells, _: int) -> Verdict:
        report = judge(tagger_of(cells))
        return Verdict(report.score, report)

    stop = threading.Event()
    done: dict[int, Kept] = {}

    def train_run(run: int) -> None:
        if not stop.is_set():
            done[run] = _train_run(
                features, y, chosen, (seed, run), judge and judge_cells, patience, on_epoch,
                stop.is_set,
            )  # fmt: skip
            if done[run].interrupted:
                stop.set()

    interrupted = False
    try:
        for _ in in_order(train_run, range(1, runs + 1), min(threads, runs)):
            pass
    except KeyboardInterrupt:  # keep what is done; on several threads runs end with their epoch
        interrupted = True
    if not done:
        raise KeyboardInterrupt
    kept = [done[run] for run in sorted(done)]
    interrupted = interrupted or len(kept) < runs or any(run.interrupted for run in kept)
    cells = mean([run.cells for run in kept])
    scores: dict[str, Any] = {"best_epochs": [run.epoch for run in kept]}
    if interrupted:
        scores["interrupted"] = True
    if judge is not None:
        report = judge(tagger_of(cells))
        scores["dev"] = {
            "score": report.score,
            "metric": report.metric,
            "signature": report.signature,
        }
    return tagger_of(cells, **scores)


def _train_run(
    features: JointFeatureMap,
    y: np.ndarray,
    settings: dict[str, Any],
    seed: tuple[int, int],
    judge: Callable[[Cells, int], Verdict] | None,
    patience: int | None,
    on_epoch: Callable[[Epoch], None] | None,
    stopped: Callable[[], bool],
) -> Kept:
    """One run: the averaged weights of the best epoch by the dev set, or of the last one."""
    rule = settings["update"]
    K = features.layout.labels
    sentences = len(features.instances.sentence_ptr) - 1

    def random(*more: int) -> np.random.RandomState:
        return np.random.RandomState([*seed, *more])  # numpy has promised never to change it

    def report(epoch: int, updates: int, wrong: int, verdict: Verdict | None, better: bool) -> None:
        if on_epoch:
            on_epoch(Epoch(seed[1], epoch, updates, wrong, verdict and verdict.detail, better))

    return learn(
        kernels.Weights(features.layout, "float32", rule),
        lambda epoch: drop_features(features.instances, settings["dropout"], random(epoch, 1)),
        y,
        lambda epoch: random(epoch).permutation(sentences).astype(np.int64),
        epochs=settings["epochs"],
        rule=rule,
        step=1.0 if rule == "perceptron" else settings["step"],
        cost=settings["margin"] * (1 - np.eye(K, dtype=np.float32)) if settings["margin"] else None,
        judge=judge,
        patience=patience,
        on_epoch=report,
        stopped=stopped,
    )


def split_labels(labels: Sequence[str]) -> Parts:
    """The parts of labels such as ``NOUN|Case=Nom``: what stands between the bars, each once.

    >>> split_labels(["ADJ", "NOUN|Case=Nom"]).part.tolist()
    [0, 2, 1]
    """
    split = [list(dict.fromkeys(label.split("|"))) for label in labels]
    number = {part: i for i, part in enumerate(sorted(set(chain.from_iterable(split))))}
    part = np.array([number[part] for part in chain.from_iterable(split)], np.int32)
    return Parts(pointers(map(len, split)), part, len(number))


def labels_of_known_words(
    compiled: CompiledTemplates, columns: Sequence[Sequence[str]], y: np.ndarray, min_count: int
) -> KnownLabels:
    """The labels that words seen at least `min_count` times had, by the words' normal forms."""
    attribute = known_attribute(compiled)
    words = columns[compiled.columns.index("form")]
    normal = {word: compiled.apply(attribute, word) for word in set(words)}
    seen: dict[str, Counter[int]] = {}
    for word, label in zip(words, y.tolist(), strict=True):
        seen.setdefault(normal[word], Counter())[label] += 1
    often = [word for word, labels in seen.items() if labels.total() >= min_count]
    keys = kernels.hash_strings(often)
    order = np.argsort(keys)
    labels = [sorted(seen[often[i]]) for i in order]
    flat = np.array(list(chain.from_iterable(labels)), np.uint16)
    return KnownLabels(attribute, keys[order], pointers(map(len, labels)), flat)


class _Judge:
    """Scores a tagger on the dev set."""

    def __init__(self, corpus: Corpus, scheme: str | None):
        self._gold = corpus.sentences(corpus.labels)
        rows = (
            corpus.columns[0]
            if len(corpus.columns) == 1
            else list(zip(*corpus.columns, strict=True))
        )
        self._sentences = corpus.sentences(rows)
        self._scheme = scheme

    def __call__(self, tagger: Tagger) -> Report:
        predicted = tagger.tag_many(self._sentences)
        return evaluate(self._gold, predicted, scheme=self._scheme, task=tagger.label)


def drop_features(x: Instances, share: float, random: np.random.RandomState) -> Instances:
    """The instances without a random share of their features, as "dropout" hides them."""
    if not share:
        return x
    kept = random.random_sample(len(x.features)) >= share
    token_ptr = np.concatenate([[0], np.cumsum(kept)])[x.token_ptr].astype(np.int64)
    values = None if x.values is None else x.values[kept]
    return x._replace(token_ptr=token_ptr, features=x.features[kept], values=values)


def available_for(used: Sequence[str], available: Sequence[str]) -> list[str]:
    """The columns a model must be told of: those up to the last in use (templates may count)."""
    last = max((available.index(name) for name in used), default=-1)
    return list(available[: last + 1])


def gather(
    sentences: Iterable[Sentence], columns: Sequence[str], label: str, skip_unlabelled: bool = False
) -> Corpus:
    """The columns and labels of the sentences that have words.

    Raises
    ------
    CorpusError
        If there are no sentences, or a column is missing.
    LabelError
        If a label is ``_``: not annotated.
    """
    corpus = Corpus([[] for _ in columns], [], [])
    skipped = 0
    source = None
    for sentence in sentences:
        source = sentence.source
        if not len(sentence):
            continue
        labels = labels_of(sentence, label)
        if label != "feats" and "_" in labels:
            if skip_unlabelled:
                skipped += 1
                continue
            raise LabelError(
                f'expected a label in the column {label}, found "_" (not annotated); '
                "annotate it, or leave such sentences out with --skip-unlabelled",
                source=sentence.source,
                line=sentence.line_of(labels.index("_")),
            )
        for values, name in zip(corpus.columns, columns, strict=True):
            values += sentence.column(name)
        corpus.labels.extend(labels)
        corpus.lengths.append(len(labels))
    if skipped:
        _log.warning("%d sentences with unannotated words were left out", skipped)
    if not corpus.lengths:
        left = f" ({skipped} without labels were left out)" if skipped else ""
        raise CorpusError(f"expected sentences to learn from, found none{left}", source=source)
    return corpus


def labels_of(sentence: Sentence, label: str) -> list[str]:
    """The labels of a sentence: a column, or UPOS and FEATS joined."""
    if label != "upos+feats":
        return sentence.column(label)
    upos, feats = sentence.column("upos"), sentence.column("feats")
    return ["_" if u == "_" else join_parts(u, f) for u, f in zip(upos, feats, strict=True)]


def _open(
    data: Source | Sequence[Source], format: str, columns: Sequence[str] | None, files: ExitStack
) -> tuple[Iterable[Sentence], tuple[str, ...]]:
    """All sentences of one or several sources, and their columns; `files` closes what it opens."""
    if isinstance(data, (str, PathLike)):
        data = [data]
    data = list(data) if not hasattr(data, "columns") else [data]
    if data and isinstance(data[0], Sentence):
        return data, data[0].columns
    streams = [
        source
        if hasattr(source, "columns")
        else files.enter_context(read(source, format, columns=columns))
        for source in data
    ]
    available = streams[0].columns if streams else ()
    for stream in streams[1:]:
        if stream.columns != available:
            raise CorpusError(
                f"expected the columns {', '.join(available)} of the first file, "
                f"found {', '.join(stream.columns)}",
                source=stream.source,
            )
    sentences = (sentence for stream in streams for sentence in stream if len(sentence))
    first = next(sentences, None)  # an empty file has no columns to speak of
    if first is None:
        source = streams[0].source if streams else None
        raise CorpusError("expected sentences to learn from, found none", source=source)
    return chain([first], sentences), available


def default_label(columns: Sequence[str], source: str | None = None) -> str:
    """The column to learn when none is named: upos, or the last one.

    Raises
    ------
    CorpusError
        If there are words only.
    """
    candidates = [name for name in columns if name not in ("id", "form", "misc")]
    if not candidates:
        raise CorpusError(
            f"expected a column of labels, found the columns {', '.join(columns)} only; "
            "if there is one, name the format with --format or the columns with --columns",
            source=source,
        )
    return "upos" if "upos" in candidates else candidates[-1]


def _check_label(names: Sequence[str], available: Sequence[str], source: str | None) -> None:
    """Refuse labels that are not there, or are the words themselves."""
    for name in names:
        if name not in available or name in ("id", "form"):
            columns = ", ".join(other for other in available if other not in ("id", "form"))
            raise CorpusError(
                f"expected one of the columns {columns} for labels, found {name!r}; choose one of "
                "these with --label, or name the columns with --columns",
                source=source,
            )


def _name(data: Any) -> str | None:
    """The file that a message is about: the first one, if the data are files."""
    first = data[0] if isinstance(data, (list, tuple)) and data else data
    return str(first) if isinstance(first, (str, PathLike)) else None


def _warn_of_odd_labels(labels: Sequence[str], tokens: int, column: str) -> None:
    if len(labels) > 1000 or (len(labels) > 50 and len(labels) > tokens / 5):
        _log.warning(
            "the column %s has %d different labels in %d tokens; is it the right one?",
            column, len(labels), tokens,
        )  # fmt: skip
