"""Training on shards on a Ray cluster: an actor for each core keeps shards over all rounds.

If a worker is lost, Ray starts its actor again and repeats the call; the arguments of a call are
all that it depends on besides the files.
"""

from __future__ import annotations

from collections import deque
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from seqtag.batch.parameter_mixing import Shard
from seqtag.batch.ray_cluster import ATTEMPTS
from seqtag.batch.storage import absolute
from seqtag.errors import ClusterError, SeqtagError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from seqtag.batch.parameter_mixing import CallShards, ShardOptions


class ShardActor:
    """Worker process on the cluster. It reads each of its shards when it is first called for it.

    Parameters
    ----------
    sources
        The files of all shards, including those of other actors.
    options
        How to learn from them.
    """

    def __init__(self, sources: Sequence[str], options: ShardOptions):
        self._sources, self._options = sources, options
        self._shards: dict[int, Shard] = {}

    def call(self, i: int, method: str, *arguments: Any) -> Any:
        """Return the result of a method of shard i, or its error if that is one for the user."""
        try:
            if i not in self._shards:
                self._shards[i] = Shard(i + 1, self._sources[i], self._options)
            return getattr(self._shards[i], method)(*arguments)
        except (SeqtagError, OSError) as error:
            return error


@contextmanager
def ray_shards(
    sources: Sequence[str], options: ShardOptions, *, ray: Any, attempts: int = ATTEMPTS
) -> Iterator[CallShards]:
    """Lend shards on a cluster to a block.

    Shard i belongs to actor i modulo the number of actors, one for each core. An actor executes
    one call at a time, and has at most two to answer, so that few results wait for the driver.

    Parameters
    ----------
    sources
        A file for each shard: a path that all workers see, or an address.
    options
        How to learn from them.
    ray
        The module, connected: see `seqtag.batch.ray_cluster.connected`.
    attempts
        How many workers a call may lose until it fails, 1 or more.
    """
    names = [absolute(each) for each in sources]
    # An actor takes a core while it is placed, none later: a core lost with its machine must not
    # keep an actor that is started again waiting.
    actor_class = ray.remote(ShardActor).options(
        max_restarts=-1, max_task_retries=attempts - 1, scheduling_strategy="SPREAD"
    )
    cores = max(1, int(ray.cluster_resources().get("CPU", 0)))
    actors = [actor_class.remote(names, options) for _ in range(min(cores, len(names)))]

    def result(i: int, ref: Any) -> Any:
        try:
            found = ray.get(ref)
        except ray.exceptions.RayError as error:
            reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
            msg = (
                f"expected a result for this shard, found its worker lost {attempts} times "
                f"({reason}); check the available memory; with a checkpoint, the same command with "
                "--resume continues from the last round"
            )
            raise ClusterError(msg, source=names[i]) from error
        if isinstance(found, (SeqtagError, OSError)):
            raise found
        return found

    def call(method: str, *arguments: Any) -> Iterator[Any]:
        boxes = [ray.put(each) for each in arguments]  # once to each machine
        pending: deque[tuple[int, Any]] = deque()
        for i in range(len(names)):
            pending.append((i, actors[i % len(actors)].call.remote(i, method, *boxes)))
            if len(pending) == 2 * len(actors):
                yield result(*pending.popleft())
        while pending:
            yield result(*pending.popleft())

    try:
        yield call
    finally:
        for actor in actors:
            ray.kill(actor)
