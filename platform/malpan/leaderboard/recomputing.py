"""Whether the stored standings of a phase are what its live results give."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from malpan.competitions.errors import RecipeNotInstalled
from malpan.competitions.models import Phase
from malpan.leaderboard import composing
from malpan.leaderboard.models import Standing, StandingMark
from malpan.leaderboard.rules import rule_of
from malpan.leaderboard.standings import computed


def differing(phase: Phase) -> list[Standing]:
    """The rows that are not as computed anew: the stored one or, where there is none, the one that is missing.

    What is due for a refresh is no difference: rows of teams that changed, and composites where any team did. Call it
    where all reads see one moment. Reads ``phase.track``.
    """
    due = set(StandingMark.objects.filter(phase=phase).values_list("team", flat=True))
    try:
        rule = rule_of(phase)
    except RecipeNotInstalled:  # there is no board here
        return []
    if None in due:
        return []
    rows = computed(phase)
    columns = [column.attname for column in Standing._meta.concrete_fields if not column.primary_key]
    if rule.is_composite:
        composing.compose_all(rows, rule)
        if due:
            columns = [name for name in columns if name not in ("key", "composite")]
    right, stored = _by_place(rows, due), _by_place(Standing.objects.filter(phase=phase), due)
    return [
        stored.get(place) or right[place]
        for place in sorted({*right, *stored})
        if not _is_alike(right.get(place), stored.get(place), columns)
    ]


def _by_place(rows: Iterable[Standing], due: Collection[int | None]) -> dict[tuple[int, str, str], Standing]:
    return {(row.team_id, row.scope, row.signature_hash): row for row in rows if row.team_id not in due}


def _is_alike(one: Standing | None, other: Standing | None, columns: Iterable[str]) -> bool:
    return bool(one and other) and all(getattr(one, name) == getattr(other, name) for name in columns)
