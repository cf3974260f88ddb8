"""Reads of campaigns, rubrics, judges and results."""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, cast

from django.contrib.auth.models import AnonymousUser
from django.db.models import Count, Exists, OuterRef, Q, QuerySet, Value

from malpan.arena.disqualified import disqualified_labels, disqualified_systems
from malpan.arena.errors import (
    CampaignNotFound,
    ExclusionNotFound,
    JudgeNotFound,
    JudgeRemoved,
    ResultNotFound,
    RubricNotFound,
)
from malpan.arena.models import Assignment, Campaign, CampaignJudge, CampaignResult, CampaignSystem, Exclusion, Rubric
from malpan.arena.systems import unfitness
from malpan.competitions.models import Competition, Track
from malpan.core.database.prepared import Prepared
from malpan.core.storage import read_private
from malpan.submissions.models import Submission
from malpan.teams.models import Membership, Team

if TYPE_CHECKING:
    from malpan.accounts.models import User

DOCUMENTS_KEPT: Final = 8  # in the memory of a process


def campaigns_of(competition: Competition) -> list[Campaign]:
    """Every campaign of ``competition``, by track, the newest first, for the manage pages."""
    return list(_campaigns(competition).order_by("track__position", "track", "-number"))


def campaign_of(competition: Competition, pk: int) -> Campaign:
    """One campaign, with track, phase and rubric, for the manage pages. Raises ``CampaignNotFound``."""
    return _found(_CAMPAIGN.only(competition.pk, pk))


def teams_of_judges(competition: Competition, judges: Iterable[CampaignJudge]) -> dict[int, list[Team]]:
    """The teams of ``competition`` that ``judges`` are members of, by the primary key of the judge; of who is in none
    there is no entry. One query.
    """
    people = {judge.user_id: judge.pk for judge in judges if judge.user_id is not None}
    rows = Membership.objects.filter(user__in=people, team__competition=competition).select_related("team")
    found: dict[int, list[Team]] = {}
    for row in rows.order_by("team__number"):
        found.setdefault(people[row.user_id], []).append(row.team)
    return found


def public_campaigns(competition: Competition) -> list[Campaign]:
    """The campaigns that everybody may know of: open, closed or published ones."""
    rows = _campaigns(competition).filter(opened_at__isnull=False)
    return list(rows.order_by("track__position", "track", "-number"))


def has_campaign() -> Exists:
    """For a query of tracks: whether each has a campaign. Everybody may know something of each: of a draft its
    protocol and its rubric.
    """
    return Exists(Campaign.objects.filter(track=OuterRef("pk")))


def drafts_to_come(competition: Competition) -> list[Campaign]:
    """A draft of each protocol and rubric that the drafts of ``competition`` have, by track."""
    rows = _campaigns(competition).filter(opened_at=None).order_by("track__position", "track", "number")
    return list({(row.track_id, row.protocol, row.rubric_id): row for row in rows}.values())


def public_campaign(competition: Competition, track_slug: str, number: int) -> Campaign:
    """One of ``public_campaigns``. Raises ``CampaignNotFound``."""
    return _found(_PUBLIC_CAMPAIGN.only(competition.pk, track_slug, number))


def rubrics_of(track: Track) -> list[Rubric]:
    """The versions of the rubric of ``track``, the newest first."""
    return list(Rubric.objects.filter(track=track).select_related("created_by").order_by("-number"))


def rubric_of(competition: Competition, pk: int) -> Rubric:
    """One version. Raises ``RubricNotFound``."""
    rows = Rubric.objects.filter(pk=pk, track__competition=competition).select_related("track__competition")
    rubric = rows.first()
    if rubric is None:
        raise RubricNotFound
    return rubric


def gone_since(result: CampaignResult) -> list[str]:
    """The teams in the standing of ``result`` that do not count any more: disqualified since, or the submission was
    taken back.
    """
    gone = disqualified_systems(result.campaign)
    return [gone[row["label"]].submission.team.name for row in result.rows if row["label"] in gone]


def back_since(result: CampaignResult) -> list[str]:
    """The teams left out of ``result`` that count again: reinstated since. Raises the faults of ``core.storage``."""
    left_out = [row for row in result_document(result)["unranked"] if not row["counts"]]
    gone = disqualified_labels(result.campaign) if left_out else frozenset()
    return [row["name"] for row in left_out if row["label"] not in gone]


def judges_of(campaign: Campaign) -> list[Any]:
    """The judges with their user, in the order of their invitations, each with ``done`` and ``total`` of its queue:
    assignments that are judged, and those that are or can be; practice is not counted.
    """
    counted = ~Q(assignments__kind=Assignment.Kind.CALIBRATION)
    done = Q(assignments__state=Assignment.State.DONE)
    rows = CampaignJudge.objects.filter(campaign=campaign).select_related("user", "rubric")
    rows = rows.annotate(
        done=Count("assignments", filter=counted & done),
        total=Count("assignments", filter=counted & ~Q(assignments__state=Assignment.State.VOID)),
    )
    return list(rows.order_by("invited_at", "pk"))


def judge_of(campaign: Campaign, pk: int) -> CampaignJudge:
    """One judge. Raises ``JudgeNotFound``."""
    judge = CampaignJudge.objects.filter(campaign=campaign, pk=pk).select_related("user", "campaign__track").first()
    if judge is None:
        raise JudgeNotFound
    return judge


def judge_for(user: User | AnonymousUser, campaign_pk: int, *, may_be_removed: bool = False) -> CampaignJudge:
    """``user`` as a judge of a campaign, with campaign, track, competition and rubric.

    Raises ``CampaignNotFound`` for everybody else, ``JudgeRemoved`` unless the caller looks at that.
    """
    judge = _JUDGE.only(user.pk, campaign_pk) if user.is_authenticated and user.is_active else None
    if judge is None:
        raise CampaignNotFound
    if judge.removed_at is not None and not may_be_removed:
        raise JudgeRemoved
    return judge


def campaigns_to_judge(user: User | AnonymousUser) -> list[CampaignJudge]:
    """``user`` as a judge, in every campaign that they accepted and were not removed from, the newest first."""
    if not user.is_authenticated or not user.is_active:
        return []
    return list(_judging(user.pk).filter(removed_at=None).order_by("-accepted_at", "-pk"))


def exclusions_of(campaign: Campaign) -> list[Exclusion]:
    """Every exclusion, lifted ones too, the newest first."""
    return list(_exclusions(campaign).order_by("-created_at", "-pk"))


def exclusion_of(campaign: Campaign, pk: int) -> Exclusion:
    """One exclusion. Raises ``ExclusionNotFound``."""
    found = _exclusions(campaign).filter(pk=pk).first()
    if found is None:
        raise ExclusionNotFound
    return found


def results_of(campaign: Campaign) -> list[CampaignResult]:
    """What was published, the newest first."""
    rows = CampaignResult.objects.filter(campaign=campaign).select_related("published_by")
    return list(rows.order_by("-number"))


def is_outdated(campaign: Campaign) -> bool:
    """Whether judges or judgements were left out, or taken back, since the result of ``campaign`` was published."""
    newest = newest_result(campaign)
    if newest is None:
        return False
    since = Q(created_at__gt=newest.published_at, lifted_at=None) | Q(
        created_at__lte=newest.published_at, lifted_at__gt=newest.published_at
    )
    return Exclusion.objects.filter(since, campaign=campaign).exists()


def newest_result(campaign: Campaign) -> CampaignResult | None:
    """The result that is shown."""
    rows = CampaignResult.objects.filter(campaign=campaign).select_related("published_by")
    return rows.order_by("-number").first()


def result_of(campaign: Campaign, number: int | None = None) -> CampaignResult:
    """The result published as ``number``, by default the newest. Raises ``ResultNotFound``."""
    rows = CampaignResult.objects.filter(campaign=campaign).select_related("published_by")
    found = (rows if number is None else rows.filter(number=number)).order_by("-number").first()
    if found is None:
        raise ResultNotFound
    return found


def result_document(result: CampaignResult) -> dict[str, Any]:
    """The published result (``scoring.arena.result``), from its file. It is shared: change nothing in it.

    Raises the faults of ``core.storage``.
    """
    return _document(result.result_sha256)


def votes_bytes_of(result: CampaignResult) -> bytes:
    """The published votes file. Raises the faults of ``core.storage``."""
    return read_private(result.votes_sha256)


def result_bytes_of(result: CampaignResult) -> bytes:
    """The published result as the file that everybody downloads. Raises the faults of ``core.storage``."""
    return read_private(result.result_sha256)


def published_exclusions(result: CampaignResult) -> list[dict[str, Any]]:
    """What did not count in a published result, from its votes file: the ``judge`` by label or the number of the
    ``vote``, and the ``reason``. Raises the faults of ``core.storage``.
    """
    return cast("list[dict[str, Any]]", _document(result.votes_sha256)["exclusions"])


def submission_choices(campaign: Campaign) -> list[tuple[Submission, bool]]:
    """The submissions of the phase that may be systems, by team, each team's best first; and whether it is chosen."""
    chosen = set(CampaignSystem.objects.filter(campaign=campaign).values_list("submission", flat=True))
    rows = Submission.objects.counting().filter(phase=campaign.phase_id)
    rows = rows.select_related("team", "live_run").order_by("team__number", "-live_run__final_score", "created_at")
    return [(row, row.pk in chosen) for row in rows if not unfitness(row, campaign.phase)]


def progress_of_campaign(campaign: Campaign) -> tuple[int, int]:
    """How many assignments are judged, and how many are or can be; practice is not counted."""
    rows = Assignment.objects.filter(campaign=campaign).exclude(kind=Assignment.Kind.CALIBRATION)
    is_done, is_void = Q(state=Assignment.State.DONE), Q(state=Assignment.State.VOID)
    found = rows.aggregate(done=Count("pk", filter=is_done), total=Count("pk", filter=~is_void))
    return found["done"], found["total"]


@lru_cache(maxsize=DOCUMENTS_KEPT)
def _document(sha256: str) -> dict[str, Any]:
    return cast("dict[str, Any]", json.loads(read_private(sha256)))


def _campaigns(competition: Competition | int) -> QuerySet[Campaign]:
    rows = Campaign.objects.filter(track__competition=competition)
    return rows.select_related("track__competition", "phase", "rubric")


_CAMPAIGN: Final = Prepared(lambda competition, pk: _campaigns(competition).filter(pk=pk).order_by(), int, int)


def _public(competition: int, track_slug: str, number: int) -> QuerySet[Campaign]:
    rows = _campaigns(competition).filter(opened_at__isnull=False, track__slug=track_slug)
    return rows.filter(number=Value(number)).order_by()  # as a value it may be one that the column has no room for


_PUBLIC_CAMPAIGN: Final = Prepared(_public, int, str, int)


def _found(found: Campaign | None) -> Campaign:
    if found is None:
        raise CampaignNotFound
    return found


def _judging(user: int) -> QuerySet[CampaignJudge]:
    """Where the person with this key is a judge who accepted."""
    rows = CampaignJudge.objects.filter(user=user, accepted_at__isnull=False)
    return rows.select_related("campaign__track__competition", "campaign__rubric", "user", "rubric")


_JUDGE: Final = Prepared(lambda user, campaign: _judging(user).filter(campaign=campaign).order_by(), int, int)


def _exclusions(campaign: Campaign) -> QuerySet[Exclusion]:
    rows = Exclusion.objects.filter(campaign=campaign)
    return rows.select_related("judge__user", "judgement__assignment__judge", "by", "lifted_by")
