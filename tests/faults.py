"""Faults while a file is written: the k-th call of the system fails, for k = 1, 2, 3 and so on."""

from __future__ import annotations

import errno
import os
import pathlib
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import pytest

WRITERS = ("seqtag/storage/output.py",)
"""The modules that write files: only what they call fails."""
assert all((Path(__file__).parents[1] / name).exists() for name in WRITERS)

CALLS = ("fchmod", "fchown", "fsync", "open", "replace", "stat", "unlink")
METHODS = ("write", "flush", "close")
_ACCESSOR = getattr(pathlib, "_NormalAccessor", None)
"""Where pathlib keeps functions of os in Python 3.10."""


class Faults:
    """Lets one call fail: the `at`-th that a writer makes, counted from 1.

    Parameters
    ----------
    patch
        Undoes what is patched.
    at
        Which call; 0 lets none fail.
    error
        A number of the system (`errno.ENOSPC`), or `KeyboardInterrupt`.
    after
        Whether the call does its work before it fails. A ``write`` that fails has written half,
        and what is closed is closed.

    Attributes
    ----------
    calls : list of str
        What was called.
    over : bool
        Set it to let no further call fail.
    error, after
        As given.
    """

    def __init__(
        self,
        patch: pytest.MonkeyPatch,
        at: int,
        error: int | type[BaseException] = errno.ENOSPC,
        *,
        after: bool = False,
    ):
        self.calls: list[str] = []
        self.over = False
        self._at, self.error, self.after = at, error, after
        for name in CALLS:
            # To wait for a disk a thousand times would tell nothing.
            call = (lambda _: None) if name == "fsync" else getattr(os, name)
            failing = self._failing(name, call)
            patch.setattr(os, name, failing)
            if name != "open" and hasattr(_ACCESSOR, name):
                patch.setattr(_ACCESSOR, name, staticmethod(failing))
        fdopen, opened = os.fdopen, Path.open
        patch.setattr(os, "fdopen", lambda *args: _File(fdopen(*args), self))

        def path_opened(path: Path, mode: str = "r", *args: Any, **options: Any) -> Any:
            if not {*mode} & {*"wax+"} or not _by_a_writer(1):
                return opened(path, mode, *args, **options)
            file = self.run("open", lambda: opened(path, mode, *args, **options), (path,))
            return _File(file, self)

        patch.setattr(Path, "open", path_opened)

    @property
    def happened(self) -> bool:
        """Whether the call came that had to fail."""
        return 0 < self._at <= len(self.calls)

    @property
    def last(self) -> str:
        """The call that failed."""
        return self.calls[self._at - 1]

    def _failing(self, name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        """The call, which fails when its time has come."""

        def failing(*args: Any, **options: Any) -> Any:
            if not _by_a_writer():
                return call(*args, **options)
            return self.run(name, lambda: call(*args, **options), args)

        return failing

    def run(
        self,
        name: str,
        call: Callable[[], Any],
        args: tuple[Any, ...] = (),
        half: Callable[[], Any] | None = None,
    ) -> Any:
        """What the call returns, unless it must fail."""
        if self.over:
            return call()
        self.calls.append(name)
        if len(self.calls) != self._at:
            return call()
        if self.after:
            made = call()
            if hasattr(made, "close"):  # nobody else can, any more
                made.close()
        elif half is not None:
            half()
        if not isinstance(self.error, int):
            raise self.error
        names = [arg for arg in args[:2] if isinstance(arg, (str, os.PathLike))]
        found = [os.fspath(name) for name in names]  # as the system names what it could not do
        raise OSError(self.error, os.strerror(self.error), *found[:1])


class _File:
    """A file whose methods count as calls."""

    def __init__(self, file: Any, faults: Faults):
        self._file, self._faults = file, faults

    def __enter__(self) -> _File:
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self.close()
        finally:
            self._file.close()

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._file, name)
        if name not in METHODS:
            return method

        def failing(*args: Any) -> Any:
            half = None
            if name == "write":
                data = bytes(args[0])
                half = lambda: method(data[: len(data) // 2])  # noqa: E731
            elif name == "close":
                half = getattr(self._file, "raw", self._file).close  # what waits is lost
            return self._faults.run(name, lambda: method(*args), half=half)

        return failing


def _by_a_writer(above: int = 2) -> bool:
    """Whether the call comes from a module that writes files, or from what that calls."""
    frame = sys._getframe(above)
    for _ in range(4):
        if frame is None:
            return False
        if frame.f_code.co_filename.replace(os.sep, "/").endswith(WRITERS):
            return True
        frame = frame.f_back
    return False


def each_fault(
    patcher: type[pytest.MonkeyPatch], *kinds: tuple[int | type[BaseException], bool]
) -> Iterator[Faults]:
    """Faults of these kinds at each call in turn, while there are such calls."""
    for error, after in kinds:
        for at in range(1, 1000):
            with patcher.context() as patch:
                faults = Faults(patch, at, error, after=after)
                yield faults
            if not faults.happened:
                break
        else:
            raise AssertionError("expected an end of the calls")
