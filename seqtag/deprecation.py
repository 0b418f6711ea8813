"""Old public names: each works for one release and warns with the new name."""

from __future__ import annotations

import functools
import warnings

TYPE_CHECKING = False  # typing is expensive to import, and `seqtag` imports this
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeVar

    _Function = TypeVar("_Function", bound=Callable[..., Any])


def warn_renamed(old: str, new: str, *, stacklevel: int = 3) -> None:
    """Warn that a public name is deprecated.

    Parameters
    ----------
    old, new
        Names as users write them.
    stacklevel
        As `warnings.warn` takes it; by default the caller of the caller.
    """
    msg = f"{old} is deprecated and will be removed in the next release; use {new}"
    warnings.warn(msg, DeprecationWarning, stacklevel=stacklevel)


def renamed(new: str) -> Callable[[_Function], _Function]:
    """Decorate the old name of a function or method.

    Parameters
    ----------
    new
        What to use instead, as users write it.

    Examples
    --------
    >>> import warnings
    >>> @renamed("new_name()")
    ... def old_name():
    ...     return 1
    >>> with warnings.catch_warnings(record=True) as found:
    ...     warnings.simplefilter("always")
    ...     _ = old_name()
    >>> print(found[0].message)
    old_name is deprecated and will be removed in the next release; use new_name()
    """

    def decorate(function: _Function) -> _Function:
        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            warn_renamed(function.__qualname__, new)
            return function(*args, **kwargs)

        return call  # type: ignore[return-value]

    return decorate


def renamed_keyword(old: str, new: str) -> Callable[[_Function], _Function]:
    """Decorate a function one of whose keyword arguments has a new name.

    Parameters
    ----------
    old, new
        The names.

    Examples
    --------
    >>> @renamed_keyword("given", "fixed_labels")
    ... def tag(fixed_labels):
    ...     return fixed_labels
    >>> import warnings
    >>> with warnings.catch_warnings(record=True) as found:
    ...     warnings.simplefilter("always")
    ...     tag(given=["DT"])
    ['DT']
    >>> print(found[0].message)
    tag(given=) is deprecated and will be removed in the next release; use fixed_labels=
    """

    def decorate(function: _Function) -> _Function:
        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            if old in kwargs:
                warn_renamed(f"{function.__qualname__}({old}=)", f"{new}=")
                kwargs[new] = kwargs.pop(old)
            return function(*args, **kwargs)

        return call  # type: ignore[return-value]

    return decorate
