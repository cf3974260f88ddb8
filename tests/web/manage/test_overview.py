"""The manage pages' first page: what waits, what comes, and the ways in."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from malpan.competitions.models import Competition
from malpan.competitions.questions import ask_question
from malpan.competitions.services import post_notice
from malpan.jobs.heartbeat import beat
from malpan.jobs.models import Worker
from malpan.leaderboard.snapshots import publish_final_board
from malpan.submissions.models import RescoreBatch, ScoringRun, Submission
from malpan.submissions.overview_selectors import open_work_of
from tests.factories import (
    CANARY,
    CompetitionFactory,
    PhaseFactory,
    ScoringRunFactory,
    TeamFactory,
    TrackFactory,
    UserFactory,
    finished_submission,
    person_in,
)
from tests.web import html
from tests.web.conftest import Contest
from tests.web.manage_people import client_with_role

QUERY_LIMIT = 40


def page_of(client: Client, address: str, **headers: str) -> html.Element:
    return html.parse(client.get(address, headers=headers).content.decode())


def test_the_page_says_what_waits(contest: Contest) -> None:
    client = client_with_role(contest.competition, "organiser")
    asker = UserFactory.create()
    ask_question(competition=contest.competition, asked_by=asker, title="언제 끝납니까", body="?")
    RescoreBatch.objects.create(
        competition=contest.competition, phase=contest.phase, reason="정답 2번 정정", created_by=asker
    )
    page = page_of(client, contest.url("manage/"))
    waiting = page.one("ul", "todo").text
    assert "채점하지 못한 제출 1건" in waiting
    assert "답변을 기다리는 문의 1건" in waiting
    assert "정답 2번 정정" in waiting
    assert "마감 어문 규범 본선" in page.one("ul", "coming").text


def test_what_waits_while_nobody_scores_is_something_to_do(db: None) -> None:
    run = ScoringRunFactory.create(state="queued")
    competition = run.submission.phase.track.competition
    client, address = client_with_role(competition, "viewer"), f"/competitions/{competition.slug}/manage/"
    page = page_of(client, address)
    assert "채점하는 서버가 없어 기다리는 채점 1건" in page.one("ul", "todo").text
    assert "기다리는 일이 없습니다" not in page.text
    beat("scoring@a/0", {})
    assert "기다리는 일이 없습니다" in page_of(client, address).text


def test_a_calm_competition_says_so(db: None) -> None:
    competition = CompetitionFactory.create()
    page = page_of(client_with_role(competition, "viewer"), f"/competitions/{competition.slug}/manage/")
    assert "기다리는 일이 없습니다" in page.text


def test_a_board_that_may_be_published_is_a_step_and_then_an_award_is_mentioned_once(db: None) -> None:
    now = timezone.now()
    competition = CompetitionFactory.create()
    team = TeamFactory.create(competition=competition)
    phases = []
    for slug in ("one", "two"):
        track = TrackFactory.create(competition=competition, slug=slug)
        phases.append(PhaseFactory.create(track=track, starts_at=now - timedelta(days=9), ends_at=now))
        finished_submission(phases[-1], team, 0.5)
    owner = client_with_role(competition, "owner")
    address = f"/competitions/{competition.slug}/manage/"

    def links() -> list[str]:
        return [a.attributes["href"] for a in page_of(owner, address).one("ul", "todo").all("a")]

    boards = [f"{address}phases/{phase.pk}/?show=final#final" for phase in phases]
    assert links() == boards
    publish_final_board(phase=phases[0], actor=person_in(competition, "owner"))
    assert links() == [boards[1], f"{address}awards/"]
    viewer = page_of(client_with_role(competition, "viewer"), address).one("ul", "todo")
    assert "최종 순위표를 발표할 수 있습니다" in viewer.text
    assert viewer.all("a") == []
    publish_final_board(phase=phases[1], actor=person_in(competition, "owner"))
    assert links() == [f"{address}awards/"]
    assert "기다리는 일이 없습니다" not in page_of(owner, address).text


def test_a_hidden_competition_has_its_manage_pages(db: None) -> None:
    competition = CompetitionFactory.create(is_published=False)
    client = client_with_role(competition, "viewer")
    assert client.get(f"/competitions/{competition.slug}/manage/").status_code == 200
    assert Client().get(f"/competitions/{competition.slug}/").status_code == 404


def test_the_page_is_sound_holds_no_answer_and_takes_few_queries(contest: Contest) -> None:
    client = client_with_role(contest.competition, "owner")
    with CaptureQueriesContext(connection) as queries:
        response = client.get(contest.url("manage/"))
    source = response.content.decode()
    assert html.problems(html.parse(source)) == []
    assert CANARY not in source
    assert len(queries) <= QUERY_LIMIT
    asks_for_role = re.compile(r'FROM "competitions_competitionrole" WHERE .*"user_id" = ')
    assert len([query for query in queries if asks_for_role.search(query["sql"])]) == 1
    assert not any(query["sql"].lstrip().startswith(("INSERT", "UPDATE", "DELETE")) for query in queries)


def test_a_viewer_gets_the_checklist_without_links_to_pages_that_refuse(contest: Contest) -> None:
    def links(role: str) -> list[str]:
        client = client_with_role(contest.competition, role)
        return [a.attributes["href"] for a in page_of(client, contest.url("manage/")).one("details", "card").all("a")]

    assert links("viewer") == []
    assert contest.url("manage/roles/") not in links("organiser")
    assert {contest.url("manage/setup/texts/"), contest.url("manage/roles/")} <= set(links("owner"))


# --- the figures ------------------------------------------------------------------------------------------------------
def test_the_workload_counts_this_competition_alone(contest: Contest) -> None:
    now = timezone.now()
    work = open_work_of(contest.competition, now)
    assert (work.failed, work.queued, work.running) == (1, 1, 1)
    assert work.oldest_wait is not None
    assert work.oldest_wait >= timedelta(0)
    assert (work.uploads_today, work.rejections_today) == (6, 1)
    assert work.last_notice is not None
    assert work.last_notice.title_ko == "공지"
    other = open_work_of(PhaseFactory.create().track.competition, now)
    assert (other.failed, other.queued, other.running, other.submissions, other.last_notice) == (0, 0, 0, 0, None)
    assert other.oldest_wait is None


def test_a_withdrawn_submission_is_counted_as_on_the_board_and_named(contest: Contest) -> None:
    before = open_work_of(contest.competition)
    Submission.objects.filter(pk=contest.finished.pk).update(withdrawn_at=timezone.now())
    after = open_work_of(contest.competition)
    assert (before.withdrawn, after.withdrawn, before.submissions) == (0, 1, after.submissions)
    refunded = Submission.objects.of(contest.competition).exclude(refunded_at=None).count()
    assert refunded > 0
    of_teams = Submission.objects.of(contest.competition).filter(team__is_baseline=False)
    assert after.submissions == of_teams.count() - refunded
    page = page_of(client_with_role(contest.competition, "organiser"), contest.url("manage/"))
    assert f"제출 {after.submissions} (철회 1)" in page.text


def test_the_overview_of_organisers_counts_as_that_of_everybody_without_baselines(contest: Contest) -> None:
    work = open_work_of(contest.competition)
    assert work.of_baselines == 1
    page = page_of(client_with_role(contest.competition, "organiser"), contest.url("manage/"))
    assert f"팀 {work.teams}, 제출 {work.submissions} 따로 기준 모델의 제출 1" in page.text
    figures = page_of(Client(), contest.url()).text
    assert f"참가 팀 {work.teams}" in figures
    assert f"받은 제출 {work.submissions}" in figures


def test_a_submission_that_is_tried_again_has_not_failed(contest: Contest) -> None:
    ScoringRun.objects.create(
        submission=contest.failed,
        reference_version=contest.failed.runs.get().reference_version,
        recipe="rag-qa@1",
        profile="demo",
        queued_at=timezone.now(),
    )
    assert open_work_of(contest.competition).failed == 0


def test_a_notice_for_later_is_not_the_last_one(contest: Contest) -> None:
    later = timezone.now() + timedelta(days=1)
    post_notice(competition=contest.competition, title_ko="예약", body_ko="본문", published_at=later)
    last = open_work_of(contest.competition).last_notice
    assert last is not None
    assert last.title_ko == "공지"


def test_the_next_start_and_end_come_in_order(db: None) -> None:
    now = timezone.now()
    first = PhaseFactory.create(starts_at=now - timedelta(days=1), ends_at=now + timedelta(days=2))
    next_one = PhaseFactory.create(
        track=first.track, starts_at=now + timedelta(days=1), ends_at=now + timedelta(days=3)
    )
    PhaseFactory.create(track=first.track, starts_at=now - timedelta(days=9), ends_at=now - timedelta(days=8))
    coming = open_work_of(first.track.competition, now).coming
    assert [(moment.phase, moment.is_start) for moment in coming] == [
        (next_one, True),
        (first, False),
        (next_one, False),
    ]


# --- the ways in ------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("role", ["owner", "viewer"])
def test_the_pages_of_the_competition_lead_people_with_a_role_to_the_manage_pages(contest: Contest, role: str) -> None:
    client = client_with_role(contest.competition, role)
    tabs = page_of(client, contest.url()).one("nav", "tabs")
    assert contest.url("manage/") in [a.attributes["href"] for a in tabs.all("a")]


def test_nobody_else_is_shown_the_manage_pages(contest: Contest, member: Client) -> None:
    for client in (member, Client()):
        for address in ("/", contest.url(), contest.url("board/")):
            assert "manage/" not in client.get(address).content.decode()


def test_the_home_page_lists_what_a_person_runs_hidden_ones_too(db: None) -> None:
    hidden = CompetitionFactory.create(is_published=False, title_ko="숨은 대회")
    client = client_with_role(hidden, "operator")
    page = page_of(client, "/")
    assert "숨은 대회 채점 담당 비공개" in page.one("ul", "own-list").text
    assert html.problems(page) == []
    assert "숨은 대회" not in Client().get("/").content.decode()
    assert Competition.objects.count() == 1


def test_a_hidden_competition_looks_like_one_that_does_not_exist(db: None, client: Client) -> None:
    CompetitionFactory.create(slug="hidden", is_published=False)
    client.force_login(UserFactory.create())
    hidden, missing = (client.get(f"/competitions/{slug}/manage/") for slug in ("hidden", "nowhere"))
    assert hidden.status_code == missing.status_code == 404
    assert html.parse(hidden.content.decode()).text == html.parse(missing.content.decode()).text


# --- the menu and the first steps -------------------------------------------------------------------------------------
def test_the_menu_has_four_groups_with_what_waits_and_only_what_one_may_open(contest: Contest) -> None:
    ask_question(competition=contest.competition, asked_by=UserFactory.create(), title="언제", body="?")
    page = page_of(client_with_role(contest.competition, "owner"), contest.url("manage/"))
    rail, folded = page.all("nav")[-2:]
    assert rail.text == folded.text
    assert [group.text for group in rail.all("p")] == ["준비", "운영", "채점", "기록"]
    waiting = {a.attributes["href"]: a.text for a in rail.all("a")}
    assert "1 건이 기다림" in waiting[contest.url("manage/questions/")]
    assert "1 건 실패" in waiting[contest.url("manage/runs/")]
    assert "건이 기다림" not in waiting[contest.url("manage/teams/")]
    viewer = page_of(client_with_role(contest.competition, "viewer"), contest.url("manage/"))
    links = {a.attributes["href"] for a in viewer.all("nav")[-1].all("a")}
    assert contest.url("manage/phases/") in links
    assert not links & {contest.url("manage/setup/"), contest.url("manage/roles/"), contest.url("manage/archive/")}


def test_an_organiser_is_led_to_the_publication_step_by_step(db: None) -> None:
    competition = CompetitionFactory.create(is_published=False)
    address = f"/competitions/{competition.slug}/manage/"
    steps = page_of(client_with_role(competition, "organiser"), address).one("ol", "first-steps")
    assert len(steps.all("li")) == 5
    assert len([a for a in steps.all("a") if "button" in a.attributes.get("class", "")]) == 1
    assert "공개에 필요" in steps.text
    assert not page_of(client_with_role(competition, "viewer"), address).all("ol")
    Competition.objects.update(is_published=True)
    assert "공개하기까지" not in page_of(client_with_role(competition, "organiser"), address).text


def test_every_page_of_a_competition_says_that_nobody_scores_until_somebody_does(contest: Contest) -> None:
    client = client_with_role(contest.competition, "viewer")
    address = contest.url("manage/teams/")
    assert "채점하는 서버가 없습니다" in page_of(client, address).text
    beat("scoring@a/0", {})
    assert "채점하는 서버가 없습니다" not in page_of(client, address).text
    beat("scoring@b/0", {})
    Worker.objects.filter(name="scoring@b/0").update(seen_at=timezone.now() - timedelta(minutes=3))
    assert "채점 프로세스 2개 가운데 1개가 보고하지 않습니다" in page_of(client, address).text
