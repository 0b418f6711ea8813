"""seqtag.serve.work_queue: room, time, and what becomes of work nobody waits for."""

from __future__ import annotations

import asyncio
import threading

import pytest

from seqtag.serve.work_queue import Batches, BusyError, DeadlineError, WorkQueue


def test_work_that_takes_too_long_keeps_its_place_until_it_gives_up():
    message = "expected work of at most 0.05 seconds, found more; send less text"

    async def main():
        queue, go, begun = WorkQueue(1, 1, 0.05), threading.Event(), []
        with pytest.raises(DeadlineError) as error:
            await queue.run(lambda _: go.wait())
        assert str(error.value) == message
        with pytest.raises(DeadlineError) as error:  # it never begins
            await queue.run(lambda _: begun.append(1))
        assert str(error.value) == message
        go.set()
        await asyncio.sleep(0.05)
        assert begun == []
        assert await queue.run(lambda _: "again") == "again"

    asyncio.run(main())


def test_texts_that_wait_are_worked_on_together_in_order():
    done, gate = [], threading.Event()

    def work(kind, deadline, texts):
        gate.wait()
        done.append((kind, texts))
        if kind == "bad":
            raise ValueError(texts)
        return [text.upper().encode() for text in texts]

    async def main():
        batches = Batches(work, 60)
        large = "x" * batches.MOST_CHARACTERS
        asked = [("a", "one"), ("a", "two"), ("bad", "three"), ("b", large), ("b", "y"), ("a", "z")]
        answers = [asyncio.ensure_future(batches.run(*each)) for each in asked]
        await asyncio.sleep(0.01)
        answers[4].cancel()  # others of its batch are answered
        gate.set()
        found = await asyncio.gather(*answers, return_exceptions=True)
        assert found[:2] == [b"ONE", b"TWO"] and found[5] == b"Z"
        assert isinstance(found[2], ValueError) and isinstance(found[4], asyncio.CancelledError)
        assert [(kind, len(texts)) for kind, texts in done] == [
            *(("a", 3), ("bad", 1), ("b", 1), ("b", 1))
        ]

    asyncio.run(main())


def test_texts_that_wait_are_not_more_than_memory_holds():
    """Clients that leave at once do not count as connections, but their texts still wait."""

    async def main():
        batches = Batches(lambda kind, deadline, texts: [b"done"] * len(texts), 60)
        asked = [batches.run("a", "text") for _ in range(batches.MOST_WAITING + 2)]
        *found, last, very_last = await asyncio.gather(*asked, return_exceptions=True)
        assert {*found} == {b"done"} and await batches.run("a", "text") == b"done"
        assert isinstance(last, BusyError) and isinstance(very_last, BusyError)

    asyncio.run(main())
