"""Teams that a judge says to know: alone so few that what is left names nobody, the others by an organiser."""

from __future__ import annotations

import pytest

from malpan.arena.bars import bars_of
from malpan.arena.declaring import alone_teams, declare_bars, least_seen
from malpan.arena.errors import DeclaredTooMuch, OrganiserMustBar
from malpan.arena.judges import bar_judge, remove_judge
from malpan.arena.models import Assignment, CampaignJudge
from malpan.arena.opening import open_campaign, preview_design
from malpan.core.models import AuditEntry
from malpan.teams.models import Team
from tests.arena.conftest import World, make_world
from tests.arena.panels import GROUPS, Panel, accept, add_judge, draft_panel, invite, open_panel, person
from tests.factories import TeamFactory

pytestmark = pytest.mark.django_db
PROTOCOLS = tuple(GROUPS)
SYSTEMS = 9


def draft(protocol: str) -> tuple[Panel, CampaignJudge]:
    panel = draft_panel(protocol, systems=SYSTEMS)
    return panel, add_judge(panel, 1, design_label="")


def opened(protocol: str) -> tuple[Panel, CampaignJudge]:
    panel = open_panel(protocol, systems=SYSTEMS, item_count=6)
    return panel, panel.judges[0]


def late(protocol: str) -> tuple[Panel, CampaignJudge]:
    panel = open_panel(protocol, systems=SYSTEMS, item_count=6)
    invite(panel, "late@univ.ac.kr")
    return panel, accept(panel, person("late@univ.ac.kr"))


def numbers(panel: Panel, *places: int) -> list[int]:
    return [panel.systems[place].submission.team.number for place in places]


def seen(panel: Panel, judge: CampaignJudge) -> int:
    """How many systems are left to the judge."""
    judge.refresh_from_db()
    systems = list(panel.campaign.systems.select_related("submission__team"))
    return len(systems) - len(bars_of(judge, systems))


def declare(judge: CampaignJudge, team_numbers: list[int]) -> None:
    declare_bars(judge=judge, actor=judge.user, team_numbers=team_numbers)
    judge.refresh_from_db()


@pytest.mark.parametrize("state", [draft, opened, late])
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_judge_alone_never_leaves_so_few_that_they_know_whose_an_output_is(protocol, state):
    """All but those shown together, at once and one after the other; before anything was shown."""
    panel, judge = state(protocol)
    group = GROUPS[protocol]
    least = max(group + 2, 5)
    assert not Assignment.objects.filter(judge=judge, first_shown_at__isnull=False).exists()

    with pytest.raises(OrganiserMustBar) as refused:
        declare(judge, numbers(panel, *range(SYSTEMS - group)))

    assert (seen(panel, judge), judge.declared_teams) == (SYSTEMS, [])
    assert refused.value.params == {"reason": "some", "limit": SYSTEMS - least}
    for place in range(SYSTEMS - least):
        declare(judge, numbers(panel, place))
    with pytest.raises(OrganiserMustBar):
        declare(judge, numbers(panel, SYSTEMS - 1))
    assert seen(panel, judge) == least
    labels = {row.label for row in panel.systems[SYSTEMS - least :]}
    assert not [row for row in Assignment.objects.filter(judge=judge, state="open") if set(row.systems) - labels]

    bar_judge(judge=judge, actor=panel.organiser, team_numbers=numbers(panel, SYSTEMS - 1), reason="지도 교수")
    assert seen(panel, judge) == least - 1
    with pytest.raises(OrganiserMustBar):
        declare(judge, numbers(panel, SYSTEMS - 2))


def test_of_few_systems_none_is_declared_alone():
    panel = open_panel(systems=4)
    with pytest.raises(OrganiserMustBar) as refused:
        declare(panel.judges[0], numbers(panel, 0))
    assert refused.value.params == {"reason": "none", "limit": 0}


def test_whether_a_team_takes_part_is_not_told_by_a_refusal():
    """A team without a submission counts as one with."""
    panel = open_panel(systems=SYSTEMS)
    others = [TeamFactory.create(competition=panel.campaign.track.competition).number for _place in range(5)]
    for named in (others, numbers(panel, *range(5))):
        with pytest.raises(OrganiserMustBar):
            declare(panel.judges[0], named)
    declare(panel.judges[0], others[:4])
    assert seen(panel, panel.judges[0]) == SYSTEMS


def test_what_an_organiser_stands_for_does_not_count_as_declared_alone():
    """A team that is barred anyway, as the judge is a member, neither."""
    panel, judge = draft("pairwise")
    bar_judge(judge=judge, actor=panel.organiser, team_numbers=numbers(panel, 0, 1), reason="지도 교수")
    own = panel.systems[2].submission
    own.submitted_by = judge.user
    own.save()

    declare(judge, numbers(panel, 2))
    declare(judge, numbers(panel, 3))

    assert seen(panel, judge) == least_seen(panel.campaign, SYSTEMS) == 5
    assert alone_teams(judge) == numbers(panel, 2, 3)


def test_declaring_again_what_is_known_is_harmless():
    panel, judge = draft("pairwise")
    declare(judge, numbers(panel, 0, 1, 2, 3))
    declare(judge, numbers(panel, 0, 1, 2, 3))
    assert AuditEntry.objects.filter(action="campaign_judge.declare").count() == 1


# --- declared before the systems were chosen ------------------------------------------------------------------------
@pytest.fixture
def world() -> World:
    world = make_world()
    for number in range(5, 8):
        world.add_team(f"새로온팀{number}", 0.5 - number / 100)
    return world


def refused(world: World, judge: CampaignJudge) -> None:
    for call in (
        lambda: preview_design(campaign=judge.campaign),
        lambda: open_campaign(campaign=judge.campaign, actor=world.owner),
    ):
        with pytest.raises(DeclaredTooMuch) as caught:
            call()
        assert caught.value.params == {"judges": str(judge.pk)}
    assert not Assignment.objects.exists()


@pytest.mark.parametrize(("protocol", "group"), GROUPS.items())
def test_a_campaign_does_not_open_before_an_organiser_looked_at_what_leaves_too_few(world, protocol, group):
    campaign = world.ready(protocol=protocol, group_size=group, item_count=8, units_per_item=1, judges_per_unit=1)
    judge = campaign.judges.order_by("pk")[0]
    chosen = list(campaign.systems.all())
    campaign.systems.all().delete()
    teams = sorted(Team.objects.filter(competition=world.competition).values_list("number", flat=True))
    named = teams[: len(teams) - group]
    declare(judge, named)  # nothing is known yet
    campaign.systems.bulk_create(chosen)

    refused(world, judge)
    bar_judge(judge=judge, actor=world.owner, team_numbers=named[:-1], reason="확인함")
    refused(world, judge) if group < 3 else None
    bar_judge(judge=judge, actor=world.owner, team_numbers=named, reason="확인함")

    judge.refresh_from_db()
    assert alone_teams(judge) == []
    entries = AuditEntry.objects.filter(action="campaign_judge.bar").order_by("pk")
    assert [entry.after for entry in entries] == [
        {"declared_teams": named[:-1], "reason": "확인함"},
        {"declared_teams": named[-1:], "reason": "확인함"},
    ]
    assert open_campaign(campaign=campaign, actor=world.owner).opened_at is not None


def test_who_declared_too_much_may_be_removed_instead(world):
    campaign = world.ready(judges=4)
    judge = campaign.judges.order_by("pk")[0]
    judge.declared_teams = [1, 2, 3, 4, 5]
    judge.save()
    refused(world, judge)
    remove_judge(judge=judge, actor=world.owner, reason="참여하지 않음")
    assert open_campaign(campaign=campaign, actor=world.owner).opened_at is not None


def test_few_declared_teams_need_no_organiser(world):
    campaign = world.ready(judges=4)
    judge = campaign.judges.order_by("pk")[0]
    judge.declared_teams = [1, 2, 3]
    judge.save()
    assert open_campaign(campaign=campaign, actor=world.owner).opened_at is not None


def test_who_comes_back_late_with_too_much_declared_waits_for_an_organiser():
    panel = open_panel(systems=SYSTEMS)
    judge = invite(panel, "late@univ.ac.kr")
    judge.declared_teams = numbers(panel, *range(7))
    judge.save()
    user = person("late@univ.ac.kr")
    with pytest.raises(OrganiserMustBar) as caught:
        accept(panel, user)
    assert caught.value.params["reason"] == "late"

    bar_judge(judge=judge, actor=panel.organiser, team_numbers=judge.declared_teams, reason="확인함")

    assert seen(panel, accept(panel, user)) == 2
