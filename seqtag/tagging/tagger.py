"""Taggers: immutable, safe to share between threads, loaded from one file."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, overload

from seqtag import hooks
from seqtag.errors import SeqtagError
from seqtag.model import bundle, container
from seqtag.model.bundle import inputs_of
from seqtag.model.model import fitting
from seqtag.tagging.arrays import arrays_of
from seqtag.tagging.document import Document, cut_by_rules, with_columns
from seqtag.tagging.runtime import ModelRuntime
from seqtag.tagging.summary import html_of_tagger

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from os import PathLike

    from seqtag.corpus.memory import Labels
    from seqtag.model.known_words import KnownWords
    from seqtag.model.model import Model
    from seqtag.tagging.explain import Explanation
    from seqtag.tagging.workspace import AnySentence, Given, Judged


class Tagger(ModelRuntime):
    """A trained model that labels sentences. Make one with `seqtag.train` or `seqtag.load`.

    Never changes, so any number of threads may share it; pickles by value.

    Parameters
    ----------
    model
        What it tags by.
    source
        Name of its file, for messages.
    hidden
        Whether its labels only feed other taggers, and are not written into files.

    Attributes
    ----------
    first : tuple of Tagger
        Those of the first of two passes, whose labels it sees; none if it makes one.

    Raises
    ------
    ModelFileError
        If the parts of the model do not fit together.

    Examples
    --------
    >>> import seqtag
    >>> tagger = seqtag.load("en-ewt-upos")
    >>> tagger.tag(["Birds", "sing", "."])
    ['NOUN', 'VERB', 'PUNCT']
    >>> tagger.label, tagger.columns
    ('upos', ('form',))
    """

    def __init__(self, model: Model, source: str = "<model>", *, hidden: bool = False):
        self.hidden = hidden
        self.first = tuple(Tagger(each, source, hidden=True) for each in model.first)
        with fitting(source):
            super().__init__(model, self.first)

    # ----------------------------------------------------------------- what it is
    @property
    def label(self) -> str:
        """What it labels: the name of a column, or ``upos+feats``."""
        return self.model.column.name

    @property
    def label_scheme(self) -> str | None:
        """The scheme its labels are written in, if they are chunk labels."""
        return self.model.coding.scheme

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns the templates look at, in the order `tag` wants them."""
        return inputs_of(self.model)

    @property
    def label_columns(self) -> tuple[str, ...]:
        """Names of the columns it fills: the label column; two for ``upos+feats``."""
        return self.model.column.columns

    @property
    def known_words(self) -> KnownWords:
        """The words of its training data: ``word in tagger.known_words``."""
        return self.model.known_words

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """The labels it can give, as written in the label column, sorted; scripts for lemmas."""
        return tuple(sorted(set(self.outputs)))

    @property
    def info(self) -> dict[str, Any]:
        """All that the model file says of the model: templates, training data, scores, writer."""
        return self.model.config() | {"writer": self.model.writer}

    @property
    def sizes(self) -> dict[str, int]:
        """Number of features and of their weights, leaving out those that are zero."""
        rows = self.model.weights.emission, self.model.weights.edge
        return {
            "features": sum(len(each.keys) for each in rows),
            "weights": sum(len(each.weights) for each in rows),
        }

    def __repr__(self) -> str:
        labels = len(self.model.labels)
        return f"<seqtag.Tagger of {self.label}: {labels} labels from {self.columns}>"

    def _repr_html_(self) -> str:
        """What notebooks show."""
        return html_of_tagger(self)

    # ----------------------------------------------------------------- tagging
    def tag(self, sentence: AnySentence, given: Given | None = None) -> list[str]:
        """Labels of one sentence.

        Parameters
        ----------
        sentence
            A list of words, for a model that looks at the form alone; a list of tuples, one value
            for each of `columns`, or a dictionary with a list of values for each of them, for
            others; a `seqtag.corpus.Sentence`; or a `conllu.TokenList`, whose label fields are
            filled in place (multiword ranges and empty nodes are skipped).
        given
            Labels that stay, one for each word, None where there is none: the others are the best
            around them. A label that the model does not know stays too; the others are chosen as if
            its word had none.

        Returns
        -------
        list of str
            One label per word; none for an empty sentence.

        Raises
        ------
        SeqtagError
            If there is not one given label, or None, for each word.
        TypeError
            If the sentence is one string, or holds something other than words.

        Examples
        --------
        >>> import seqtag
        >>> tagger = seqtag.load("en-ewt-xpos")
        >>> tagger.tag("The cat sat on the mat .".split())
        ['DT', 'NN', 'VBD', 'IN', 'DT', 'NN', '.']
        >>> tagger.tag(["Fish", "fish"], given=["NN", None])
        ['NN', 'NN']
        """
        return self._of_one(sentence, given, self._decode, self._written)

    @overload
    def tag_many(
        self,
        sentences: Iterable[AnySentence],
        threads: int = 1,
        given: Iterable[Given | None] | None = None,
    ) -> list[list[str]]: ...
    @overload
    def tag_many(self, sentences: Any, threads: int = 1, *, offsets: Any = None) -> Any: ...
    def tag_many(
        self,
        sentences: Any,
        threads: int = 1,
        given: Iterable[Given | None] | None = None,
        *,
        offsets: Any = None,
    ) -> Any:
        """Labels of many sentences, in their order; the same on any number of threads.

        Parameters
        ----------
        sentences
            Sentences as `tag` takes them; an Arrow array of lists of strings; or with `offsets` an
            Arrow or numpy array of all words. Where `columns` are several: a dictionary of arrays.
        threads
            Threads to decode on (the kernel works without Python's global lock).
        given
            For each sentence the labels that stay, as `tag` takes them, or None; not for arrays.
        offsets
            (sentences + 1,) whole numbers: where sentences begin in an array of all words, and
            where the last one ends.

        Returns
        -------
        list of list of str, or an array
            Of Arrow arrays an array of the same shape, chunks too, whose labels are dictionary
            values; of numpy arrays one of numpy.

        Raises
        ------
        SeqtagError, TypeError
            If a sentence or word is missing or no string, or offsets or given labels do not fit.

        Examples
        --------
        >>> import seqtag
        >>> seqtag.load("en-ewt-upos").tag_many([["Go", "!"], [], ["Well", ",", "no", "."]])
        [['VERB', 'PUNCT'], [], ['INTJ', 'PUNCT', 'INTJ', 'PUNCT']]
        """
        arrays = arrays_of(sentences, offsets, self.columns)
        if arrays is not None:
            if given is not None:
                msg = "expected lists of words where labels are given, found arrays"
                raise SeqtagError(msg)
            return self._of_arrays(arrays, threads)
        return self._of_many(sentences, threads, given, self._decode, self._written)

    # ----------------------------------------------------------------- confidence
    def margins(self, sentence: AnySentence, given: Given | None = None) -> list[float]:
        """How much better the label of each word is than any other there.

        The score of the best labels of the sentence less that of the best ones with another label
        at this word (a max-marginal): 0 where two are equal, infinite where there is no other
        label, or the label is given. Labels that are written alike count as one.

        Parameters
        ----------
        sentence, given
            As for `tag`. A `conllu.TokenList` is filled as well.

        Returns
        -------
        list of float
            One margin per word, on the model's score scale: whole numbers, of which no feature
            weight is above 127. They compare words tagged by one model; `probabilities` can be
            compared with those of others.

        Examples
        --------
        >>> import seqtag
        >>> tagger = seqtag.load("en-ewt-upos")
        >>> sure, unsure = tagger.margins(["the"]), tagger.margins(["Sing"])
        >>> sure > unsure
        True
        """
        return self._of_one(sentence, given, self._judge, self._judged).margins

    def tag_with_margins(
        self,
        sentences: Iterable[AnySentence],
        threads: int = 1,
        given: Iterable[Given | None] | None = None,
    ) -> list[Judged]:
        """Labels and `margins` of many sentences, in their order; parameters as for `tag_many`.

        Examples
        --------
        >>> import seqtag
        >>> [judged] = seqtag.load("en-ewt-upos").tag_with_margins([["Go", "!"]])
        >>> judged.labels, [margin > 0 for margin in judged.margins]
        (['VERB', 'PUNCT'], [True, True])
        """
        return self._of_many(sentences, threads, given, self._judge, self._judged)

    def probabilities(self, sentence: AnySentence, given: Given | None = None) -> list[float]:
        """Calibrated scores: what share of labels with margins such as these was right.

        Learnt from margins on a dev set by ``seqtag calibrate``, and true of text like that. Those
        of the labels of a word do not add up to 1.

        Parameters
        ----------
        sentence, given
            As for `margins`. The score of a label that is given is 1.

        Raises
        ------
        SeqtagError
            If the model has no calibration.
        """
        labels, margins = self._of_one(sentence, given, self._judge, self._judged)
        return self.calibrated(margins, given or [None] * len(labels))

    @property
    def is_calibrated(self) -> bool:
        """Whether there are `probabilities`."""
        return self.model.calibration is not None

    def calibrated(self, margins: Sequence[float], given: Given) -> list[float]:
        """The `probabilities` of labels with some margins, of which some may be given.

        Raises
        ------
        SeqtagError
            If the model has no calibration.
        """
        if self.model.calibration is None:
            msg = (
                f"expected a calibrated model of {self.label}, found one without calibration; "
                "learn it on a dev set with seqtag calibrate"
            )
            raise SeqtagError(msg)
        found = self.model.calibration.of(margins)
        return [1.0 if g is not None else p for p, g in zip(found, given, strict=True)]

    def nbest(
        self, sentence: AnySentence, n: int, given: Given | None = None
    ) -> list[tuple[float, list[str]]]:
        """The n best label sequences of a sentence, each with its score, the best first.

        Exact. Of equal scores that one comes first whose labels come first in the model, from the
        last word on. Sequences differ as they are learnt; lemmas, say, may be written alike.

        Parameters
        ----------
        sentence, given
            As for `tag`. A `conllu.TokenList` is left as it is.
        n
            How many; there are fewer where there are fewer sequences that may be.

        Returns
        -------
        list of (float, list of str)
            Scores on the model's score scale. The first labels are those of `tag`.

        Raises
        ------
        ValueError
            If `n` is not 1 or more.

        Examples
        --------
        >>> import seqtag
        >>> best, second = seqtag.load("en-ewt-upos").nbest(["Go", "!"], 2)
        >>> best[1], best[0] >= second[0]
        (['VERB', 'PUNCT'], True)
        """
        return self.nbest_many([sentence], n, given=[given])[0]

    def nbest_many(
        self,
        sentences: Iterable[AnySentence],
        n: int,
        threads: int = 1,
        given: Iterable[Given | None] | None = None,
    ) -> list[list[tuple[float, list[str]]]]:
        """`nbest` of many sentences, in their order; parameters as for `tag_many`."""
        if n < 1:
            msg = f"expected n of 1 or more, found {n}"
            raise ValueError(msg)
        return self._of_many(
            sentences, threads, given, lambda batch: self._search(batch, n), self._searched
        )

    def explain(self, sentence: AnySentence, token: int, rival: str | None = None) -> Explanation:
        """Why a word has its label: the features that set it apart from the rival, with weights.

        Parameters
        ----------
        sentence
            As for `tag`; a `conllu.TokenList` is left as it is.
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
        >>> why = seqtag.load("en-ewt-upos").explain(["Birds", "sing"], 0, rival="VERB")
        >>> why.label, why.rival
        ('NOUN', 'VERB')
        """
        return self._explained(sentence, token, rival)

    def split_label(self, labels: Sequence[str]) -> dict[str, list[str]]:
        """The values of each of `label_columns` for the labels of a sentence.

        >>> import seqtag
        >>> seqtag.load("en-ewt-upos").split_label(["NOUN", "VERB"])
        {'upos': ['NOUN', 'VERB']}
        """
        return self.model.column.split(labels)

    @property
    def writes_ids(self) -> bool:
        """Whether `outputs` says how to write each label, whatever its neighbours are."""
        return self.model.coding.is_local

    def tag_text(self, text: str) -> Document:
        """A text as a document, cut into sentences and words by rules.

        A pipeline that has learnt to cut does so itself: `seqtag.Pipeline.tag_text`.

        Parameters
        ----------
        text
            Raw text. Without any token the document is empty.

        Raises
        ------
        SeqtagError
            If the model looks at more than words, or the text is none that UTF-8 can hold.
        TypeError
            If it is no text at all.

        Examples
        --------
        >>> import seqtag
        >>> document = seqtag.load("en-ewt-upos").tag_text("Time flies. Why?")
        >>> [(word.text, word.upos, word.start) for word in document.sentences[1]]
        [('Why', 'ADV', 12), ('?', 'PUNCT', 15)]
        """
        if not {*self.columns} <= {"form"}:
            msg = (
                f"expected a model that looks at words for a text, found one that looks at "
                f"{', '.join(self.columns)}; put it behind models that give these, in a pipeline"
            )
            raise SeqtagError(msg)
        sentences = cut_by_rules(text)
        labels = [self.split_label(found) for found in self.tag_many(sentences)]
        return Document(text, with_columns(sentences, labels))

    # ----------------------------------------------------------------- online training
    def partial_fit(
        self,
        data: Any,
        labels: Iterable[Labels] | None = None,
        *,
        epochs: int | None = 1,
        min_count: int | None = 1,
        **options: Any,
    ) -> Tagger:
        """Return a tagger that has learned from more sentences; this one does not change.

        The function `seqtag.training.online.partial_fit` as a method, with its parameters.

        Examples
        --------
        >>> import seqtag
        >>> tagger = seqtag.load("en-ewt-upos")
        >>> tagger.tag(["Zorb", "!"])
        ['PROPN', 'PUNCT']
        >>> tagger.partial_fit([["Zorb", "!"]], [["INTJ", "PUNCT"]], epochs=3).tag(["Zorb", "!"])
        ['INTJ', 'PUNCT']
        """
        learned: Tagger = hooks.call(
            "partial_fit", self, data, labels, epochs=epochs, min_count=min_count, **options
        )
        return learned

    # ----------------------------------------------------------------- files
    def save(self, path: str | PathLike[str]) -> int:
        """Write the model to one file, whole or not at all; return its size in bytes."""
        return bundle.save(path, [self.model])

    def __reduce__(self) -> tuple[Any, ...]:
        return _from_bytes, (bundle.to_bytes([self.model]),)


def _from_bytes(data: bytes) -> Tagger:
    [model] = bundle.models_of(container.from_bytes(data))
    return Tagger(model)
