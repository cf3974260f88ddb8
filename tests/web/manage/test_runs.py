"""The manage pages' page of runs: how the queue stands, why a run failed, and what an operator can do about it."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from malpan.submissions.models import RescoreBatch, ScoringRun, Submission
from tests.factories import (
    JobFactory,
    PhaseFactory,
    ScoringRunFactory,
    SubmissionFactory,
    TeamFactory,
    finished_submission,
    person_in,
    update_jobs,
)
from tests.web import html
from tests.web.conftest import Contest, client_of, in_state

State = ScoringRun.State


@pytest.fixture
def operator(contest: Contest) -> Client:
    return client_of(person_in(contest.competition, "operator"))


@pytest.fixture
def viewer(contest: Contest) -> Client:
    return client_of(person_in(contest.competition, "viewer"))


def page_of(client: Client, address: str) -> html.Element:
    return html.parse(client.get(address).content.decode())


def figures(page: html.Element) -> dict[str, str]:
    return {each.one("dt").text: each.all("dd")[0].text for each in page.one("dl", "manage-figures").all("div")}


def test_the_figures_tell_how_the_queue_stands(contest: Contest, viewer: Client) -> None:
    now = timezone.now()
    contest.queued.runs.update(queued_at=now - timedelta(minutes=3, seconds=20))
    contest.failed.runs.update(finished_at=now - timedelta(minutes=5))
    contest.finished.runs.update(started_at=now - timedelta(seconds=30), finished_at=now - timedelta(seconds=20))
    page = page_of(viewer, contest.url("manage/runs/"))
    assert figures(page) == {
        "대기 중": "1",
        "가장 오래 기다린 시간": "3분",
        "채점 중": "1",
        "최근 1시간 완료": "3",
        "최근 1시간 실패": "1",
    }


def test_what_is_running_shows_its_progress_its_worker_and_its_lease(contest: Contest, viewer: Client) -> None:
    update_jobs(contest.running.runs.all(), worker="gpu-7", lease_expires_at=timezone.now() - timedelta(seconds=9))
    page = page_of(viewer, contest.url("manage/runs/"))
    [section] = [each for each in page.all("section") if each.attributes.get("aria-labelledby") == "running-title"]
    assert "BLEURT 42%" in section.text
    assert "gpu-7" in section.text
    assert "만료됨" in section.text


def test_a_failure_is_told_in_words_with_its_code(contest: Contest, viewer: Client) -> None:
    page = page_of(viewer, contest.url("manage/runs/?state=failed"))
    [row] = page.all("tbody")[-1].all("tr")
    assert "채점 중에 서버 오류가 생겼습니다." in row.text
    assert "scoring_crashed" in row.text


def test_runs_are_found_by_state_track_team_and_batch(contest: Contest, viewer: Client) -> None:
    def numbers(query: str) -> set[str]:
        tables = page_of(viewer, contest.url(f"manage/runs/{query}")).all("table")
        return {row.all("a")[0].text for table in tables[-1:] for row in table.one("tbody").all("tr")}

    batch = RescoreBatch.objects.create(
        competition=contest.competition, phase=contest.phase, reason="정답 고침", created_by=contest.leader
    )
    rescored = ScoringRunFactory.create(submission=contest.finished, batch=batch)
    elsewhere = PhaseFactory.create(track__competition=contest.competition, track__slug="other")
    other = in_state(elsewhere, contest.team, State.QUEUED)
    of_better = ScoringRun.objects.get(submission__team__name="Better")
    assert numbers("?team=better") == {f"#{of_better.pk}"}
    assert numbers(f"?batch={batch.pk}") == {f"#{rescored.pk}"}
    assert numbers("?track=other") == {f"#{other.runs.get().pk}"}
    assert numbers("?state=failed") == {f"#{contest.failed.runs.get().pk}"}


def test_a_run_of_another_competition_is_not_there(contest: Contest, viewer: Client) -> None:
    elsewhere = finished_submission(PhaseFactory.create(), TeamFactory.create(), 0.5).live_run
    assert viewer.get(contest.url(f"manage/runs/{elsewhere.pk}/")).status_code == 404
    assert f"#{elsewhere.pk}<" not in viewer.get(contest.url("manage/runs/")).content.decode()


def test_the_page_of_a_run_shows_how_far_each_metric_has_come(contest: Contest, viewer: Client) -> None:
    page = page_of(viewer, contest.url(f"manage/runs/{contest.running.runs.get().pk}/"))
    steps = [each.text for each in page.one("ol", "manage-steps").all("li")]
    assert steps == ["EM 끝남", "BLEURT 계산 중 42%", "BERTScore 차례 전", "ROUGE-1 차례 전"]


def test_the_page_of_a_run_in_slices_counts_them_and_tells_their_last_fault(contest: Contest, viewer: Client) -> None:
    run = contest.running.runs.get()
    slices = {"kind": "slice", "parent": run.job}
    for number in range(2):
        JobFactory.create(**slices, number=number, state=State.FINISHED)
    JobFactory.create(**slices, number=2, attempt=1, failures=1, error_code="worker_lost")
    JobFactory.create(**slices, number=3)
    page = page_of(viewer, contest.url(f"manage/runs/{run.pk}/"))
    assert not page.all("ol", "manage-steps")
    assert page.text.count("조각 2/4") == 2
    assert "worker_lost" in page.text

    queue = page_of(viewer, contest.url("manage/runs/")).one("dl", "manage-figures")
    assert "큰 채점의 조각 2개" in queue.text


def test_every_state_has_a_sound_page(contest: Contest, operator: Client) -> None:
    addresses = [contest.url(f"manage/runs/{query}") for query in ("", "?state=failed", "?team=nobody")]
    addresses += [contest.url(f"manage/runs/{run.pk}/") for run in ScoringRun.objects.all()[:5]]
    for address in addresses:
        assert html.problems(page_of(operator, address)) == [], address


def test_an_empty_queue_and_an_empty_search_say_so(contest: Contest, viewer: Client) -> None:
    assert "조건에 맞는 채점이 없습니다." in page_of(viewer, contest.url("manage/runs/?team=nobody")).text
    Submission.objects.update(live_run=None)
    ScoringRun.objects.all().delete()
    assert "아직 채점이 없습니다." in page_of(viewer, contest.url("manage/runs/")).text


def test_an_operator_cancels_a_run_with_a_reason(contest: Contest, operator: Client) -> None:
    run = contest.queued.runs.get()
    answer = operator.post(
        contest.url(f"manage/runs/{run.pk}/cancel/"), {"reason": "잘못된 파일", "confirm": "on"}, follow=True
    )
    run.refresh_from_db()
    assert (run.state, run.error_code) == (State.FAILED, "cancelled_by_organiser")
    page = html.parse(answer.content.decode())
    assert "채점을 취소하고" in page.one("div", "messages").text
    assert "운영자가 이 채점을 취소했습니다." in page.text


@pytest.mark.parametrize("missing", ["reason", "confirm"])
def test_a_cancellation_wants_a_reason_and_a_tick(contest: Contest, operator: Client, missing: str) -> None:
    run = contest.queued.runs.get()
    data = {"reason": "잘못된 파일", "confirm": "on"}
    del data[missing]
    answer = operator.post(contest.url(f"manage/runs/{run.pk}/cancel/"), data)
    run.refresh_from_db()
    assert (answer.status_code, run.state) == (422, State.QUEUED)
    assert html.parse(answer.content.decode()).all("ul", "errorlist")


def test_a_run_that_ended_meanwhile_is_not_cancelled_and_the_page_says_why(contest: Contest, operator: Client) -> None:
    run = contest.finished.live_run
    answer = operator.post(
        contest.url(f"manage/runs/{run.pk}/cancel/"), {"reason": "늦음", "confirm": "on"}, follow=True
    )
    assert "현재 상태: 완료" in html.parse(answer.content.decode()).one("div", "messages").text


def test_failed_runs_are_tried_again_together_and_each_refusal_is_named(contest: Contest, operator: Client) -> None:
    other = in_state(contest.phase, TeamFactory.create(competition=contest.competition), State.FAILED)
    failed, second = contest.failed.runs.get(), other.runs.get()
    chosen = [failed.pk, second.pk, contest.finished.live_run_id]
    answer = operator.post(contest.url("manage/runs/retry/"), {"run": chosen}, follow=True)
    told = html.parse(answer.content.decode()).one("div", "messages").text
    assert "채점 2건을 다시 대기열에 넣었습니다." in told
    assert f"Team One · #{contest.finished.live_run_id} — 요청 오류" in told
    assert contest.failed.runs.count() == other.runs.count() == 2


def test_only_failures_of_the_competition_can_be_chosen(contest: Contest, operator: Client) -> None:
    elsewhere = SubmissionFactory.create()
    run = ScoringRunFactory.create(submission=elsewhere, state=State.FAILED)
    operator.post(contest.url("manage/runs/retry/"), {"run": [run.pk, "x", "²"]})
    assert elsewhere.runs.count() == 1


def test_a_retry_with_nothing_chosen_says_so(contest: Contest, operator: Client) -> None:
    answer = operator.post(contest.url("manage/runs/retry/"), follow=True)
    assert "하나 이상 골라" in html.parse(answer.content.decode()).one("div", "messages").text


def test_a_viewer_sees_but_does_not_act(contest: Contest, viewer: Client) -> None:
    run = contest.queued.runs.get()
    page = page_of(viewer, contest.url(f"manage/runs/{run.pk}/"))
    assert [form for form in page.all("form") if form.attributes.get("action", "").startswith("/competitions")] == []
    for action in (f"{run.pk}/cancel/", "retry/"):
        answer = viewer.post(contest.url(f"manage/runs/{action}"), {"reason": "x", "confirm": "on", "run": run.pk})
        assert answer.status_code == 403
    run.refresh_from_db()
    assert run.state == State.QUEUED


def test_participants_and_visitors_do_not_find_the_page(contest: Contest, member: Client) -> None:
    assert member.get(contest.url("manage/runs/")).status_code == 404
    assert Client().get(contest.url("manage/runs/")).status_code == 302


def test_the_page_keeps_itself_up_to_date_and_answers_nothing_while_nothing_changed(
    contest: Contest, viewer: Client
) -> None:
    contest.queued.runs.update(queued_at=timezone.now() - timedelta(minutes=9, seconds=5))
    live = page_of(viewer, contest.url("manage/runs/?state=queued")).one(id="runs-live")
    assert (live.attributes["hx-trigger"], "state=queued" in live.attributes["hx-get"]) == ("every 5s", True)
    mark = live.one("input", name="mark").attributes["value"]
    address = live.attributes["hx-get"]
    assert viewer.get(f"{address}&mark={mark}").status_code == 204
    update_jobs(contest.running.runs.all(), progress=0.9)
    answer = viewer.get(f"{address}&mark={mark}")
    assert answer.status_code == 200
    assert "BLEURT 90%" in answer.content.decode()


def test_the_table_stands_still_where_runs_are_being_chosen(contest: Contest, operator: Client) -> None:
    live = page_of(operator, contest.url("manage/runs/?state=failed")).one(id="runs-live")
    assert "hx-get" not in live.attributes
    assert len(live.all("input", type="checkbox")) == 1


def test_a_session_that_ended_stops_the_refreshing_with_words(contest: Contest) -> None:
    answer = Client().get(contest.url("manage/runs/live/"))
    assert answer.status_code == 286
    assert "로그인이 끊겼습니다" in answer.content.decode()


def test_the_page_of_a_run_tells_its_cost_its_turn_and_its_expected_end(contest: Contest, viewer: Client) -> None:
    now = timezone.now()
    contest.finished.runs.update(started_at=now - timedelta(seconds=70), finished_at=now - timedelta(seconds=60))
    update_jobs(contest.finished.runs.all(), cost=1000, worker="w")
    contest.running.runs.update(started_at=now)
    update_jobs(contest.running.runs.all(), cost=6_000)
    update_jobs(contest.queued.runs.all(), cost=12_000, fair_tag=20)
    later = in_state(contest.phase, contest.team, State.QUEUED, job__cost=500, job__fair_tag=30)
    text = page_of(viewer, contest.url(f"manage/runs/{later.runs.get().pk}/")).text
    assert "예상 작업량 약 500토큰 차례 앞에 1건 예상 완료 20" in text

    over = page_of(viewer, contest.url(f"manage/runs/{contest.finished.runs.get().pk}/")).text
    assert "예상 작업량 약 1" in over
    assert "차례 앞에" not in over
    assert "예상 완료" not in over
