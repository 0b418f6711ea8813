# The native kernel (_native/module.cpp), as native.py sees it.
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from seqtag.engine.arrays import BoolArray, ByteArray, FloatArray, HashArray, IntArray

_Parts = tuple[IntArray, IntArray, int]
_Cells = tuple[IntArray, IntArray, FloatArray, FloatArray, FloatArray]
_Rows = tuple[HashArray, IntArray, NDArray[np.uint16], NDArray[np.int8]]
_Allowed = tuple[IntArray, IntArray]
_Known = tuple[int, HashArray, IntArray, NDArray[np.uint16]]

def has_avx2() -> bool: ...
def hash_strings(blob: bytes, offsets: IntArray) -> HashArray: ...
def label_lists(names: list[str], ids: IntArray, ptr: IntArray) -> list[list[str]]: ...
def hash_attributes(
    words: list[str],
    attributes: Sequence[tuple[str, int, Sequence[tuple[int, int]]]],
    normal: bool,
    describe: Callable[[int], tuple[IntArray, NDArray[np.uint16], ByteArray]],
    spell: Callable[[str], tuple[str, str]],
) -> HashArray: ...
def drop_features(
    token_ptr: IntArray,
    features: IntArray,
    shares: NDArray[np.float64],
    state: IntArray,
    used: int,
) -> tuple[IntArray, IntArray]: ...
def index_features(
    plan: Plan,
    types: IntArray,
    hashes: HashArray,
    sentence_ptr: IntArray,
    min_count: int,
    bundled: bool,
) -> tuple[HashArray, IntArray, IntArray, IntArray, IntArray]: ...

class Values:
    def __init__(self) -> None: ...
    def number(self, rows: list[Sequence[str]], count: int) -> NDArray[np.int32]: ...
    def new_values(self) -> list[str]: ...

class Plan:
    def __init__(
        self,
        term_ptr: IntArray,
        term_attribute: IntArray,
        term_offset: IntArray,
        seed: HashArray,
        multiplier: HashArray,
        attribute_column: IntArray,
    ) -> None: ...

class Weights32:
    def __init__(
        self,
        rows: int,
        labels: int,
        order: int,
        edges: int,
        parts: _Parts | None,
        adaptive: bool,
        sparse: bool,
    ) -> None: ...
    def train_epoch(
        self,
        sentence_ptr: IntArray,
        token_ptr: IntArray,
        features: IntArray,
        values: FloatArray | None,
        edge_ptr: IntArray | None,
        edges: IntArray | None,
        y: IntArray,
        visits: IntArray,
        rule: str,
        step: float,
        margin: float,
        cost: FloatArray | None,
        ties_are_mistakes: bool,
        record: bool,
        choices: ByteArray | None,
        asked: Callable[[], bool] | None,
        ask_every: float,
        bundle_ptr: IntArray | None,
        bundles: IntArray | None,
    ) -> tuple[int, int, IntArray, IntArray]: ...
    def decode(
        self,
        sentence_ptr: IntArray,
        token_ptr: IntArray,
        features: IntArray,
        values: FloatArray | None,
        edge_ptr: IntArray | None,
        edges: IntArray | None,
        bundle_ptr: IntArray | None,
        bundles: IntArray | None,
    ) -> IntArray: ...
    def cells(
        self, average: bool
    ) -> tuple[
        IntArray,
        IntArray,
        FloatArray,
        IntArray,
        IntArray,
        FloatArray,
        IntArray,
        IntArray,
        FloatArray,
        FloatArray,
    ]: ...
    def state(self) -> tuple[_Cells, _Cells, _Cells, FloatArray, int]: ...
    def restore(
        self, emission: _Cells, edge: _Cells, trigram: _Cells, chain: FloatArray, seen: int
    ) -> None: ...
    @property
    def seen(self) -> int: ...

class Weights64(Weights32): ...
class Workspace: ...

class Frozen:
    def __init__(
        self,
        order: int,
        plan: Plan,
        edge_plan: Plan,
        emission: _Rows,
        edge: _Rows,
        trigram: _Rows,
        start: FloatArray,
        stop: FloatArray,
        transition: FloatArray,
        parts: _Parts | None,
        known: _Known,
    ) -> None: ...
    def workspace(self) -> Workspace: ...
    def decode(
        self,
        types: IntArray,
        hashes: HashArray,
        sentence_ptr: IntArray,
        workspace: Workspace,
        allowed: _Allowed | None,
    ) -> IntArray: ...
    def margins(
        self,
        types: IntArray,
        hashes: HashArray,
        sentence_ptr: IntArray,
        groups: IntArray,
        workspace: Workspace,
        allowed: _Allowed | None,
    ) -> tuple[IntArray, NDArray[np.float64], IntArray]: ...
    def n_best(
        self,
        types: IntArray,
        hashes: HashArray,
        sentence_ptr: IntArray,
        n: int,
        workspace: Workspace,
        allowed: _Allowed | None,
    ) -> tuple[IntArray, NDArray[np.float64], IntArray]: ...

def draw_secret(addend: int, factor: int) -> None: ...
def longest_way_of_values(blob: bytes, offsets: IntArray) -> int: ...
def longest_ways_of_keys(keys: HashArray) -> tuple[int, int, int]: ...

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
    def scan(self, text: bytes, file_start: bool) -> tuple[IntArray, IntArray] | None: ...
    def new_values(self, column: int) -> list[bytes]: ...
    def splice(
        self, text: bytes, labels: Sequence[IntArray], names: Sequence[Sequence[bytes]]
    ) -> bytes: ...

def write_sentences(
    text: bytes,
    starts: IntArray,
    ends: IntArray,
    sentence_ends: IntArray,
    plain: BoolArray,
    ranges: IntArray,
    word_ptr: IntArray,
    words: Sequence[bytes],
    number: int,
) -> list[str | None]: ...

class Characters:
    def __init__(self, columns: Sequence[int]) -> None: ...
    @property
    def nbytes(self) -> int: ...
    def unknown(self, codes: NDArray[np.uint32]) -> NDArray[np.uint32]: ...
    def learn(self, codes: NDArray[np.uint32], kinds: NDArray[np.uint8]) -> None: ...
    def split(
        self, codes: NDArray[np.uint32]
    ) -> tuple[IntArray, IntArray, NDArray[np.uint8], IntArray]: ...
    def define(
        self,
        symbols: Sequence[bytes],
        kinds: Sequence[bytes],
        classes: Sequence[bytes],
        alphanumeric: NDArray[np.uint8],
    ) -> None: ...
    def number(self) -> NDArray[np.int32]: ...
    def new_values(self, column: int) -> list[bytes]: ...

class TokenScanner:
    def __init__(self) -> None: ...
    def scan(self, text: bytes, file_start: bool) -> tuple[IntArray, IntArray]: ...
    def new_values(self) -> list[bytes]: ...

class BigramCounter:
    def __init__(self) -> None: ...
    def add(self, words: IntArray, sentence_ptr: IntArray) -> None: ...
    @property
    def total(self) -> int: ...
    def counts(self, words: int) -> IntArray: ...
    def table(self, numbers: IntArray) -> tuple[IntArray, IntArray, IntArray]: ...

class Exchange:
    def __init__(
        self, bigrams: tuple[IntArray, IntArray, IntArray], classes: IntArray, open: int
    ) -> None: ...
    @property
    def classes(self) -> IntArray: ...
    def objective(self) -> int: ...
    def visit(self, first: int, last: int) -> int: ...

def entropies(n: IntArray) -> IntArray: ...
