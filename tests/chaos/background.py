"""What goes on beside something else: threads that end when it does."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def all_the_while(*works: Callable[[threading.Event], None]) -> Iterator[None]:
    """``works`` side by side, until the block is left; each ends soon after its event is set. What one of them raised
    is raised at the end: who looks at nothing would find nothing.
    """
    stop, errors = threading.Event(), list[BaseException]()

    def do(work: Callable[[threading.Event], None]) -> None:
        try:
            work(stop)
        except BaseException as error:  # noqa: BLE001 - raised again at the end
            errors.append(error)

    threads = [threading.Thread(target=do, args=(work,), daemon=True) for work in works]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        stop.set()
        for thread in threads:
            thread.join(120)
    if errors:
        raise errors[0]
