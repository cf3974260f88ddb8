"""Reads of one row."""

from __future__ import annotations

from typing import TypeVar

from django.core.exceptions import ObjectDoesNotExist
from django.db import models

Row = TypeVar("Row")


def only(rows: models.QuerySet[models.Model, Row]) -> Row | None:
    """The row of ``rows``, of which a constraint allows no second one; ``None`` if there is none.

    ``rows.first()`` would put them in an order, which takes longer to write than all else of such a query.
    """
    try:
        return rows.get()
    except ObjectDoesNotExist:
        return None
