"""Metrics in Prometheus' format, those of all workers together."""

from __future__ import annotations

import os
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    make_asgi_app,
    values,
)
from prometheus_client.multiprocess import MultiProcessCollector

from seqtag.storage import locks

if TYPE_CHECKING:
    from starlette.types import ASGIApp

_BUCKETS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30)
_FILE_BYTES = 1 << 20  # that prometheus_client maps into memory
_KINDS = ("counter", "gauge_livesum", "histogram")


class Metrics:
    """Metrics of a server, those of all its workers if they have a folder in common.

    The library maps files of that folder into memory, so their space is allocated first: a disk
    that is full then costs the metrics of a worker, not the worker. A worker that is started again
    continues the files of one that has ended.

    Parameters
    ----------
    folder
        The folder of the workers; None for one process.

    Raises
    ------
    OSError
        If there is no space for the files.

    Examples
    --------
    >>> metrics = Metrics()
    >>> metrics.words.inc(7)
    """

    def __init__(self, folder: Path | None = None):
        own: Any = {"registry": CollectorRegistry()}
        registry: CollectorRegistry = own["registry"]
        if folder:
            self._lock, name = _slot(folder)
            os.environ["PROMETHEUS_MULTIPROC_DIR"] = str(folder)
            values.ValueClass = values.MultiProcessValue(lambda: name)  # type: ignore[no-untyped-call]
            registry = CollectorRegistry()
            MultiProcessCollector(registry, str(folder))  # type: ignore[no-untyped-call]
        self.app: ASGIApp = make_asgi_app(registry)
        self.requests = Counter(
            "seqtag_requests", "Requests answered, by path and status.", ["path", "status"], **own
        )
        self.seconds = Histogram(
            "seqtag_request_seconds", "Time of requests.", ["path"], buckets=_BUCKETS, **own
        )
        self.words = Counter("seqtag_words", "Words in answers.", **own)
        self.rejected = Counter(
            "seqtag_rejected", "Requests refused because of a limit.", ["reason"], **own
        )
        self.in_progress = Gauge(
            "seqtag_requests_in_progress",
            "Requests not answered yet.",
            multiprocess_mode="livesum",
            **own,
        )
        self.in_progress.set(0)  # the file may be that of a worker that was killed


def _slot(folder: Path) -> tuple[Any, str]:
    """Return the name of the files of this process, and a lock, which it holds as long as it lives.

    Raises
    ------
    OSError
        If there is no space for the files.
    """
    for number in count(1):
        lock = Path(folder, f"{number}.lock").open("ab")  # noqa: SIM115
        if not locks.acquire(lock.fileno()):
            lock.close()
            continue
        for kind in _KINDS:
            with Path(folder, f"{kind}_{number}.db").open("ab") as file:
                file.write(bytes(max(0, _FILE_BYTES - file.tell())))
        return lock, str(number)
    raise AssertionError
