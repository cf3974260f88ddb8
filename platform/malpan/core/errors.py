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


class PlanOutdated(SystemFault):
    """A large run was cut into pieces for other models or programs than those that the worker has now."""

    code = "plan_outdated"


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
class ManageNotFound(RequestError):
    """The manage pages of a competition, asked for by somebody without a role there."""

    code = "manage_not_found"
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


# --- set-up, roles, questions, notices --------------------------------------------------------------------------------
class CompetitionNotReady(RequestError):
    """The checklist has gaps and the organiser did not say to publish all the same. Params: ``count``."""

    code = "competition_not_ready"
    http_status = 409


class PersonNotFound(RequestError):
    """No account has this e-mail address. Params: none."""

    code = "person_not_found"
    http_status = 404


class RoleAlreadyHeld(RequestError):
    """The person has a role in the competition already: change that one. Params: none."""

    code = "role_already_held"
    http_status = 409


class RoleNotFound(RequestError):
    """The person has no role in the competition (any more)."""

    code = "role_not_found"
    http_status = 404


class LastOwner(RequestError):
    """The change would leave the competition without an owner who can log in. Params: none."""

    code = "last_owner"
    http_status = 409


class QuestionNotFound(RequestError):
    code = "question_not_found"
    http_status = 404


class QuestionInvalid(RequestError):
    """A text is empty or too long. Params: ``field``, ``limit``."""

    code = "question_invalid"
    http_status = 422


class TooManyQuestions(RequestError):
    """The person has as many unanswered questions as one may have. Params: ``limit``."""

    code = "too_many_questions"
    http_status = 429


class NoticeNotFound(RequestError):
    code = "notice_not_found"
    http_status = 404


class RuleInUse(RequestError):
    """A track's recipe or models cannot be edited: ``count`` scores made with them count. Rescoring changes them."""

    code = "rule_in_use"
    http_status = 409


class PartInUse(RequestError):
    """A track, phase or file of a competition cannot be removed: something was made with it. Params: none."""

    code = "part_in_use"
    http_status = 409


# --- teams: invitations by mail, leaving, merging, terms, disqualification --------------------------------------------
class InvitationRevoked(RequestError):
    """The team's leader took it back."""

    code = "invitation_revoked"
    http_status = 410


class InvitationForAnother(RequestError):
    """It was mailed to an address that this person has not verified as their own. Params: ``email``, masked."""

    code = "invitation_for_another"
    http_status = 403


class InvitationAddressInvalid(RequestError):
    """The text is no e-mail address."""

    code = "invitation_address_invalid"
    http_status = 422


class TooManyInvitations(RequestError):
    """As many invitations of the team are open, or were mailed in a day, as may be. Params: ``limit``."""

    code = "too_many_invitations"
    http_status = 429


class MailNotSent(SystemFault):
    """The mail server refused the message or is away; what it should have told was taken back."""

    code = "mail_not_sent"


class CompetitionOver(RequestError):
    """The last phase has ended; who is in which team stands. Params: ``ended_at``."""

    code = "competition_over"
    http_status = 409


class LeaderCannotLeave(RequestError):
    """A leader hands over before leaving or being removed, while others are in the team."""

    code = "leader_cannot_leave"
    http_status = 409


class LastMemberCannotLeave(RequestError):
    """The team has sent files, so that it must not be left without anybody to answer for them."""

    code = "last_member_cannot_leave"
    http_status = 409


class TeamDisqualified(RequestError):
    """The organisers took the team out of the competition."""

    code = "team_disqualified"
    http_status = 403


class TeamNotFound(RequestError):
    code = "team_not_found"
    http_status = 404


class DisqualificationNoteInvalid(RequestError):
    """The public note is missing or too long. Params: ``limit``."""

    code = "disqualification_note_invalid"
    http_status = 422


class MergeImpossible(RequestError):
    """Why two teams cannot become one. ``reason``: same, baseline, disqualified, merged, size, over, daily or total."""

    code = "merge_impossible"
    http_status = 409

    def __init__(self, *, reason: str, **params: Any) -> None:
        self.reason = reason
        super().__init__(reason=reason, **params)

    @property
    def text_key(self) -> str:
        return f"{self.code}.{self.reason}"


class MergeAlreadyAsked(RequestError):
    """A team asks one team at a time."""

    code = "merge_already_asked"
    http_status = 409


class MergeRequestNotFound(RequestError):
    """No such request to or of this team, or it was answered already."""

    code = "merge_request_not_found"
    http_status = 404


class TermsNotAccepted(RequestError):
    """The person has not accepted the current terms of the competition. Params: ``version``."""

    code = "terms_not_accepted"
    http_status = 403


class TermsChanged(RequestError):
    """The terms that were read are not the current ones any more. Params: ``version``, the current one."""

    code = "terms_changed"
    http_status = 409


# --- the manage pages: runs, duplicates, audit log -------------------------------------------------------------------
class RunCancelled(SystemFault):
    """Not raised but written to a run as its ``error_code``: an organiser took it back, the submission is refunded."""

    code = "cancelled_by_organiser"


class RunNotFound(RequestError):
    """No such run in this competition."""

    code = "run_not_found"
    http_status = 404


class RunNotCancellable(RequestError):
    """Only a queued or running run can be cancelled. Params: ``state``."""

    code = "run_not_cancellable"
    http_status = 409


class RunBelongsToBatch(RequestError):
    """A run of a rescoring batch goes with its batch: cancelled alone it would keep the batch from getting ready."""

    code = "run_belongs_to_batch"
    http_status = 409


class AuditEntryNotFound(RequestError):
    """No such entry in the audit log of this competition."""

    code = "audit_entry_not_found"
    http_status = 404


# --- phases, the split, finals, publication ---------------------------------------------------------------------------
class PhaseSettingsInvalid(RequestError):
    """Settings of a phase do not go together. ``fields`` names the columns at fault."""

    code = "phase_settings_invalid"
    http_status = 422

    def __init__(self, *, fields: Sequence[str]) -> None:
        self.fields = tuple(fields)
        super().__init__(fields=", ".join(fields))


class PhaseAlreadyPublished(RequestError):
    """The final board is out: the end, the split and the finals of the phase stand."""

    code = "phase_already_published"
    http_status = 409


class SplitInvalid(RequestError):
    """A list of public items cannot be used. Params: ``count``, ``first``. ``reason``: unknown or empty."""

    code = "split_invalid"
    http_status = 422

    def __init__(self, *, reason: Literal["unknown", "empty"], count: int, first: str) -> None:
        self.reason = reason
        super().__init__(count=count, first=first)

    @property
    def text_key(self) -> str:
        return f"{self.code}.{self.reason}"


class FinalsNotUsed(RequestError):
    """The phase has no final selection: every submission counts."""

    code = "finals_not_used"
    http_status = 409


class FinalsLocked(RequestError):
    """Final submissions can be chosen up to the end of the phase. Params: ``ends_at``."""

    code = "finals_locked"
    http_status = 409


class TooManyFinals(RequestError):
    """Params: ``limit``."""

    code = "too_many_finals"
    http_status = 409


class FinalNotEligible(RequestError):
    """A submission of another team or phase, or one that was refunded or withdrawn."""

    code = "final_not_eligible"
    http_status = 409


class PhaseNotOver(RequestError):
    """The final board waits for the end of the phase. Params: ``ends_at``."""

    code = "phase_not_over"
    http_status = 409


class RunsUnfinished(RequestError):
    """The final board waits for runs that are not finished. Params: ``count``."""

    code = "runs_unfinished"
    http_status = 409


class NothingToPublish(RequestError):
    """No result of the phase can stand on its final board."""

    code = "nothing_to_publish"
    http_status = 409


# --- reference drafts and rescoring -----------------------------------------------------------------------------------
class ReferenceNotDraft(RequestError):
    """The version is published (or gone): it cannot be edited, discarded or published again."""

    code = "reference_not_draft"
    http_status = 409


class ReferenceDraftInUse(RequestError):
    """Runs or a rescoring batch name the draft, so that it stays as evidence."""

    code = "reference_draft_in_use"
    http_status = 409


class BatchNotFound(RequestError):
    """No such rescoring batch in this competition."""

    code = "batch_not_found"
    http_status = 404


class BatchOpenAlready(RequestError):
    """The phase has a batch that is neither applied nor cancelled. Params: ``number``."""

    code = "batch_open_already"
    http_status = 409


class BatchSelectsNothing(RequestError):
    """No submission of the phase matches."""

    code = "batch_selects_nothing"
    http_status = 422


class BatchNotReady(RequestError):
    """Runs of the batch are not finished or have failed. Params: ``unfinished``, ``failed``."""

    code = "batch_not_ready"
    http_status = 409


class BatchClosed(RequestError):
    """The batch was applied or cancelled already."""

    code = "batch_closed"
    http_status = 409


class BatchNeverApplies(RequestError):
    """A batch of repeats shows numeric noise; it has nothing to apply."""

    code = "batch_never_applies"
    http_status = 409


class BatchOutdated(RequestError):
    """References, recipe or models were changed by another way since the batch was scored. Params: ``count``."""

    code = "batch_outdated"
    http_status = 409


class BatchHurtsOtherPhases(RequestError):
    """Other phases of the track hold scores by the old recipe or models; they would leave their boards. ``count``."""

    code = "batch_hurts_other_phases"
    http_status = 409


class BatchRunNotFailed(RequestError):
    """Only a submission whose newest run in the batch failed can be retried or left out."""

    code = "batch_run_not_failed"
    http_status = 409


class BatchReasonMissing(RequestError):
    """What an organiser does to scores has a reason. Params: ``field``."""

    code = "batch_reason_missing"
    http_status = 422


class BatchReferencesUnfit(RequestError):
    """The draft cannot score what was submitted: other rules of form, or items were added. Params: ``count``."""

    code = "batch_references_unfit"
    http_status = 422


class RescoringCancelled(SystemFault):
    """Not raised but written to a queued run as its ``error_code``: its batch was cancelled, nothing is refunded."""

    code = "rescoring_cancelled"


# --- quota and withdrawal ---------------------------------------------------------------------------------------------
class GrantWithoutEffect(RequestError):
    """The phase has no limit that the grant would raise: one for a day needs a daily limit. Params: none."""

    code = "grant_without_effect"
    http_status = 422


class WithdrawalClosed(RequestError):
    """A submission is withdrawn while its phase runs. Params: ``ends_at``."""

    code = "withdrawal_closed"
    http_status = 409


# --- archives ---------------------------------------------------------------------------------------------------------
class ArchiveRefused(RequestError):
    """An archive of a competition that is not taken in. ``reason``: unreadable, version, name, damaged, too_large,
    passphrase, slug_invalid, slug_taken (params ``slug``), present (its submissions are here already), foreign_file (it
    names a stored file of this site), rows (params ``table``). Nothing was changed.
    """

    code = "archive_refused"
    http_status = 422

    def __init__(self, *, reason: str, **params: Any) -> None:
        self.reason = reason
        super().__init__(**params)

    @property
    def text_key(self) -> str:
        return f"{self.code}.{self.reason}"


class PassphraseTooShort(RequestError):
    """The passphrase over reference answers in an archive. Params: ``limit``, the least number of characters."""

    code = "passphrase_too_short"
    http_status = 422


# --- API tokens -------------------------------------------------------------------------------------------------------
class TooManyApiTokens(RequestError):
    """The person has as many working tokens as one may have. Params: ``limit``."""

    code = "too_many_api_tokens"
    http_status = 429


class ApiTokenNotFound(RequestError):
    """No token of this person has this number. Params: none."""

    code = "api_token_not_found"
    http_status = 404
