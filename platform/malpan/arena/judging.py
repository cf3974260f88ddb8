"""What a judge says: drafts, judgements and their correction. A judgement, the state of its assignment and the end of
its draft are one transaction.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from django.db import transaction
from django.utils import timezone

from malpan.arena.bars import is_barred
from malpan.arena.disqualified import cannot_count, disqualified_labels
from malpan.arena.errors import (
    AssignmentNotFound,
    AssignmentSealed,
    AssignmentVoid,
    CalibrationMissing,
    ConsentMissing,
    JudgementElsewhere,
    NotJudgedYet,
)
from malpan.arena.models import Assignment, Campaign, CampaignJudge, Judgement, JudgementDraft
from malpan.arena.queue import (
    first_of,
    is_sealed,
    lock_own,
    newest_judgement,
    note_calibrated,
    require_in_time,
    texts_of,
    with_item,
)
from malpan.arena.values import clean_draft, clean_note, clean_value
from malpan.core import audit

if TYPE_CHECKING:
    from malpan.accounts.models import User

Kind, State = Assignment.Kind, Assignment.State


def save_draft(
    *, assignment: Assignment, actor: User, value: Any, note: str = "", now: datetime | None = None
) -> JudgementDraft | None:
    """Keep what was entered and not sent; it need not be complete. ``None`` once the assignment is judged or void.

    Raises ``JudgeNotFound``, ``JudgeRemoved``, ``CampaignNotOpen``, ``AssignmentNotFound`` for one not shown yet,
    ``ValueInvalid`` for what cannot be stored.
    """
    moment = now or timezone.now()
    values = {"value": clean_draft(value), "note": clean_note(note), "updated_at": moment}
    with transaction.atomic():
        _campaign, fresh = lock_own(assignment.judge, actor, moment)
        row = _fresh(assignment, fresh)
        if row.state != State.OPEN:
            return None
        draft, _is_new = JudgementDraft.objects.update_or_create(assignment=row, defaults=values)
    return draft


def judge_assignment(
    *,
    assignment: Assignment,
    actor: User,
    value: Any,
    seconds: int | None = None,
    note: str = "",
    expected_number: int = 0,
    now: datetime | None = None,
) -> Judgement:
    """Record a judgement. ``expected_number``: of the judgement that the person saw, 0 for none; sending the same twice
    gives the first again. ``seconds`` are those that the page was in front, as the browser says: at most those since
    the assignment was shown, which count where it says nothing.

    Raises ``JudgeNotFound`` for another person's, ``JudgeRemoved``, ``JudgeIsOrganiser``, ``ConsentMissing``,
    ``CampaignNotOpen``, ``AssignmentNotFound`` for one not shown yet, ``CalibrationMissing``, ``ValueInvalid``,
    ``AssignmentVoid``, ``AssignmentSealed``, ``JudgementElsewhere``.
    """
    entered = _Entered(value, note, seconds, expected_number, now or timezone.now())
    return _record(assignment, actor, entered)


def correct_judgement(
    *,
    assignment: Assignment,
    actor: User,
    value: Any,
    expected_number: int,
    note: str = "",
    seconds: int | None = 0,
    now: datetime | None = None,
) -> Judgement:
    """Record another judgement of a judged assignment until the campaign closes; the newest counts. Its seconds are all
    that the judge took. Sending what is there already changes nothing.

    Raises as ``judge_assignment``, and ``NotJudgedYet``.
    """
    if expected_number < 1:
        raise NotJudgedYet
    entered = _Entered(value, note, seconds, expected_number, now or timezone.now())
    return _record(assignment, actor, entered)


@dataclass(frozen=True, slots=True)
class _Entered:
    """A judgement as it was sent."""

    value: Any
    note: str
    seconds: int | None
    expected_number: int
    now: datetime


def _record(assignment: Assignment, actor: User, entered: _Entered) -> Judgement:
    with transaction.atomic():
        campaign, judge = lock_own(assignment.judge, actor, entered.now, may_be_over=True)
        row = _fresh(assignment, judge)
        value = clean_value(campaign.protocol, campaign.rubric, texts_of(row), entered.value)
        note = clean_note(entered.note)
        last = newest_judgement(row)
        if last is not None and _is_sent_again(last, value, note, entered):
            return last
        _require_judgeable(campaign, judge, row, last, entered)
        judgement = Judgement.objects.create(
            assignment=row,
            number=entered.expected_number + 1,
            value=value,
            note=note,
            seconds=_seconds(row, last, entered),
            judged_by=actor,
            created_at=entered.now,
        )
        if last is None:
            row.state = State.DONE
            row.save(update_fields=["state"])
        JudgementDraft.objects.filter(assignment=row).delete()
        note_calibrated(judge, entered.now)
        action = "judgement.create" if last is None else "judgement.correct"
        audit.record(actor=actor, action=action, obj=judgement, after={"number": judgement.number})
    return judgement


def _is_sent_again(last: Judgement, value: dict[str, Any], note: str, entered: _Entered) -> bool:
    """Whether ``last`` is what was sent: by the same request sent twice, or a correction that changes nothing."""
    is_same = last.value == value and last.note == note
    return is_same and entered.expected_number in (last.number - 1, last.number)


def _require_judgeable(
    campaign: Campaign, judge: CampaignJudge, row: Assignment, last: Judgement | None, entered: _Entered
) -> None:
    """Raise as ``judge_assignment`` and ``correct_judgement``."""
    require_in_time(campaign, entered.now)
    if judge.consented_at is None:
        raise ConsentMissing
    if row.state == State.VOID or cannot_count(campaign, row.systems, disqualified_labels(campaign)):
        raise AssignmentVoid
    if is_sealed(row, judge):
        raise AssignmentSealed
    if is_barred(judge, row.systems):
        raise AssignmentVoid
    if last is None and entered.expected_number > 0:
        raise NotJudgedYet
    if last is not None and entered.expected_number != last.number:
        raise JudgementElsewhere
    practice = Assignment.objects.filter(judge=judge, kind=Kind.CALIBRATION, state=State.OPEN)
    if row.kind != Kind.CALIBRATION and judge.calibrated_at is None and (left := practice.count()):
        raise CalibrationMissing(left=left)


def _seconds(row: Assignment, last: Judgement | None, entered: _Entered) -> int:
    """How long the judge took: what the browser says, at most what passed on the server since the assignment was shown;
    of a correction, since the judgement before, whose seconds are added.
    """
    since = last.created_at if last else row.first_shown_at or entered.now
    passed = max(0, int((entered.now - since).total_seconds()))
    taken = passed if entered.seconds is None else min(max(0, entered.seconds), passed)
    return taken + (last.seconds if last else 0)


def _fresh(assignment: Assignment, judge: CampaignJudge) -> Assignment:
    """The assignment as it is now. Raises ``AssignmentNotFound`` for one that ``judge`` was not shown."""
    row = first_of(with_item(judge).filter(pk=assignment.pk, first_shown_at__isnull=False), judge)
    if row is None:
        raise AssignmentNotFound
    return row
