"""A campaign in preparation: its seed is committed at once and told to nobody, and its settings hold together."""

from __future__ import annotations

import hashlib
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from malpan.arena.campaigns import SETTINGS, TEXTS, create_campaign, remove_campaign, update_campaign
from malpan.arena.errors import CampaignOpened, CampaignSettingsInvalid, RubricUnfit
from malpan.arena.models import Campaign
from malpan.arena.systems import choose_top
from malpan.competitions.errors import ManageNotFound
from malpan.core.messages import text_of
from malpan.core.models import AuditEntry
from malpan.submissions.integrity import chain
from malpan.submissions.models import ChainEntry
from tests.arena.conftest import World
from tests.factories import PhaseFactory, UserFactory, person_in

pytestmark = pytest.mark.django_db


def steps(world: World) -> list[dict[str, Any]]:
    rows = ChainEntry.objects.filter(competition=world.competition, kind="arena").order_by("number")
    return [row.payload for row in rows]


def test_the_seed_is_committed_when_the_campaign_is_made(world: World) -> None:
    campaign = world.campaign()
    assert len(campaign.seed) == 64
    assert campaign.seed_sha256 == hashlib.sha256(campaign.seed.encode()).hexdigest()
    assert steps(world) == [
        {"track": world.track.slug, "campaign": 1, "event": "committed", "seed_sha256": campaign.seed_sha256}
    ]
    assert chain.verify(ChainEntry.objects.filter(competition=world.competition).order_by("number")) == []
    assert campaign.state == "draft"


def test_nobody_is_told_the_seed(world: World) -> None:
    campaign = world.campaign()
    update_campaign(campaign=campaign, actor=world.owner, title_ko="다른 제목")
    remove_campaign(campaign=campaign, actor=world.owner)
    written = str([(row.before, row.after) for row in AuditEntry.objects.all()])
    assert campaign.seed_sha256 in written
    assert campaign.seed not in written


def test_every_campaign_has_a_seed_and_a_number_of_its_own(world: World) -> None:
    first = world.campaign()
    remove_campaign(campaign=first, actor=world.owner)
    second, third = world.campaign(), world.campaign(title_ko="다른 평가")
    assert [first.number, second.number, third.number] == [1, 2, 3]  # what the chain has of the first stays its own
    assert len({first.seed, second.seed, third.seed}) == 3


def test_a_second_click_makes_no_second_campaign(world: World) -> None:
    now = timezone.now()
    first = world.campaign(masked_words=["말 모델"], ends_at=now + timedelta(days=3), now=now)
    again = world.campaign(masked_words=["말 모델"], ends_at=now + timedelta(days=3), now=now + timedelta(seconds=59))
    assert again.pk == first.pk
    assert len(steps(world)) == AuditEntry.objects.filter(action="campaign.create").count() == 1


@pytest.mark.parametrize("differs", ["a setting", "the person", "a minute", "it was used", "it was opened"])
def test_what_is_no_second_click_makes_a_campaign(world: World, differs: str) -> None:
    now = timezone.now()
    values: dict[str, Any] = {
        "title_ko": "평가",
        "protocol": "pairwise",
        "phase": world.phase,
        "rubric": world.rubric(),
    }
    if differs == "it was opened":
        first = world.opened(now=now)
        values = {name: getattr(first, name) for name in (*TEXTS, *SETTINGS)}
    else:
        first = create_campaign(track=world.track, actor=world.owner, now=now, **values)
    actor, moment = world.owner, now + timedelta(seconds=1)
    if differs == "a setting":
        values["item_count"] = 99
    elif differs == "the person":
        actor = person_in(world.competition, "owner")
    elif differs == "a minute":
        moment = now + timedelta(minutes=1)
    elif differs == "it was used":
        choose_top(campaign=first, actor=world.owner, count=2)
    create_campaign(track=world.track, actor=actor, now=moment, **values)
    assert list(Campaign.objects.order_by("number").values_list("number", flat=True)) == [1, 2]


def test_the_group_follows_from_the_protocol(world: World) -> None:
    sizes = {name: world.campaign(protocol=name, group_size=5).group_size for name in Campaign.Protocol.values}
    assert sizes == {"pairwise": 2, "rubric": 1, "errors": 1, "ranking": 5}


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ({"title_ko": ""}, "title_ko"),
        ({"notice_en": "x" * 50_001}, "notice_en"),
        ({"protocol": "guess"}, "protocol"),
        ({"part": "half"}, "part"),
        ({"item_count": 0}, "item_count"),
        ({"item_count": True}, "item_count"),
        ({"units_per_item": 201}, "units_per_item"),
        ({"judges_per_unit": 21}, "judges_per_unit"),
        ({"protocol": "ranking", "group_size": 2}, "group_size"),
        ({"protocol": "ranking", "group_size": 9}, "group_size"),
        ({"control_percent": 31}, "control_percent"),
        ({"repeat_percent": -1}, "repeat_percent"),
        ({"calibration_count": 21}, "calibration_count"),
        ({"min_seconds": 601}, "min_seconds"),
        ({"resamples": 199}, "resamples"),
        ({"masked_words": ["가"]}, "masked_words"),
        ({"masked_words": "고래"}, "masked_words"),
        ({"masked_words": [3]}, "masked_words"),
        ({"starts_at": timezone.now(), "ends_at": timezone.now() - timedelta(days=1)}, "ends_at"),
    ],
)
def test_settings_that_do_not_hold_together_are_refused(world: World, values: dict[str, Any], field: str) -> None:
    with pytest.raises(CampaignSettingsInvalid) as caught:
        world.campaign(**values)
    assert caught.value.field == field
    assert "%(" not in text_of(caught.value)
    assert not Campaign.objects.exists()
    assert steps(world) == []


def test_rubric_and_phase_are_of_the_same_track(world: World) -> None:
    with pytest.raises(CampaignSettingsInvalid):
        world.campaign(phase=PhaseFactory.create())
    elsewhere = PhaseFactory.create(track__competition=world.competition)
    with pytest.raises(CampaignSettingsInvalid):
        create_campaign(
            track=elsewhere.track, actor=world.owner, title_ko="평가", protocol="pairwise", phase=elsewhere,
            rubric=world.rubric(),
        )  # fmt: skip


def test_scores_by_criteria_need_criteria(world: World) -> None:
    bare = world.rubric(criteria=[])
    world.campaign(protocol="errors", rubric=bare)
    with pytest.raises(RubricUnfit):
        world.campaign(protocol="rubric", rubric=bare)


def test_words_to_hide_are_kept_once(world: World) -> None:
    assert world.campaign(masked_words=[" 말 모델  ", "말 모델", ""]).masked_words == ["말 모델"]


def test_only_who_may_manage_makes_one(world: World) -> None:
    values: dict[str, Any] = {
        "title_ko": "평가",
        "protocol": "pairwise",
        "phase": world.phase,
        "rubric": world.rubric(),
    }
    with pytest.raises(ManageNotFound):
        create_campaign(track=world.track, actor=UserFactory.create(), **values)


def test_an_open_campaign_keeps_its_settings_and_not_its_words(world: World) -> None:
    campaign = world.opened()
    changed = update_campaign(
        campaign=campaign, actor=world.owner, title_ko="새 제목", ends_at=timezone.now() + timedelta(days=1)
    )
    assert changed.title_ko == "새 제목"
    with pytest.raises(CampaignOpened):
        update_campaign(campaign=campaign, actor=world.owner, item_count=11)
    with pytest.raises(CampaignOpened):
        remove_campaign(campaign=campaign, actor=world.owner)


def test_an_end_that_has_passed_is_refused_and_one_that_passes_later_stays(world: World) -> None:
    with pytest.raises(CampaignSettingsInvalid) as refused:
        world.campaign(ends_at=timezone.now() - timedelta(seconds=1))
    assert refused.value.field == "ends_at"
    campaign = world.opened()
    with pytest.raises(CampaignSettingsInvalid):
        update_campaign(campaign=campaign, actor=world.owner, ends_at=timezone.now() - timedelta(days=1))
    passed = timezone.now() - timedelta(minutes=1)
    Campaign.objects.filter(pk=campaign.pk).update(ends_at=passed)
    changed = update_campaign(campaign=campaign, actor=world.owner, title_ko="다른 제목", ends_at=passed)
    assert (changed.title_ko, changed.ends_at) == ("다른 제목", passed)


def test_another_phase_drops_the_chosen_systems(world: World) -> None:
    campaign = world.ready()
    other = PhaseFactory.create(track=world.track)
    assert update_campaign(campaign=campaign, actor=world.owner, title_ko="새 제목").systems.count() == 4
    assert update_campaign(campaign=campaign, actor=world.owner, phase=other).systems.count() == 0


def test_a_draft_goes_with_its_judges(world: World) -> None:
    campaign = world.ready()
    remove_campaign(campaign=campaign, actor=world.owner)
    assert not Campaign.objects.exists()
    assert AuditEntry.objects.filter(action="campaign.remove").count() == 1
