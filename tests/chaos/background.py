"""What goes on beside something else: threads that end when it does."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def all_the_while(*works: Callable[[threading.Event], None]) -> Iterator[None]:
    """``works`` side by side, until the block is left; each ends soon after its event is set."""
    stop = threading.Event()
    threads = [threading.Thread(target=work, args=(stop,), daemon=True) for work in works]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        stop.set()
        for thread in threads:
            thread.join(120)
