"""Standings where a composite ranks: every team's composite depends on the rows of all others, so all are set anew."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Final

from django.db import connection

from malpan.competitions.models import Phase
from malpan.leaderboard import ranking
from malpan.leaderboard.models import Standing
from malpan.leaderboard.ranking import Entry, Rule
from malpan.leaderboard.rules import composite_json

MANY: Final = 2000  # rows: to set the composites of more takes more than a fraction of a second
_READ: Final = (
    *("scope", "team_id", "signature_hash", "is_baseline", "submission_id", "submitted_at", "final_score", "scores"),
    *("key", "composite"),
)
_UPDATE: Final = """
    UPDATE leaderboard_standing AS row SET key = ARRAY[(new.body->>1)::float8], composite = new.body->2
    FROM jsonb_array_elements(%s::jsonb) AS new (body) WHERE row.id = (new.body->>0)::bigint
"""


def takes_long(phase: Phase) -> bool:
    """Whether one change of the standings of ``phase`` changes the composites of many."""
    rows = Standing.objects.filter(phase=phase, composite__isnull=False).order_by()
    return rows[: MANY + 1].count() > MANY


def compose(phase: Phase, rule: Rule, fresh: Sequence[Standing]) -> None:
    """Set key and composite of ``fresh``, which are not stored yet, and of the stored rows of ``phase``: each among the
    rows that are ranked together. One read, and one write of the stored rows whose composite is another now.
    """
    kept = list(Standing.objects.filter(phase=phase).only(*_READ))
    before = {row.pk: (row.key, row.composite) for row in kept}
    compose_all((*kept, *fresh), rule)
    _store([row for row in kept if (row.key, row.composite) != before[row.pk]])


def compose_all(rows: Iterable[Standing], rule: Rule) -> None:
    """Set key and composite of all ``rows`` of a phase, each among those that are ranked together."""
    together: dict[tuple[str, str], list[Standing]] = defaultdict(list)
    for row in rows:
        together[row.scope, row.signature_hash].append(row)
    for group in together.values():
        compose_together(group, rule)


def compose_together(rows: Iterable[Standing], rule: Rule) -> None:
    """Set key and composite of ``rows``, all of one board."""
    entries = {row.team_id: _entry(row) for row in rows}
    found = ranking.composites_of(entries.values(), rule)
    for row in rows:
        row.key = list(ranking.board_key(entries[row.team_id], rule, found[row.team_id]))
        row.composite = composite_json(found[row.team_id])


def _entry(row: Standing) -> Entry:
    return Entry(
        team_id=row.team_id,
        is_baseline=row.is_baseline,
        submission_id=row.submission_id,
        submitted_at=row.submitted_at,
        final_score=row.final_score,
        scores=row.scores,
        signature_hash=row.signature_hash,
    )


def _store(changed: Sequence[Standing]) -> None:
    if not changed:
        return
    with connection.cursor() as cursor:
        cursor.execute(_UPDATE, [json.dumps([(row.pk, row.key[0], row.composite) for row in changed])])
