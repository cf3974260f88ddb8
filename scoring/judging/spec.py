"""The ``[judge]`` section of a model profile, as read and checked.

The key is not in the profile: ``api_key_env`` names the environment variable that holds it. ``base_url_env`` may name
one for the address; a profile whose variable is unset has no judge. Nothing is asked for here.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NoReturn
from urllib.parse import urlsplit

from scoring.errors import Language

Invalid = Callable[[str, str, str], Exception]  # (key, what is wrong in Korean, in English) -> the error to raise

DEMO_MODEL: Final = "malpan-demo-judge"  # the name of the demo judge's model
PARSER_VERSIONS: Final = (1,)
LANGUAGES: Final[tuple[Language, ...]] = ("ko", "en")
_VARIABLE: Final = re.compile("[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True, slots=True)
class JudgeSpec:
    """Which model judges, and how it is asked. Times are in seconds.

    ``prompts``: (metric, file) where not the built-in prompt in ``language`` is meant. ``max_chars``: of a text sent,
    the rest is cut off. ``retries``: further requests for one text after errors of the server or the network.
    ``max_requests`` and ``max_tokens_total``: the budget, 0 for none. ``extra``: further keys of a request, as JSON,
    for what only some servers know (``{"chat_template_kwargs": {"enable_thinking": false}}`` of vLLM).
    """

    base_url: str
    model: str
    api_key_env: str = ""
    language: Language = "ko"
    prompts: tuple[tuple[str, Path], ...] = ()
    temperature: float = 0.0
    seed: int = 42
    max_tokens: int = 400
    parser: int = PARSER_VERSIONS[-1]
    max_chars: int = 6_000
    concurrency: int = 4
    timeout: float = 60.0
    retries: int = 5
    retry_seconds: float = 1.0
    max_requests: int = 0
    max_tokens_total: int = 0
    extra: str = "{}"

    @property
    def is_demo(self) -> bool:
        """Whether it is the demo judge, whatever the profile is called."""
        return self.model == DEMO_MODEL


_RANGES: Final[Mapping[str, tuple[float, float]]] = {
    "temperature": (0.0, 2.0),
    "timeout": (0.05, 3_600.0),
    "retry_seconds": (0.0, 60.0),
    "seed": (0, 2**31 - 1),
    "max_tokens": (1, 100_000),
    "max_chars": (100, 1_000_000),
    "concurrency": (1, 256),
    "retries": (0, 20),
    "max_requests": (0, 10**12),
    "max_tokens_total": (0, 10**15),
}
OWN: Final = (
    *("model", "messages", "temperature", "top_p", "seed", "max_tokens", "stream", "response_format"),
)  # keys of a request that ``extra`` cannot replace
_FRACTIONS: Final = ("temperature", "timeout", "retry_seconds")
KEYS: Final = frozenset(
    {"base_url", "base_url_env", "model", "api_key_env", "language", "prompts", "parser", "extra", *_RANGES}
)


def read_judge(table: Any, folder: Path, invalid: Invalid) -> JudgeSpec | None:
    """The section ``table`` of a profile in ``folder``; ``None`` if its address is in a variable that is unset.

    Raises what ``invalid`` makes of a key and the reason.
    """
    if not isinstance(table, dict):
        raise invalid("[judge]", "표(table)여야 합니다", "it must be a table")
    for key in table:
        if key not in KEYS:
            raise invalid(f"judge.{key}", "모르는 항목입니다", "it is not a key of a profile")
    base_url = _base_url(table, invalid)
    read = _Reader(table, invalid)
    spec = {name: read.number(name) for name in _RANGES if name in table}
    parser = table.get("parser", PARSER_VERSIONS[-1])
    if parser not in PARSER_VERSIONS or isinstance(parser, bool):
        read.refuse("parser", "모르는 해석기 판입니다", "there is no such version of the parser")
    language = table.get("language", LANGUAGES[0])
    if language not in LANGUAGES:
        read.refuse("language", "ko 또는 en이어야 합니다", "it must be ko or en")
    key_variable = read.text("api_key_env") if "api_key_env" in table else ""
    if key_variable and not _VARIABLE.fullmatch(key_variable):
        # a key written here by mistake must not be repeated by the message
        read.refuse("api_key_env", "환경 변수의 이름이어야 합니다", "it must be the name of an environment variable")
    model, prompts = read.text("model"), _prompts(table, folder, read)
    if base_url is None:
        return None
    return JudgeSpec(
        base_url=base_url,
        model=model,
        api_key_env=key_variable,
        language=language,
        prompts=prompts,
        parser=parser,
        extra=_extra(table, read),
        **spec,  # type: ignore[arg-type]
    )


def _base_url(table: Mapping[str, Any], invalid: Invalid) -> str | None:
    """The address without a slash at its end, also without ``/v1``; ``None`` if its variable is unset."""
    if ("base_url" in table) == ("base_url_env" in table):
        raise invalid(
            "judge.base_url", "base_url과 base_url_env 가운데 하나만 적으십시오", "give either base_url or base_url_env"
        )
    name = "base_url" if "base_url" in table else "base_url_env"
    url = table[name]
    if name == "base_url_env" and isinstance(url, str) and _VARIABLE.fullmatch(url):
        url = os.environ.get(url, "")
        if not url:
            return None
    try:
        parts = urlsplit(url) if isinstance(url, str) else None
        is_sound = parts is not None and parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_sound = False
    if not is_sound or parts is None or parts.username or parts.password or parts.query or parts.fragment:
        raise invalid(
            f"judge.{name}",
            "http(s)://호스트 꼴의 주소여야 하고 사용자 이름·비밀번호·질의를 넣을 수 없습니다",
            "it must be an address such as http://host:8000, without user, password or query",
        )
    return str(url).rstrip("/").removesuffix("/v1").rstrip("/")


class _Reader:
    """Reads the keys of the section."""

    def __init__(self, table: Mapping[str, Any], invalid: Invalid) -> None:
        self._table, self._invalid = table, invalid

    def refuse(self, key: str, ko: str, en: str) -> NoReturn:
        raise self._invalid(f"judge.{key}", ko, en)

    def text(self, key: str) -> str:
        value = self._table.get(key)
        if not isinstance(value, str) or not value.strip():
            self.refuse(key, "비어 있지 않은 문자열이어야 합니다", "it must be a text that is not empty")
        return value.strip()

    def number(self, key: str) -> float | int:
        value, (least, most) = self._table[key], _RANGES[key]
        kinds = (int, float) if key in _FRACTIONS else (int,)
        if isinstance(value, bool) or not isinstance(value, kinds) or not least <= value <= most:
            self.refuse(key, f"{least}–{most} 사이의 수여야 합니다", f"it must be a number from {least} to {most}")
        return float(value) if key in _FRACTIONS else int(value)


def _prompts(table: Mapping[str, Any], folder: Path, read: _Reader) -> tuple[tuple[str, Path], ...]:
    given = table.get("prompts", {})
    if not isinstance(given, dict) or not all(isinstance(value, str) and value for value in given.values()):
        read.refuse("prompts", "지표 이름마다 파일 경로여야 합니다", "it must name a file for each metric")
    return tuple(sorted((name, (folder / Path(path).expanduser()).resolve()) for name, path in given.items()))


def _extra(table: Mapping[str, Any], read: _Reader) -> str:
    given = table.get("extra", {})
    if not isinstance(given, dict) or given.keys() & set(OWN):
        read.refuse(
            "extra",
            f"표여야 하고 {', '.join(OWN)}을(를) 담을 수 없습니다",
            f"it must be a table without {', '.join(OWN)}",
        )
    try:
        return json.dumps(given, ensure_ascii=False, sort_keys=True, allow_nan=False)
    except (TypeError, ValueError):
        read.refuse("extra", "JSON으로 쓸 수 없는 값이 있습니다", "it holds a value that JSON has not")
