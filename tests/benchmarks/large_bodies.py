"""What becomes of an upload that is too large: how much of it a server takes, and whether its sender is told."""

from __future__ import annotations

import select
import socket
from dataclasses import dataclass
from typing import Final

from tests.chaos.contest import SLUG

MEGABYTES: Final = 90  # more than four times what the site takes
PIECE: Final = 64 * 1024
ANSWER_SECONDS: Final = 60.0
CODE: Final = b"upload_too_large"
PATH: Final = f"/api/v1/competitions/{SLUG}/tracks/labels/submissions/"
PART: Final = b'--b\r\nContent-Disposition: form-data; name="file"; filename="labels.json"\r\n\r\n'


@dataclass(frozen=True)
class Told:
    """``status`` (0: none), whether the answer names the cause, and the megabytes that were sent before it came."""

    status: int
    is_named: bool
    megabytes: float

    def __str__(self) -> str:
        said = f"{self.status} {'named' if self.is_named else 'unnamed'}" if self.status else "no answer"
        return f"{said}, {self.megabytes:.0f} MB taken"


def sent(port: int, token: str, *, in_chunks: bool, megabytes: int = MEGABYTES) -> Told:
    """Send a file of ``megabytes``, too large, its length declared or ``in_chunks``, until there is an answer."""
    length = "Transfer-Encoding: chunked" if in_chunks else f"Content-Length: {megabytes * 2**20}"
    head = (
        f"POST {PATH} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\nAccept-Language: ko\r\n"
        f"Content-Type: multipart/form-data; boundary=b\r\n{length}\r\nConnection: close\r\n\r\n"
    )
    with socket.create_connection(("127.0.0.1", port), timeout=ANSWER_SECONDS) as client:
        count = _push(client, head.encode(), in_chunks, megabytes * 2**20)
        answer = _answer(client)
    status = answer.split(b" ", 2)[1] if answer.startswith(b"HTTP/1.1 ") else b"0"
    return Told(int(status), CODE in answer, count / 2**20)


def _push(client: socket.socket, head: bytes, in_chunks: bool, size: int) -> int:
    """Send the body until something comes back, or the server takes no more; the bytes that its system took."""
    count = 0
    try:
        client.sendall(head)
        while count < size:
            if select.select([client], [], [], 0)[0]:
                break
            piece = PART.ljust(PIECE) if not count else b" " * PIECE
            client.sendall(b"%x\r\n%b\r\n" % (PIECE, piece) if in_chunks else piece)
            count += PIECE
        else:
            client.sendall(b"0\r\n\r\n" if in_chunks else b"")
    except OSError:
        pass
    return count


def _answer(client: socket.socket) -> bytes:
    """What can be read of an answer."""
    found = b""
    try:
        while piece := client.recv(2**16):
            found += piece
    except OSError:
        pass
    return found
