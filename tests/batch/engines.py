"""A stand-in for Ray that works in this process, and a real one where that is possible."""

from __future__ import annotations

import importlib.util
import os
import socket
import sys
from types import ModuleType, SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


class RayError(Exception):
    """What the engine says of a worker that was lost."""


class RayTaskError(RayError):
    """What the engine says of a function that raised an error."""

    def __init__(self, cause: Exception):
        self.cause = cause


class FakeRay(ModuleType):
    """Ray, as far as the drivers use it; tasks are done when they are waited for.

    Attributes
    ----------
    lose
        Asked before each attempt at a task with its arguments: whether its worker is lost.
    most
        The most tasks that were in flight.
    """

    def __init__(self) -> None:
        super().__init__("ray")
        self.exceptions = SimpleNamespace(RayError=RayError, RayTaskError=RayTaskError)
        self.lose: Callable[..., bool] = lambda *_: False
        self.init_error: Exception | None = None
        self.inits: list[dict[str, Any]] = []
        self.cancelled: list[Task] = []
        self.most = self._open = 0
        self._up = False

    # ----------------------------------------------------------------- the cluster
    def is_initialized(self) -> bool:
        return self._up

    def init(self, **options: Any) -> None:
        if self.init_error:
            raise self.init_error
        self.inits.append(options)
        self._up = True

    def shutdown(self) -> None:
        self._up = False

    def nodes(self) -> list[dict[str, Any]]:
        here = {"CPU": 2.0, "memory": 4e9}
        return [{"Alive": True, "Resources": here}, {"Alive": False, "Resources": here}]

    # ----------------------------------------------------------------- objects and tasks
    def put(self, value: Any) -> Any:
        return SimpleNamespace(value=value)

    def get(self, ref: Any) -> Any:
        return ref.run() if isinstance(ref, Task) else ref.value

    def remote(self, function: Callable[..., Any]) -> Remote:
        return Remote(self, function)

    def wait(
        self, refs: list[Task], num_returns: int = 1, timeout: float = 0, fetch_local: bool = True
    ) -> tuple[list[Task], list[Task]]:
        self.most = max(self.most, len(refs))
        return refs[:num_returns], refs[num_returns:]

    def cancel(self, ref: Task, force: bool = False) -> None:
        assert force
        self.cancelled.append(ref)


class Remote:
    """A function that becomes tasks, once its options are known."""

    def __init__(self, ray: FakeRay, function: Callable[..., Any]):
        self._ray, self._function = ray, function

    def options(self, **options: Any) -> SimpleNamespace:
        return SimpleNamespace(
            remote=lambda *arguments: Task(self._ray, self._function, arguments, options)
        )


class Task:
    """A call that is repeated as its options say."""

    def __init__(
        self,
        ray: FakeRay,
        function: Callable[..., Any],
        arguments: tuple[Any, ...],
        options: dict[str, Any],
    ):
        self._ray, self._function, self.arguments = ray, function, arguments
        self._options = options

    def run(self) -> Any:
        error: RayError | None = None
        for _ in range(1 + self._options["max_retries"]):
            if self._ray.lose(*self.arguments):
                error = RayError("The worker died unexpectedly\nand more of that")
                continue
            try:
                return self._function(*self.arguments)
            except Exception as cause:
                error = RayTaskError(cause)
                if not self._options["retry_exceptions"]:
                    break
        raise error


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> FakeRay:
    """A stand-in for Ray, which is what is imported."""
    ray = FakeRay()
    monkeypatch.setitem(sys.modules, "ray", ray)
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    return ray


# ----------------------------------------------------------------- the real one
def _why_not() -> str:
    """Why there can be no Ray here; nothing if there can."""
    if importlib.util.find_spec("ray") is None:
        return "needs Ray: pip install -e '.[ray]'"
    if not hasattr(socket, "if_nameindex") or not os.path.exists("/proc/self/fd"):  # noqa: PTH110
        return "needs Linux"
    if [name for _, name in socket.if_nameindex()] != ["lo"]:
        return (
            "Ray listens on all networks, so it needs one of its own: unshare --net sh -c "
            "'ip link set lo up; exec python -m pytest tests/batch'"
        )
    return ""


on_ray = pytest.mark.skipif(bool(_why_not()), reason=_why_not() or "-")
"""Tests on a real cluster, in a network of its own."""


@pytest.fixture(scope="module")
def ray() -> Iterator[Any]:
    """Ray, on a cluster of two workers."""
    from seqtag.batch.ray_cluster import connected

    with connected(workers=2) as ray:
        yield ray
