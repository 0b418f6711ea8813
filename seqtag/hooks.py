"""Hooks: functions of higher layers that lower layers call.

`seqtag.load` may train a missing model, and training is in a higher layer. The package registers
the function when it is imported, so that loading does not import training.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_registered: dict[str, Callable[..., Any]] = {}


def register(name: str, function: Callable[..., Any]) -> None:
    """Register the function to call for a name."""
    _registered[name] = function


def call(name: str, *args: Any, **options: Any) -> Any:
    """Call the function that is registered for a name."""
    return _registered[name](*args, **options)
