"""Taggers: immutable, safe to share between threads, loaded from one file."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, overload

from seqtag.corpus import read
from seqtag.corpus.stream import TextBytes
from seqtag.errors import SeqtagError
from seqtag.lazy import other_names
from seqtag.model import bundle, container
from seqtag.model.embedded import find_model, no_such_model
from seqtag.model.model import check_models, fitting
from seqtag.segmentation.reading import SegmentedText
from seqtag.segmentation.rules import RuleSegmenter
from seqtag.settings import SETTINGS
from seqtag.tables.names import SHOWN_TYPES
from seqtag.tagging.document import Document, encoded
from seqtag.tagging.runtime import ModelRuntime, ScoredLabels
from seqtag.tagging.streams import tag_text
from seqtag.tagging.tables import TableTaggers

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from os import PathLike

    from seqtag.model.known_words import KnownWords
    from seqtag.model.model import Model
    from seqtag.tables.table import WordTable
    from seqtag.tagging.encode import AnySentence, FixedLabels
    from seqtag.tagging.explain import Explanation

TOKENS, WORDS = "tokens", "words"
"""Names of the models that find tokens and sentences, and the words of multiword tokens."""


class Tagger(ModelRuntime):
    """A trained model that labels sentences. Made by `seqtag.train` and `seqtag.load`.

    Immutable, so any number of threads may share it; pickles by value.

    Parameters
    ----------
    model
        The model.
    source
        Name of its file, for messages.
    hidden
        True if its labels only feed other taggers and are not written into files.

    Raises
    ------
    ModelFileError
        If the arrays of the model do not fit together.
    TypeError
        If it is no model.

    Examples
    --------
    >>> import seqtag
    >>> tagger = seqtag.load("en").tagger("upos")
    >>> tagger.tag(["Birds", "sing", "."])
    ['NOUN', 'VERB', 'PUNCT']
    >>> tagger.label, tagger.columns
    ('upos', ('form',))
    """

    def __init__(self, model: Model, source: str = "<model>", *, hidden: bool = False):
        check_models([model])
        with fitting(source):
            super().__init__(model, hidden=hidden)

    if not TYPE_CHECKING:
        __getattr__ = other_names(
            {
                "tag": "predict predict_single pos_tag",
                "tag_many": "tag_sents predict_many",
                "tag(words, scores=True)": "predict_proba predict_marginals marginal",
                "seqtag.score(tagger, file)": "accuracy evaluate score",
            }
        )

    @classmethod
    def load(cls, path_or_name: str | PathLike[str]) -> Tagger:
        """Return the tagger of a model file that holds one model; see `seqtag.load`.

        Raises
        ------
        SeqtagError
            If the file holds a pipeline.

        Examples
        --------
        >>> import seqtag, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     size = seqtag.load("en").tagger("upos").save(f"{folder}/upos.seqtag")
        ...     Tagger.load(f"{folder}/upos.seqtag").label
        'upos'
        """
        models = load_models(path_or_name)
        if not is_tagger(models):
            names = [model.column.name for model in models]
            load = f"seqtag.load({str(path_or_name)!r})"
            uses = [f"{load}.tagger({each!r})" for each in names if each not in (TOKENS, WORDS)]
            msg = (
                f"{path_or_name}: expected a model of one column, found a pipeline of "
                f"{', '.join(names)}; use {(uses or [load])[0]}"
            )
            raise SeqtagError(msg)
        return cls(models[0], str(path_or_name))

    # ----------------------------------------------------------------- properties
    segmenter = splitter = None  # as of a pipeline without one

    @property
    def models(self) -> tuple[Model, ...]:
        """Its model alone, as `Pipeline.models`."""
        return (self.model,)

    @property
    def taggers(self) -> tuple[Tagger, ...]:
        """The tagger itself alone, as `Pipeline.taggers`."""
        return (self,)

    @property
    def parts(self) -> tuple[str, ...]:
        """Its label alone, as `Pipeline.parts`."""
        return (self.label,)

    @property
    def known_words(self) -> KnownWords:
        """The words of its training data: ``word in tagger.known_words``."""
        return self.model.known_words

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """Its labels as written in the label column, sorted; edit scripts for lemmas."""
        return tuple(sorted(set(self.outputs)))

    @property
    def classes_(self) -> list[str]:
        """Its labels as a list, under the name that sklearn-crfsuite has for them."""
        return [*self.labels]

    @property
    def info(self) -> dict[str, Any]:
        """Metadata of the model file: templates, training data, scores, writer."""
        return self.model.config() | {"writer": self.model.writer}

    @property
    def sizes(self) -> dict[str, int]:
        """Number of features and of weights that are not zero."""
        rows = self.model.weights.emission, self.model.weights.edge
        return {
            "features": sum(len(each.keys) for each in rows),
            "weights": sum(len(each.weights) for each in rows),
        }

    def __repr__(self) -> str:
        labels = len(self.model.labels)
        return f"<seqtag.Tagger of {self.label}: {labels} labels from {self.columns}>"

    # ----------------------------------------------------------------- tagging
    @overload
    def tag(
        self,
        sentence: AnySentence,
        fixed_labels: FixedLabels | None = None,
        *,
        scores: Literal[False] = False,
    ) -> list[str]: ...
    @overload
    def tag(
        self,
        sentence: AnySentence,
        fixed_labels: FixedLabels | None = None,
        *,
        scores: Literal[True],
    ) -> ScoredLabels: ...
    def tag(
        self,
        sentence: AnySentence,
        fixed_labels: FixedLabels | None = None,
        *,
        scores: bool = False,
    ) -> list[str] | ScoredLabels:
        """Return the labels of one sentence.

        Parameters
        ----------
        sentence
            A list of words, for a model that uses the form alone; a list of tuples, one value for
            each of `columns`, or a dictionary with a list of values for each of them, for others;
            a `seqtag.Sentence`; or a `conllu.TokenList`, whose label fields are filled in place
            (multiword ranges and empty nodes are skipped).
        fixed_labels
            Fixed labels, one for each word; None where the model chooses. The other labels are the
            best sequence given these. An unknown fixed label is kept, too; the others are chosen as
            if its word had no fixed label.
        scores
            True to return margins and probabilities with the labels, at about twice the time.

        Returns
        -------
        list of str, or ScoredLabels
            One label per word; none for an empty sentence.

        Raises
        ------
        SeqtagError
            If there is not one fixed label, or None, for each word.
        TypeError
            If the sentence is one string, or contains something other than words.

        Examples
        --------
        >>> import seqtag
        >>> tagger = seqtag.load("en").tagger("upos")
        >>> tagger.tag("The cat sat on the mat .".split())
        ['DET', 'NOUN', 'VERB', 'ADP', 'DET', 'NOUN', 'PUNCT']
        >>> tagger.tag(["Fish", "swim"], fixed_labels=["NOUN", None])
        ['NOUN', 'VERB']
        >>> scored = tagger.tag(["the", "Sing"], scores=True)
        >>> scored.labels, scored.margins[0] > scored.margins[1], scored.probabilities
        (['DET', 'NOUN'], True, None)
        """
        if scores:
            return self._run_one(sentence, fixed_labels, self.decode_margins, self._write_scored)
        return self._run_one(sentence, fixed_labels, self.decode, self._write)

    def tag_words(self, words: Sequence[str]) -> list[str]:
        """Return the labels of a list of words.

        Raises
        ------
        SeqtagError
            If the model uses more than words; give `tag` all columns.
        TypeError
            If it is one string, or contains something other than words.

        Examples
        --------
        >>> import seqtag
        >>> seqtag.load("en").tagger("upos").tag_words(["Birds", "sing", "."])
        ['NOUN', 'VERB', 'PUNCT']
        """
        self._check_uses_words_only()
        return self.tag(words)

    @overload
    def tag_many(
        self,
        sentences: Iterable[AnySentence],
        threads: int = 1,
        fixed_labels: Iterable[FixedLabels | None] | None = None,
        *,
        scores: Literal[False] = False,
    ) -> list[list[str]]: ...
    @overload
    def tag_many(
        self,
        sentences: Iterable[AnySentence],
        threads: int = 1,
        fixed_labels: Iterable[FixedLabels | None] | None = None,
        *,
        scores: Literal[True],
    ) -> list[ScoredLabels]: ...
    def tag_many(
        self,
        sentences: Any,
        threads: int = 1,
        fixed_labels: Iterable[FixedLabels | None] | None = None,
        *,
        scores: bool = False,
    ) -> Any:
        """Return the labels of many sentences, in their order; equal on any number of threads.

        Parameters
        ----------
        sentences
            Sentences as `tag` takes them.
        threads
            Threads to decode on (the kernel works without Python's global lock).
        fixed_labels
            For each sentence its fixed labels, as in `tag`, or None.
        scores
            True to return `ScoredLabels` for each sentence.

        Returns
        -------
        list of list of str, or list of ScoredLabels

        Raises
        ------
        SeqtagError, TypeError
            If a sentence or word is missing or not a string, or fixed labels do not fit.

        Examples
        --------
        >>> import seqtag
        >>> seqtag.load("en").tagger("upos").tag_many([["Go", "!"], [], ["Well", ",", "no", "."]])
        [['VERB', 'PUNCT'], [], ['INTJ', 'PUNCT', 'INTJ', 'PUNCT']]
        """
        run = self.scored_labels_of if scores else self.labels_of
        return run(sentences, threads, fixed_labels)

    def __call__(self, text: str) -> Document:
        """Return a text as a document; the same as `tag_text`."""
        return self.tag_text(text)

    def tag_text(self, text: str) -> Document:
        """Return a text as a document, segmented into sentences and words by rules.

        Pipelines with a tokenizer use it instead: `seqtag.Pipeline.tag_text`.

        Parameters
        ----------
        text
            Raw text. Without any token the document is empty.

        Raises
        ------
        SeqtagError
            If the model uses more than words, or UTF-8 cannot encode the text.
        TypeError
            If it is not a string.

        Examples
        --------
        >>> import seqtag
        >>> document = seqtag.load("en").tagger("upos").tag_text("Time flies. Why?")
        >>> [(word.text, word.upos, word.start) for word in document.sentences[1]]
        [('Why', 'ADV', 12), ('?', 'PUNCT', 15)]
        """
        self._check_uses_words_only()
        stream = SegmentedText(read(TextBytes(encoded(text)), "text"), RuleSegmenter())
        conllu = b"".join(tag_text([self], stream, "conllu", tables=self._tables)).decode()
        schemes = {self.label: self.label_scheme} if self.label_scheme else {}
        names = self.label_columns if self.finds_names else ()
        return Document(text, conllu, self.label_columns, schemes, names)

    @cached_property
    def _tables(self) -> TableTaggers:
        return TableTaggers([self])

    def nbest(
        self, sentence: AnySentence, k: int, fixed_labels: FixedLabels | None = None
    ) -> list[tuple[float, list[str]]]:
        """Return the k best label sequences of a sentence, each with its score, the best first.

        Exact. Of equal scores, the sequence whose labels come first in the model is first, compared
        from the last word on. Sequences differ as they are learned; written, as lemmas for example,
        they may be equal.

        Parameters
        ----------
        sentence, fixed_labels
            As for `tag`. A `conllu.TokenList` is not filled.
        k
            Number of sequences; fewer are returned if there are fewer legal ones.

        Returns
        -------
        list of (float, list of str)
            Scores on the score scale of the model. The first labels are those of `tag`.

        Raises
        ------
        ValueError
            If `k` is less than 1.

        Examples
        --------
        >>> import seqtag
        >>> best, second = seqtag.load("en").tagger("upos").nbest(["Go", "!"], 2)
        >>> best[1], best[0] >= second[0]
        (['VERB', 'PUNCT'], True)
        """
        return self.nbest_of([sentence], k, 1, [fixed_labels])[0]

    def explain(self, sentence: AnySentence, token: int, rival: str | None = None) -> Explanation:
        """Explain a label: the features that set it apart from a rival, with their weights.

        Parameters
        ----------
        sentence
            As for `tag`; a `conllu.TokenList` is not filled.
        token
            Number of the word, from 0; negative numbers count from the end.
        rival
            The label to compare with; by default that of the best sequence with another label.

        Returns
        -------
        Explanation
            Its rows add up to the margin: the features of the word, and what follows from its label
            elsewhere, which is the label chain and words that change their labels too.

        Raises
        ------
        SeqtagError
            If there is no such word, or the rival is not a label of the model or the best one.

        Examples
        --------
        >>> import seqtag
        >>> why = seqtag.load("en").tagger("upos").explain(["Birds", "sing"], 0, rival="VERB")
        >>> why.label, why.rival
        ('NOUN', 'VERB')
        """
        from seqtag.tagging.explain import explain  # late: rarely needed

        return explain(self, sentence, token, rival)

    def _check_uses_words_only(self) -> None:
        if not {*self.columns} <= {"form"}:
            msg = (
                f"expected a model that looks at words for a text, found one that looks at "
                f"{', '.join(self.columns)}; combine it with models that predict these, in a "
                "pipeline"
            )
            raise SeqtagError(msg)

    # ----------------------------------------------------------------- files
    def save(self, path: str | PathLike[str]) -> int:
        """Write the model to one file, atomically; return its size in bytes."""
        return bundle.save(path, [self.model])

    def __reduce__(self) -> tuple[Any, ...]:
        return _from_bytes, (bundle.to_bytes([self.model]), self.hidden)


# ----------------------------------------------------------------- summaries
def facts_of(tagger: Tagger) -> list[tuple[str, str]]:
    """Return names and values of the main facts about a tagger, for ``seqtag info``.

    >>> import seqtag
    >>> dict(facts_of(seqtag.load("en").tagger("upos")))["label"]
    'upos (17 labels)'
    """
    info, sizes = tagger.info, tagger.sizes
    training = info["training"]
    scheme = "none"
    if info["scheme"]:
        is_same = info["encoding"] == info["scheme"]
        learned = "" if is_same else f", learned as {info['encoding']}"
        free = "valid sequences only" if info["constrain"] else "free"
        scheme = f"{info['scheme']}{learned}, {free}"
    settings = [*(setting.attribute for setting in SETTINGS.values()), "seed", "runs"]
    cut_short = " (interrupted)" if training.get("interrupted") else ""
    facts = [
        ("made by", tagger.model.writer),
        ("label", f"{tagger.label} ({len(tagger.labels)} labels)"),
        ("columns", ", ".join(tagger.columns)),
        ("scheme", scheme),
        ("features", f"{sizes['features']:,} with {sizes['weights']:,} weights"),
        ("known words", f"{len(tagger.known_words):,}"),
        ("trained on", training_size(tagger.model)),
        ("corpus", f"sha256 {training.get('corpus_sha256', '')[:16] or 'unknown'}..."),
        ("settings", ", ".join(f"{n} {training[n]}" for n in settings if n in training)),
        ("epochs kept", ", ".join(map(str, training.get("best_epochs", []))) + cut_short),
    ]
    facts += [("table", text_of_table(each)) for each in tagger.model.tables]
    if "dev" in training:
        dev = training["dev"]
        score = f"{dev['metric']} {100 * dev['score']:.2f} ({dev['signature']})"
        facts.append(("dev score", score))
    chosen = training.get("chosen")
    if isinstance(chosen, dict) and chosen:
        facts.append(("chosen by trial", ", ".join(map(str, chosen))))
    return facts


def text_of_table(table: WordTable) -> str:
    """Describe a word table in one line.

    >>> from seqtag.tables.table import WordTable
    >>> text_of_table(WordTable.of("names", [("Paris", ["city"])], origin={"source": "a list"}))
    'names (lexicon of 1 words by form, 1 values; source: a list)'
    >>> text_of_table(WordTable.of("places", [("New York", ["city"])], "lower", kind="phrase"))
    'places (phrase of 1 names by lower; types: city)'
    """
    absent = [] if table.absent is None else [f"others: {table.absent}"]
    facts = [f"{key}: {value}" for key, value in table.origin.items() if key != "names"]
    what = f"{table.kind} of {len(table):,} words by {table.words}, {len(table.values):,} values"
    if table.kind == "phrase":
        types, more = table.types[:SHOWN_TYPES], len(table.types) - SHOWN_TYPES
        what = f"phrase of {int(table.origin['names']):,} names by {table.words}"
        facts.insert(0, f"types: {', '.join(types)}{f' and {more:,} more' * (more > 0)}")
    return f"{table.name} ({'; '.join([what, *absent, *facts])})"


_UNITS = {TOKENS: ("paragraphs", "characters"), WORDS: ("tokens", "characters")}
"""What the examples of components that read characters consist of."""


def training_size(model: Model) -> str:
    """Describe the size of the training data of a model."""
    training = model.training
    unit, part = _UNITS.get(model.column.name, ("sentences", "tokens"))
    if model.column.name == TOKENS and model.compiled.columns == ("form",):
        part = "words"
    return f"{training.get('sentences', 0):,} {unit}, {training.get('tokens', 0):,} {part}"


# ----------------------------------------------------------------- files
def load_models(path_or_name: str | PathLike[str]) -> tuple[Model, ...]:
    """Return the models of a file, by its path or the name of an embedded model.

    Raises
    ------
    ModelFileError
        If the file is not a model, damaged, or of another format.
    FileNotFoundError
        If there is no such file; the message lists the embedded models.
    OSError
        If it cannot be read.
    """
    source = str(path_or_name)
    try:
        return bundle.load(find_model(path_or_name), source)
    except FileNotFoundError as error:
        raise no_such_model(source, error) from error


def is_tagger(models: Sequence[Model]) -> bool:
    """Return whether the models of a file are a tagger and not a pipeline."""
    return len(models) == 1 and models[0].column.name not in (TOKENS, WORDS)


def _from_bytes(data: bytes, hidden: bool) -> Tagger:
    [model] = bundle.models_of(container.from_bytes(data))
    return Tagger(model, hidden=hidden)
