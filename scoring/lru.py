"""A cache of bounded size that drops the least recently used values."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Generic, TypeVar

Key = TypeVar("Key")
Value = TypeVar("Value")


class LruCache(Generic[Key, Value]):
    """At most ``max_size`` of values, measured by ``size_of`` (default: 1 each). Threads may share it.

    A value larger than ``max_size`` is not kept.
    """

    def __init__(self, max_size: int, size_of: Callable[[Value], int] = lambda _: 1) -> None:
        self.max_size = max_size
        self.size = 0
        self._size_of = size_of
        self._values: OrderedDict[Key, Value] = OrderedDict()
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._values)

    def __contains__(self, key: Key) -> bool:
        return key in self._values

    def clear(self) -> None:
        """Drop all values."""
        with self._lock:
            self._values.clear()
            self.size = 0

    def get(self, key: Key) -> Value | None:
        """The value of ``key``, which counts as used now, or ``None``."""
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
            return self._values.get(key)

    def put(self, key: Key, value: Value) -> None:
        """Keep ``value``; it replaces an older one of the same key."""
        with self._lock:
            if key in self._values:
                self.size -= self._size_of(self._values.pop(key))
            size = self._size_of(value)
            if size > self.max_size:
                return
            self._values[key] = value
            self.size += size
            while self.size > self.max_size:
                self.size -= self._size_of(self._values.popitem(last=False)[1])
