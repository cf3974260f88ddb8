"""Redis started as compose.yaml says, natively, and filled: doorbells stay, and new ones are taken."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import redis
from django.conf import settings
from django.core.cache.backends.redis import RedisCache

from malpan.celery import app
from malpan.jobs import doorbell
from malpan.local.servers import RedisServer
from tests.deploy.manifests import composed
from tests.submissions.conftest import pointed_at
from tests.system.stack import free_port
from tests.waiting import wait_for

MEBIBYTE = 2**20


def service() -> dict[str, Any]:
    return composed()["services"]["redis"]


def answers(client: redis.Redis) -> bool:
    try:
        return bool(client.ping())
    except redis.ConnectionError:
        return False


@pytest.fixture
def server(tmp_path: Path) -> Iterator[redis.Redis]:
    """The server of the embedded site under the command of compose, on a port of its own."""
    program, *options = service()["command"]
    assert program == "redis-server"
    port = free_port()
    words = [RedisServer(tmp_path).command()[0], *options, "--bind", "127.0.0.1", "--port", str(port)]
    with (tmp_path / "log").open("w") as log, subprocess.Popen(words, cwd=tmp_path, stdout=log) as process:
        with redis.Redis(port=port) as client:
            wait_for(lambda: answers(client), f"{words}: {(tmp_path / 'log').read_text()}")
            yield client
        process.terminate()
        process.wait(30)
    assert {path.name for path in tmp_path.iterdir()} == {"log"}, "kept nothing on disk"


def test_redis_understands_what_compose_tells_it(server: redis.Redis, tmp_path: Path) -> None:
    told = server.config_get("*")
    assert (told["maxmemory"], told["maxmemory-policy"]) == (str(256 * MEBIBYTE), "volatile-lru")
    assert (told["appendonly"], told["save"]) == ("no", "")
    _, program, *words = service()["healthcheck"]["test"]
    port = server.connection_pool.connection_kwargs["port"]
    asked = [Path(RedisServer(tmp_path).command()[0]).with_name(program), "-p", str(port), *words]
    assert subprocess.run(asked, capture_output=True, text=True, check=True).stdout == "PONG\n"


def test_a_full_redis_drops_what_has_an_end_and_never_a_doorbell(server: redis.Redis) -> None:
    url = f"redis://127.0.0.1:{server.connection_pool.connection_kwargs['port']}/0"
    cache, room = RedisCache(url, {}), 256
    with pointed_at(url):
        assert doorbell.ring()
        assert doorbell.ring()
        for number in range(2 * room):
            cache.set(f"page-{number}", b" " * MEBIBYTE, timeout=3600)
        assert server.info("stats")["evicted_keys"] >= room
        assert server.info("memory")["used_memory"] > 0.9 * room * MEBIBYTE

        assert doorbell.is_ringing()
        assert doorbell.ring(), "taken by a full server"
        assert server.llen(settings.WORK_QUEUE) == 3
        with app.connection_for_read() as broker, broker.SimpleQueue(settings.WORK_QUEUE) as queue:
            for _ in range(3):
                message = queue.get(block=False)
                assert message.headers["task"] == doorbell.TASK
                message.ack()
        assert not doorbell.is_ringing()
