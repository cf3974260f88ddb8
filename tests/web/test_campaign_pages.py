"""The public pages of human evaluation: before the opening by which rubric people will judge, the method while it runs,
the result afterwards.
"""

from __future__ import annotations

import copy
import hashlib
import json
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from malpan.arena.exclusions import make_exclusion
from malpan.arena.models import Campaign, CampaignJudge, Rubric
from malpan.arena.selectors import judges_of
from malpan.core.times import kst_text
from malpan.submissions.models import Submission
from malpan.teams.services import disqualify_team, reinstate_team
from malpan.web.presenters.arena import EXPLANATIONS
from malpan.web.presenters.arena_manage import standing_lines, warning_texts
from malpan.web.presenters.arena_marked import marked_errors
from malpan.web.presenters.campaigns import (
    csv_rows,
    forest_of,
    influence_sentence,
    method_text,
    order_sentence,
    system_lines,
)
from scoring.arena.result import compute
from scoring.arena.simulation import Panel, simulate
from scoring.arena.votes import read_votes
from scoring.cli import main
from tests.arena.conftest import NAMES, World, judge_everything, make_world
from tests.web.html import parse

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def made_world(kept: None) -> World:
    return make_world()


@pytest.fixture
def world(db: None, made_world: World) -> World:
    return copy.deepcopy(made_world)


def address(world: World, campaign: Campaign, name: str = "campaign", *more: Any) -> str:
    return reverse(name, args=[world.competition.slug, campaign.track.slug, campaign.number, *more])


def text_of(response: Any) -> str:
    assert response.status_code == 200
    return " ".join(response.content.decode().split())


def test_nobody_sees_a_campaign_before_it_is_open(world: World, client: Client) -> None:
    campaign = world.ready(title_ko="달빛 결선")
    assert client.get(address(world, campaign)).status_code == 404
    listed = text_of(client.get(reverse("campaigns", args=[world.competition.slug])))
    assert "아직 시작한 사람 평가가 없습니다." in listed
    for secret in (campaign.seed_sha256, campaign.title_ko, *NAMES, *(judge.email for judge in judges_of(campaign))):
        assert secret not in listed


@pytest.mark.parametrize("protocol", ["pairwise", "rubric"])
def test_the_rubric_in_force_is_shown_before_the_opening(world: World, client: Client, protocol: str) -> None:
    place = reverse("campaigns", args=[world.competition.slug])
    menu = reverse("competition", args=[world.competition.slug])
    assert place not in client.get(menu).content.decode()
    group = 2 if protocol == "pairwise" else 1
    campaign = world.campaign(protocol=protocol, group_size=group)
    world.campaign(protocol=protocol, group_size=group)
    assert place in client.get(menu).content.decode()
    listed = text_of(client.get(place))
    assert listed.count(campaign.rubric.guideline_ko) == 1, "two drafts of one rubric say it once"
    assert listed.count(campaign.rubric.title_ko) == 1
    assert str(EXPLANATIONS[Campaign.Protocol(protocol)]) in listed
    label = campaign.rubric.criteria[0]["label_ko"]
    assert (label in parse(listed).one("article").text) == (protocol == "rubric")


def test_while_it_runs_the_method_is_public_and_nothing_else(world: World, client: Client) -> None:
    campaign = world.opened()
    judge_everything(campaign)
    page = text_of(client.get(address(world, campaign)))
    assert campaign.seed_sha256 in page
    assert campaign.seed not in page
    assert campaign.rubric.title_ko in page
    for secret in (*NAMES, *(judge.email for judge in judges_of(campaign))):
        assert secret not in page
    for name in ("campaign_votes", "campaign_result", "campaign_csv"):
        assert client.get(address(world, campaign, name, 1)).status_code == 404
    menu = client.get(reverse("competition", args=[world.competition.slug])).content.decode()
    assert reverse("campaigns", args=[world.competition.slug]) in menu


def test_the_chain_names_every_step_of_a_campaign(world: World, client: Client) -> None:
    campaign = world.closed()
    world.publish(campaign)
    page = parse(client.get(reverse("chain", args=[world.competition.slug])).content.decode())
    steps = [row.text for row in page.all("tr") if f"사람 평가 {campaign.number}" in row.text]
    for step in ("시드를 정함", "시작", "마감하고 시드를 공개함", "1판"):
        assert sum(f"· {step} " in text for text in steps) == 1, steps


def test_after_the_closing_the_seed_is_public_and_no_result(world: World, client: Client) -> None:
    campaign = world.closed()
    page = text_of(client.get(address(world, campaign)))
    assert campaign.seed in page
    assert hashlib.sha256(campaign.seed.encode()).hexdigest() == campaign.seed_sha256
    assert not any(name in page for name in NAMES)


def test_a_published_result_can_be_computed_again_from_its_files(
    world: World, client: Client, tmp_path: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    campaign = world.closed()
    world.publish(campaign)
    paths = {}
    for name in ("votes", "result"):
        response = client.get(address(world, campaign, f"campaign_{name}", 1))
        assert response["Content-Type"] == "application/json; charset=utf-8"
        paths[name] = tmp_path / f"{name}.json"
        paths[name].write_bytes(response.content)
    assert main(["arena", str(paths["votes"]), "--check", str(paths["result"])]) == 0
    capsys.readouterr()
    changed = json.loads(paths["result"].read_text())
    changed["systems"][0]["score"] += 0.1
    paths["result"].write_text(json.dumps(changed))
    assert main(["arena", str(paths["votes"]), "--check", str(paths["result"])]) == 1


def test_the_page_of_a_result_shows_what_the_file_says(world: World, client: Client) -> None:
    campaign = world.closed()
    world.publish(campaign)
    document = json.loads(client.get(address(world, campaign, "campaign_result", 1)).content)
    response = client.get(address(world, campaign))
    page, shown = parse(response.content.decode()), text_of(response)
    names = [row["name"] for row in document["systems"]]
    assert sorted(names) == sorted(NAMES)
    assert [cell.text for cell in page.all("th", scope="row")][: len(names)] == names
    first = document["systems"][0]
    assert f"{first['score']:.3f}".replace("-", "−") in shown
    assert f"{first['wins']}–{first['ties']}–{first['losses']}" in shown
    assert shown.count("<circle") == 2 * len(names), "a drawing for wide screens and one for phones"
    people = [judge.user.name for judge in judges_of(campaign)] + [judge.email for judge in judges_of(campaign)]
    assert not any(person in shown for person in people)
    table = client.get(address(world, campaign, "campaign_csv", 1)).content.decode("utf-8-sig").splitlines()
    assert table[0].startswith("rank,team_number,name,label,score")
    assert len(table) == 1 + len(names)
    assert str(first["score"]) in table[1]


@pytest.mark.parametrize("protocol", ["pairwise", "ranking"])
def test_the_drawing_and_the_table_of_who_won_are_the_matrix_of_the_file(
    world: World, client: Client, protocol: str
) -> None:
    campaign = world.closed(protocol=protocol, **({"group_size": 3} if protocol == "ranking" else {}))
    world.publish(campaign)
    document = json.loads(client.get(address(world, campaign, "campaign_result", 1)).content)
    page = parse(client.get(address(world, campaign)).content.decode())
    wins, ties = document["matrix"]["wins"], document["matrix"]["ties"]
    names = {row["label"]: row["name"] for row in document["systems"]}
    others = [(row, column) for row in range(len(wins)) for column in range(len(wins)) if row != column]
    assert len(others) == 12
    assert [row != list(other) for row, other in zip(wins, zip(*wins, strict=True), strict=True)].count(True) > 0

    shown = [each.text for each in page.one("svg", "matrix").all("text", "plot-count")]
    met = [wins[row][column] + wins[column][row] + ties[row][column] for row, column in others]
    assert shown == [str(wins[row][column]) if count else "–" for (row, column), count in zip(others, met, strict=True)]
    table = next(each for each in page.all("table") if each.all("caption", id="wins-caption"))
    rows = table.one("tbody").all("tr")
    assert [row.one("th").text for row in rows] == [names[label] for label in document["matrix"]["systems"]]
    cells = [[cell.text for cell in row.all("td", "figure")] for row in rows]
    assert [cells[row][column] for row, column in others] == [
        f"{wins[row][column]}–{ties[row][column]}–{wins[column][row]}" for row, column in others
    ]
    codes = [each.text for each in table.one("thead").all("th", "figure")]
    assert [row.one("td", "number").text for row in rows] == codes
    if protocol == "pairwise":
        votes = read_votes(client.get(address(world, campaign, "campaign_votes", 1)).content)
        place = {label: at for at, label in enumerate(document["matrix"]["systems"])}
        counted = Counter(
            tuple(place[label] for label in vote.systems[:: 1 if vote.value["choice"] == "first" else -1])
            for vote in votes.real()
            if vote.value["choice"] in ("first", "second")
        )
        assert {pair: wins[pair[0]][pair[1]] for pair in others} == {pair: counted[pair] for pair in others}


def test_what_was_left_out_is_said_without_a_name_and_an_earlier_result_stays(world: World, client: Client) -> None:
    campaign = world.closed()
    world.publish(campaign)
    judge = judges_of(campaign)[0]
    make_exclusion(campaign=campaign, actor=world.owner, judge=judge, reason="읽지 않고 골랐습니다.")
    campaign.refresh_from_db()
    world.publish(campaign, note="평가자 한 명을 뺐습니다.")
    shown = text_of(client.get(address(world, campaign)))
    judge.refresh_from_db()
    assert f"평가자 {judge.label}의 모든 평가: 읽지 않고 골랐습니다." in shown
    assert "평가자 한 명을 뺐습니다." in shown
    assert judge.email not in shown
    for snapshot in (1, 2):
        assert address(world, campaign, "campaign_votes", snapshot) in shown
        assert client.get(address(world, campaign, "campaign_votes", snapshot)).status_code == 200


def test_a_correction_says_so_at_the_top_with_its_time(world: World, client: Client) -> None:
    campaign = world.published()
    assert "정정" not in text_of(client.get(address(world, campaign)))
    make_exclusion(campaign=campaign, actor=world.owner, judge=judges_of(campaign)[0], reason="읽지 않고 골랐습니다.")
    second = world.publish(Campaign.objects.get(pk=campaign.pk), note="한 평가자를 뺐습니다.")
    page = parse(client.get(address(world, campaign)).content.decode())
    head = page.one("section", **{"aria-labelledby": "campaign-title"}).text
    assert "2판으로 정정" in head
    assert kst_text(second.published_at, seconds=False) in head


def test_the_numbers_of_a_published_result_are_those_of_the_result(world: World, client: Client) -> None:
    """Who was left out does not count; who judged and was removed later does."""
    campaign = world.closed()
    first, second, *_more = judges_of(campaign)
    make_exclusion(campaign=campaign, actor=world.owner, judge=first, reason="읽지 않고 골랐습니다.")
    CampaignJudge.objects.filter(pk=second.pk).update(removed_at=campaign.closed_at)
    world.publish(Campaign.objects.get(pk=campaign.pk))
    numbers = json.loads(client.get(address(world, campaign, "campaign_result", 1)).content)["numbers"]
    page = parse(client.get(address(world, campaign)).content.decode())
    facts = dict(zip([each.text for each in page.all("dt")], [each.text for each in page.all("dd")], strict=True))
    assert facts["평가자"] == str(numbers["judges"]) == "2"
    assert facts["셈에 든 판단"] == str(numbers["votes"])
    assert "마친 평가" not in facts


@pytest.mark.parametrize("is_withdrawn", [False, True])
def test_a_team_that_is_gone_since_the_publication_is_told(world: World, client: Client, is_withdrawn: bool) -> None:
    campaign = world.closed()
    world.publish(campaign)
    public, manage = "발표한 뒤 실격했거나 제출을 거둔 팀이 있습니다.", "발표한 결과에 그 뒤 실격했거나"
    desk = reverse("manage_campaign_publishing", args=[world.competition.slug, campaign.pk])
    client.force_login(world.owner)
    assert public not in text_of(client.get(address(world, campaign)))
    assert manage not in text_of(client.get(desk))

    if is_withdrawn:
        Submission.objects.filter(pk=world.submissions[3].pk).update(withdrawn_at=timezone.now())
    else:
        disqualify_team(team=world.teams[3], actor=world.owner, note_ko="규정 위반")

    assert public in text_of(client.get(address(world, campaign)))
    shown = text_of(client.get(desk))
    assert f"{manage} 제출을 거둔 팀이 남아 있습니다: {world.teams[3].name}." in shown


def test_a_team_that_is_reinstated_after_the_publication_is_told(world: World, client: Client) -> None:
    campaign = world.closed()
    disqualify_team(team=world.teams[3], actor=world.owner, note_ko="규정 위반")
    world.publish(campaign)
    public, manage = "발표한 뒤 실격이 취소된 팀이 있습니다.", "발표한 결과에서 빠진 팀의 실격이 그 뒤 취소되었습니다"
    desk = reverse("manage_campaign_publishing", args=[world.competition.slug, campaign.pk])
    client.force_login(world.owner)
    assert public not in text_of(client.get(address(world, campaign)))
    assert manage not in text_of(client.get(desk))

    reinstate_team(team=world.teams[3], actor=world.owner)

    assert public in text_of(client.get(address(world, campaign)))
    assert f"{manage}: {world.teams[3].name}." in text_of(client.get(desk))


@pytest.mark.parametrize("protocol", ["rubric", "errors", "ranking"])
def test_every_protocol_has_its_page(world: World, client: Client, protocol: str) -> None:
    campaign = world.closed(protocol=protocol, **({"group_size": 3} if protocol == "ranking" else {}))
    world.publish(campaign)
    shown = text_of(client.get(address(world, campaign)))
    assert ("승–무–패" in shown) == (protocol == "ranking")
    english = text_of(client.get(address(world, campaign), headers={"accept-language": "en"}))
    assert "Krippendorff" in english


def test_marked_errors_are_on_the_page_for_organisers_and_in_the_csv(world: World, client: Client) -> None:
    campaign = world.closed(protocol="errors")
    world.publish(campaign)
    address_of_csv = address(world, campaign, "campaign_csv", 1)
    document = json.loads(client.get(address(world, campaign, "campaign_result", 1)).content)
    page = parse(client.get(address(world, campaign)).content.decode())
    organiser = Client()
    organiser.force_login(world.owner)
    manage = reverse("manage_campaign_publishing", args=[world.competition.slug, campaign.pk])
    for each in (page, parse(organiser.get(manage).content.decode())):
        table = next(one for one in each.all("table") if "판단 하나에 표시한 오류" in one.text)
        assert [head.text for head in table.one("thead").all("th")][:5] == ["팀", "가벼움", "무거움", "치명적", "벌점"]
        assert [cell.text for cell in table.one("tbody").all("tr")[0].all("td")][:4] == ["0.00", "0.00", "0.00", "0.00"]
        assert "평균 점수(0~100)" in each.text
        assert f"{100 * document['systems'][0]['points']:.1f}" in each.text
    assert "errors_minor,errors_major,errors_critical,penalty" in client.get(address_of_csv).content.decode()


def test_kinds_of_marked_errors_are_called_as_in_the_rubric() -> None:
    errors = {"minor": 1.5, "major": 0, "critical": 0.25}
    row = {"name": "가", "errors": errors, "penalty": 7.75, "kinds": {"fact": 1, "gone": 0.75}}
    rubric = Rubric(reasons=[{"key": "fact", "label_ko": "사실", "label_en": "Facts"}])
    table = marked_errors({"systems": [row]}, rubric)
    assert table is not None
    assert table.heads[3:] == ("벌점", "사실", "gone")
    assert table.lines[0].figures == ("1.50", "0.00", "0.25", "7.75", "1.00", "0.75")
    assert marked_errors({"systems": [{"name": "가"}]}, rubric) is None, "computed before"


@pytest.mark.parametrize("protocol", ["pairwise", "rubric", "errors", "ranking"])
def test_the_method_is_told_as_of_now_while_it_runs(protocol: str) -> None:
    running = Campaign(protocol=protocol)
    closed = Campaign(protocol=protocol, closed_at=timezone.now())
    assert "습니다" in method_text(closed).split(".")[0]
    assert "습니다" not in method_text(running).split(".")[0]
    assert method_text(running).split(". ")[1:] == method_text(closed).split(". ")[1:]


@pytest.mark.parametrize(
    ("moves", "words"),
    [
        ([], ""),
        ([(0, False), (0, False)], "어느 평가자 한 사람을 빼도 순위는 바뀌지 않습니다."),
        ([(1, False), (2, False)], "순위가 많아야 2계단 움직입니다. 1위는 누구를 빼도 그대로입니다."),
        ([(3, True), (0, False)], "순위가 많아야 3계단 움직입니다. 누구를 빼느냐에 따라 1위가 바뀝니다."),
    ],
)
def test_how_much_the_standing_hangs_on_one_judge_is_public(moves: list[tuple[int, bool]], words: str) -> None:
    rows = [{"rank_change": change, "first_changes": first} for change, first in moves]
    said = influence_sentence({"influence": rows})
    assert said.endswith(words)
    assert bool(said) == bool(moves)


def test_queries_do_not_grow_with_the_votes(
    world: World, client: Client, django_assert_max_num_queries: Callable[[int], Any]
) -> None:
    campaign = world.closed()
    world.publish(campaign)
    with django_assert_max_num_queries(16):
        client.get(address(world, campaign))


def test_scores_whose_error_is_unknown_have_a_dash_and_no_drawing() -> None:
    """One judge's one vote: no line that looks like an interval, an empty cell of the table, and the reason."""
    votes = simulate(Panel((0.5, -0.5), ("good",), items=1, votes_per_judge=1), 1)
    document = compute(replace(votes, votes=votes.real())).document()
    assert [line.interval for line in system_lines(document)] == ["–", "–"]
    assert [line.interval for line in standing_lines(document)] == ["–", "–"]
    assert {line.band for line in system_lines(document)} == {1}
    assert forest_of(document, None) is None
    columns, rows = csv_rows(document)
    assert all(row[columns.index("low")] is None for row in rows)
    assert "95% 구간 –" in order_sentence(document)
    assert any("오차를 알 수 없습니다" in text for text in warning_texts(document["warnings"]))
