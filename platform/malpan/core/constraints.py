"""The constraint behind an ``IntegrityError``: the database decides races, and the service raises a named error."""

from __future__ import annotations

from django.db import IntegrityError


def violated_constraint(error: IntegrityError) -> str | None:
    """The name of the constraint, or ``None`` if the driver does not give it."""
    diagnosis = getattr(error.__cause__, "diag", None)
    return getattr(diagnosis, "constraint_name", None)
