"""Settings of the web server (gunicorn), read from the environment. Used as ``--config python:malpan.web_server``."""

import multiprocessing
import os
import socket
import struct
from typing import Any

from malpan.local.die_with_parent import die_with_parent

bind = os.environ.get("MALPAN_LISTEN") or f"{os.environ.get('HOST', '127.0.0.1')}:{os.environ.get('PORT', '8000')}"
worker_class = "gthread"
workers = int(os.environ.get("WEB_WORKERS") or min(2, multiprocessing.cpu_count()))
threads = int(os.environ.get("WEB_THREADS") or 4)
preload_app = True  # Django is imported once and its memory shared by the workers
timeout = 60
graceful_timeout = 8
keepalive = 5
stall_seconds = int(os.environ.get("WEB_STALL_SECONDS") or 20)  # no byte of a request or a response for so long
max_requests = 5000
max_requests_jitter = 500
control_socket_disable = True  # nothing here uses it, and its default path is shared by all sites of a user
accesslog = os.environ.get("ACCESS_LOG") or None
errorlog = "-"
loglevel = os.environ.get("WEB_LOG_LEVEL", "warning")
forwarded_allow_ips = os.environ.get("FORWARDED_ALLOW_IPS", "127.0.0.1")


def when_ready(server: Any) -> None:
    """Close the connection of a stalled client: it would occupy one of the few threads without limit.

    On Linux, connections inherit these options of the listening socket; Python's own timeouts they do not.
    """
    limit = struct.pack("ll", stall_seconds, 0)
    for listener in server.LISTENERS:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, limit)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, limit)


def post_fork(server: Any, worker: Any) -> None:
    """A worker ends with the server, even if that is killed."""
    die_with_parent(server.pid)
