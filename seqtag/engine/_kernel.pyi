# Written by scripts/write_kernel_stub.py.
"""Native kernel of seqtag; native.py is its only caller."""

from collections.abc import Callable, Sequence

import numpy
from numpy.typing import NDArray

I64 = NDArray[numpy.int64]
I32 = NDArray[numpy.int32]
U64 = NDArray[numpy.uint64]
F32 = NDArray[numpy.float32]
KeyPlan = tuple[I64, I32, I32, U64, U64, I32, int]
LabelComponents = tuple[I64, I32, int]
Rows = tuple[U64, I64, NDArray[numpy.uint16], NDArray[numpy.int8]]
QuantizedWeights = tuple[Rows, Rows, Rows, F32, F32, F32, float]
TagDictionary = tuple[int, U64, I64, NDArray[numpy.uint16]]
LabelsByTags = tuple[KeyPlan, U64, I64, NDArray[numpy.uint16]]
CellStates = tuple[I64, I32, object, object, object]
State = tuple[CellStates, CellStates, CellStates, object, int]
Allowed = tuple[I64, I32]
Bigrams = tuple[I64, I32, I32]
LocalRows = tuple[I32, I64, I64, I32]
Instances = tuple[
    I64,
    I64,
    I32,
    object,
    I64 | None,
    I32 | None,
    LocalRows | None,
    NDArray[numpy.uint8] | None,
    I32 | None,
    I64 | None,
    I32 | None,
]

def has_avx2() -> bool: ...
def use_engines(engines: object) -> None: ...
def draw_secret(addend: int, factor: int) -> None: ...
def drop_features(
    token_ptr: I64, features: I32, shares: NDArray[numpy.float64], random: object
) -> tuple[object, ...]: ...

class Weights:
    def __init__(
        self,
        layout: object,
        dtype: str = "float32",
        rule: str = "adaptive",
        state: State | None = None,
    ) -> None: ...
    def train_epoch(
        self,
        x: Instances,
        y: I32,
        visits: I64,
        rule: str = "perceptron",
        step: float = 1.0,
        cost: object | None = None,
        ties_are_mistakes: bool = False,
        out_mistakes: object | None = None,
        choices: object | None = None,
        ask: object = None,
    ) -> object: ...
    def decode(self, x: Instances) -> object: ...
    def cells(self, average: bool = False) -> object: ...
    def state(self) -> object: ...
    @property
    def seen(self) -> int: ...

def index_features(
    plan: KeyPlan, types: I32, hashes: U64, sentence_ptr: I64, min_count: int
) -> tuple[object, ...]: ...
def index_by_place(
    plan: KeyPlan, types: I32, hashes: U64, sentence_ptr: I64, min_count: int
) -> tuple[object, ...]: ...

class PhraseMatcher:
    def __init__(self, chains: U64, numbers: I32) -> None: ...
    def match(self, types: I32, hashes: U64, sentence_ptr: I64, absent: int) -> object: ...

class Workspace:
    @property
    def nbytes(self) -> int: ...

class Decoder:
    def __init__(
        self,
        order: int,
        plan: KeyPlan,
        edge_plan: KeyPlan,
        weights: QuantizedWeights,
        parts: LabelComponents | None = None,
        known: TagDictionary | None = None,
        by_tags: LabelsByTags | None = None,
    ) -> None: ...
    def workspace(self) -> Workspace: ...
    def decode(
        self,
        types: I32,
        hashes: U64,
        sentence_ptr: I64,
        workspace: Workspace,
        allowed: Allowed | None = None,
    ) -> object: ...
    def margins(
        self,
        types: I32,
        hashes: U64,
        sentence_ptr: I64,
        groups: I32,
        workspace: Workspace,
        allowed: Allowed | None = None,
    ) -> object: ...
    def n_best(
        self,
        types: I32,
        hashes: U64,
        sentence_ptr: I64,
        n: int,
        workspace: Workspace,
        allowed: Allowed | None = None,
    ) -> object: ...

class Values:
    def __init__(self) -> None: ...
    def number(self, rows: list[object], count: int) -> object: ...
    def new_values(self) -> list[object]: ...

def label_lists(names: list[object], ids: I32, ptr: I64) -> list[object]: ...
def hash_strings(values: Sequence[object]) -> object: ...
def join_keys(low: NDArray[numpy.uint32], high: NDArray[numpy.uint8]) -> object: ...
def count_cells(ends: NDArray[numpy.uint8], cells: int) -> object: ...
def hash_attributes(
    words: list[object],
    attributes: Sequence[tuple[str, int, Sequence[tuple[int, int]]]],
    describe: Callable[..., object],
    spell: Callable[..., object],
) -> object: ...
def longest_probe_of_values(blob: bytes, offsets: I64) -> int: ...
def longest_probes_of_keys(keys: U64) -> tuple[object, ...]: ...

class ScannedRows:
    @property
    def types(self) -> object: ...
    @property
    def sentence_ptr(self) -> object: ...
    def splice(self, labels: Sequence[tuple[I32 | None, Sequence[bytes]]]) -> bytes: ...
    def words(self, with_lines: bool) -> WordRows: ...

class Scanner:
    def __init__(
        self,
        columns: int,
        separator: str,
        id_column: int,
        comments: bool,
        read: Sequence[int],
        write: Sequence[int],
    ) -> None: ...
    def scan(self, text: bytes, file_start: bool) -> object: ...
    def new_values(self, column: int) -> list[object]: ...

class WordRows:
    @property
    def types(self) -> object: ...
    @property
    def sentence_ptr(self) -> object: ...
    def lines(
        self,
        labels: Sequence[tuple[I32 | None, Sequence[bytes]]],
        field: bytes,
        word: bytes,
        sentence: bytes,
        before: int | None,
    ) -> bytes: ...
    def json(
        self,
        keys: Sequence[bytes],
        labels: Sequence[tuple[I32 | None, Sequence[bytes]]],
        before: int,
    ) -> bytes: ...
    def conllu(
        self,
        columns: Sequence[int],
        labels: Sequence[tuple[I32 | None, Sequence[bytes]]],
        numbers: I64 | None,
        opens: Sequence[tuple[int, bytes]],
        before: Sequence[tuple[int, bytes]],
    ) -> bytes: ...

class WordScanner:
    def __init__(self) -> None: ...
    def scan_lines(self, text: bytes) -> WordRows: ...
    def scan_tokens(
        self,
        text: bytes,
        starts: I64,
        ends: I64,
        sentence_ends: I64,
        ranges: I64,
        word_ptr: I64,
        words: Sequence[bytes],
    ) -> WordRows: ...
    def new_values(self) -> list[object]: ...

def json_sentences(
    text: bytes,
    conllu: bytes,
    columns: Sequence[tuple[bytes, int, bytes, bool]],
    letters: Sequence[bytes],
    units: Sequence[int],
) -> bytes: ...

class TokenNumbers:
    def __init__(self) -> None: ...
    def number(self, codes: NDArray[numpy.uint32], starts: I64, ends: I64) -> object: ...
    @property
    def nbytes(self) -> int: ...

class ChunkModel:
    def __init__(
        self,
        plan: KeyPlan,
        rows: Rows,
        labels: int,
        columns: Sequence[int],
        attributes: Sequence[tuple[str, int, Sequence[tuple[int, int]]]],
    ) -> None: ...
    @property
    def fits(self) -> bool: ...

class Characters:
    def __init__(self, views: Sequence[Sequence[int]], hashes: Sequence[U64]) -> None: ...
    def unknown(self, codes: NDArray[numpy.uint32]) -> object: ...
    def learn(self, codes: NDArray[numpy.uint32], kinds: NDArray[numpy.uint8]) -> None: ...
    def split(self, codes: NDArray[numpy.uint32]) -> tuple[object, ...]: ...
    def define(
        self,
        symbols: Sequence[bytes],
        kinds: Sequence[bytes],
        classes: Sequence[bytes],
        alphanumeric: NDArray[numpy.uint8],
        plain: NDArray[numpy.uint8],
    ) -> None: ...
    def number(self) -> object: ...
    def labels(self, model: ChunkModel) -> object: ...
    @property
    def nbytes(self) -> int: ...
    def new_values(self, view: int) -> list[object]: ...
    def new_hashes(
        self,
        view: int,
        attributes: Sequence[Sequence[tuple[str, int, Sequence[tuple[int, int]]]]],
        describe: Callable[..., object],
        spell: Callable[..., object],
    ) -> list[object]: ...

class BigramCounter:
    def __init__(self) -> None: ...
    def add(self, words: I32, sentence_ptr: I64) -> None: ...
    @property
    def total(self) -> int: ...
    def counts(self, words: int) -> object: ...
    def table(self, numbers: I32) -> object: ...

class ExchangeClustering:
    def __init__(self, bigrams: Bigrams, classes: I32, open: int) -> None: ...
    @property
    def classes(self) -> object: ...
    def objective(self) -> int: ...
    def visit(self, first: int, last: int) -> int: ...

def entropies(n: I32) -> object: ...
