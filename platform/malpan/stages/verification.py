"""Whether the published scores, boards and stages in the database are still those that the hash chain recorded.

``leaderboard.verification`` and, in the same way, human evaluations (``arena.verification``) and the snapshots of
stages: every one has its entry with its hash, and follows from the ones that it names by the rule.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any, Final

from django.db import connection
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from malpan.arena.models import CampaignResult
from malpan.arena.verification import verify_campaigns
from malpan.competitions.models import Competition
from malpan.core.locks import repeatable_read
from malpan.leaderboard import verification
from malpan.leaderboard.models import BoardSnapshot
from malpan.leaderboard.verification import Finding
from malpan.stages.contents import (
    content_sha256,
    placed_of,
    ranking_score,
    rule_of,
    strengths_of,
    winning_share,
)
from malpan.stages.models import StageDecision, StageSnapshot, StageTable
from malpan.stages.publishing import chain_payload
from malpan.stages.rule import combine, place
from malpan.stages.selectors import scores_of
from malpan.submissions.models import ChainEntry

TEXTS: Final[dict[str, str | Promise]] = {
    **verification.TEXTS,
    "stage_missing": _("발표한 심사 결과가 기록에 없습니다."),
    "stage_differs": _("발표한 심사 결과가 기록과 다릅니다."),
    "stage_gone": _("기록된 심사 결과가 데이터베이스에 없습니다."),
    "stage_miscounted": _("발표한 심사 결과가 규칙대로 다시 구한 것과 다릅니다."),
    "table_differs": _("발표한 심사 점수가 두 사람이 확인한 점수표와 다릅니다."),
}


@dataclass(frozen=True, slots=True)
class StageFinding(Finding):
    """``code`` is a key of ``TEXTS`` here."""

    @property
    def text(self) -> str:
        return str(TEXTS[self.code])


def verify_competition(competition: Competition) -> list[Finding]:
    """Every difference between database and chain of ``competition``, in their state at one moment. Read-only."""
    # the isolation level of a running transaction cannot be changed
    with nullcontext() if connection.in_atomic_block else repeatable_read():
        found = verification.verify_competition(competition)
        return found + list(_stages(competition)) + verify_campaigns(competition)


def _stages(competition: Competition) -> Iterator[Finding]:
    recorded = ChainEntry.objects.filter(competition=competition, kind=ChainEntry.Kind.STAGE)
    unseen = {entry.number: entry.payload for entry in recorded.order_by("number")}
    snapshots = StageSnapshot.objects.filter(track__competition=competition).select_related("track", "stage")
    for snapshot in snapshots.order_by("pk"):
        expected, where = chain_payload(snapshot), str(snapshot)
        place_of = {name: expected[name] for name in ("track", "stage", "snapshot")}
        number = next((n for n, entry in unseen.items() if entry.items() >= place_of.items()), None)
        if number is None:
            yield StageFinding("stage_missing", where)
            continue
        is_itself = content_sha256(snapshot.rule, snapshot.rows) == snapshot.sha256
        if not (is_itself and unseen.pop(number) == expected):
            yield StageFinding("stage_differs", f"#{number} {where}")
        elif not _is_counted(snapshot):
            yield StageFinding("stage_miscounted", f"#{number} {where}")
        elif not _is_of_its_table(snapshot):
            yield StageFinding("table_differs", f"#{number} {where}")
    yield from (StageFinding("stage_gone", f"#{number}") for number in unseen)


def _is_counted(snapshot: StageSnapshot) -> bool:
    """Whether the rows follow from their scores or, of the combined standing, from the snapshots that it names."""
    if snapshot.stage is not None:
        placed = placed_of(snapshot.rows)
        is_placed = place([each.entry for each in placed], rule_of(snapshot.rule)) == placed
        return is_placed and _takes_part(snapshot)
    parts = [_named(snapshot, each) for each in snapshot.rule["stages"]]
    if None in parts:
        return False
    stages = [placed_of(part.rows) for part in parts if part]
    lines = combine(stages, [each["weight"] for each in snapshot.rule["stages"]])
    counted = [(line.team_number, line.rank, line.score, line.stopped_at) for line in lines]
    shown = [(row["team_number"], row["rank"], row["final_score"], row["stopped_at"]) for row in snapshot.rows]
    return counted == shown


def _takes_part(snapshot: StageSnapshot) -> bool:
    """Whether a stage has the teams that its basis sends on, the first one with the scores of its board, one that reads
    a human evaluation with those of its result.
    """
    basis, out = snapshot.rule["basis"], set(snapshot.rule["left_out"])
    if "rows_sha256" in basis:
        boards = BoardSnapshot.objects.filter(phase__track=snapshot.track_id, phase__slug=basis["phase"])
        board = boards.filter(number=basis["snapshot"], sha256=basis["rows_sha256"]).first()
        rows = [] if board is None else [row for row in board.rows if row["rank"] is not None]
        expected = {row["team_number"]: ranking_score(row) for row in rows}
        shown = {row["team_number"]: row["score"] for row in snapshot.rows}
        return shown == {number: score for number, score in expected.items() if number not in out}
    before = StageSnapshot.objects.filter(
        track=snapshot.track_id, stage__position=basis["stage"], number=basis["snapshot"], sha256=basis["sha256"]
    ).first()
    going_on = set() if before is None else {row["team_number"] for row in before.rows if row["goes_on"]}
    return {row["team_number"] for row in snapshot.rows} == going_on - out and _is_of_its_campaign(snapshot, basis)


def _is_of_its_campaign(snapshot: StageSnapshot, basis: dict[str, Any]) -> bool:
    """Whether the scores are those of the published human evaluation that the stage names, if it names one."""
    if "campaign" not in basis:
        return True
    results = CampaignResult.objects.filter(campaign__track=snapshot.track_id, campaign__number=basis["campaign"])
    result = results.filter(number=basis["result"], sha256=basis["result_sha256"]).first()
    strengths = {} if result is None else strengths_of(result)
    return all(
        row["team_number"] in strengths and winning_share(strengths[row["team_number"]]) == row["score"]
        for row in snapshot.rows
    )


def _named(final: StageSnapshot, part: dict[str, Any]) -> StageSnapshot | None:
    found = StageSnapshot.objects.filter(
        track=final.track_id, stage__position=part["position"], number=part["snapshot"], sha256=part["sha256"]
    ).first()
    return found if found and found.rule["weight"] == part["weight"] else None


def _is_of_its_table(snapshot: StageSnapshot) -> bool:
    number = snapshot.rule.get("basis", {}).get("table")
    if number is None:
        return True
    confirmed = StageDecision.objects.filter(table=_table_pk(snapshot, number), verdict="confirmed").exists()
    table = StageTable.objects.filter(stage=snapshot.stage_id, number=number).first()
    scores = scores_of(table)
    return confirmed and all(scores.get(row["team_number"]) == row["score"] for row in snapshot.rows)


def _table_pk(snapshot: StageSnapshot, number: int) -> int | None:
    return StageTable.objects.filter(stage=snapshot.stage_id, number=number).values_list("pk", flat=True).first()
