"""Connection to a Ray cluster."""

from __future__ import annotations

import logging
import os
import signal
from contextlib import contextmanager, redirect_stdout, suppress
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from seqtag.errors import ClusterError, install_hint

if TYPE_CHECKING:
    from collections.abc import Iterator

LOCAL = "local"
"""The address of a cluster that is started on this machine and ends with the command."""

ATTEMPTS = 3
"""Number of attempts for a file, or for a round of a shard."""

_STORE_BYTES = 200 * 2**20  # of the object store of a local cluster, which has models but no data


def require_ray() -> Any:
    """Return the module ``ray``.

    Raises
    ------
    ClusterError
        If it is not installed.
    """
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # unless the user turns them on
    # Otherwise Ray repeats without end what is killed because memory is short.
    os.environ.setdefault("RAY_task_oom_retries", str(ATTEMPTS - 1))
    try:
        return import_module("ray")
    except ImportError:
        msg = f"expected the package ray to run on a cluster, found none; {install_hint('ray')}"
        raise ClusterError(msg) from None


@contextmanager
def connected(address: str | None = None, workers: int | None = None) -> Iterator[Any]:
    """Lend Ray to the block, connected to a cluster; one that is started here ends with the block.

    Parameters
    ----------
    address
        As ``ray.init`` takes it; None for ``$RAY_ADDRESS``, and if there is none a cluster on
        this machine.
    workers
        Processes of a cluster on this machine; None for one per core.

    Raises
    ------
    ClusterError
        If Ray is not installed, or there is no cluster at the address.
    """
    ray = require_ray()
    if ray.is_initialized():  # the caller has connected it, and will disconnect it
        with _silent():
            yield ray
        return
    address = address or os.environ.get("RAY_ADDRESS") or LOCAL
    own: dict[str, Any] = {}
    if address == LOCAL:
        own = {
            "num_cpus": workers or os.cpu_count(),
            "include_dashboard": False,
            "object_store_memory": _STORE_BYTES,
        }
    handler = signal.getsignal(signal.SIGTERM)
    try:
        ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR, **own)
    except (ConnectionError, RuntimeError, ValueError) as error:
        reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        msg = (
            f"expected a Ray cluster at {address}, found none ({reason}); check the address, or "
            f"leave it out for a cluster on this machine"
        )
        raise ClusterError(msg) from error
    except SystemExit:  # of Ray's own handler, if SIGTERM comes before it is replaced again
        signal.signal(signal.SIGTERM, handler)
        signal.raise_signal(signal.SIGTERM)
        raise
    with suppress(ValueError):  # Ray takes the signal; only the main thread can restore it
        signal.signal(signal.SIGTERM, handler)
    try:
        with _silent():
            yield ray
    finally:
        ray.shutdown()


@contextmanager
def _silent() -> Iterator[None]:
    """Suppress what Ray prints about lost workers."""
    with Path(os.devnull).open("w") as nowhere, redirect_stdout(nowhere):
        yield
