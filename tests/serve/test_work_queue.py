"""seqtag.serve.work_queue: room, time, and what becomes of work nobody waits for."""

from __future__ import annotations

import asyncio
import threading

import pytest

from seqtag.serve.work_queue import DeadlineError, WorkQueue


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
