"""Which database constraint an ``IntegrityError`` broke: races are decided by the database and named by the service."""

from __future__ import annotations

from django.db import IntegrityError


def violated_constraint(error: IntegrityError) -> str | None:
    """The name of the constraint, or ``None`` where the driver does not tell."""
    diagnosis = getattr(error.__cause__, "diag", None)
    return getattr(diagnosis, "constraint_name", None)
