"""What is kept fits into its room, and what was used longest ago goes first."""

from __future__ import annotations

import random

from scoring.lru import LruCache
from tests.threads import at_once


def test_what_was_used_longest_ago_goes_first():
    cache: LruCache[str, int] = LruCache(3)
    for number, key in enumerate("abc"):
        cache.put(key, number)
    cache.get("a")
    cache.put("d", 3)
    assert [key in cache for key in "abcd"] == [True, False, True, True]
    assert len(cache) == 3


def test_room_is_counted_by_size_and_a_new_value_takes_the_place_of_the_old():
    cache: LruCache[str, str] = LruCache(10, len)
    cache.put("a", "12345")
    cache.put("a", "123")
    cache.put("b", "1234567")
    assert (cache.get("a"), cache.get("b"), cache.size) == ("123", "1234567", 10)
    cache.put("c", "1")
    assert (cache.get("a"), cache.size) == (None, 8)


def test_what_is_larger_than_all_the_room_is_not_kept_and_drives_nothing_out():
    cache: LruCache[str, str] = LruCache(3, len)
    cache.put("a", "123")
    cache.put("b", "1234")
    assert (cache.get("a"), cache.get("b")) == ("123", None)


def test_threads_may_share_it():
    cache: LruCache[int, int] = LruCache(50)

    def work(seed: int) -> None:
        chance = random.Random(seed)
        for _ in range(3_000):
            key = chance.randrange(200)
            assert cache.get(key) in (None, key)
            cache.put(key, key)

    at_once([lambda seed=seed: work(seed) for seed in range(4)])
    assert len(cache) == cache.size == 50
