"""When a chore of the site was last done, and what came of it: what its operators are told of (``operation``)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.utils import timezone

from malpan.core.models import Chore


def record_chore(*, name: Chore.Name, facts: Mapping[str, Any]) -> Chore:
    """Write that the chore ``name`` is done, in the place of the time before. No audit entry: it changes no contest."""
    chore, _is_new = Chore.objects.update_or_create(
        name=name, defaults={"done_at": timezone.now(), "facts": dict(facts)}
    )
    return chore


def last_chores() -> dict[str, Chore]:
    """The last time of each chore that was ever done, by name. One query."""
    return {chore.name: chore for chore in Chore.objects.all()}
