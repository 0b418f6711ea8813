"""What a backend offers: one record, and the protocols of what it makes."""

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
    """What the training loop asks of weights; see `seqtag.engine.reference.Weights`."""

    @property
    def seen(self) -> int:
        """Sentences finished so far."""

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
        """Visit the sentences of these numbers one by one; return (updates, wrong tokens)."""

    def cells(self, average: bool = False) -> Cells:
        """The weights that are not zero, of w or of its average."""

    def state(self) -> State:
        """All that is known: weights made from it go on as these do, to the last bit."""


class Weights(Learner, Protocol):
    """Weights in training; see `seqtag.engine.reference.Weights`."""

    def decode(self, x: Instances) -> IntArray:
        """Best labels (N,) int32 of every token under the current weights."""


class Decoder(Protocol):
    """A trained model that decodes; see `seqtag.engine.frozen.Decoder`."""

    def workspace(self) -> Any:
        """Memory for one thread and one numbering of the types."""

    def decode(
        self,
        types: IntArray,
        hashes: HashArray,
        sentence_ptr: IntArray,
        workspace: Any,
        allowed: Allowed | None = None,
    ) -> IntArray:
        """Label ids (tokens,) int32 of encoded sentences."""

    def margins(
        self,
        types: IntArray,
        hashes: HashArray,
        sentence_ptr: IntArray,
        groups: IntArray,
        workspace: Any,
        allowed: Allowed | None = None,
    ) -> Margins:
        """Label ids of encoded sentences, and how much better they are than any others."""

    def n_best(
        self,
        types: IntArray,
        hashes: HashArray,
        sentence_ptr: IntArray,
        n: int,
        workspace: Any,
        allowed: Allowed | None = None,
    ) -> Paths:
        """The n best label sequences of each of some encoded sentences."""


class Scanner(Protocol):
    """Reads column files piece by piece and splices labels in; of the native backend only."""

    def scan(self, text: bytes, file_start: bool) -> tuple[IntArray, IntArray] | None:
        """Type ids (columns read, words) and sentence_ptr, or None if the text is not plain."""

    def new_values(self, column: int) -> list[bytes]:
        """Values of a column that were numbered since the last call, in order."""

    def splice(
        self, text: bytes, labels: Sequence[IntArray], names: Sequence[Sequence[bytes]]
    ) -> bytes:
        """The text scanned last with the labels in their places."""


class TokenScanner(Protocol):
    """Reads text in tokens piece by piece; of the native backend only."""

    def scan(self, text: bytes, file_start: bool) -> tuple[IntArray, IntArray]:
        """Type ids (words,) of whole lines, and sentence_ptr, one step per line."""

    def new_values(self) -> list[bytes]:
        """Tokens that were numbered since the last call, in order."""


class BigramCounter(Protocol):
    """Counts which words stand side by side; see `seqtag.engine.clustering.BigramCounter`."""

    @property
    def total(self) -> int:
        """Bigrams counted, all repetitions too."""

    def add(self, words: IntArray, sentence_ptr: IntArray) -> None:
        """Count the bigrams of some sentences."""

    def counts(self, words: int) -> IntArray:
        """How often each of the first words was counted: (words,) int64."""

    def table(self, numbers: IntArray) -> Bigrams:
        """The table of all bigrams, with other numbers for the words."""


class ExchangeClustering(Protocol):
    """Improves classes of words; see `seqtag.engine.clustering.ExchangeClustering`."""

    @property
    def classes(self) -> IntArray:
        """The class of each word, (V,) int32."""

    def objective(self) -> int:
        """The part of the log-likelihood that the classes have in hand."""

    def visit(self, first: int, last: int) -> int:
        """Move the words first to last - 1, one after the other; how many change their class."""


class Values(Protocol):
    """Strings, numbered as they come; see `seqtag.engine.keys.Values`."""

    def number(self, rows: list[Sequence[str]], count: int) -> NDArray[np.int32]:
        """The number of each of some values, all rows end to end: (count,) int32."""

    def new_values(self) -> list[str]:
        """Values that were numbered since the last call, in order."""


class WriteSentences(Protocol):
    """Writes sentences of raw text as CoNLL-U; of the native backend only."""

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
        """The sentences that are `plain` and have no white space in a token; None for others.

        Token ``ranges[i]`` is a multiword token of ``words[word_ptr[i]:word_ptr[i + 1]]``.
        """


AttributeCall: TypeAlias = "tuple[str, int, Sequence[tuple[int, int]]]"
"""A built-in attribute: its name, its number (0 if it takes none), and code points with what is
written for each."""


class HashAttributes(Protocol):
    """Hashes built-in attributes of words; of the native backend only.

    What it does: `seqtag.features.builtin`, `seqtag.engine.keys.hash_string`.
    """

    def __call__(
        self,
        words: list[str],
        attributes: Sequence[AttributeCall],
        normal: bool,
        describe: Callable[[int], tuple[IntArray, NDArray[np.uint16], ByteArray]],
        spell: Callable[[str], tuple[str, str]],
    ) -> HashArray:
        """Hash of each attribute's value per word, 0 if absent: (attributes, words) uint64.

        `normal`: whether attributes see the normal forms of words, not what is written.
        `describe`: what is to be known of 32 code points; asked when a word first needs them.
        `spell`: the form that attributes see, and that in lower case, of a word whose characters
        do not say so one by one.
        """


class Characters(Protocol):
    """Numbers views of texts; of the native backend only.

    What it does: `seqtag.segmentation.characters`.
    """

    @property
    def nbytes(self) -> int:
        """Bytes held for the characters, chunks and values of the texts so far."""

    def unknown(self, codes: CodeArray) -> CodeArray:
        """Code points of a text whose kind is not known yet, each once."""

    def learn(self, codes: CodeArray, kinds: ByteArray) -> None:
        """Say how code points make characters."""

    def split(self, codes: CodeArray) -> tuple[IntArray, IntArray, ByteArray, IntArray]:
        """Rows of a text: starts, ends, gaps; and the rows whose characters are new."""

    def define(
        self,
        symbols: Sequence[bytes],
        kinds: Sequence[bytes],
        classes: Sequence[bytes],
        alphanumeric: ByteArray,
    ) -> None:
        """Say what the new characters count as."""

    def number(self) -> NDArray[np.int32]:
        """Type ids (columns, rows) of the text that was split last."""

    def new_values(self, column: int) -> list[bytes]:
        """Values of a column that were numbered since the last call, in order."""


class Backend(NamedTuple):
    """One side: the readable reference or the native kernel, with the same answers."""

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
    ) = None  # the reference has memory enough for what it has time for
    Scanner: Callable[..., Scanner] | None = None  # without one, seqtag.corpus reads alone
    write_sentences: WriteSentences | None = None
    Characters: Callable[[Sequence[int]], Characters] | None = None  # nor seqtag.segmentation
    TokenScanner: Callable[[], TokenScanner] | None = None
    hash_attributes: HashAttributes | None = None  # Python's own functions do then
