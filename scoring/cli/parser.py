"""An argument parser in Korean or English, for ``python -m scoring``."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any, Final, NoReturn

from scoring import __version__
from scoring.cli.words import say
from scoring.errors import Language
from scoring.recipes import RECIPES, RUBRICS, UnknownRecipe, get_recipe

EXIT_USAGE: Final = 2

_HEADINGS: Final = {
    "usage": ("사용법: ", "usage: "),
    "commands": ("명령", "commands"),
    "options": ("옵션", "options"),
    "help": ("이 도움말을 보여 주고 끝냅니다", "show this help message and exit"),
    "error": ("사용법 오류", "usage error"),
    "see": ("자세한 사용법: {program} --help", "for more: {program} --help"),
}

# argparse words its errors in English only; these are all that this program's arguments can cause.
_ERRORS_KO: Final[tuple[tuple[re.Pattern[str], str], ...]] = tuple(
    (re.compile(pattern), korean)
    for pattern, korean in (
        (r"the following arguments are required: (.+)", r"필요한 인자가 없습니다: \1"),
        (r"argument (.+): invalid choice: (.+) \(choose from (.+)\)", r"\1: \2은(는) 쓸 수 없습니다. 가능한 값: \3"),
        (r"unrecognized arguments: (.+)", r"모르는 인자입니다: \1"),
        (r"argument (.+): expected one argument", r"\1: 값이 하나 필요합니다"),
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


class RecipeIds(Iterable[str]):
    """The recipes that an option may name; those with a judge count, but are not listed."""

    def __contains__(self, name: object) -> bool:
        try:
            return isinstance(name, str) and bool(get_recipe(name))
        except UnknownRecipe:
            return False

    def __iter__(self) -> Iterator[str]:
        return iter(RECIPES)


def _in_korean(message: str, table: Iterable[tuple[re.Pattern[str], str]] = _ERRORS_KO) -> str:
    for pattern, korean in table:
        if found := pattern.fullmatch(message):
            return found.expand(korean)
    return message


def build_parser(language: Language) -> Parser:
    """The commands and their options, with help in ``language``."""
    parser = Parser(language=language, prog="python -m scoring", description=say("program", language))
    parser.add_argument("--version", action="version", version=f"malpan {__version__}", help=say("version", language))
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND", parser_class=Parser)
    made = {}
    for name in ("score", "check", "report", "compare", "pairwise", "rank", "judge-agreement", "recipes", "models"):
        words = say(name, language)
        made[name] = commands.add_parser(name, help=words, description=words, language=language)
        made[name].add_argument("--lang", choices=("ko", "en"), default="ko", help=say("lang", language))
    for name in ("score", "check"):
        _add_files(made[name], language, references_required=name == "score")
    made["score"].add_argument("--models", metavar="PROFILE", help=say("profile_chosen", language))
    made["check"].add_argument("--models", default="official", metavar="PROFILE", help=say("profile_read", language))
    for name in ("score", "rank"):
        made[name].add_argument("--output", metavar="FILE", help=say("output", language))
    for name in ("score", "models"):
        devices = ("auto", "cpu", "cuda")
        made[name].add_argument("--device", choices=devices, default="auto", help=say("device", language))
    made["score"].add_argument("--synonyms", metavar="FILE", help=say("synonyms", language))
    made["score"].add_argument("--media", metavar="PATH", help=say("media", language))
    made["report"].add_argument("result", metavar="FILE", help=say("result", language))
    for name in ("a", "b"):
        made["compare"].add_argument(name, metavar=name.upper(), help=say(f"result_{name}", language))
        words = say(f"again_{name}", language)
        made["compare"].add_argument(f"--again-{name}", action="append", default=[], metavar="FILE", help=words)
    _add_pairwise(made["pairwise"], language)
    made["rank"].add_argument("results", nargs="+", metavar="FILE", help=say("results", language))
    made["rank"].add_argument("--weights", metavar="NAME=NUMBER,…", help=say("weights", language))
    formats = ("text", "markdown", "json")
    _add_agreement(made["judge-agreement"], language)
    for name in ("report", "compare", "pairwise", "rank", "judge-agreement", "models"):
        made[name].add_argument("--format", choices=formats, default="text", help=say("format", language))
    made["report"].add_argument("--baseline", metavar="FILE", help=say("baseline", language))
    made["report"].add_argument("--no-targets", action="store_true", help=say("no_targets", language))
    made["models"].add_argument("action", choices=("list", "fetch", "verify"), help=say("action", language))
    made["models"].add_argument("profile", nargs="?", metavar="PROFILE", help=say("profile", language))
    made["models"].add_argument("--file", metavar="OUT.json", help=say("scored_file", language))
    for name in ("references", "predictions"):
        made["models"].add_argument(f"--{name}", metavar="FILE", help=say(f"scored_{name}", language))
    return parser


def _add_pairwise(command: Parser, language: Language) -> None:
    for name in ("a", "b"):
        command.add_argument(name, metavar=name.upper(), help=say(f"pairwise_file_{name}", language))
    for name, key in (("questions", "questions"), ("models", "pairwise_profile")):
        metavar = "FILE" if name == "questions" else "PROFILE"
        command.add_argument(f"--{name}", required=True, metavar=metavar, help=say(key, language))
    command.add_argument("--recipe", choices=RecipeIds(), metavar="RECIPE", help=say("pairwise_recipe", language))
    command.add_argument("--output", metavar="FILE", help=say("pairwise_output", language))


def _add_agreement(command: Parser, language: Language) -> None:
    command.add_argument("result", metavar="OUT.json", help=say("result", language))
    command.add_argument("human", metavar="HUMAN.json", help=say("human_given", language))
    command.add_argument("--metric", default="llm_judge", metavar="NAME", help=say("judged_metric", language))
    command.add_argument("--source", default="", metavar="TEXT", help=say("human_source", language))
    command.add_argument("--save", metavar="FILE", help=say("output", language))


def _add_files(command: Parser, language: Language, references_required: bool) -> None:
    known = RecipeIds()
    command.add_argument("--recipe", required=True, choices=known, metavar="RECIPE", help=say("recipe", language))
    command.add_argument("--judge", metavar="NAME,…", help=say("judge", language, known=", ".join(RUBRICS)))
    command.add_argument("--predictions", required=True, metavar="FILE", help=say("predictions_given", language))
    command.add_argument(
        "--references", required=references_required, metavar="FILE", help=say("references_given", language)
    )
