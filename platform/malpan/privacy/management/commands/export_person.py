"""``manage.py export_person``: everything that the site holds of a person, as JSON."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management import BaseCommand, CommandError

from malpan.core.errors import DomainError
from malpan.core.messages import text_of
from malpan.privacy.exporting import as_json, export
from malpan.privacy.finding import person_of


class Command(BaseCommand):
    help = (
        "사이트가 한 사람에 대해 가진 모든 것을 JSON으로 냅니다. / Prints everything that the site holds of a person."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("person", help="이메일, 또는 번호 / e-mail, or number")

    def handle(self, *args: Any, person: str, **options: Any) -> None:
        try:
            self.stdout.write(as_json(export(person_of(person))))
        except DomainError as error:
            raise CommandError(f"{text_of(error)} ({error.code})") from error
