"""Which files of different teams are nearly equal, as a worker found."""

from django.db import models

from malpan.competitions.models import Phase
from malpan.jobs.models import Job


class AlikeFiles(models.Model):
    """What comparing the best files of the teams of a phase found (``integrity.alike``), for its organisers alone.

    ``basis`` is a hash of all that was compared. ``pairs`` are those of ``integrity.similarity``, the most alike first,
    their names the keys of submissions. ``unread`` of the ``teams`` files could not be read. ``computed_at`` is empty
    before the first result; ``has_failed``: the last computation was given up, and there is none.
    """

    phase = models.OneToOneField(Phase, on_delete=models.CASCADE, primary_key=True, related_name="+")
    job = models.OneToOneField(Job, null=True, on_delete=models.SET_NULL, related_name="+")
    basis = models.CharField(max_length=64, blank=True)
    pairs = models.JSONField(default=list)
    teams = models.PositiveIntegerField(default=0)
    unread = models.PositiveIntegerField(default=0)
    has_failed = models.BooleanField(default=False)
    seconds = models.FloatField(default=0.0)  # that the last computation took
    computed_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"{self.phase_id}"
