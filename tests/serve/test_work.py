"""seqtag.serve.work: room, time, and what becomes of work that is not needed any more."""

from __future__ import annotations

import asyncio
import threading

import pytest

from seqtag.serve import work
from seqtag.serve.work import RequestError, ServerLimits, Work


def test_work_that_takes_too_long_keeps_its_place_until_it_gives_up():
    message = "expected work of at most 0.05 seconds, found more; send less text"

    async def main():
        limits = ServerLimits(seconds=0.05, threads=1, waiting=1)
        queue, go, begun = Work(limits, None), threading.Event(), []
        with pytest.raises(RequestError) as error:
            await queue.run(lambda _: go.wait())
        assert str(error.value) == message
        with pytest.raises(RequestError) as error:  # it never begins
            await queue.run(lambda _: begun.append(1))
        assert str(error.value) == message
        go.set()
        await asyncio.sleep(0.05)
        assert begun == []
        assert await queue.run(lambda _: "again") == "again"

    asyncio.run(main())


def test_room_is_bounded():
    async def main():
        queue, go = Work(ServerLimits(threads=1, waiting=1), None), threading.Event()
        asked = [asyncio.ensure_future(queue.run(lambda _: go.wait())) for _ in range(3)]
        await asyncio.sleep(0.01)
        go.set()
        *found, refused = await asyncio.gather(*asked, return_exceptions=True)
        assert found == [True, True]
        assert (refused.status, refused.reason) == (503, "queue")
        assert str(refused) == "expected at most 2 requests at once, found more; try again later"
        queue.unsent = work.MAX_UNSENT_BYTES + 1
        with pytest.raises(RequestError, match="expected clients that read their answers"):
            await queue.run(lambda _: "unread")
        queue.unsent = 0
        assert await queue.run(lambda _: "read") == "read"

    asyncio.run(main())


def test_texts_that_wait_are_worked_on_together_in_order():
    done = []

    def tag(kind, texts, deadline):
        done.append((kind, texts))
        if kind == "bad":
            raise ValueError(texts)
        return [text.upper().encode() for text in texts]

    async def main():
        queue = Work(ServerLimits(), tag)
        large = "x" * Work.MAX_CHARACTERS
        asked = [("a", "one"), ("a", "two"), ("bad", "three"), ("b", large), ("b", "y"), ("a", "z")]
        answers = [asyncio.ensure_future(queue.tag_short(*each)) for each in asked]
        await asyncio.sleep(0)
        answers[4].cancel()  # its request has ended
        found = await asyncio.gather(*answers, return_exceptions=True)
        assert found[:2] == [b"ONE", b"TWO"] and found[5] == b"Z"
        assert isinstance(found[2], ValueError) and isinstance(found[4], asyncio.CancelledError)
        assert [(kind, len(texts)) for kind, texts in done] == [*(("a", 3), ("bad", 1), ("b", 1))]

    asyncio.run(main())


def test_texts_of_requests_that_have_ended_take_no_room():
    async def main():
        queue = Work(ServerLimits(), lambda kind, texts, deadline: [b"done"] * len(texts))
        texts = ["x" * Work.MAX_CHARACTERS] + ["y"] * (Work.MAX_WAITING - 1)
        first, *others = [asyncio.ensure_future(queue.tag_short("a", each)) for each in texts]
        await asyncio.sleep(0)
        for each in others:
            each.cancel()
        assert await first == b"done"
        assert await queue.tag_short("a", "again") == b"done"

    asyncio.run(main())


def test_texts_that_wait_are_not_more_than_memory_holds():
    """Clients that leave at once do not count as connections, but their texts still wait."""

    async def main():
        queue = Work(ServerLimits(), lambda kind, texts, deadline: [b"done"] * len(texts))
        asked = [queue.tag_short("a", "text") for _ in range(Work.MAX_WAITING + 2)]
        *found, last, very_last = await asyncio.gather(*asked, return_exceptions=True)
        assert {*found} == {b"done"} and await queue.tag_short("a", "text") == b"done"
        assert isinstance(last, RequestError) and isinstance(very_last, RequestError)

    asyncio.run(main())
