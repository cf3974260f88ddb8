"""Orders to apply a rescoring batch by itself as soon as its runs are finished, with the choices of who ordered it.

waiting → applied | withdrawn | refused. An order changes only while its batch is locked. The housekeeper carries out
what is due (``leaderboard.rescore_orders``), as the person who ordered it; who applies or cancels the batch meanwhile
withdraws the order with it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from malpan.accounts.models import User
from malpan.core import audit
from malpan.core.errors import DomainError
from malpan.submissions.models import RescoreBatch, RescoreOrder
from malpan.submissions.rescoring import apply, batches, letters
from malpan.submissions.rescoring.apply import NO_ANNOUNCEMENT, Announcement
from malpan.submissions.rescoring.errors import (
    BatchClosed,
    BatchNeverApplies,
    BatchNotOrdered,
    BatchNotReady,
    BatchOrderedAlready,
)
from malpan.submissions.scoring_config import scoring_config_of

State = RescoreOrder.State
PLACES: Final = 3  # of which a changed order wants to be looked at, unless somebody says otherwise


def order_application(
    *,
    batch: RescoreBatch,
    actor: User,
    guarded_places: int = PLACES,
    resets_quota: bool = False,
    grants_slots: int = 0,
    announcement: Announcement = NO_ANNOUNCEMENT,
    leaves_other_phases: bool = False,
) -> RescoreOrder:
    """Have ``batch`` applied when its runs are finished, unless the order of the first ``guarded_places`` on the board
    would change (0: whatever changes). The other choices are those of ``services.apply_batch``.

    Raises ``BatchClosed``, ``BatchOrderedAlready``, and what already refuses an application that does not change by
    waiting: ``BatchNeverApplies``, ``BatchNotReady`` after failures, ``BatchOutdated``, ``BatchHurtsOtherPhases``.
    """
    with transaction.atomic():
        held = batches.lock_open_together(batch)
        if waiting_order(batch) is not None:
            raise BatchOrderedAlready
        _refuse_hopeless(held, leaves_other_phases=leaves_other_phases)
        order = RescoreOrder.objects.create(
            batch=held[0],
            ordered_by=actor,
            guarded_places=guarded_places,
            resets_quota=resets_quota,
            grants_slots=grants_slots,
            leaves_other_phases=leaves_other_phases,
            title_ko=announcement.title_ko,
            title_en=announcement.title_en,
            body_ko=announcement.body_ko,
            body_en=announcement.body_en,
        )
        audit.record(actor=actor, action="rescoring.order", obj=order.batch, after=_facts(order))
    return order


def withdraw_order(*, batch: RescoreBatch, actor: User) -> RescoreOrder:
    """Take the order back, whoever gave it: the batch waits for somebody to apply it. Returns the order.

    Raises ``BatchClosed``, and ``BatchNotOrdered`` without a waiting order.
    """
    with transaction.atomic():
        batches.lock_open_together(batch)
        order = waiting_order(batch)
        if order is None:
            raise BatchNotOrdered
        _end(order, State.WITHDRAWN, actor)
        audit.record(
            actor=actor,
            action="rescoring.withdraw_order",
            obj=order.batch,
            before=_facts(order),
            person=order.ordered_by,
        )
    return order


def refuse_order(*, order: RescoreOrder, error: DomainError) -> bool:
    """End ``order``, which ``error`` kept from being carried out, and tell who gave it. Returns false, and changes
    nothing, if it is over already or its batch has runs to wait for again.
    """
    with transaction.atomic():
        try:
            held = batches.lock_open_together(order.batch)
        except BatchClosed:
            return False
        if not _is_waiting(order) or not _are_decided(held):
            return False
        order.refusal = {"code": error.code, "params": error.params}
        _end(order, State.REFUSED, None)
        after = _facts(order) | {"reason": error.code}
        audit.record(actor=None, action="rescoring.refuse_order", obj=order.batch, after=after, person=order.ordered_by)
    return True


def due_orders() -> list[RescoreOrder]:
    """The waiting orders of batches for which waiting longer changes nothing, the oldest first. One query without any
    order, and one for each.
    """
    waiting = RescoreOrder.objects.filter(state=State.WAITING).order_by("pk")
    rows = waiting.select_related("batch__phase__track__competition", "ordered_by")
    return [order for order in rows if _are_decided(batches.together(order.batch))]


def waiting_order(batch: RescoreBatch) -> RescoreOrder | None:
    """The order that waits for the runs of ``batch`` and of those started together with it, if there is one."""
    return _orders_about(batch).filter(state=State.WAITING).first()


def ordered_among(found: Iterable[RescoreBatch]) -> set[int]:
    """The numbers of those that a waiting order was given about, of a group the one it was given at. No query without
    any.
    """
    numbers = [each.pk for each in found]
    if not numbers:
        return set()
    rows = RescoreOrder.objects.filter(state=State.WAITING, batch__in=numbers)
    return set(rows.values_list("batch", flat=True))


def last_order(batch: RescoreBatch) -> RescoreOrder | None:
    """The newest order about ``batch``, whatever came of it."""
    return _orders_about(batch).order_by("-pk").first()


def choices_of(order: RescoreOrder) -> dict[str, Any]:
    """What ``services.apply_batch`` is asked for by ``order``."""
    return {
        "resets_quota": order.resets_quota,
        "grants_slots": order.grants_slots,
        "leaves_other_phases": order.leaves_other_phases,
        "announcement": Announcement(order.title_ko, order.body_ko, order.title_en, order.body_en),
    }


def require_waiting(order: RescoreOrder) -> None:
    """Raise ``BatchNotOrdered`` if ``order`` is over. Call it with its batch locked."""
    if not _is_waiting(order):
        raise BatchNotOrdered


def end_with(batch: RescoreBatch, *, actor: User, carried_out: RescoreOrder | None = None) -> None:
    """End the waiting order of ``batch``, which is locked and applied or cancelled now: as ``carried_out`` or, if that
    is another way, as withdrawn by ``actor``.
    """
    if carried_out is not None:
        _end(carried_out, State.APPLIED, None)
    elif (order := waiting_order(batch)) is not None:
        _end(order, State.WITHDRAWN, actor)


def _orders_about(batch: RescoreBatch) -> QuerySet[RescoreOrder]:
    """Those that apply it; of batches that were started together each is about all."""
    about = Q(batch=batch)
    if batch.group is not None:
        about |= Q(batch__group=batch.group)
    return RescoreOrder.objects.filter(about).select_related("batch", "ordered_by", "ended_by")


def _are_decided(found: Iterable[RescoreBatch]) -> bool:
    return all(batches.progress_of(each).is_decided for each in found)


def _refuse_hopeless(held: Sequence[RescoreBatch], *, leaves_other_phases: bool) -> None:
    for batch in held:
        if batch.repeats > 1:
            raise BatchNeverApplies
        progress = batches.progress_of(batch)
        if progress.is_decided and not progress.is_complete:
            raise BatchNotReady(unfinished=progress.unfinished, failed=progress.failed)
        apply.refuse_outdated(batch, scoring_config_of(batch.phase, batch))
    if not leaves_other_phases:
        apply.refuse_other_phases(held[0])


def _is_waiting(order: RescoreOrder) -> bool:
    return RescoreOrder.objects.filter(pk=order.pk, state=State.WAITING).exists()


def _end(order: RescoreOrder, state: State, actor: User | None) -> None:
    """End it, and tell who gave it unless they did so themselves."""
    order.state, order.ended_at, order.ended_by = state, timezone.now(), actor
    order.save(update_fields=["state", "ended_at", "ended_by", "refusal"])
    if actor is None or actor.pk != order.ordered_by_id:
        letters.tell_of_order(order)


def _facts(order: RescoreOrder) -> dict[str, Any]:
    """The facts of an order for the audit log."""
    names = ("guarded_places", "resets_quota", "grants_slots", "leaves_other_phases")
    facts = {name: getattr(order, name) for name in names}
    return facts | {"notice_title_ko": order.title_ko, "ordered_at": order.ordered_at.isoformat()}
