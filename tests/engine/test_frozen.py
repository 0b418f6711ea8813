"""The frozen decoder against the weights it is made from, and what it refuses."""

from __future__ import annotations

from itertools import cycle, pairwise
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqtag.engine.arrays import (
    FORBIDDEN,
    NO_TAG_DICTIONARY,
    LabelsByTags,
    QuantizedWeights,
    Rows,
    TagDictionary,
    pointers,
)
from seqtag.engine.keys import key_plan, keys
from tests import brute_force
from tests.strategies import (
    NATIVE,
    NO_ROWS,
    REFERENCE,
    changed,
    each_backend,
    integer_arrays,
    label_ids,
    make_parts,
    needs_native,
    sparse_rows,
)
from tests.strategies import parts_of_labels as some_parts


def names(count: int, seed: int = 0) -> np.ndarray:
    """Distinct feature keys in no order."""
    return np.random.RandomState(seed).permutation(np.arange(1, count + 1)).astype(
        np.uint64
    ) * np.uint64(97)


# ----------------------------------------------------------------- the decoder
def lists_of_labels(K: int, names: list[int]) -> st.SearchStrategy[dict[int, list[int]]]:
    """Some labels for some of the names."""
    labels = st.lists(st.integers(0, K - 1), max_size=K, unique=True).map(sorted)
    return st.dictionaries(st.sampled_from(names), labels)


def as_arrays(table: dict[int, list[int]]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The keys, pointers and labels of a table."""
    names = sorted(table)
    flat = np.array([label for name in names for label in table[name]], np.uint16)
    return np.array(names, np.uint64), pointers(len(table[name]) for name in names), flat


@each_backend
@given(data=st.data())
def test_decoding_sums_the_rows_found_and_takes_the_best(backend, data):
    """Small sentences against enumeration; scores are whole numbers, so ties are real."""
    K, order = data.draw(st.integers(1, 3)), data.draw(st.integers(0, 2))
    edges = bool(order) and data.draw(st.booleans())
    parts = data.draw(st.none() | some_parts(K))
    labels_of_word = data.draw(st.just({}) | lists_of_labels(K, [11, 12, 13]))  # 13: not in use
    known = TagDictionary(0, *as_arrays(labels_of_word)) if labels_of_word else NO_TAG_DICTIONARY
    plan, edge_plan = key_plan([((0, 0),), ((0, -1),)], [0]), key_plan([((0, 0),)] * edges, [0], 2)
    ptr = pointers(data.draw(st.lists(st.integers(0, 4), max_size=3)))
    N = int(ptr[-1])
    types = data.draw(integer_arrays(1, N, elements=st.integers(0, 2))).astype(np.int32)
    hashes = np.array([[11, 12, 0]], np.uint64)  # the third type has no attribute

    def rows(plan, width):
        known = np.unique(keys(plan, types, hashes, ptr))
        known = known[known != 0][::2]  # every other feature was pruned
        matrix = data.draw(integer_arrays(len(known), width))
        return sparse_rows(known, matrix), dict(zip(known.tolist(), matrix, strict=True))

    width = K if parts is None else parts.number
    (emission_rows, emission_of), (edge_rows, edge_of) = rows(plan, width), rows(edge_plan, K * K)
    label_weights = [
        data.draw(integer_arrays(*shape)).astype(np.float32) for shape in ((K,), (K,), (K, K))
    ]
    trigram, trigram_rows = None, NO_ROWS
    if order == 2:
        trigram = data.draw(integer_arrays(K + 1, K, K))
        names = np.arange(1, (K + 1) * K + 1, dtype=np.uint64)
        trigram_rows = sparse_rows(names, trigram.reshape(-1, K))
    weights = QuantizedWeights(emission_rows, edge_rows, trigram_rows, *label_weights)
    tags_plan = key_plan([((0, 0), (0, 1)), ((0, 0),)][: data.draw(st.integers(1, 2))], [0])
    of_tags = keys(tags_plan, types, hashes, ptr)
    names = [*{*of_tags.ravel().tolist()} - {0}, 97]
    labels_of_tags = data.draw(st.just({}) | lists_of_labels(K, names))
    by_tags = LabelsByTags(tags_plan, *as_arrays(labels_of_tags)) if labels_of_tags else None
    decoder = backend.Decoder(order, plan, edge_plan, weights, parts, known, by_tags)

    start, stop, transition = label_weights if order else map(np.zeros_like, label_weights)
    found, edge_found = (keys(p, types, hashes, ptr).tolist() for p in (plan, edge_plan))

    def emission_at(n):
        """Return the scores of the labels of one token, from a plain loop."""
        total = sum((emission_of.get(key, np.zeros(width)) for key in found[n]), np.zeros(width))
        if parts is not None:
            total = [sum(total[part] for part in parts.of(label)) for label in range(K)]
        word = labels_of_word.get(int(hashes[0, types[0, n]])) or []
        rows = [labels_of_tags.get(key) for key in of_tags[n, ::-1].tolist()]
        tags = next(filter(None, rows), [])
        allowed = [label for label in word if label in tags] or tags or word or range(K)
        return [total[label] if label in allowed else FORBIDDEN for label in range(K)]

    expected = []
    for begin, end in pairwise(ptr):
        emission = [emission_at(n) for n in range(begin, end)]
        matrices = np.array(
            [
                transition
                + sum(edge_of.get(key, np.zeros(K * K)).reshape(K, K) for key in edge_found[n])
                for n in range(begin, end)
            ]
        ).reshape(-1, K, K)

        def score(y, emission=emission, matrices=matrices):
            return brute_force.path_score(emission, start, stop, matrices, y, trigram)

        expected += brute_force.best(end - begin, K, score)
    labels = label_ids(decoder, types, hashes, ptr)
    assert labels.dtype == np.int32
    assert labels.tolist() == expected


def hash_with_key(plan, key: int) -> int:
    """The attribute value whose key under the first template, of one term, is `key`."""

    def inverse(odd: int) -> int:
        return pow(odd, -1, 1 << 64)

    mixed = key * inverse(0xFF51AFD7ED558CCD) % (1 << 64)
    total = mixed ^ (mixed >> 32)
    return (total - int(plan.seed[0])) * inverse(int(plan.multiplier[0])) % (1 << 64)


@each_backend
@pytest.mark.parametrize("offset", [0, 1])  # at offset 1 of a bigram keys are looked up, not summed
def test_keys_that_agree_in_one_half_are_told_apart(backend, offset):
    terms = ((0, 0),) if offset == 0 else ((0, 0), (0, 1))
    plan = key_plan([terms], [0])
    wanted = [5 + (n << 40) for n in range(1, 5)]  # one low half, and one slot of any small table
    shift = 0 if offset == 0 else 0xC2B2AE3D27D4EB4F * int(plan.multiplier[1])  # beyond the end
    seeded = plan._replace(seed=plan.seed + np.uint64(shift % (1 << 64)))
    hashes = np.array([[hash_with_key(seeded, key) for key in wanted]], np.uint64)
    types, ptr = np.arange(4, dtype=np.int32)[None], np.arange(5)
    assert keys(plan, types, hashes, ptr).ravel().tolist() == wanted

    known = wanted[:1] + wanted[2:]  # the second is no feature, though it looks like one
    rows = Rows(
        np.array(known, np.uint64),
        np.arange(4),
        np.array([1, 2, 3], np.uint16),
        np.full(3, 9, np.int8),
    )
    label_weights = np.zeros(4, np.float32), np.zeros(4, np.float32), np.zeros((4, 4), np.float32)
    weights = QuantizedWeights(rows, NO_ROWS, NO_ROWS, *label_weights)
    decoder = backend.Decoder(0, plan, key_plan([], [0]), weights)
    assert label_ids(decoder, types, hashes, ptr).tolist() == [1, 0, 2, 3]


class Chain(NamedTuple):
    """The weights of label bigrams."""

    start: np.ndarray
    stop: np.ndarray
    transition: np.ndarray


def legal_parts(attribute=0) -> dict:
    """The parts of a model of two labels and two rows."""
    keys, ptr, labels = (
        np.array([3, 7], np.uint64),
        np.array([0, 1, 2]),
        np.array([0, 1], np.uint16),
    )
    rows = Rows(keys, ptr, labels, np.array([5, -5], np.int8))
    return {
        "emission": rows,
        "edge": rows._replace(labels=np.array([0, 3], np.uint16)),
        "trigram": rows._replace(keys=np.array([1, 6], np.uint64)),
        "chain": Chain(*(np.zeros(shape, np.float32) for shape in (2, 2, (2, 2)))),
        "parts": make_parts([[0], [1]]),
        "known": TagDictionary(attribute, keys, ptr, labels),
        "by_tags": LabelsByTags(key_plan([((0, 0),)], [0]), keys, ptr, labels),
    }


def legal_model(order=2, **parts):
    """Arguments of Decoder for this model, some of whose parts are others."""
    emission, edge, trigram, chain, *others = (legal_parts() | parts).values()
    weights = QuantizedWeights(emission, edge, trigram, *chain)
    return order, key_plan([((0, 0),)], [0]), key_plan([], [0], 1), weights, *others


ROW_FIELDS = ("keys", "row_ptr", "labels")
ARRAYS = [
    *((place, each) for place in ("emission", "edge", "trigram") for each in Rows._fields),
    *(("chain", each) for each in Chain._fields),
    *(("parts", each) for each in ("ptr", "part")),
    *((place, each) for place in ("known", "by_tags") for each in ROW_FIELDS),
]


def refusal(backend, arguments) -> str:
    """What a backend says of a model; nothing if it takes it."""
    try:
        backend.Decoder(*arguments)
    except ValueError as error:
        return str(error)
    return ""


@needs_native
@pytest.mark.parametrize(("place", "field"), ARRAYS)
def test_arrays_that_do_not_fit_together_are_refused_in_the_same_words(place, field):
    part, said = legal_parts()[place], []
    for array in changed(getattr(part, field)):
        arguments = legal_model(**{place: part._replace(**{field: array})})
        said.append(refusal(REFERENCE, arguments))
        assert refusal(NATIVE, arguments) == said[-1]
    assert any(said)


MANY, MOST = (
    QuantizedWeights(NO_ROWS, NO_ROWS, NO_ROWS, *(np.zeros(shape, np.float32) for shape in shapes))
    for shapes in ((256, 256, (256, 256)), (65_536, 65_536, (0, 0)))
)


@each_backend
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (legal_model(order=-1), "order must be 0, 1 or 2"),
        (legal_model(order=3), "order must be 0, 1 or 2"),
        (legal_model(known=legal_parts(attribute=1)["known"]), "unknown attribute"),
        (legal_model(known=legal_parts(attribute=-2)["known"]), "unknown attribute"),
        ((*legal_model()[:3], MANY), "second order is for 255 labels at most"),
        ((0, *legal_model()[1:3], MOST), "labels must be 1 to 65535"),
        (
            (1, *legal_model()[1:3], MANY._replace(edge=legal_model()[3].edge)),
            "label bigrams that see words are for 255 labels at most",
        ),
        (
            (*legal_model()[:6], LabelsByTags(key_plan([()] * 3, [0]), *legal_model()[5][1:])),
            "labels by tags need one or two templates",
        ),
    ],
)
def test_models_of_other_sizes_are_refused(backend, arguments, message):
    for order in range(3):
        assert not refusal(backend, legal_model(order))
    assert refusal(backend, arguments) == message


# ----------------------------------------------------------------- known words


def wide_rows(names, K: int, random) -> Rows:
    """Rows of random weights for all labels, by these keys."""
    names = np.unique(names[names != 0])
    label = np.tile(np.arange(K, dtype=np.uint16), len(names))
    weight = random.integers(-3, 4, len(label)).astype(np.int8)
    return Rows(names, np.arange(len(names) + 1, dtype=np.int64) * K, label, weight)


@needs_native
@pytest.mark.parametrize(
    ("K", "types", "order"),
    [
        (2, 3, 0),
        (2, 3, 1),
        (7, 3, 0),
        (7, 3, 1),
        (40, 60, 0),
        (40, 60, 1),
        (300, 40, 0),
        (9000, 40, 0),
    ],
)
def test_templates_of_several_columns_are_summed_by_tuples_of_types(K, types, order):
    """More tuples than there is room for with many labels, over calls with one workspace."""
    random = np.random.default_rng(K + order)
    templates = [
        ((0, 0), (1, 0)),
        ((0, 0),),
        ((2, 0), (1, 0)),
        ((0, -1), (1, -1)),
        ((2, 1),),
        ((0, 0), (1, 1)),
    ]
    plan, no_edges = key_plan(templates, [0, 1, 2]), key_plan([], [0, 1, 2], 6)
    hashes = random.integers(1, 2**62, (3, types)).astype(np.uint64)
    hashes[1, 0] = 0
    ptr = pointers(random.integers(0, 9, 120))
    batches = [random.integers(0, types, (3, int(ptr[-1]))).astype(np.int32) for _ in range(3)]
    found = np.concatenate([keys(plan, batch, hashes, ptr) for batch in batches])
    shapes = ((K,), (K,), (K, K) if order else (0, 0))
    label_weights = [random.integers(-3, 4, shape).astype(np.float32) for shape in shapes]
    rows = wide_rows(found.ravel()[:: 1 if K < 100 else 20], K, random)
    weights = QuantizedWeights(rows, NO_ROWS, NO_ROWS, *label_weights)
    native, reference = (b.Decoder(order, plan, no_edges, weights) for b in (NATIVE, REFERENCE))
    workspace = native.workspace()
    for batch in batches:
        expected = reference.decode(batch, hashes, ptr)
        assert np.array_equal(native.decode(batch, hashes, ptr, workspace), expected)


@needs_native
@pytest.mark.parametrize("neighbours", [1, 12, 60])
def test_a_lead_that_neighbours_cannot_take_away_decides(neighbours):
    """Many labels of single tokens: the lead is enough for most of them, some, or hardly any."""
    K, types = 300, 12
    random = np.random.default_rng(neighbours)
    templates = [((0, 0),), ((0, 0), (1, 0)), ((1, 0),)]
    templates += [((a, offset),) for offset in (-1, 1) for a in (0, 1, 2)]
    templates += [((0, -1), (1, 0)), ((2, 1), (0, 1))]
    plan, no_edges = key_plan(templates, [0, 0, 1]), key_plan([], [0, 0, 1], len(templates))
    hashes = random.integers(1, 2**62, (3, types)).astype(np.uint64)
    ptr = pointers([0, 700, *random.integers(0, 9, 60)])
    batch = random.integers(0, types, (2, int(ptr[-1]))).astype(np.int32)
    found = keys(plan, batch, hashes, ptr)
    label_weights = [np.zeros(shape, np.float32) for shape in ((K,), (K,), (0, 0))]
    rows = wide_rows(found, K, random)
    own = np.isin(rows.keys, found[:, :3])
    most = np.repeat(np.where(own, 60, neighbours), K)
    rows = rows._replace(weights=random.integers(-most, most + 1).astype(np.int8))
    weights = QuantizedWeights(rows, NO_ROWS, NO_ROWS, *label_weights)
    native, reference = (b.Decoder(0, plan, no_edges, weights) for b in (NATIVE, REFERENCE))
    assert label_ids(native, batch, hashes, ptr).tolist() == (
        reference.decode(batch, hashes, ptr).tolist()
    )


@needs_native
@pytest.mark.parametrize("K", [9, 40, 230, 300])
def test_words_around_a_token_share_the_sums_of_rows_that_they_have_in_common(K):
    """Few of the words have rows of their own; tags allow one label, some, all but one, or all."""
    types, tags = 50, 6
    random = np.random.default_rng(K)
    own = [((0, 0),), ((1, 0),), ((2, 0), (1, 0))]
    around = [((a, offset),) for offset in (-2, -1, 1) for a in (0, 2, 3)]
    between = [((1, -1), (1, 0)), ((2, -1), (2, 1)), ((3, 2),)]
    columns = [0, 1, 0, 0]
    plan = key_plan([*own, *around, *between], columns)
    no_edges = key_plan([], columns, 20)
    tags_plan = key_plan([((1, 0),), ((0, 0), (1, 0))], columns)
    hashes = random.integers(1, 2**62, (4, types)).astype(np.uint64)
    hashes[2:] = hashes[2:, random.integers(0, 3, types)]
    hashes[3, ::7] = 0
    ptr = pointers([0, 300, *random.integers(0, 9, 60)])
    batches = [random.integers(0, types, (2, int(ptr[-1]))).astype(np.int32) for _ in range(3)]
    for batch in batches:
        batch[1] %= tags
    found = np.concatenate([keys(plan, batch, hashes, ptr) for batch in batches])
    of_words = np.unique(found[:, 3:12:3])[::4]
    others = np.delete(found, np.s_[3:12:3], axis=1)
    rows = wide_rows(np.concatenate([of_words, others.ravel()]), K, random)
    label_weights = [np.zeros(shape, np.float32) for shape in ((K,), (K,), (0, 0))]
    weights = QuantizedWeights(rows, NO_ROWS, NO_ROWS, *label_weights)
    every, with_words = keys(tags_plan, batches[0], hashes, ptr).T
    sizes = [*zip(np.unique(every), (1, 3, 5, K - 1, K), strict=False)]
    sizes += [*zip(np.unique(with_words)[::3], cycle((1, 2, K)), strict=False)]
    sets = {int(key): sorted(random.choice(K, size, replace=False).tolist()) for key, size in sizes}
    by_tags = LabelsByTags(tags_plan, *as_arrays(sets))
    native, reference = (
        b.Decoder(0, plan, no_edges, weights, by_tags=by_tags) for b in (NATIVE, REFERENCE)
    )
    workspace = native.workspace()
    for batch in batches:
        expected = reference.decode(batch, hashes, ptr)
        assert np.array_equal(native.decode(batch, hashes, ptr, workspace), expected)
