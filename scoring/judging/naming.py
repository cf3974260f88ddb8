"""What may be in a signature, which everybody reads: names of models, but no path of a machine and no secret.

A server often names its model by the path of its folder or file; the base name remains, so that the same model has one
name wherever it lies. The key that is sent is taken out of everything, should a server repeat it or a profile hold it
in the wrong place. Of what a profile hands on to the server unread (``extra``) texts are shown as hashes.
"""

from __future__ import annotations

import hashlib
import re
from typing import Any, Final

WITHHELD: Final = "***"
HASH_CHARS: Final = 16
# absolute, from home or from here, of Windows, a URL; or deeper than owner/name; or a file of weights
_PATH: Final = re.compile(
    r"(?:/|~|\.{1,2}[/\\]|[A-Za-z]:[/\\]|file:|[a-z]+://).*|.*\\.*|[^/\s]+(?:/[^/\s]+){2,}/?"
    r"|[^/\s]+/.+\.(?:gguf|ggml|bin|safetensors|pth?)",
    re.DOTALL | re.IGNORECASE,
)


def base_name(name: str) -> str:
    """``name``, or the last part of it where it is a path: ``Qwen/Qwen3-8B`` is a name, ``/models/Qwen3-8B`` is not."""
    if not _PATH.fullmatch(name.strip()):
        return name
    parts = [part for part in re.split(r"[/\\]+", name.strip()) if part not in ("", ".", "..", "~")]
    return parts[-1] if parts else WITHHELD


def shown(value: Any, secret: str) -> Any:
    """``value``, which is as JSON has it, with every path reduced to its base name and without ``secret``."""
    if isinstance(value, dict):
        return {_without(str(key), secret): shown(part, secret) for key, part in value.items()}
    if isinstance(value, list):
        return [shown(part, secret) for part in value]
    return base_name(_without(value, secret)) if isinstance(value, str) else value


def hashed(value: Any) -> Any:
    """``value``, which is as JSON has it, with the beginning of its SHA-256 in the place of every text.

    Numbers, booleans and the keys of objects stay: they say which settings a server was given.
    """
    if isinstance(value, dict):
        return {str(key): hashed(part) for key, part in value.items()}
    if isinstance(value, list):
        return [hashed(part) for part in value]
    if isinstance(value, str):
        return f"sha256:{hashlib.sha256(value.encode('utf-8', 'surrogatepass')).hexdigest()[:HASH_CHARS]}"
    return value


def _without(text: str, secret: str) -> str:
    return text.replace(secret, WITHHELD) if secret else text
