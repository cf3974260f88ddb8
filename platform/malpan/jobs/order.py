"""The order of the queue: live work before rescoring, figures last, and in each lane the flows take turns.

A flow is a team or a rescoring batch. The order is *self-clocked fair queueing* (S. J. Golestani, "A self-clocked fair
queueing scheme for broadband applications", INFOCOM 1994). A job gets a tag when it is queued,

    tag = max(virtual time, tag of the last job that its flow has waiting) + cost in tokens,

and the smallest tag is taken first, then the older job. The virtual time is the highest tag taken so far in the lane.
So a team with ten files gets as many tokens computed in the same time as one with two; a small job passes a huge one;
and a huge one starts after each other flow had as many tokens as it costs, however many jobs arrive. A retried job
keeps its tag.

If two jobs of one flow are queued at the same moment without a lock, their tags may have the same start: the flow gains
the cost of one job once, with no other effect. Uploads and retries hold the team's lock. Tags grow by the queued
tokens: 64 bits are enough for a hundred million runs of the largest file, a thousand times over.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import accumulate
from typing import Final

from django.db.models import Max

from malpan.jobs.models import Job

FAIR_ORDER: Final = ("lane", "fair_tag", "pk")  # as in the index ``job_fair_order``


def assign_fair_tags(costs: Iterable[int], start: int) -> list[int]:
    """The tags of jobs of one flow that are served in this order; ``start`` is the result of ``next_fair_tag``."""
    return list(accumulate(costs, initial=start))[1:]


def next_fair_tag(flow: str, lane: int) -> int:
    """The tag at which the next job of ``flow`` starts, without its own cost. Two queries."""
    in_lane = Job.objects.filter(lane=lane)
    tags = (
        in_lane.filter(attempt__gt=0).aggregate(tag=Max("fair_tag"))["tag"],  # the virtual time
        in_lane.filter(flow=flow, state=Job.State.QUEUED).aggregate(tag=Max("fair_tag"))["tag"],
    )
    return max(tag or 0 for tag in tags)
