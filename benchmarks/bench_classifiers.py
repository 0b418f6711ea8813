"""Compare the binary perceptron with scikit-learn's: same data, same passes, one run.

    python -m benchmarks.bench_classifiers [--json] [--passes 10] [--repeat 5]

Dense: 100,000 vectors of 100 features. Text: 100,000 bags of words from a vocabulary of 50,000
with Zipf's frequencies, about 40 words each, as a scipy sparse matrix. Both are noisy, so that no
pass is the last. Times are complete calls of ``fit``, checks and conversions included, from float64
data; the two take turns, and the median counts. Accuracy is on data not trained on.
"""

from __future__ import annotations

import argparse
import json
import platform
import statistics
import time
from typing import Any

import numpy as np


def dense(random: np.random.RandomState, n: int = 100_000, d: int = 100) -> tuple[Any, np.ndarray]:
    """Normal vectors, a noisy hyperplane."""
    X = random.normal(size=(n, d))
    return X, (X @ random.normal(size=d) + 3 * random.normal(size=n) > 0).astype(int)


def text(
    random: np.random.RandomState, n: int = 100_000, d: int = 50_000
) -> tuple[Any, np.ndarray]:
    """Bags of words of Zipf's frequencies, a noisy hyperplane."""
    from scipy.sparse import csr_matrix

    lengths = random.poisson(40, n) + 1
    words = np.minimum(np.exp(random.rand(lengths.sum()) * np.log(d)).astype(int), d - 1)
    X = csr_matrix((np.ones(len(words)), words, np.concatenate([[0], lengths.cumsum()])), (n, d))
    X.sum_duplicates()
    scores = X @ random.normal(size=d)
    noise = random.normal(size=n) * scores.std() / 2
    return X, (scores + noise > np.median(scores)).astype(int)


def compare(X: Any, y: np.ndarray, passes: int, repeat: int) -> dict[str, Any]:
    """Median seconds and accuracy of both."""
    from sklearn.linear_model import Perceptron

    from seqtag import BinaryPerceptron

    n = len(y) * 9 // 10
    makers = {
        "seqtag": lambda: BinaryPerceptron(max_iter=passes),
        "scikit-learn": lambda: Perceptron(max_iter=passes, tol=None, random_state=0),
    }
    times: dict[str, list[float]] = {name: [] for name in makers}
    accuracy: dict[str, float] = {}
    train = X[:n], y[:n]
    for _ in range(repeat + 1):  # the first is to warm up
        for name, make in makers.items():
            start = time.perf_counter()
            model = make().fit(*train)
            times[name].append(time.perf_counter() - start)
            accuracy[name] = float((model.predict(X[n:]) == y[n:]).mean())
            if model.n_iter_ != passes:
                msg = f"{name} made {model.n_iter_} passes, not {passes}"
                raise RuntimeError(msg)
    seconds = {name: statistics.median(values[1:]) for name, values in times.items()}
    ratio = seconds["scikit-learn"] / seconds["seqtag"]
    return {"seconds": seconds, "accuracy": accuracy, "times_as_fast": ratio}


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--passes", type=int, default=10)
    parser.add_argument("--repeat", type=int, default=5)
    options = parser.parse_args()
    import sklearn

    import seqtag
    from seqtag.engine.backend import BACKEND

    result: dict[str, Any] = {
        "machine": platform.processor() or platform.machine(),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scikit-learn": sklearn.__version__,
        "seqtag": f"{seqtag.__version__} ({BACKEND})",
        "passes": options.passes,
    }
    for make in (dense, text):
        X, y = make(np.random.RandomState(0))
        result[make.__name__] = compare(X, y, options.passes, options.repeat)
    if options.json:
        print(json.dumps(result, indent=2))
        return
    for name in ("dense", "text"):
        for peer, seconds in result[name]["seconds"].items():
            accuracy = result[name]["accuracy"][peer]
            print(f"{name:6} {peer:13} {seconds:7.3f} s  accuracy {accuracy:.4f}")
        print(f"{name:6} seqtag is {result[name]['times_as_fast']:.2f} times as fast")


if __name__ == "__main__":
    main()
