"""Whether the published scores in the database are still those that the hash chain recorded.

The commitment of every score, hidden ones included, was added to the chain when it began to count; that of every final
board when it was published. A changed row no longer matches its commitment; in a changed chain the links break. The
standings that boards are read from follow from the scores, so they are computed anew.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from typing import Any, Final

from django.db import connection
from django.db.models import Exists, OuterRef
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from malpan.competitions.models import Competition, Phase
from malpan.core.locks import repeatable_read
from malpan.leaderboard.models import BoardSnapshot
from malpan.leaderboard.ranking import Entry, Rule, rank
from malpan.leaderboard.recomputing import differing
from malpan.leaderboard.rules import components_from, composite_json
from malpan.submissions.evaluation.item_check import altered_items
from malpan.submissions.integrity import chain
from malpan.submissions.integrity.receipts import receipt_commitment, receipt_facts
from malpan.submissions.models import ChainEntry, ScoringRun, Submission
from scoring.signature import json_sha256

TEXTS: Final[dict[str, str | Promise]] = {
    "number": _("사슬의 번호가 이어지지 않습니다."),
    "previous": _("사슬의 기록이 앞 기록과 이어지지 않습니다."),
    "hash": _("사슬의 기록이 해시와 다릅니다."),
    "receipt_missing": _("접수 기록이 없는 제출입니다."),
    "receipt_differs": _("제출의 파일이나 접수 시각이 접수 기록과 다릅니다."),
    "score_missing": _("반영된 점수가 기록에 없습니다."),
    "score_differs": _("점수가 기록과 다릅니다."),
    "score_gone": _("기록된 채점이 데이터베이스에 없습니다."),
    "board_missing": _("발표한 순위표가 기록에 없습니다."),
    "board_differs": _("발표한 순위표가 기록과 다릅니다."),
    "composite_differs": _("발표한 순위표의 종합 점수나 순위가 그 표의 점수로 다시 계산한 것과 다릅니다."),
    "board_gone": _("기록된 순위표가 데이터베이스에 없습니다."),
    "items_differ": _("문항별 값으로 다시 구한 점수가 채점의 점수와 다릅니다."),
    "standing_differs": _("순위표의 줄이 채점 결과로 다시 계산한 것과 다릅니다."),
}


@dataclass(frozen=True, slots=True)
class Finding:
    """A difference from the record. ``code`` is a key of ``TEXTS``; ``where`` names the entry or row."""

    code: str
    where: str

    @property
    def text(self) -> str:
        return str(TEXTS[self.code])


def verify_competition(competition: Competition) -> list[Finding]:
    """Every difference between database and chain of ``competition``, in their state at one moment. Read-only."""
    # the isolation level of a running transaction cannot be changed
    with nullcontext() if connection.in_atomic_block else repeatable_read():
        entries = list(
            ChainEntry.objects.filter(competition=competition).order_by("number").select_related("submission")
        )
        found = [Finding(problem.code, f"#{problem.number}") for problem in chain.verify(entries)]
        found += _receipts(competition, entries)
        found += _scores(competition, entries)
        found += _boards(competition, entries)
        found += [Finding("items_differ", f"{name} {metric}") for name, metric in altered_items(competition)]
        found += _standings(competition)
        return found


def unrecorded_submissions(competition: Competition) -> list[Submission]:
    """Submissions from before there was a chain: no entry names them."""
    named = ChainEntry.objects.filter(submission=OuterRef("pk"))
    rows = Submission.objects.of(competition).filter(~Exists(named))
    return list(rows.select_related("phase__track__competition", "team").order_by("created_at", "pk"))


def _receipts(competition: Competition, entries: list[ChainEntry]) -> Iterator[Finding]:
    recorded = {entry.submission_id: entry for entry in entries if entry.kind == chain.Kind.RECEIPT}
    rows = Submission.objects.of(competition).select_related("phase__track", "team")
    for submission in rows.order_by("pk").iterator(chunk_size=500):
        entry = recorded.get(submission.pk)
        now = receipt_facts(submission)
        if entry is None:
            yield Finding("receipt_missing", str(submission.public_id))
        elif not (
            entry.payload.get("submission") == str(submission.public_id)
            and entry.payload.get("receipt_sha256") == receipt_commitment(entry.facts, entry.salt)
            and all(entry.facts.get(name) == now[name] for name in ("received_at", "file_sha256"))
        ):
            yield Finding("receipt_differs", str(submission.public_id))


def _scores(competition: Competition, entries: list[ChainEntry]) -> Iterator[Finding]:
    """Every recorded score against its run, and every live run against the newest record."""
    results = _results(competition)
    newest: dict[tuple[int | None, str], ChainEntry] = {}
    for entry in entries:
        if entry.kind != chain.Kind.SCORE:
            continue
        split, number = entry.payload.get("part", ""), entry.payload.get("run")
        newest[entry.submission_id, split] = entry
        run, scored = results.get((entry.submission_id, number, split), (None, None))
        if run is None or scored is None:
            yield Finding("score_gone", f"#{entry.number}")
        elif not chain.entry_matches(entry, run, int(number or 0), scored):
            yield Finding("score_differs", f"#{entry.number} {run.submission.public_id}")
    for (submission_id, number, split), (run, _scored) in results.items():
        last = newest.get((submission_id, split))
        if run.submission.live_run_id == run.pk and (last is None or last.payload.get("run") != number):
            yield Finding("score_missing", str(run.submission.public_id))


def _results(competition: Competition) -> dict[tuple[int | None, Any, str], tuple[ScoringRun, Any]]:
    """The finished results by submission, number of the run among those of its submission, and split."""
    runs = (
        ScoringRun.objects.filter(submission__phase__track__competition=competition)
        .select_related("submission", "reference_version", "hidden_result")
        .defer("signature", "coverage", "warnings", "hidden_result__signature", "hidden_result__coverage")
        .order_by("submission_id", "pk")
    )
    found: dict[tuple[int | None, Any, str], tuple[ScoringRun, Any]] = {}
    for submission_id, group in groupby(runs.iterator(chunk_size=500), key=lambda run: run.submission_id):
        for number, run in enumerate(group, start=1):
            if run.state == ScoringRun.State.FINISHED:
                found |= {
                    (submission_id, number, split): (run, scored) for split, scored in chain.results_by_split(run)
                }
    return found


def _boards(competition: Competition, entries: list[ChainEntry]) -> Iterator[Finding]:
    recorded = [entry for entry in entries if entry.kind == chain.Kind.BOARD]
    unseen = {entry.number for entry in recorded}
    for snapshot in BoardSnapshot.objects.filter(phase__track__competition=competition).select_related("phase__track"):
        where = f"{snapshot.phase.track.slug}/{snapshot.phase.slug} {snapshot.number}"
        if snapshot.kind != BoardSnapshot.Kind.FINAL:
            where += f" ({snapshot.kind})"
        entry = next((entry for entry in recorded if _is_of(entry, snapshot)), None)
        if entry is None:
            yield Finding("board_missing", where)
            continue
        unseen.discard(entry.number)
        rows_sha256 = json_sha256(snapshot.rows)
        components = chain.plain(snapshot.components) or None
        is_recorded = rows_sha256 == snapshot.sha256 == entry.payload.get("rows_sha256")
        if not is_recorded or components != entry.payload.get("components"):
            yield Finding("board_differs", f"#{entry.number} {where}")
        if components and not _is_composed(snapshot):
            yield Finding("composite_differs", f"#{entry.number} {where}")
    for number in sorted(unseen):
        yield Finding("board_gone", f"#{number}")


def _standings(competition: Competition) -> Iterator[Finding]:
    phases = Phase.objects.filter(track__competition=competition).select_related("track")
    for phase in phases.order_by("pk"):
        for row in differing(phase):
            yield Finding("standing_differs", f"{phase.track.slug}/{phase.slug} {row.scope} {row.team.number}")


def _is_composed(snapshot: BoardSnapshot) -> bool:
    """Whether ranks, order and composites of the rows are what their scores give."""
    try:
        rule = Rule(components=components_from(snapshot.components))
        ranked = rank([_entry(place, row) for place, row in enumerate(snapshot.rows)], rule)
        again = [(each.entry.team_id, each.rank, composite_json(each.composite)) for each in ranked]
        return again == [(place, row["rank"], row["composite"]) for place, row in enumerate(snapshot.rows)]
    except (KeyError, TypeError, ValueError):
        return False


def _entry(place: int, row: Mapping[str, Any]) -> Entry:
    """A published row; who had the same composite at the same moment keeps the place."""
    at = datetime.fromisoformat(row["submitted_at"])
    return Entry(place, row["is_baseline"], place, at, row["final_score"], row["scores"], "")


def _is_of(entry: ChainEntry, snapshot: BoardSnapshot) -> bool:
    """Whether a board entry is that of the snapshot, by track, phase, kind and number."""
    phase, kind = snapshot.phase, None if snapshot.kind == BoardSnapshot.Kind.FINAL else snapshot.kind
    place = {"track": phase.track.slug, "phase": phase.slug, "snapshot": snapshot.number, "board": kind}
    place["day"] = None if snapshot.day is None else snapshot.day.isoformat()
    return all(entry.payload.get(name) == value for name, value in place.items())
