"""What the publication of a stage or of the combined standing would say now. Nothing is stored here."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from malpan.arena.models import CampaignResult
from malpan.arena.selectors import newest_result
from malpan.competitions.models import Competition, Track
from malpan.competitions.selectors import is_blind
from malpan.leaderboard.models import BoardSnapshot
from malpan.stages.errors import (
    BoardHasDisqualified,
    BoardNotPublished,
    BoardUnfit,
    CampaignLacksTeams,
    CampaignNotPublished,
    NobodyTakesPart,
    NoStages,
    NoWeight,
    StageHasDisqualified,
    StageOutdated,
    StagesUnfinished,
    TableMissing,
    TableNotConfirmed,
    TableOutdated,
)
from malpan.stages.models import Stage, StageSnapshot
from malpan.stages.rule import Combined, Entry, Placed, Rule, combine, place
from malpan.stages.selectors import (
    basis_of,
    disqualified_numbers,
    newest_board,
    newest_table,
    rule_facts,
    scores_of,
    snapshots_of,
    state_of,
    states_of,
    table_sha256,
)
from malpan.teams.models import Team
from malpan.teams.naming import shown_name
from scoring.composite import COMPARED_DECIMALS
from scoring.signature import json_sha256

SHARE_DECIMALS: Final = 10


@dataclass(frozen=True, slots=True)
class Content:
    """The rule and the rows of a snapshot."""

    rule: dict[str, Any]
    rows: list[dict[str, Any]]

    @property
    def sha256(self) -> str:
        return content_sha256(self.rule, self.rows)


def content_sha256(rule: Mapping[str, Any], rows: Sequence[Mapping[str, Any]]) -> str:
    """The hash of a snapshot."""
    return json_sha256({"rule": rule, "rows": rows})


def rule_of(facts: Mapping[str, Any]) -> Rule:
    """The rule that a snapshot or ``rule_facts`` names."""
    low, high = facts["scale"]
    return Rule(facts["normalisation"], (low, high), facts["weight"], facts["cut"], facts["tie_rule"])


def stage_content(stage: Stage, now: datetime | None = None) -> Content:
    """The result of ``stage`` as it would be published now.

    Raises ``BoardNotPublished``, ``BoardUnfit`` and ``BoardHasDisqualified`` for the first stage; ``StageNotOpen``,
    ``TableMissing``, ``TableNotConfirmed`` and ``TableOutdated``, or ``CampaignNotPublished`` and
    ``CampaignLacksTeams``, for a later one; ``NobodyTakesPart``.
    """
    out = disqualified_numbers(stage.track.competition)
    source = _SOURCES[Stage.Source(stage.source)](stage, out)
    if not source.entries:
        raise NobodyTakesPart
    cut = _cut(stage, out)
    facts = rule_facts(stage) | {"cut": cut, "basis": source.basis, "left_out": source.left_out}
    names = _names(stage.track.competition, now)
    rows = [
        {
            "rank": placed.rank,
            "team": names.get(placed.entry.team_number, ""),
            "team_number": placed.entry.team_number,
            "score": placed.entry.score,
            "normalised": placed.normalised,
            "goes_on": placed.goes_on,
            "order": placed.entry.order,
            "submitted_at": source.submitted_at[placed.entry.team_number],
        }
        for placed in place(source.entries, rule_of(facts))
    ]
    return Content(facts, rows)


def _cut(stage: Stage, out: set[int]) -> int | None:
    """How many go on: the cut of ``stage``; but once the next stage is published, nobody moves up into the place of a
    team that went on and is disqualified now, whoever was reinstated meanwhile.

    A team that is disqualified is in no later publication: whether it went on, its newest one says. Without such a team
    it is the cut again, also where more teams had shared the last place.
    """
    is_followed = StageSnapshot.objects.filter(stage__track=stage.track_id, stage__position=stage.position + 1).exists()
    if stage.cut is None or not is_followed:
        return stage.cut
    went_on = {number for number, goes_on in _newest_verdicts(stage).items() if goes_on}
    return len(went_on - out) if went_on & out else stage.cut


def _newest_verdicts(stage: Stage) -> dict[int, bool]:
    """Whether each team goes on, by the newest publication of ``stage`` that has it."""
    verdicts: dict[int, bool] = {}
    for snapshot in reversed(snapshots_of(stage)):
        verdicts |= {row["team_number"]: row["goes_on"] for row in snapshot.rows}
    return verdicts


@dataclass(frozen=True, slots=True)
class _Source:
    """The scores of a stage, where they are from, and which teams that would take part are disqualified."""

    entries: list[Entry]
    basis: dict[str, Any]
    left_out: list[int]
    submitted_at: dict[int, str]


def _of_board(stage: Stage, out: set[int]) -> _Source:
    board = newest_board(stage)
    if board is None:
        raise BoardNotPublished(phase="" if stage.phase is None else stage.phase.title)
    _require_fit(board)
    rows = [row for row in board.rows if row["rank"] is not None]
    if board.components and any(row["team_number"] in out for row in rows):
        raise BoardHasDisqualified(phase=board.phase.title)
    return _Source(
        entries=[_entry(row["team_number"], ranking_score(row), row["rank"]) for row in _without(rows, out)],
        basis={"phase": board.phase.slug, "snapshot": board.number, "rows_sha256": board.sha256},
        left_out=sorted({row["team_number"] for row in rows} & out),
        submitted_at={row["team_number"]: row["submitted_at"] for row in rows},
    )


def _require_fit(board: BoardSnapshot) -> None:
    """The scores that rank are 0-1 and ordered as the ranks, so that they can count for them."""
    before = 1.0
    for row in board.rows:
        score = round(ranking_score(row), COMPARED_DECIMALS)
        if row["rank"] is None:
            continue
        if not 0 <= score <= before:
            raise BoardUnfit(team=row["team"])
        before = score


def ranking_score(row: Mapping[str, Any]) -> float:
    """What a row of a published board is ranked by: its composite where one ranks."""
    composite = row.get("composite")
    return float(row["final_score"] if composite is None else composite["value"])


def _of_table(stage: Stage, out: set[int]) -> _Source:
    before, table = basis_of(stage), newest_table(stage)
    if table is None:
        raise TableMissing
    if state_of(table) != "confirmed" or table_sha256(stage, table.rows) != table.sha256:
        raise TableNotConfirmed
    scores = scores_of(table)
    if missing := [row for row in _taking_part(before, out) if row["team_number"] not in scores]:
        raise TableOutdated(missing=len(missing))
    return _of_those_sent_on(stage, before, out, scores, {"table": table.number})


def _of_campaign(stage: Stage, out: set[int]) -> _Source:
    before, campaign = basis_of(stage), stage.campaign
    result = None if campaign is None else newest_result(campaign)
    if campaign is None or result is None:
        raise CampaignNotPublished(title="" if campaign is None else campaign.title)
    scores = {number: winning_share(strength) for number, strength in strengths_of(result).items()}
    if missing := [row["team"] for row in _taking_part(before, out) if row["team_number"] not in scores]:
        raise CampaignLacksTeams(title=campaign.title, teams=", ".join(missing))
    basis = {"campaign": campaign.number, "result": result.number, "result_sha256": result.sha256}
    return _of_those_sent_on(stage, before, out, scores, basis)


def winning_share(strength: float) -> float:
    """The score 0-1 of a strength in logits: how often it wins against one of average strength, ties aside. Of a
    rating, which is a deviation from the mean, it is the same curve: 0.5 is the mean.
    """
    return round(1 / (1 + math.exp(-strength)), SHARE_DECIMALS)


def strengths_of(result: CampaignResult) -> dict[int, float]:
    """The strengths of the ranked teams of a published human evaluation, by number."""
    return {row["team_number"]: float(row["score"]) for row in result.rows if row["rank"] is not None}


def _taking_part(before: StageSnapshot, out: set[int]) -> list[Mapping[str, Any]]:
    return _without([row for row in before.rows if row["goes_on"]], out)


def _of_those_sent_on(
    stage: Stage, before: StageSnapshot, out: set[int], scores: Mapping[int, float], basis: Mapping[str, Any]
) -> _Source:
    """The scores of the teams that the stage before sent on, in the order in which they submitted."""
    rows = _taking_part(before, out)
    arrivals = sorted({datetime.fromisoformat(row["submitted_at"]) for row in rows})
    order = {row["team_number"]: 1 + arrivals.index(datetime.fromisoformat(row["submitted_at"])) for row in rows}
    return _Source(
        entries=[_entry(number, scores[number], place) for number, place in order.items()],
        basis={
            "stage": stage.position - 1,
            "snapshot": before.number,
            "sha256": before.sha256,
            **basis,
        },
        left_out=sorted({row["team_number"] for row in before.rows if row["goes_on"]} & out),
        submitted_at={row["team_number"]: row["submitted_at"] for row in rows},
    )


_SOURCES: Final = {Stage.Source.BOARD: _of_board, Stage.Source.TABLE: _of_table, Stage.Source.CAMPAIGN: _of_campaign}


def _entry(number: int, score: float, order: int) -> Entry:
    return Entry(number, float(score), order)


def _without(rows: Sequence[Mapping[str, Any]], out: set[int]) -> list[Mapping[str, Any]]:
    return [row for row in rows if row["team_number"] not in out]


def final_content(track: Track, now: datetime | None = None) -> Content:
    """The combined standing of ``track`` as it would be published now, from the published stages.

    Raises ``NoStages``, ``StagesUnfinished``, ``StageOutdated``, ``StageHasDisqualified`` and ``NoWeight``.
    """
    snapshots = _published(track)
    weights = [snapshot.rule["weight"] for snapshot in snapshots]
    if not sum(weights):
        raise NoWeight
    lines = combine([placed_of(snapshot.rows) for snapshot in snapshots], weights)
    rule = {
        "stages": [
            {
                "position": position,
                "weight": snapshot.rule["weight"],
                "snapshot": snapshot.number,
                "sha256": snapshot.sha256,
            }
            for position, snapshot in enumerate(snapshots, start=1)
        ]
    }
    names = _names(track.competition, now)
    return Content(rule, [_final_row(line, names) for line in lines])


def _published(track: Track) -> list[StageSnapshot]:
    """The newest snapshot of every stage, each resting on the one before and without a disqualified team."""
    states = states_of(track)
    if not states:
        raise NoStages
    found: list[StageSnapshot] = []
    out = disqualified_numbers(track.competition)
    for state in states:
        if state.snapshot is None:
            raise StagesUnfinished(title=state.stage.title)
        if state.is_outdated or (found and _lacks_a_team(found[-1], state.snapshot, out)):
            raise StageOutdated(title=state.stage.title)
        if state.disqualified:
            raise StageHasDisqualified(title=state.stage.title)
        found.append(state.snapshot)
    return found


def _lacks_a_team(before: StageSnapshot, snapshot: StageSnapshot, out: set[int]) -> bool:
    """Whether a team goes on that the next stage does not have: one that was reinstated in the meantime."""
    going_on = {row["team_number"] for row in before.rows if row["goes_on"]} - out
    return not going_on <= {row["team_number"] for row in snapshot.rows}


def placed_of(rows: Sequence[Mapping[str, Any]]) -> list[Placed]:
    """The rows of a stage's snapshot as ``rule.combine`` takes them."""
    return [
        Placed(Entry(row["team_number"], row["score"], row["order"]), row["rank"], row["normalised"], row["goes_on"])
        for row in rows
    ]


def _final_row(line: Combined, names: Mapping[int, str]) -> dict[str, Any]:
    return {
        "rank": line.rank,
        "team": names.get(line.team_number, ""),
        "team_number": line.team_number,
        "final_score": line.score,
        "stopped_at": line.stopped_at,
        "parts": [{"score": each.entry.score, "rank": each.rank, "normalised": each.normalised} for each in line.parts],
    }


def _names(competition: Competition, now: datetime | None) -> dict[int, str]:
    """The names of all teams as the public may read them now, by number."""
    blind = is_blind(competition, now)
    teams = Team.objects.filter(competition=competition)
    return {team.number: shown_name(team, viewer_team=None, is_blind=blind) for team in teams}
