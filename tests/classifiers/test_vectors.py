"""Reading vectors, and maps between them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from seqtag import BinaryPerceptron
from seqtag.classifiers.feature_maps import apply_map, bias, product, quadratic
from seqtag.classifiers.vectors import read
from seqtag.errors import SeqtagError

matrices = arrays(
    np.float64,
    array_shapes(min_dims=2, max_dims=2, max_side=5),
    elements=st.integers(-3, 3).map(float),
)


def as_dicts(X):
    return [{f"f{j}": v for j, v in enumerate(x) if v} for x in X.tolist()]


@given(matrices)
def test_the_ways_to_write_vectors_agree(X):
    sparse = pytest.importorskip("scipy.sparse", reason="scipy is not installed")
    dense, _ = read(X)
    w = np.arange(2 * X.shape[1]).reshape(2, -1).astype(float)
    for kind in (sparse.csr_matrix, sparse.csc_matrix, sparse.coo_matrix, sparse.csr_array):
        found, reader = read(kind(X))
        np.testing.assert_array_equal(found.dense(), X)
        np.testing.assert_array_equal(found.dot(w), dense.dot(w))
        np.testing.assert_array_equal(found.with_bias().dense(), dense.with_bias().dense())
        where = np.array([0, len(X) - 1, 0])
        np.testing.assert_array_equal(found.take(where).dense(), X[where])
        np.testing.assert_array_equal(reader(kind(X)).dense(), X)
    full = [{f"f{j}": v for j, v in enumerate(x)} for x in X.tolist()]
    np.testing.assert_array_equal(read(full)[0].dense(), X)


@given(matrices)
def test_training_is_the_same_on_all_of_them(X):
    sparse = pytest.importorskip("scipy.sparse", reason="scipy is not installed")
    y = np.arange(len(X)) % 2
    if len(X) < 2:
        return
    dicts = as_dicts(X)
    dicts[0] = {f"f{j}": X[0, j] for j in range(X.shape[1])}  # all names
    expected = BinaryPerceptron(max_iter=5).fit(X, y)
    for other in (sparse.csr_matrix(X), dicts, X.astype(int), X.tolist()):
        model = BinaryPerceptron(max_iter=5).fit(other, y)
        np.testing.assert_array_equal(model.coef_, expected.coef_)
        np.testing.assert_array_equal(model.intercept_, expected.intercept_)
        np.testing.assert_array_equal(model.predict(other), expected.predict(X))
        np.testing.assert_array_equal(model.trajectory(other), expected.trajectory(X))


def test_entries_of_a_sparse_matrix_given_twice_are_summed():
    sparse = pytest.importorskip("scipy.sparse", reason="scipy is not installed")
    X = sparse.coo_matrix(([1.0, 2, 5], ([0, 0, 1], [1, 1, 0])), shape=(2, 3))
    assert read(X)[0].dense().tolist() == [[0, 3, 0], [5, 0, 0]]


def test_dicts_know_numbers_truth_and_strings():
    vectors, reader = read([{"n": 2, "on": True, "word": "dog"}, {"on": False, "word": "cat"}])
    assert reader.names == {"n": 0, "on": 1, "word=cat": 2, "word=dog": 3}
    assert vectors.dense().tolist() == [[2, 1, 0, 1], [0, 0, 1, 0]]
    assert reader([{"word": "cow", "n": 1}]).dense().tolist() == [[1, 0, 0, 0]]
    assert reader([]).dense().shape == (0, 4)


def test_the_sum_of_finite_numbers_may_overflow():
    assert read(np.full((2, 2), 1e308))[0].size == 2


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (np.zeros((2, 2, 2)), "expected X of shape (vectors, features), found shape (2, 2, 2)"),
        ([[1], [1, 2]], "a sparse matrix or feature dicts, found list of list"),
        ([["a"]], "found list of list ("),
        ([[10**400]], "found list of list (int too large to convert to float)"),
        ([[0, np.inf]], "found NaN or infinity in vector 0 (from 0)"),
        ([[0, 1], [np.nan, 1]], "found NaN or infinity in vector 1 (from 0)"),
        (np.zeros((0, 3)), "expected at least one vector to learn from, found an empty X"),
        ([{"a": 1}, 7], "expected feature dicts only, found int among them"),
        ([{"a": None}], "expected a finite number or a string as 'a', found None"),
        ([{"a": np.nan}], "expected a finite number or a string as 'a', found nan"),
        ([{"a": 10**400}], "expected a finite number or a string as 'a', found 1000000"),
    ],
)
def test_read_refuses(X, message):
    with pytest.raises(SeqtagError) as error:
        read(X)
    assert message in str(error.value)


def test_sparse_matrices_are_checked_too():
    sparse = pytest.importorskip("scipy.sparse", reason="scipy is not installed")
    with pytest.raises(SeqtagError, match="found NaN or infinity in vector 1"):
        read(sparse.csr_matrix([[1.0, 0], [0, np.nan]]))
    with pytest.raises(SeqtagError, match=r"expected a sparse matrix \(n, d\), found shape \(3,\)"):
        read(sparse.coo_array(np.ones(3)))
    with pytest.raises(SeqtagError, match=r"found a sparse matrix; use X.toarray\(\) or dicts"):
        product(sparse.csr_matrix([[1.0]]))


def test_prediction_wants_the_kind_of_training():
    _, of_dicts = read([{"a": 1}])
    with pytest.raises(
        SeqtagError, match="expected a list of feature dicts, as in training, found ndarray"
    ):
        of_dicts(np.ones((1, 1)))
    for X in (iter([{"a": 1}]), 5, np.array(5), None):
        with pytest.raises(SeqtagError, match=f"as in training, found {type(X).__name__}; give X"):
            of_dicts(X)
    _, of_arrays = read([[1.0]])
    with pytest.raises(
        SeqtagError, match="expected an array or sparse matrix, as in training, found dicts"
    ):
        of_arrays([{"a": 1}])
    with pytest.raises(
        SeqtagError, match="X has 2 features, but it is expecting 1 features as input; give"
    ):
        of_arrays([[1.0, 2.0]])


# ----------------------------------------------------------------- maps
@given(matrices)
def test_maps_of_arrays_and_dicts_agree(X):
    dicts = [{f"f{j}": v for j, v in enumerate(x)} for x in X.tolist()]
    for feature_map in (bias, product, quadratic):
        array, (vectors, _) = feature_map(X), read(feature_map(dicts))
        assert sorted(map(sorted, array.tolist())) == sorted(map(sorted, vectors.dense().tolist()))


def test_maps_by_name_and_by_hand():
    assert apply_map(None, "as it is") == "as it is"
    assert apply_map("product", [[2, 3]]).tolist() == [[2, 3, 6]]
    with pytest.raises(
        SeqtagError, match="expected a feature map product, quadratic or a function, found 'cubic'"
    ):
        apply_map("cubic", [[1]])
    with pytest.raises(SeqtagError, match="return one vector for each of 2, found 1"):
        apply_map(lambda X: X[:1], [[1], [2]])
