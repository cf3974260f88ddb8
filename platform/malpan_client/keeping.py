"""What is kept on this machine: tokens by site, and the uploads that have no answer yet. For their owner alone."""

from __future__ import annotations

import json
import os
import re
import stat
import time
from collections.abc import Mapping
from pathlib import Path
from tempfile import mkstemp
from typing import Any
from urllib.parse import urlsplit

from malpan_client.failing import NOT_ALLOWED, WRONG_INPUT, WRONG_USAGE, Failure
from malpan_client.transport import is_loopback
from malpan_client.words import reason_of, say

TOKEN = re.compile(r"[!-~]{8,200}")  # what a header may hold
WEEK = 7 * 24 * 3600.0


def config_file() -> Path:
    return _folder("XDG_CONFIG_HOME", ".config") / "sites.json"


def state_file() -> Path:
    return _folder("XDG_STATE_HOME", ".local/state") / "uploads.json"


def _folder(variable: str, usual: str) -> Path:
    named = os.environ.get(variable, "")
    return (Path(named) if os.path.isabs(named) else Path.home() / usual) / "malpan"


def site_address(given: str) -> str:
    """The address of a site from what somebody types; ``https`` unless it says otherwise, or is this machine."""
    text = given.strip().rstrip("/")
    try:
        if "://" not in text:
            text = f"{'http' if is_loopback(urlsplit(f'//{text}').hostname or '') else 'https'}://{text}"
        parts = urlsplit(text)
    except ValueError as error:
        raise Failure(WRONG_USAGE, say("no_address", address=text)) from error
    if parts.username or parts.password or parts.query or parts.fragment:
        raise Failure(WRONG_USAGE, say("no_address", address=f"{parts.scheme}://{parts.hostname}"))
    return f"{parts.scheme.lower()}://{parts.netloc.lower()}{parts.path.rstrip('/')}"


def usual_site() -> str:
    """The site of the environment, or the last one that somebody logged in to. Raises ``Failure``."""
    found = os.environ.get("MALPAN_SITE") or str(_read(config_file()).get("usual") or "")
    if not found:
        raise Failure(WRONG_USAGE, say("which_site"), hint=say("log_in_there", site="https://…"))
    return site_address(found)


def token_of(site: str) -> str:
    """The token for ``site``; empty where there is none. Raises ``Failure`` for what cannot be one."""
    found = os.environ.get("MALPAN_TOKEN") or str(_tokens().get(site) or "")
    return sound_token(found) if found else ""


def sound_token(text: str) -> str:
    found = text.strip()
    if not TOKEN.fullmatch(found):
        raise Failure(NOT_ALLOWED, say("no_token_text"))
    return found


def keep_token(site: str, token: str) -> None:
    _write(config_file(), {"usual": site, "tokens": {**_tokens(), site: token}})


def forget_token(site: str) -> bool:
    """False where there was none."""
    tokens = _tokens()
    if site not in tokens:
        return False
    del tokens[site]
    _write(config_file(), {**_read(config_file()), "tokens": tokens})
    return True


def _tokens() -> dict[str, Any]:
    path = config_file()
    found = _read(path).get("tokens")
    if found and os.name == "posix" and stat.S_IMODE(path.stat().st_mode) & 0o077:
        path.chmod(0o600)  # somebody copied it; it is for its owner alone
    return dict(found) if isinstance(found, dict) else {}


# --- uploads without an answer ----------------------------------------------------------------------------------------
def key_of(upload: str) -> str | None:
    """The key under which ``upload`` was begun and not answered; ``None``: it was not."""
    found = _uploads().get(upload)
    return str(found["key"]) if found else None


def begin_upload(upload: str, key: str) -> None:
    _write(state_file(), {**_uploads(), upload: {"key": key, "begun": time.time()}})


def end_upload(upload: str) -> None:
    """The server said what became of it."""
    uploads = _uploads()
    if uploads.pop(upload, None):
        _write(state_file(), uploads)


def _uploads() -> dict[str, Any]:
    found = _read(state_file()).items()
    oldest = time.time() - WEEK
    return {name: each for name, each in found if isinstance(each, dict) and each.get("begun", 0) > oldest}


# --- files ------------------------------------------------------------------------------------------------------------
def _read(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_bytes())
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise Failure(WRONG_INPUT, say("cannot_read", path=path, reason=reason_of(error))) from error
    return found if isinstance(found, dict) else {}


def _write(path: Path, content: Mapping[str, Any]) -> None:
    """Whole or not at all, and readable for its owner alone from the first byte on."""
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor, beside = mkstemp(dir=path.parent, prefix=f".{path.name}.")  # made with mode 0600
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                json.dump(content, file, ensure_ascii=False, indent=1)
            os.replace(beside, path)
        except BaseException:
            os.unlink(beside)  # a token may be in it
            raise
    except OSError as error:
        raise Failure(WRONG_INPUT, say("cannot_write", path=path, reason=reason_of(error))) from error
