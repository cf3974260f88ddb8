"""The one definition of which submissions count."""

from __future__ import annotations

from django.db.models import QuerySet

from malpan.submissions.models import Submission


def counting(submissions: QuerySet[Submission]) -> QuerySet[Submission]:
    """Those whose score can count: not refunded, not withdrawn."""
    return submissions.filter(refunded_at=None, withdrawn_at=None)
