"""The question of a command before it removes what cannot be brought back."""

from __future__ import annotations

import sys
from argparse import ArgumentParser

from django.core.management import BaseCommand, CommandError


def add_yes(parser: ArgumentParser) -> None:
    """The option of programs, which nobody can ask."""
    parser.add_argument(
        "--yes",
        "--no-input",
        dest="is_sure",
        action="store_true",
        help="묻지 않습니다(프로그램에서 쓸 때) / does not ask, for programs",
    )


def ask(command: BaseCommand, *, what: str, word: str, is_sure: bool) -> None:
    """Say ``what`` goes and what stays, and let the operator type ``word``.

    Raises ``CommandError`` unless they do, and where nobody can be asked. ``is_sure``: nothing is said or asked.
    """
    if is_sure:
        return
    command.stdout.write(what)
    if not sys.stdin.isatty():
        raise CommandError(
            "지우기 전에 물어보아야 하는데 단말기가 아닙니다. 아무것도 바꾸지 않았습니다. 위에 적힌 대로 해도 되면 "
            "--yes를 붙이십시오.\n"
            "There is no terminal to ask at, so nothing was changed. If what is said above is right, add --yes."
        )
    command.stdout.write(
        f"되돌릴 수 없습니다. 계속하려면 다음을 그대로 입력하고, 그만두려면 그냥 Enter를 누르십시오: {word}\n"
        f"This cannot be undone. To go on, type this as it stands; to leave it, press Enter: {word}"
    )
    command.stdout.write("> ", ending="")
    command.stdout.flush()
    if sys.stdin.readline().strip() != word:
        raise CommandError("그만두었습니다. 아무것도 바꾸지 않았습니다. / Left as it was: nothing was changed.")
