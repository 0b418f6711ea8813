"""Interface of a backend: a record of its functions and classes, and their protocols."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from seqtag.engine.arrays import (
        Allowed,
        Bigrams,
        BoolArray,
        ByteArray,
        Cells,
        CodeArray,
        Cost,
        HashArray,
        Instances,
        IntArray,
        KeyPlan,
        Margins,
        Mistakes,
        Paths,
        Pause,
        State,
    )


class Learner(Protocol):
    """Weights as the training loop uses them; see `seqtag.engine.reference.Weights`."""

    @property
    def seen(self) -> int:
        """Number of sentences visited so far."""

    def train_epoch(
        self,
        x: Instances,
        y: IntArray,
        visits: IntArray,
        rule: str = "perceptron",
        step: float = 1.0,
        cost: Cost | None = None,
        ties_are_mistakes: bool = False,
        out_mistakes: list[Mistakes] | None = None,
        choices: BoolArray | None = None,
        pause: Pause | None = None,
    ) -> tuple[int, int]:
        """Learn from the sentences with these numbers; return (updates, wrong tokens)."""

    def cells(self, average: bool = False) -> Cells:
        """Return the nonzero weights, of w or of its average."""

    def state(self) -> State:
        """Return the complete state: weights made from it continue bit by bit like these."""


class Weights(Learner, Protocol):
    """Weights in training; see `seqtag.engine.reference.Weights`."""

    def decode(self, x: Instances) -> IntArray:
        """Return the best label (N,) int32 of every token under the current weights."""


class Decoder(Protocol):
    """A trained model that decodes; see `seqtag.engine.frozen.Decoder`."""

    def workspace(self) -> Any:
        """Return the memory of one thread for one numbering of the types."""

    def decode(
        self,
        types: IntArray,
        hashes: HashArray,
        sentence_ptr: IntArray,
        workspace: Any,
        allowed: Allowed | None = None,
    ) -> IntArray:
        """Return the label ids (tokens,) int32 of encoded sentences."""

    def margins(
        self,
        types: IntArray,
        hashes: HashArray,
        sentence_ptr: IntArray,
        groups: IntArray,
        workspace: Any,
        allowed: Allowed | None = None,
    ) -> Margins:
        """Return the label ids of encoded sentences, and their margins."""

    def n_best(
        self,
        types: IntArray,
        hashes: HashArray,
        sentence_ptr: IntArray,
        n: int,
        workspace: Any,
        allowed: Allowed | None = None,
    ) -> Paths:
        """Return the n best label sequences of each encoded sentence."""


class Scanner(Protocol):
    """Scanner of column files, piece by piece, that splices labels in; native backend only."""

    def scan(self, text: bytes, file_start: bool) -> tuple[IntArray, IntArray] | None:
        """Return type ids (columns, words) and sentence_ptr, or None if the text is irregular."""

    def new_values(self, column: int) -> list[bytes]:
        """Return the values of a column numbered since the last call, in order."""

    def splice(
        self, text: bytes, labels: Sequence[IntArray], names: Sequence[Sequence[bytes]]
    ) -> bytes:
        """Return the text scanned last with the labels written into it."""


class TokenScanner(Protocol):
    """Scanner of tokenized text, piece by piece; native backend only."""

    def scan(self, text: bytes, file_start: bool) -> tuple[IntArray, IntArray]:
        """Return the type ids (words,) of complete lines, and sentence_ptr, one step per line."""

    def new_values(self) -> list[bytes]:
        """Return the tokens numbered since the last call, in order."""


class BigramCounter(Protocol):
    """Counter of word bigrams; see `seqtag.engine.clustering.BigramCounter`."""

    @property
    def total(self) -> int:
        """Number of bigrams counted, with repetitions."""

    def add(self, words: IntArray, sentence_ptr: IntArray) -> None:
        """Count the bigrams of some sentences."""

    def counts(self, words: int) -> IntArray:
        """Return how often each of the first words was counted: (words,) int64."""

    def table(self, numbers: IntArray) -> Bigrams:
        """Return all bigrams, with the words renumbered."""


class ExchangeClustering(Protocol):
    """Word classes, improved step by step; see `seqtag.engine.clustering`."""

    @property
    def classes(self) -> IntArray:
        """Class of each word, (V,) int32."""

    def objective(self) -> int:
        """Return the part of the log-likelihood that depends on the classes."""

    def visit(self, first: int, last: int) -> int:
        """Move the words first to last - 1; return how many change class."""


class Values(Protocol):
    """Distinct strings, numbered in order; see `seqtag.engine.keys.Values`."""

    def number(self, rows: list[Sequence[str]], count: int) -> NDArray[np.int32]:
        """Return the number of each value, all rows end to end: (count,) int32."""

    def new_values(self) -> list[str]:
        """Return the values numbered since the last call, in order."""


class WriteSentences(Protocol):
    """Writer of sentences of raw text as CoNLL-U; native backend only."""

    def __call__(
        self,
        text: bytes,
        starts: IntArray,
        ends: IntArray,
        sentence_ends: IntArray,
        plain: BoolArray,
        ranges: IntArray,
        word_ptr: IntArray,
        words: Sequence[bytes],
        number: int,
    ) -> list[str | None]:
        """Return the sentences that are `plain`, without white space in tokens; None for others.

        Token ``ranges[i]`` is a multiword token of ``words[word_ptr[i]:word_ptr[i + 1]]``.
        """


AttributeCall: TypeAlias = "tuple[str, int, Sequence[tuple[int, int]]]"
"""A built-in attribute: its name, its number (0 if it takes none), and code points with their
replacements."""


class HashAttributes(Protocol):
    """Hashes of built-in attributes of words; native backend only.

    Defined by `seqtag.features.builtin` and `seqtag.engine.keys.hash_string`.
    """

    def __call__(
        self,
        words: list[str],
        attributes: Sequence[AttributeCall],
        normal: bool,
        describe: Callable[[int], tuple[IntArray, NDArray[np.uint16], ByteArray]],
        spell: Callable[[str], tuple[str, str]],
    ) -> HashArray:
        """Return the hash of each attribute's value per word, 0 if absent: (attributes, words).

        `normal`: whether attributes see the normal forms of words.
        `describe`: returns the properties of 32 code points; called when they are first needed.
        `spell`: returns the form of a word that attributes see, and its lower case; called if
        they do not follow from the characters one by one.
        """


class Characters(Protocol):
    """Numbering of the character columns of a text; native backend only.

    Defined by `seqtag.segmentation.characters`.
    """

    @property
    def nbytes(self) -> int:
        """Bytes held for the characters, chunks and values read so far."""

    def unknown(self, codes: CodeArray) -> CodeArray:
        """Return the distinct code points of a text whose kind is unknown."""

    def learn(self, codes: CodeArray, kinds: ByteArray) -> None:
        """Set the kinds of code points."""

    def split(self, codes: CodeArray) -> tuple[IntArray, IntArray, ByteArray, IntArray]:
        """Return the rows of a text: starts, ends, gaps; and the rows with new characters."""

    def define(
        self,
        symbols: Sequence[bytes],
        kinds: Sequence[bytes],
        classes: Sequence[bytes],
        alphanumeric: ByteArray,
    ) -> None:
        """Set symbol, kind and class of the new characters."""

    def number(self) -> NDArray[np.int32]:
        """Return the type ids (columns, rows) of the text split last."""

    def new_values(self, column: int) -> list[bytes]:
        """Return the values of a column numbered since the last call, in order."""


class Backend(NamedTuple):
    """Reference or native kernel; both give the same results."""

    name: str
    Weights: Callable[..., Weights]
    Decoder: Callable[..., Decoder]
    index_features: Callable[
        [KeyPlan, IntArray, HashArray, IntArray, int], tuple[HashArray, IntArray, IntArray]
    ]
    drop_features: Callable[
        [IntArray, IntArray, NDArray[np.float64], np.random.RandomState], tuple[IntArray, IntArray]
    ]
    hash_strings: Callable[[Sequence[str]], HashArray]
    BigramCounter: Callable[[], BigramCounter]
    ExchangeClustering: Callable[[Bigrams, IntArray, int], ExchangeClustering]
    Values: Callable[[], Values]
    label_lists: Callable[[list[str], IntArray, IntArray], list[list[str]]]
    bundle_features: (
        Callable[
            [KeyPlan, IntArray, HashArray, IntArray, int],
            tuple[HashArray, IntArray, IntArray, IntArray, IntArray],
        ]
        | None
    ) = None  # the reference needs no bundles
    Scanner: Callable[..., Scanner] | None = None  # None: seqtag.corpus reads without it
    write_sentences: WriteSentences | None = None
    Characters: Callable[[Sequence[int]], Characters] | None = None  # None: not needed
    TokenScanner: Callable[[], TokenScanner] | None = None
    hash_attributes: HashAttributes | None = None  # None: the Python functions are used
