"""Answers to the exercises by code of docs/exercises.md."""

from itertools import pairwise, product


def mistakes_until_right(X, y):
    """Exercise 24: updates of a perceptron without bias until a whole pass is right.

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
    """Exercise 25: the mean of w after every example, with two vectors in memory.

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
    """Exercise 26: k pairs (training, held out) of lists; sizes differ by one at most.

    >>> for training, held_out in k_folds(5, 2):
    ...     print(training, held_out)
    [3, 4] [0, 1, 2]
    [0, 1, 2] [3, 4]
    """
    ends = [-(-n * i // k) for i in range(k + 1)]
    parts = [list(range(a, b)) for a, b in pairwise(ends)]
    return [([i for i in range(n) if i not in part], part) for part in parts]


def decode(start, emission, transition, stop):
    """Exercise 27: the best labels by Viterbi; of equals the lowest label, from the last token on.

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
    """Exercise 28: the same by enumeration, ties and all.

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
    last_first = sorted(every, key=lambda y: y[::-1])  # max takes the first of equals
    return list(max(last_first, key=score))


def forbid(transition, pairs):
    """Exercise 29: transitions like these under which the pairs (from, to) never come out.

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
    """Exercise 30: the score of the best sequence but one, without enumeration.

    >>> second_best([1, 0], [[2, 0], [1, 2], [1, 1]], [[0, 1], [2, -1]], [0, 0])
    6
    """
    # Of each label the two best prefixes: one of them may come from the same label as the other.
    two = [[s + e] for s, e in zip(start, emission[0])]
    for scores in emission[1:]:
        ways = [
            [score + transition[a][b] for a, kept in enumerate(two) for score in kept]
            for b in range(len(start))
        ]
        two = [sorted((s + e for s in some), reverse=True)[:2] for some, e in zip(ways, scores)]
    ended = [score + stop[b] for b, kept in enumerate(two) for score in kept]
    return sorted(ended, reverse=True)[1]
