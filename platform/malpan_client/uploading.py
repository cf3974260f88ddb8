"""Forms with files, as browsers send them."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from malpan_client.showing import Bar
from malpan_client.transport import Body


def form_of(texts: Mapping[str, str], files: Mapping[str, Path], bar: Bar) -> dict[str, Any]:
    """The options of a request (``Site.request``) that sends a form. Files are read while they are sent."""
    mark = secrets.token_hex(16)
    parts: list[bytes | Path] = []
    for name, text in texts.items():
        parts.append(f'--{mark}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{text}\r\n'.encode())
    for name, path in files.items():
        named = path.name.replace("\\", "_").replace('"', "_").replace("\r", "_").replace("\n", "_")
        parts.append(
            f'--{mark}\r\nContent-Disposition: form-data; name="{name}"; filename="{named}"\r\n'
            "Content-Type: application/octet-stream\r\n\r\n".encode()
        )
        parts += [path, b"\r\n"]
    parts.append(f"--{mark}--\r\n".encode())
    return {
        "body": Body(*parts, progress=bar),
        "headers": {"Content-Type": f"multipart/form-data; boundary={mark}"},
    }
