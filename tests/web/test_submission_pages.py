"""내 제출: the history, one submission in full, and the fragment that keeps them up to date."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from malpan.competitions.models import Phase, ReferenceVersion
from malpan.jobs.heartbeat import beat
from malpan.submissions.models import ScoringRun, Submission
from tests.factories import PhaseFactory, TeamFactory, UserFactory, finished_submission, prediction_bytes, update_jobs
from tests.web import html
from tests.web.conftest import SCORES, Contest, client_of, in_state
from tests.web.manage_people import client_with_role


def page_of(client: Client, address: str) -> html.Element:
    return html.parse(client.get(address).content.decode())


def fragment_address(submission: Submission) -> str:
    return f"/submissions/{submission.public_id}/status/"


def mark_of(fragment: html.Element) -> str:
    return fragment.one("input", name="mark").attributes["value"]


def test_the_history_is_a_table_newest_first_with_rejected_files_folded_under_it(
    contest: Contest, member: Client
) -> None:
    page = page_of(member, contest.url("submissions/"))
    rows = page.one("table", "history").all("tr", "history-row")
    assert [row.all(css_class="id")[0].text for row in rows] == [
        "queued.json",
        "running.json",
        "failed.json",
        "answers.json",
    ]
    folded = page.one("details", "rejections")
    assert "형식 오류로 접수하지 않은 파일 1건" in folded.all("summary")[0].text
    assert [row.all(css_class="id")[0].text for row in folded.all("li", "history-row")] == ["wrong.json"]


def test_the_history_tells_the_participants_fault_from_ours(contest: Contest, member: Client) -> None:
    by_name = {
        row.all(css_class="id")[0].text: row.one(css_class="history-state").text
        for row in page_of(member, contest.url("submissions/")).all(css_class="history-row")
    }
    assert by_name["wrong.json"].startswith("제출 오류")
    assert "횟수는 차감되지 않았습니다" in by_name["wrong.json"]
    assert by_name["failed.json"].startswith("시스템 오류 제출 횟수 복원")
    assert "참가자의 잘못이 아니며" in by_name["failed.json"]


def test_a_finished_submission_shows_every_score_with_equal_decimals(contest: Contest, member: Client) -> None:
    page = page_of(member, f"/submissions/{contest.finished.public_id}/")
    shown = {row.one("th").text: row.one("td").text for row in page.one("tbody").all("tr")}
    assert shown == {
        "최종 점수": "82.2283946",
        "EM": "91.0000000",
        "서술 평균": "73.4567891",
        "BLEURT": "61.0000000",
        "BERTScore": "88.0000000",
        "ROUGE-1": "71.3703674",
    }
    assert "데모 모델이 매긴 점수: 최종 점수, 서술 평균, BLEURT, BERTScore" in page.one("main").text
    assert page.one("main").text.count("데모 모델이") == 1
    assert [badge.text for badge in page.all("span", "badge") if "데모" in badge.text] == []  # the banner says it


def test_a_finished_submission_shows_coverage_warnings_and_its_signature(contest: Contest, member: Client) -> None:
    page = page_of(member, f"/submissions/{contest.finished.public_id}/")
    assert "이유 응답률 66.7%" in page.text
    assert "데모 모델 점수: 모델 프로필 'demo'" in page.one("ul", "warnings").text
    assert '"recipe": "rag-qa@1"' in page.one("pre").text
    assert page.one("pre").parent.tag == "details"
    assert contest.finished.live_run.signature_hash in page.text


def test_a_submission_is_seen_by_its_team_only(contest: Contest) -> None:
    stranger = TeamFactory.create(competition=contest.competition).memberships.get().user
    for address in (f"/submissions/{contest.finished.public_id}/", fragment_address(contest.finished)):
        assert client_of(stranger).get(address).status_code == 404
    assert Client().get(f"/submissions/{contest.finished.public_id}/").status_code == 302


def test_only_unfinished_submissions_poll(contest: Contest, member: Client) -> None:
    page = page_of(member, contest.url("submissions/"))
    addresses = [element.attributes["hx-get"] for element in page.all() if "hx-get" in element.attributes]
    assert addresses == [fragment_address(contest.queued), fragment_address(contest.running)]


def test_the_fragment_answers_nothing_while_nothing_changed(contest: Contest, member: Client) -> None:
    first = member.get(fragment_address(contest.running))
    mark = mark_of(html.parse(first.content.decode()))
    assert first.status_code == 200
    assert member.get(fragment_address(contest.running), {"mark": mark}).status_code == 204


def test_the_fragment_shows_progress_as_it_grows(contest: Contest, member: Client) -> None:
    mark = mark_of(html.parse(member.get(fragment_address(contest.running)).content.decode()))
    update_jobs(contest.running.runs.all(), progress=0.9)
    fragment = html.parse(member.get(fragment_address(contest.running), {"mark": mark}).content.decode())
    assert "BLEURT 90%" in fragment.text
    assert fragment.one("progress").attributes["value"] == "0.9000"


def test_progress_alone_is_not_read_out(contest: Contest, member: Client) -> None:
    mark = mark_of(html.parse(member.get(fragment_address(contest.running)).content.decode()))
    update_jobs(contest.running.runs.all(), progress=0.9)
    fragment = html.parse(member.get(fragment_address(contest.running), {"mark": mark}).content.decode())
    assert fragment.all("p", id=f"live-{contest.running.public_id}") == []


def test_the_end_is_read_out_and_ends_the_polling(contest: Contest, member: Client) -> None:
    mark = mark_of(html.parse(member.get(fragment_address(contest.running)).content.decode()))
    contest.running.runs.update(state="finished", final_score=0.5, finished_at=timezone.now())
    response = member.get(fragment_address(contest.running), {"mark": mark})
    spoken = html.parse(response.content.decode()).one("p", id=f"live-{contest.running.public_id}")
    assert response.status_code == 286
    assert spoken.text == "running.json 채점이 끝났습니다. 최종 점수는 50.0000000입니다."


def test_the_full_fragment_brings_the_scores(contest: Contest, member: Client) -> None:
    response = member.get(fragment_address(contest.finished), {"view": "full"})
    assert response.status_code == 286
    assert "91.0000000" in response.content.decode()


def test_a_queued_submission_shows_how_many_stand_before_it(contest: Contest, member: Client) -> None:
    later = in_state(contest.phase, contest.team, ScoringRun.State.QUEUED)
    fragment = html.parse(member.get(fragment_address(later)).content.decode())
    assert "대기 중 앞에 1건" in fragment.text
    first = html.parse(member.get(fragment_address(contest.queued)).content.decode())
    assert "대기 중 다음 차례입니다" in first.text


@pytest.mark.parametrize("refusal", [None, "its numbers differ"])
def test_a_queued_submission_says_that_no_worker_can_score_it(contest: Contest, member: Client, refusal: str) -> None:
    ScoringRun.objects.filter(submission=contest.queued).update(queued_at=timezone.now() - timedelta(minutes=2))
    if refusal:
        beat("scoring@bad/0", {}, refusal)
    text = html.parse(member.get(fragment_address(contest.queued)).content.decode()).text
    assert "채점 서버를 기다리는 중입니다" in text


def test_a_submission_says_that_no_worker_has_its_models_and_organisers_and_operators_are_told(
    contest: Contest, member: Client
) -> None:
    runs = ScoringRun.objects.filter(submission=contest.queued)
    organiser, staff = client_with_role(contest.competition, "organiser"), client_of(UserFactory.create(is_staff=True))
    now = timezone.now()
    update_jobs(runs, not_before=now + timedelta(seconds=15), waiting_since=now, error_code="model_missing")
    runs.update(error_code="model_missing", profile="official")
    beat("scoring@demo/0", {})
    text = html.parse(member.get(fragment_address(contest.queued)).content.decode()).text
    assert "채점 모델이 준비된 채점 서버를 찾지 못해 기다립니다" in text
    assert "다시 올리지 마십시오" in text
    told = "프로필 official의 모델이 있는 채점 서버를 찾지 못해 채점 1건이 기다립니다"
    pages = (organiser, contest.url("manage/")), (organiser, contest.url("manage/runs/")), (staff, "/manage/site/")
    assert all(told in page_of(client, address).text for client, address in pages)
    assert "다음 차례" not in text


def test_a_submission_says_that_no_worker_has_its_version_and_organisers_and_operators_are_told(
    contest: Contest, member: Client
) -> None:
    runs = ScoringRun.objects.filter(submission=contest.queued)
    organiser, staff = client_with_role(contest.competition, "organiser"), client_of(UserFactory.create(is_staff=True))
    now = timezone.now()
    waits = {"waiting_since": now - timedelta(minutes=16), "error_code": "version_missing"}
    update_jobs(runs, not_before=now + timedelta(seconds=15), **waits)
    runs.update(error_code="version_missing")
    beat("scoring@demo/0", {})
    text = html.parse(member.get(fragment_address(contest.queued)).content.decode()).text
    assert "이 채점 방식을 아는 버전의 채점 서버를 찾지 못해 기다립니다" in text
    for address in ("manage/", "manage/runs/"):
        assert "아는 버전의 채점 서버를 찾지 못해 채점 1건이" in page_of(organiser, contest.url(address)).text
    assert "아는 버전의 채점 프로세스가 없어 작업 1건이 16분" in page_of(staff, "/manage/site/").text


def test_a_public_score_counts_the_public_items_beside_those_of_the_file(contest: Contest, member: Client) -> None:
    run = contest.finished.live_run
    ReferenceVersion.objects.filter(pk=run.reference_version_id).update(public_ids=["q1"])
    Submission.objects.filter(pk=contest.finished.pk).update(item_count=6)
    ScoringRun.objects.filter(pk=run.pk).update(coverage={"items": 3})
    text = page_of(member, f"/submissions/{contest.finished.public_id}/").text
    assert "공개 문항(제출한 파일은 6문항) 3" in text
    assert "전체 문항" not in text


def test_the_words_of_the_receipt_stay_true_when_the_score_is_there(contest: Contest, member: Client) -> None:
    data = SimpleUploadedFile("answers.json", prediction_bytes())
    form = {"file": data, "track": contest.phase.track.slug, "memo": ""}
    answer = member.post(contest.url("submit/"), form, follow=True)
    assert html.parse(answer.content.decode()).one("div", "messages").text == "제출을 접수했습니다."


def test_a_session_that_ended_stops_the_polling_with_words(contest: Contest) -> None:
    response = Client().get(fragment_address(contest.running))
    assert response.status_code == 286
    assert "로그인이 끊겼습니다" in response.content.decode()


def test_without_scripts_the_page_says_how_to_refresh(contest: Contest, member: Client) -> None:
    assert "새로 고침" in page_of(member, contest.url("submissions/")).one("noscript").text


def test_submissions_of_an_ended_phase_stay_within_reach(contest: Contest, member: Client) -> None:
    before = timezone.now() - timedelta(days=9)
    earlier = PhaseFactory.create(
        track=contest.track, slug="earlier", title_ko="예선", starts_at=before, ends_at=before + timedelta(days=2)
    )
    finished_submission(earlier, contest.team, 0.4, scores=SCORES, file_name="of-the-first-phase.json")
    page = page_of(member, contest.url("submissions/"))
    link = next(a for a in page.one("nav", "phase-choice").all("a") if a.text == "예선")
    assert "of-the-first-phase.json" in page_of(member, link.attributes["href"]).text


def test_a_person_without_a_team_is_sent_to_the_team_page(contest: Contest) -> None:
    response = client_of(TeamFactory.create().memberships.get().user).get(contest.url("submissions/"))
    assert (response.status_code, response["Location"]) == (302, contest.url("team/"))


@pytest.mark.usefixtures("team")
def test_an_empty_history_leads_to_the_upload_page(phase: Phase, member: Client) -> None:
    page = page_of(member, f"/competitions/{phase.track.competition.slug}/submissions/")
    assert page.one("div", "empty").one("a").attributes["href"].endswith("/submit/")


def _with_pace(contest: Contest) -> None:
    """A run that finished a minute ago at 100 tokens a second, and costs of those under way."""
    now = timezone.now()
    contest.finished.runs.update(started_at=now - timedelta(seconds=70), finished_at=now - timedelta(seconds=60))
    update_jobs(contest.finished.runs.all(), cost=1000, worker="w")
    contest.running.runs.update(started_at=now)
    update_jobs(contest.running.runs.all(), cost=6_000)
    update_jobs(contest.queued.runs.all(), cost=12_000)


def test_the_expected_end_stands_with_a_run_that_waits_and_one_at_work(contest: Contest, member: Client) -> None:
    _with_pace(contest)
    waiting = html.parse(member.get(fragment_address(contest.queued)).content.decode())
    at_work = html.parse(member.get(fragment_address(contest.running)).content.decode())
    assert re.search(r"예상 완료 \d\d:\d\d KST \(약 [2-4]분 뒤\)", waiting.text)
    assert re.search(r"예상 완료 \d\d:\d\d KST \(약 [12]분 뒤\)", at_work.text)
    history = page_of(member, contest.url("submissions/")).text
    assert history.count("예상 완료") == 2


def test_no_end_is_told_where_none_is_known_or_all_is_over(contest: Contest, member: Client) -> None:
    assert "예상 완료" not in page_of(member, contest.url("submissions/")).text
    _with_pace(contest)
    assert "예상 완료" not in page_of(member, f"/submissions/{contest.finished.public_id}/").text


def test_a_reader_who_polls_costs_few_queries(contest: Contest, member: Client, django_assert_max_num_queries) -> None:
    _with_pace(contest)
    mark = mark_of(html.parse(member.get(fragment_address(contest.queued)).content.decode()))
    with django_assert_max_num_queries(10):
        assert member.get(fragment_address(contest.queued), {"mark": mark}).status_code == 204


def test_the_history_asks_of_the_queue_once(contest: Contest, member: Client, django_assert_num_queries) -> None:
    _with_pace(contest)
    with CaptureQueriesContext(connection) as before:
        member.get(contest.url("submissions/"))
    for _more in range(5):
        in_state(contest.phase, contest.team, ScoringRun.State.RUNNING)
    with django_assert_num_queries(len(before)):
        member.get(contest.url("submissions/"))
