"""seqtag.serve.work_queue: room, time, and what becomes of work nobody waits for."""

from __future__ import annotations

import asyncio
import threading

import pytest

from seqtag.serve.work_queue import BusyError, Deadline, DeadlineError, WorkQueue


def test_results_and_errors_come_back():
    async def main():
        queue = WorkQueue(2, 0, 60)
        assert await queue.run(lambda deadline: deadline.seconds) == 60

        def fail(_):
            raise KeyError("x")

        with pytest.raises(KeyError):
            await queue.run(fail)
        queue.close()

    asyncio.run(main())


def test_there_is_so_much_room_and_no_more():
    async def main():
        queue, go = WorkQueue(1, 1, 60), threading.Event()
        tasks = [asyncio.create_task(queue.run(lambda _: go.wait())) for _ in range(2)]
        await asyncio.sleep(0)
        with pytest.raises(BusyError) as error:
            await queue.run(lambda _: None)
        assert (
            str(error.value) == "expected at most 2 requests at once, found more; try again later"
        )
        go.set()
        assert await asyncio.gather(*tasks) == [True, True]
        await asyncio.sleep(0.01)
        assert await queue.run(lambda _: "again") == "again"
        queue.close()

    asyncio.run(main())


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
        queue.close()

    asyncio.run(main())


def test_a_deadline_stops_a_loop():
    with pytest.raises(DeadlineError):
        list(Deadline(0).watch("ab"))
    assert list(Deadline(60).watch("ab")) == ["a", "b"]
