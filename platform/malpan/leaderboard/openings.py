"""What everybody may open of the chain: the scores on a public board now, and the receipts of uploads it counts."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from malpan.competitions.models import Phase
from malpan.leaderboard.models import BoardSnapshot
from malpan.leaderboard.published import published_rows
from malpan.leaderboard.selectors import on_public_board
from malpan.submissions.integrity import chain
from malpan.submissions.integrity.receipts import openings, receipt_opening
from malpan.submissions.models import ChainEntry, HiddenResult, ScoringRun, Submission
from malpan.submissions.visibility import shows_upload


class PublicOpenings:
    """The public openings of the entries of a chain, for as many entries as are shown."""

    def __init__(self) -> None:
        self._final_rows: dict[int, dict[str, Mapping[str, Any]]] = {}  # by phase

    def of(self, entries: Sequence[ChainEntry]) -> dict[int, dict[str, Any]]:
        """Those of ``entries``, by number. A constant number of queries for each phase they are about."""
        wanted = {entry.number: entry.submission_id for entry in entries if entry.kind == chain.Kind.SCORE}
        submissions = {pk for pk in wanted.values() if pk is not None}
        phases = Phase.objects.filter(submissions__in=submissions).distinct().select_related("track__competition")
        results = [result for phase in phases for result in self._public_results(phase, submissions)]
        scores = {number: opening for number, opening in openings(results).items() if number in wanted}
        return scores | _receipts(entries)

    def _public_results(self, phase: Phase, submissions: Collection[int]) -> list[Any]:
        """The results of ``submissions`` that any visitor sees: on the public board and on the published final one.

        The chain commits to every digit: a board of rounded scores opens none.
        """
        shown: list[Any] = [] if phase.score_step is not None else list(on_public_board(phase, submissions))
        return shown if phase.final_published_at is None else [*shown, *self._final_results(phase, submissions)]

    def _final_results(self, phase: Phase, submissions: Collection[int]) -> list[ScoringRun | HiddenResult]:
        """Those on the published final board: of the private split if there is one, else of all items.

        After a later rescoring that is not published the live values differ and are on no public board: opened is the
        newest run of a submission with exactly the values of the board.
        """
        rows = self._rows_of(phase)
        runs = ScoringRun.objects.filter(submission__in=submissions, submission__phase=phase)
        runs = runs.filter(state=ScoringRun.State.FINISHED).select_related("submission", "hidden_result")
        shown: dict[str, ScoringRun | HiddenResult] = {}
        for run in runs.order_by("pk"):
            name, result = str(run.submission.public_id), chain.results_by_split(run)[-1][1]
            if name in rows and chain.values_of(result) == _values_of_row(rows[name]):
                shown[name] = result
        return list(shown.values())

    def _rows_of(self, phase: Phase) -> dict[str, Mapping[str, Any]]:
        if phase.pk not in self._final_rows:
            finals = BoardSnapshot.objects.filter(phase=phase, kind=BoardSnapshot.Kind.FINAL)
            snapshot = finals.defer("rows").order_by("number").last()
            rows = published_rows(snapshot) if snapshot else ()
            self._final_rows[phase.pk] = {row["submission"]: row for row in rows}
        return self._final_rows[phase.pk]


def _receipts(entries: Sequence[ChainEntry]) -> dict[int, dict[str, Any]]:
    receipts = {entry.submission_id: entry for entry in entries if entry.kind == chain.Kind.RECEIPT}
    submissions = Submission.objects.filter(pk__in=[pk for pk in receipts if pk is not None]).select_related("phase")
    shown = [receipts[submission.pk] for submission in submissions if shows_upload(submission)]
    return {entry.number: receipt_opening(entry) for entry in shown}


def _values_of_row(row: Mapping[str, Any]) -> dict[str, Any]:
    scores = {name: repr(float(value)) for name, value in row["scores"].items()}
    return {"final_score": repr(float(row["final_score"])), "scores": scores}
