"""The only definition of which submissions count."""

from __future__ import annotations

from typing import Any, Self

from django.db.models import Q, QuerySet

from malpan.competitions.models import Competition


def charged(path: str = "") -> Q:
    """Those that every page counts as submissions: all but the refunded ones. A withdrawn one stays charged.

    ``path`` leads to the submission from the rows of another query, such as ``submissions__``.
    """
    return Q(**{f"{path}refunded_at": None})


class SubmissionQuerySet(QuerySet[Any]):
    """Submissions, as ``Submission.objects``."""

    def charged(self) -> Self:
        """As the function ``charged``."""
        return self.filter(charged())

    def counting(self) -> Self:
        """Those whose score can count: neither refunded nor withdrawn."""
        return self.charged().filter(withdrawn_at=None)

    def of(self, competition: Competition) -> Self:
        """Those of all phases of ``competition``."""
        return self.filter(phase__track__competition=competition)
