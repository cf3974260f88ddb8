"""The command line: every command with its arguments."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from malpan_client import VERSION
from malpan_client.downloading import download, download_submission
from malpan_client.failing import WRONG_USAGE, Failure
from malpan_client.help_texts import USAGE_ERRORS
from malpan_client.organising import (
    close,
    create,
    diff_references,
    discard_references,
    export,
    get_settings,
    list_references,
    publish_board,
    publish_contest,
    publish_references,
    update_settings,
    upload_references,
)
from malpan_client.rescoring import (
    apply_rescoring,
    cancel_rescoring,
    list_rescorings,
    order_rescoring,
    preview_rescoring,
    show_rescoring,
    start_rescoring,
    withdraw_rescoring,
)
from malpan_client.sending import check, submit
from malpan_client.showing import Result
from malpan_client.taking_part import (
    board,
    competitions,
    files,
    final,
    limits,
    login,
    logout,
    submission,
    submissions,
    team,
    terms,
    whoami,
    withdraw,
)
from malpan_client.webhooks import (
    create_webhook,
    list_deliveries,
    list_webhooks,
    remove_webhook,
    resend_delivery,
    try_webhook,
    update_webhook,
)
from malpan_client.words import language, say


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
        return super().parse_known_args(args if is_group or args is None else self._options_first(args), namespace)

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


def parser() -> argparse.ArgumentParser:
    """Every command, in the language that is spoken."""
    made = Parser(prog="malpan", description=say("help_program"), epilog=say("help_end"))
    made.add_argument("--version", action="version", version=f"malpan {VERSION}", help=say("help_version_option"))
    _common(made, is_main=True)
    commands = made.add_subparsers(dest="command", required=True, metavar="COMMAND", title=say("help_commands"))
    _taking_part(commands)
    _webhooks(_group(commands, "webhooks"))
    _organising(commands)
    return made


def _common(made: argparse.ArgumentParser, *, is_main: bool = False) -> None:
    """Options that stand before the command or after it."""

    def default(value: Any) -> Any:
        return value if is_main else argparse.SUPPRESS

    made.add_argument("--json", action="store_true", default=default(False), help=say("help_json"))
    made.add_argument("--lang", choices=["ko", "en"], default=default(language()), help=say("help_lang"))
    made.add_argument("--site", metavar="URL", default=default(""), help=say("help_site"))
    made.add_argument("--insecure", action="store_true", default=default(False), help=say("help_insecure"))
    made.add_argument("--max-wait", metavar="SECONDS", type=float, default=default(300.0), help=say("help_max_wait"))


def _command(
    commands: Any, name: str, run: Callable[..., Result], *places: str, about: str = ""
) -> argparse.ArgumentParser:
    """A command with its positional arguments; ``about``: the name of its help in the table of texts."""
    text = say(f"help_{about or name}")
    made: argparse.ArgumentParser = commands.add_parser(name, help=text.split("\n")[0], description=text)
    _common(made)
    made.set_defaults(run=run)
    for place in places:
        made.add_argument(place, help=say(f"help_arg_{place}"))
    return made


def _numbered(commands: Any, name: str, run: Callable[..., Result], *, about: str) -> argparse.ArgumentParser:
    """A command about something of a contest that has a number."""
    made = _command(commands, name, run, "place", about=about)
    made.add_argument("id", type=int, help=say("help_arg_number"))
    return made


def _group(commands: Any, name: str) -> Any:
    made = commands.add_parser(name, help=say(f"help_{name}"), description=say(f"help_{name}"))
    _common(made)
    return made.add_subparsers(dest="part", required=True, metavar="COMMAND")


def _flag(made: argparse.ArgumentParser, *names: str) -> None:
    for name in names:
        made.add_argument(f"--{name}", action="store_true", help=say(f"help_{name.replace('-', '_')}"))


def _option(made: argparse.ArgumentParser, *names: str, **more: Any) -> None:
    for name in names:
        made.add_argument(f"--{name}", **{"default": "", "help": say(f"help_{name.replace('-', '_')}"), **more})


def _numbers(text: str) -> list[int]:
    return [int(each) for each in text.split(",")]


def _names(text: str) -> list[str]:
    return [each.strip() for each in text.split(",") if each.strip()]


def _waits(made: argparse.ArgumentParser) -> None:
    _flag(made, "wait")
    _option(made, "wait-limit", type=float, default=None, metavar="SECONDS")


def _taking_part(commands: Any) -> None:
    for name, run in (("login", login), ("logout", logout)):
        _command(commands, name, run).add_argument("address", nargs="?", default="", help=say("help_site"))
    _command(commands, "whoami", whoami)
    made = _command(commands, "competitions", competitions)
    made.add_argument("place", nargs="?", default="", help=say("help_arg_place"))
    _command(commands, "files", files, "place")
    made = _command(commands, "download", download, "place")
    made.add_argument("names", nargs="*", metavar="FILE", help=say("help_arg_names"))
    _option(made, "to", default=".", metavar="FOLDER")
    _flag(made, "force")
    made = _command(commands, "terms", terms, "place")
    _option(made, "accept", type=int, default=None, metavar="VERSION")
    made = _command(commands, "team", team, "place")
    _option(made, "create", metavar="NAME", help=say("help_create_team"))
    made = _command(commands, "check", check)
    made.add_argument("place", nargs="?", default="", help=say("help_arg_place"))
    made.add_argument("file", help=say("help_arg_file"))
    _flag(made, "local")
    _option(made, "recipe", metavar="RECIPE")
    _option(made, "references", metavar="FILE", help=say("help_own_references"))
    made = _command(commands, "submit", submit, "place", "file")
    _option(made, "memo")
    _flag(made, "dry-run", "again")
    _waits(made)
    _command(commands, "submissions", submissions, "place")
    _command(commands, "submission", submission, "id")
    made = _command(commands, "fetch", download_submission, "id")
    _option(made, "to", default=".", metavar="FOLDER")
    _flag(made, "force")
    _command(commands, "limits", limits, "place")
    made = _command(commands, "board", board, "place")
    made.add_argument("--all", action="store_true", help=say("help_all_rows"))
    made = _command(commands, "final", final, "place")
    made.add_argument("ids", nargs="*", metavar="ID", help=say("help_arg_ids"))
    _flag(made, "none")
    _flag(_command(commands, "withdraw", withdraw, "id"), "yes")


def _webhooks(commands: Any) -> None:
    def one(name: str, run: Callable[..., Result], *places: str) -> argparse.ArgumentParser:
        made = _command(commands, name, run, *places, about=f"webhooks_{name}")
        _option(made, "contest", metavar="CONTEST")
        return made

    def of_one(name: str, run: Callable[..., Result]) -> argparse.ArgumentParser:
        made = one(name, run)
        made.add_argument("webhook", type=int, metavar="ID", help=say("help_arg_webhook"))
        return made

    one("list", list_webhooks)
    _option(one("create", create_webhook, "url"), "events", type=_names, required=True, metavar="NAMES")
    made = of_one("update", update_webhook)
    _option(made, "url", metavar="URL")
    _option(made, "events", type=_names, metavar="NAMES")
    _flag(made, "on", "off")
    _flag(of_one("remove", remove_webhook), "yes")
    of_one("test", try_webhook)
    of_one("log", list_deliveries)
    made = of_one("resend", resend_delivery)
    made.add_argument("delivery", type=int, metavar="DELIVERY", help=say("help_arg_delivery"))


def _organising(commands: Any) -> None:
    _flag(_command(commands, "create", create, "file"), "dry-run")
    settings = _group(commands, "settings")
    _command(settings, "get", get_settings, "place", about="settings_get")
    _flag(_command(settings, "update", update_settings, "file", about="settings_update"), "dry-run")
    references = _group(commands, "references")
    _command(references, "list", list_references, "place", about="references_list")
    made = _command(references, "upload", upload_references, "place", "file", about="references_upload")
    _option(made, "frames", "synonyms", "note", "erratum-ko", "erratum-en")
    made.add_argument("--built-in-synonyms", action="store_true", help=say("help_built_in_synonyms"))
    made.add_argument("--publish", action="store_true", help=say("help_at_once"))
    for name, run in (("publish", publish_references), ("diff", diff_references), ("discard", discard_references)):
        _numbered(references, name, run, about=f"references_{name}")
    _rescoring(_group(commands, "rescore"))
    publish = _group(commands, "publish")
    _flag(_command(publish, "contest", publish_contest, "place", about="publish_contest"), "accept-gaps")
    made = _command(publish, "board", publish_board, "place", about="publish_board")
    _option(made, "note-ko", "note-en")
    _flag(made, "dry-run", "yes")
    _flag(_command(commands, "close", close, "place"), "yes")
    made = _command(commands, "export", export, "place")
    _option(made, "to", metavar="FILE", help=say("help_to_file"))
    _flag(made, "encrypt", "force")


def _rescoring(commands: Any) -> None:
    _command(commands, "list", list_rescorings, "place", about="rescore_list")
    made = _command(commands, "start", start_rescoring, "place", about="rescore_start")
    _option(made, "reason", required=True)
    _option(made, "also", type=_names, default=[], metavar="PHASES")
    _option(made, "references", metavar="ID", help=say("help_version"))
    _option(made, "recipe", "profile")
    _option(made, "since", "until", metavar="TIME")
    _option(made, "state", choices=["finished", "waiting"])
    _option(made, "teams", type=_numbers, default=[], metavar="NUMBERS")
    _flag(made, "from-scratch")
    _waits(made)
    _waits(_numbered(commands, "show", show_rescoring, about="rescore_show"))
    for name, run in (("preview", preview_rescoring), ("cancel", cancel_rescoring)):
        _numbered(commands, name, run, about=f"rescore_{name}")
    made = _numbered(commands, "apply", apply_rescoring, about="rescore_apply")
    _option(made, "seen")
    _has_choices(made)
    made = _numbered(commands, "order", order_rescoring, about="rescore_order")
    _option(made, "guard", type=int, default=3, metavar="PLACES")
    _has_choices(made)
    _numbered(commands, "withdraw", withdraw_rescoring, about="rescore_withdraw")


def _has_choices(made: argparse.ArgumentParser) -> None:
    """What happens when a rescoring is applied."""
    _option(made, "title-ko", "body-ko", "title-en", "body-en")
    _option(made, "grant", type=int, default=0, metavar="SLOTS")
    _flag(made, "reset-quota", "leave-other-phases", "yes")
