"""Final boards as they were published, the newest and every one before it, and public boards of the past."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from operator import itemgetter
from typing import Any, Final

from malpan.competitions.models import Phase
from malpan.competitions.references import recipe_named
from malpan.leaderboard.boards import (
    BASELINES,
    COMPOSITE,
    COUNT,
    RANK,
    TIME,
    Board,
    BoardRow,
    Disqualified,
    View,
    disqualified,
    known_view,
    last_ranked,
    reader_of,
)
from malpan.leaderboard.errors import BoardNotFound, DayNotKept
from malpan.leaderboard.models import BoardSnapshot
from malpan.leaderboard.ranking import Rule
from malpan.leaderboard.rules import components_from, composite_of
from malpan.leaderboard.sureness.selectors import of_snapshot, with_sureness
from malpan.submissions.models import RescoreBatch
from malpan.submissions.past_boards import RESCORED
from malpan.submissions.visibility import is_hidden
from malpan.teams.models import Team
from scoring.errors import quoted
from scoring.lru import LruCache

ROWS_KEPT: Final = 60_000  # in the memory of a process: a board of 10,000 takes twenty pages' time to read
APPLYING: Final = timedelta(minutes=5)  # more than the transaction that applies a rescoring takes

Placed = tuple[int, Mapping[str, Any]]  # a row of a published final board, after its place


@dataclass(frozen=True, slots=True)
class _Kept:
    """What pages read of a snapshot's rows, found by walking over them once."""

    rows: tuple[Mapping[str, Any], ...]
    placed: Sequence[Placed]
    by_number: Mapping[int, Placed]  # of the team
    is_demo_models: bool


def published_board(
    phase: Phase, *, viewer_team: Team | None = None, view: View | None = None, number: int | None = None
) -> Board | None:
    """The last published final board of ``phase``, or ``None`` if there is none: the rows of ``view``, default all.

    ``number``: an earlier one, ranked by the recipe and the components that it was published with. Raises
    ``BoardNotFound`` where no board with that number was published. Reads only snapshots, whose ``rows`` are not read
    with them: ``published_rows`` has them.
    """
    snapshots = () if phase.final_published_at is None else publications(phase)
    snapshot = next((each for each in snapshots if number in (None, each.number)), None)
    if snapshot is None:
        if number is not None:
            raise BoardNotFound(number=number)
        return None
    return _board(phase, snapshot, snapshots, viewer_team, view or View())


def past_board(phase: Phase, number: int, *, viewer_team: Team | None = None, view: View | None = None) -> Board:
    """The public board of ``phase`` as it was kept with this ``number`` (``keeping``), as ``published_board``.

    Raises ``BoardNotFound``, also while the board is hidden.
    """
    snapshots = () if is_hidden(phase) else publications(phase, BoardSnapshot.Kind.PUBLIC)
    snapshot = next((each for each in snapshots if each.number == number), None)
    if snapshot is None:
        raise BoardNotFound(number=number)
    return _board(phase, snapshot, snapshots, viewer_team, view or View())


def day_board(phase: Phase, day: date, *, viewer_team: Team | None = None, view: View | None = None) -> Board:
    """The public board of ``phase`` as the KST ``day`` ended (``day_boards``), as ``published_board``.

    Raises ``DayNotKept``, also while the board is hidden.
    """
    snapshots = () if is_hidden(phase) else publications(phase, BoardSnapshot.Kind.DAY)
    snapshot = next((each for each in snapshots if each.day == day), None)
    if snapshot is None:
        raise DayNotKept(day=day)
    found = _board(phase, snapshot, snapshots, viewer_team, view or View())
    return replace(found, days=tuple(each.day for each in snapshots if each.day is not None))


def _board(
    phase: Phase,
    snapshot: BoardSnapshot,
    snapshots: tuple[BoardSnapshot, ...],
    viewer_team: Team | None,
    view: View,
) -> Board:
    recipe = recipe_named(snapshot.recipe)
    rule = Rule(tie_breaks=recipe.tie_breaks, components=components_from(snapshot.components))
    chosen = known_view(view, recipe, rule)
    kept = _kept(snapshot)
    found = [each for each in kept.placed if chosen.finds(each[1]["team"])] if chosen.search else kept.placed
    rows = _sorted_here(found, chosen)
    own_number = None if viewer_team is None else viewer_team.number
    own = None if own_number is None else kept.by_number.get(own_number)
    reader = reader_of(phase, viewer_team)
    left = disqualified(phase.track.competition, reader)
    shown = chosen.cut(rows)
    teams = _teams_of(phase, [*shown, *filter(None, [own])])
    sureness = of_snapshot(snapshot)

    def row_of(placed: Placed) -> BoardRow:
        row = _published_row(*placed, own_number, {each.number for each in left})
        team = teams.get(placed[1]["team_number"])
        if team is not None:
            model = reader.model_of(team) if row.team_name == team.name else None
            row = replace(row, is_program=team.is_program, model=model)
        return with_sureness([row], sureness)[0]

    return Board(
        phase=phase,
        recipe=recipe,
        columns=recipe.columns,
        rows=tuple(map(row_of, shown)),
        own_row=None if own is None else row_of(own),
        is_demo_models=kept.is_demo_models,
        signature_hash=snapshot.signature_hash,
        excluded_count=0,
        view=chosen,
        row_count=len(rows),
        total=len(kept.rows),
        row_before=None if chosen.search else last_ranked(list(map(row_of, rows[: chosen.offset][-BASELINES:]))),
        disqualified=left,
        snapshot=snapshot,
        snapshots=snapshots,
        left_since=_in_rows(left, snapshot),
        rule=rule,
        sureness=sureness,
    )


def _teams_of(phase: Phase, rows: Sequence[Placed]) -> dict[int, Team]:
    """The teams of ``rows`` as they are now, by their numbers: what the rows do not record."""
    numbers = [row["team_number"] for _place, row in rows]
    return {team.number: team for team in Team.objects.filter(competition=phase.track.competition, number__in=numbers)}


def left_since(phase: Phase, snapshot: BoardSnapshot) -> tuple[Disqualified, ...]:
    """The teams in ``snapshot`` that were disqualified since. Needs no recipe."""
    return _in_rows(_disqualified(phase, None), snapshot)


def _in_rows(teams: Sequence[Disqualified], snapshot: BoardSnapshot) -> tuple[Disqualified, ...]:
    return tuple(each for each in teams if each.number in _kept(snapshot).by_number)


def _disqualified(phase: Phase, viewer_team: Team | None) -> tuple[Disqualified, ...]:
    return disqualified(phase.track.competition, reader_of(phase, viewer_team))


def snapshot_number(written: str | None) -> int | None:
    """The number of a snapshot as a reader writes it; ``None`` for none. Raises ``BoardNotFound`` for no number."""
    if not written:
        return None
    if not (written.isdecimal() and len(written) < 6):
        raise BoardNotFound(number=quoted(written))
    return int(written)


def day_asked(written: str | None) -> date | None:
    """The day whose board a reader asks for, such as ``2026-11-20``; ``None`` for none. Raises ``DayNotKept`` for no
    day.
    """
    if not written:
        return None
    try:
        return date.fromisoformat(written)
    except ValueError:
        raise DayNotKept(day=quoted(written)) from None


def publications(phase: Phase, kind: str = BoardSnapshot.Kind.FINAL) -> tuple[BoardSnapshot, ...]:
    """Every published final board of ``phase``, or every kept public one of a kind, without its rows, the newest
    first.
    """
    snapshots = phase.snapshots.filter(kind=kind).defer("rows")
    return tuple(snapshots.select_related("published_by").order_by("-number"))


def kept_before(batch: RescoreBatch) -> BoardSnapshot | None:
    """The public board that was kept when ``batch`` was applied, in the same transaction (``keeping``); ``None`` if it
    was not applied, nothing was kept, or the board is hidden now.
    """
    if batch.state != RescoreBatch.State.APPLIED or batch.closed_at is None or is_hidden(batch.phase):
        return None
    moments = (batch.closed_at - APPLYING, batch.closed_at)
    kept = publications(batch.phase, BoardSnapshot.Kind.PUBLIC)
    of_rescorings = (each for each in kept if each.note_ko == RESCORED.ko)
    found = next((each for each in of_rescorings if moments[0] <= each.published_at <= moments[1]), None)
    return found if found is not None and found.published_by_id == batch.closed_by_id else None


def published_rows(snapshot: BoardSnapshot) -> Sequence[Mapping[str, Any]]:
    """The rows of a published final board, which never change. They are shared: change none."""
    return _kept(snapshot).rows


_boards: LruCache[tuple[int, str], _Kept] = LruCache(ROWS_KEPT, lambda kept: len(kept.rows) + 1)


def _kept(snapshot: BoardSnapshot) -> _Kept:
    key = (snapshot.pk, snapshot.sha256)
    found = _boards.get(key)
    if found is None:
        rows = tuple(BoardSnapshot.objects.values_list("rows", flat=True).get(pk=snapshot.pk))
        placed = tuple(enumerate(rows, 1))
        by_number = {row["team_number"]: (place, row) for place, row in reversed(placed)}
        found = _Kept(rows, placed, by_number, any(row["is_demo_models"] for row in rows))
        _boards.put(key, found)
    return found


def _sorted_here(rows: Sequence[Placed], view: View) -> Sequence[Placed]:
    """As ``_order``, of rows that are at hand."""
    if view.sort == RANK:
        return rows
    values: dict[str, Callable[[Mapping[str, Any]], Any]] = {
        COUNT: lambda row: row["submission_count"],
        TIME: lambda row: datetime.fromisoformat(row["submitted_at"]),
        COMPOSITE: lambda row: (row.get("composite") or {}).get("value"),
    }
    value = values.get(view.sort, lambda row: row["scores"].get(view.sort))
    valued = [(value(row), (place, row)) for place, row in rows]
    with_value = sorted(
        (each for each in valued if each[0] is not None), key=itemgetter(0), reverse=bool(view.is_descending)
    )
    return [placed for _value, placed in with_value] + [placed for found, placed in valued if found is None]


def _published_row(place: int, row: Mapping[str, Any], own_number: int | None, left: Collection[int]) -> BoardRow:
    return BoardRow(
        rank=row["rank"],
        place=place,
        team_id=None,
        team_name=row["team"],
        is_baseline=row["is_baseline"],
        is_own=own_number is not None and row["team_number"] == own_number,
        scores=row["scores"],
        final_score=row["final_score"],
        submission_count=row["submission_count"],
        submitted_at=datetime.fromisoformat(row["submitted_at"]),
        is_demo_models=row["is_demo_models"],
        coverage=row.get("reason_coverage"),
        public_rank=row["public_rank"],
        public_score=row["public_score"],
        composite=composite_of(row.get("composite")),
        submission_name=row.get("submission", ""),
        is_disqualified=row["team_number"] in left,
        team_number=row["team_number"],
    )
