"""The public board of a phase, in a constant number of queries, from the standings. Published final boards are in
``leaderboard.published``; the final one as it would be published now, for organisers, is in ``leaderboard.finals``.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from contextlib import nullcontext
from datetime import date, datetime
from typing import Any, Final

from django.db import connection
from django.db.models import Exists, F, OuterRef, QuerySet, Subquery
from django.utils import timezone

from malpan.competitions.models import Competition, Phase, ReferenceVersion
from malpan.competitions.references import recipe_of
from malpan.core.database.prepared import Prepared
from malpan.core.locks import repeatable_read
from malpan.core.times import kst_day
from malpan.leaderboard import board_rows, kept, standings
from malpan.leaderboard.boards import (
    Board,
    Found,
    View,
    disqualified,
    known_view,
    reader_of,
)
from malpan.leaderboard.field import NOBODY, Field
from malpan.leaderboard.leading import Lead
from malpan.leaderboard.models import BoardSnapshot, BoardSureness, Standing
from malpan.leaderboard.published import publications
from malpan.leaderboard.rules import rule_of
from malpan.leaderboard.sureness.selectors import ROUNDED, of_phase
from malpan.submissions import visibility
from malpan.teams.models import Team
from malpan.teams.selectors import DISQUALIFIED

READERS: Final = 128  # pages of a board by what their readers see, of a hundred rows, about 60 KB each
REFRESHES: Final = 3  # attempts to meet a moment without changes; the last reads what is there


def board(
    phase: Phase,
    *,
    viewer_team: Team | None = None,
    for_organiser: bool = False,
    now: datetime | None = None,
    view: View | None = None,
) -> Board:
    """The public board of ``phase`` for a member of ``viewer_team`` or a visitor: the rows of ``view``, default all.

    The board has every team that is not disqualified with a live, finished run whose submission was neither refunded
    nor withdrawn. (Results of a merged team from a phase that was over by then stay under its name.) An organiser
    always sees the live board; everybody else sees a frozen one as it was and nothing of a hidden one, until the final
    board is published. The number of queries is constant; they read the standings, which are brought up to date first.
    """
    return _at_one_moment(phase, lambda fresh: _board(fresh, viewer_team, for_organiser, now, view or View()))


def board_and_field(
    phase: Phase, *, viewer_team: Team | None = None, now: datetime | None = None, view: View | None = None
) -> tuple[Board, Field]:
    """The public board of ``phase``, by default without rows but the viewer's own, and what all its teams scored."""

    def read(fresh: Any) -> tuple[Board, Field]:
        found = _board(fresh, viewer_team, False, now, view or View(limit=0))
        if not found.row_count:
            return found, NOBODY
        return found, kept.field_of(fresh.version, fresh, _scope(found.frozen_at), found.signature_hash)

    return _at_one_moment(phase, read)


def leads(phase: Phase, *, now: datetime | None = None) -> tuple[Lead, ...]:
    """How the best score of the public board rose; empty while it is hidden, and where a composite ranks."""

    def read(fresh: Any) -> tuple[Lead, ...]:
        found = _board(fresh, None, False, now, View(limit=0))
        if not found.row_count or found.components:
            return ()
        return kept.leads_of(fresh.version, fresh, _scope(found.frozen_at), found.signature_hash)

    return _at_one_moment(phase, read)


def on_public_board(phase: Any, submissions: Collection[int] | None = None) -> list[Standing]:
    """The rows of ``board`` for a visitor, all or those of ``submissions``, with what they scored and no more.

    ``phase`` is one that ``at_one_moment`` gives.
    """
    if visibility.is_hidden(phase) or phase.version is None:
        return []
    scope = _scope(phase.frozen_at if visibility.is_frozen(phase) else None)
    signature = kept.summary(phase.version, phase, scope).signature_hash
    rows = standings.with_signature(phase, scope, signature).only("submission", "final_score", "scores")
    return list(rows if submissions is None else rows.filter(submission__in=submissions))


def public_ranks(phase: Phase, *, now: datetime | None = None) -> dict[int, int]:
    """The rank of each team on the live board that everybody sees; empty while it is hidden or frozen, or published."""

    def read(fresh: Any) -> dict[int, int]:
        is_closed = visibility.is_hidden(fresh) or visibility.is_frozen(fresh, now) or fresh.final_published_at
        if is_closed or fresh.version is None:
            return {}
        signature = kept.summary(fresh.version, fresh, standings.Scope.LIVE).signature_hash
        places = kept.places(fresh.version, fresh, standings.Scope.LIVE, signature, None)
        return {each.team.pk: each.rank for each in places if not each.team.is_baseline}

    return _at_one_moment(phase, read)


def at_one_moment(of: Phase | Competition, read: Callable[[list[Any]], Found]) -> Found:
    """``read`` of a phase, or of all phases of a competition, with their standings up to date: rule and rows are
    separate reads, which must see one state.

    If the standings take long to compute, or another process is at it, they are those before the change.
    """
    is_nested = connection.in_atomic_block
    moment = nullcontext if is_nested else repeatable_read
    for _attempt in range(REFRESHES):
        with moment():
            fresh = _fresh(of)
            due = [phase for phase in fresh if phase.is_due]
            if not due:
                return read(fresh)
        refresh = standings.refresh if is_nested else standings.freshen
        done = [refresh(phase) for phase in due]
        if not all(done):
            break
    with moment():  # or scores change without a pause: they are those of a moment ago
        return read(_fresh(of))


def _at_one_moment(phase: Phase, read: Callable[[Any], Found]) -> Found:
    return at_one_moment(phase, lambda phases: read(*phases))


def _fresh(of: Phase | Competition) -> list[Any]:
    """The phase, or the phases of the competition, with their tracks and competitions as they are now, and ``_known``
    of each.
    """
    return _PHASE(of.pk) if isinstance(of, Phase) else _PHASES(of.pk)


def _known(phases: QuerySet[Phase]) -> QuerySet[Phase]:
    """Of each of ``phases`` also ``is_due``, ``covers_split``, ``has_past_boards``, the number of the board of the
    ``last_day`` kept, ``has_disqualified``, the ``version`` of its standings, ``None`` where there never were any, the
    stamps of their sureness, ``live_sureness`` and ``frozen_sureness``, and the day of its ``DayRanks``.
    """
    split = ReferenceVersion.objects.filter(phase=OuterRef("pk"), is_current=True, public_ids__isnull=False)
    snapshots = BoardSnapshot.objects.filter(phase=OuterRef("pk"))
    last_day = snapshots.filter(kind=BoardSnapshot.Kind.DAY).order_by("-number").values("number")[:1]
    sureness = {
        f"{scope}_sureness": Subquery(
            BoardSureness.objects.filter(phase=OuterRef("pk"), scope=scope, snapshot=None).values("stamp")
        )
        for scope in standings.Scope.values
    }
    known = phases.annotate(
        is_due=standings.is_due(),
        covers_split=Exists(split),
        has_past_boards=Exists(snapshots.filter(kind=BoardSnapshot.Kind.PUBLIC).values("pk")),
        last_day=Subquery(last_day),
        has_disqualified=Exists(Team.objects.filter(competition=OuterRef("track__competition"), **DISQUALIFIED)),
        version=F("standings_version__value"),
        ranks_day=F("day_ranks__day"),
        **sureness,
    )
    return known.select_related("track__competition").order_by("pk")


_PHASE: Final = Prepared(lambda pk: _known(Phase.objects.filter(pk=pk)), int)
_PHASES: Final = Prepared(lambda pk: _known(Phase.objects.filter(track__competition=pk)), int)


def _scope(frozen_at: datetime | None) -> str:
    return standings.Scope.LIVE if frozen_at is None else standings.Scope.FROZEN


def _board(phase: Any, viewer_team: Team | None, for_organiser: bool, now: datetime | None, view: View) -> Board:
    recipe = recipe_of(phase.track)
    is_hidden = visibility.is_hidden(phase) and not for_organiser
    frozen_at = phase.frozen_at if visibility.is_frozen(phase, now) and not for_organiser else None
    scope = _scope(frozen_at)
    rule = rule_of(phase, recipe)
    view = known_view(view, recipe, rule)
    reader = reader_of(phase, viewer_team, sees_all=for_organiser, now=now)
    is_empty = is_hidden or phase.version is None
    found = standings.NOTHING if is_empty else kept.summary(phase.version, phase, scope)
    sureness = None if is_empty else of_phase(getattr(phase, f"{scope}_sureness"), phase.version)
    if sureness is not None and phase.score_step is not None and sureness.reason != ROUNDED:
        sureness = None  # computed before the phase rounded its scores
    asked = board_rows.Asked(
        phase=phase,
        version=phase.version,
        scope=scope,
        signature_hash=found.signature_hash,
        team_count=found.team_count,
        view=view,
        reader=reader,
        stamp=None if sureness is None else sureness.stamp,
        day=_day(phase, now) if scope == standings.Scope.LIVE else None,
    )
    page = board_rows.rows_of(asked)
    return Board(
        phase=phase,
        recipe=recipe,
        columns=recipe.columns,
        rows=page.rows,
        own_row=board_rows.own_row(asked, page),
        is_demo_models=found.is_demo_models,
        signature_hash=found.signature_hash,
        excluded_count=found.excluded_count,
        view=view,
        row_count=page.row_count,
        total=found.team_count,
        row_before=page.before,
        updated_at=found.scored_at,
        is_hidden=is_hidden,
        frozen_at=frozen_at,
        covers_split=phase.covers_split,
        disqualified=disqualified(phase.track.competition, reader) if phase.has_disqualified else (),
        snapshots=publications(phase, BoardSnapshot.Kind.PUBLIC) if phase.has_past_boards and not is_hidden else (),
        days=kept.days(phase.pk, phase.last_day) if phase.last_day and not is_hidden else (),
        rule=rule,
        sureness=sureness,
        rows_name=page.name,
    )


def _day(phase: Any, now: datetime | None) -> date | None:
    """Today, where it is known with which ranks it began."""
    return phase.ranks_day if phase.ranks_day == kst_day(now or timezone.now()) else None
