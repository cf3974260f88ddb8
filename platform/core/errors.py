"""Every error of the platform: a named class with a code, an HTTP status and data.

Three roots, told apart in words and in consequence:

* ``SubmissionError`` 제출 오류 — the participant's to mend; costs no quota.
* ``SystemFault`` 시스템 오류 — ours; refunded and retried by itself.
* ``RequestError`` 요청 오류 — the request cannot be granted: a team, an invitation, a permission, an address.

``str(error)`` is the code alone, so that a log line can never carry data. The words stand in ``core.messages``; the
HTTP mapping is the ``http_status`` column of this file.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, ClassVar, Literal

if TYPE_CHECKING:
    from scoring.errors import FileError

QuotaKind = Literal["daily", "total", "interval"]


class DomainError(Exception):
    """Root of everything the platform refuses or fails to do. ``params`` fill the text; they are safe to show."""

    code: ClassVar[str] = "domain_error"
    http_status: ClassVar[int] = 400

    def __init__(self, **params: Any) -> None:
        self.params: dict[str, Any] = params
        super().__init__(self.code)

    @property
    def text_key(self) -> str:
        """Which text of ``core.messages`` says this error; one code may have several."""
        return self.code


class SubmissionError(DomainError):
    """제출 오류: the file or the moment is wrong. Nothing is charged."""

    code = "submission_error"


class SystemFault(DomainError):
    """시스템 오류: our side failed. Nothing is charged, or what was charged is refunded."""

    code = "system_fault"
    http_status = 503


class RequestError(DomainError):
    """요청 오류: what was asked for cannot be granted."""

    code = "request_error"


# --- submissions ------------------------------------------------------------------------------------------------------
class PhaseNotOpen(SubmissionError):
    """Params: ``starts_at``, ``ends_at``. ``is_over`` tells a phase that ended from one that has not begun."""

    code = "phase_not_open"
    http_status = 409

    def __init__(self, *, starts_at: datetime, ends_at: datetime, is_over: bool) -> None:
        self.is_over = is_over
        super().__init__(starts_at=starts_at, ends_at=ends_at)

    @property
    def text_key(self) -> str:
        return f"{self.code}.{'over' if self.is_over else 'not_begun'}"


class QuotaExceeded(SubmissionError):
    """A limit of the phase is reached. ``next_allowed_at`` is ``None`` when no later moment of the phase allows it."""

    code = "quota_exceeded"
    http_status = 429

    def __init__(self, *, kind: QuotaKind, limit: Any, next_allowed_at: datetime | None) -> None:
        self.kind = kind
        self.limit = limit
        self.next_allowed_at = next_allowed_at
        super().__init__(kind=kind, limit=limit, next_allowed_at=next_allowed_at)

    @property
    def text_key(self) -> str:
        return f"{self.code}.{self.kind}{'' if self.next_allowed_at else '_last'}"


class DuplicateUpload(SubmissionError):
    """The same act of uploading again: a second click, a resent request. Params: ``public_id``, ``submitted_at``."""

    code = "duplicate_upload"
    http_status = 409


class UploadTooLarge(SubmissionError):
    """Params: ``size_bytes``, ``limit_bytes``."""

    code = "upload_too_large"
    http_status = 413


class FileRejected(SubmissionError):
    """The file breaks the format. ``errors`` are located and capped, ``total`` counts all, ``rejection`` records it."""

    code = "file_rejected"
    http_status = 422

    def __init__(self, *, errors: Sequence[FileError], total: int, rejection: Any = None) -> None:
        self.errors = tuple(errors)
        self.total = total
        self.rejection = rejection
        super().__init__(total=total)


# --- our side ---------------------------------------------------------------------------------------------------------
class StorageFull(SystemFault):
    code = "storage_full"
    http_status = 507


class StorageUnavailable(SystemFault):
    code = "storage_unavailable"


class StoredFileMissing(SystemFault):
    """Params: ``sha256``."""

    code = "stored_file_missing"


class StoredFileCorrupt(SystemFault):
    """The bytes on disk no longer have the sha256 they are stored under. Params: ``sha256``."""

    code = "stored_file_corrupt"


class ReferencesNotPublished(SystemFault):
    """The phase is open but its organiser has not published reference answers. Params: none."""

    code = "references_not_published"


class ModelMissing(SystemFault):
    """A model of the scoring profile is not on the worker's machine."""

    code = "model_missing"


class ScoringCrashed(SystemFault):
    """The engine stopped on an error that is not the file's."""

    code = "scoring_crashed"


class WorkerLost(SystemFault):
    """The worker went silent: its lease ran out."""

    code = "worker_lost"


# --- organisers -------------------------------------------------------------------------------------------------------
class ReferencesRejected(RequestError):
    """A reference file breaks the format. ``errors`` are located and never hold an answer; ``total`` counts all."""

    code = "references_rejected"
    http_status = 422

    def __init__(self, *, errors: Sequence[FileError], total: int) -> None:
        self.errors = tuple(errors)
        self.total = total
        super().__init__(total=total)


class MediaRejected(RequestError):
    """An archive of frames cannot be used. Params: ``reason``, a sentence in the reader's language."""

    code = "media_rejected"
    http_status = 422


class MediaTooLarge(RequestError):
    """The files of one request are above the site's cap on uploads. Params: ``size_bytes``, ``limit_bytes``."""

    code = "media_too_large"
    http_status = 413


class ReferencesInUse(RequestError):
    """Submissions of the phase were scored with the current references. Params: ``count``."""

    code = "references_in_use"
    http_status = 409


class AnswersWouldLeak(RequestError):
    """The same bytes stand both as reference answers and as a file for download."""

    code = "answers_would_leak"
    http_status = 409


class UnknownTrackRecipe(RequestError):
    """Params: ``recipe``."""

    code = "unknown_recipe"


class RunNotRetryable(RequestError):
    """Only a failed run whose submission has no result can be tried again. Params: ``state``."""

    code = "run_not_retryable"
    http_status = 409


# --- teams and people -------------------------------------------------------------------------------------------------
class DeskNotFound(RequestError):
    """The organiser's desk of a competition, asked for by somebody without a role there."""

    code = "desk_not_found"
    http_status = 404


class NotAllowed(RequestError):
    """A role of the competition that does not include the ``permission``."""

    code = "not_allowed"
    http_status = 403


class NotTeamMember(RequestError):
    code = "not_team_member"
    http_status = 403


class NotTeamLeader(RequestError):
    code = "not_team_leader"
    http_status = 403


class AlreadyInTeam(RequestError):
    """One team per person per competition. Params: none."""

    code = "already_in_team"
    http_status = 409


class TeamNameTaken(RequestError):
    """Params: ``name``."""

    code = "team_name_taken"
    http_status = 409


class TeamNameInvalid(RequestError):
    """Empty, too long, or holding control characters. Params: ``limit``."""

    code = "team_name_invalid"


class TeamFull(RequestError):
    """Params: ``limit``."""

    code = "team_full"
    http_status = 409


class InvitationNotFound(RequestError):
    code = "invitation_not_found"
    http_status = 404


class InvitationExpired(RequestError):
    """Params: ``expired_at``."""

    code = "invitation_expired"
    http_status = 410


class InvitationUsed(RequestError):
    code = "invitation_used"
    http_status = 410


# --- addresses and keys -----------------------------------------------------------------------------------------------
class CompetitionNotFound(RequestError):
    code = "competition_not_found"
    http_status = 404


class TrackNotFound(RequestError):
    code = "track_not_found"
    http_status = 404


class SubmissionNotFound(RequestError):
    """No such submission, or not this person's to see: the two look alike on purpose."""

    code = "submission_not_found"
    http_status = 404


class DataFileNotFound(RequestError):
    code = "data_file_not_found"
    http_status = 404


class ApiTokenInvalid(RequestError):
    code = "api_token_invalid"
    http_status = 401


class ApiRequestInvalid(RequestError):
    """Params: ``field``."""

    code = "api_request_invalid"


class AddressNotFound(RequestError):
    code = "address_not_found"
    http_status = 404


class MethodNotAllowed(RequestError):
    """Params: ``allowed``."""

    code = "method_not_allowed"
    http_status = 405
