"""Answers to the programming exercises of docs/exercises.md."""

from itertools import pairwise, product
from math import log


def mistakes_until_right(X, y):
    """Exercise 34: the number of updates of a perceptron without bias until a pass is all right.

    >>> mistakes_until_right([(1, 1), (2, -1), (-1, -2)], [1, -1, -1])
    2
    >>> mistakes_until_right([(2, 4), (1, -2)], [-1, -1])
    3
    """
    w, updates, wrong = [0] * len(X[0]), 0, True
    while wrong:
        wrong = False
        for x, label in zip(X, y):
            if label * sum(a * b for a, b in zip(w, x)) <= 0:
                w = [a + label * b for a, b in zip(w, x)]
                updates, wrong = updates + 1, True
    return updates


def averaged(X, y, passes):
    """Exercise 35: the mean of the w after each example, with two vectors in memory.

    >>> [round(value, 2) for value in averaged([(2, 4), (1, -2)], [-1, -1], 20)]
    [-3.9, -0.2]
    """
    w, u, c = [0] * len(X[0]), [0] * len(X[0]), 0
    for x, label in [*zip(X, y)] * passes:
        if label * sum(a * b for a, b in zip(w, x)) <= 0:
            w = [a + label * b for a, b in zip(w, x)]
            u = [a + c * label * b for a, b in zip(u, x)]
        c += 1
    return [a - b / c for a, b in zip(w, u)]


def k_folds(n, k):
    """Exercise 36: k pairs of lists, (training, held out); part sizes differ by at most 1.

    The parts are in order, and none is longer than the first.

    >>> for training, held_out in k_folds(5, 2):
    ...     print(training, held_out)
    [3, 4] [0, 1, 2]
    [0, 1, 2] [3, 4]
    """
    ends = [-(-n * i // k) for i in range(k + 1)]
    parts = [list(range(a, b)) for a, b in pairwise(ends)]
    return [([i for i in range(n) if i not in part], part) for part in parts]


def decode(start, emission, transition, stop):
    """Exercise 37: the best labels, by Viterbi; ties go to the lowest label, the last word first.

    >>> decode([1, 0], [[2, 0], [1, 2], [1, 1]], [[0, 1], [2, -1]], [0, 0])
    [0, 1, 0]
    >>> decode([0, 0], [[0, 0], [0, 0]], [[0, 0], [0, 0]], [0, 0])
    [0, 0]
    """
    labels = range(len(start))
    v, back = [s + e for s, e in zip(start, emission[0])], []
    for scores in emission[1:]:
        best = [max(labels, key=lambda a: v[a] + transition[a][b]) for b in labels]
        v = [scores[b] + v[a] + transition[a][b] for b, a in enumerate(best)]
        back.append(best)
    y = [max(labels, key=lambda b: v[b] + stop[b])]
    for best in reversed(back):
        y.append(best[y[-1]])
    return y[::-1]


def best_of_all(start, emission, transition, stop):
    """Exercise 38: the same labels by enumeration, with the same choice in ties.

    >>> best_of_all([1, 0], [[2, 0], [1, 2], [1, 1]], [[0, 1], [2, -1]], [0, 0])
    [0, 1, 0]
    >>> best_of_all([0, 0], [[0, 0], [0, 0]], [[0, 1], [1, 0]], [0, 0])
    [1, 0]
    """

    def score(y):
        inner = sum(transition[a][b] for a, b in pairwise(y))
        emitted = sum(scores[b] for scores, b in zip(emission, y))
        return start[y[0]] + emitted + inner + stop[y[-1]]

    every = product(range(len(start)), repeat=len(emission))
    last_first = sorted(every, key=lambda y: y[::-1])  # max returns the first of equal ones
    return list(max(last_first, key=score))


def forbid(transition, pairs):
    """Exercise 39: a copy of the transitions with which the pairs (from, to) never occur.

    The examples need exercise 37.

    >>> free = [[0, 1], [2, -1]]
    >>> decode([1, 0], [[2, 0], [1, 2], [1, 1]], forbid(free, [(1, 0)]), [0, 0])
    [0, 0, 1]
    >>> free
    [[0, 1], [2, -1]]
    """
    return [
        [-1e30 if (a, b) in pairs else score for b, score in enumerate(row)]
        for a, row in enumerate(transition)
    ]


def second_best(start, emission, transition, stop):
    """Exercise 40: the score of the second best sequence, without enumeration.

    >>> second_best([1, 0], [[2, 0], [1, 2], [1, 1]], [[0, 1], [2, -1]], [0, 0])
    6
    """
    # Keep the two best prefixes of each label; both may come from the same previous label.
    two = [[s + e] for s, e in zip(start, emission[0])]
    for scores in emission[1:]:
        ways = [
            [score + transition[a][b] for a, kept in enumerate(two) for score in kept]
            for b in range(len(start))
        ]
        two = [sorted((s + e for s in some), reverse=True)[:2] for some, e in zip(ways, scores)]
    ended = [score + stop[b] for b, kept in enumerate(two) for score in kept]
    return sorted(ended, reverse=True)[1]


def naive_bayes(examples):
    """Exercise 41: weights and bias; examples are pairs (set of features, label -1 or +1).

    Count as if each feature had already been seen once, and been missing once, with each label.

    >>> mails = [({"free"}, 1), ({"free", "money"}, 1), ({"lecture"}, -1), ({"money"}, -1)]
    >>> w, bias = naive_bayes(mails)
    >>> {name: round(weight, 2) for name, weight in sorted(w.items())}, round(bias, 2)
    ({'free': 2.2, 'lecture': -1.1, 'money': 0.0}, -0.69)
    """
    labels = [label for _, label in examples]
    names = {name for attributes, _ in examples for name in attributes}
    share = {
        (name, y): (sum(name in attributes and label == y for attributes, label in examples) + 1)
        / (labels.count(y) + 2)
        for name in names
        for y in (-1, 1)
    }
    missing = {name: log((1 - share[name, 1]) / (1 - share[name, -1])) for name in names}
    w = {name: log(share[name, 1] / share[name, -1]) - missing[name] for name in names}
    return w, log(labels.count(1) / labels.count(-1)) + sum(missing.values())


def dual(kernel, X, y):
    """Exercise 42: how often each example is a mistake until a pass is all right.

    >>> square = lambda a, b: (sum(p * q for p, q in zip(a, b)) + 1) ** 2
    >>> dual(square, [(0, 0), (0, 1), (1, 0), (1, 1)], [-1, 1, 1, -1])
    [7, 5, 5, 4]
    """
    r, wrong = [0] * len(X), True
    while wrong:
        wrong = False
        for i, x in enumerate(X):
            score = sum(r_j * y_j * kernel(x_j, x) for r_j, y_j, x_j in zip(r, y, X))
            if y[i] * score <= 0:
                r[i] += 1
                wrong = True
    return r
