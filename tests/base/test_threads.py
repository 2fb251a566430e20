"""Threads: calls in their order, none that was given up, and no end that waits for what hangs."""

import threading

import pytest

from ratecard.base.threads import Threads, stoppable

# Seconds, far more than anything takes on a busy machine: a test fails only if something never happens.
PATIENCE = 120


def test_calls_are_made_in_their_order_by_no_more_threads_than_allowed() -> None:
    threads, names, made = Threads(2, "test"), set[int](), list[int]()

    def call(number: int) -> int:
        names.add(threading.get_ident())
        made.append(number)
        return number

    futures = [threads.submit(lambda number=number: call(number)) for number in range(20)]  # type: ignore[misc]
    assert [each.result(PATIENCE) for each in futures] == list(range(20))
    assert len(names) <= 2
    threads.close(PATIENCE)
    with pytest.raises(RuntimeError, match="test is closed"):
        threads.submit(lambda: None)


def test_a_call_that_was_given_up_before_it_began_is_not_made() -> None:
    threads, begun, go_on, made = Threads(1, "test"), threading.Event(), threading.Event(), list[str]()

    def first() -> None:
        begun.set()
        go_on.wait(PATIENCE)

    running = threads.submit(first)
    assert begun.wait(PATIENCE)
    given_up, last = threads.submit(lambda: made.append("given up")), threads.submit(lambda: made.append("last"))
    assert threads.waiting() == 2
    assert not running.cancel()
    assert given_up.cancel()
    go_on.set()
    last.result(PATIENCE)
    assert made == ["last"]
    threads.close(PATIENCE)


@pytest.mark.parametrize("error", [ValueError("wrong"), KeyboardInterrupt()])
def test_an_error_is_raised_where_the_result_is_awaited_and_the_thread_goes_on(error: BaseException) -> None:
    def fail() -> None:
        raise error

    threads = Threads(1, "test")
    with pytest.raises(type(error)):
        threads.submit(fail).result(PATIENCE)
    assert threads.submit(lambda: 1).result(PATIENCE) == 1
    threads.close(PATIENCE)


def test_a_call_without_a_thread_is_refused_and_not_made_later(monkeypatch: pytest.MonkeyPatch) -> None:
    def none(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    threads, made = Threads(1, "test"), list[str]()
    with monkeypatch.context() as full:
        full.setattr(threading.Thread, "start", none)
        with pytest.raises(RuntimeError, match="can't start new thread"):
            threads.submit(lambda: made.append("refused"))
    threads.submit(lambda: made.append("now")).result(PATIENCE)
    threads.close(PATIENCE)
    assert made == ["now"]


def test_the_end_waits_for_calls_but_not_for_what_hangs() -> None:
    threads, go_on, done = Threads(1, "test"), threading.Event(), list[str]()

    def hang() -> None:
        go_on.wait(PATIENCE)
        done.append("done")

    running = threads.submit(hang)
    threads.close(0)
    assert done == []
    go_on.set()
    threads.close(PATIENCE)
    running.result(PATIENCE)
    assert done == ["done"]


def test_a_running_call_is_asked_to_stop_until_it_does_and_those_that_wait_are_not_made() -> None:
    asked, running, enough, made = list[int](), threading.Event(), threading.Event(), list[str]()

    def stop() -> None:
        asked.append(1)
        if len(asked) == 3:  # the first two come too soon
            enough.set()

    def call() -> None:
        running.set()
        assert enough.wait(PATIENCE)
        made.append("stopped")

    with pytest.raises(KeyboardInterrupt), stoppable(stop) as pool:
        pool.submit(call)
        pool.submit(lambda: made.append("next"))
        assert running.wait(PATIENCE)
        raise KeyboardInterrupt
    assert len(asked) >= 3
    assert made == ["stopped"]


def test_a_block_that_ends_waits_for_its_calls() -> None:
    made = list[str]()
    with stoppable(lambda: made.append("asked to stop")) as pool:
        for name in ("first", "second"):
            pool.submit(made.append, name)
    assert made == ["first", "second"]
