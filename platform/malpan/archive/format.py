"""The content of the archive of a competition.

A zip file of

* ``manifest.json``: format, version, date and source, and name, size and sha256 of every other member;
* ``people.jsonl``: everybody in a row, by e-mail and name; no password, no token; whose data were erased: without both;
* ``tables/<name>.jsonl``: the rows of a table, one in each line, by column; numbered from 1 in the order of creation,
  and referring to each other by these numbers, so that the same competition gives the same lines on every site;
* ``files/<sha256>``: submissions and files for download;
* ``references/<sha256>.age``: reference answers and their frames, only on request, and only encrypted
  (``archive.crypto``);
* ``sealed.jsonl.age``: what else nobody may know yet, likewise (``archive.campaigns``).

Invitations, API tokens and passwords are never included. Who judged in a human evaluation stays with the site: judges
are their labels. The audit log is copied unchanged but for that: the numbers inside its ``before`` and ``after`` are
those of the original site.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, Final

from django.conf import settings
from django.db.models import Field, ForeignKey, Model, Q, QuerySet

from malpan.arena.models import (
    Assignment,
    Campaign,
    CampaignItem,
    CampaignJudge,
    CampaignResult,
    CampaignSystem,
    Exclusion,
    Judgement,
    Rubric,
)
from malpan.competitions.models import (
    Competition,
    CompetitionRole,
    DataFile,
    Notice,
    Phase,
    Question,
    ReferenceVersion,
    TermsAcceptance,
    Track,
    TrackTarget,
)
from malpan.core.models import AuditEntry
from malpan.leaderboard.models import BoardSnapshot
from malpan.stages.models import Award, Stage, StageDecision, StageSnapshot, StageTable
from malpan.submissions.models import (
    ChainEntry,
    FinalChoice,
    FreshResult,
    HiddenResult,
    MetricResult,
    QuotaEntry,
    Rejection,
    RescoreBatch,
    ScoringRun,
    Submission,
)
from malpan.teams.models import Membership, MergeRequest, Team

FORMAT: Final = "malpan-competition"
VERSION: Final = 8
MANIFEST: Final = "manifest.json"
PEOPLE: Final = "people.jsonl"
CHUNK_BYTES: Final = 1024 * 1024

MANIFEST_MAX_BYTES: Final = 64 * 1024 * 1024
LINE_MAX_BYTES: Final = 64 * 1024 * 1024  # one row; the item values of a metric are the longest
VALUES_MAX: Final = 3_000_000  # of one row or of the manifest, which has four for each member: 200 MB in memory
MEMBERS_MAX: Final = 500_000
TOTAL_MAX_BYTES: Final = 50 * 1024**3
RATIO_MAX: Final = 200  # unpacked to packed, of a whole archive; JSON shrinks to a twentieth
RATIO_FREE_BYTES: Final = 50 * 1024 * 1024  # below this the ratio does not matter

_MEMBER: Final = re.compile(
    r"people\.jsonl|tables/[a-z_]{1,40}\.jsonl|files/[0-9a-f]{64}|references/[0-9a-f]{64}\.age|sealed\.jsonl\.age"
)


@dataclass(frozen=True, slots=True)
class Table:
    """A table of the archive: its member's name, its model, and the path from a row to its competition.

    ``later``: columns that refer to rows further down; they are filled after those rows. ``left_out``: columns that
    follow from the archive itself, or belong to one of the sites. ``only``: the rows that are archived; ``order``: that
    of their numbers.
    """

    name: str
    model: type[Model]
    path: str
    later: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    only: Q = field(default_factory=Q)
    order: tuple[str, ...] = ("pk",)

    @property
    def label(self) -> str:
        return str(self.model._meta.label_lower)

    @property
    def member(self) -> str:
        return f"tables/{self.name}.jsonl"

    def rows(self, competition: Competition) -> QuerySet[Any]:
        """The rows of ``competition`` in the order of their numbers, by default that of creation."""
        return self.model._default_manager.filter(self.only, **{self.path: competition.pk}).order_by(*self.order)

    def fields(self) -> list[Field[Any, Any]]:
        """The columns that are archived."""
        columns = self.model._meta.concrete_fields
        return [each for each in columns if not each.primary_key and each.name not in self.left_out]


TABLES: Final = (  # in the order of the import: rows come after those they refer to
    Table("competitions", Competition, "pk", left_out=("storage_limit",)),  # the importing site decides
    Table("tracks", Track, "competition"),
    Table("track_targets", TrackTarget, "track__competition"),
    Table("phases", Phase, "track__competition"),
    Table("reference_versions", ReferenceVersion, "phase__track__competition"),
    Table("data_files", DataFile, "track__competition"),
    Table("notices", Notice, "competition"),
    Table("questions", Question, "competition"),
    Table("roles", CompetitionRole, "competition"),
    Table("teams", Team, "competition", later=("merged_into",)),
    Table("memberships", Membership, "competition"),
    Table("merge_requests", MergeRequest, "source__competition"),
    Table("terms_acceptances", TermsAcceptance, "competition"),
    Table("rescore_batches", RescoreBatch, "competition", later=("selection",)),
    Table("submissions", Submission, "phase__track__competition", later=("live_run",)),
    Table("final_choices", FinalChoice, "submission__phase__track__competition"),
    Table("rejections", Rejection, "phase__track__competition", left_out=("is_check",), only=Q(is_check=False)),
    Table(
        "runs",
        ScoringRun,
        "submission__phase__track__competition",
        left_out=("job",),  # a place in the queue of this site
    ),
    Table("hidden_results", HiddenResult, "run__submission__phase__track__competition"),
    Table("metric_results", MetricResult, "submission__phase__track__competition"),
    Table("fresh_results", FreshResult, "run__submission__phase__track__competition"),
    Table("quota_entries", QuotaEntry, "phase__track__competition"),
    Table("chain", ChainEntry, "competition"),
    Table("board_snapshots", BoardSnapshot, "phase__track__competition"),
    Table("rubrics", Rubric, "track__competition"),
    Table("campaigns", Campaign, "track__competition"),
    Table("campaign_systems", CampaignSystem, "campaign__track__competition"),
    Table("campaign_items", CampaignItem, "campaign__track__competition"),
    Table(
        "campaign_judges",
        CampaignJudge,
        "campaign__track__competition",
        left_out=(
            *("user", "email", "token_sha256", "invited_at", "expires_at", "consent_version", "consented_at", "rubric"),
            *("declared_teams", "declared_late", "barred_teams", "cleared_teams", "unknown_teams"),
            *("sealed_at", "told", "told_at"),
            *("calibrated_at", "returns", "removal_reason"),
        ),
        only=~Q(design_label=""),  # the others judged nothing
        order=("campaign", "design_label"),  # not in that of their invitations
    ),
    Table("assignments", Assignment, "campaign__track__competition", left_out=("shown_key", "first_shown_at")),
    Table("judgements", Judgement, "assignment__campaign__track__competition", left_out=("judged_by", "note")),
    Table("exclusions", Exclusion, "campaign__track__competition", left_out=("lift_reason",)),
    Table("campaign_results", CampaignResult, "campaign__track__competition"),
    Table("stages", Stage, "track__competition"),
    Table("stage_tables", StageTable, "stage__track__competition"),
    Table("stage_decisions", StageDecision, "table__stage__track__competition"),
    Table("stage_snapshots", StageSnapshot, "track__competition"),
    Table("awards", Award, "competition"),
    Table("audit_log", AuditEntry, "competition_pk", left_out=("competition_pk",)),
)
BY_LABEL: Final = {table.label: table for table in TABLES}
LEFT_OUT: Final = (
    "arena.judgebar",  # from it one could tell who a judge is
    "arena.judgementdraft",
    "competitions.competitionendpoint",  # addresses to which this site sends
    "core.chore",  # of the whole site
    "core.sitetext",  # likewise
    "arena.computation",  # made anew when it is asked for
    "teams.invitation",  # single-use links to teams of this site
    "jobs.job",  # current work: an unfinished run is queued again by the import
    "jobs.worker",  # who works on this site now
    "leaderboard.boardsureness",  # computed by a worker of this site
    "leaderboard.boarditems",
    "leaderboard.dayranks",
    "leaderboard.resultcomparison",
    "leaderboard.resultsureness",
    "leaderboard.standing",  # computed from the live results
    "leaderboard.standingmark",
    "leaderboard.standingsversion",
    "submissions.alikefiles",  # compared by a worker of this site when somebody looks
    "submissions.rescoreorder",  # carried out here, by whom this site lets; what came of it is in the audit log
    "submissions.judgeusage",  # of this site's judges
    "submissions.judgereservation",
    "submissions.judgement",  # only readable with this site's key
    "submissions.judgeagreement",  # is on this site's card of a metric
    "submissions.canaryrows",  # of this site's workers
    "submissions.pairvalue",  # only readable with this site's key, and recomputed if needed
)


def open_files(competition: Competition) -> set[str]:
    """The sha256 of the stored files that are archived as they are: submissions, files for download, and what was
    published of human evaluations.
    """
    results = CampaignResult.objects.filter(campaign__track__competition=competition)
    return {
        *Submission.objects.of(competition).values_list("file_sha256", flat=True),
        *DataFile.objects.filter(track__competition=competition).values_list("file_sha256", flat=True),
        *(name for row in results.values_list("votes_sha256", "result_sha256") for name in row),
    }


def is_member_name(name: str) -> bool:
    """Whether a member of an archive may have this name, which can never lead out of a folder."""
    return _MEMBER.fullmatch(name) is not None


def points_at_person(field: Field[Any, Any]) -> bool:
    return isinstance(field, ForeignKey) and _label(field) == settings.AUTH_USER_MODEL.lower()


def target_of(field: Field[Any, Any]) -> Table | None:
    """The table that ``field`` refers to; ``None`` for a plain column or a reference to a person."""
    return BY_LABEL.get(_label(field)) if isinstance(field, ForeignKey) else None


def _label(field: ForeignKey[Any, Any]) -> str:
    return str(field.target_field.model._meta.label_lower)
