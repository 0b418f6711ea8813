"""Training on shards on a Ray cluster: an actor for each shard keeps its sentences over all rounds.

The state of an actor follows from its file and its plan: if a worker is lost, a new actor repeats
the round. The driver alone counts attempts; Ray retries nothing by itself.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from seqtag.batch.ray_tagging import ATTEMPTS
from seqtag.batch.shards import EncodedShard, Shard, train_shard
from seqtag.batch.storage import is_address, place_of
from seqtag.errors import ClusterError, SeqtagError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from seqtag.batch.mixing import ShardUpdate, Table
    from seqtag.batch.shards import Plan, ShardOptions, ShardStats
    from seqtag.labels.coding import LabelCoding
    from seqtag.training.problem import WordLabels


class ShardActor:
    """A shard on a worker, read at the first call.

    Parameters
    ----------
    source
        Its file.
    options
        How to learn from it.
    plan
        Its plan, if there is one already.
    """

    def __init__(self, source: str, options: ShardOptions, plan: Plan | None = None):
        self._source, self._options, self._plan = source, options, plan
        self._shard: Shard | None = None
        self._encoded: EncodedShard | None = None

    def call(self, method: str, *arguments: Any) -> Any:
        """Return the result of a method, or its error if it is one to show to the user."""
        try:
            return getattr(self, method)(*arguments)
        except (SeqtagError, OSError) as error:
            return error

    def stats(self) -> ShardStats:
        """Return the statistics of the shard."""
        return self._read().stats()

    def labels(self, coding: LabelCoding) -> list[str]:
        """Return its labels, encoded."""
        return self._read().labels(coding)

    def begin(self, plan: Plan) -> WordLabels | None:
        """Encode the shard by its plan; return the labels of its words, if needed."""
        self._plan, self._encoded = plan, None
        return self._encode().words

    def round(self, table: Table, number: int, seed: int) -> ShardUpdate:
        """Return what it changes in a round."""
        return train_shard(table, self._encode(), number, seed)

    def _read(self) -> Shard:
        if self._shard is None and is_address(self._source):
            with place_of(self._source).open() as file:
                self._shard = Shard(self._options.files.open(file), self._options)
        elif self._shard is None:
            self._shard = Shard(self._source, self._options)
        return self._shard

    def _encode(self) -> EncodedShard:
        if self._encoded is None:
            if self._plan is None:
                msg = "a shard must begin with its plan"
                raise RuntimeError(msg)
            self._encoded = self._read().encode(self._plan)
            self._shard = None  # rounds need the arrays only
        return self._encoded


class RayShardWorkers:
    """Shards on a cluster: `seqtag.batch.parameter_mixing.ShardWorkers` with an actor for each.

    Parameters
    ----------
    ray
        The module, connected: see `seqtag.batch.ray_cluster.connected`.
    sources
        A file for each shard: a path that all workers see, or an address.
    options
        How to learn from them.
    attempts
        How often a call is tried whose worker is lost.
    on_lost
        Called for each worker that is lost, with the shard and the reason.
    """

    def __init__(
        self,
        ray: Any,
        sources: Sequence[str],
        options: ShardOptions,
        attempts: int = ATTEMPTS,
        on_lost: Callable[[str, str], object] = lambda *_: None,
    ):
        self._ray, self._options, self._attempts = ray, options, attempts
        self._on_lost = on_lost
        self._sources = [
            each if is_address(each) else os.path.abspath(each)  # noqa: PTH100  links stay
            for each in sources
        ]
        self._plans: Sequence[Plan | None] = [None] * len(sources)
        # An actor takes a core while it is placed, none later: there may be more shards than cores.
        self._actor_class = ray.remote(ShardActor).options(
            max_restarts=0, max_task_retries=0, scheduling_strategy="SPREAD"
        )
        self._actors = [self._new_actor(i) for i in range(len(sources))]

    def stats(self) -> Sequence[ShardStats]:
        """Return the statistics of each shard."""
        return list(self._call("stats", [()] * len(self._actors)))

    def labels(self, coding: LabelCoding) -> Sequence[list[str]]:
        """Return the labels of each shard, encoded."""
        return list(self._call("labels", [(coding,)] * len(self._actors)))

    def begin(self, plans: Sequence[Plan]) -> Sequence[WordLabels | None]:
        """Encode each shard by its plan."""
        self._plans = plans
        return list(self._call("begin", [(plan,) for plan in plans]))

    def round(self, table: Table, number: int, seed: int) -> Iterator[ShardUpdate]:
        """Return what each shard changed in a round; the weights travel once to each machine."""
        weights = self._ray.put(table)
        return self._call("round", [(weights, number, seed)] * len(self._actors))

    def end(self) -> None:
        """End all actors."""
        for actor in self._actors:
            self._ray.kill(actor)

    def _new_actor(self, i: int) -> Any:
        return self._actor_class.remote(self._sources[i], self._options, self._plans[i])

    def _call(self, method: str, arguments: Sequence[tuple[Any, ...]]) -> Iterator[Any]:
        """Call a method of all actors at once; yield the results in the order of the shards."""
        refs = [
            actor.call.remote(method, *given)
            for actor, given in zip(self._actors, arguments, strict=True)
        ]
        for i, given in enumerate(arguments):
            result = self._result(i, refs[i], (method, *given))
            refs[i] = None  # lets the object store free it
            if isinstance(result, (SeqtagError, OSError)):
                raise result
            yield result

    def _result(self, i: int, ref: Any, call: tuple[Any, ...]) -> Any:
        """Return the result of a call; if its worker is lost, call a new actor.

        Raises
        ------
        ClusterError
            If too many workers are lost.
        """
        attempt = 1
        while True:
            try:
                return self._ray.get(ref)
            except self._ray.exceptions.RayError as error:
                lines = str(error).strip().splitlines() or [type(error).__name__]
                self._on_lost(self._sources[i], lines[0])
                if attempt >= self._attempts:
                    msg = (
                        f"expected a result for this shard, found its worker lost {attempt} "
                        f"times ({lines[0]}); check the available memory; with a checkpoint, the "
                        "same command with --resume continues from the last round"
                    )
                    raise ClusterError(msg, source=self._sources[i]) from error
                self._actors[i] = self._new_actor(i)
                ref = self._actors[i].call.remote(*call)
                attempt += 1


@contextmanager
def ray_shard_workers(
    sources: Sequence[str],
    options: ShardOptions,
    *,
    ray: Any,
    attempts: int = ATTEMPTS,
    on_lost: Callable[[str, str], object] = lambda *_: None,
) -> Iterator[RayShardWorkers]:
    """Lend workers on a cluster to the block, and end them; see `RayShardWorkers`."""
    workers = RayShardWorkers(ray, sources, options, attempts, on_lost)
    try:
        yield workers
    finally:
        workers.end()
