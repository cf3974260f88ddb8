"""The chain of a competition as everybody may read it: its entries, and what they open now, which are the scores on a
public board and the receipts of uploads it counts.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from hashlib import sha256
from typing import Any, Final

from django.db import connection
from django.utils import timezone

from malpan.competitions.models import Competition, Phase
from malpan.leaderboard.boards import Found
from malpan.leaderboard.models import BoardSnapshot
from malpan.leaderboard.published import publications, published_rows
from malpan.leaderboard.selectors import at_one_moment, on_public_board
from malpan.submissions.integrity import chain
from malpan.submissions.integrity.receipts import openings, receipt_opening
from malpan.submissions.models import ChainEntry, HiddenResult, ScoringRun
from malpan.submissions.visibility import is_frozen, is_hidden, shows_upload

ENTRIES_AT_ONCE: Final = 2000
_UNREAD: Final = ("signature", "coverage", "warnings")  # of a result, kilobytes each
# rendered by the database: Python takes ten times as long
_LINES: Final = """
    SELECT entry.number,
        json_build_object('number', entry.number, 'kind', entry.kind, 'payload', entry.payload,
            'previous', entry.previous_sha256, 'sha256', entry.sha256)::text,
        CASE entry.kind WHEN 'receipt' THEN (entry.facts || jsonb_build_object('salt', entry.salt))::text END,
        submission.phase_id, submission.created_at, entry.created_at
    FROM submissions_chainentry entry LEFT JOIN submissions_submission submission ON submission.id = entry.submission_id
    WHERE entry.competition_id = %s AND entry.number <= %s
    ORDER BY entry.number
"""


def read_chain(competition: Competition, read: Callable[[PublicChain], Found]) -> Found:
    """``read`` of the chain as it is at one moment. Must be done with it then."""
    return at_one_moment(competition, lambda fresh: read(PublicChain(competition, fresh, timezone.now())))


class PublicChain:
    """The chain at one moment. ``last``: its newest entry, if there is one."""

    def __init__(self, competition: Competition, phases: Sequence[Any], now: datetime) -> None:
        self.competition = competition
        self.last = ChainEntry.objects.filter(competition=competition).order_by("number").last()
        self._now = now
        self._phases = {phase.pk: phase for phase in phases}
        published = (phase for phase in phases if phase.final_published_at is not None)
        self._finals = {phase.pk: next(iter(publications(phase)), None) for phase in published}

    @property
    def phases(self) -> Collection[Phase]:
        return self._phases.values()

    @cached_property
    def state(self) -> str:
        """A name of all that it says and opens: another one after an entry, a change of a public score, a freeze or
        anything else that opens or hides something.
        """
        last = self.last and (self.last.number, self.last.sha256)
        opened = [(pk, *self._shown(phase), self._final_of(phase)) for pk, phase in sorted(self._phases.items())]
        return sha256(repr((self.competition.pk, self.competition.slug, last, opened)).encode()).hexdigest()

    def entries(self, numbers: Collection[int]) -> list[ChainEntry]:
        """Those with ``numbers``, the newest first, each with its submission."""
        found = ChainEntry.objects.filter(competition=self.competition, number__in=numbers)
        return list(found.select_related("submission").order_by("-number"))

    def openings(self, entries: Sequence[ChainEntry]) -> dict[int, dict[str, Any]]:
        """What ``entries`` open, by their numbers. A constant number of queries for each phase they are about."""
        by_phase: dict[int, set[int]] = defaultdict(set)
        opened = {}
        for entry in entries:
            if entry.submission is None:
                continue
            if entry.kind == chain.Kind.SCORE:
                by_phase[entry.submission.phase_id].add(entry.submission.pk)
            elif entry.kind == chain.Kind.RECEIPT and self._opens(
                entry.submission.phase_id, entry.submission.created_at
            ):
                opened[entry.number] = receipt_opening(entry)
        scores = self._scores((self._phases[pk], found) for pk, found in by_phase.items())
        for entry in entries:
            phase = entry.submission.phase_id if entry.submission else None
            if (score := scores.of(entry.number, phase, entry.created_at)) is not None:
                opened[entry.number] = score
        return opened

    def lines(self) -> Iterator[str]:
        """Every entry in turn as JSON, with what it opens (``receipts.entry_as_dict``)."""
        scores = self._scores((phase, None) for phase in self._phases.values())
        for number, line, receipt, phase, received_at, made_at in self._stored_lines():
            opening = receipt if receipt and received_at and self._opens(phase, received_at) else None
            if (score := scores.of(number, phase, made_at)) is not None:
                opening = json.dumps(score, ensure_ascii=False)
            yield line if opening is None else f'{line[:-1]}, "opening": {opening}}}'

    def _stored_lines(self) -> Iterator[tuple[int, str, str | None, int, datetime | None, datetime]]:
        with connection.chunked_cursor() as cursor:
            cursor.execute(_LINES, [self.competition.pk, self.last.number if self.last else 0])
            while rows := cursor.fetchmany(ENTRIES_AT_ONCE):
                yield from rows

    def _shown(self, phase: Any) -> tuple[Any, ...]:
        """What decides which scores and uploads the board of ``phase`` shows."""
        frozen_at = phase.frozen_at if is_frozen(phase, self._now) else None
        return is_hidden(phase), frozen_at, phase.score_step, phase.version

    def _final_of(self, phase: Phase) -> tuple[int, str] | None:
        snapshot = self._finals.get(phase.pk)
        return None if snapshot is None else (snapshot.pk, snapshot.sha256)

    def _opens(self, phase: int, received_at: datetime) -> bool:
        return shows_upload(self._phases[phase], received_at, self._now)

    def _scores(self, of: Iterable[tuple[Any, Collection[int] | None]]) -> _Scores:
        """The scores, all of a phase or those of some of its submissions, that any visitor sees."""
        live, final = list[Any](), list[Any]()
        for phase, submissions in of:
            if phase.score_step is None:  # the chain commits to every digit: a board of rounded scores opens none
                live += on_public_board(phase, submissions)
            if (snapshot := self._finals.get(phase.pk)) is not None:
                final += _final_results(phase, snapshot, submissions)
        published = {pk: each.published_at for pk, each in self._finals.items() if each is not None}
        return _Scores(openings(live), openings(final), published)


@dataclass(frozen=True, slots=True)
class _Scores:
    """What entries open by their numbers: of the live public board, and of published final ones. ``published``: when
    the newest of these was, by phase.
    """

    live: Mapping[int, dict[str, Any]]
    final: Mapping[int, dict[str, Any]]
    published: Mapping[int, datetime]

    def of(self, number: int, phase: int | None, made_at: datetime) -> dict[str, Any] | None:
        """What the entry opens, if it is one of a score. One made after a final board was published, by a rescoring of
        which none is, opens nothing: its score is on no board.
        """
        if number in self.final:
            return self.final[number]
        until = None if phase is None else self.published.get(phase)
        return self.live.get(number) if until is None or made_at <= until else None


def _final_results(
    phase: Phase, snapshot: BoardSnapshot, submissions: Collection[int] | None
) -> list[ScoringRun | HiddenResult]:
    """Those on the published final board: of the private split if there is one, else of all items.

    After a later rescoring that is not published the live values differ and are on no public board: opened is the
    newest run of a submission with exactly the values of the board.
    """
    rows = {row["submission"]: row for row in published_rows(snapshot)}
    runs = ScoringRun.objects.filter(submission__phase=phase, state=ScoringRun.State.FINISHED)
    if submissions is None:
        runs = runs.filter(submission__public_id__in=rows)
    else:
        runs = runs.filter(submission__in=submissions)
    runs = runs.select_related("submission", "hidden_result")
    runs = runs.defer(*_UNREAD, *(f"hidden_result__{name}" for name in _UNREAD))
    shown: dict[str, ScoringRun | HiddenResult] = {}
    for run in runs.order_by("pk"):
        name, result = str(run.submission.public_id), chain.results_by_split(run)[-1][1]
        if name in rows and chain.values_of(result) == _values_of_row(rows[name]):
            shown[name] = result
    return list(shown.values())


def _values_of_row(row: Mapping[str, Any]) -> dict[str, Any]:
    scores = {name: repr(float(value)) for name, value in row["scores"].items()}
    return {"final_score": repr(float(row["final_score"])), "scores": scores}
