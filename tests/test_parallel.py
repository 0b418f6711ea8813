"""Work on several threads: results in order, and failures where they belong."""

from __future__ import annotations

import threading
import time

import pytest

from seqtag import parallel
from seqtag.parallel import Pool, in_order


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_results_come_in_the_order_of_the_items(threads):
    def slow_at_first(n: int) -> int:
        time.sleep(0.01 / (n + 1))
        return n * n

    assert list(in_order(slow_at_first, range(20), threads)) == [n * n for n in range(20)]


def test_only_a_few_items_are_taken_ahead():
    taken = []
    results = in_order(str, (taken.append(n) or n for n in range(1000)), 2)
    assert next(results) == "0"
    assert len(taken) < 10


def test_work_is_spread_over_threads():
    barrier = threading.Barrier(2, timeout=10)
    assert list(in_order(lambda _: barrier.wait() >= 0, range(2), 2)) == [True, True]


@pytest.mark.parametrize("threads", [1, 3])
def test_an_error_comes_after_the_results_before_it(threads):
    def items():
        yield from range(4)
        raise ValueError("no more")

    seen = []
    with pytest.raises(ValueError, match="no more"):
        for result in in_order(lambda n: n, items(), threads):
            seen.append(result)
    assert seen == [0, 1, 2, 3]

    def work(n: int) -> int:
        return 1 // (n - 2)

    seen.clear()
    with pytest.raises(ZeroDivisionError):
        for result in in_order(work, range(5), threads):
            seen.append(result)
    assert seen == [-1, -1]


def test_as_many_threads_as_allowed_share_an_item():
    full: list[object] = []
    pool = Pool[object](lambda item: item in full, users=2)
    with pool.borrow(object) as a, pool.borrow(object) as b, pool.borrow(object) as c:
        assert a is b is not c
    full.append(a)
    with pool.borrow(object) as d, pool.borrow(object) as e:
        assert d is e is c


def test_an_item_that_is_in_use_while_all_are_dropped_is_not_used_again():
    """Otherwise a server that is always busy would keep the words of all requests."""
    pool = Pool[list[int]]()
    with pool.borrow(list) as old:
        pool.clear()
    with pool.borrow(list) as new:
        assert new is not old
    with pool.borrow(list) as again:
        assert again is new


def test_threads_that_end_before_they_begin_are_not_waited_for(monkeypatch):
    monkeypatch.setattr(parallel, "_LIVENESS_SECONDS", 0.01)
    monkeypatch.setattr(threading.Thread, "run", lambda _: None)
    with pytest.raises(MemoryError, match="no thread could begin"):
        list(in_order(str, range(5), 2))
