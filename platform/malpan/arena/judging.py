"""A judge's queue: the next assignment, drafts, judgements and their correction.

A judge's own queue is changed by one request at a time (``Level.JUDGE``); judges do not wait for each other, and
whatever changes the campaign as a whole waits for all of them. A judgement, the state of its assignment and the end of
its draft are one transaction.
"""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from datetime import datetime
from statistics import median
from typing import TYPE_CHECKING, Any, Final

from django.db import transaction
from django.db.models import Count, OuterRef, Q, QuerySet, Subquery
from django.utils import timezone

from malpan.arena.disqualified import disqualified_labels
from malpan.arena.errors import (
    AssignmentNotFound,
    AssignmentVoid,
    CalibrationMissing,
    CampaignNotOpen,
    ConsentMissing,
    JudgeIsOrganiser,
    JudgementElsewhere,
    JudgeNotFound,
    JudgeRemoved,
    NotJudgedYet,
)
from malpan.arena.judges import consent_version_of
from malpan.arena.locks import lock_campaign_shared, lock_judge
from malpan.arena.models import Assignment, Campaign, CampaignJudge, Judgement, JudgementDraft
from malpan.arena.values import clean_draft, clean_note, clean_value
from malpan.competitions.permissions import permissions_of
from malpan.core import audit

if TYPE_CHECKING:
    from malpan.accounts.models import User

Kind, State, VoidReason = Assignment.Kind, Assignment.State, Assignment.VoidReason

TIMED_LEAST: Final = 3  # own judgements before there is an estimate of the time left
WORST_SHARE: Final = 0.5  # of a scale: a bad output judged alone must stay below it


@dataclass(frozen=True, slots=True)
class Progress:
    """Of one queue, calibration not counted. ``seconds_left``: by the median of the own ones; ``None`` before three."""

    done: int
    total: int
    calibration_left: int
    seconds_left: int | None


def next_assignment(*, judge: CampaignJudge, actor: User, now: datetime | None = None) -> Assignment | None:
    """The first open assignment of the queue, calibration first; notes when it was first shown. ``None``: all is done.

    An assignment with a team that was disqualified meanwhile is made void and passed over. For requests that may write:
    a page reads ``current_assignment``. Raises ``JudgeNotFound`` for another person's, ``JudgeRemoved``,
    ``JudgeIsOrganiser`` for who got a role in the competition meanwhile, ``ConsentMissing``, also if the notice changed
    since, ``CampaignNotOpen``.
    """
    with transaction.atomic():
        campaign, fresh = _lock_own(judge, actor)
        if fresh.consent_version != consent_version_of(campaign) or fresh.rubric_id != campaign.rubric_id:
            raise ConsentMissing
        _void_disqualified(campaign, fresh)
        _note_calibrated(fresh, now or timezone.now())
        found = _open_rows(fresh).first()
        if found is not None and found.first_shown_at is None:
            found.first_shown_at = now or timezone.now()
            found.save(update_fields=["first_shown_at"])
    return found


def current_assignment(judge: CampaignJudge) -> Assignment | None:
    """What ``next_assignment`` showed and is still to be judged; nothing is written. ``None``: ask for the next."""
    labels = disqualified_labels(judge.campaign)
    found = _open_rows(judge).first()
    is_shown = found is not None and found.first_shown_at is not None and labels.isdisjoint(found.systems)
    return found if is_shown else None


def assignment_of(judge: CampaignJudge, shown_key: uuid.UUID | str) -> Assignment:
    """An assignment that ``judge`` was shown, with item and ``newest``, its newest judgement or ``None``.

    Raises ``AssignmentNotFound``.
    """
    try:
        key = shown_key if isinstance(shown_key, uuid.UUID) else uuid.UUID(shown_key)
    except ValueError:
        raise AssignmentNotFound from None
    found = _with_item(judge).filter(shown_key=key, first_shown_at__isnull=False).first()
    if found is None:
        raise AssignmentNotFound
    setattr(found, "newest", newest_judgement(found))  # noqa: B010  # not a field of the model
    return found


def newest_judgement(assignment: Assignment) -> Judgement | None:
    """The judgement of ``assignment`` that counts."""
    return Judgement.objects.filter(assignment=assignment).order_by("-number").first()


def texts_of(assignment: Assignment) -> list[str]:
    """The outputs in the order shown, a bad one in its place."""
    texts = [assignment.item.outputs[label] for label in assignment.systems]
    if assignment.bad_index is not None:
        texts[assignment.bad_index] = assignment.bad_text
    return texts


def save_draft(
    *, assignment: Assignment, actor: User, value: Any, note: str = "", now: datetime | None = None
) -> JudgementDraft | None:
    """Keep what was entered and not sent; it need not be complete. ``None`` once the assignment is judged or void.

    Raises ``JudgeNotFound``, ``JudgeRemoved``, ``CampaignNotOpen``, ``AssignmentNotFound`` for one not shown yet,
    ``ValueInvalid`` for what cannot be stored.
    """
    values = {"value": clean_draft(value), "note": clean_note(note), "updated_at": now or timezone.now()}
    with transaction.atomic():
        _campaign, fresh = _lock_own(assignment.judge, actor)
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
    ``AssignmentVoid``, ``JudgementElsewhere``.
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
    that the judge took. Sending what stands there already changes nothing.

    Raises as ``judge_assignment``, and ``NotJudgedYet``.
    """
    if expected_number < 1:
        raise NotJudgedYet
    entered = _Entered(value, note, seconds, expected_number, now or timezone.now())
    return _record(assignment, actor, entered)


def undo_target(judge: CampaignJudge) -> Assignment | None:
    """The assignment judged last by ``judge``, which ``u`` reopens for a correction."""
    return next(iter(_judged(judge)[:1]), None)


def own_judgements(judge: CampaignJudge) -> list[Assignment]:
    """The judged assignments of ``judge``, the last first, each with ``newest``, its newest judgement."""
    found = list(_judged(judge))
    newest = {row.assignment_id: row for row in Judgement.objects.filter(pk__in=[each.newest_pk for each in found])}
    for each in found:
        setattr(each, "newest", newest[each.pk])  # noqa: B010  # not a field of the model
    return found


def progress_of(judge: CampaignJudge) -> Progress:
    """How far ``judge`` is."""
    practice = Q(kind=Kind.CALIBRATION)
    counts = Assignment.objects.filter(judge=judge).aggregate(
        done=Count("pk", filter=~practice & Q(state=State.DONE)),
        left=Count("pk", filter=~practice & Q(state=State.OPEN)),
        calibration_left=Count("pk", filter=practice & Q(state=State.OPEN)),
    )
    judged = Judgement.objects.filter(assignment__judge=judge).exclude(assignment__kind=Kind.CALIBRATION)
    newest = judged.order_by("assignment_id", "-number").distinct("assignment_id")
    seconds = list(newest.values_list("seconds", flat=True))
    is_timed = len(seconds) >= TIMED_LEAST
    return Progress(
        done=counts["done"],
        total=counts["done"] + counts["left"],
        calibration_left=counts["calibration_left"],
        seconds_left=round(median(seconds) * counts["left"]) if is_timed else None,
    )


def feedback_of(assignment: Assignment, value: dict[str, Any]) -> tuple[bool, str]:
    """Whether the judgement of a calibration was as expected, and the explanation in the reader's language.

    As expected: the bad output was not chosen and is not tied with a good one; alone, it got less than half of the
    scale.
    """
    bad, explanation = assignment.bad_index or 0, assignment.item.explanation
    if "choice" in value:
        return value["choice"] == ("second" if bad == 0 else "first"), explanation
    if "ranks" in value:
        return all(rank < value["ranks"][bad] for place, rank in enumerate(value["ranks"]) if place != bad), explanation
    if "scores" in value:
        return _share_of_scale(assignment.campaign, value["scores"]) < WORST_SHARE, explanation
    return value["score"] / 100 < WORST_SHARE, explanation


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
        campaign, judge = _lock_own(assignment.judge, actor, may_be_closed=True)
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
        _note_calibrated(judge, entered.now)
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
    if campaign.closed_at is not None:
        raise CampaignNotOpen
    if judge.consented_at is None:
        raise ConsentMissing
    if row.state == State.VOID or not disqualified_labels(campaign).isdisjoint(row.systems):
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


def _lock_own(judge: CampaignJudge, actor: User, *, may_be_closed: bool = False) -> tuple[Campaign, CampaignJudge]:
    """The campaign, open, and the judge, who is ``actor``, both locked, in the caller's transaction."""
    if judge.user_id != actor.pk:
        raise JudgeNotFound
    campaign = lock_campaign_shared(judge.campaign_id)
    fresh = lock_judge(judge.pk)
    if fresh.user_id != actor.pk:
        raise JudgeNotFound
    if fresh.removed_at is not None:
        raise JudgeRemoved
    if permissions_of(actor, campaign.track.competition):
        raise JudgeIsOrganiser
    if campaign.opened_at is None or (campaign.closed_at is not None and not may_be_closed):
        raise CampaignNotOpen
    return campaign, fresh


def _fresh(assignment: Assignment, judge: CampaignJudge) -> Assignment:
    """The assignment as it is now. Raises ``AssignmentNotFound`` for one that ``judge`` was not shown."""
    row = _with_item(judge).filter(pk=assignment.pk, first_shown_at__isnull=False).first()
    if row is None:
        raise AssignmentNotFound
    return row


def _with_item(judge: CampaignJudge) -> QuerySet[Assignment]:
    rows = Assignment.objects.filter(judge=judge)
    return rows.select_related("item", "judge__campaign__rubric", "judge__campaign__track__competition", "campaign")


def _open_rows(judge: CampaignJudge) -> QuerySet[Assignment]:
    """The open assignments in their order; calibration stands first (``design_rows.QUEUE_START``)."""
    return _with_item(judge).filter(state=State.OPEN).order_by("position")


def _void_disqualified(campaign: Campaign, judge: CampaignJudge) -> None:
    """Make the judge's open assignments with a team that was disqualified void; others' are theirs to pass over."""
    labels = disqualified_labels(campaign)
    if labels:
        rows = Assignment.objects.filter(judge=judge, state=State.OPEN).only("systems")
        out = [row.pk for row in rows if not labels.isdisjoint(row.systems)]
        JudgementDraft.objects.filter(assignment__in=out).delete()
        if Assignment.objects.filter(pk__in=out).update(state=State.VOID, void_reason=VoidReason.DISQUALIFIED):
            facts = {"systems": sorted(labels), "assignments": len(out)}
            audit.record(actor=None, action="campaign.void_assignments", obj=campaign, after=facts)


def _note_calibrated(judge: CampaignJudge, now: datetime) -> None:
    """Note the moment when no practice is left."""
    practice = Assignment.objects.filter(judge=judge, kind=Kind.CALIBRATION, state=State.OPEN)
    if judge.calibrated_at is None and not practice.exists():
        judge.calibrated_at = now
        judge.save(update_fields=["calibrated_at"])


def _judged(judge: CampaignJudge) -> Any:
    """The judged assignments, practice left out, the last judged first."""
    moments = Judgement.objects.filter(assignment=OuterRef("pk")).order_by("-number")
    rows = _with_item(judge).filter(state=State.DONE).exclude(kind=Kind.CALIBRATION)
    return rows.annotate(
        judged_at=Subquery(moments.values("created_at")[:1]), newest_pk=Subquery(moments.values("pk")[:1])
    ).order_by("-judged_at", "-newest_pk")


def _share_of_scale(campaign: Campaign, scores: dict[str, int]) -> float:
    """Where ``scores`` stand between the lowest (0) and the highest (1), by the weights of the criteria."""
    rows = campaign.rubric.criteria
    parts = [row["weight"] * (scores[row["key"]] - row["low"]) / (row["high"] - row["low"]) for row in rows]
    return float(sum(parts) / sum(row["weight"] for row in rows))
