"""Training on shards on a Ray cluster: an actor for each core keeps shards over all rounds.

The driver is the process that mixes the weights. It sends each call to the actor of a shard. The
state of an actor follows from the files and the plan: if a worker is lost, a new actor repeats the
call. Only the driver counts attempts; Ray itself retries nothing.
"""

from __future__ import annotations

import os
from collections import deque
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

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
    """Worker process on the cluster. It reads each of its shards when it is first called for it.

    Shards are numbered from 0, in the order of `sources`.

    Parameters
    ----------
    sources
        The files of all shards, including those of other actors.
    options
        How to learn from them.
    plan
        The plan, if this actor replaces one that had begun.
    """

    def __init__(self, sources: Sequence[str], options: ShardOptions, plan: Plan | None = None):
        self._sources, self._options, self._plan = sources, options, plan
        self._shards: dict[int, Shard] = {}
        self._encoded: dict[int, EncodedShard] = {}

    def call(self, method: str, *arguments: Any) -> Any:
        """Return the result of a method, or its error if that is one to show to the user.

        The driver takes errors that are raised on the actor for a lost worker.
        """
        try:
            return getattr(self, method)(*arguments)
        except (SeqtagError, OSError) as error:
            return error

    def stats(self, i: int) -> ShardStats:
        """Return the statistics of shard i."""
        return self._read(i).stats()

    def labels(self, i: int, coding: LabelCoding) -> list[str]:
        """Return the labels of shard i, encoded."""
        return self._read(i).labels(coding)

    def begin(self, i: int, plan: Plan) -> WordLabels | None:
        """Encode shard i by the plan; return the labels of its words, if the plan needs them."""
        self._plan = plan
        self._encoded.pop(i, None)
        return self._encode(i).words

    def round(self, i: int, table: Table, number: int, seed: int) -> ShardUpdate:
        """Train on shard i for one round, from the weights `table`; return the changes."""
        return train_shard(table, self._encode(i), number, seed)

    def _read(self, i: int) -> Shard:
        source = self._sources[i]
        if i not in self._shards and is_address(source):
            with place_of(source).open() as file:
                self._shards[i] = Shard(self._options.files.open(file), self._options)
        elif i not in self._shards:
            self._shards[i] = Shard(source, self._options)
        return self._shards[i]

    def _encode(self, i: int) -> EncodedShard:
        if i not in self._encoded:
            if self._plan is None:
                msg = "a shard must begin with its plan"
                raise RuntimeError(msg)
            self._encoded[i] = self._read(i).encode(self._plan, i + 1)
            del self._shards[i]  # rounds need the arrays only
        return self._encoded[i]


class _Call(NamedTuple):
    """Call for shard i, the handle of its actor, and the reference to its result."""

    i: int
    actor: Any
    ref: Any


class RayShardWorkers:
    """Actors that train on shards on a cluster, one for each core.

    The methods are those of `seqtag.batch.parameter_mixing.ShardWorkers`; their results are in the
    order of the shards. Shard i belongs to actor i modulo the number of actors. An actor executes
    one call at a time, and has at most two to answer, so that few results wait for the driver.

    Parameters
    ----------
    ray
        The module, connected: see `seqtag.batch.ray_cluster.connected`.
    sources
        A file for each shard: a path that all workers see, or an address.
    options
        How to learn from them.
    attempts
        How many workers a call may lose until it fails, 1 or more.
    on_lost
        Called for each worker that is lost, with the file of the shard and the reason.
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
        self._plan: Any = None
        # An actor takes a core while it is placed, none later: a core lost with its machine must
        # not keep a new actor waiting.
        self._actor_class = ray.remote(ShardActor).options(
            max_restarts=0, max_task_retries=0, scheduling_strategy="SPREAD"
        )
        machines = [node["Resources"] for node in ray.nodes() if node["Alive"]]
        cores = max(1, int(sum(each.get("CPU", 0) for each in machines)))
        self._actors = [self._new_actor() for _ in range(min(cores, len(sources)))]

    def stats(self) -> Iterator[ShardStats]:
        """Return the statistics of each shard."""
        return self._call("stats")

    def labels(self, coding: LabelCoding) -> Iterator[list[str]]:
        """Return the labels of each shard, encoded."""
        return self._call("labels", self._ray.put(coding))

    def begin(self, plan: Plan) -> Iterator[WordLabels | None]:
        """Encode each shard by the plan; return the labels of the words of each, if needed."""
        self._plan = self._ray.put(plan)
        return self._call("begin", self._plan)

    def round(self, table: Table, number: int, seed: int) -> Iterator[ShardUpdate]:
        """Return the changes of each shard in a round; the weights travel once to each machine."""
        return self._call("round", self._ray.put(table), number, seed)

    def end(self) -> None:
        """End all actors."""
        for actor in self._actors:
            self._ray.kill(actor)

    def _new_actor(self) -> Any:
        return self._actor_class.remote(self._sources, self._options, self._plan)

    def _call(self, method: str, *arguments: Any) -> Iterator[Any]:
        """Call a method for all shards; yield the results in their order."""

        def ask(i: int) -> _Call:
            actor = self._actors[i % len(self._actors)]
            return _Call(i, actor, actor.call.remote(method, i, *arguments))

        calls: deque[_Call] = deque()
        for i in range(len(self._sources)):
            calls.append(ask(i))
            if len(calls) == 2 * len(self._actors):
                yield self._result(calls.popleft(), ask)
        while calls:
            yield self._result(calls.popleft(), ask)

    def _result(self, call: _Call, ask: Callable[[int], _Call]) -> Any:
        """Return the result of a call; if its worker is lost, repeat it on a new actor.

        Raises
        ------
        ClusterError
            If this call has lost `attempts` workers.
        SeqtagError, OSError
            As the method raised it on the actor.
        """
        lost, source, place = 0, self._sources[call.i], call.i % len(self._actors)
        while True:
            try:
                result = self._ray.get(call.ref)
            except self._ray.exceptions.RayError as error:
                if call.actor is self._actors[place]:  # this call is the first to notice
                    lost += 1
                    lines = str(error).strip().splitlines() or [type(error).__name__]
                    self._on_lost(source, lines[0])
                    if lost >= self._attempts:
                        msg = (
                            f"expected a result for this shard, found its worker lost {lost} "
                            f"times ({lines[0]}); check the available memory; with a checkpoint, "
                            "the same command with --resume continues from the last round"
                        )
                        raise ClusterError(msg, source=source) from error
                    self._actors[place] = self._new_actor()
                call = ask(call.i)
                continue
            if isinstance(result, (SeqtagError, OSError)):
                raise result
            return result


@contextmanager
def ray_shard_workers(
    sources: Sequence[str],
    options: ShardOptions,
    *,
    ray: Any,
    attempts: int = ATTEMPTS,
    on_lost: Callable[[str, str], object] = lambda *_: None,
) -> Iterator[RayShardWorkers]:
    """Start workers on a cluster for the block, and end them after it; see `RayShardWorkers`."""
    workers = RayShardWorkers(ray, sources, options, attempts, on_lost)
    try:
        yield workers
    finally:
        workers.end()
