"""Several pieces of work at a time, each in a process of its own."""

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context, parent_process
from multiprocessing.connection import wait
from threading import Thread
from typing import TypeVar

from spanwise.errors import LearnerError

Task = TypeVar("Task")
Result = TypeVar("Result")


def each(work: Callable[[Task], Result], tasks: Sequence[Task], workers: int) -> Iterator[tuple[Task, Result]]:
    """Tasks as they are done, so many at a time.

    Where one fails, those that are running beside it are still finished, and then its error is raised.

    Args:
        work: what is done with each; it must survive the way to another process.
        tasks: what is to be done.
        workers: how many at a time; 1 stays in this process.
    """
    if workers == 1:
        for task in tasks:
            yield task, work(task)
        return
    with ThreadPoolExecutor(workers) as threads:
        running = {threads.submit(apart, work, task): task for task in tasks}
        failure: BaseException | None = None
        try:
            for done in as_completed(running):
                if done.cancelled():
                    continue
                if error := done.exception():
                    failure = failure or error
                    for other in running:
                        other.cancel()
                else:
                    yield running[done], done.result()
        finally:
            for other in running:
                other.cancel()
    if failure is not None:
        raise failure


def apart(work: Callable[[Task], Result], task: Task) -> Result:
    """In a process of its own, which gives back all that it took of memory and of a GPU."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn"), initializer=end_with_parent) as process:
        try:
            return process.submit(work, task).result()
        except BrokenProcessPool as error:
            raise LearnerError(
                f"the process that played {task} was ended from outside, as happens when memory runs out. What was "
                "done before is kept: start again, with fewer --workers"
            ) from error


def end_with_parent() -> None:
    """This process ends when the one that started it is gone, even by a kill that let it tell nobody."""
    Thread(target=_await_end_of_parent, daemon=True).start()


def _await_end_of_parent() -> None:
    if parent := parent_process():
        wait([parent.sentinel])
        os._exit(1)  # whatever the main thread is at
