"""Receipts: a team's proof of an upload, and its entry in the competition's hash chain."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from malpan.competitions.models import Competition
from malpan.submissions.integrity import chain
from malpan.submissions.models import ChainEntry, HiddenResult, ScoringRun, Submission
from malpan.submissions.visibility import shows_all_digits, shows_own_score
from scoring.signature import json_sha256


@dataclass(frozen=True, slots=True)
class ScoreEntry:
    """A score entry of a receipt. ``opening`` is the content of its ``score_sha256``, ``None`` if it is not shown."""

    entry: ChainEntry
    opening: dict[str, Any] | None


@dataclass(frozen=True, slots=True)
class Receipt:
    """The receipt of a submission; ``entry`` is ``None`` for a submission from before there were receipts."""

    submission: Submission
    entry: ChainEntry | None
    scores: tuple[ScoreEntry, ...]


def issue_receipt(*, submission: Submission) -> ChainEntry:
    """Add an accepted submission to the chain, as the last step of the transaction that accepts it."""
    track = submission.phase.track
    facts, salt = receipt_facts(submission), chain.new_salt()
    payload = {
        "submission": submission.public_id,
        "track": track.slug,
        "phase": submission.phase.slug,
        "receipt_sha256": receipt_commitment(facts, salt),
    }
    entry = chain.NewEntry(chain.Kind.RECEIPT, payload, submission, salt, facts)
    return chain.append_many(competition=track.competition, entries=[entry])[0]


def receipt_facts(submission: Submission) -> dict[str, Any]:
    """What a receipt commits to. A team is identified by its number, as its name may change."""
    facts = {
        "received_at": submission.created_at,
        "file_sha256": submission.file_sha256,
        "team": submission.team.number,
    }
    return dict(chain.plain(facts))


def receipt_commitment(facts: Mapping[str, Any], salt: str) -> str:
    """The ``receipt_sha256`` of ``facts`` with ``salt``."""
    return json_sha256({**facts, "salt": salt})


def receipt_opening(entry: ChainEntry) -> dict[str, Any]:
    """The opening of a receipt's entry."""
    return {**entry.facts, "salt": entry.salt}


def receipt_of(submission: Submission) -> Receipt:
    """The receipt for the submission's team. Three queries; reads its phase and its live run.

    Only the scores that count now are opened, and only if the team may see them; those of the private split after the
    final board is published.
    """
    entries = list(ChainEntry.objects.filter(submission=submission).order_by("number"))
    scores = [entry for entry in entries if entry.kind == chain.Kind.SCORE]
    opened = openings(_shown_results(submission))
    return Receipt(
        submission=submission,
        entry=next((entry for entry in entries if entry.kind == chain.Kind.RECEIPT), None),
        scores=tuple(ScoreEntry(entry, opened.get(entry.number)) for entry in scores),
    )


def _shown_results(submission: Submission) -> list[ScoringRun | HiddenResult]:
    """The results of ``submission`` that its team may see now, with all their digits, which the chain commits to."""
    if submission.live_run is None or not (shows_own_score(submission) and shows_all_digits(submission.phase)):
        return []
    is_final = submission.phase.final_published_at is not None
    results = chain.results_by_split(submission.live_run)
    return [result for split, result in results if is_final or split == chain.PUBLIC]


def openings(results: Sequence[Any]) -> dict[int, dict[str, Any]]:
    """For results that the reader may see: the opening of the newest entry of each, by number of entry. One query.

    A result has ``final_score`` and ``scores``, as a run has; one that is no ``HiddenResult`` is of the public split
    and has its ``submission_id``. Of a submission there may be two: that of now, and that of a published final board.
    One that no entry commits to is shown with the newest of its submission, where everybody sees that it differs.
    """
    keys = [_key(result) for result in results]
    by_key: dict[tuple[int | None, str], list[ChainEntry]] = defaultdict(list)
    recorded = ChainEntry.objects.filter(kind=chain.Kind.SCORE, submission__in={pk for pk, _split in keys})
    for each in recorded.order_by("-number"):
        by_key[each.submission_id, each.payload["part"]].append(each)
    opened: dict[int, dict[str, Any]] = {}
    for key, result in zip(keys, results, strict=True):
        entry = _entry_of(result, by_key[key])
        if entry is not None:
            opened.setdefault(entry.number, {**chain.values_of(result), "salt": entry.salt})
    return opened


def _entry_of(result: Any, entries: Sequence[ChainEntry]) -> ChainEntry | None:
    """The first of ``entries`` that commits to ``result``; if none does, the first."""
    committed = (each for each in entries if each.payload["score_sha256"] == chain.commitment(result, each.salt))
    return next(committed, entries[0] if entries else None)


def _key(result: Any) -> tuple[int, str]:
    if isinstance(result, HiddenResult):
        return result.run.submission_id, chain.PRIVATE
    return result.submission_id, chain.PUBLIC


def entry_as_dict(entry: ChainEntry, opening: dict[str, Any] | None = None) -> dict[str, Any]:
    """An entry as in the chain's JSON."""
    body = {
        "number": entry.number,
        "kind": entry.kind,
        "payload": entry.payload,
        "previous": entry.previous_sha256,
        "sha256": entry.sha256,
    }
    return body if opening is None else {**body, "opening": opening}


def receipt_as_dict(receipt: Receipt, competition: Competition) -> dict[str, Any]:
    """A receipt as in its JSON download; ``verify_chain.py --receipt`` reads it."""
    entries = [entry_as_dict(each.entry, each.opening) for each in receipt.scores]
    if receipt.entry is not None:
        entries.insert(0, entry_as_dict(receipt.entry, receipt_opening(receipt.entry)))
    return {
        "competition": competition.slug,
        "submission": str(receipt.submission.public_id),
        "file_name": receipt.submission.file_name,
        "entries": entries,
    }
