"""Opening what does not fit is refused in words, and what fits opens."""

from __future__ import annotations

import re
from functools import partial

import pytest
from django.utils import timezone, translation

from malpan.arena.closing import close_campaign
from malpan.arena.errors import (
    CampaignNotOpen,
    DesignRefused,
    NoJudges,
    SystemUnfit,
    TooFewItems,
    TooFewSystems,
)
from malpan.arena.models import Campaign, CampaignItem
from malpan.arena.opening import open_campaign, preview_design
from malpan.arena.systems import choose_systems
from malpan.competitions.errors import ManageNotFound
from malpan.competitions.models import Phase
from malpan.core.messages import text_of
from malpan.submissions.models import ChainEntry, Submission
from malpan.teams.services import disqualify_team
from scoring.arena.planned import NAMES as SETTINGS
from scoring.arena.planned import DesignImpossible
from scoring.errors import Language
from tests.arena.conftest import NAMES, World
from tests.arena.opening.conftest import rows_of
from tests.factories import UserFactory

pytestmark = pytest.mark.django_db


def refused(world: World, campaign: Campaign, error: type[Exception]) -> str:
    for call in (
        partial(preview_design, campaign=campaign),
        partial(open_campaign, campaign=campaign, actor=world.owner),
    ):
        with pytest.raises(error) as caught:
            call()
    assert Campaign.objects.get(pk=campaign.pk).opened_at is None
    assert not CampaignItem.objects.exists()
    assert not ChainEntry.objects.filter(payload__event="opened").exists()
    return text_of(caught.value)  # type: ignore[arg-type]


def test_one_system_is_too_few(world: World) -> None:
    campaign = world.ready()
    choose_systems(campaign=campaign, actor=world.owner, submissions=[world.submissions[1].public_id])
    assert "1개" in refused(world, campaign, TooFewSystems)


def test_a_ranking_of_five_needs_five(world: World) -> None:
    assert "5개 이상" in refused(world, world.ready(protocol="ranking", group_size=5), TooFewSystems)


def test_a_submission_withdrawn_after_the_choice_is_refused(world: World) -> None:
    campaign = world.ready()
    Submission.objects.filter(pk=world.submissions[3].pk).update(withdrawn_at=timezone.now())
    assert world.teams[3].name in refused(world, campaign, SystemUnfit)


def test_a_team_disqualified_after_the_choice_is_refused(world: World) -> None:
    campaign = world.ready()
    disqualify_team(team=world.teams[2], actor=world.owner, note_ko="규정 위반")
    assert world.teams[2].name in refused(world, campaign, SystemUnfit)


def test_who_has_not_accepted_or_was_removed_is_no_judge(world: World) -> None:
    campaign = world.ready(judges=0)
    world.judge(campaign, accepted_at=None)
    world.judge(campaign, removed_at=timezone.now())
    refused(world, campaign, NoJudges)


def test_a_design_that_cannot_be_is_explained(world: World) -> None:
    text = refused(world, world.ready(judges=2, judges_per_unit=3), DesignRefused)
    assert "3명" in text
    assert "2명" in text


def test_a_design_that_cannot_be_names_the_fields_of_the_form() -> None:
    fields = {"group": "group_size", "units_per_item": "units_per_item", "judges_per_unit": "judges_per_unit"}
    languages: tuple[Language, ...] = ("ko", "en")
    for language in languages:
        with translation.override(language):
            labels = {name: str(Campaign._meta.get_field(field).verbose_name) for name, field in fields.items()}
        assert labels == {name: SETTINGS[name].text(language) for name in fields}
        texts = [each.words.text(language) for each in DesignImpossible.__subclasses__()]
        assert set(re.findall("‘([^’{}]+)’", " ".join(texts))) == set(labels.values())


def test_bars_that_leave_too_few_judges_are_told_by_the_team_and_not_by_its_label(world: World) -> None:
    campaign = world.ready(judges=2)
    campaign.systems.filter(submission__team__number=2).update(institution="가온대학교")
    campaign.judges.update(institution="가온대학교")
    text = refused(world, campaign, DesignRefused)
    assert NAMES[1] in text
    assert not re.search(r"S\d\d", text)


def test_too_few_items_are_refused(world: World) -> None:
    assert "25" in refused(world, world.ready(item_count=23), TooFewItems)


def test_a_closed_campaign_is_not_opened_again(world: World, opened: Campaign) -> None:
    close_campaign(campaign=opened, actor=world.owner, accepts_open=True)
    with pytest.raises(CampaignNotOpen):
        open_campaign(campaign=opened, actor=world.owner)


def test_only_who_may_manage_opens(world: World) -> None:
    with pytest.raises(ManageNotFound):
        open_campaign(campaign=world.ready(), actor=UserFactory.create())


@pytest.mark.parametrize("protocol", ["rubric", "errors", "ranking"])
def test_every_protocol_opens(world: World, protocol: str) -> None:
    size = {"rubric": 1, "errors": 1, "ranking": 3}[protocol]
    campaign = world.opened(protocol=protocol, group_size=size, units_per_item=1, item_count=10)
    rows = rows_of(campaign)
    assert {len(row.systems) for row in rows} == {size}
    assert all(re.fullmatch(r"S0[1-4]", label) for row in rows for label in row.systems)


def test_a_phase_that_still_runs_may_be_evaluated(world: World) -> None:
    assert Phase.objects.get(pk=world.phase.pk).ends_at > timezone.now()
    assert world.opened().state == "open"
