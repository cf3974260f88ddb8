"""The public board of a phase, in a constant number of queries, from the standings. Published final boards are in
``leaderboard.published``; the final one as it would be published now, for organisers, is in ``leaderboard.finals``.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from datetime import datetime
from typing import Any, Final

from django.db import connection
from django.db.models import Exists, F, FloatField, OrderBy, OuterRef, QuerySet, Subquery
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Cast
from django.utils import timezone

from malpan.competitions.models import Competition, Phase, ReferenceVersion
from malpan.competitions.references import recipe_of
from malpan.core.database.prepared import Prepared
from malpan.core.locks import repeatable_read
from malpan.core.times import kst_day
from malpan.leaderboard import kept, standings
from malpan.leaderboard.boards import (
    BASELINES,
    COMPOSITE,
    COUNT,
    RANK,
    TIME,
    Board,
    BoardRow,
    Found,
    Reader,
    View,
    comparable,
    disqualified,
    known_view,
    last_ranked,
    reader_of,
)
from malpan.leaderboard.field import NOBODY, Field
from malpan.leaderboard.leading import Lead
from malpan.leaderboard.models import BoardSnapshot, BoardSureness, Standing
from malpan.leaderboard.published import publications
from malpan.leaderboard.rules import composite_of, rule_of
from malpan.leaderboard.sureness.selectors import ROUNDED, of_phase, with_sureness
from malpan.submissions import visibility
from malpan.teams.models import Team
from malpan.teams.selectors import DISQUALIFIED

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


def _fresh(of: Phase | Competition) -> Sequence[Any]:
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
    read = _searched if view.search else _cut
    rows, row_before, row_count = (
        read(phase, scope, found, view, reader) if found.team_count else (list[BoardRow](), None, 0)
    )
    sureness = None if is_empty else of_phase(getattr(phase, f"{scope}_sureness"), phase.version)
    if sureness is not None and phase.score_step is not None and sureness.reason != ROUNDED:
        sureness = None  # computed before the phase rounded its scores
    before = _day_ranks(phase, now) if scope == standings.Scope.LIVE and rows else {}
    rows = _with_days(with_sureness(rows, sureness), before)
    own_row = _own(rows)
    if own_row is None and len(rows) < found.team_count:
        own_rows = with_sureness(_own_row(phase, scope, found.signature_hash, reader), sureness)
        own_row = next(iter(_with_days(own_rows, before)), None)
    return Board(
        phase=phase,
        recipe=recipe,
        columns=recipe.columns,
        rows=tuple(rows),
        own_row=own_row,
        is_demo_models=found.is_demo_models,
        signature_hash=found.signature_hash,
        excluded_count=found.excluded_count,
        view=view,
        row_count=row_count,
        total=found.team_count,
        row_before=row_before,
        updated_at=found.scored_at,
        is_hidden=is_hidden,
        frozen_at=frozen_at,
        covers_split=phase.covers_split,
        disqualified=disqualified(phase.track.competition, reader) if phase.has_disqualified else (),
        snapshots=publications(phase, BoardSnapshot.Kind.PUBLIC) if phase.has_past_boards and not is_hidden else (),
        days=kept.days(phase.pk, phase.last_day) if phase.last_day and not is_hidden else (),
        rule=rule,
        sureness=sureness,
    )


def _cut(
    phase: Any, scope: str, summary: standings.Summary, view: View, reader: Reader
) -> tuple[list[BoardRow], BoardRow | None, int]:
    """The rows of ``view``, the last team's row before them, and the number of all."""
    signature_hash = summary.signature_hash
    start = max(view.offset - BASELINES, 0)
    end = None if view.limit is None else view.offset + view.limit
    if end is None:
        found = standings.page(phase, scope, signature_hash, start, end, _order(view))
    else:
        found = kept.page(phase.version, phase, scope, signature_hash, start, end, _order(view))
    rows = [_row(each, reader) for each in found]
    return rows[view.offset - start :], last_ranked(rows[: view.offset - start]), summary.team_count


def _searched(
    phase: Any, scope: str, summary: standings.Summary, view: View, reader: Reader
) -> tuple[list[BoardRow], None, int]:
    """As ``_cut``, of the teams whose names, as ``reader`` sees them, are searched for: a blind name hides its own."""
    asked = phase.version, phase, scope, summary.signature_hash, _order(view)
    places, wanted = kept.places(*asked), comparable(view.search)
    if reader.knows_all_names:
        found = [each for each, name in zip(places, kept.names(*asked), strict=True) if wanted in name]
    else:
        found = [each for each in places if wanted in comparable(reader.name_of(each.team))]
    rows = standings.at_places(phase, scope, summary.signature_hash, view.cut(found))
    return [_row(each, reader) for each in rows], None, len(found)


def _order(view: View) -> OrderBy | None:
    """The order asked for where it is not the ranking: rows without the value are last."""
    if view.sort == RANK:
        return None
    composed = Cast(KeyTextTransform("value", COMPOSITE), FloatField())
    expressions: dict[str, Any] = {COUNT: F("submission_count"), TIME: F("submitted_at"), COMPOSITE: composed}
    value = expressions.get(view.sort) or Cast(KeyTextTransform(view.sort, "scores"), FloatField())
    return OrderBy(value, descending=bool(view.is_descending), nulls_last=True)


def _own_row(phase: Any, scope: str, signature_hash: str | None, reader: Reader) -> list[BoardRow]:
    """The row of the reader's team, if it has one, where it is not among those read."""
    if reader.team is None:
        return []
    own = kept.of_team(phase.version, phase, scope, signature_hash, reader.team)
    return [] if own is None else [_row(own, reader)]


def _day_ranks(phase: Any, now: datetime | None) -> Mapping[str, int]:
    """The ranks with which today began, by team; empty where they are not known."""
    is_of_today = phase.ranks_day == kst_day(now or timezone.now())
    return kept.day_ranks(phase.pk, phase.ranks_day) if is_of_today else {}


def _with_days(rows: Iterable[BoardRow], before: Mapping[str, int]) -> list[BoardRow]:
    if not before:
        return list(rows)
    return [
        row
        if row.rank is None
        else replace(row, rank_before=before.get(str(row.team_id)), is_new=str(row.team_id) not in before)
        for row in rows
    ]


def _own(rows: Iterable[BoardRow]) -> BoardRow | None:
    return next((row for row in rows if row.is_own), None)


def _row(standing: Standing, reader: Reader) -> BoardRow:
    """The row of a standing with its ``rank`` and ``place`` (``standings.page``)."""
    place: Any = standing
    return BoardRow(
        rank=None if standing.is_baseline else place.rank,
        place=place.place,
        team_id=standing.team_id,
        team_name=reader.name_of(standing.team),
        is_baseline=standing.is_baseline,
        is_own=reader.team is not None and reader.team.pk == standing.team_id,
        scores=standing.scores,
        final_score=standing.final_score,
        submission_count=standing.submission_count,
        submitted_at=standing.submitted_at,
        is_demo_models=standing.is_demo_models,
        coverage=standing.coverage,
        model=reader.model_of(standing.team),
        is_program=standing.team.is_program,
        submission=standing.submission,
        composite=composite_of(standing.composite),
        submission_name=str(standing.submission.public_id),
    )
