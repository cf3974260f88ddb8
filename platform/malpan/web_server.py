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
preload_app = True  # one import of Django, its pages shared by the workers
timeout = 60
graceful_timeout = 8
keepalive = 5
stall_seconds = int(os.environ.get("WEB_STALL_SECONDS") or 20)  # not one byte of a request or an answer for so long
max_requests = 5000
max_requests_jitter = 500
control_socket_disable = True  # nothing here speaks to it, and its default place is shared by all sites of a user
accesslog = os.environ.get("ACCESS_LOG") or None
errorlog = "-"
loglevel = os.environ.get("WEB_LOG_LEVEL", "warning")
forwarded_allow_ips = os.environ.get("FORWARDED_ALLOW_IPS", "127.0.0.1")


def when_ready(server: Any) -> None:
    """Give up a client that stalls: it would hold a thread for as long as it likes, and there are few.

    Linux hands these options of a listening socket down to its connections, where Python's own timeouts do not last.
    """
    limit = struct.pack("ll", stall_seconds, 0)
    for listener in server.LISTENERS:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, limit)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, limit)


def post_fork(server: Any, worker: Any) -> None:
    """A worker ends with the server, even when that is killed."""
    die_with_parent(server.pid)
