"""Tagging of many files on a Ray cluster: one remote function, which Ray repeats and moves."""

from __future__ import annotations

import logging
import os
import signal
import sys
from contextlib import contextmanager, redirect_stdout
from functools import lru_cache, partial
from importlib import import_module
from itertools import islice
from typing import TYPE_CHECKING, Any

from seqtag.batch.files import Job
from seqtag.errors import ClusterError, install_hint

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from seqtag.batch.files import Result, Runner

_RETRIES = 3  # of a task whose worker is lost
_MAX_TASKS = 10_000  # submitted at a time
_POLL_SECONDS = 1.0  # between two looks at the results


@contextmanager
def ray_runner(address: str | None = None, workers: int | None = None) -> Iterator[Runner]:
    """Lend a runner for `tag_files` on a Ray cluster; one that is started here ends with the block.

    Each file is a task, which Ray repeats three times if its worker is lost. All machines need
    seqtag and access to the files.

    Parameters
    ----------
    address
        As ``ray.init`` takes it; None for ``$RAY_ADDRESS``, and if there is none a cluster on this
        machine.
    workers
        Processes of a cluster on this machine; None for one per core.

    Raises
    ------
    ClusterError
        If Ray is not installed, or there is no cluster at the address.
    """
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # unless the user turns them on
    # Otherwise Ray repeats without end what is killed because memory is short.
    os.environ.setdefault("RAY_task_oom_retries", str(_RETRIES))
    address = address or os.environ.get("RAY_ADDRESS") or "local"
    handler = signal.getsignal(signal.SIGTERM)
    with redirect_stdout(sys.stderr):  # where Ray prints that workers were lost
        try:
            ray = import_module("ray")
            options = {"log_to_driver": False, "logging_level": logging.ERROR}
            ray.init(address, num_cpus=workers, include_dashboard=False, **options)
        except ImportError:
            msg = f"expected the package ray, found none; {install_hint('ray')}"
            raise ClusterError(msg) from None
        except (ConnectionError, RuntimeError, ValueError) as error:
            msg = f"expected a Ray cluster at {address}, found none ({error}); check the address"
            raise ClusterError(msg) from error
        signal.signal(signal.SIGTERM, handler)  # which Ray takes
        try:
            yield partial(_run, ray)
        finally:
            ray.shutdown()


def _run(
    ray: Any, work: Callable[..., Result], jobs: Sequence[Job], threads: int
) -> Iterator[Result]:
    """Yield the results of tasks on the cluster."""
    task = ray.remote(_tag).options(max_retries=_RETRIES, num_cpus=threads)
    box, waiting = [ray.put(work)], iter(jobs)
    pending: dict[Any, Job] = {}
    while True:
        for job in islice(waiting, _MAX_TASKS - len(pending)):
            paths = Job(*map(os.path.abspath, job))  # workers have other folders
            pending[task.remote(box, paths, threads)] = job
        if not pending:
            return
        ready, _ = ray.wait(list(pending), num_returns=len(pending), timeout=_POLL_SECONDS)
        for each in ready:
            try:
                _, result = ray.get(each)
            except ray.exceptions.RayError as error:
                result = error
            yield pending.pop(each), result


def _tag(box: Sequence[Any], job: Job, threads: int) -> Result:
    """Tag a file, on a worker; a reference in a list is not replaced by its value."""
    return _fetched(box[0])(job, threads)


@lru_cache(1)
def _fetched(work: Any) -> Callable[..., Result]:
    """Return the function with its models, which a worker fetches once and keeps."""
    found: Callable[..., Result] = import_module("ray").get(work)
    return found
