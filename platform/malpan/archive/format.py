"""The content of the archive of a competition.

A zip file of

* ``manifest.json``: format, version, date and source, and name, size and sha256 of every other member;
* ``people.jsonl``: everybody in a row, by e-mail and name; no password, no token; whose data were erased: without both;
* ``tables/<name>.jsonl``: the rows of a table, one in each line, by column; numbered from 1 in the order of creation,
  and referring to each other by these numbers, so that the same competition gives the same lines on every site;
* ``files/<sha256>``: submissions and files for download;
* ``references/<sha256>.age``: reference answers and their frames, only on request, and only encrypted
  (``archive.crypto``).

Invitations, API tokens and passwords are never included. The audit log is copied
unchanged but for who judged in a human evaluation, which stays with the site: the numbers inside its
``before`` and ``after`` are those of the original site.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Final

from django.conf import settings
from django.db.models import Field, ForeignKey, Model, QuerySet

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
from malpan.stages.models import Stage, StageDecision, StageSnapshot, StageTable
from malpan.submissions.models import (
    ChainEntry,
    FinalChoice,
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
VERSION: Final = 5
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

_MEMBER: Final = re.compile(r"people\.jsonl|tables/[a-z_]{1,40}\.jsonl|files/[0-9a-f]{64}|references/[0-9a-f]{64}\.age")


@dataclass(frozen=True, slots=True)
class Table:
    """A table of the archive: its member's name, its model, and the path from a row to its competition.

    ``later``: columns that refer to rows further down; they are filled after those rows. ``left_out``: columns that
    follow from the archive itself, or belong to the importing site.
    """

    name: str
    model: type[Model]
    path: str
    later: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        return str(self.model._meta.label_lower)

    @property
    def member(self) -> str:
        return f"tables/{self.name}.jsonl"

    def rows(self, competition: Competition) -> QuerySet[Any]:
        """The rows of ``competition`` in the order of creation."""
        return self.model._default_manager.filter(**{self.path: competition.pk}).order_by("pk")

    def fields(self) -> list[Field[Any, Any]]:
        """The columns that are archived."""
        columns = self.model._meta.concrete_fields
        return [field for field in columns if not field.primary_key and field.name not in self.left_out]


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
    Table("rejections", Rejection, "phase__track__competition"),
    Table(
        "runs",
        ScoringRun,
        "submission__phase__track__competition",
        left_out=("job",),  # a place in the queue of this site
    ),
    Table("hidden_results", HiddenResult, "run__submission__phase__track__competition"),
    Table("metric_results", MetricResult, "submission__phase__track__competition"),
    Table("quota_entries", QuotaEntry, "phase__track__competition"),
    Table("chain", ChainEntry, "competition"),
    Table("board_snapshots", BoardSnapshot, "phase__track__competition"),
    Table("stages", Stage, "track__competition", left_out=("campaign",)),  # which stays with the site that ran it
    Table("stage_tables", StageTable, "stage__track__competition"),
    Table("stage_decisions", StageDecision, "table__stage__track__competition"),
    Table("stage_snapshots", StageSnapshot, "track__competition"),
    Table("audit_log", AuditEntry, "competition_pk", left_out=("competition_pk",)),
)
BY_LABEL: Final = {table.label: table for table in TABLES}
LEFT_OUT: Final = (
    # human evaluation stays with the site that ran it: its items hold reference answers, its judges are people of this
    # site; what was published of it is in the chain and in the files that everybody may download
    "arena.rubric",
    "arena.campaign",
    "arena.campaignsystem",
    "arena.campaignitem",
    "arena.campaignjudge",
    "arena.judgebar",
    "arena.assignment",
    "arena.judgementdraft",
    "arena.judgement",
    "arena.exclusion",
    "arena.campaignresult",
    "core.chore",  # of the whole site
    "arena.computation",
    "teams.invitation",  # single-use links to teams of this site
    "jobs.job",  # current work: an unfinished run is queued again by the import
    "jobs.worker",  # who works on this site now
    "leaderboard.boardsureness",  # computed by a worker of this site
    "leaderboard.standing",  # computed from the live results
    "leaderboard.standingmark",
    "leaderboard.standingsversion",
    "submissions.judgeusage",  # of this site's judges
    "submissions.judgereservation",
    "submissions.judgement",  # only readable with this site's key
    "submissions.judgeagreement",  # is on this site's card of a metric
    "submissions.canaryrows",  # of this site's workers
    "submissions.pairvalue",  # only readable with this site's key, and recomputed if needed
)


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
