"""The perceptron from Rosenblatt to Viterbi, on one page of plain Python.

Read it from top to bottom: each learner is the one above with a few lines changed. A vector is a
dictionary, {feature: value}; a stream is what a learner sees, example by example, in its order.
Run it: python docs/perceptron.py
"""

from collections import defaultdict
from itertools import pairwise
from pathlib import Path
from random import Random


def dot(w, x):
    """w . x: the features of x, each times its weight."""
    return sum(w.get(i, 0) * value for i, value in x.items())


def add(w, x, step):
    """w <- w + step x."""
    for i, value in x.items():
        w[i] += step * value


# 1. Two labels, -1 and +1 (Rosenblatt 1958): where the sign is wrong, or there is none, add y x.
def binary(stream):
    w = defaultdict(int)
    for x, y in stream:
        if y * dot(w, x) <= 0:
            add(w, x, y)
    return w


# 2. Many labels: phi(x, y) puts x into the block of y, and the label whose block scores best is
# decided for. The first of equals wins, and a tie that falls to y is no mistake any more.
def block(x, y):
    return {(i, y): value for i, value in x.items()}


def multiclass(stream, labels):
    w = defaultdict(int)
    for x, y in stream:
        guess = max(labels, key=lambda label: dot(w, block(x, label)))
        if guess != y:
            add(w, block(x, y), 1)
            add(w, block(x, guess), -1)
    return w


# 3. The mean of all w (Freund and Schapire 1999) instead of the last. A change made after c
# examples is missing in the first c of the C vectors: so u adds up c times the change, and the mean
# is w - u / C. And what is learnt is given to the learner: phi, and how to find the best label.
def averaged(stream, phi, decode):
    w, u, c, updates = defaultdict(int), defaultdict(int), 0, 0
    for x, y in stream:
        guess = decode(w, x)
        if guess != y:
            updates += 1
            for label, step in ((y, 1), (guess, -1)):
                add(w, phi(x, label), step)
                add(u, phi(x, label), step * c)
        c += 1
    return defaultdict(float, {i: w[i] - u[i] / c for i in w}), updates


# 4. Labels in sequence (Collins 2002): x is a list of vectors, one for each token, y a list of
# labels. phi counts the blocks of all tokens, the bigrams of labels, and both ends. The learner
# stays: only phi and decode are others.
def phi(x, y):
    counts = defaultdict(int, {("start", y[0]): 1, ("stop", y[-1]): 1})
    for token, label in zip(x, y):
        add(counts, block(token, label), 1)
    for pair in pairwise(y):
        counts[pair] += 1
    return counts


# 5. There are K^T label sequences. Of those that end in b at t only the best can be part of the
# best of all, and it goes on from the best that ends in some a at t - 1 (Viterbi 1967).
def viterbi(w, x, labels):
    score = {b: w["start", b] + dot(w, block(x[0], b)) for b in labels}
    back = []
    for token in x[1:]:
        best = {b: max(labels, key=lambda a: score[a] + w[a, b]) for b in labels}
        score = {b: score[a] + w[a, b] + dot(w, block(token, b)) for b, a in best.items()}
        back.append(best)
    y = [max(labels, key=lambda b: score[b] + w["stop", b])]
    for best in reversed(back):
        y.append(best[y[-1]])
    return y[::-1]


# 6. A tagger: what is to be seen of each word, and the learner above.
def features(words):
    ends = [{("end", word[-2:].lower()): 1} if len(word) > 1 else {} for word in words]
    return [{("form", word): 1} | end for word, end in zip(words, ends)]


def passes(examples, epochs, seed):
    """Every example once an epoch, in an order of its own."""
    random = Random(seed)
    for _ in range(epochs):
        yield from random.sample(examples, len(examples))


def read(path):
    """The sentences of a CoNLL-U file: (words, labels) of each."""
    for paragraph in path.read_text("utf-8").split("\n\n"):
        rows = [line.split("\t") for line in paragraph.split("\n") if line[:1].isdigit()]
        rows = [row for row in rows if row[0].isdigit()]  # no ranges, no empty nodes
        if rows:
            yield [row[1] for row in rows], [row[3] for row in rows]


def main():
    sample = Path(__file__).parents[1] / "corpora" / "sample"
    train = [(features(words), y) for words, y in read(sample / "en-sample-train.conllu")]
    test = list(read(sample / "en-sample-test.conllu"))
    labels = sorted({label for _, y in train for label in y})

    def decode(w, x):
        return viterbi(w, x, labels)

    w, updates = averaged(passes(train, epochs=5, seed=1), phi, decode)
    pairs = [pair for words, y in test for pair in zip(decode(w, features(words)), y)]
    right = sum(guess == label for guess, label in pairs)
    size = sum(value != 0 for value in w.values())
    print(f"{updates} updates, {size} weights; {right} of {len(pairs)} words of the test right")
    words = "They fish for the old fish .".split()
    print(" ".join(f"{word}/{label}" for word, label in zip(words, decode(w, features(words)))))


if __name__ == "__main__":
    main()
