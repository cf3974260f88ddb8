"""Public boards of composites, kept as they stood right before a rescoring was applied or what ranks was changed.

A composite depends on the scores of all teams at its moment, which change afterwards: without its rows nobody could
compute an earlier board again. It is a ``BoardSnapshot`` like a published final board, with its entry in the chain.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime
from itertools import accumulate
from typing import Any

from django.utils import timezone

from malpan.accounts.models import User
from malpan.competitions.errors import RecipeNotInstalled
from malpan.competitions.models import Phase
from malpan.competitions.references import recipe_of
from malpan.core import audit
from malpan.leaderboard import composing, standings
from malpan.leaderboard.boards import Reader, reader_of
from malpan.leaderboard.finals import row_to_publish
from malpan.leaderboard.models import BoardSnapshot, Standing
from malpan.leaderboard.published import publications
from malpan.leaderboard.rules import components_json, composite_of, rule_of
from malpan.leaderboard.snapshots import chain_payload
from malpan.submissions.integrity.chain import NewEntry
from malpan.submissions.models import ChainEntry, Submission
from malpan.submissions.past_boards import Change
from malpan.submissions.visibility import is_frozen, is_hidden
from scoring.signature import json_sha256


def keep_public_board(*, phase: Phase, change: Change, actor: User | None) -> NewEntry | None:
    """Keep the public board of ``phase`` as every visitor sees it now; ``past_boards.Keeper`` says when.

    ``None``, and nothing kept: where the final score ranks, the board is hidden or empty, or it is as it was kept last.
    """
    now = timezone.now()
    try:
        recipe = recipe_of(phase.track)
    except RecipeNotInstalled:  # there is no board here
        return None
    rule = rule_of(phase, recipe)
    if not rule.is_composite or is_hidden(phase):
        return None
    ranked = _ranked(phase, now)
    rows, components = rows_of(ranked, reader_of(phase, None, now=now)), components_json(rule.components)
    sha256 = json_sha256(rows)
    last = next(iter(publications(phase, BoardSnapshot.Kind.PUBLIC)), None)
    if not rows or (last is not None and (last.sha256, last.components) == (sha256, components)):
        return None
    snapshot = BoardSnapshot.objects.create(
        phase=phase,
        kind=BoardSnapshot.Kind.PUBLIC,
        number=1 if last is None else last.number + 1,
        recipe=recipe.id,
        signature_hash=ranked[0].signature_hash,
        rows=rows,
        sha256=sha256,
        components=components,
        note_ko=change.ko,
        note_en=change.en,
        published_by=actor,
        published_at=now,
    )
    facts = {"number": snapshot.number, "sha256": sha256, "rows": len(rows), "note": change.ko}
    audit.record(actor=actor, action="phase.keep_public_board", obj=phase, after=facts)
    return NewEntry(ChainEntry.Kind.BOARD, chain_payload(snapshot))


def _ranked(phase: Phase, now: datetime) -> list[Standing]:
    """The rows of the public board, the best first, from the live results: standings may not be brought up to date in a
    transaction that locks other rows afterwards.
    """
    scope = Standing.Scope.FROZEN if is_frozen(phase, now) else Standing.Scope.LIVE
    by_signature: dict[str, list[Standing]] = defaultdict(list)
    for row in standings.computed(phase):
        if row.scope == scope:
            by_signature[row.signature_hash].append(row)
    current = [rows for rows in by_signature.values() if any(row.current_count for row in rows)]
    if not current:
        return []
    rows = max(current, key=_precedence)
    composing.compose_together(rows, rule_of(phase))
    return sorted(rows, key=lambda row: (row.key, row.submitted_at, row.submission_id))


def _precedence(rows: Iterable[Standing]) -> tuple[int, datetime, int]:
    """As in ``standings.summary``: the most common signature of the current results, of equal ones the newest."""
    found = [row for row in rows if row.current_newest_at is not None and row.current_newest_id is not None]
    newest_at, newest_id = zip(*((row.current_newest_at, row.current_newest_id) for row in found), strict=True)
    return sum(row.current_count for row in found), max(newest_at), max(newest_id)


def rows_of(ranked: Sequence[Standing], reader: Reader) -> list[dict[str, Any]]:
    """The public rows of the standings ``ranked``, the best first, as a snapshot has them."""
    submissions = Submission.objects.select_related("team").in_bulk([row.submission_id for row in ranked])
    ranks = accumulate(int(not row.is_baseline) for row in ranked)
    return [
        row_to_publish(
            rank=None if row.is_baseline else rank,
            submission=submissions[row.submission_id],
            reader=reader,
            scores=row.scores,
            final_score=row.final_score,
            submission_count=row.submission_count,
            is_demo_models=row.is_demo_models,
            composite=composite_of(row.composite),
            coverage=row.coverage,
        )
        for rank, row in zip(ranks, ranked, strict=True)
    ]
