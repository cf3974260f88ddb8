"""What a site's database says of its boards, its chains and its files: equal again after a restore."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from django.db import models

from malpan.arena.models import CampaignResult
from malpan.competitions.models import Competition, DataFile, ReferenceVersion
from malpan.leaderboard.digests import board_digests
from malpan.operation.backup.manifest import SiteFacts
from malpan.submissions.models import ChainEntry, Submission

NAMES_OF_FILES: Final[tuple[tuple[type[models.Model], str], ...]] = (
    (Submission, "file_sha256"),
    (DataFile, "file_sha256"),
    *((ReferenceVersion, name) for name in ReferenceVersion.FILES),
    (CampaignResult, "votes_sha256"),
    (CampaignResult, "result_sha256"),
)


def read_facts() -> SiteFacts:
    """The facts as the database has them now."""
    return SiteFacts(board_digests(), _chain_heads(), tuple(sorted(_named_files())))


def differences(before: SiteFacts, now: SiteFacts) -> Iterator[str]:
    """What is not as it was, a line each."""
    for what, was, has in (("순위표 / board", before.boards, now.boards), ("사슬 / chain", before.chains, now.chains)):
        yield from (f"{what}: {name}" for name in sorted({*was, *has}) if was.get(name) != has.get(name))
    yield from (f"파일 / file: {name}" for name in sorted(set(before.files) ^ set(now.files)))


def _chain_heads() -> dict[str, str]:
    newest = ChainEntry.objects.filter(competition=models.OuterRef("pk")).order_by("-number")
    rows = Competition.objects.annotate(head=models.Subquery(newest.values("sha256")[:1]))
    return {slug: head or "" for slug, head in rows.order_by("slug").values_list("slug", "head")}


def _named_files() -> set[str]:
    columns = (model._default_manager.values_list(field, flat=True) for model, field in NAMES_OF_FILES)
    return {name for column in columns for name in column if name}
