"""Reads of submissions, rejected files and runs."""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal

from django.contrib.auth.models import AnonymousUser
from django.db.models import Prefetch, Q, QuerySet, prefetch_related_objects

from malpan.accounts.models import User
from malpan.competitions.models import Phase
from malpan.competitions.permissions import Permission, may
from malpan.core.database.prepared import Prepared
from malpan.submissions.errors import SubmissionNotFound
from malpan.submissions.models import Rejection, ScoringRun, Submission
from malpan.submissions.release import Release
from malpan.submissions.visibility import ShownRun, shown_run, shown_scores
from malpan.teams.models import Team
from malpan.teams.selectors import membership_of
from scoring.errors import FileError

OF_ONE_RUN: Final = ("submitted_by", "live_run__reference_version", "live_run__job")
OF_OWN_SCORE: Final = (
    *("public_id", "phase", "team", "file_name", "memo", "created_at", "withdrawn_at", "is_final_choice"),
    *("live_run__state", "live_run__final_score", "live_run__scores", "live_run__signature_hash", "live_run__recipe"),
    *("live_run__is_demo_models", "live_run__reference_version"),
)
SHOWN_REJECTIONS: Final = 20  # they are free, so a script may make thousands, each with its table of errors
HISTORY_ERRORS_BYTES: Final = 16 * 1024  # of each of them in a history, as JSON: a hundred usual errors are 10 KB


@dataclass(frozen=True, slots=True)
class HistoryEntry:
    """One line of a team's history: a charged submission with the run as its team may see it, or a rejected file."""

    kind: Literal["submission", "rejection"]
    created_at: datetime
    submission: Submission | None = None
    rejection: Rejection | None = None
    run: ShownRun | None = None


def team_history(team: Team, phase: Phase) -> list[HistoryEntry]:
    """Everything ``team`` uploaded in ``phase``, newest first; of rejected files only the newest, of files that it only
    had checked none. Three queries.
    """
    submissions = _with_runs(Submission.objects.filter(_made_by(team), phase=phase)).select_related("phase")
    if phase.final_published_at is not None:
        submissions = submissions.select_related("live_run__hidden_result")
    release = Release(phase, {row.team_id for row in submissions})
    rejected = Rejection.objects.filter(_made_by(team), phase=phase, is_check=False)
    rejections = rejected.select_related("submitted_by")[:SHOWN_REJECTIONS]
    entries = [
        *(
            HistoryEntry("submission", row.created_at, submission=row, run=run_for_team(row, release))
            for row in submissions
        ),
        *(HistoryEntry("rejection", row.created_at, rejection=row) for row in rejections),
    ]
    return sorted(entries, key=lambda entry: entry.created_at, reverse=True)


@dataclass(frozen=True, slots=True)
class OwnScore:
    """A submission with the final score that its team may see, and the scores beside it; the live run is loaded
    without its signature.
    """

    submission: Submission
    final_score: float
    scores: Mapping[str, float]
    is_exact: bool

    @property
    def counts(self) -> bool:
        """Whether it may be on a board."""
        return self.submission.withdrawn_at is None


def own_scores(team: Team, phase: Phase, *, sees_all: bool = False) -> list[OwnScore]:
    """The scored submissions of ``team`` in ``phase`` whose score it may see, the first first. One query, and one in
    a phase whose scores are rounded.
    """
    rows = Submission.objects.filter(
        _made_by(team), phase=phase, refunded_at=None, live_run__state=ScoringRun.State.FINISHED
    )
    rows = rows.select_related("live_run").only(*OF_OWN_SCORE).order_by("created_at", "pk")
    listed = list(rows)
    release, found = Release(phase, {row.team_id for row in listed}), []
    for row in listed:
        row.phase = phase
        run = row.live_run
        assert run is not None
        shown = shown_scores(run, row, sees_all=sees_all, release=release)
        if shown.final_score is not None:
            found.append(OwnScore(row, shown.final_score, shown.scores, shown.is_exact))
    return found


def other_submissions(team: Team, submission: Submission) -> list[Submission]:
    """The other submissions of ``team`` in the phase of ``submission``, newest first, to choose one from. One query."""
    rows = Submission.objects.filter(_made_by(team), phase=submission.phase_id).exclude(pk=submission.pk)
    return list(rows.only("public_id", "file_name", "memo", "created_at"))


def own_scores_beside(user: User, submission: Submission) -> list[OwnScore]:
    """``own_scores`` of the team of ``submission`` as ``user`` may see them; it must come from ``submission_for``."""
    team = submission.team.merged_into or submission.team
    return own_scores(team, submission.phase, sees_all=sees_hidden(user, submission))


def submission_for(user: User | AnonymousUser, public_id: uuid.UUID | str) -> Submission:
    """The submission for a member of its team, or somebody with a role in its competition.

    Raises ``SubmissionNotFound`` for anybody else. Its phase, track, competition, team and live run are prefetched; its
    runs only where none of them is live.
    """
    submission = _SUBMISSION.only(_as_uuid(public_id))
    if submission is None or not (is_open_to_the_team(user, submission) or _is_on_manage_pages(user, submission)):
        raise SubmissionNotFound
    if submission.live_run_id is not None:  # for those alone who may see it
        submission.live_run = _LIVE_RUN.only(submission.live_run_id)
    if submission.live_run is None:  # then one of all is shown
        prefetch_runs(submission)
    return submission


def prefetch_runs(submission: Submission) -> None:
    """Prefetch all runs of ``submission``, for who shows more than one; no query if they are."""
    prefetch_related_objects([submission], _all_runs())


def _known(public_id: uuid.UUID) -> QuerySet[Submission]:
    rows = Submission.objects.filter(public_id=public_id).select_related("submitted_by")
    return rows.select_related("phase__track__competition", "team__merged_into")


def _scored(run: int) -> QuerySet[ScoringRun]:
    return ScoringRun.objects.filter(pk=run).select_related("reference_version", "job")


# two queries: PostgreSQL takes 1.8 ms to plan one of all ten tables, and half a millisecond for each of these
_SUBMISSION: Final = Prepared(_known, uuid.UUID)
_LIVE_RUN: Final = Prepared(_scored, int)


def _as_uuid(public_id: uuid.UUID | str) -> uuid.UUID:
    return Submission._meta.get_field("public_id").to_python(public_id)


def _made_by(team: Team) -> Q:
    """Rows of ``team``, and those of teams merged into it from phases that were over by then."""
    return Q(team=team) | Q(team__merged_into=team)


def is_open_to_the_team(user: User | AnonymousUser, submission: Submission) -> bool:
    """Whether ``user`` is a member of its team, and its competition is published: a hidden one is there for nobody."""
    if not submission.phase.track.competition.is_published:
        return False
    return membership_of(user, submission.team.merged_into or submission.team) is not None


def sees_hidden(user: User | AnonymousUser, submission: Submission) -> bool:
    """Whether ``user`` sees the hidden scores of the submission's competition."""
    return may(user, submission.phase.track.competition, Permission.VIEW_HIDDEN)


def _is_on_manage_pages(user: User | AnonymousUser, submission: Submission) -> bool:
    return may(user, submission.phase.track.competition, Permission.VIEW)


def run_to_show(submission: Submission) -> ScoringRun | None:
    """The run that represents the submission: the live one, else the newest. Uses prefetched rows if there are any.

    Runs of a rescoring batch do not count before the batch is applied.
    """
    if submission.live_run is not None:
        return submission.live_run
    return max((run for run in submission.runs.all() if run.batch_id is None), key=lambda run: run.pk, default=None)


def run_for_team(submission: Submission, release: Release | None = None) -> ShownRun | None:
    """The run to show, as the submission's team may see it. ``release`` is shared where several are shown."""
    run = run_to_show(submission)
    return None if run is None else shown_run(run, submission, release=release)


def run_for(user: User | AnonymousUser, submission: Submission) -> ShownRun | None:
    """The run to show, as ``user`` may see it; ``submission`` must come from ``submission_for``."""
    run = run_to_show(submission)
    return None if run is None else shown_run(run, submission, sees_all=sees_hidden(user, submission))


def rejection_errors(rejection: Rejection, *, room: int | None = None) -> tuple[FileError, ...]:
    """The stored located errors of a rejected file (at most a hundred): with ``room`` the first that have so many bytes
    as JSON. ``rejection.error_count`` is of all.
    """
    rows, used = [], 0
    for row in rejection.errors:
        used += len(json.dumps(row))
        if room is not None and used > room:
            break
        rows.append(row)
    return tuple(
        FileError(
            code=row["code"],
            params=row.get("params", {}),
            line=row.get("line"),
            item_id=row.get("id"),
            field=row.get("field"),
        )
        for row in rows
    )


def submissions_of_upload(*, team: Team, upload_key: str) -> list[Submission]:
    """The submissions of the team under this ``upload_key``, as of one moment: one query, and none without a key."""
    return list(Submission.objects.filter(team=team, upload_key=upload_key).order_by("pk")) if upload_key else []


def _with_runs(submissions: QuerySet[Submission]) -> QuerySet[Submission]:
    return submissions.select_related(*OF_ONE_RUN).prefetch_related(_all_runs())


def _all_runs() -> Prefetch[str]:
    return Prefetch("runs", queryset=ScoringRun.objects.select_related("reference_version", "job").order_by("-pk"))
