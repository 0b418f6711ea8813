"""The native kernel against the reference, bit for bit; and what the kernel refuses."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqtag.engine import arrays
from seqtag.engine.arrays import (
    FORBIDDEN,
    NO_TAG_DICTIONARY,
    RULES,
    Instances,
    KeyPlan,
    LabelComponents,
    LabelsByTags,
    Layout,
    QuantizedWeights,
    Rows,
    TagDictionary,
    pointers,
)
from seqtag.engine.keys import key_plan, keys
from tests import strategies
from tests.strategies import NATIVE, REFERENCE, cases, int32, label_ids, needs_native, random_case

if NATIVE:
    from seqtag.engine import native

pytestmark = needs_native
dtypes = pytest.mark.parametrize("dtype", ["float32", "float64"])


def same_bits(found, expected) -> None:
    """Arrays, or tuples of arrays, of the same dtype, shape and bytes."""
    for a, b in zip(found, expected, strict=True):
        assert (a.dtype, a.shape) == (b.dtype, b.shape)
        assert a.tobytes() == b.tobytes()


def assert_same_training(
    case, dtype, rule, epochs, step=0.3, cost=None, ties_are_mistakes=False, choices=None
):
    """Train on both sides, epoch by epoch, and compare everything that comes out."""
    sides = [backend.Weights(case.layout, dtype, rule) for backend in (NATIVE, REFERENCE)]
    for order in epochs:
        order = np.asarray(order, np.int64)
        arguments = case.x, case.y, order, rule, step, cost, ties_are_mistakes
        mistakes = [], []
        counts = [
            w.train_epoch(*arguments, m, choices) for w, m in zip(sides, mistakes, strict=True)
        ]
        assert counts[0] == counts[1]
        same_bits(*(epoch for [epoch] in mistakes))
        assert sides[0].seen == sides[1].seen
        same_bits(*([weights.decode(case.x)] for weights in sides))
    for average in (False, True):
        same_bits(*(weights.cells(average) for weights in sides))


def some_parts(random, K, P):
    """One to four of P parts for each label."""
    labels = [random.choice(P, random.randint(1, min(P, 4) + 1), replace=False) for _ in range(K)]
    return strategies.make_parts(labels)._replace(number=P)


def some_cost(random, K):
    """A cost for every confusion, none for being right."""
    return random.randint(0, 9, (K, K)) / 8 * (1 - np.eye(K))


def left_open(random, case):
    """The case with some of its labels left open, and three choices of labels."""
    K, y = case.layout.labels, case.y
    choices = random.rand(3, K) < 0.4
    choices[:, random.randint(K)] = True
    opened = np.where(random.rand(len(y)) < 0.4, random.randint(-3, 0, len(y)), y)
    return case._replace(y=opened.astype(np.int32)), choices


# ----------------------------------------------------------------- training
@dtypes
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.usefixtures("storage")
@pytest.mark.parametrize("ties_are_mistakes", [False, True])
def test_small_corpora_train_alike(dtype, rule, ties_are_mistakes):
    @strategies.FEW
    @given(cases(), st.data())
    def check(case, data):
        order = st.lists(st.sampled_from(case.all_sentences.tolist()), max_size=6)
        K, choices = case.layout.labels, None
        matrix = strategies.integer_arrays(K, K).map(lambda cost: cost / 4)
        cost = data.draw(st.none() | st.just(0.75) | matrix)
        if data.draw(st.booleans()):
            choices = data.draw(strategies.choices_of(K))
            case = case._replace(y=strategies.opened(data, case.y, choices))
        epochs = data.draw(st.lists(order, max_size=2))
        assert_same_training(case, dtype, rule, epochs, 0.3, cost, ties_are_mistakes, choices)

    check()


@dtypes
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize(
    ("K", "order", "B", "values", "P"),
    [
        (30, 1, 0, False, 0),
        (17, 0, 0, True, 0),
        (5, 1, 3, False, 0),
        (9, 1, 2, True, 0),
        (11, 2, 0, False, 0),
        (6, 2, 2, True, 0),
        (21, 1, 0, False, 9),
        (13, 0, 0, True, 40),
        (8, 2, 2, False, 6),
    ],
)
@pytest.mark.usefixtures("storage")
def test_larger_corpora_train_alike(dtype, rule, K, order, B, values, P):
    random = np.random.RandomState(K)
    parts = some_parts(random, K, P) if P else None
    case = random_case(random, K, order, B, values, parts=parts)
    epochs = [random.permutation(case.all_sentences) for _ in range(2)]
    cost = some_cost(random, K)
    assert_same_training(case, dtype, rule, epochs, 0.05, cost)
    case, choices = left_open(random, case)
    assert_same_training(case, dtype, rule, epochs, 0.05, cost, choices=choices)


@dtypes
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("distinct", [True, False])
@pytest.mark.parametrize("cost", [None, 0.5])
def test_examples_of_one_token_train_alike(dtype, rule, distinct, cost):
    """Rows of one vector are scored four tokens at a time, and changed a row at a time."""
    random = np.random.RandomState(8)
    for K in (2, 3, 4, 8):
        rows = [random.choice(20, random.randint(0, 9), replace=False) for _ in range(41)]
        rows = [np.sort(row) if distinct else row for row in rows]
        x = Instances(
            np.arange(42), pointers(map(len, rows)), np.concatenate(rows).astype(np.int32)
        )
        x = x._replace(values=random.randint(-8, 9, len(x.features)) / 4)
        y = random.randint(0, K, 41).astype(np.int32)
        case = strategies.Case(Layout(20, K, 0), x, y)
        epochs = [random.permutation(41) for _ in range(3)]
        for ties_are_mistakes in (False, True):
            assert_same_training(case, dtype, rule, epochs, 0.3, cost, ties_are_mistakes)
        case, choices = left_open(random, case)
        assert_same_training(case, dtype, rule, epochs, 0.3, cost, choices=choices)


@dtypes
@pytest.mark.parametrize("rule", RULES)
def test_values_that_are_no_binary_fractions_train_alike_to_rounding(dtype, rule):
    random = np.random.RandomState(3)
    case = random_case(random, K=4, sentences=6, longest=12)
    case = case._replace(x=case.x._replace(values=random.normal(size=len(case.x.features))))
    sides = [backend.Weights(case.layout, dtype, rule) for backend in (NATIVE, REFERENCE)]
    counts = [w.train_epoch(case.x, case.y, case.all_sentences, rule, 0.1) for w in sides]
    assert counts[0] == counts[1]
    found, expected = (strategies.dense(w.cells(average=True), case.layout) for w in sides)
    assert found == pytest.approx(expected, rel=1e-4, abs=1e-5)


def test_many_labels_choose_sparse_rows_by_themselves():
    random = np.random.RandomState(0)
    case = random_case(random, arrays.MAX_DENSE_LABELS + 3, sentences=4, longest=6)
    assert_same_training(case, "float32", "perceptron", [case.all_sentences] * 2)


@pytest.mark.parametrize("rule", RULES)
def test_second_order_decodes_alike_where_much_is_pruned(rule):
    """Up to 20 labels and 30 tokens, from weak label weights to strong ones."""
    for K in (2, 7, 16, 20):
        random = np.random.RandomState(K)
        case = random_case(random, K, 2, sentences=8, longest=30)
        epochs = [random.permutation(case.all_sentences) for _ in range(3)]
        assert_same_training(case, "float32", rule, epochs, 0.07)


def test_labels_of_the_same_parts_tie_to_the_lowest_id():
    """A|B and B|A are one to the emissions; only neighbours tell them apart."""
    parts = strategies.make_parts([[0, 1], [1, 0], [2]])
    random = np.random.RandomState(2)
    for order in range(3):
        case = random_case(random, 3, order, parts=parts)
        epochs = [case.all_sentences] * 2
        for rule in RULES:
            assert_same_training(case, "float64", rule, epochs, cost=some_cost(random, 3))
    weights = NATIVE.Weights(Layout(60, 3, 0, parts=parts), "float64", "perceptron")
    weights.train_epoch(case.x, case.y, case.all_sentences)
    assert 1 not in weights.decode(case.x)


def test_a_corpus_without_sentences_or_features():
    empty = np.zeros(1, np.int64)
    for x in (
        Instances(empty, empty, np.zeros(0, np.int32)),
        Instances(np.array([0, 0, 2]), np.zeros(3, np.int64), np.zeros(0, np.int32)),
    ):
        case = strategies.Case(Layout(0, 3), x, np.full(len(x.token_ptr) - 1, 2, np.int32))
        assert_same_training(case, "float32", "perceptron", [case.all_sentences])


# ----------------------------------------------------------------- the frozen decoder
class Model(NamedTuple):
    """Arguments of both Decoder classes."""

    order: int
    plan: KeyPlan
    edge_plan: KeyPlan
    weights: QuantizedWeights
    parts: LabelComponents | None = None
    known: TagDictionary = NO_TAG_DICTIONARY
    by_tags: LabelsByTags | None = None


def random_rows(random, names, width, most, weight=127) -> Rows:
    """Rows of 1 to `most` cells with weights up to the given one."""
    counts = random.randint(1, min(width, most) + 1, len(names))
    if most < width / 9:  # faster
        labels = [np.unique(random.randint(0, width, count)) for count in counts]
    else:
        labels = [np.sort(random.choice(width, count, replace=False)) for count in counts]
    flat = np.concatenate([np.zeros(0, int), *labels]).astype(np.uint16)
    weights = random.randint(-weight, weight + 1, len(flat)).astype(np.int8)
    return Rows(names, pointers(map(len, labels)), flat, weights)


def frozen_instance(
    random,
    K,
    B=0,
    scale=1.0,
    forbid=0.0,
    order=1,
    sentences=6,
    longest=40,
    P=0,
    words=0,
    trigrams=60,
    far=0,
    tags=0.0,
    tag_attributes=(1, 2),
):
    """A model, and arguments of its decode.

    Templates of one place and column (their rows can be summed per type), of several, and of none.
    P: parts that labels have; words: of the 16 types, how many have restricted labels; trigrams:
    their largest weight; far: an offset of more templates; tags: the share of the combinations of
    tags that have restricted labels; tag_attributes: the attributes that are tags.
    """
    templates = [
        ((0, 0),),
        ((0, 0), (1, 0)),
        ((0, -1),),
        ((0, -1), (0, 0)),
        ((2, 1),),
        ((0, 0), (2, 0)),
        (),
    ]
    if far:
        templates += [((0, far),), ((1, -far), (2, 0)), ((1, -1), (2, far))]
    columns = [0, 0, 1]  # of the three attributes
    bits = random.choice([4, 9, 48, 64])  # of keys: with few, many features have one key
    plan = key_plan(templates, columns, bits=bits)
    edge_plan = key_plan([((0, 0),)] * bool(B), columns, 9, bits)
    ptr = np.concatenate([[0], random.randint(0, longest + 1, sentences).cumsum()])
    types = random.randint(0, 12, (2, ptr[-1])).astype(np.int32)
    hashes = random.randint(0, 1 << 62, (3, 16)).astype(np.uint64)
    hashes[1, ::3] = 0  # absent

    def rows(plan, width, most):
        known = np.unique(keys(plan, types, hashes, ptr))
        known = known[known != 0]
        known = known[random.rand(len(known)) < 0.7] if len(plan.seed) else known[:0]
        return random_rows(random, known, width, most)

    def drawn(*shape):
        weights = (random.normal(size=shape) * scale).astype(np.float32)
        return np.where(random.rand(*shape) < forbid, np.float32(FORBIDDEN), weights)

    some = np.flatnonzero(random.rand((K + 1) * K) < 0.8) + 1 if order == 2 else np.zeros(0)
    weights = QuantizedWeights(
        rows(plan, P or K, P or K),
        rows(edge_plan, K * K, 2 * K),
        random_rows(random, some.astype(np.uint64), K, K, trigrams),
        drawn(K),
        drawn(K),
        drawn(K, K),
    )
    known = NO_TAG_DICTIONARY
    if words:
        *of_words, _ = random_rows(random, np.sort(hashes[0, :words]), K, K)
        known = TagDictionary(0, *of_words)
    by_tags = None
    if tags:
        tags_plan = key_plan([tuple((attribute, 0) for attribute in tag_attributes)], columns)
        found = np.unique(keys(tags_plan, types, hashes, ptr))
        found = found[(found != 0) & (random.rand(len(found)) < tags)]
        *of_tags, _ = random_rows(random, found, K, max(1, K // 2))
        by_tags = LabelsByTags(tags_plan, *of_tags)
    parts = some_parts(random, K, P) if P else None
    return Model(order, plan, edge_plan, weights, parts, known, by_tags), (types, hashes, ptr)


def same_labels(model, sentences) -> None:
    """Both sides decode alike."""
    same_bits(*([label_ids(side.Decoder(*model), *sentences)] for side in (NATIVE, REFERENCE)))


@pytest.mark.parametrize("scale", [0, 1, 30, 1000])
@pytest.mark.parametrize("forbid", [0, 0.5])
@pytest.mark.parametrize("B", [0, 1])
@pytest.mark.parametrize("order", [1, 2])
def test_pruned_decoding_is_exact_decoding(scale, forbid, B, order):
    """Transitions from nothing to far above the emissions: pruning works from hard to hardly."""
    random = np.random.RandomState(scale)
    for K in (1, 2, 5, 16, 30) if order == 1 else (1, 2, 5, 9, 20):
        longest = 40 if order == 1 else 30
        for trigrams in (60,) if order == 1 else (1, 100):
            same_labels(
                *frozen_instance(
                    random, K, B, scale, forbid, order, longest=longest, trigrams=trigrams
                )
            )


@pytest.mark.parametrize("tags", [0.5, 1.0])
@pytest.mark.parametrize("order", [0, 1, 2])
def test_tokens_restricted_by_their_tags_decode_alike(order, tags):
    random = np.random.RandomState(order)
    for K in (1, 3, 7, 40) if order else (1, 3, 4, 7, 40, 300):
        for P, words in ((0, 0), (5, 0), (0, 5), (5, 5)):
            same_labels(*frozen_instance(random, K, order=order, P=P, words=words, tags=tags))


@pytest.mark.parametrize("attributes", [(0,), (1, 2), (2,)])
def test_tokens_by_themselves_among_the_labels_of_their_tags_decode_alike(attributes):
    """Templates see the token itself, tags around it, words around it, and several of these."""
    random = np.random.RandomState(len(attributes))
    for K in (2, 20, 257):
        for far in (0, 1, 5):
            model, (types, hashes, ptr) = frozen_instance(
                random, K, order=0, far=far, tags=0.8, tag_attributes=attributes
            )
            terms = [((0, 1),), ((1, 1),), ((2, -1), (2, 0)), ((2, -1),), ((0, -1), (0, 1))]
            plan = key_plan(terms, model.plan.attribute_column.tolist())
            found = np.unique(keys(plan, types, hashes, ptr))
            rows = random_rows(random, found[found != 0], K, K)
            more = model._replace(plan=plan, weights=model.weights._replace(emission=rows))
            for each in (model, more):
                same_labels(each, (types, hashes, ptr))


def test_tokens_by_themselves_decode_alike_when_the_memory_of_sums_is_full():
    """Rows of 2,000 labels: 32 MB hold 8,388. They start afresh, within a call and between calls."""
    random, K, N = np.random.RandomState(0), 2000, 12_000
    plan = key_plan([((0, 0),), ((0, 1),), ((1, 1),), ((1, 0), (2, 0)), ((2, 0),)], [0, 0, 1])
    types, ptr = np.stack([np.arange(N), np.arange(N) % 3]).astype(np.int32), np.array([0, 5000, N])
    hashes = random.randint(1, 1 << 62, (3, N)).astype(np.uint64)
    names = np.unique(keys(plan, types, hashes, ptr))
    tags_plan = key_plan([((2, 0),)], [0, 0, 1])
    tags = np.unique(keys(tags_plan, types, hashes, ptr))[:2]
    label_rows = TagDictionary(-1, *random_rows(random, tags, K, K)[:3])
    chain = np.zeros(K, np.float32), np.zeros(K, np.float32), np.zeros((0, 0), np.float32)
    nothing = random_rows(random, names[:0], K, K)
    weights = QuantizedWeights(random_rows(random, names, K, 9), nothing, nothing, *chain)
    by_tags = LabelsByTags(tags_plan, *label_rows[1:])
    decoder = native.Decoder(0, plan, key_plan([], [0]), weights, by_tags=by_tags)
    workspace = decoder.workspace()
    first = decoder.decode(types, hashes, ptr, workspace)
    expected = decoder.margins(types, hashes, ptr, np.arange(K, dtype=np.int32), workspace)
    same_bits([first], [expected.labels])
    same_bits([decoder.decode(types, hashes, ptr, workspace)], [first])


@pytest.mark.parametrize("order", [1, 2])
def test_whole_number_scores_with_many_ties_decode_alike(order):
    random = np.random.RandomState(7)
    for K in (2, 3, 7):
        for P in (0, 4):
            model, sentences = frozen_instance(
                random, K, order=order, sentences=30, longest=8, P=P, words=5, trigrams=1
            )
            w = model.weights
            small = w.emission._replace(weights=np.sign(w.emission.weights))
            chain = {name: np.rint(getattr(w, name)) for name in ("start", "stop", "transition")}
            same_labels(model._replace(weights=w._replace(emission=small, **chain)), sentences)


@pytest.mark.parametrize("order", [0, 1, 2])
@pytest.mark.parametrize("B", [0, 1])
def test_parts_and_known_words_decode_alike(order, B):
    for K, P, words in ((3, 2, 0), (9, 14, 0), (9, 0, 9), (5, 3, 16), (100, 30, 6), (100, 0, 6)):
        if K < 100 or order < 2:  # 100: more labels of a word than fit on the stack
            random = np.random.RandomState(K + P)
            same_labels(
                *frozen_instance(
                    random, K, B and order, order=order, sentences=4, longest=12, P=P, words=words
                )
            )


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("forbid", [0.3, 0.8])
def test_sentences_that_known_words_make_impossible_decode_alike(order, forbid):
    """The label scheme forbids what the words ask for: whatever comes out, both say the same."""
    for K in (2, 5, 9):
        random = np.random.RandomState(K)
        same_labels(
            *frozen_instance(random, K, 0, 9.0, forbid, order, sentences=20, longest=12, words=12)
        )


def test_a_workspace_remembers_types_rightly_while_their_table_grows():
    random = np.random.RandomState(5)
    for P in (0, 9):
        model, (types, hashes, ptr) = frozen_instance(random, 6, sentences=40, longest=9, P=P)
        decoder = native.Decoder(*model)
        workspace = decoder.workspace()
        expected = label_ids(REFERENCE.Decoder(*model), types, hashes, ptr)
        for capacity in (12, 12, 13, 16):
            for begin, end in pairwise(ptr):
                sentence = np.ascontiguousarray(types[:, begin:end])
                table = np.ascontiguousarray(hashes[:, :capacity])
                found = decoder.decode(sentence, table, np.array([0, end - begin]), workspace)
                same_bits([found], [expected[begin:end]])


def test_more_types_than_a_workspace_remembers():
    """1,000 labels: 64 MB hold the sums of 16,777 types; those of others are taken anew."""
    K, N = 1000, 20_000
    plan = key_plan([((0, 0),)], [0])
    types, ptr = np.arange(N, dtype=np.int32)[None], np.array([0, N])
    hashes = np.arange(1, N + 1, dtype=np.uint64)[None]
    names = keys(plan, types, hashes, ptr).ravel()
    order = np.argsort(names)
    rows = Rows(names[order], np.arange(N + 1), (order % K).astype(np.uint16), np.ones(N, np.int8))
    nothing = Rows(names[:0], np.zeros(1, np.int64), rows.labels[:0], rows.weights[:0])
    chain = np.zeros(K, np.float32), np.zeros(K, np.float32), np.zeros((K, K), np.float32)
    weights = QuantizedWeights(rows, nothing, nothing, *chain)
    decoder = native.Decoder(0, plan, key_plan([], [0]), weights)
    assert (label_ids(decoder, types, hashes, ptr) == np.arange(N) % K).all()


@pytest.mark.parametrize("far", [2, 5, 9])
def test_long_sentences_and_far_offsets_decode_alike(far):
    """Sums are taken block by block, and with few labels for several offsets at a time."""
    for K, P, order in (
        (1, 0, 0),
        (3, 0, 0),
        (4, 0, 1),
        (5, 3, 1),
        (5, 0, 0),
        (300, 0, 0),
        (8, 0, 1),
        (20, 0, 1),
        (24, 0, 0),
        (25, 0, 1),
        (50, 60, 0),
    ):
        random = np.random.RandomState(K + far)
        same_labels(
            *frozen_instance(random, K, order=order, sentences=5, longest=700, P=P, far=far)
        )
    model, (types, hashes, _) = frozen_instance(random, 3, order=0, longest=700, far=far)
    for length in (0, 1, 255, 256, 257, 512):
        same_labels(model, (types[:, :length].copy(), hashes, np.array([0, 0, length])))


def test_few_labels_and_more_types_than_a_workspace_remembers():
    random, N = np.random.RandomState(3), 2_000_000
    plan = key_plan([((0, -1),), ((0, 0),), ((0, 2),)], [0])
    types, ptr = random.randint(0, N, (1, 500)).astype(np.int32), np.array([0, 200, 500])
    hashes = np.arange(1, N + 1, dtype=np.uint64)[None]
    names = np.unique(keys(plan, types, hashes, ptr))
    nothing = random_rows(random, names[:0], 3, 3)
    chain = np.zeros(3, np.float32), np.zeros(3, np.float32), np.zeros((0, 0), np.float32)
    weights = QuantizedWeights(random_rows(random, names, 3, 3), nothing, nothing, *chain)
    same_labels(Model(0, plan, key_plan([], [0]), weights), (types, hashes, ptr))


# ----------------------------------------------------------------- what the kernel alone refuses
def test_hashing_refuses_what_is_no_string():
    with pytest.raises(TypeError, match="expected strings"):
        native.hash_strings(["a", b"b"])


def test_too_little_memory_for_an_index_is_said_in_a_sentence():
    """The rows of a column of 2**28 types by 30,000 templates take 32 TB."""
    plan = key_plan([((0, 0),)] * 30_000, [0])
    hashes = np.zeros((1, 2**28), np.uint64)
    with pytest.raises(MemoryError) as error:
        native.index_features(plan, int32([2**28 - 1]), hashes, np.array([0, 1]), 1)
    assert str(error.value) == (
        "found too little memory; use fewer labels, features or sentences at a time"
    )


def test_a_sentence_that_would_take_too_much_memory_is_refused_before_it_does():
    model, _ = frozen_instance(np.random.RandomState(0), 1000, sentences=0)
    decoder, hashes = native.Decoder(*model), np.ones((3, 1), np.uint64)
    types = np.zeros((2, 60_000), np.int32)  # 10 kB for each
    message = (
        "expected a sentence that is decoded in half a gigabyte, found one that is too long for "
        "the "
        "labels of the model; mark where its sentences end, ask for fewer sequences, or use fewer "
        "labels"
    )
    with pytest.raises(MemoryError) as error:
        label_ids(decoder, types, hashes, np.array([0, 60_000]))
    assert str(error.value) == message
    assert len(label_ids(decoder, types[:, :10].copy(), hashes, np.array([0, 10]))) == 10


def test_tokens_by_themselves_are_decoded_in_little_memory():
    """The sums of all tokens at once would be refused."""
    model, _ = frozen_instance(np.random.RandomState(0), 1, order=0, sentences=0)
    row, none = np.zeros(65_535, np.float32), np.zeros((0, 0), np.float32)
    weights = model.weights._replace(start=row, stop=row, transition=none)
    decoder, hashes = native.Decoder(*model._replace(weights=weights)), np.ones((3, 1), np.uint64)
    found = label_ids(decoder, np.zeros((2, 5_000), np.int32), hashes, np.array([0, 5_000]))
    assert not found.any()
