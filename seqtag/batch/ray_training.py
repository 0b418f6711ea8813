"""Training over shards on a cluster: an actor for each, which holds its sentences over the rounds.

All that there is to know of a round is in `seqtag.batch.shards.train_shard`; here is who does
it, and again if need be. What an actor knows it knows from its file and its plan: one that is lost
is made anew, and repeats the round. The driver alone counts attempts, so the engine tries nothing
twice by itself.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from seqtag.batch.ray_tagging import ATTEMPTS
from seqtag.batch.shards import Numbered, Shard, train_shard
from seqtag.batch.storage import is_address, place_of
from seqtag.corpus import read
from seqtag.errors import ClusterError, SeqtagError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from seqtag.batch.mixing import Difference, Table
    from seqtag.batch.shards import Plan, Reading, Survey
    from seqtag.labels.coding import LabelCoding
    from seqtag.training.known_labels import WordLabels


class Seat:
    """A shard on a worker: read when it is first asked.

    Parameters
    ----------
    source
        Its file.
    reading
        How it is read.
    plan
        What it must know of the others, if that is settled.
    """

    def __init__(self, source: str, reading: Reading, plan: Plan | None = None):
        self._source, self._reading, self._plan = source, reading, plan
        self._shard: Shard | None = None
        self._numbered: Numbered | None = None

    def ask(self, what: str, *arguments: Any) -> Any:
        """The answer of a method, or the error that a user is to see."""
        try:
            return getattr(self, what)(*arguments)
        except (SeqtagError, OSError) as error:
            return error

    def survey(self) -> Survey:
        """What the shard has."""
        return self._read().survey()

    def labels(self, coding: LabelCoding) -> list[str]:
        """Its labels as they are learnt."""
        return self._read().labels(coding)

    def begin(self, plan: Plan) -> WordLabels | None:
        """Get to know what it must know."""
        self._plan, self._numbered = plan, None
        return self._ready().words

    def round(self, table: Table, number: int, seed: int) -> Difference:
        """What it changes in a round."""
        return train_shard(table, self._ready(), number, seed)

    def _read(self) -> Shard:
        how = self._reading
        if self._shard is None and is_address(self._source):
            with place_of(self._source).open() as file:
                found = read(file, how.format, columns=how.columns, limits=how.limits)
                self._shard = Shard(found, how)
        elif self._shard is None:
            self._shard = Shard(self._source, how)
        return self._shard

    def _ready(self) -> Numbered:
        if self._numbered is None:
            if self._plan is None:
                msg = "a shard must begin with its plan"
                raise RuntimeError(msg)
            self._numbered = self._read().numbered(self._plan)
            self._shard = None  # the arrays are all that rounds need
        return self._numbered


class Seats:
    """The shards on a cluster: a `seqtag.batch.parameter_mixing.Crew`.

    Parameters
    ----------
    ray
        The engine, connected: see `seqtag.batch.ray_cluster.connected`.
    sources
        A file for each shard: a path that all workers see, or an address.
    reading
        How they are read.
    attempts
        How often a shard is asked the same whose worker is lost.
    on_lost
        Called for each worker that is lost, with the shard and the reason.
    """

    def __init__(
        self,
        ray: Any,
        sources: Sequence[str],
        reading: Reading,
        attempts: int = ATTEMPTS,
        on_lost: Callable[[str, str], object] = lambda *_: None,
    ):
        self._ray, self._reading, self._attempts = ray, reading, attempts
        self._on_lost = on_lost
        self._sources = [
            each if is_address(each) else os.path.abspath(each)  # noqa: PTH100  links stay
            for each in sources
        ]
        self._plans: Sequence[Plan | None] = [None] * len(sources)
        # An actor takes a core while it is placed, none later: there may be more shards than cores.
        self._actor = ray.remote(Seat).options(
            max_restarts=0, max_task_retries=0, scheduling_strategy="SPREAD"
        )
        self._seats = [self._seat(i) for i in range(len(sources))]

    def surveys(self) -> Sequence[Survey]:
        """What each shard has."""
        return list(self._ask("survey", [()] * len(self._seats)))

    def labels(self, coding: LabelCoding) -> Sequence[list[str]]:
        """The labels of each shard as they are learnt."""
        return list(self._ask("labels", [(coding,)] * len(self._seats)))

    def begin(self, plans: Sequence[Plan]) -> Sequence[WordLabels | None]:
        """Tell each shard what it must know."""
        self._plans = plans
        return list(self._ask("begin", [(plan,) for plan in plans]))

    def round(self, table: Table, number: int, seed: int) -> Iterator[Difference]:
        """What each shard changed in a round; the weights travel once to each machine."""
        weights = self._ray.put(table)
        return self._ask("round", [(weights, number, seed)] * len(self._seats))

    def end(self) -> None:
        """Let all workers go."""
        for seat in self._seats:
            self._ray.kill(seat)

    def _seat(self, i: int) -> Any:
        """A new worker for a shard."""
        return self._actor.remote(self._sources[i], self._reading, self._plans[i])

    def _ask(self, what: str, arguments: Sequence[tuple[Any, ...]]) -> Iterator[Any]:
        """The answers of all shards, in their order; all are asked at once."""
        asked = [
            seat.ask.remote(what, *given)
            for seat, given in zip(self._seats, arguments, strict=True)
        ]
        for i, given in enumerate(arguments):
            answer = self._answer(i, asked[i], (what, *given))
            asked[i] = None  # the object store may forget it
            if isinstance(answer, (SeqtagError, OSError)):
                raise answer
            yield answer

    def _answer(self, i: int, ref: Any, question: tuple[Any, ...]) -> Any:
        """The answer of a shard; of a new worker, where one was lost.

        Raises
        ------
        ClusterError
            If too many are.
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
                        f"expected an answer from this shard, found its worker lost {attempt} "
                        f"times ({lines[0]}); is there memory enough? with a checkpoint, the "
                        "same command with --resume goes on from the last round"
                    )
                    raise ClusterError(msg, source=self._sources[i]) from error
                self._seats[i] = self._seat(i)
                ref = self._seats[i].ask.remote(*question)
                attempt += 1


@contextmanager
def seated(
    sources: Sequence[str],
    reading: Reading,
    *,
    ray: Any,
    attempts: int = ATTEMPTS,
    on_lost: Callable[[str, str], object] = lambda *_: None,
) -> Iterator[Seats]:
    """Shards on a cluster, whose workers go at the end of the block; see `Seats`."""
    seats = Seats(ray, sources, reading, attempts, on_lost)
    try:
        yield seats
    finally:
        seats.end()
