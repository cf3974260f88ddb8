"""Servers that hang: they accept a connection, as their system does for them, and never answer."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path


@contextmanager
def hanging_server() -> Iterator[int]:
    """The port of a server that never answers."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield listener.getsockname()[1]


@dataclass
class Forwarder:
    """Hands what comes at ``port`` to a server, as long as ``flows`` is set."""

    port: int
    flows: threading.Event = field(default_factory=threading.Event)

    def carry(self, source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(65536):
                self.flows.wait()
                target.sendall(data)
        for each in (source, target):
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)


@contextmanager
def forwarded(server_at: Path | int) -> Iterator[Forwarder]:
    """A forwarder to the server at a Unix socket or a port of this machine; it hangs while its ``flows`` is cleared."""
    ends: list[socket.socket] = []
    with socket.create_server(("127.0.0.1", 0)) as listener:
        forwarder = Forwarder(listener.getsockname()[1])
        forwarder.flows.set()

        def accept() -> None:
            with suppress(OSError):
                while True:
                    client = listener.accept()[0]
                    server = _connected(server_at)
                    ends.extend((client, server))
                    for pair in ((client, server), (server, client)):
                        threading.Thread(target=forwarder.carry, args=pair, daemon=True).start()

        threading.Thread(target=accept, daemon=True).start()
        try:
            yield forwarder
        finally:
            forwarder.flows.set()
            listener.shutdown(socket.SHUT_RDWR)
            for each in ends:
                with suppress(OSError):
                    each.shutdown(socket.SHUT_RDWR)
                each.close()


def _connected(server_at: Path | int) -> socket.socket:
    if isinstance(server_at, int):
        return socket.create_connection(("127.0.0.1", server_at))
    server = socket.socket(socket.AF_UNIX)
    server.connect(str(server_at))
    return server
