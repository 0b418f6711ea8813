"""The perceptron from Rosenblatt to Viterbi, in one file of plain Python.

There is only one learner, `learn`. A joint feature map phi(x, y) describes an input x together with
an answer y. The score of an answer is w . phi(x, y), and `decode` finds the answer with the highest
score. To learn two labels, many labels, or sentences, call `learn` with a different phi and decode.
Feature vectors are dictionaries, {feature: value}.

Run it: python docs/perceptron.py [TRAINING.conllu TEST.conllu]
"""

import sys
from collections import Counter, defaultdict
from itertools import pairwise
from pathlib import Path
from random import Random


def dot(w, features):
    """Return w . features."""
    return sum(w.get(i, 0) * value for i, value in features.items())


def learn(examples, phi, decode):
    """Learn from the examples in order; return the last w, the mean of all w, and the mistakes."""
    w, u, mistakes = defaultdict(int), defaultdict(int), []
    for c, (x, y) in enumerate(examples):
        guess = decode(w, x, y)
        if guess != y:
            mistakes.append((c, guess))
            for features, step in ((phi(x, y), 1), (phi(x, guess), -1)):
                for i, value in features.items():
                    w[i] += step * value
                    u[i] += step * value * c  # this change is missing from the first c vectors w
    mean = defaultdict(float, {i: w[i] - u[i] / len(examples) for i in w})
    return w, mean, mistakes


def best(scores, gold=None):
    """Return the label with the highest score; in a tie, the first that is not gold.

    In training, gold is the correct label. It is returned only if it beats all others, so that a
    tie is a mistake.
    """
    return max(scores, key=lambda label: (scores[label], label != gold))


def search(labels, phi):
    """Return a decoder that tries all labels."""
    return lambda w, x, gold=None: best({y: dot(w, phi(x, y)) for y in labels}, gold)


# 1. Two labels, -1 and +1 (Rosenblatt 1958). Since half(x, y) - half(x, -y) = y x, an update adds
#    y x, and the label y wins if y (w . x) > 0.
def half(x, y):
    return {i: y * value / 2 for i, value in x.items()}


# 2. Many labels: phi has x in the block of y, so each label has its own weights.
def block(x, y):
    return {(i, y): value for i, value in x.items()}


# 3. A sentence (Collins 2002): x is a list of vectors, one for each word, and y a list of labels.
#    phi adds up the blocks of all words and counts label bigrams, the first, and the last label.
def chain(x, y):
    counts = Counter([("start", y[0]), ("stop", y[-1]), *pairwise(y)])
    for token, label in zip(x, y):
        counts.update(block(token, label))
    return counts


# For T words and K labels, the decoder cannot try all K^T label sequences. But of those that end in
# the label b at word t, only the best can be the beginning of the best of all (Viterbi 1967).
def viterbi(w, x, labels, gold=None):
    gold = gold or [None] * len(x)
    score = {b: w["start", b] + dot(w, block(x[0], b)) for b in labels}
    back = []
    for t in range(1, len(x)):
        into = {b: best({a: score[a] + w[a, b] for a in labels}, gold[t - 1]) for b in labels}
        score = {b: score[a] + w[a, b] + dot(w, block(x[t], b)) for b, a in into.items()}
        back.append(into)
    y = [best({b: score[b] + w["stop", b] for b in labels}, gold[-1])]
    for into in reversed(back):
        y.append(into[y[-1]])
    return y[::-1]


def features(words):
    """Return the features of each word: the word itself and its last two letters."""
    ends = [{("end", word[-2:].lower()): 1} if len(word) > 1 else {} for word in words]
    return [{("form", word): 1} | end for word, end in zip(words, ends)]


def passes(examples, epochs, seed=1):
    """Return the examples once for each epoch, each time in a new order."""
    random = Random(seed)
    return [one for _ in range(epochs) for one in random.sample(examples, len(examples))]


def read(path):
    """Return the sentences of a CoNLL-U file: a list of words and a list of labels for each."""
    rows = [line.split("\t") for line in Path(path).read_text("utf-8").split("\n")]
    sentences = [([], [])]
    for row in rows:
        if row[0].isdigit():  # not a comment, a range, or an empty node
            for part, column in zip(sentences[-1], (1, 3)):
                part.append(row[column])
        elif row == [""] and sentences[-1][0]:
            sentences.append(([], []))
    return [sentence for sentence in sentences if sentence[0]]


SAMPLE = """
They/PRON fish/VERB in/ADP the/DET river/NOUN ./PUNCT
The/DET old/ADJ man/NOUN caught/VERB a/DET big/ADJ fish/NOUN ./PUNCT
We/PRON walk/VERB to/ADP the/DET old/ADJ house/NOUN ./PUNCT
The/DET long/ADJ walk/NOUN helped/VERB us/PRON ./PUNCT
She/PRON wanted/VERB a/DET drink/NOUN for/ADP the/DET walk/NOUN ./PUNCT
They/PRON drink/VERB water/NOUN ./PUNCT
I/PRON water/VERB the/DET garden/NOUN ./PUNCT
The/DET fish/NOUN in/ADP the/DET water/NOUN waited/VERB ./PUNCT
We/PRON looked/VERB for/ADP a/DET new/ADJ river/NOUN ./PUNCT
The/DET new/ADJ garden/NOUN needed/VERB water/NOUN ./PUNCT
"""


def main(train=None, test=None):
    lines = [[word.split("/") for word in line.split()] for line in SAMPLE.strip().split("\n")]
    sentences = read(train) if train else [tuple(map(list, zip(*line))) for line in lines]
    corpus = [(features(words), y) for words, y in sentences]
    tokens = [pair for x, y in corpus for pair in zip(x, y)]
    # Without neighbors, "fish", "walk", "drink", and "water" cannot be right every time.
    nouns = [(x, 1 if y == "NOUN" else -1) for x, y in tokens if y in ("NOUN", "VERB")]
    labels = sorted({y for _, y in tokens})

    def decode(w, x, gold=None):
        return viterbi(w, x, labels, gold)

    learners = (
        ("noun or verb", nouns, half, search([-1, 1], half)),
        ("word by word", tokens, block, search(labels, block)),
        ("sentence", corpus, chain, decode),
    )
    for name, examples, phi, decoder in learners:
        _, mean, mistakes = learn(passes(examples, epochs=5), phi, decoder)
        right = sum(decoder(mean, x) == y for x, y in examples)
        print(f"{name}: {len(mistakes)} updates; right now: {right} of {len(examples)}")
    words = "They fish for the old fish .".split()
    print(*map("/".join, zip(words, decode(mean, features(words)))))
    if test:
        pairs = [p for words, y in read(test) for p in zip(decode(mean, features(words)), y)]
        print(f"{test}: {sum(a == b for a, b in pairs)} of {len(pairs)} words right")


if __name__ == "__main__":
    main(*sys.argv[1:])
