"""Whose turn it is: live work before rescoring, and in each lane the flows take turns.

A flow is a team or a rescoring batch. The order is *self-clocked fair queueing* (S. J. Golestani, "A self-clocked fair
queueing scheme for broadband applications", INFOCOM 1994). A job gets a tag when it is queued,

    tag = max(virtual time, tag of the last job that its flow has waiting) + cost in tokens,

and the smallest tag is taken first, then the older job. The virtual time is the highest tag taken so far in the lane.
So a team that sends ten files gets as many tokens done in a while as one that sends two; a small job passes a huge one;
and a huge one is reached after the others have had its worth of tokens each, however many come. A job that is tried
again keeps its tag.

Two jobs of one flow that are queued in the very same moment without a lock on it may get tags of the same start: the
flow gains the cost of one job once, and nothing else happens. Uploads and retries hold the team's lock. Tags grow by
the tokens that are queued: 64 bits last for a hundred million runs of the largest file, a thousand times over.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import accumulate
from typing import Final

from django.db.models import Max

from malpan.jobs.models import Job

FAIR_ORDER: Final = ("lane", "fair_tag", "pk")  # as the index ``job_fair_order`` has it


def assign_fair_tags(costs: Iterable[int], start: int) -> list[int]:
    """The tags of jobs of one flow that are served in this order; ``start`` is what ``next_fair_tag`` says."""
    return list(accumulate(costs, initial=start))[1:]


def next_fair_tag(flow: str, lane: int) -> int:
    """Where in the fair order the next job of ``flow`` begins: before its own cost is added. Two queries."""
    in_lane = Job.objects.filter(lane=lane).order_by()
    tags = (
        in_lane.filter(attempt__gt=0).aggregate(tag=Max("fair_tag"))["tag"],  # the virtual time
        in_lane.filter(flow=flow, state=Job.State.QUEUED).aggregate(tag=Max("fair_tag"))["tag"],
    )
    return max(tag or 0 for tag in tags)
