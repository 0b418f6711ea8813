"""Made-up sentences with chunk labels: as tuples, as words, and as feature dicts."""

from __future__ import annotations

import numpy as np


def made_up(sentences=40, seed=0):
    """Tuples and chunk labels: a name follows "mister", if it is no number."""
    random = np.random.RandomState(seed)
    X, y = [], []
    for _ in range(sentences):
        tokens, labels = [], []
        for _ in range(random.randint(1, 5)):
            if random.randint(2):
                name = random.choice(["Ona", "Rell", "Tiv", "Sabe"])
                tokens += [("mister", "NN"), (str(name), "NP"), ("sees", "VB")]
                labels += ["B-PER", "I-PER", "O"]
            else:
                tokens += [("the", "DT"), (str(random.randint(9)), "CD")]
                labels += ["O", "O"]
        X.append(tokens)
        y.append(labels)
    return X, y


def words_of(X):
    return [[token[0] for token in sentence] for sentence in X]


def dicts_of(X):
    """The shape of sklearn-crfsuite's tutorial: a dict for each token, with its neighbours."""
    return [[features(sentence, i) for i in range(len(sentence))] for sentence in X]


def features(sentence, i):
    word, pos = sentence[i]
    found = {
        "bias": 1.0,
        "word.lower()": word.lower(),
        "word[-3:]": word[-3:],
        "word.isupper()": word.isupper(),
        "word.istitle()": word.istitle(),
        "postag": pos,
        "postag[:2]": pos[:2],
    }
    if i > 0:
        found.update(
            {"-1:word.lower()": sentence[i - 1][0].lower(), "-1:postag": sentence[i - 1][1]}
        )
    else:
        found["BOS"] = True
    if i == len(sentence) - 1:
        found["EOS"] = True
    return found
