"""``manage.py retention``: removes personal data that are past their time, as the clock does every night."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management import BaseCommand

from malpan.privacy.retention import let_go


class Command(BaseCommand):
    help = "보관 기간이 지난 개인정보를 지웁니다. / Removes personal data that are past their time."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--dry-run", action="store_true", help="지우지 않고 세기만 / count, remove nothing")

    def handle(self, *args: Any, dry_run: bool, **options: Any) -> None:
        for name, count in let_go(is_trial=dry_run).items():
            self.stdout.write(f"{name}: {count}")
