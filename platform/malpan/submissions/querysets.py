"""The only definition of which submissions count, for queries. Why one does not, a row says itself: ``refunded_at``,
``withdrawn_at``.
"""

from __future__ import annotations

from typing import Any, Self

from django.db.models import Q, QuerySet

from malpan.competitions.models import Competition


def charged(path: str = "") -> Q:
    """Those that every page counts as submissions: all but the refunded ones. A withdrawn one stays charged.

    ``path`` leads to the submission from the rows of another query, such as ``submissions__``.
    """
    return Q(**{f"{path}refunded_at": None})


def counting(path: str = "") -> Q:
    """Those whose score can count: neither refunded nor withdrawn. ``path`` as for ``charged``."""
    return charged(path) & Q(**{f"{path}withdrawn_at": None})


class SubmissionQuerySet(QuerySet[Any]):
    """Submissions, as ``Submission.objects``."""

    def charged(self) -> Self:
        """As the function ``charged``."""
        return self.filter(charged())

    def counting(self) -> Self:
        """As the function ``counting``."""
        return self.filter(counting())

    def of(self, competition: Competition) -> Self:
        """Those of all phases of ``competition``."""
        return self.filter(phase__track__competition=competition)
