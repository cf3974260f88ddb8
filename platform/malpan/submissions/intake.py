"""The way in of a submission.

The order of the checks, and why:

1. Membership and the open phase: the cheapest, and nobody else has any business here.
2. The size, before a byte is read.
3. The same upload again, before the quota: the second click on the last slot must hear "already received". A form or
   request names itself by its ``upload_key``. The same file under another key, or another file in a form that the
   browser brought back with its old key, is the team's own decision, and charged.
4. The quota, without a lock, before the file is parsed: a team that cannot submit now is told so at once and costs no
   parsing. (Whether a file is sound can be asked at any time with ``python -m scoring check``.)
5. The file itself: every error located. Nothing is charged, nothing of it is kept but the list of errors. What its
   scoring will cost is told from its texts, before any lock.
6. Under the team's lock 3 and 4 once more, and only then the slot is taken, the file stored, the run queued and the
   audit entry written: one transaction, so that a full disk or a lost database charges nobody.

The doorbell rings when the transaction commits; a broker that is away then loses nothing (``jobs.doorbell``).
The moment that counts is the one at which the upload reached this function.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import datetime
from hashlib import sha256
from pathlib import PurePosixPath
from typing import Any, Final

from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.db import transaction
from django.utils import timezone

from malpan.accounts.models import User
from malpan.competitions.models import Phase, ReferenceVersion
from malpan.competitions.references import load_references, recipe_of
from malpan.competitions.selectors import current_reference
from malpan.competitions.terms import require_accepted
from malpan.core import audit
from malpan.core.storage import store_private
from malpan.core.text import without_unseen
from malpan.submissions.errors import DuplicateUpload, FileRejected, PhaseNotOpen, UploadTooLarge
from malpan.submissions.evaluation.runs import queue_run
from malpan.submissions.integrity.receipts import issue_receipt
from malpan.submissions.models import Rejection, Submission
from malpan.submissions.quota import services as quota
from malpan.submissions.rescoring.alongside import enqueue_alongside
from malpan.submissions.selectors import submission_of_upload
from malpan.teams.errors import NotTeamMember
from malpan.teams.models import Team
from malpan.teams.selectors import require_in_good_standing, require_member
from malpan.teams.services import lock_team
from scoring.errors import FileError, InvalidFile
from scoring.reading import read_predictions
from scoring.records import AnswerFile
from scoring.running.costs import expected_tokens

KEPT_ERRORS: Final = 100


@dataclass(frozen=True, slots=True)
class _Arrival:
    """An upload as it came in, its name and memo cleaned."""

    phase: Phase
    team: Team
    user: User
    file_name: str
    memo: str
    upload_key: str
    data: bytes
    received_at: datetime


def submit(
    *,
    phase: Phase,
    team: Team,
    user: User,
    file_name: str,
    upload: UploadedFile | bytes,
    memo: str = "",
    upload_key: str = "",
    now: datetime | None = None,
) -> Submission:
    """Take a file of ``team`` into ``phase``: check it, charge it, store it, queue its scoring.

    ``upload_key`` (at most 64 characters) names one act of uploading: the same bytes under a key the team used before
    are refused as a second click or a resent request. Without a key every call is an upload of its own.

    Raises, in this order: ``NotTeamMember``, ``TeamDisqualified``, ``TermsNotAccepted``, ``PhaseNotOpen``,
    ``UploadTooLarge``, ``ReferencesNotPublished``, ``DuplicateUpload``, ``QuotaExceeded``, ``FileRejected`` (recorded
    as a ``Rejection``), and the faults of the storage. None of them charges the team.
    """
    received_at = now or timezone.now()
    _require_participant(phase, team, user)
    _require_open(phase, received_at)
    data = _read_within_limit(upload)
    arrival = _Arrival(
        phase, team, user, clean_file_name(file_name), without_unseen(memo)[:200], upload_key[:64], data, received_at
    )
    reference = current_reference(phase)
    _refuse_duplicate(arrival)
    quota.require_room(phase=phase, team=team, now=received_at)
    predictions = _parse(arrival, reference)
    cost = expected_tokens(recipe_of(phase.track), load_references(reference, phase.track.recipe), predictions)
    with transaction.atomic():
        lock_team(team)
        _require_participant(phase, team, user)  # the team may have lost the person, or itself, meanwhile
        _refuse_duplicate(arrival)
        quota.require_room(phase=phase, team=team, now=received_at)
        submission = _create(arrival, predictions)
        quota.charge(submission=submission, actor=user)
        queue_run(submission=submission, cost=cost)  # by the references of now, under the phase's lock
        enqueue_alongside(submission=submission, cost=cost)
        audit.record(
            actor=user, action="submission.create", obj=submission, after={"file_sha256": submission.file_sha256}
        )
        issue_receipt(submission=submission)  # last: the chain's lock is held no longer than it must be
    return submission


def clean_file_name(file_name: str) -> str:
    """The last part of an uploaded file's name, NFC, without unseen characters, at most 255 of them."""
    last = PurePosixPath(file_name.replace("\\", "/")).name
    return without_unseen(last)[:255] or "submission.json"


def _require_participant(phase: Phase, team: Team, user: User) -> None:
    require_member(user, team)
    if team.competition_id != phase.track.competition_id:
        raise NotTeamMember
    require_in_good_standing(team)
    require_accepted(user, phase.track.competition)


def _require_open(phase: Phase, now: datetime) -> None:
    if not phase.is_open(now):
        raise PhaseNotOpen(starts_at=phase.starts_at, ends_at=phase.ends_at, is_over=phase.is_over(now))


def _read_within_limit(upload: UploadedFile | bytes) -> bytes:
    size = len(upload) if isinstance(upload, bytes) else upload.size or 0
    if size > settings.UPLOAD_MAX_BYTES:
        raise UploadTooLarge(size_bytes=size, limit_bytes=settings.UPLOAD_MAX_BYTES)
    return upload if isinstance(upload, bytes) else bytes(upload.read())


def _refuse_duplicate(arrival: _Arrival) -> None:
    """Refuse an upload that was taken already: a double click, a resent form, a client that tries again."""
    earlier = submission_of_upload(
        team=arrival.team, upload_key=arrival.upload_key, file_sha256=sha256(arrival.data).hexdigest()
    )
    if earlier is not None:
        raise DuplicateUpload(public_id=earlier.public_id, submitted_at=earlier.created_at)


def _parse(arrival: _Arrival, reference: ReferenceVersion) -> AnswerFile:
    """The predictions, or ``FileRejected`` with the record of it."""
    track = arrival.phase.track
    references = load_references(reference, track.recipe)
    try:
        return read_predictions(arrival.data, recipe_of(track), references)
    except InvalidFile as error:
        rejection = _record_rejection(arrival, error)
        raise FileRejected(errors=error.errors, total=error.total, rejection=rejection) from None


def _create(arrival: _Arrival, predictions: AnswerFile) -> Submission:
    stored = store_private(arrival.data)
    return Submission.objects.create(
        phase=arrival.phase,
        team=arrival.team,
        submitted_by=arrival.user,
        file_name=arrival.file_name,
        file_sha256=stored.sha256,
        file_size=stored.size,
        file_format=predictions.format,
        item_count=len(predictions.answers),
        normalized_count=len(predictions.normalized_ids),
        memo=arrival.memo,
        upload_key=arrival.upload_key,
        created_at=arrival.received_at,
    )


def _record_rejection(arrival: _Arrival, error: InvalidFile) -> Rejection:
    """Keep that the file was rejected and why, for its team: no content, and at most ``KEPT_ERRORS`` errors."""
    return Rejection.objects.create(
        phase=arrival.phase,
        team=arrival.team,
        submitted_by=arrival.user,
        file_name=arrival.file_name,
        file_size=len(arrival.data),
        errors=[_as_row(each) for each in error.errors[:KEPT_ERRORS]],
        error_count=error.total,
        created_at=arrival.received_at,
    )


def _as_row(error: FileError) -> dict[str, Any]:
    row = asdict(error)
    row["id"] = row.pop("item_id")
    return row
