"""What a team may see of its submission's scoring. The pages, the API and the receipts all use this.

A team gets a ``ShownRun``, never a ``ScoringRun``: it contains only what the team may see.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Any, Literal

from django.utils import timezone

from malpan.competitions.models import Phase
from malpan.submissions.models import ScoringRun, Submission
from malpan.submissions.release import Release
from scoring.recipes import ORGANISER_CODES


@dataclass(frozen=True, slots=True)
class HiddenScores:
    """The result on the private split, shown after the final board is published, and to organisers."""

    final_score: float
    scores: Mapping[str, float]
    coverage: Mapping[str, Any]
    signature_hash: str = ""


@dataclass(frozen=True, slots=True)
class ShownScores:
    """The scores of a finished run as one reader may see them; see ``ShownRun``."""

    withheld: Literal["", "board", "ladder"] = ""
    final_score: float | None = None
    scores: Mapping[str, float] = field(default_factory=dict)
    step: Decimal | None = None

    @property
    def is_exact(self) -> bool:
        return self.step is None


@dataclass(frozen=True, slots=True)
class ShownRun:
    """A run as one reader may see it.

    ``withheld``: why the scores of a finished run are withheld; the fields below it are then empty. ``step``: what the
    scores are rounded to (``release``), ``None`` where they have all their digits. ``covers``: they are of all items or
    of the public split.
    """

    pk: int
    state: str
    stage: str
    progress: float
    recipe: str
    started_at: datetime | None
    finished_at: datetime | None
    error_code: str
    withheld: Literal["", "board", "ladder"] = ""
    step: Decimal | None = None
    final_score: float | None = None
    scores: Mapping[str, float] = field(default_factory=dict)
    coverage: Mapping[str, Any] = field(default_factory=dict)
    warnings: Sequence[Mapping[str, Any]] = ()
    signature: Mapping[str, Any] = field(default_factory=dict)
    signature_hash: str = ""
    is_demo_models: bool = False
    covers: str = "all"  # all or public
    hidden: HiddenScores | None = None

    @property
    def is_score_hidden(self) -> bool:
        return bool(self.withheld)

    @property
    def is_exact(self) -> bool:
        """Whether the scores have all their digits."""
        return self.step is None


def shows_own_score(submission: Submission, now: datetime | None = None) -> bool:
    """Whether the team of ``submission`` may see its (public) score.

    A phase may withhold them: all while the board is hidden, and those of submissions after the board was frozen. The
    published final board ends this. Reads ``submission.phase``.
    """
    phase = submission.phase
    if phase.final_published_at is not None or phase.shows_own_score or phase.board == Phase.Board.LIVE:
        return True
    if phase.board == Phase.Board.HIDDEN:
        return False
    return not is_frozen(phase, now) or phase.frozen_at is None or submission.created_at < phase.frozen_at


def sees_own_off_the_board(phase: Phase) -> bool:
    """Whether a team sees its own scores while the board of ``phase`` is frozen or hidden."""
    return phase.shows_own_score


def shows_all_digits(phase: Phase) -> bool:
    """Whether the public scores of ``phase`` are shown as they were computed: always after the final board."""
    return phase.score_step is None or phase.final_published_at is not None


def shows_upload(phase: Phase, received_at: datetime, now: datetime | None = None) -> bool:
    """Whether everybody may know whose an upload to ``phase`` is: the board is public and counts it."""
    if is_hidden(phase):
        return False
    return not is_frozen(phase, now) or phase.frozen_at is None or received_at < phase.frozen_at


def is_frozen(phase: Phase, now: datetime | None = None) -> bool:
    """Whether the board of ``phase`` is frozen now; one with a future ``frozen_at`` is not yet."""
    is_due = phase.frozen_at is not None and phase.frozen_at <= (now or timezone.now())
    return phase.board == Phase.Board.FROZEN and is_due and phase.final_published_at is None


def is_hidden(phase: Phase) -> bool:
    """Whether only organisers see the board of ``phase``."""
    return phase.board == Phase.Board.HIDDEN and phase.final_published_at is None


def shown_run(
    run: ScoringRun, submission: Submission, *, sees_all: bool = False, release: Release | None = None
) -> ShownRun:
    """``run`` for a member of the submission's team or, with ``sees_all``, for an organiser.

    ``release`` of the phase is shared where several runs are shown. Reads the phase of ``submission``, the run's job
    and, if the private split may be seen, ``run.hidden_result`` and its reference version.
    """
    state: dict[str, Any] = {
        "pk": run.pk,
        "state": run.state,
        "stage": run.job.stage if run.job else "",
        "progress": run.job.progress if run.job else float(run.state == ScoringRun.State.FINISHED),
        "recipe": run.recipe,
        "started_at": run.started_at,
        "finished_at": run.finished_at,
        "error_code": run.error_code,
    }
    if run.state != ScoringRun.State.FINISHED:
        return ShownRun(**state)
    shown = shown_scores(run, submission, sees_all=sees_all, release=release)
    if shown.withheld:
        return ShownRun(**state, withheld=shown.withheld)
    return ShownRun(
        **state,
        step=shown.step,
        final_score=shown.final_score,
        scores=shown.scores,
        coverage=run.coverage,
        warnings=run.warnings if sees_all else _for_participants(run.warnings),
        signature=run.signature,
        signature_hash=run.signature_hash,
        is_demo_models=run.is_demo_models,
        covers="all" if run.reference_version.public_ids is None else "public",
        hidden=_hidden_of(run) if sees_all or submission.phase.final_published_at else None,
    )


def shown_scores(
    run: ScoringRun, submission: Submission, *, sees_all: bool = False, release: Release | None = None
) -> ShownScores:
    """The scores of a finished ``run`` for the reader of ``shown_run``. Reads the phase of ``submission``."""
    if not sees_all and not shows_own_score(submission):
        return ShownScores("board")
    if sees_all or shows_all_digits(submission.phase):
        return ShownScores(final_score=run.final_score, scores=run.scores)
    release = release or Release(submission.phase, [submission.team_id])
    if not release.has_score(submission.pk):
        return ShownScores("ladder")
    return ShownScores("", release.score(run.final_score or 0.0), release.scores(run.scores), release.step)


def _for_participants(warnings: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The stored warnings for the team; the others are for organisers."""
    return [row for row in warnings if row["code"] not in ORGANISER_CODES]


def _hidden_of(run: ScoringRun) -> HiddenScores | None:
    found = getattr(run, "hidden_result", None)  # a missing one-to-one raises a subclass of AttributeError
    if found is None:
        return None
    return HiddenScores(found.final_score, found.scores, found.coverage, found.signature_hash)
