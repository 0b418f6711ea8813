"""Conventions of scikit-learn beyond the methods of a classifier: errors, warnings, tags.

Its checks expect its own classes. Importing it takes a second and seqtag does not need it, so its
modules are looked up among the imported ones: code that expects its classes has imported it.
"""

from __future__ import annotations

import sys
import warnings
from typing import Any

import numpy as np

from seqtag.errors import LabelError, SeqtagError


def tags(*, multi_class: bool) -> Any:
    """Return scikit-learn's tags of a classifier of vectors (only scikit-learn calls this)."""
    utils = sys.modules["sklearn.utils"]
    return utils.Tags(
        estimator_type="classifier",
        target_tags=utils.TargetTags(required=True),
        classifier_tags=utils.ClassifierTags(multi_class=multi_class),
        input_tags=utils.InputTags(sparse=True),
    )


def not_fitted(message: str) -> SeqtagError:
    """Return the error about a missing fit; also a NotFittedError if scikit-learn is imported."""
    exceptions = sys.modules.get("sklearn.exceptions")
    if exceptions is None:
        return SeqtagError(message)

    class NotFittedError(SeqtagError, exceptions.NotFittedError):  # type: ignore[misc,name-defined]
        def __reduce__(self) -> tuple[Any, ...]:
            return not_fitted, (self.message,)

    return NotFittedError(message)


def labels_of(y: Any) -> np.ndarray:
    """Return labels as an array (n,); a column (n, 1) is accepted with a warning.

    Raises
    ------
    LabelError
        If there are none, or they are numbers with a fraction: measurements, not labels.
    """
    if y is None:
        msg = (
            "expected labels, found None: learning requires y to be passed, but the target y is "
            "None; give one label per vector"
        )
        raise LabelError(msg)
    labels = np.asarray(y)
    if labels.ndim == 2 and labels.shape[1] == 1 and len(labels):
        exceptions = sys.modules.get("sklearn.exceptions")
        warnings.warn(
            "A column-vector y was passed when a 1d array was expected; write y.ravel()",
            UserWarning if exceptions is None else exceptions.DataConversionWarning,
            stacklevel=4,
        )
        labels = labels.ravel()
    if labels.dtype.kind == "f" and not np.isfinite(labels).all():
        msg = "expected labels, found NaN or infinity among them; label every vector"
        raise LabelError(msg)
    if labels.dtype.kind == "f" and (labels != np.rint(labels)).any():
        odd = labels[labels != np.rint(labels)][0]
        msg = (
            f"expected labels, found numbers with a fraction such as {odd!s}: a continuous y is "
            "for regression; make classes of it first"
        )
        raise LabelError(msg)
    return labels
