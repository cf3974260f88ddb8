"""What the site holds of people: every column of the database that names a person or says something of one.

``SUBJECTS`` is the table for people, in words: what, why, until when, and what becomes of it when somebody leaves.
``HOLDINGS`` says where each subject lies; the export and the erasure follow it. A column that is missing here would be
in neither: ``tests/privacy/test_holdings.py`` compares it with the models. What lies in no row of a person (sessions,
logs, mails, files, backups, archives) is in ``deploy/OPERATIONS.md``, with this table.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final

from allauth.account.models import EmailAddress, EmailConfirmation
from django.conf import settings
from django.contrib.admin.models import LogEntry
from django.db.models import Model, Q, QuerySet
from django.utils import translation
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from malpan.accounts.models import ApiToken, User
from malpan.arena.models import Campaign, CampaignJudge, CampaignResult, Exclusion, Judgement, JudgementDraft, Rubric
from malpan.competitions.models import CompetitionRole, Question, ReferenceVersion, TermsAcceptance
from malpan.core.models import AuditEntry
from malpan.leaderboard.models import BoardSnapshot
from malpan.notifications.models import Endpoint, Letter, Preference
from malpan.stages.models import StageDecision, StageSnapshot, StageTable
from malpan.submissions.models import QuotaEntry, Rejection, RescoreBatch, RescoreOrder, Submission
from malpan.teams.models import Invitation, Membership, MergeRequest


class Fate(Enum):
    """What the erasure of a person does with a row."""

    REMOVED = _("지웁니다")
    UNNAMED = _("남지만 ‘탈퇴한 사람’의 것이 됩니다")


@dataclass(frozen=True, slots=True)
class Subject:
    """One line of the table for people.

    ``kept``: until when, where the site has a limit for it: the setting with its days, and the words around them;
    ``until`` where it has none.
    """

    what: Promise
    why: Promise
    until: Promise
    fate: Fate
    kept: tuple[str, Promise] | None = None

    @property
    def how_long(self) -> str:
        """Until when this site keeps it."""
        if self.kept is None or not (days := getattr(settings, self.kept[0])):
            return str(self.until)
        return str(self.kept[1]) % {"days": days}


@dataclass(frozen=True, slots=True)
class Holding:
    """Rows of ``model`` about a person. ``person``: the column that says whose, or the path to it.

    ``shown``: what the export gives, as paths. ``withheld``: columns of personal data that it does not give, as they
    are secrets, or about somebody else. ``texts``: what the person wrote, freed of their name and addresses when the
    row stays. ``emptied``: texts that say who the person is, gone when the row stays.
    """

    subject: Subject
    model: type[Model]
    person: str
    shown: tuple[str, ...]
    withheld: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()
    emptied: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """``teams.membership.user``"""
        return f"{self.model._meta.label_lower}.{self.person}"

    @property
    def place(self) -> str:
        """``teams_membership.user_id``, as the database has it."""
        field: Any = self.model._meta.get_field(self.person.partition("__")[0])
        return f"{self.model._meta.db_table}.{field.column}"

    def rows(self, user: User) -> QuerySet[Any]:
        """The rows about ``user``, the oldest first."""
        return self.model._default_manager.filter(self.about(user)).order_by("pk")

    def about(self, user: User) -> Q:
        """Whether a row is about ``user``."""
        wanted = addresses_of(user) if self.person == "email" else [user.pk]
        return Q(**{f"{self.person}__in": wanted})


def addresses_of(user: User) -> set[str]:
    """Every address of the person, in lower case."""
    known = EmailAddress.objects.filter(user=user).values_list("email", flat=True)
    return {email.lower() for email in (user.email, *known) if email}


ACCOUNT: Final = Subject(
    _("계정: 이메일, 이름, 비밀번호의 해시, 권한, 가입 시각과 마지막 로그인 시각, 동의한 처리방침의 판과 시각"),
    _("로그인, 팀과 주최 측이 서로를 알아봄, 답변과 초대의 전달"),
    _("탈퇴할 때까지"),
    Fate.REMOVED,
    ("RETENTION_UNCONFIRMED_DAYS", _("탈퇴할 때까지. %(days)s일 안에 이메일을 확인하지 않은 계정은 그때까지")),
)
TOKENS: Final = Subject(
    _("API 토큰: 붙인 이름, 앞자리, 해시, 만든 시각과 쓴 시각, 키(Idempotency-Key)를 붙인 요청에 준 답"),
    _("프로그램에서 제출하는 사람의 확인, 다시 온 요청을 두 번 하지 않음"),
    _("탈퇴할 때까지, 준 답은 하루"),
    Fate.REMOVED,
)
INVITATIONS: Final = Subject(
    _("초대: 받는 사람의 이메일, 보낸 사람, 쓴 사람"),
    _("초대받은 사람만 팀에 들어가도록 확인"),
    _("대회의 기록이 있는 동안"),
    Fate.REMOVED,
    ("RETENTION_INVITATION_DAYS", _("쓰거나 기한이 지난 뒤 %(days)s일까지")),
)
ROLES: Final = Subject(
    _("대회에서 맡은 역할"), _("누가 대회를 운영하는지 확인"), _("역할을 거두거나 탈퇴할 때까지"), Fate.REMOVED
)
TEAMS: Final = Subject(
    _("팀의 구성원이라는 기록과 팀 합치기 요청"),
    _("한 사람이 한 팀으로만 참가했고 인원을 지켰다는 증명"),
    _("대회의 기록이 있는 동안"),
    Fate.UNNAMED,
)
TERMS: Final = Subject(
    _("참가 약관에 동의한 판과 시각"), _("동의를 받았다는 증명"), _("대회의 기록이 있는 동안"), Fate.UNNAMED
)
SUBMISSIONS: Final = Subject(
    _("제출: 낸 사람, 파일 이름, 메모, 시각, 제출 횟수 기록"),
    _("순위와 상이 걸린 결과의 증명"),
    _("대회의 기록이 있는 동안"),
    Fate.UNNAMED,
)
REJECTIONS: Final = Subject(
    _("반려되었거나 검사만 한 파일 가운데 오류가 있던 것: 올린 사람, 파일 이름, 오류(내용은 보관하지 않습니다)"),
    _("무엇을 고쳐야 하는지 알림"),
    _("대회의 기록이 있는 동안"),
    Fate.UNNAMED,
    ("RETENTION_REJECTION_DAYS", _("단계가 끝난 뒤 %(days)s일까지")),
)
QUESTIONS: Final = Subject(
    _("문의와 답변: 쓴 사람, 글, 시각"), _("답변의 전달과 공개 답변의 보존"), _("대회의 기록이 있는 동안"), Fate.UNNAMED
)
JUDGING: Final = Subject(
    _("사람 평가: 초대받은 이메일과 소속 기관, 동의한 시각, 판단과 걸린 시간, 메모"),
    _("판단이 초대받은 사람의 것임을 확인하고 제척을 지킴. 발표하는 파일에는 이름이 없습니다"),
    _("대회의 기록이 있는 동안. 메모는 탈퇴할 때까지"),
    Fate.UNNAMED,
)
JUDGE_INVITATIONS: Final = Subject(
    _("사람 평가의 초대: 수락하지 않은 사람의 이메일과 소속 기관"),
    _("초대받은 사람만 평가하도록 확인"),
    _("대회의 기록이 있는 동안"),
    Fate.REMOVED,
)
ORGANISING: Final = Subject(
    _("운영한 일: 정답 판의 등록, 재채점, 결과 발표"),
    _("누가 결과를 정했는지 증명"),
    _("대회의 기록이 있는 동안"),
    Fate.UNNAMED,
)
LETTERS: Final = Subject(
    _("알림 메일과 웹훅: 어떤 사건을 언제 보냈는지(글은 보관하지 않습니다), 웹훅의 주소와 알림 설정"),
    _("점수와 답변의 전달, 받지 않겠다는 뜻의 보존"),
    _("탈퇴할 때까지"),
    Fate.REMOVED,
)
AUDIT: Final = Subject(
    _("감사 로그: 누가 언제 어느 기록에 무엇을 했는지(이름과 이메일은 적지 않습니다)"),
    _("고치거나 지울 수 없는 변경 기록"),
    _("사이트가 있는 동안"),
    Fate.UNNAMED,
)
SUBJECTS: Final = (
    *(ACCOUNT, TOKENS, INVITATIONS, ROLES, TEAMS, TERMS),
    *(SUBMISSIONS, REJECTIONS, QUESTIONS, JUDGING, JUDGE_INVITATIONS, LETTERS, ORGANISING, AUDIT),
)

_PHASE: Final = ("phase__track__competition__slug", "phase__track__slug", "phase__slug")
_MERGE: Final = ("source__competition__slug", "source__name", "target__name", "state", "created_at", "answered_at")
_TRACK: Final = ("track__competition__slug", "track__slug")
_STAGE: Final = ("stage__track__competition__slug", "stage__track__slug", "stage__position")
_TABLE: Final = ("table__stage__track__competition__slug", "table__stage__track__slug", "table__stage__position")
_CAMPAIGN: Final = ("campaign__track__competition__slug", "campaign__track__slug", "campaign__number")
_UNIT: Final = tuple(f"assignment__{name}" for name in (*_CAMPAIGN, "item__label"))
_BATCH: Final = (*_PHASE, "reason", "state", "created_at", "closed_at")
_ORDER: Final = ("batch__competition__slug", "batch__reason", "state", "ordered_at", "ended_at")
_ENTRY: Final = ("created_at", "action", "object_type", "object_id")

HOLDINGS: Final = (
    Holding(
        ACCOUNT,
        User,
        "id",
        (
            *("email", "name", "date_joined", "last_login", "is_active", "is_staff", "is_superuser"),
            *("privacy_version", "privacy_accepted_at"),
        ),
        withheld=("password", "erased_at", "former_addresses"),
    ),
    Holding(ACCOUNT, User.groups.through, "user", ("group__name",)),
    Holding(ACCOUNT, User.user_permissions.through, "user", ("permission__codename",)),
    Holding(ACCOUNT, EmailConfirmation, "email_address__user", ("email_address__email", "created", "sent"), ("key",)),
    Holding(ACCOUNT, EmailAddress, "user", ("email", "verified", "primary")),
    Holding(
        TOKENS,
        ApiToken,
        "user",
        ("label", "prefix", "scopes", "created_at", "expires_at", "last_used_at", "revoked_at"),
        ("token_sha256",),
    ),
    Holding(INVITATIONS, Invitation, "created_by", ("team__name", "created_at", "expires_at", "used_at")),
    Holding(INVITATIONS, Invitation, "used_by", ("team__name", "used_at")),
    Holding(INVITATIONS, Invitation, "email", ("email", "team__name", "created_at", "expires_at"), ("token_sha256",)),
    Holding(ROLES, CompetitionRole, "user", ("competition__slug", "role", "created_at")),
    Holding(TEAMS, Membership, "user", ("competition__slug", "team__name", "role", "joined_at")),
    Holding(TEAMS, MergeRequest, "asked_by", _MERGE),
    Holding(TEAMS, MergeRequest, "answered_by", _MERGE),
    Holding(TERMS, TermsAcceptance, "user", ("competition__slug", "version", "accepted_at")),
    Holding(
        SUBMISSIONS,
        Submission,
        "submitted_by",
        (
            *(*_PHASE, "team__name", "public_id", "created_at", "file_name", "file_sha256", "file_size", "memo"),
            *("refunded_at", "withdrawn_at", "is_final_choice"),
        ),
        texts=("file_name", "memo"),
    ),
    Holding(SUBMISSIONS, QuotaEntry, "actor", (*_PHASE, "team__name", "kind", "slots", "day", "reason", "moment")),
    Holding(
        REJECTIONS,
        Rejection,
        "submitted_by",
        (*_PHASE, "team__name", "created_at", "file_name", "file_size", "errors", "error_count", "is_check"),
        texts=("file_name",),
    ),
    Holding(
        QUESTIONS,
        Question,
        "asked_by",
        ("competition__slug", "title", "body", "answer_ko", "answer_en", "is_public", "created_at", "answered_at"),
        texts=("title", "body"),
    ),
    Holding(
        QUESTIONS,
        Question,
        "answered_by",
        ("competition__slug", "answer_ko", "answer_en", "is_public", "answered_at"),
    ),
    Holding(
        JUDGING,
        CampaignJudge,
        "user",
        (
            *(*_CAMPAIGN, "email", "institution", "invited_at", "accepted_at", "consented_at", "consent_version"),
            *("told", "told_at", "calibrated_at", "removed_at", "removal_reason"),
        ),
        emptied=("email", "institution", "told"),
    ),
    Holding(
        JUDGE_INVITATIONS,
        CampaignJudge,
        "email",
        (*_CAMPAIGN, "email", "institution", "invited_at", "expires_at"),
        ("token_sha256",),
    ),
    Holding(
        JUDGING,
        Judgement,
        "judged_by",
        (*_UNIT, "number", "value", "note", "seconds", "created_at"),
        emptied=("note",),
    ),
    Holding(
        JUDGING,
        JudgementDraft,
        "assignment__judge__user",
        (*_UNIT, "value", "note", "updated_at"),
        emptied=("note",),
    ),
    Holding(LETTERS, Letter, "person", ("event", "state", "created_at", "sent_at")),
    Holding(LETTERS, Endpoint, "person", ("url", "events", "created_at", "off_at")),
    Holding(LETTERS, Preference, "person", ("language", "muted", "paces")),
    Holding(ORGANISING, CampaignJudge, "invited_by", (*_CAMPAIGN, "invited_at")),
    Holding(ORGANISING, Rubric, "created_by", (*_TRACK, "number", "created_at")),
    Holding(ORGANISING, Campaign, "created_by", (*_TRACK, "number", "created_at")),
    Holding(ORGANISING, CampaignResult, "published_by", (*_CAMPAIGN, "number", "note_ko", "note_en", "published_at")),
    Holding(ORGANISING, Exclusion, "by", (*_CAMPAIGN, "reason", "created_at")),
    Holding(ORGANISING, Exclusion, "lifted_by", (*_CAMPAIGN, "lift_reason", "lifted_at")),
    Holding(ORGANISING, ReferenceVersion, "created_by", (*_PHASE, "number", "note", "created_at", "published_at")),
    Holding(ORGANISING, RescoreBatch, "created_by", _BATCH),
    Holding(ORGANISING, RescoreBatch, "closed_by", _BATCH),
    Holding(ORGANISING, RescoreOrder, "ordered_by", _ORDER),
    Holding(ORGANISING, RescoreOrder, "ended_by", _ORDER),
    Holding(ORGANISING, BoardSnapshot, "published_by", (*_PHASE, "number", "note_ko", "note_en", "published_at")),
    Holding(ORGANISING, StageTable, "entered_by", (*_STAGE, "number", "reason", "created_at")),
    Holding(ORGANISING, StageDecision, "decided_by", (*_TABLE, "verdict", "reason", "created_at")),
    Holding(
        ORGANISING,
        StageSnapshot,
        "published_by",
        (*_TRACK, "stage__position", "number", "note_ko", "note_en", "published_at"),
    ),
    Holding(AUDIT, AuditEntry, "actor", _ENTRY),
    Holding(AUDIT, AuditEntry, "person", _ENTRY),
    Holding(AUDIT, LogEntry, "user", ("action_time", "action_flag", "object_id"), ("object_repr", "change_message")),
)


def counted(user: User, fate: Fate) -> list[tuple[Subject, int]]:
    """What an erasure of ``user`` does this with, and how many rows of each there are; nothing of which there are none.

    One query for each table.
    """
    found: Counter[Subject] = Counter()
    about: defaultdict[tuple[Subject, type[Model]], Q] = defaultdict(Q)
    for holding in HOLDINGS:
        if holding.subject.fate is fate:
            about[holding.subject, holding.model] |= holding.about(user)
    for (subject, model), condition in about.items():
        found[subject] += model._default_manager.filter(condition).count()
    return [(subject, found[subject]) for subject in SUBJECTS if found[subject]]


def table() -> list[str]:
    """The table as in ``deploy/OPERATIONS.md``, in English."""
    with translation.override("en"):
        lines = ["| what | where | why | how long | when a person leaves |", "| --- | --- | --- | --- | --- |"]
        for each in SUBJECTS:
            where = ", ".join(f"`{held.place}`" for held in HOLDINGS if held.subject is each)
            lines.append(f"| {each.what} | {where} | {each.why} | {each.how_long} | {each.fate.value} |")
    return lines
