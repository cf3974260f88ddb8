"""``manage.py update_messages``: bring the English catalogue in line with the sources and compile it."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser


class Command(BaseCommand):
    help = "Update locale/en from the sources and compile the catalogues. --check changes nothing."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--check", action="store_true", help="only report; exit 1 if anything is to be done")

    def handle(self, *args: Any, check: bool, **options: Any) -> None:
        try:
            from malpan.web import message_catalogue
        except ImportError as error:
            raise CommandError("Babel is not installed: pip install -r requirements-test.txt") from error
        left = message_catalogue.compare() if check else message_catalogue.update()
        for label, keys in (("missing", left.missing), ("stale", left.stale), ("untranslated", left.untranslated)):
            for message, _context in keys:
                self.stdout.write(f"{label}: {message!r}")
        if not left.is_compiled:
            self.stdout.write("not compiled")
        if left:
            raise CommandError(f"the English catalogue needs work: {message_catalogue.po_path()}")
        self.stdout.write("the English catalogue is complete")
