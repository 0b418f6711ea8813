"""Stubs for the programming exercises of docs/exercises.md: fill them in.

Run python -m doctest docs/exercises.py to see what is still wrong.
"""


def mistakes_until_right(X, y):
    """Exercise 34: the number of updates of a perceptron without bias until a pass is all right.

    >>> mistakes_until_right([(1, 1), (2, -1), (-1, -2)], [1, -1, -1])
    2
    >>> mistakes_until_right([(2, 4), (1, -2)], [-1, -1])
    3
    """
    raise NotImplementedError


def averaged(X, y, passes):
    """Exercise 35: the mean of the w after each example, with two vectors in memory.

    >>> [round(value, 2) for value in averaged([(2, 4), (1, -2)], [-1, -1], 20)]
    [-3.9, -0.2]
    """
    raise NotImplementedError


def k_folds(n, k):
    """Exercise 36: k pairs of lists, (training, held out); part sizes differ by at most 1.

    The parts are in order, and none is longer than the first.

    >>> for training, held_out in k_folds(5, 2):
    ...     print(training, held_out)
    [3, 4] [0, 1, 2]
    [0, 1, 2] [3, 4]
    """
    raise NotImplementedError


def decode(start, emission, transition, stop):
    """Exercise 37: the best labels, by Viterbi; ties go to the lowest label, the last word first.

    >>> decode([1, 0], [[2, 0], [1, 2], [1, 1]], [[0, 1], [2, -1]], [0, 0])
    [0, 1, 0]
    >>> decode([0, 0], [[0, 0], [0, 0]], [[0, 0], [0, 0]], [0, 0])
    [0, 0]
    """
    raise NotImplementedError


def best_of_all(start, emission, transition, stop):
    """Exercise 38: the same labels by enumeration, with the same choice in ties.

    >>> best_of_all([1, 0], [[2, 0], [1, 2], [1, 1]], [[0, 1], [2, -1]], [0, 0])
    [0, 1, 0]
    >>> best_of_all([0, 0], [[0, 0], [0, 0]], [[0, 1], [1, 0]], [0, 0])
    [1, 0]
    """
    raise NotImplementedError


def forbid(transition, pairs):
    """Exercise 39: a copy of the transitions with which the pairs (from, to) never occur.

    The examples need exercise 37.

    >>> free = [[0, 1], [2, -1]]
    >>> decode([1, 0], [[2, 0], [1, 2], [1, 1]], forbid(free, [(1, 0)]), [0, 0])
    [0, 0, 1]
    >>> free
    [[0, 1], [2, -1]]
    """
    raise NotImplementedError


def second_best(start, emission, transition, stop):
    """Exercise 40: the score of the second best sequence, without enumeration.

    >>> second_best([1, 0], [[2, 0], [1, 2], [1, 1]], [[0, 1], [2, -1]], [0, 0])
    6
    """
    raise NotImplementedError


def naive_bayes(examples):
    """Exercise 41: weights and bias; examples are pairs (set of features, label -1 or +1).

    Count as if each feature had already been seen once, and been missing once, with each label.

    >>> mails = [({"free"}, 1), ({"free", "money"}, 1), ({"lecture"}, -1), ({"money"}, -1)]
    >>> w, bias = naive_bayes(mails)
    >>> {name: round(weight, 2) for name, weight in sorted(w.items())}, round(bias, 2)
    ({'free': 2.2, 'lecture': -1.1, 'money': 0.0}, -0.69)
    """
    raise NotImplementedError


def dual(kernel, X, y):
    """Exercise 42: how often each example is a mistake until a pass is all right.

    >>> square = lambda a, b: (sum(p * q for p, q in zip(a, b)) + 1) ** 2
    >>> dual(square, [(0, 0), (0, 1), (1, 0), (1, 1)], [-1, 1, 1, -1])
    [7, 5, 5, 4]
    """
    raise NotImplementedError
