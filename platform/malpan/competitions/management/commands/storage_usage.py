"""``manage.py storage_usage``: what competitions store, and the limit of one."""

from __future__ import annotations

import re
from argparse import ArgumentParser, ArgumentTypeError
from typing import Any, Final

from django.core.management import BaseCommand, CommandError
from django.template.defaultfilters import filesizeformat

from malpan.competitions.models import Competition
from malpan.competitions.room import set_storage_limit, usage_of

_UNITS: Final = {"": 1, "K": 1024, "M": 1024**2, "G": 1024**3, "T": 1024**4}
_DEFAULT: Final = "default"


def size(text: str) -> int | str:
    """``500M`` or ``2G`` in bytes, 0 for no limit; ``default`` stays as it is."""
    if text == _DEFAULT:
        return text
    if (found := re.fullmatch(r"(\d{1,6})([KMGT]?)B?", text.upper())) is None:
        raise ArgumentTypeError(f"‘{text}’: 500M, 2G, 0, default")
    return int(found[1]) * _UNITS[found[2]]


class Command(BaseCommand):
    help = (
        "대회마다 저장한 파일의 수와 크기를 보여 주고, 한 대회의 한도를 정합니다. "
        "/ Shows how much each competition stores, and sets the limit of one."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("competitions", nargs="*", help="대회의 주소 이름, 없으면 모두 / slugs; all when none")
        parser.add_argument(
            "--limit",
            type=size,
            help="500M, 2G, 0(한도 없음), default(사이트의 기본값) / 0: none, default: as the site says",
        )

    def handle(self, *args: Any, competitions: list[str], limit: int | str | None, **options: Any) -> None:
        if limit is not None and len(competitions) != 1:
            raise CommandError("--limit에는 대회 하나를 적어 주십시오. / --limit is for one competition.")
        rows = Competition.objects.order_by("slug")
        if competitions:
            rows = rows.filter(slug__in=competitions)
            if missing := set(competitions) - set(rows.values_list("slug", flat=True)):
                raise CommandError(f"그런 대회가 없습니다 / no such competition: {', '.join(sorted(missing))}")
        for competition in rows:
            if limit is not None:
                set_storage_limit(competition=competition, limit=None if limit == _DEFAULT else int(limit))
            usage = usage_of(competition)
            allowed = filesizeformat(usage.limit) if usage.limit else "없음 / none"
            self.stdout.write(
                f"{competition.slug}: 파일 / files {usage.files}, {filesizeformat(usage.size)}, 한도 / limit {allowed}"
            )
