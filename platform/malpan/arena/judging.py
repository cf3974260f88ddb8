"""A judge's queue: the next assignment, drafts, judgements and their correction."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from malpan.arena.models import Assignment, Campaign, CampaignJudge, Judgement, JudgementDraft

if TYPE_CHECKING:
    from malpan.accounts.models import User


@dataclass(frozen=True, slots=True)
class Progress:
    """Of one queue, calibration not counted. ``seconds_left``: by the median of the own ones; ``None`` before three."""

    done: int
    total: int
    calibration_left: int
    seconds_left: int | None


def next_assignment(*, judge: CampaignJudge, actor: User, now: datetime | None = None) -> Assignment | None:
    """The first open assignment of the queue, calibration first; notes when it was first shown. ``None``: all is done.

    An assignment with a team that was disqualified meanwhile is made void and passed over. Raises ``JudgeNotFound`` for
    another person's, ``JudgeRemoved``, ``ConsentMissing``, ``CampaignNotOpen``.
    """
    raise NotImplementedError


def assignment_of(judge: CampaignJudge, shown_key: uuid.UUID | str) -> Assignment:
    """An assignment of ``judge``, with item and newest judgement. Raises ``AssignmentNotFound``."""
    raise NotImplementedError


def texts_of(assignment: Assignment) -> list[str]:
    """The outputs in the order shown, a bad one in its place."""
    raise NotImplementedError


def clean_value(campaign: Campaign, assignment: Assignment, value: Any) -> dict[str, Any]:
    """``value`` in the form of the votes file (``scoring.arena.votes``). Raises ``ValueInvalid``."""
    raise NotImplementedError


def save_draft(
    *, assignment: Assignment, actor: User, value: Any, note: str = "", now: datetime | None = None
) -> JudgementDraft | None:
    """Keep what was entered and not sent; it need not be complete. ``None`` once the assignment is judged."""
    raise NotImplementedError


def judge_assignment(
    *,
    assignment: Assignment,
    actor: User,
    value: Any,
    seconds: int,
    note: str = "",
    expected_number: int = 0,
    now: datetime | None = None,
) -> Judgement:
    """Record a judgement. ``expected_number``: of the judgement that the person saw, 0 for none; sending the same twice
    gives the first again. ``seconds`` are at most those since the assignment was shown.

    Raises as ``next_assignment``, ``CalibrationMissing``, ``ValueInvalid``, ``AssignmentVoid``, ``JudgementElsewhere``.
    """
    raise NotImplementedError


def correct_judgement(
    *,
    assignment: Assignment,
    actor: User,
    value: Any,
    expected_number: int,
    note: str = "",
    seconds: int = 0,
    now: datetime | None = None,
) -> Judgement:
    """Record another judgement of a judged assignment until the campaign closes; the newest counts.

    Raises as ``judge_assignment``, and ``NotJudgedYet``.
    """
    raise NotImplementedError


def undo_target(judge: CampaignJudge) -> Assignment | None:
    """The assignment judged last by ``judge``, which ``u`` reopens for a correction."""
    raise NotImplementedError


def own_judgements(judge: CampaignJudge) -> list[Assignment]:
    """The judged assignments of ``judge``, the last first, each with ``newest``, its newest judgement."""
    raise NotImplementedError


def progress_of(judge: CampaignJudge) -> Progress:
    """How far ``judge`` is."""
    raise NotImplementedError


def feedback_of(assignment: Assignment, value: dict[str, Any]) -> tuple[bool, str]:
    """Whether the judgement of a calibration was as expected, and the explanation in the reader's language."""
    raise NotImplementedError
