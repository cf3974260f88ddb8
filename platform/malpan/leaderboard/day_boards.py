"""The public board of every day of a phase as it ended (KST), with its entry in the chain: what a reader of the contest
finds of a date, whatever was rescored, withdrawn or set otherwise since.

The housekeeper keeps them after midnight in Korea. It is a ``BoardSnapshot`` like a published final board, and one of
``keeping`` like those from right before a change.
"""

from __future__ import annotations

from datetime import date, datetime, timedelta
from functools import partial
from typing import Any, Final

from django.db import transaction
from django.db.models import Exists, OuterRef
from django.utils import timezone

from malpan.competitions.errors import RecipeNotInstalled
from malpan.competitions.locks import lock_phase
from malpan.competitions.models import Phase
from malpan.competitions.references import recipe_of
from malpan.core.one_by_one import one_by_one
from malpan.core.times import kst_day, kst_day_bounds
from malpan.leaderboard import standings
from malpan.leaderboard.boards import reader_of
from malpan.leaderboard.days import LATEST
from malpan.leaderboard.keeping import rows_of
from malpan.leaderboard.models import BoardSnapshot, Standing
from malpan.leaderboard.rules import components_json, rule_of
from malpan.leaderboard.selectors import at_one_moment
from malpan.leaderboard.snapshots import chain_payload
from malpan.submissions.integrity import chain
from malpan.submissions.models import ChainEntry
from malpan.submissions.visibility import is_frozen, is_hidden
from scoring.signature import json_sha256

DAY: Final = BoardSnapshot.Kind.DAY


def keep_day_boards(now: datetime | None = None) -> int:
    """Keep the public board of every phase that ran yesterday, as visitors see it, once; returns how many were kept.

    Later than an hour after midnight none is kept: it would no more be that of the day. A hidden or an empty board is
    not kept. One query where nothing is to be done.
    """
    now = now or timezone.now()
    start, _end = kst_day_bounds(now)
    if now - start >= LATEST:
        return 0
    ended = kst_day(now) - timedelta(days=1)
    is_kept = BoardSnapshot.objects.filter(phase=OuterRef("pk"), day=ended)
    ran = Phase.objects.filter(starts_at__lt=start, ends_at__gt=start - timedelta(days=1))
    shown = ran.filter(track__competition__is_published=True, standings_version__isnull=False)
    due = list(shown.exclude(Exists(is_kept)).select_related("track__competition"))
    shown_due = [phase for phase in due if not is_hidden(phase)]
    return sum(one_by_one(shown_due, partial(_keep, ended=ended, now=now), "the boards of a day"))


def _keep(phase: Phase, ended: date, now: datetime) -> bool:
    """Keep the board of ``phase`` for the day ``ended``, unless another process has just done so or it is empty."""
    try:
        recipe = recipe_of(phase.track)
    except RecipeNotInstalled:  # there is no board here
        return False
    found = at_one_moment(phase, lambda phases: _public_rows(phases[0], now))
    if found is None:
        return False
    rows, components, signature_hash = found
    with transaction.atomic():
        held = lock_phase(phase.pk)
        boards = BoardSnapshot.objects.filter(phase=held, kind=DAY)
        if boards.filter(day=ended).exists():
            return False
        last = boards.order_by("-number").values_list("number", flat=True).first() or 0
        snapshot = BoardSnapshot.objects.create(
            phase=held,
            kind=DAY,
            day=ended,
            number=last + 1,
            recipe=recipe.id,
            signature_hash=signature_hash,
            rows=rows,
            sha256=json_sha256(rows),
            components=components,
            published_at=now,
        )
        payload = chain_payload(snapshot)
        chain.append(competition=held.track.competition, kind=ChainEntry.Kind.BOARD, payload=payload, now=now)
    return True


def _public_rows(phase: Any, now: datetime) -> tuple[list[dict[str, Any]], list[dict[str, Any]], str] | None:
    """The rows of the public board for a visitor, its components and its signature; ``None`` of an empty one."""
    scope = Standing.Scope.FROZEN if is_frozen(phase, now) else Standing.Scope.LIVE
    signature_hash = standings.summary(phase, scope).signature_hash
    if signature_hash is None:
        return None
    ranked = standings.page(phase, scope, signature_hash, 0, None)
    components = components_json(rule_of(phase).components)
    return rows_of(ranked, reader_of(phase, None, now=now)), components, signature_hash
