"""The upload page, from the press of the button to what the participant reads about it."""

from __future__ import annotations

import errno
import json
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.core.cache import cache
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils import timezone

from malpan.competitions.models import Phase
from malpan.core.times import KST
from malpan.submissions.models import QuotaEntry, Rejection, Submission
from malpan.submissions.scoring_changes import publish_reference_version
from malpan.teams.models import Team
from scoring.reading.answer_forms import forms_of
from scoring.recipes import get_recipe
from tests.factories import (
    PhaseFactory,
    TeamFactory,
    TrackFactory,
    UserFactory,
    file_bytes,
    file_with_errors,
    prediction_bytes,
    publish,
    rows,
)
from tests.scoring.forms_of_years import YEARS, Year
from tests.web import html
from tests.web.conftest import Contest, client_of

pytestmark = pytest.mark.usefixtures("team")


def address(phase: Phase) -> str:
    return f"/competitions/{phase.track.competition.slug}/submit/"


def upload(client: Client, phase: Phase, data: bytes, name: str = "answers.json", **fields: str) -> Any:
    """Send the form as a browser does, and follow to the page the participant then sees."""
    form = {"file": SimpleUploadedFile(name, data), "track": phase.track.slug, "memo": "", **fields}
    return client.post(address(phase), form, follow=True)


def page_of(response: Any) -> html.Element:
    return html.parse(response.content.decode())


def test_a_sound_file_is_accepted_and_its_receipt_is_shown(phase: Phase, member: Client) -> None:
    response = upload(member, phase, prediction_bytes(), memo="첫 모델")
    submission = Submission.objects.get()
    assert response.redirect_chain == [(f"/submissions/{submission.public_id}/", 302)]
    assert submission.memo == "첫 모델"
    folded = page_of(response).one("details", "hashes").text
    assert submission.file_sha256 in folded
    assert str(submission.public_id) in folded


def test_a_bad_file_comes_back_with_every_place_and_the_official_message(phase: Phase, member: Client) -> None:
    items = rows()
    items[1]["output"]["answer"] = 5
    response = upload(member, phase, file_bytes(items))
    page = page_of(response)
    table = page.one("div", "error-table")
    cells = [cell.text for cell in table.all("td")]
    assert cells[:2] == ["q2", "output.answer"]
    assert table.one("span", "official").text == "공식 문구: 파일 형식 오류 - 데이터 형태가 제출 기준과 다름"
    assert "제출 오류" in page.one(id="errors-title").text
    assert "횟수도 차감되지 않았습니다" in page.one("section", "rejection").text


def test_equal_errors_of_many_items_are_one_row_that_opens_to_every_place(phase: Phase, member: Client) -> None:
    items = [item | {"output": [item["output"]["answer"]]} for item in rows()]
    items += [{"id": f"x-{number}", "output": {"answer": ""}} for number in range(5)]
    response = upload(member, phase, file_bytes(items))
    table = page_of(response).one("div", "error-table")
    [plain] = [row for row in table.all("tr") if "필요: 문자열, 파일: 배열" in row.text]
    assert f"같은 오류 {len(rows())}건" in plain.text
    [unknown] = [row for row in table.all("tr") if "평가 데이터에 없는 id" in row.text]
    assert "같은 오류 5건" in unknown.text
    assert unknown.all("td")[0].text == "x-0, x-1, x-2 …"
    assert all(f"x-{number}" in unknown.one("details").text for number in range(5))
    assert len(Rejection.objects.get().errors) == len(rows()) + 5 + 1  # each with its place, and the count


@pytest.mark.parametrize(("indent", "is_of_one_line"), [(None, True), (1, False)])
def test_a_file_of_one_line_has_no_column_of_lines(
    phase: Phase, member: Client, indent: int | None, is_of_one_line: bool
) -> None:
    items = rows() + [{"id": f"x-{number}", "output": {"answer": ""}} for number in range(5)]
    response = upload(member, phase, json.dumps(items, indent=indent).encode())
    table = page_of(response).one("div", "error-table")
    assert ("줄" not in [cell.text for cell in table.all("th")]) == is_of_one_line
    assert ("x-4 (" not in table.text) == is_of_one_line
    assert "x-4" in table.text
    assert html.problems(page_of(response)) == []


@pytest.mark.parametrize("total", [100, 101])
def test_a_hundred_errors_are_shown_and_the_rest_is_counted(phase: Phase, member: Client, total: int) -> None:
    text = page_of(upload(member, phase, file_with_errors(total))).one("section", "rejection").text
    assert f"고칠 곳 {total}건" in text
    assert ("모두 101건 가운데 앞의 100건" in text) == (total == 101)
    assert len(Rejection.objects.get().errors) == 100


def memo_of(page: html.Element) -> str:
    return page.one("input", name="memo").attributes.get("value", "")


def test_the_memo_stays_in_the_form_until_a_file_is_accepted(phase: Phase, member: Client) -> None:
    assert memo_of(page_of(upload(member, phase, b"[{", memo="둘째 모델"))) == "둘째 모델"
    assert memo_of(page_of(member.get(address(phase)))) == "둘째 모델"
    elsewhere = PhaseFactory.create(track=TrackFactory.create(competition=phase.track.competition))
    assert memo_of(page_of(member.get(address(phase), {"track": elsewhere.track.slug}))) == ""
    upload(member, phase, prediction_bytes(), memo="둘째 모델")
    assert memo_of(page_of(member.get(address(phase)))) == ""


def test_the_form_offers_what_is_read_and_the_content_decides(phase: Phase, member: Client) -> None:
    page = page_of(member.get(address(phase)))
    types = page.one("input", name="file").attributes["accept"].split(",")
    assert types == [".json", ".jsonl", ".txt"]
    assert f"{', '.join(types)} 파일" in page.one("div", "drop").text
    assert "파일 이름이 아니라 내용으로" in page.one("div", "drop").text
    upload(member, phase, prediction_bytes(), name="answers.txt")
    assert Submission.objects.get().file_name == "answers.txt"


def test_a_bad_file_costs_no_quota(phase: Phase, member: Client) -> None:
    page = page_of(upload(member, phase, b"[{"))
    assert (Submission.objects.count(), Rejection.objects.count()) == (0, 1)
    assert page.one("dl", "quota-figures").text.startswith("오늘 5 /5회 남음")


def test_the_page_of_a_bad_file_can_be_reloaded_without_sending_it_again(phase: Phase, member: Client) -> None:
    response = upload(member, phase, b"[{")
    assert "rejection=" in response.redirect_chain[-1][0]
    member.get(response.redirect_chain[-1][0])
    assert Rejection.objects.count() == 1


def test_an_empty_file_is_a_located_error_not_a_missing_file(phase: Phase, member: Client) -> None:
    page = page_of(upload(member, phase, b""))
    assert "0바이트" in page.one("div", "error-table").text


def test_no_file_chosen_is_said_beside_the_field(phase: Phase, member: Client) -> None:
    response = member.post(address(phase), {"track": phase.track.slug, "memo": ""})
    assert response.status_code == 422
    assert page_of(response).one("ul", "errorlist").text == "파일을 골라 주십시오."


def test_errors_beyond_those_kept_are_counted(contest: Contest, member: Client) -> None:
    page = page_of(member.get(contest.url(f"submit/?rejection={contest.rejection.pk}")))
    assert "142건" in page.one(id="errors-title").text
    assert "모두 142건 가운데 앞의 2건" in page.text


def test_another_teams_rejected_file_is_not_shown(contest: Contest) -> None:
    stranger = TeamFactory.create(competition=contest.competition)
    client = client_of(stranger.memberships.get().user)
    page = page_of(client.get(contest.url(f"submit/?rejection={contest.rejection.pk}")))
    assert page.all("section", "rejection") == []


@pytest.mark.parametrize("number", ["0", "x", "-1", "9" * 40, "１２"])
def test_a_made_up_rejection_number_is_harmless(phase: Phase, member: Client, number: str) -> None:
    assert member.get(address(phase), {"rejection": number}).status_code == 200


def test_error_texts_of_an_earlier_version_still_open(contest: Contest, member: Client) -> None:
    contest.rejection.errors = [{"code": "gone_since", "params": {}, "line": 7, "id": "q1", "field": None}]
    contest.rejection.save()
    page = page_of(member.get(contest.url(f"submit/?rejection={contest.rejection.pk}")))
    assert "gone_since" in page.one("div", "error-table").text


def test_a_file_above_the_limit_is_dropped_while_it_arrives(phase: Phase, member: Client, settings: Any) -> None:
    settings.UPLOAD_MAX_BYTES = 100_000
    page = page_of(upload(member, phase, b"x" * 300_000))
    message = page.one("div", "messages").text
    assert "제출 오류" in message
    assert "상한(97.7 KB)" in message
    assert (Submission.objects.count(), Rejection.objects.count()) == (0, 0)


def test_a_file_of_exactly_the_limit_is_read(phase: Phase, member: Client, settings: Any) -> None:
    settings.UPLOAD_MAX_BYTES = len(prediction_bytes())
    upload(member, phase, prediction_bytes())
    assert Submission.objects.count() == 1


def test_a_session_that_ended_while_uploading_is_explained(phase: Phase) -> None:
    response = upload(Client(), phase, prediction_bytes())
    assert response.redirect_chain[0][0].startswith("/accounts/login/?next=")
    assert "제출 횟수는 차감되지 않았습니다" in page_of(response).one("div", "messages").text
    assert Submission.objects.count() == 0


def test_after_logging_in_again_the_participant_is_back_at_the_form(phase: Phase) -> None:
    response = Client().post(address(phase), {}, headers={"referer": f"http://testserver{address(phase)}?track=x"})
    assert response["Location"] == f"/accounts/login/?next={address(phase).replace('/', '%2F')}%3Ftrack%3Dx"


def test_a_person_without_a_team_is_sent_to_make_one(phase: Phase) -> None:
    client = client_of(UserFactory.create())
    response = upload(client, phase, prediction_bytes())
    assert response.redirect_chain[0][0].endswith("/team/")
    assert "먼저 이 대회의 팀에 들어가야 합니다" in page_of(response).one("div", "messages").text


def test_what_is_left_is_shown_as_n_of_limit(phase: Phase, member: Client) -> None:
    upload(member, phase, prediction_bytes())
    figures = page_of(member.get(address(phase))).one("dl", "quota-figures").text
    assert figures == "오늘 4 /5회 남음 전체 39 /40회 남음"


def test_the_next_allowed_time_is_shown_to_the_second(phase: Phase, member: Client) -> None:
    phase.min_interval = timedelta(hours=72)
    phase.save()
    upload(member, phase, prediction_bytes())
    page = page_of(member.get(address(phase)))
    submitted_at = Submission.objects.get().created_at
    shown = page.one("div", "notice").one("time").text
    allowed = datetime.strptime(shown, "%Y-%m-%d %H:%M:%S KST").replace(tzinfo=KST)
    assert timedelta(0) <= allowed - (submitted_at + timedelta(hours=72)) < timedelta(seconds=1)
    buttons = [button.text for button in page.one("form", "card").all("button")]
    assert buttons == ["검사만 하기"], "a button that would be refused is not there"
    assert "지금은 제출할 수 없습니다" in page.one("div", "notice").text


def test_a_used_up_quota_is_refused_with_the_time_and_charges_nothing(phase: Phase, member: Client) -> None:
    phase.daily_limit = 1
    phase.save()
    upload(member, phase, prediction_bytes())
    page = page_of(upload(member, phase, prediction_bytes(mark="b")))
    tomorrow = (timezone.now().astimezone(KST) + timedelta(days=1)).strftime("%Y-%m-%d 00:00")
    assert f"{tomorrow} KST부터" in page.one("div", "messages").text
    assert Submission.objects.count() == 1


def test_a_double_click_leads_to_the_submission_it_made(phase: Phase, member: Client) -> None:
    key = page_of(member.get(address(phase))).one("input", name="upload_key").attributes["value"]
    upload(member, phase, prediction_bytes(), upload_key=key)
    response = upload(member, phase, prediction_bytes(), upload_key=key)
    assert response.redirect_chain[-1][0] == f"/submissions/{Submission.objects.get().public_id}/"
    assert "다시 차감되지 않았습니다" in page_of(response).one("div", "messages").text


def test_every_form_is_an_act_of_its_own(phase: Phase, member: Client) -> None:
    keys = {
        page_of(member.get(address(phase))).one("input", name="upload_key").attributes["value"] for _form in range(2)
    }
    assert len(keys) == 2
    for key in keys:
        upload(member, phase, prediction_bytes(), upload_key=key, again="on")
    assert Submission.objects.count() == 2


@pytest.mark.parametrize(("starts", "ends", "text"), [(-3, -1, "끝났습니다"), (1, 3, "아직 제출 기간이 아닙니다")])
def test_a_closed_phase_says_when_instead_of_a_form(
    phase: Phase, member: Client, starts: int, ends: int, text: str
) -> None:
    phase.starts_at, phase.ends_at = (timezone.now() + timedelta(days=days) for days in (starts, ends))
    phase.save()
    page = page_of(member.get(address(phase)))
    assert text in page.one("div", "notice").text
    assert page.all("input", type="file") == []
    assert text in page_of(upload(member, phase, prediction_bytes())).one("div", "messages").text


def test_with_two_tracks_the_file_goes_to_the_chosen_one(phase: Phase, member: Client) -> None:
    second = PhaseFactory.create(track=TrackFactory.create(competition=phase.track.competition, slug="second"))
    publish(second)
    page = page_of(member.get(address(phase), {"track": "second"}))
    assert page.one("input", name="track").attributes["value"] == "second"
    upload(member, second, prediction_bytes())
    assert Submission.objects.get().phase == second


def test_the_sample_stands_beside_the_upload_box_and_downloads(contest: Contest, member: Client) -> None:
    page = page_of(member.get(contest.url("submit/")))
    link = next(a for a in page.all("a") if "sample.json" in a.attributes["href"])
    response = member.get(link.attributes["href"])
    assert b"".join(response.streaming_content) == b"sample.json"
    assert response["Content-Disposition"] == 'attachment; filename="sample.json"'


def test_the_form_works_without_scripts(phase: Phase, member: Client) -> None:
    form = page_of(member.get(address(phase))).one("form", "card")
    assert form.attributes["method"] == "post"
    assert form.attributes["enctype"] == "multipart/form-data"
    assert all("disabled" not in button.attributes for button in form.all("button"))


@pytest.mark.parametrize("year", YEARS, ids=lambda year: year.name)
def test_the_page_takes_a_file_of_every_year_and_shows_its_form(year: Year, member: Client, team: Team) -> None:
    """``tests.scoring.recipes.test_forms_of_years`` has their scores."""
    track = TrackFactory.create(competition=team.competition, slug="years", recipe=year.recipe)
    phase = PhaseFactory.create(track=track, daily_limit=5, total_limit=40)
    publish_reference_version(phase=phase, data=year.file(year.rows), actor=None)

    response = upload(member, phase, year.file(year.answers))

    assert response.redirect_chain, page_of(response).text
    assert Submission.objects.get(team=team).item_count == len(year.rows)
    for page in ("submit/?track=years", "data/"):
        shown = page_of(member.get(f"/competitions/{team.competition.slug}/{page}")).text
        assert all(each.example in shown and each.tasks in shown for each in forms_of(get_recipe(year.recipe)))


# --- a dry run --------------------------------------------------------------------------------------------------------
def check(client: Client, phase: Phase, data: bytes, name: str = "answers.json") -> Any:
    """Send the form with its other button, and follow."""
    form = {"file": SimpleUploadedFile(name, data), "track": phase.track.slug, "memo": ""}
    return client.post(f"{address(phase)}check/", form, follow=True)


def test_a_sound_file_that_is_only_checked_costs_nothing_and_leaves_nothing(phase: Phase, member: Client) -> None:
    response = check(member, phase, prediction_bytes())
    said = page_of(response).one("div", "success").text
    assert response.status_code == 200
    assert "형식에 오류가 없습니다" in said
    assert "제출 횟수도 차감되지 않았습니다" in said
    assert not Submission.objects.exists()
    assert not Rejection.objects.exists()
    assert not QuotaEntry.objects.exists()
    assert html.problems(page_of(response)) == []


def test_a_dry_run_says_that_the_same_file_was_submitted_before(phase: Phase, member: Client) -> None:
    assert "똑같은 파일" not in check(member, phase, prediction_bytes()).content.decode()
    upload(member, phase, prediction_bytes())
    page = page_of(check(member, phase, prediction_bytes()))
    assert "똑같은 파일입니다" in page.text
    assert f"/submissions/{Submission.objects.get().public_id}/" in {a.attributes["href"] for a in page.all("a")}


def test_a_bad_file_that_is_only_checked_comes_back_with_every_place(phase: Phase, member: Client) -> None:
    page = page_of(check(member, phase, file_with_errors(3)))
    assert "파일에서 고칠 곳 3건" in page.text
    said = page.one("section", "rejection").text
    assert "검사만 했습니다. 제출하지 않았고" in said
    assert "접수되지 않았" not in said
    assert "제출 오류" not in said
    assert Rejection.objects.count() == 1
    assert not Submission.objects.exists()


def test_a_team_without_a_slot_may_still_check(phase: Phase, member: Client) -> None:
    Phase.objects.filter(pk=phase.pk).update(daily_limit=None, total_limit=1, min_interval=timedelta(0))
    upload(member, phase, prediction_bytes())
    page = page_of(member.get(address(phase)))
    assert [button.text for button in page.one("form", "card").all("button")] == ["검사만 하기"]
    assert "형식에 오류가 없습니다" in check(member, phase, prediction_bytes()).content.decode()
    assert Submission.objects.count() == 1


def test_the_very_same_file_is_asked_about_before_it_costs_anything(phase: Phase, member: Client) -> None:
    upload(member, phase, prediction_bytes())
    first = Submission.objects.get()
    response = upload(member, phase, prediction_bytes(), memo="다시")
    page = page_of(response)
    assert response.status_code == 409
    assert "이미 제출한 파일과 똑같습니다" in page.text
    assert any(
        a.attributes["href"] == f"/submissions/{first.public_id}/" for a in page.one("section", "rejection").all("a")
    )
    assert page.one("input", name="memo").attributes["value"] == "다시"
    assert (Submission.objects.count(), QuotaEntry.objects.count()) == (1, 1)
    assert html.problems(page) == []
    assert upload(member, phase, prediction_bytes(), again="on").status_code == 200
    assert Submission.objects.count() == 2


def test_a_file_whose_slot_was_given_back_is_not_asked_about(phase: Phase, member: Client) -> None:
    upload(member, phase, prediction_bytes())
    Submission.objects.update(refunded_at=timezone.now())
    assert upload(member, phase, prediction_bytes()).status_code == 200
    assert Submission.objects.count() == 2


def test_only_who_is_asked_may_say_that_the_same_file_is_meant(phase: Phase, member: Client) -> None:
    assert page_of(member.get(address(phase))).all("input", name="again") == []


def test_checks_are_counted_by_address_so_that_nobody_keeps_the_others_waiting(
    phase: Phase, member: Client, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache.clear()
    now = timezone.now()
    monkeypatch.setattr(timezone, "now", lambda: now)  # else the next share of ten minutes may begin
    settings.REJECTIONS_PER_ADDRESS = 2
    for _again in range(2):
        assert "형식에 오류가 없습니다" in check(member, phase, prediction_bytes()).content.decode()
    assert "형식에 오류가 없습니다" not in check(member, phase, prediction_bytes()).content.decode()
    cache.clear()


def test_a_stranger_is_sent_to_log_in_and_one_without_a_team_to_the_team_page(phase: Phase) -> None:
    assert "/accounts/login/" in check(Client(), phase, prediction_bytes()).redirect_chain[0][0]
    assert check(client_of(UserFactory.create()), phase, prediction_bytes()).redirect_chain[0][0].endswith("/team/")


def test_a_disk_without_room_is_a_fault_of_ours_that_is_logged_and_costs_nothing(
    phase: Phase, member: Client, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def full(*_args: Any) -> None:
        raise OSError(errno.ENOSPC, "no room")

    monkeypatch.setattr("malpan.core.storage.local_disk.os.fsync", full)
    response = upload(member, phase, prediction_bytes(), memo="첫 모델")
    assert (response.status_code, response.redirect_chain) == (507, [])
    assert "저장 공간이 부족해" in page_of(response).one("main").text
    assert any("storage_full at" in message for message in caplog.messages)
    assert not Submission.objects.exists()
    monkeypatch.undo()
    assert "첫 모델" in member.get(address(phase)).content.decode()  # typed once
