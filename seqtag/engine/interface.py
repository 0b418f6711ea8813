"""Interface of a backend: a record of its functions and classes.

Both backends have those of the reference; the protocols here are of what only the kernel has.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from seqtag.engine.arrays import BoolArray, ByteArray, CodeArray, HashArray, IntArray, KeyPlan
    from seqtag.engine.clustering import BigramCounter, ExchangeClustering
    from seqtag.engine.frozen import Decoder
    from seqtag.engine.keys import Values
    from seqtag.engine.reference import Weights


class ScannedRows(Protocol):
    """Words of a piece of a column file; native backend only."""

    @property
    def types(self) -> NDArray[np.int32]:
        """Type ids (columns, words)."""

    @property
    def sentence_ptr(self) -> IntArray:
        """Where each sentence begins among the words, and where the last ends."""

    def splice(self, labels: Sequence[IntArray], names: Sequence[Sequence[bytes]]) -> bytes:
        """Return the text with the labels written into it."""


class Scanner(Protocol):
    """Scanner of column files, piece by piece; native backend only."""

    def scan(self, text: bytes, file_start: bool) -> ScannedRows | None:
        """Return the words of a text, or None if it is irregular."""

    def new_values(self, column: int) -> list[bytes]:
        """Return the values of a column numbered since the last call, in order."""


class TokenScanner(Protocol):
    """Scanner of tokenized text, piece by piece; native backend only."""

    def scan(self, text: bytes, file_start: bool) -> tuple[IntArray, IntArray]:
        """Return the type ids (words,) of complete lines, and sentence_ptr, one step per line."""

    def new_values(self) -> list[bytes]:
        """Return the tokens numbered since the last call, in order."""


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
        numbers: IntArray,
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
        plain: ByteArray,
    ) -> None:
        """Set symbol, kind and class of the new characters.

        `plain`: whether the symbol is its own normal form whatever surrounds it.
        """

    def number(self) -> NDArray[np.int32]:
        """Return the type ids (views, rows) of the text split last."""

    def new_values(self, view: int) -> list[list[bytes]]:
        """Return the values of each column of a view for the types numbered since the last call."""

    def new_hashes(
        self,
        view: int,
        attributes: Sequence[Sequence[AttributeCall]],
        normal: bool,
        describe: Callable[[int], tuple[IntArray, NDArray[np.uint16], ByteArray]],
        spell: Callable[[str], tuple[str, str]],
    ) -> list[HashArray]:
        """Return `HashAttributes` of the values that `new_values` would return.

        `attributes`: those of each column of the view, the same at each call.
        """


class Backend(NamedTuple):
    """Reference or native kernel; both give the same results."""

    name: str
    Weights: type[Weights]
    Decoder: type[Decoder]
    index_features: Callable[
        [KeyPlan, IntArray, HashArray, IntArray, int], tuple[HashArray, IntArray, IntArray]
    ]
    drop_features: Callable[
        [IntArray, IntArray, NDArray[np.float64], np.random.RandomState], tuple[IntArray, IntArray]
    ]
    hash_strings: Callable[[Sequence[str]], HashArray]
    BigramCounter: type[BigramCounter]
    ExchangeClustering: type[ExchangeClustering]
    Values: type[Values]
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
    Characters: Callable[[Sequence[Sequence[int]]], Characters] | None = None  # None: not needed
    TokenScanner: Callable[[], TokenScanner] | None = None
    hash_attributes: HashAttributes | None = None  # None: the Python functions are used
