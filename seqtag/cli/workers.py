"""Worker processes of ``seqtag serve --workers``, which share the memory of the models."""

from __future__ import annotations

import gc
import multiprocessing
import os
import signal
import time
from itertools import count
from multiprocessing.connection import wait
from typing import TYPE_CHECKING

from seqtag.cli.signals import Interruption

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable, Sequence
    from multiprocessing.process import BaseProcess

_EVERY = 0.2  # seconds between two looks at signals
_PAUSE = 1.0  # seconds that a worker works at least before it is started again


class Workers:
    """Processes that serve; each is started again when it ends.

    They are forks of this process, which has the models and the sockets, so that neither is lost
    when a worker ends. Their names are numbers; one that is free again is the name of the next
    worker, which continues the files of its metrics.

    Parameters
    ----------
    listeners
        The listening socket of each worker.
    serve
        Serves on a socket until SIGTERM, or SIGUSR1 if another worker takes over.
    caught
        Signals that end all workers.
    read_again
        Reads the models again, and returns whether they are new.
    complain
        Is passed a line about each worker that ends by itself.
    """

    def __init__(
        self,
        listeners: Sequence[socket.socket],
        serve: Callable[[socket.socket], None],
        caught: Sequence[int],
        read_again: Callable[[], bool],
        complain: Callable[[str], None],
    ):
        self._listeners, self._serve, self._caught = listeners, serve, caught
        self._read_again, self._complain = read_again, complain
        self._taken: list[int] = []  # signals
        self._workers: list[BaseProcess] = []
        self._leaving: list[BaseProcess] = []
        self._begun: dict[str, float] = {}  # when each was started, by name

    def read_again(self) -> None:
        """Have the workers replaced by those of new models; can be called by a signal handler."""
        self._taken.append(signal.SIGHUP)

    def run(self) -> None:
        """Serve until a signal ends it; a second SIGINT ends it at once."""
        from prometheus_client.multiprocess import mark_process_dead

        for number in self._caught:
            signal.signal(number, lambda number, _: self._taken.append(number))
        gc.collect()
        gc.freeze()  # the memory of these objects stays shared
        for listener in self._listeners:
            self._workers.append(self._started(listener))
        is_ending = False
        while everyone := [*self._workers, *self._leaving]:
            wait([each.sentinel for each in everyone], _EVERY)
            while self._taken:
                number = self._taken.pop(0)
                if number == signal.SIGHUP:
                    if not is_ending and self._read_again():
                        self._replace()
                elif is_ending and number == signal.SIGINT:
                    for each in everyone:
                        each.kill()
                    Interruption.exit_at_once(number)
                else:
                    is_ending = True
                    for listener in self._listeners:
                        listener.close()  # each is open until its worker closes it
                    for each in everyone:
                        each.terminate()
            for each in [each for each in everyone if not each.is_alive()]:
                mark_process_dead(each.name)  # type: ignore[no-untyped-call]
                if each in self._leaving:
                    self._leaving.remove(each)
                elif is_ending:
                    self._workers.remove(each)
                else:
                    self._complain(f"a worker ended (exit code {each.exitcode}), starting another")
                    time.sleep(max(0, self._begun[each.name] + _PAUSE - time.monotonic()))
                    slot = self._workers.index(each)
                    self._workers[slot] = self._started(self._listeners[slot])

    def _replace(self) -> None:
        """Start new workers; the old ones finish their requests."""
        for slot, old in enumerate(self._workers):
            self._workers[slot] = self._started(self._listeners[slot])
            self._leaving.append(old)
            if old.pid and old.is_alive():
                os.kill(old.pid, signal.SIGUSR1)

    def _started(self, listener: socket.socket) -> BaseProcess:
        taken = {each.name for each in [*self._workers, *self._leaving]}
        name = next(name for name in map(str, count(1)) if name not in taken)
        held = [*self._caught, signal.SIGUSR1]
        signal.pthread_sigmask(signal.SIG_BLOCK, held)  # until the worker takes them
        try:
            worker = multiprocessing.get_context("fork").Process(
                target=self._work, name=name, args=(listener, held)
            )
            worker.start()
            self._begun[name] = time.monotonic()
        finally:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, held)
        return worker

    def _work(self, listener: socket.socket, held: Sequence[int]) -> None:
        """Serve, in a process of its own, which signals of the terminal do not reach."""
        os.setpgid(0, 0)
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        for other in self._listeners:
            if other is not listener:
                other.close()
        for number in held:
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, held)
        self._serve(listener)
