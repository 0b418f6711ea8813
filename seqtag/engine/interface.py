"""Interface of a backend: a record of its functions and classes.

Both backends have those of the reference; the protocols here are of what only the kernel has.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from seqtag.engine.arrays import (
        Bigrams,
        ByteArray,
        CodeArray,
        HashArray,
        IntArray,
        KeyPlan,
        Rows,
    )
    from seqtag.engine.frozen import Decoder
    from seqtag.engine.keys import PhraseMatcher, Values
    from seqtag.engine.reference import Weights


Labels: TypeAlias = "Sequence[tuple[IntArray | None, Sequence[bytes]]]"
"""For each column, the label id of each word, and what to write for each id; without ids, the next
column of the file."""

Comments: TypeAlias = "tuple[IntArray | None, list[tuple[int, bytes]], list[tuple[int, bytes]]]"
"""Of CoNLL-U: the numbers of its sentences, and, for some of them, comments, and the white space
before the first token."""


class ScannedRows(Protocol):
    """Words of a piece of a column file; native backend only."""

    @property
    def types(self) -> NDArray[np.int32]:
        """Type ids (columns, words)."""

    @property
    def sentence_ptr(self) -> IntArray:
        """Where each sentence begins among the words, and where the last ends."""

    def splice(self, labels: Labels) -> bytes:
        """Return the text with the labels written into it."""

    def words(self, with_lines: bool) -> WordRows:
        """Return the words if the first column to write is that of forms, with the others.

        `with_lines`: whether JSON has what comments and ranges of CoNLL-U say of a sentence.
        """


class Scanner(Protocol):
    """Scanner of column files, piece by piece; native backend only."""

    def scan(self, text: bytes, file_start: bool) -> ScannedRows | None:
        """Return the words of a text, or None if it is irregular."""

    def new_values(self, column: int) -> list[bytes]:
        """Return the values of a column numbered since the last call, in order."""


class WordRows(Protocol):
    """Words of a text in tokens, or of text that was segmented; native backend only."""

    @property
    def types(self) -> NDArray[np.int32]:
        """Type ids (1, words)."""

    @property
    def sentence_ptr(self) -> IntArray:
        """Where each sentence begins among the words, and where the last ends."""

    def lines(
        self, labels: Labels, field: bytes, word: bytes, sentence: bytes, before: int | None
    ) -> bytes:
        """Return the words with their labels, separated by `field`, `word` and `sentence`.

        `before`: the number of sentences before these, if the number of the sentence precedes each
        word.
        """

    def json(self, keys: Sequence[bytes], labels: Labels, before: int) -> bytes:
        """Return an object of JSON for each sentence, with a list of labels for each key.

        Segmented text also has its number, counted from the sentences `before`, and multiword
        tokens.
        """

    def conllu(
        self,
        columns: Sequence[int],
        labels: Labels,
        numbers: IntArray | None,
        opens: Sequence[tuple[int, bytes]],
        before: Sequence[tuple[int, bytes]],
    ) -> bytes:
        """Return CoNLL-U with labels in some columns, and numbers of sentences if given.

        `opens` and `before`: for some sentences, comments, and the white space before the first
        token.
        """


class WordScanner(Protocol):
    """Scanner of words, text by text; native backend only."""

    def scan_lines(self, text: bytes) -> WordRows:
        """Return the words of complete lines: an empty line is a sentence without words."""

    def scan_tokens(
        self,
        text: bytes,
        starts: IntArray,
        ends: IntArray,
        sentence_ends: IntArray,
        ranges: IntArray,
        word_ptr: IntArray,
        words: Sequence[bytes],
    ) -> WordRows:
        """Return the words of tokens at some code points.

        Token ``ranges[i]`` is a multiword token of ``words[word_ptr[i]:word_ptr[i + 1]]``.
        """

    def new_values(self) -> list[bytes]:
        """Return the words numbered since the last call, in order."""


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
        describe: Callable[[int], tuple[IntArray, NDArray[np.uint16], ByteArray]],
        spell: Callable[[str], tuple[str, str]],
    ) -> HashArray:
        """Return the hash of each attribute's value per word, 0 if absent: (attributes, words).

        `describe`: returns the properties of 32 code points; called when they are first needed.
        `spell`: returns the form of a word that attributes see, and its lower case; called if
        they do not follow from the characters one by one.
        """


class JsonSentences(Protocol):
    """Sentences of a document as JSON; native backend only.

    Defined by `seqtag.tagging.document.Document.to_dicts`.
    """

    def __call__(
        self,
        text: bytes,
        conllu: bytes,
        columns: Sequence[tuple[bytes, int, bytes, bool]],
        letters: Sequence[bytes],
        units: Sequence[int],
    ) -> bytes:
        """Return an object for each sentence of CoNLL-U, with commas between them.

        Parameters
        ----------
        text, conllu
            The text, and its sentences with all white space.
        columns
            The name of each column of labels, its place in CoNLL-U, the key there, and whether it
            has chunks.
        letters
            Prefixes of chunk labels: all, those that continue a chunk, and those that close one.
        units
            How many units of offsets a character of 1, 2, 3 and 4 bytes has.
        """


class TokenNumbers(Protocol):
    """Numbers of the distinct tokens of texts, as they come; native backend only."""

    @property
    def nbytes(self) -> int:
        """Bytes held for the tokens met so far."""

    def number(self, codes: CodeArray, starts: IntArray, ends: IntArray) -> NDArray[np.int32]:
        """Return the numbers of the tokens at some code points of a text."""


class ChunkModel(Protocol):
    """Model that labels characters without numbering their columns; native backend only.

    Made of the plan and the rows of a `Decoder` without label features, the number of its labels,
    and the column (its index in `seqtag.segmentation.characters.COLUMNS`) and the call of each
    attribute.
    """

    def __init__(
        self,
        plan: KeyPlan,
        rows: Rows,
        labels: int,
        columns: Sequence[int],
        attributes: Sequence[AttributeCall],
    ) -> None: ...

    @property
    def fits(self) -> bool:
        """Whether it can label characters with these templates."""


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

    def labels(self, model: ChunkModel) -> NDArray[np.int32]:
        """Return the label (rows,) of each row of the text split last; -1 in some paragraphs."""

    def new_values(self, view: int) -> list[list[bytes]]:
        """Return the values of each column of a view for the types numbered since the last call."""

    def new_hashes(
        self,
        view: int,
        attributes: Sequence[Sequence[AttributeCall]],
        describe: Callable[[int], tuple[IntArray, NDArray[np.uint16], ByteArray]],
        spell: Callable[[str], tuple[str, str]],
    ) -> list[HashArray]:
        """Return `HashAttributes` of the values that `new_values` would return.

        `attributes`: those of each column of the view, the same at each call.
        """


class BigramCounter(Protocol):
    """Counts the bigrams of sentences that arrive piece by piece; native backend only."""

    @property
    def total(self) -> int:
        """Number of bigrams counted, with repetitions."""

    def add(self, words: IntArray, sentence_ptr: IntArray) -> None:
        """Count the bigrams of sentences of words, numbered from 1 on; 0 is their boundary."""

    def counts(self, words: int) -> IntArray:
        """Return how often each of the first words was counted: (words,) int64."""

    def table(self, numbers: IntArray) -> Bigrams:
        """Return all bigrams; words that get the same number become one word."""


class ExchangeClustering(Protocol):
    """Classes of words, improved word by word (Kneser & Ney 1993); native backend only.

    Made of the bigrams, the class that each word begins in, and how many classes take words.
    """

    @property
    def classes(self) -> NDArray[np.int32]:
        """The class of each word."""

    def objective(self) -> int:
        """Return the part of the log-likelihood that depends on the classes."""

    def visit(self, first: int, last: int) -> int:
        """Move the words first to last - 1 into their best classes; return how many moved."""


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
    Values: type[Values]
    label_lists: Callable[[list[str], IntArray, IntArray], list[list[str]]]
    join_keys: Callable[[NDArray[np.uint32], NDArray[np.uint8]], HashArray]
    count_cells: Callable[[NDArray[np.uint8], int], NDArray[np.uint16]]
    PhraseMatcher: type[PhraseMatcher]
    index_by_place: (
        Callable[
            [KeyPlan, IntArray, HashArray, IntArray, int],
            tuple[HashArray, IntArray, IntArray, ByteArray],
        ]
        | None
    ) = None  # the reference stores all rows
    Scanner: Callable[..., Scanner] | None = None  # None: seqtag.corpus reads without it
    WordScanner: Callable[[], WordScanner] | None = None
    json_sentences: JsonSentences | None = None  # None: Python writes them
    TokenNumbers: Callable[[], TokenNumbers] | None = None  # None: dicts are
    # None: not needed
    Characters: Callable[[Sequence[Sequence[int]], Sequence[HashArray]], Characters] | None = None
    ChunkModel: type[ChunkModel] | None = None
    hash_attributes: HashAttributes | None = None  # None: the Python functions are used
    BigramCounter: Callable[[], BigramCounter] | None = None  # None: no word classes are learned
    ExchangeClustering: Callable[[Bigrams, IntArray, int], ExchangeClustering] | None = None
    entropies: Callable[[IntArray], IntArray] | None = None  # n log2 n
