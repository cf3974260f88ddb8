"""The standings of a phase: one row for each team (and signature), kept equal to what its live results give.

A board of thousands of teams is read far more often than it changes, and a score changes one team's row. So every
change marks the teams it touches (``triggers``), and whoever reads a board first brings the marked teams up to date
(``freshen``), usually none or one, or waits a moment for another reader who does. What takes long, such as all teams of
a large phase whose references changed, no reader waits for: the housekeeper computes it (``refresh_all``), and until
then boards are as before the change. A row
is a pure function of the team's live results, and where a composite ranks (``composing``) of the other rows: it can
always be computed anew (``recompute``), and a test compares it with the ranking of all results after every change.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Final, NamedTuple, cast
from uuid import uuid4

from django.contrib.postgres.aggregates import BoolOr
from django.db import OperationalError, connection, transaction
from django.db.models import (
    Case,
    Count,
    Exists,
    IntegerField,
    Max,
    OuterRef,
    Q,
    QuerySet,
    RowRange,
    Sum,
    Value,
    When,
    Window,
)
from django.db.models.expressions import OrderBy
from django.db.models.functions import Now
from psycopg.errors import LockNotAvailable

from malpan.competitions.models import Phase
from malpan.competitions.references import recipe_of
from malpan.core.locks import Level, note
from malpan.core.one_by_one import one_by_one
from malpan.leaderboard import composing, ranking
from malpan.leaderboard.models import Standing, StandingMark, StandingsVersion
from malpan.leaderboard.results import Result, live_results, public_entries, submission_counts
from malpan.leaderboard.rules import rule_of
from malpan.submissions.finals import chosen_at
from malpan.submissions.models import Submission
from malpan.submissions.release import Release
from malpan.teams.models import Team

Scope = Standing.Scope
ORDER: Final = ("key", "submitted_at", "submission_id")
SHOWN: Final = (  # what a row of a board needs
    *("team__model_name", "team__model_size", "team__model_url", "team__paper_url"),
    *(
        "team__name",
        "team__number",
        "team__is_baseline",
        "team__is_program",
        "submission__public_id",
        "is_baseline",
        "scores",
    ),
    *("composite", "final_score", "submission_count", "submitted_at", "is_demo_models", "coverage"),
)
MANY: Final = 500  # teams: more take more than a fraction of a second
PATIENCE: Final = timedelta(seconds=30)  # the housekeeper comes by every five seconds
MOMENT: Final = timedelta(seconds=1)  # what does not take long is done by then: who changed something sees it
_LOCKS: Final = 20261122  # the class of the advisory locks of phases


@dataclass(frozen=True, slots=True)
class Summary:
    """What the board of a scope has in all. ``signature_hash`` is ``None`` where no result is of the current rule."""

    signature_hash: str | None
    team_count: int
    excluded_count: int
    scored_at: datetime | None
    is_demo_models: bool


class Place(NamedTuple):
    """The id of a row with its place and rank, and its team, of which only the name is known."""

    standing: int
    place: int
    rank: int
    team: Team


NOTHING: Final = Summary(None, 0, 0, None, False)


def is_due() -> Exists:
    """For a query of phases: whether something changed since the standings of each were computed."""
    return Exists(StandingMark.objects.filter(phase=OuterRef("pk")))


def refresh(phase: Phase, *, patience: timedelta | None = None) -> bool:
    """Bring the standings of ``phase`` up to date. One at a time; nothing is locked where nothing changed.

    Waits for another that is at it: as long as that takes, or for ``patience``. Then returns ``False``, with the
    standings as they were.
    """
    if not StandingMark.objects.filter(phase=phase).exists():
        return True
    with transaction.atomic():
        note(Level.STANDINGS)
        if not _is_mine(phase, patience):
            return False
        with connection.cursor() as cursor:
            cursor.execute("DELETE FROM leaderboard_standingmark WHERE phase_id = %s RETURNING team_id", [phase.pk])
            teams = {row[0] for row in cursor.fetchall()}
        if teams:
            fresh = Phase.objects.select_related("track").get(pk=phase.pk)
            recompute(fresh, None if None in teams else teams)
    return True


def _is_mine(phase: Phase, patience: timedelta | None) -> bool:
    """Take the lock of the standings of ``phase`` to the end of the transaction, within ``patience``."""
    with connection.cursor() as cursor:
        if patience is None:
            cursor.execute("SELECT pg_advisory_xact_lock(%s, %s)", [_LOCKS, phase.pk])
            return True
        if not patience:
            cursor.execute("SELECT pg_try_advisory_xact_lock(%s, %s)", [_LOCKS, phase.pk])
            return bool(cursor.fetchone()[0])
        try:
            with transaction.atomic():  # a savepoint: a lock that was not had leaves the transaction whole
                cursor.execute(f"SET LOCAL lock_timeout = {patience // timedelta(milliseconds=1)}")
                cursor.execute("SELECT pg_advisory_xact_lock(%s, %s)", [_LOCKS, phase.pk])
        except OperationalError as error:
            if not isinstance(error.__cause__, LockNotAvailable):
                raise
            return False
        cursor.execute("SET LOCAL lock_timeout = DEFAULT")
        return True


def freshen(phase: Phase) -> bool:
    """``refresh`` for a reader: where it takes long, returns ``False`` at once; waits a ``MOMENT`` for another at it.

    A reader does what takes long only if nobody else did for ``PATIENCE``, or if there are no standings at all.
    """
    if not (Standing.objects.filter(phase=phase).exists() and _takes_long(phase)):
        return refresh(phase, patience=MOMENT)
    is_overdue = StandingMark.objects.filter(phase=phase, made_at__lte=Now() - PATIENCE).exists()
    return is_overdue and refresh(phase, patience=timedelta())


def refresh_all() -> None:
    """Bring the standings of every phase up to date, except those that another process is computing. One that cannot
    be computed stops no other.
    """
    phases = Phase.objects.filter(is_due()).order_by("pk")
    one_by_one(phases, partial(refresh, patience=timedelta()), "the phases with marks")


def _takes_long(phase: Phase) -> bool:
    """Whether the marks are of many teams, or change the composites of many."""
    marks = StandingMark.objects.filter(phase=phase)
    found = marks.aggregate(teams=Count("team", distinct=True), is_of_all=BoolOr(Q(team=None)))
    if found["teams"] > MANY or composing.takes_long(phase):
        return True
    return bool(found["is_of_all"]) and _team_count(phase) > MANY


def _team_count(phase: Phase) -> int:
    """The number of teams with submissions, counted to just beyond ``MANY``."""
    return Submission.objects.filter(phase=phase).order_by().values("team").distinct()[: MANY + 1].count()


def recompute(phase: Phase, teams: Collection[int] | None = None) -> None:
    """Compute the standings of ``teams`` (``None``: of all) and every composite anew. They get another version."""
    of_teams = {} if teams is None else {"team__in": list(teams)}
    rows, rule = computed(phase, teams), rule_of(phase)
    Standing.objects.filter(phase=phase, **of_teams).delete()
    if rule.is_composite:
        composing.compose(phase, rule, rows)
    Standing.objects.bulk_create(rows, batch_size=1000)
    version = StandingsVersion(phase=phase, value=uuid4())
    StandingsVersion.objects.bulk_create(
        [version], update_conflicts=True, unique_fields=["phase"], update_fields=["value"]
    )
    if len(rows) > MANY:
        with connection.cursor() as cursor:
            cursor.execute("ANALYZE leaderboard_standing")  # else boards are planned for a table without rows


def computed(phase: Phase, teams: Collection[int] | None = None) -> list[Standing]:
    """The standings as the live results give them, not stored and without composites. Reads ``phase.track``."""
    moments: dict[str, datetime | None] = {Scope.LIVE: None}
    if phase.frozen_at is not None:
        moments[Scope.FROZEN] = phase.frozen_at
    results = list(live_results(phase, recipe_of(phase.track), teams))
    release = Release(phase, teams)
    return [
        row for scope, before in moments.items() for row in _of_scope(phase, scope, before, results, teams, release)
    ]


def summary(phase: Phase, scope: str) -> Summary:
    """One query: over all teams, and over the signatures that their results have."""
    groups = list(
        Standing.objects.filter(phase=phase, scope=scope)
        .order_by()
        .values("signature_hash")
        .annotate(
            teams=Count("pk"),
            results=Sum("result_count"),
            current=Sum("current_count"),
            newest_at=Max("current_newest_at"),
            newest_id=Max("current_newest_id"),
            scored=Max("scored_at"),
            is_demo=BoolOr("is_demo_models"),
        )
    )
    current = [group for group in groups if group["current"]]
    best = max(current, key=lambda group: (group["current"], group["newest_at"], group["newest_id"]), default=None)
    total = sum(group["results"] for group in groups)
    if best is None:
        return replace(NOTHING, excluded_count=total)
    return Summary(best["signature_hash"], best["teams"], total - best["results"], best["scored"], best["is_demo"])


def with_signature(phase: Phase, scope: str, signature_hash: str | None) -> QuerySet[Standing]:
    """The rows that are ranked together."""
    return Standing.objects.filter(phase=phase, scope=scope, signature_hash=signature_hash or "")


def page(
    phase: Phase, scope: str, signature_hash: str | None, start: int, end: int | None, by: OrderBy | None = None
) -> list[Any]:
    """The rows with this signature from the ``start``-th to before the ``end``-th, from 0, each with its ``place`` and
    ``rank``: the best first, or in the order ``by``, in which the ranking decides among equals.

    The rank counts teams only: a baseline has that of the team before it.
    """
    found = with_signature(phase, scope, signature_hash)
    return _in_order(found, start, end) if by is None else _in_order_by(found, by, start, end)


def _in_order(found: QuerySet[Standing], start: int, end: int | None) -> list[Any]:
    """Reads only the rows asked for, and the baselines before them.

    Of the rows before those the subquery reads no more than the index: sorted whole, 5,000 of them take 80 ms, not 4.
    """
    asked = found.order_by(*ORDER)[start:end].values("submission")
    rows: list[Any] = list(_to_show(found.filter(submission__in=asked)).order_by(*ORDER))
    baselines = found.filter(_above(rows[0]), is_baseline=True).count() if rows and start else 0
    for place, row in enumerate(rows, start + 1):
        baselines += row.is_baseline
        row.place, row.rank = place, place - baselines
    return rows


def _in_order_by(found: QuerySet[Standing], by: OrderBy, start: int, end: int | None) -> list[Any]:
    return _rows_at(found, list(_ranked(found).order_by(by, *ORDER).values_list("pk", "place", "rank")[start:end]))


def _ranked(found: QuerySet[Standing]) -> QuerySet[Any]:
    """``found`` with the ``place`` and ``rank`` of each among all."""
    so_far: dict[str, Any] = {"order_by": list(ORDER), "frame": RowRange(start=None, end=0)}
    teams = Case(When(is_baseline=True, then=Value(0)), default=Value(1), output_field=IntegerField())
    return found.annotate(place=Window(Count("pk"), **so_far), rank=Window(Sum(teams), **so_far))


def _rows_at(found: QuerySet[Standing], placed: Sequence[tuple[int, int, int]]) -> list[Any]:
    """The rows with these ids, each with its place and rank."""
    rows: dict[int, Any] = _to_show(found).in_bulk([pk for pk, _place, _rank in placed])
    for pk, place, rank in placed:
        rows[pk].place, rows[pk].rank = place, rank
    return [rows[pk] for pk, _place, _rank in placed]


def places(phase: Phase, scope: str, signature_hash: str | None, by: OrderBy | None = None) -> tuple[Place, ...]:
    """Where every team with this signature stands, in the order of ``page``. Two queries."""
    ranked = _ranked(with_signature(phase, scope, signature_hash)).order_by(*([] if by is None else [by]), *ORDER)
    named = Team.objects.filter(competition=phase.track.competition_id).only("name", "number", "is_baseline").in_bulk()
    return tuple(
        Place(pk, place, rank, named[team])
        for pk, place, rank, team in ranked.values_list("pk", "place", "rank", "team")
    )


def at_places(phase: Phase, scope: str, signature_hash: str | None, asked: Sequence[Place]) -> list[Any]:
    """The rows of ``asked``, as ``page`` gives them."""
    found = with_signature(phase, scope, signature_hash)
    return _rows_at(found, [(each.standing, each.place, each.rank) for each in asked])


def of_team(phase: Phase, scope: str, signature_hash: str | None, team: Team) -> Standing | None:
    """The team's row with its ``place`` and ``rank``, as in ``page``."""
    found = with_signature(phase, scope, signature_hash)
    own: Any = found.filter(team=team).select_related("team", "submission").first()
    if own is None:
        return None
    counts = found.filter(_above(own)).aggregate(rows=Count("pk"), teams=Count("pk", filter=Q(is_baseline=False)))
    own.place, own.rank = counts["rows"] + 1, counts["teams"] + (not own.is_baseline)
    return cast("Standing", own)


def _above(row: Standing) -> Q:
    """The rows that are higher than ``row``."""
    is_tied = Q(key=row.key) & Q(submitted_at=row.submitted_at, submission__lt=row.submission_id)
    return Q(key__lt=row.key) | Q(key=row.key, submitted_at__lt=row.submitted_at) | is_tied


def _to_show(found: QuerySet[Standing]) -> QuerySet[Standing]:
    return found.select_related("team", "submission").only(*SHOWN, "key")


def _then(entry: ranking.Entry, was_chosen: set[int] | None) -> ranking.Entry:
    """``entry`` as it was chosen when a frozen board froze; on a live one, as it is now."""
    return entry if was_chosen is None else replace(entry, is_chosen=entry.submission_id in was_chosen)


def _of_scope(
    phase: Phase,
    scope: str,
    before: datetime | None,
    results: Iterable[Result],
    teams: Collection[int] | None,
    release: Release,
) -> list[Standing]:
    rule = rule_of(phase)
    was_chosen = None if before is None or rule.counting != "chosen" else chosen_at(phase, before, teams)
    counts = submission_counts(phase, before, teams)
    grouped: dict[tuple[int, str], list[Result]] = defaultdict(list)
    for each in results:
        if before is None or each.entry.submitted_at < before:
            grouped[each.entry.team_id, each.entry.signature_hash].append(each)
    rows = []
    for (team_id, signature_hash), group in grouped.items():
        public = public_entries((_then(each.entry, was_chosen) for each in group), release)
        counting = ranking.counting_entry(public, rule)
        if counting is None:  # the one result with a public score was withdrawn
            continue
        result = next(each for each in group if each.entry.submission_id == counting.submission_id)
        current = [ranking.arrival(each.entry) for each in group if each.is_current]
        newest_at, newest_id = max(current, default=(None, None))
        rows.append(
            Standing(
                phase=phase,
                scope=scope,
                team_id=team_id,
                signature_hash=signature_hash,
                is_baseline=counting.is_baseline,
                key=list(ranking.board_key(counting, rule, None)),
                submission_id=counting.submission_id,
                submitted_at=counting.submitted_at,
                final_score=counting.final_score,
                scores=counting.scores,
                is_demo_models=result.is_demo_models,
                coverage=result.coverage,
                scored_at=result.finished_at,
                submission_count=counts[team_id],
                result_count=len(group),
                current_count=len(current),
                current_newest_at=newest_at,
                current_newest_id=newest_id,
            )
        )
    return rows
