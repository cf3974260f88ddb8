"""Reads of stages: their order and state, who takes part, what is published."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from django.contrib.postgres.aggregates import BoolOr
from django.db.models import Exists, OuterRef, Q

from malpan.arena.selectors import newest_result
from malpan.competitions.models import Competition, Phase, Track
from malpan.leaderboard.models import BoardSnapshot
from malpan.stages.errors import StageNotFound, StageNotOpen, TableChanged, TableMissing
from malpan.stages.models import Stage, StageDecision, StageSnapshot, StageTable
from malpan.stages.tables import Participant
from malpan.teams.models import Team
from malpan.teams.selectors import disqualified_teams
from scoring.signature import json_sha256

TableState = Literal["none", "pending", "confirmed", "rejected"]

_WITH: Final = ("phase", "campaign", "track__competition")


@dataclass(frozen=True, slots=True)
class StageState:
    """A stage with its newest table and its newest snapshot, if it has them. ``is_open``: the one before is published;
    ``is_outdated``: it was published before an erratum of what it rests on; ``disqualified``: the numbers of the teams
    in the snapshot that were disqualified since.
    """

    stage: Stage
    table: StageTable | None
    snapshot: StageSnapshot | None
    is_open: bool
    is_outdated: bool
    disqualified: tuple[int, ...] = ()

    @property
    def is_behind(self) -> bool:
        """Whether what was published is to be published again."""
        return self.is_outdated or bool(self.disqualified)

    @property
    def table_state(self) -> TableState:
        return state_of(self.table)


def stages_of(track: Track) -> list[Stage]:
    """The stages of ``track`` in their order, with their phases."""
    return list(Stage.objects.filter(track=track).select_related(*_WITH).order_by("position"))


def stage_of(competition: Competition, pk: int) -> Stage:
    """The stage with primary key ``pk`` in ``competition``; raises ``StageNotFound``."""
    stages = Stage.objects.filter(track__competition=competition).select_related(*_WITH)
    stage = stages.filter(pk=pk).first()
    if stage is None:
        raise StageNotFound
    return stage


def states_of(track: Track) -> list[StageState]:
    """Every stage of ``track`` with its state. Four queries for each stage, one more for one that reads a campaign."""
    found: list[StageState] = []
    out = disqualified_numbers(track.competition)
    for stage in stages_of(track):
        before = found[-1].snapshot if found else None
        board = newest_board(stage) if stage.is_first else None
        snapshot = newest_snapshot(stage)
        found.append(
            StageState(
                stage=stage,
                table=newest_table(stage),
                snapshot=snapshot,
                is_open=(board if stage.is_first else before) is not None,
                is_outdated=snapshot is not None and not rests_on_newest(snapshot, before, board),
                disqualified=numbers_in(snapshot, out),
            )
        )
    return found


def rests_on_newest(snapshot: StageSnapshot, before: StageSnapshot | None, board: BoardSnapshot | None) -> bool:
    """Whether a stage was published from the newest snapshot of the stage before (and the newest result of its human
    evaluation) or, of the first, of the board.
    """
    basis = snapshot.rule["basis"]
    if snapshot.stage is not None and snapshot.stage.is_first:
        return board is not None and basis["rows_sha256"] == board.sha256
    if before is None or basis["sha256"] != before.sha256:
        return False
    return "campaign" not in basis or _is_newest_result(snapshot, basis)


def _is_newest_result(snapshot: StageSnapshot, basis: Mapping[str, Any]) -> bool:
    """Whether a stage was published from the newest result of its human evaluation, if that is of this site."""
    campaign = None if snapshot.stage is None else snapshot.stage.campaign
    if campaign is None:
        return True
    result = newest_result(campaign)
    return result is not None and result.sha256 == basis["result_sha256"]


def numbers_in(snapshot: StageSnapshot | None, numbers: set[int]) -> tuple[int, ...]:
    """Those of ``numbers`` whose teams are in ``snapshot``."""
    rows = [] if snapshot is None else snapshot.rows
    return tuple(sorted(numbers.intersection(row["team_number"] for row in rows)))


def replaced_parts(final: StageSnapshot, states: Sequence[StageState]) -> list[StageState]:
    """The stages of which a combined standing does not have the newest snapshot."""
    used = {part["position"]: part["sha256"] for part in final.rule["stages"]}
    return [
        state
        for state in states
        if state.snapshot is not None and used.get(state.stage.position) != state.snapshot.sha256
    ]


def is_final_behind(final: StageSnapshot, states: Sequence[StageState]) -> bool:
    """Whether a published combined standing, or a stage that it rests on, is to be published again."""
    return bool(replaced_parts(final, states)) or any(state.is_behind for state in states)


def resting_on(track: Track, position: int) -> list[Stage | None]:
    """What is published of ``track`` and rests on the stage before ``position``: the stages from there on, and ``None``
    for the combined standing.
    """
    stages = [stage for stage in stages_of(track) if stage.position >= position and newest_snapshot(stage)]
    return [*stages, *([None] if newest_final(track) else [])]


def resting_on_board(phase: Phase) -> list[Stage | None]:
    """What is published and rests on the final board of ``phase``, as ``resting_on``."""
    first = Stage.objects.filter(track=phase.track_id, position=1, phase=phase).first()
    return [] if first is None or newest_snapshot(first) is None else resting_on(phase.track, 1)


def newest_board(stage: Stage) -> BoardSnapshot | None:
    """The published final board that the first stage reads."""
    finals = BoardSnapshot.objects.filter(phase=stage.phase_id, kind=BoardSnapshot.Kind.FINAL)
    return finals.select_related("phase").order_by("-number").first()


def newest_snapshot(stage: Stage) -> StageSnapshot | None:
    return StageSnapshot.objects.filter(stage=stage).select_related("stage__campaign").order_by("-number").first()


def newest_final(track: Track) -> StageSnapshot | None:
    """The newest combined standing of ``track`` that was published."""
    return StageSnapshot.objects.filter(track=track, stage=None).order_by("-number").first()


def newest_table(stage: Stage) -> StageTable | None:
    tables = StageTable.objects.filter(stage=stage).select_related("decision__decided_by", "entered_by")
    return tables.order_by("-number").first()


def require_table(stage: Stage) -> StageTable:
    """The newest table of ``stage``. Raises ``TableMissing``."""
    table = newest_table(stage)
    if table is None:
        raise TableMissing
    return table


def table_of(stage: Stage, number: int) -> StageTable:
    """The newest table of ``stage``, if it is that ``number``. Raises ``TableMissing`` and ``TableChanged``."""
    table = require_table(stage)
    if table.number != number:
        raise TableChanged
    return table


def tables_of(stage: Stage) -> list[StageTable]:
    """Every version, the newest first, with who entered and who decided."""
    tables = StageTable.objects.filter(stage=stage).select_related("decision__decided_by", "entered_by")
    return list(tables.order_by("-number"))


def publications_of(track: Track) -> list[StageSnapshot]:
    """Every publication of the stages of ``track`` and of its combined standing, by stage and number."""
    snapshots = StageSnapshot.objects.filter(track=track).select_related("stage")
    return list(snapshots.order_by("stage__position", "number"))


def teams_in_publications(track: Track, numbers: Sequence[int]) -> set[int]:
    """Those of ``numbers`` whose teams some publication of the stages of ``track`` has, or left out. One query, which
    the database answers without sending the contents.
    """
    asked = {
        str(number): BoolOr(Q(rows__contains=[{"team_number": number}]) | Q(rule__left_out__contains=[number]))
        for number in numbers
    }
    found = StageSnapshot.objects.filter(track=track).aggregate(**asked)
    return {number for number in numbers if found[str(number)]}


def snapshots_of(stage: Stage) -> list[StageSnapshot]:
    """Every publication of ``stage``, the newest first, with who published it."""
    return list(StageSnapshot.objects.filter(stage=stage).select_related("published_by").order_by("-number"))


def finals_of(track: Track) -> list[StageSnapshot]:
    """Every publication of the combined standing, the newest first, with who published it."""
    rows = StageSnapshot.objects.filter(track=track, stage=None)
    return list(rows.select_related("published_by").order_by("-number"))


def has_shown_stage() -> Exists:
    """For a query of tracks: whether each has a stage that readers may see, published or announced."""
    shown = Q(is_announced=True) | Q(snapshots__isnull=False)
    return Exists(Stage.objects.filter(shown, track=OuterRef("pk")))


def decision_of(table: StageTable | None) -> StageDecision | None:
    return None if table is None else getattr(table, "decision", None)


def state_of(table: StageTable | None) -> TableState:
    decision = decision_of(table)
    if table is None:
        return "none"
    if decision is None:
        return "pending"
    return "confirmed" if decision.verdict == StageDecision.Verdict.CONFIRMED else "rejected"


def previous_of(stage: Stage) -> Stage | None:
    """The stage before ``stage``."""
    return Stage.objects.filter(track=stage.track_id, position=stage.position - 1).first()


def basis_of(stage: Stage) -> StageSnapshot:
    """The newest snapshot of the stage before, which says who takes part. Raises ``StageNotOpen``."""
    before = previous_of(stage)
    snapshot = None if before is None else newest_snapshot(before)
    if snapshot is None:
        raise StageNotOpen(title="" if before is None else before.title)
    return snapshot


def participants_of(stage: Stage) -> list[Participant]:
    """The teams that take part in a stage with a table, by number and by their own names: those that go on from the
    stage before and are not disqualified now. Raises ``StageNotOpen``.
    """
    out = disqualified_numbers(stage.track.competition)
    going_on = {row["team_number"] for row in basis_of(stage).rows if row["goes_on"]} - out
    names = team_names(stage.track.competition, going_on)
    return [Participant(number, names.get(number, "")) for number in sorted(going_on)]


def disqualified_numbers(competition: Competition) -> set[int]:
    return set(disqualified_teams(competition).values_list("number", flat=True))


def team_names(competition: Competition, numbers: Iterable[int]) -> dict[int, str]:
    """The names of teams by their numbers, as organisers see them."""
    teams = Team.objects.filter(competition=competition, number__in=set(numbers))
    return dict(teams.values_list("number", "name"))


def scores_of(table: StageTable | None) -> dict[int, float]:
    """The scores of a table by number of the team."""
    return {} if table is None else {row["team_number"]: row["score"] for row in table.rows}


def rule_facts(stage: Stage) -> dict[str, Any]:
    """The rule of a stage as its snapshots and the hashes of its tables have it."""
    return {
        "position": stage.position,
        "source": stage.source,
        "normalisation": stage.normalisation,
        "scale": [stage.scale_min + 0.0, stage.scale_max + 0.0],
        "weight": stage.weight,
        "cut": stage.cut,
        "tie_rule": stage.tie_rule,
    }


def table_sha256(stage: Stage, rows: Sequence[Mapping[str, Any]]) -> str:
    """The hash of a table under the rule that ``stage`` has now."""
    return json_sha256({"rule": rule_facts(stage), "rows": rows})
