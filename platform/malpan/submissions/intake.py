"""The upload of a submission.

The order of the checks, and why:

1. Membership: nobody else may submit, but an organiser for a baseline (``baselines``). The size, which is known without
   reading.
2. The same upload again, before the phase and the quota: the second click on the last slot, and the program that was
   cut off in the last second and sends again, must get "already received". ``upload_key`` identifies a form or
   request. The same file under another key, or another file in a form that the browser restored with its old key, is
   a decision of the team, and charged.
3. The open phase.
4. The quota, without a lock, before the file is parsed: a team that cannot submit now gets the error at once, without
   parsing. (Anybody can check the form of a file with ``python -m scoring check``.)
5. Whether too many of the team's files were rejected just now (``patience``), and the file itself (``checking``):
   every error located. Nothing is charged, and only the list of errors is kept. The cost of its scoring is estimated
   from its texts, before any lock.
6. Whether the competition may store it; then the file is stored, with nobody waiting: the store may be far away. What
   is refused after that leaves a file that no row names, which is collected a day later (``core.storage.collecting``).
7. Under the team's lock 2 and 4 again, and only then the slot is charged, the run queued and the audit entry written:
   one transaction, so that a full disk or a lost database charges nobody. At its end, under the competition's lock,
   which the chain takes, the room again: uploads at once never exceed the limit. A new baseline, which nobody could
   lock, is made in it: with a file that was refused there is none.

The doorbell rings when the transaction commits; if the broker is down then, nothing is lost (``jobs.doorbell``). The
moment of a submission is when the upload reaches this function.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
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
from malpan.competitions.locks import lock_phase_shared
from malpan.competitions.models import Phase, ReferenceVersion
from malpan.competitions.references import recipe_of
from malpan.competitions.room import require_room, require_room_at_last
from malpan.competitions.selectors import current_reference
from malpan.competitions.terms import require_accepted
from malpan.core import audit
from malpan.core.locks import own_rows
from malpan.core.log import logged_with
from malpan.core.storage import StoredFile, store_private
from malpan.core.text import without_unseen
from malpan.submissions.checking import checked
from malpan.submissions.errors import (
    DuplicateUpload,
    FileRejected,
    PhaseNotOpen,
    SameFile,
    UploadKeyReused,
    UploadKeyTooLong,
    UploadTooLarge,
)
from malpan.submissions.evaluation.runs import queue_run
from malpan.submissions.integrity.receipts import issue_receipt
from malpan.submissions.models import Rejection, Submission
from malpan.submissions.patience import patience
from malpan.submissions.quota import services as quota
from malpan.submissions.rescoring.alongside import enqueue_alongside
from malpan.submissions.selectors import submissions_of_upload
from malpan.teams.baselines import make_baseline, may_submit_for
from malpan.teams.errors import NotTeamMember
from malpan.teams.models import Team
from malpan.teams.selectors import require_in_good_standing, require_member
from malpan.teams.services import lock_team
from scoring.checking import Checked
from scoring.errors import FileError, InvalidFile

logger = logging.getLogger(__name__)

KEY_LENGTH: Final = Submission._meta.get_field("upload_key").max_length or 0


@dataclass(frozen=True, slots=True)
class _Arrival:
    """An upload with cleaned file name and memo."""

    phase: Phase
    team: Team
    user: User
    file_name: str
    memo: str
    upload_key: str
    key_is_for_one_file: bool
    data: bytes
    received_at: datetime
    address: str

    @property
    def is_of_new_team(self) -> bool:
        """Whether its team, a baseline, is not in the database yet."""
        return self.team.pk is None


def submit(
    *,
    phase: Phase,
    team: Team,
    user: User,
    file_name: str,
    upload: UploadedFile | bytes,
    memo: str = "",
    upload_key: str = "",
    key_is_for_one_file: bool = False,
    refuses_same: bool = False,
    address: str = "",
    now: datetime | None = None,
) -> Submission:
    """Accept a file of ``team`` in ``phase``: check it, charge it, store it, queue its scoring.

    ``upload_key`` (at most ``KEY_LENGTH`` characters) identifies one upload: the same bytes under a key that the team
    used before are refused as a second click or a resent request. With ``key_is_for_one_file`` other bytes under it are
    refused too (``UploadKeyReused``); else they are a new upload, as in a form that the browser restored. Without a key
    every call is a new upload. ``refuses_same``: a file that the team has submitted in the phase is refused, whatever
    the key. ``address`` is the client's, to count rejected files by. A ``team`` that is not in the database yet (of
    ``teams.baselines.baseline_named``) is made if the file is accepted.

    Raises, in this order: ``NotTeamMember``, ``TeamDisqualified``, ``TermsNotAccepted``, ``UploadKeyTooLong``,
    ``UploadTooLarge``, ``DuplicateUpload``, ``UploadKeyReused``, ``PhaseNotOpen``, ``ReferencesNotPublished``,
    ``SameFile``, ``QuotaExceeded``, what ``patience`` raises, ``FileRejected`` (recorded as a
    ``Rejection``) and what ``checking`` raises for a large file, ``CompetitionStorageFull``, ``TeamNameTaken`` for a
    new team, and the faults of the storage. None of them charges the team.
    """
    received_at = now or timezone.now()
    _require_participant(phase, team, user)
    if len(upload_key) > KEY_LENGTH:
        raise UploadKeyTooLong(length=len(upload_key), limit=KEY_LENGTH)
    data = _read_within_limit(upload)
    arrival = _Arrival(
        phase,
        team,
        user,
        clean_file_name(file_name),
        without_unseen(memo)[:200],
        upload_key,
        key_is_for_one_file,
        data,
        received_at,
        address,
    )
    _refuse_duplicate(arrival)
    _require_open(phase, received_at)
    reference = current_reference(phase)
    if refuses_same and (same := _same_file(arrival)) is not None:
        raise SameFile(public_id=same.public_id, submitted_at=same.created_at)
    quota.require_room(phase=phase, team=team, now=received_at)
    found = _checked(arrival, reference)
    require_room(phase.track.competition, len(data))
    stored = store_private(data)
    with _team_held(arrival):
        _require_participant(phase, team, user)  # the person may have left, or the team been removed, meanwhile
        _refuse_duplicate(arrival)
        quota.require_room(phase=phase, team=team, now=received_at)
        submission = _create(arrival, found, stored)
        quota.charge(submission=submission, actor=user)
        run = queue_run(submission=submission, cost=found.cost)  # with the current references, under the phase's lock
        enqueue_alongside(submission=submission, cost=found.cost)
        audit.record(
            actor=user, action="submission.create", obj=submission, after={"file_sha256": submission.file_sha256}
        )
        issue_receipt(submission=submission)  # late, so that the chain's lock is held only briefly
        require_room_at_last(phase.track.competition)
    with logged_with(run=run.pk, job=run.job_id):
        logger.info("accepted as submission %s", submission.public_id)
    return submission


@contextmanager
def _team_held(arrival: _Arrival) -> Iterator[None]:
    """A transaction under the lock of the team or, if it is new, in which it is made.

    The lock of the competition, of which it has its number, is the last one: that of the phase is taken before.
    """
    with transaction.atomic(), ExitStack() as held:
        if arrival.is_of_new_team:
            lock_phase_shared(arrival.phase.pk)
            make_baseline(arrival.team, actor=arrival.user)
            held.enter_context(own_rows())
        else:
            lock_team(arrival.team)
        yield


@dataclass(frozen=True, slots=True)
class DryRun:
    """What is known of a sound file that was only checked. ``same``: the team's newest submission of these bytes."""

    file_name: str
    size: int
    found: Checked
    same: Submission | None


def check_only(
    *, phase: Phase, team: Team, user: User, file_name: str, upload: UploadedFile | bytes, address: str = ""
) -> DryRun:
    """Check a file of ``team`` as ``submit`` would, and keep nothing of it: no submission, no slot, no run.

    A team whose slots are used up may check, too. A file with errors is recorded as a ``Rejection`` that only counts:
    it is in no history and no archive. Every check counts for ``address`` as a rejected file does, so that nobody keeps
    the others waiting. Raises what ``submit`` raises, but ``DuplicateUpload``, ``QuotaExceeded`` and what concerns
    storing.
    """
    now = timezone.now()
    _require_participant(phase, team, user)
    _require_open(phase, now)
    data = _read_within_limit(upload)
    arrival = _Arrival(phase, team, user, clean_file_name(file_name), "", "", False, data, now, address)
    found = _checked(arrival, current_reference(phase), is_dry_run=True)
    return DryRun(arrival.file_name, len(data), found, _same_file(arrival))


def _same_file(arrival: _Arrival) -> Submission | None:
    """The team's newest submission of these bytes in the phase, but for those that were refunded."""
    digest = sha256(arrival.data).hexdigest()
    rows = Submission.objects.filter(phase=arrival.phase, team=arrival.team, file_sha256=digest, refunded_at=None)
    return rows.order_by("-created_at").first()


def clean_file_name(file_name: str) -> str:
    """The last part of an uploaded file's name, NFC, without invisible characters, at most 255 characters."""
    last = PurePosixPath(file_name.replace("\\", "/")).name
    return without_unseen(last)[:255] or "submission.json"


def _require_participant(phase: Phase, team: Team, user: User) -> None:
    is_organiser = may_submit_for(user, team)
    if not is_organiser:
        require_member(user, team)
    if team.competition_id != phase.track.competition_id:
        raise NotTeamMember
    require_in_good_standing(team)
    if not is_organiser:
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
    """Refuse an upload that was already accepted: a double click, a resent form, a retrying client."""
    if arrival.is_of_new_team:
        return
    found = submissions_of_upload(team=arrival.team, upload_key=arrival.upload_key)
    digest = sha256(arrival.data).hexdigest()
    for earlier in found:
        if earlier.file_sha256 == digest:
            raise DuplicateUpload(public_id=earlier.public_id, submitted_at=earlier.created_at)
    if found and arrival.key_is_for_one_file:
        raise UploadKeyReused


def _checked(arrival: _Arrival, reference: ReferenceVersion, *, is_dry_run: bool = False) -> Checked:
    """What is known of the sound file. Raises ``FileRejected`` with its recorded ``Rejection``."""
    recipe = recipe_of(arrival.phase.track)
    who: dict[str, Any] = {"team": arrival.team, "user": arrival.user, "address": arrival.address}
    with patience(**who, now=arrival.received_at, counts_sound=is_dry_run):
        try:
            return checked(arrival.data, team=arrival.team, reference=reference, recipe_id=recipe.id)
        except InvalidFile as error:
            rejection = _record_rejection(arrival, error, is_check=is_dry_run)
            raise FileRejected(errors=error.errors, total=error.total, rejection=rejection) from None


def _create(arrival: _Arrival, found: Checked, stored: StoredFile) -> Submission:
    return Submission.objects.create(
        phase=arrival.phase,
        team=arrival.team,
        submitted_by=arrival.user,
        file_name=arrival.file_name,
        file_sha256=stored.sha256,
        file_size=stored.size,
        file_format=found.format,
        item_count=found.item_count,
        normalized_count=found.normalized_count,
        file_warnings=found.warnings,
        memo=arrival.memo,
        upload_key=arrival.upload_key,
        created_at=arrival.received_at,
    )


def _record_rejection(arrival: _Arrival, error: InvalidFile, *, is_check: bool) -> Rejection:
    """Record for the team, if there is one, that the file was rejected and why: no content, only the errors that it
    names.
    """
    return Rejection.objects.create(
        phase=arrival.phase,
        team=None if arrival.is_of_new_team else arrival.team,
        submitted_by=arrival.user,
        file_name=arrival.file_name,
        file_size=len(arrival.data),
        errors=[_as_row(each) for each in error.errors],
        error_count=error.total,
        created_at=arrival.received_at,
        is_check=is_check,
    )


def _as_row(error: FileError) -> dict[str, Any]:
    row = asdict(error)
    row["id"] = row.pop("item_id")
    return row
