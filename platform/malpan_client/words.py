"""In which language the command speaks: ``--lang``, else ``MALPAN_LANG``, else the locale; Korean where none says."""

from __future__ import annotations

import socket
from collections.abc import Mapping, Sequence
from typing import Any

from malpan_client.award_texts import AWARDS
from malpan_client.failure_texts import FAILURES, HINTS
from malpan_client.help_texts import HELP
from malpan_client.managing_texts import MANAGING
from malpan_client.review_texts import REVIEWS
from malpan_client.stage_texts import STAGES
from malpan_client.texts import FINDINGS, LABELS
from malpan_client.webhook_texts import WEBHOOKS

LANGUAGES = ("ko", "en")
TEXTS: dict[str, tuple[str, str]] = {
    **LABELS,
    **FINDINGS,
    **FAILURES,
    **HINTS,
    **HELP,
    **REVIEWS,
    **WEBHOOKS,
    **STAGES,
    **AWARDS,
    **MANAGING,
}
REASONS = (  # what Python says in English only, the more special first
    ((socket.timeout, TimeoutError), "timed_out"),
    (socket.gaierror, "no_such_host"),
    (ConnectionRefusedError, "refused"),
    (ConnectionError, "broken_off"),
    (FileNotFoundError, "no_such_file"),
    (IsADirectoryError, "is_folder"),
    (PermissionError, "no_permission"),
)
_spoken = ["ko"]


def set_language(arguments: Sequence[str], environment: Mapping[str, str]) -> None:
    """Before the arguments are parsed, so that wrong ones are told in it too."""
    asked = [word.partition("=")[2] for word in arguments if word.startswith("--lang=")]
    asked += [after for word, after in zip(arguments, arguments[1:]) if word == "--lang"]
    asked.append(environment.get("MALPAN_LANG", ""))
    named = [word[:2].lower() for word in asked if word[:2].lower() in LANGUAGES]
    _spoken[0] = named[0] if named else _of_locale(environment)


def _of_locale(environment: Mapping[str, str]) -> str:
    found = next((environment[name] for name in ("LC_ALL", "LC_MESSAGES", "LANG") if environment.get(name)), "")
    has_none = found.partition(".")[0].upper() in ("", "C", "POSIX")
    return "ko" if has_none or found.lower().startswith("ko") else "en"


def language() -> str:
    return _spoken[0]


def say(name: str, /, **values: Any) -> str:
    """The text of this name in the language that is spoken."""
    return TEXTS[name][LANGUAGES.index(language())].format(**values)


def has(name: str) -> bool:
    return name in TEXTS


def reason_of(error: Exception) -> str:
    """What an error of Python says, in the language that is spoken where it is a usual one."""
    for kinds, name in REASONS:
        if isinstance(error, kinds):
            return say(name)
    return str(getattr(error, "strerror", None) or error) or type(error).__name__
