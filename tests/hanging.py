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
    """Hands what comes at ``port`` to the server behind a Unix socket, as long as ``flows`` is set."""

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
def forwarded(path: Path) -> Iterator[Forwarder]:
    """A forwarder to the Unix socket ``path``; it hangs while its ``flows`` is cleared."""
    ends: list[socket.socket] = []
    with socket.create_server(("127.0.0.1", 0)) as listener:
        forwarder = Forwarder(listener.getsockname()[1])
        forwarder.flows.set()

        def accept() -> None:
            with suppress(OSError):
                while True:
                    client = listener.accept()[0]
                    server = socket.socket(socket.AF_UNIX)
                    server.connect(str(path))
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
