"""Lists of the manage pages that grow with a contest come in pages, as their neighbours do."""

from __future__ import annotations

import uuid

import pytest
from django.test import Client
from django.utils import timezone

from malpan.competitions.models import Notice, Phase, ReferenceVersion
from malpan.submissions.models import AlikeFiles, RescoreBatch
from tests.factories import PhaseFactory, SubmissionFactory, TeamFactory, UserFactory
from tests.web.html import Element, parse, problems
from tests.web.manage_people import client_with_role

pytestmark = pytest.mark.django_db
PAGE = 50


@pytest.fixture
def phase() -> Phase:
    return PhaseFactory.create()


@pytest.fixture
def client(phase: Phase) -> Client:
    return client_with_role(phase.track.competition, "organiser")


def page_of(client: Client, phase: Phase, rest: str) -> Element:
    page = parse(client.get(f"/competitions/{phase.track.competition.slug}/manage/{rest}").content.decode())
    assert problems(page) == []
    return page


def lines_of(page: Element) -> list[Element]:
    return [row for body in page.all("tbody") for row in body.all("tr")]


def leads_on(page: Element) -> bool:
    return bool(page.all("a", rel="next"))


def test_notices(client: Client, phase: Phase) -> None:
    known = {"competition": phase.track.competition, "body_ko": "본문", "published_at": timezone.now()}
    Notice.objects.bulk_create(Notice(title_ko=f"공지 {number}", **known) for number in range(PAGE + 1))
    first, second = (page_of(client, phase, f"notices/?page={number}") for number in (1, 2))
    assert (len(lines_of(first)), leads_on(first)) == (PAGE, True)
    assert [line.one("th").text for line in lines_of(second)] == ["공지 0"]
    assert not leads_on(second)


def test_batches_with_those_started_together_in_one_line(client: Client, phase: Phase) -> None:
    def batch(**fields: object) -> RescoreBatch:
        known = {"competition": phase.track.competition, "created_by": UserFactory.create(), "state": "cancelled"}
        return RescoreBatch.objects.create(phase=phase, reason="사유", **known, **fields)

    group = uuid.uuid4()
    oldest, *together = batch(), batch(group=group), batch(group=group)
    for _number in range(PAGE - 1):
        batch()
    first, second = (page_of(client, phase, f"rescoring/?page={number}") for number in (1, 2))
    assert (len(lines_of(first)), leads_on(first)) == (PAGE, True)
    assert f"#{together[0].pk}" in lines_of(first)[-1].text
    assert "단계 2개를 함께" in lines_of(first)[-1].text
    assert [line.one("a").text for line in lines_of(second)] == [f"#{oldest.pk}"]


def test_versions_of_references_under_their_phases(client: Client, phase: Phase) -> None:
    empty = PhaseFactory.create(track=phase.track, slug="later", title_ko="나중 단계", position=9)
    ReferenceVersion.objects.bulk_create(
        ReferenceVersion(phase=phase, number=number, file_sha256="0" * 64, item_count=3)
        for number in range(1, PAGE + 2)
    )
    first, second = (page_of(client, phase, f"references/?page={number}") for number in (1, 2))
    assert (len(lines_of(first)), leads_on(first)) == (PAGE, True)
    assert f"{PAGE + 1}판" in lines_of(first)[0].text
    assert "나중 단계" not in [heading.text for heading in first.all("h2")]
    assert [line.one("a").text for line in lines_of(second)] == ["1판"]
    assert any(heading.text.endswith("나중 단계") for heading in second.all("h2")), empty
    assert "아직 정답이 없습니다." in second.text
    assert first.all("form", "manage-form"), "a new version can be uploaded from any page"
    assert second.all("form", "manage-form")


def test_files_of_several_teams_and_pairs_of_nearly_equal_ones_each_with_their_own_pages(
    client: Client, phase: Phase
) -> None:
    teams = [TeamFactory.create(competition=phase.track.competition) for _number in range(2)]
    sent = [
        SubmissionFactory.create(phase=phase, team=team, file_sha256=f"{number:064x}")
        for number in range(PAGE + 1)
        for team in teams
    ]
    pair = {"one": str(sent[0].pk), "other": str(sent[1].pk), "score": 0.9, "same": 9, "compared": 9, "only_theirs": 9}
    pairs = [pair | {"same": 1000 - number} for number in range(PAGE + 1)]
    AlikeFiles.objects.create(phase=phase, pairs=pairs, teams=2, seconds=1e6, computed_at=timezone.now())

    address = f"duplicates/?phase={phase.pk}"
    first, second = (page_of(client, phase, f"{address}&page={number}") for number in (1, 2))
    assert (len(lines_of(first)), len(lines_of(second))) == (PAGE, 1)
    assert "950 / 9" in lines_of(second)[0].text
    assert [len(page.one("ul", "stack").all("li", "card")) for page in (first, second)] == [PAGE, PAGE]
    last = page_of(client, phase, f"{address}&page=2&files=2")
    assert [each.all(css_class="id")[0].text for each in last.one("ul", "stack").all("li", "card")] == [f"{PAGE:064x}"]
    assert len(lines_of(last)) == 1
    assert any("page=2" in link.attributes["href"] for link in last.all("a", rel="prev")), "the other list stays"


def test_of_a_file_that_many_teams_sent_the_first_are_shown(client: Client, phase: Phase) -> None:
    for _number in range(23):
        team = TeamFactory.create(competition=phase.track.competition)
        SubmissionFactory.create(phase=phase, team=team, file_sha256="a" * 64)
    page = page_of(client, phase, "duplicates/")
    [card] = page.one("ul", "stack").all("li", "card")
    assert len(card.all("li")) == 20
    assert "그 뒤의 제출 3건" in card.text
