"""The public hash chain of a competition: receipts, scores and final boards, each linked to the one before.

The sha256 of an entry is that of the canonical JSON (keys sorted, no spaces, UTF-8) of ``{number, kind, payload,
previous}``; a payload contains no floats, so that every language writes the same text. With one entry kept, anybody can
prove that nothing before it was changed.

A score enters as a commitment: ``score_sha256`` is that of the canonical JSON of ``{final_score, salt, scores}``, the
numbers in the shortest decimal form that reads back as the same double. The values and the salt (together the opening)
are shown only together with the score itself: to its team, and to everybody for the scores on a public board. So every
score is fixed from the moment it counts, hidden ones too, and the chain reveals none. A receipt likewise:
``receipt_sha256`` is of ``{file_sha256, received_at, salt, team}``, which its team sees at once and everybody when the
board shows what was submitted then. Until then the chain says that a file came, and when, but not whose.

The lock on the competition's row serialises its entries. It is **the last lock of a transaction** (``core.locks``):
append as late as possible.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import groupby
from typing import Any, Final, Literal, Protocol

from django.db import transaction
from django.db.models import Count, F, Q
from django.utils import timezone

from malpan.competitions.locks import lock_competition
from malpan.competitions.models import Competition
from malpan.jobs.clock import database_now
from malpan.submissions.models import ChainEntry, HiddenResult, ScoringRun, Submission
from scoring.signature import json_sha256

Kind = ChainEntry.Kind
ScoreSplit = Literal["public", "private"]  # the split shown at once, and the one withheld until the final board
PUBLIC: Final[ScoreSplit] = "public"
PRIVATE: Final[ScoreSplit] = "private"
SALT_BYTES: Final = 16


class Scored(Protocol):
    """A ``ScoringRun`` or a ``HiddenResult``."""

    final_score: Any
    scores: Any


class Linked(Protocol):
    """The fields of an entry that ``verify`` reads; ``ChainEntry`` has them."""

    number: int
    kind: str
    payload: Any
    previous_sha256: str
    sha256: str


@dataclass(frozen=True, slots=True)
class NewEntry:
    """An entry to append. ``salt`` is that of its commitment, ``facts`` a receipt's; they are not in the payload."""

    kind: str
    payload: Mapping[str, Any]
    submission: Submission | None = None
    salt: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong with entry ``number``. ``code``: number, previous or hash."""

    number: int
    code: str


def link_sha256(*, number: int, kind: str, payload: Mapping[str, Any], previous: str) -> str:
    """The hash of one entry, in hex."""
    body = {"number": number, "kind": str(kind), "payload": payload, "previous": previous}
    return json_sha256(body)


def new_salt() -> str:
    return secrets.token_hex(SALT_BYTES)


def plain(value: Any) -> Any:
    """``value`` without floats, moments and the like: floats as their shortest exact decimal text."""
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, datetime):
        return value.astimezone(timezone.get_default_timezone()).isoformat()
    if isinstance(value, Mapping):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    return str(value)


def verify(entries: Iterable[Linked]) -> list[Problem]:
    """Every broken link of a whole chain, given in the order of its numbers. Pure; an intact chain has none."""
    problems = []
    previous = ""
    for position, entry in enumerate(entries, start=1):
        if entry.number != position:
            problems.append(Problem(entry.number, "number"))
        if entry.previous_sha256 != previous:
            problems.append(Problem(entry.number, "previous"))
        expected = link_sha256(
            number=entry.number, kind=entry.kind, payload=entry.payload, previous=entry.previous_sha256
        )
        if entry.sha256 != expected:
            problems.append(Problem(entry.number, "hash"))
        previous = entry.sha256
    return problems


def append(
    *,
    competition: Competition,
    kind: str,
    payload: Mapping[str, Any],
    submission: Submission | None = None,
    now: datetime | None = None,
) -> ChainEntry:
    """Add one entry to the chain of ``competition``, in the transaction of its event. ``payload`` is public."""
    return append_many(competition=competition, entries=[NewEntry(kind, payload, submission)], now=now)[0]


def append_many(
    *, competition: Competition, entries: Sequence[NewEntry], now: datetime | None = None
) -> list[ChainEntry]:
    """Add ``entries`` in their order under one lock, with three statements for any number of them."""
    if not entries:
        return []
    with transaction.atomic():
        lock_competition(competition.pk)
        moment = now or database_now()  # of the queue's one clock: a worker's own may be minutes off
        last = ChainEntry.objects.filter(competition=competition).order_by("number").last()
        taken, previous = (last.number, last.sha256) if last else (0, "")
        if last:  # what waited for the lock is no earlier than what went before it
            moment = max(moment, last.created_at)
        rows = []
        for number, entry in enumerate(entries, start=taken + 1):
            payload = plain(entry.payload)
            row = ChainEntry(
                competition=competition,
                number=number,
                kind=str(entry.kind),
                submission=entry.submission,
                payload=payload,
                previous_sha256=previous,
                sha256=link_sha256(number=number, kind=entry.kind, payload=payload, previous=previous),
                salt=entry.salt,
                facts=entry.facts,
                created_at=moment,
            )
            rows.append(row)
            previous = row.sha256
        return ChainEntry.objects.bulk_create(rows, batch_size=1000)


def append_scores(submissions: Iterable[Submission], *, now: datetime | None = None) -> list[ChainEntry]:
    """Commit to the scores of the live runs of ``submissions``, as they are in the database now.

    Call it whenever a live run is set or switched, or a final board published. A score that the newest entry of a
    submission already has is not added again, so calling it twice is harmless. One lock for each competition.
    """
    wanted = [submission.pk for submission in submissions]
    runs = _live_runs(wanted).order_by("submission__phase__track__competition_id", "pk")
    added: list[ChainEntry] = []
    with transaction.atomic():
        newest = newest_scores(ChainEntry.objects.filter(submission__in=wanted))
        for competition, group in groupby(runs, key=lambda run: run.submission.phase.track.competition):
            entries = [entry for run in group for entry in _new_scores(run, newest)]
            added += append_many(competition=competition, entries=entries, now=now)
    return added


def _live_runs(submissions: Iterable[int]) -> Any:
    """The finished live runs, each with its ``number`` among the runs of its submission and its hidden result."""
    earlier = Count("submission__runs", filter=Q(submission__runs__pk__lte=F("pk")))
    return (
        ScoringRun.objects.filter(live_for__in=submissions, state=ScoringRun.State.FINISHED)
        .annotate(number=earlier)
        .select_related("submission__phase__track__competition", "reference_version", "hidden_result")
    )


def results_by_split(run: ScoringRun) -> list[tuple[ScoreSplit, ScoringRun | HiddenResult]]:
    """The results of ``run``: of the public split and, if the phase withholds one, of the private split."""
    hidden = getattr(run, "hidden_result", None)
    return [(PUBLIC, run)] if hidden is None else [(PUBLIC, run), (PRIVATE, hidden)]


def newest_scores(entries: Any) -> dict[tuple[int | None, str], ChainEntry]:
    """The newest score entry in the query ``entries``, by submission and split."""
    scores = entries.filter(kind=Kind.SCORE).order_by("number")
    return {(entry.submission_id, entry.payload["part"]): entry for entry in scores}


def values_of(scored: Scored) -> dict[str, Any]:
    """The numbers of a result as exact decimal texts."""
    scores = {name: repr(float(value)) for name, value in scored.scores.items() if value is not None}
    return {"final_score": repr(float(scored.final_score)), "scores": scores}


def commitment(scored: Scored, salt: str) -> str:
    """The ``score_sha256`` of a result with ``salt``."""
    return json_sha256({**values_of(scored), "salt": salt})


def entry_matches(entry: ChainEntry, run: ScoringRun, number: int, scored: Scored) -> bool:
    """Whether a score entry has exactly this result of the ``number``-th run of its submission."""
    split = entry.payload.get("part")
    return bool(entry.payload == _score_payload(run, number, split, scored, entry.salt))


def _new_scores(run: Any, newest: Mapping[tuple[int | None, str], ChainEntry]) -> list[NewEntry]:
    entries = []
    for split, scored in results_by_split(run):
        last = newest.get((run.submission_id, split))
        if last is None or not entry_matches(last, run, run.number, scored):
            salt = new_salt()
            payload = _score_payload(run, run.number, split, scored, salt)
            entries.append(NewEntry(Kind.SCORE, payload, run.submission, salt))
    return entries


def _score_payload(run: ScoringRun, number: int, split: Any, scored: Any, salt: str) -> dict[str, Any]:
    return {
        "submission": str(run.submission.public_id),
        "part": split,
        "run": number,
        "reference": run.reference_version.number,
        "recipe": run.recipe,
        "signature_hash": scored.signature_hash,
        "score_sha256": commitment(scored, salt),
    }
