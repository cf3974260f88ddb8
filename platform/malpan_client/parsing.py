"""What the command line is made of: a parser that speaks both languages, and commands with their arguments."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from malpan_client.contest_file import NONE
from malpan_client.failing import WRONG_USAGE, Failure
from malpan_client.help_texts import USAGE_ERRORS
from malpan_client.showing import Result
from malpan_client.words import language, say

MAY_GO = frozenset({"track", "campaign", "cut"})  # the settings that may be ``NONE``


class Parser(argparse.ArgumentParser):
    """argparse's parser with its fixed words in the language that is spoken."""

    def __init__(self, **options: Any) -> None:
        super().__init__(
            add_help=False, allow_abbrev=False, formatter_class=argparse.RawDescriptionHelpFormatter, **options
        )
        self._positionals.title, self._optionals.title = say("help_arguments"), say("help_options")
        self.add_argument("-h", "--help", action="help", help=say("help_help"))

    def format_usage(self) -> str:
        return super().format_usage().replace("usage: ", say("help_usage"), 1)

    def format_help(self) -> str:
        return super().format_help().replace("usage: ", say("help_usage"), 1)

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Options may stand anywhere: argparse takes all positional arguments where it meets the first one."""
        is_group = any(isinstance(each, argparse._SubParsersAction) for each in self._actions)
        if is_group or args is None:
            return super().parse_known_args(args, namespace)
        found, unknown = super().parse_known_args(self._options_first(args), namespace)
        if unknown:  # argparse would tell it with the usage of the whole
            self.error(f"unrecognized arguments: {' '.join(unknown)}")
        return found, unknown

    def _options_first(self, words: Sequence[str]) -> list[str]:
        taking = {name for each in self._actions if each.nargs != 0 for name in each.option_strings}
        options: list[str] = []
        places: list[str] = []
        rest = iter(words)
        for word in rest:
            if word == "--":
                return [*options, "--", *places, *rest]
            if len(word) < 2 or not word.startswith("-"):
                places.append(word)
                continue
            options.append(word)
            if word in taking:
                value = next(rest, None)
                if value is None:  # argparse says that it is missing
                    return [*places, *options]
                options.append(value)
        return [*options, *places]

    def error(self, message: str) -> NoReturn:
        self.print_usage(sys.stderr)
        text = _in_korean(message) if language() == "ko" else message
        raise Failure(WRONG_USAGE, text, hint=f"{self.prog} --help", problem={"title": say("help_error")})


def _in_korean(message: str) -> str:
    for pattern, korean in USAGE_ERRORS:
        found = re.fullmatch(pattern, message)
        if found:
            return found.expand(korean)
    return message


def add_common(made: argparse.ArgumentParser, *, is_main: bool = False) -> None:
    """Options that stand before the command or after it."""

    def default(value: Any) -> Any:
        return value if is_main else argparse.SUPPRESS

    made.add_argument("--json", action="store_true", default=default(False), help=say("help_json"))
    made.add_argument("--lang", choices=["ko", "en"], default=default(language()), help=say("help_lang"))
    made.add_argument("--site", metavar="URL", default=default(""), help=say("help_site"))
    made.add_argument("--insecure", action="store_true", default=default(False), help=say("help_insecure"))
    made.add_argument("--max-wait", metavar="SECONDS", type=float, default=default(300.0), help=say("help_max_wait"))


def add_command(
    commands: Any, name: str, run: Callable[..., Result], *places: str, about: str = ""
) -> argparse.ArgumentParser:
    """A command with its positional arguments; ``about``: the name of its help in the table of texts."""
    text = say(f"help_{about or name}")
    made: argparse.ArgumentParser = commands.add_parser(name, help=text.split("\n")[0], description=text)
    add_common(made)
    made.set_defaults(run=run)
    for place in places:
        made.add_argument(place, help=say(f"help_arg_{place}"))
    return made


def add_numbered(commands: Any, name: str, run: Callable[..., Result], *, about: str) -> argparse.ArgumentParser:
    """A command about something of a contest that has a number."""
    made = add_command(commands, name, run, "place", about=about)
    made.add_argument("id", type=int, help=say("help_arg_number"))
    return made


def add_group(commands: Any, name: str, about: str = "") -> Any:
    text = say(f"help_{about or name}")
    made = commands.add_parser(name, help=text, description=text)
    add_common(made)
    return made.add_subparsers(dest="part", required=True, metavar="COMMAND")


def add_flags(made: argparse.ArgumentParser, *names: str) -> None:
    for name in names:
        made.add_argument(f"--{name}", action="store_true", help=say(f"help_{name.replace('-', '_')}"))


def add_options(made: argparse.ArgumentParser, *names: str, **more: Any) -> None:
    for name in names:
        made.add_argument(f"--{name}", **{"default": "", "help": say(f"help_{name.replace('-', '_')}"), **more})


def add_settings(made: argparse.ArgumentParser, subject: str, *names: str, **more: Any) -> None:
    """Options of ``subject`` that are settings: what is not named stays, and an empty text is a value."""
    for name in names:
        text = say(f"help_{subject}_{name.replace('-', '_')}")
        made.add_argument(f"--{name}", **{"default": None, "help": text, **more})


def add_waiting(made: argparse.ArgumentParser) -> None:
    add_flags(made, "wait")
    add_options(made, "wait-limit", type=float, default=None, metavar="SECONDS")


def settings_of(options: argparse.Namespace, *names: str) -> dict[str, Any]:
    """Those of the settings that were named, as the API takes them."""
    named = {name: getattr(options, name) for name in names}
    return {
        name: None if value == NONE and name in MAY_GO else value for name, value in named.items() if value is not None
    }


# --- kinds of values --------------------------------------------------------------------------------------------------
def number_list(text: str) -> list[int]:
    return [int(each) for each in text.split(",")]


def name_list(text: str) -> list[str]:
    return [each.strip() for each in text.split(",") if each.strip()]


def number_or_none(text: str) -> int | str:
    return text if text == NONE else int(text)
