"""An argument parser in Korean or English, for the programs of this package. Imports nothing heavy."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any, Final, NoReturn

from scoring.errors import Language

EXIT_USAGE: Final = 2

_HEADINGS: Final = {
    "usage": ("사용법: ", "usage: "),
    "commands": ("명령", "commands"),
    "options": ("옵션", "options"),
    "help": ("이 도움말을 보여 주고 끝냅니다", "show this help message and exit"),
    "error": ("사용법 오류", "usage error"),
    "see": ("자세한 사용법: {program} --help", "for more: {program} --help"),
}

# argparse words its errors in English only; these are all that the arguments of these programs can cause.
_ERRORS_KO: Final[tuple[tuple[re.Pattern[str], str], ...]] = tuple(
    (re.compile(pattern), korean)
    for pattern, korean in (
        (r"the following arguments are required: (.+)", r"필요한 인자가 없습니다: \1"),
        (r"argument (.+): invalid choice: (.+) \(choose from (.+)\)", r"\1: \2은(는) 쓸 수 없습니다. 가능한 값: \3"),
        (r"unrecognized arguments: (.+)", r"모르는 인자입니다: \1"),
        (r"argument (.+): expected one argument", r"\1: 값이 하나 필요합니다"),
        (r"argument (.+): invalid (?:int|float) value: (.+)", r"\1: 숫자가 아닙니다: \2"),
        (r"argument (.+): ignored explicit argument (.+)", r"\1: 값을 받지 않습니다(\2)"),
        (r"ambiguous option: (.+) could match (.+)", r"어느 옵션인지 알 수 없습니다: \1 (\2)"),
    )
)


def language_of(arguments: Sequence[str]) -> Language:
    """The language asked for with ``--lang``, found before parsing, so that usage errors use it too."""
    is_english = "--lang=en" in arguments or ("--lang", "en") in pairwise(arguments)
    return "en" if is_english else "ko"


class Parser(argparse.ArgumentParser):
    """``argparse.ArgumentParser`` with its fixed words in ``language``. Usage errors exit with ``EXIT_USAGE``."""

    def __init__(self, *, language: Language = "ko", **options: Any) -> None:
        super().__init__(add_help=False, allow_abbrev=False, **options)
        self._language: Language = language
        self._positionals.title = self._word("commands")
        self._optionals.title = self._word("options")
        self.add_argument("-h", "--help", action="help", help=self._word("help"))

    def format_usage(self) -> str:
        return self._in_language(super().format_usage())

    def format_help(self) -> str:
        return self._in_language(super().format_help())

    def error(self, message: str) -> NoReturn:
        self.print_usage(sys.stderr)
        text = _in_korean(message) if self._language == "ko" else message
        see = self._word("see").format(program=self.prog)
        self.exit(EXIT_USAGE, f"{self._word('error')}: {text}\n{see}\n")

    def _word(self, key: str) -> str:
        korean, english = _HEADINGS[key]
        return korean if self._language == "ko" else english

    def _in_language(self, text: str) -> str:
        return text.replace("usage: ", self._word("usage"), 1)


def _in_korean(message: str, table: Iterable[tuple[re.Pattern[str], str]] = _ERRORS_KO) -> str:
    for pattern, korean in table:
        if found := pattern.fullmatch(message):
            return found.expand(korean)
    return message
