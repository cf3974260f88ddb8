"""The only definition of which submissions count."""

from __future__ import annotations

from typing import Any, Self

from django.db.models import QuerySet

from malpan.competitions.models import Competition


class SubmissionQuerySet(QuerySet[Any]):
    """Submissions, as ``Submission.objects``."""

    def charged(self) -> Self:
        """Those that every page counts as submissions: all but the refunded ones. A withdrawn one stays charged."""
        return self.filter(refunded_at=None)

    def counting(self) -> Self:
        """Those whose score can count: neither refunded nor withdrawn."""
        return self.charged().filter(withdrawn_at=None)

    def of(self, competition: Competition) -> Self:
        """Those of all phases of ``competition``."""
        return self.filter(phase__track__competition=competition)
