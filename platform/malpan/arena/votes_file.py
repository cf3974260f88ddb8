"""The votes of a campaign as everybody may have them: labels for judges and items, no names of people."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

from django.db.models import OuterRef, Subquery

from malpan.arena.design_rows import panel_at_opening, recorded_queues_sha256, settings_of
from malpan.arena.disqualified import disqualified_systems
from malpan.arena.institutions import institution_key
from malpan.arena.models import Assignment, Campaign, CampaignItem, CampaignJudge, CampaignSystem, Exclusion, Judgement
from malpan.arena.systems import systems_of
from malpan.leaderboard.boards import Reader, reader_of
from scoring.arena import votes as votes_module
from scoring.arena.vote_records import Protocol
from scoring.arena.votes import (
    ArenaItem,
    Criterion,
    DrawnDesign,
    Judge,
    System,
    Vote,
    Votes,
    VoteSettings,
)

WITHDRAWN = "철회하거나 무효로 한 제출 (withdrawn or refunded)"
DISQUALIFIED = "실격 (disqualified)"


def votes_of(campaign: Campaign, *, leave_out: Exclusion | None = None) -> Votes:
    """The judgements of ``campaign`` so far, calibration left out, corrections replaced by the newest, with the
    exclusions in force and the systems that do not count.

    Before the closing, judges have their label in the design and the settings have no seed of the campaign.
    ``leave_out``: an exclusion, not stored, as if it were in force.
    """
    return numbered_votes(campaign, leave_out=leave_out)[0]


def numbered_votes(campaign: Campaign, *, leave_out: Exclusion | None = None) -> tuple[Votes, dict[int, Assignment]]:
    """``votes_of``, and the assignment of each vote by its number."""
    label_of = _labels(campaign)
    rows = _in_order(_judged(campaign), label_of)
    numbers = {row.pk: number for number, row in enumerate(rows, start=1)}
    votes = Votes(
        campaign={
            "competition": campaign.track.competition.slug,
            "track": campaign.track.slug,
            "number": campaign.number,
            "title": campaign.title_ko,
        },
        protocol=cast("Protocol", campaign.protocol),
        systems=_systems(campaign),
        items=_items(campaign),
        judges=_judges(campaign, label_of),
        votes=tuple(_vote(row, numbers, label_of) for row in rows),
        criteria=_criteria(campaign),
        exclusions=_exclusions(campaign, numbers, label_of, leave_out),
        settings=_settings(campaign),
        design=_design(campaign),
    )
    return votes, dict(enumerate(rows, start=1))


def _settings(campaign: Campaign) -> VoteSettings:
    if campaign.closed_at is None:
        return VoteSettings(resamples=campaign.resamples)
    return VoteSettings(resamples=campaign.resamples, seed=campaign.seed)


def _design(campaign: Campaign) -> DrawnDesign | None:
    """What the queues can be drawn again from, once the seed is public. Bars are not published: they tell who a judge
    is; so it is ``None`` where there were any.
    """
    panel = panel_at_opening(campaign)
    if campaign.closed_at is None or not panel or any(judge.barred_at_opening for judge in panel):
        return None
    settings = settings_of(campaign)
    return DrawnDesign(
        group=settings.group,
        units_per_item=settings.units_per_item,
        judges_per_unit=settings.judges_per_unit,
        control_share=settings.control_share,
        repeat_share=settings.repeat_share,
        judges=len(panel),
        sha256=recorded_queues_sha256(campaign),
    )


def _judged(campaign: Campaign) -> list[Any]:
    """The judged assignments, each with ``value`` and ``seconds`` of its newest judgement; no repeat without its first,
    as there may be where a team was disqualified between the two.
    """
    newest = Judgement.objects.filter(assignment=OuterRef("pk")).order_by("-number")
    rows = Assignment.objects.filter(campaign=campaign, state=Assignment.State.DONE)
    rows = rows.exclude(kind=Assignment.Kind.CALIBRATION).select_related("item").defer("bad_text", "item__outputs")
    rows = rows.annotate(value=Subquery(newest.values("value")[:1]), seconds=Subquery(newest.values("seconds")[:1]))
    found = list(rows)
    judged = {row.pk for row in found}
    return [row for row in found if row.repeats_id is None or row.repeats_id in judged]


def _labels(campaign: Campaign) -> dict[int, str]:
    """The labels of the judges by their primary keys: what is published once the campaign is closed."""
    column = "design_label" if campaign.closed_at is None else "label"
    rows = CampaignJudge.objects.filter(campaign=campaign).exclude(**{column: ""})
    return dict(rows.values_list("pk", column))


def _in_order(rows: Iterable[Any], label_of: Mapping[int, str]) -> list[Any]:
    return sorted(rows, key=lambda row: (label_of[row.judge_id], row.position))


def _vote(row: Any, numbers: Mapping[int, int], label_of: Mapping[int, str]) -> Vote:
    return Vote(
        number=numbers[row.pk],
        judge=label_of[row.judge_id],
        item=row.item.label,
        systems=tuple(row.systems),
        value=row.value,
        kind=row.kind,
        bad=row.bad_index,
        repeats=None if row.repeats_id is None else numbers[row.repeats_id],
        seconds=row.seconds,
    )


def _systems(campaign: Campaign) -> tuple[System, ...]:
    reader = reader_of(campaign.phase, None)
    out = disqualified_systems(campaign)
    rows = sorted(systems_of(campaign), key=lambda row: row.label)
    return tuple(_system(row, reader, is_out=row.label in out) for row in rows)


def _system(row: CampaignSystem, reader: Reader, *, is_out: bool) -> System:
    team = row.submission.team
    reason = ""
    if is_out:
        reason = DISQUALIFIED if team.disqualified_at is not None else WITHDRAWN
    return System(row.label, reader.name_of(team), team.number, counts=not is_out, reason=reason)


def _items(campaign: Campaign) -> tuple[ArenaItem, ...]:
    rows = CampaignItem.objects.filter(campaign=campaign, kind=CampaignItem.Kind.REAL).order_by("label")
    return tuple(ArenaItem(label, stratum) for label, stratum in rows.values_list("label", "stratum"))


def _judges(campaign: Campaign, label_of: Mapping[int, str]) -> tuple[Judge, ...]:
    groups = institution_groups(campaign)
    return tuple(Judge(label_of[pk], groups[pk]) for pk in sorted(label_of, key=lambda pk: label_of[pk]))


def institution_groups(campaign: Campaign) -> dict[int, str]:
    """The group of the institution of each judge with a label, by primary key, empty without one; the groups are
    numbered in the order of the judges' labels.
    """
    label_of = _labels(campaign)
    institution_of = dict(CampaignJudge.objects.filter(pk__in=label_of).values_list("pk", "institution"))
    groups: dict[str, str] = {}
    found = {}
    for pk in sorted(label_of, key=lambda pk: label_of[pk]):
        name = institution_key(institution_of[pk])
        found[pk] = groups.setdefault(name, f"G{len(groups) + 1}") if name else ""
    return found


def _criteria(campaign: Campaign) -> tuple[Criterion, ...]:
    if campaign.protocol != Campaign.Protocol.RUBRIC:
        return ()
    return tuple(Criterion(each["key"], each["low"], each["high"], each["weight"]) for each in campaign.rubric.criteria)


def _exclusions(
    campaign: Campaign, numbers: Mapping[int, int], label_of: Mapping[int, str], leave_out: Exclusion | None
) -> tuple[votes_module.Exclusion, ...]:
    rows: Sequence[Exclusion] = list(
        Exclusion.objects.filter(campaign=campaign, lifted_at=None).select_related("judgement").order_by("pk")
    )
    found = []
    for row in [*rows, *([leave_out] if leave_out else [])]:
        if row.judge_id is not None and row.judge_id in label_of:
            found.append(votes_module.Exclusion(row.reason, judge=label_of[row.judge_id]))
        elif row.judgement is not None and row.judgement.assignment_id in numbers:
            found.append(votes_module.Exclusion(row.reason, vote=numbers[row.judgement.assignment_id]))
    return tuple(found)
