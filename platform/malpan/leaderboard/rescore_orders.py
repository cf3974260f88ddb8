"""Rescoring batches that are applied by themselves: the housekeeper carries out what was ordered when it is due."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from malpan.accounts.models import User
from malpan.competitions.errors import NotAllowed
from malpan.competitions.permissions import Permission, may
from malpan.core.errors import RequestError
from malpan.leaderboard.rescore_preview import preview
from malpan.submissions.models import RescoreBatch, RescoreOrder
from malpan.submissions.rescoring import deltas, orders
from malpan.submissions.rescoring import services as rescoring
from malpan.submissions.rescoring.errors import BatchPlacesChange

logger = logging.getLogger(__name__)


def carry_out_due() -> int:
    """Apply the batches that are ready and were ordered to be applied, each in a transaction of its own; returns how
    many. An order that cannot be carried out as it was given ends with the reason, and who gave it is told.

    Of two housekeepers at once the second waits for the first, and finds the order carried out.
    """
    return sum(_carry_out(order) for order in orders.due_orders())


def _carry_out(order: RescoreOrder) -> bool:
    try:
        rescoring.apply_batch(
            batch=order.batch,
            actor=order.ordered_by,
            order=order,
            check=lambda held: _require_as_ordered(held, order),
            **orders.choices_of(order),
        )
    except RequestError as error:
        orders.refuse_order(order=order, error=error)
        return False
    except Exception:  # of the server: nothing is changed, it is tried again, and other orders do not wait for it
        logger.exception("the rescoring %s was not applied as ordered", order.batch_id)
        return False
    return True


def _require_as_ordered(held: Sequence[RescoreBatch], order: RescoreOrder) -> None:
    """Raise ``NotAllowed`` if who gave the order may no longer apply, and ``BatchPlacesChange`` if the first places
    that they want to look at change. Call it with the batches locked.
    """
    person = User.objects.get(pk=order.ordered_by_id)
    if not may(person, held[0].phase.track.competition, Permission.MANAGE):
        raise NotAllowed(permission=str(Permission.MANAGE))
    for batch in held:
        if changed := deltas.places_changed(preview(batch).moves, order.guarded_places):
            raise BatchPlacesChange(places=order.guarded_places, changed=changed)
