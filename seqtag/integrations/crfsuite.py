"""Arguments of ``sklearn_crfsuite.CRF``: what they are called here, or why there is none."""

from __future__ import annotations

from functools import wraps
from inspect import signature
from math import ceil
from typing import TYPE_CHECKING, Any, ParamSpec

from seqtag.errors import OptionError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Mapping

_Parameters = ParamSpec("_Parameters")
_UPDATES = {"ap": "perceptron", "pa": "pa"}  # the perceptrons among CRFsuite's algorithms
_ALWAYS = ("all_possible_states", "all_possible_transitions", "averaging")
_LIKELIHOOD = "belongs to the training of a CRF"
_HINTS = {
    "algorithm": 'expected "ap" or "pa", as training is that of an averaged perceptron',
    "c": "step is C of update='pa'",
    "pa_type": "update='pa' is type 1",
    "error_sensitive": "margin is the cost of a wrong label",
    "variance": "update='adaptive' has a step size for each weight",
    "gamma": "update='adaptive' has a step size for each weight",
    "model_filename": "save with pickle or joblib",
    "keep_tempfiles": "training writes no files",
    "trainer_cls": "on_epoch of seqtag.train reports each epoch",
    **dict.fromkeys(_ALWAYS, "it is always on"),
    **dict.fromkeys(
        (
            *("c1", "c2", "num_memories", "epsilon", "period", "delta", "linesearch"),
            *("max_linesearch", "calibration_eta", "calibration_rate", "calibration_samples"),
            *("calibration_candidates", "calibration_max_trials"),
        ),
        _LIKELIHOOD,
    ),
}
NAMES = ("max_iterations", "min_freq", *_HINTS)
"""The arguments of ``sklearn_crfsuite.CRF`` that have another name here, or none."""


def accepts_crfsuite(init: Callable[_Parameters, None]) -> Callable[_Parameters, None]:
    """Return the constructor of an estimator that translates arguments of ``CRF``.

    Its signature has the parameters of the estimator only, which scikit-learn reads.
    """
    names = [*signature(init).parameters][1:]

    @wraps(init)
    def translating(*args: _Parameters.args, **arguments: _Parameters.kwargs) -> None:
        own: dict[str, Any] = {n: value for n, value in arguments.items() if n in names}
        others = {name: value for name, value in arguments.items() if name not in names}
        given = [name for name, value in own.items() if value is not None]
        init(*args, **own, **translated(others, given, names))

    return translating


def translated(
    arguments: Mapping[str, Any], given: Container[str], names: Iterable[str]
) -> dict[str, Any]:
    """Return the parameters of `SequencePerceptron` for arguments of ``sklearn_crfsuite.CRF``.

    Parameters
    ----------
    arguments
        Arguments that are not parameters of the estimator. Those that are None or False are left
        out, as they are by default in CRFsuite.
    given
        Names of parameters that have values already.
    names
        Names of all parameters, for messages.

    Raises
    ------
    OptionError
        If an argument means nothing to a perceptron, or its parameter has a value already; the
        message says what to do instead.
    TypeError
        If there is no such argument in either.

    Examples
    --------
    >>> translated({"algorithm": "ap", "max_iterations": 20, "min_freq": 1.5}, (), ())
    {'update': 'perceptron', 'epochs': 20, 'min_count': 2}
    """
    found: dict[str, Any] = {}
    refused: dict[str, list[str]] = {}
    for name, value in arguments.items():
        if name not in NAMES:
            near = did_you_mean(name, [*names, *NAMES])
            msg = f"expected arguments of SequencePerceptron, found {name!r}{near}"
            raise TypeError(msg)
        if value is None or (value is False and name == "keep_tempfiles"):
            continue
        if name == "max_iterations":
            found["epochs"] = value
        elif name == "min_freq":
            found["min_count"] = max(1, ceil(value))
        elif name == "algorithm" and value in _UPDATES:
            found["update"] = _UPDATES[value]
        elif name not in _ALWAYS or not value:
            refused.setdefault(_HINTS[name], []).append(f"{name}={value!r}")
    for name in found:
        if name in given:
            msg = (
                f"expected one value of {name}, found another under its name in CRFsuite; leave "
                "one out"
            )
            raise OptionError(msg)
    if refused:
        reasons = "; ".join(f"{', '.join(each)} ({hint})" for hint, each in refused.items())
        msg = (
            "expected arguments that an averaged perceptron has, found those of a CRF: "
            f"{reasons}; leave them out"
        )
        raise OptionError(msg)
    return found
