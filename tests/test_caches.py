"""Two runs of the tests at once do not empty each other's cache."""

from django.core.cache import cache


def test_emptying_the_cache_leaves_the_keys_of_another_run() -> None:
    redis = cache._cache.get_client(None, write=True)
    redis.set("another-run:1:attempts", 3, ex=60)
    cache.set("attempts", 5)

    cache.clear()

    assert cache.get("attempts") is None
    assert redis.get("another-run:1:attempts") == b"3"
