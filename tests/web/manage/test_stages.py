"""운영실 › 심사: from the first stage to the combined standing, as two organisers do it in their browsers."""

from __future__ import annotations

import copy
import re
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from malpan.stages.contents import stage_content
from malpan.stages.models import Stage, StageSnapshot, StageTable
from malpan.stages.selectors import newest_table
from malpan.teams.services import disqualify_team
from tests.factories import person_in
from tests.stages.conftest import Contest, make_contest
from tests.web.conftest import client_of

SETTINGS = {
    "title_ko": "1차 심사",
    "title_en": "Round 1",
    "weight": "45",
    "normalisation": "value",
    "tie_rule": "shared",
}
TABLE = "팀 번호\t점수\n1\t60\n2\t90.25\n3\t80\n"


@pytest.fixture(scope="module")
def made(kept: None) -> Contest:
    return make_contest()


@pytest.fixture
def contest(db: None, made: Contest) -> Contest:
    return copy.deepcopy(made)


@pytest.fixture
def writer(contest: Contest) -> Client:
    return client_of(contest.writer)


@pytest.fixture
def reader(contest: Contest) -> Client:
    return client_of(contest.reader)


def url(contest: Contest, page: str = "") -> str:
    return f"/competitions/{contest.competition.slug}/manage/stages/{page}"


def hidden(text: str, form: str) -> dict[str, str]:
    """The hidden fields of the form that is sent to the address that ends so."""
    found = re.search(rf'<form[^>]*action="[^"]*{form}[^"]*".*?</form>', text, re.DOTALL)
    assert found, form
    fields = re.findall(r"<input[^>]*>", found[0])
    named = [dict(re.findall(r'(\w+)="([^"]*)"', each)) for each in fields]
    return {each["name"]: each.get("value", "") for each in named if each.get("type") == "hidden"}


@pytest.fixture
def second(contest: Contest) -> Stage:
    contest.publish(contest.stage())
    return contest.stage()


def test_a_final_in_stages_from_the_first_to_the_combined_standing(
    contest: Contest, writer: Client, reader: Client
) -> None:
    track = contest.track
    values = SETTINGS | {
        "phase": str(contest.phase.pk),
        "cut": "3",
        "notice_ko": "**정량** 평가입니다.",
        "is_announced": "on",
    }
    assert writer.post(url(contest, f"new/{track.slug}/"), values).status_code == 302
    values = SETTINGS | {"title_ko": "2차 심사", "weight": "55", "scale_min": "0", "scale_max": "100"}
    assert writer.post(url(contest, f"new/{track.slug}/"), values).status_code == 302
    first, second = Stage.objects.order_by("position")

    page = writer.get(url(contest, f"{first.pk}/")).content.decode()
    sent = hidden(page, f"{first.pk}/publish/") | {"confirm": "on"}
    assert writer.post(url(contest, f"{first.pk}/publish/"), sent).status_code == 302

    page = writer.get(url(contest, f"{second.pk}/table/")).content.decode()
    assert "참여하는 3팀" in page
    shown = writer.post(url(contest, f"{second.pk}/table/"), {"text": TABLE, "based_on": "0", "preview": "1"})
    assert "90.25" in shown.content.decode()
    assert not StageTable.objects.exists()  # a preview stores nothing
    sent = hidden(shown.content.decode(), f"{second.pk}/table/") | {"save": "1"}
    assert writer.post(url(contest, f"{second.pk}/table/"), sent).status_code == 302

    own = writer.get(url(contest, f"{second.pk}/")).content.decode()
    assert "점수표를 입력한 사람은 확인할 수 없습니다" in own
    assert "/confirm/" not in own
    page = reader.get(url(contest, f"{second.pk}/")).content.decode()
    sent = hidden(page, f"{second.pk}/confirm/") | {"confirm": "on"}
    assert reader.post(url(contest, f"{second.pk}/confirm/"), sent).status_code == 302
    page = reader.get(url(contest, f"{second.pk}/")).content.decode()
    sent = hidden(page, f"{second.pk}/publish/") | {"confirm": "on", "note_ko": "2차 결과"}
    assert reader.post(url(contest, f"{second.pk}/publish/"), sent).status_code == 302

    page = reader.get(url(contest, f"final/{track.slug}/")).content.decode()
    sent = hidden(page, f"final/{track.slug}/") | {"confirm": "on"}
    assert reader.post(url(contest, f"final/{track.slug}/"), sent).status_code == 302
    final = StageSnapshot.objects.get(stage=None)
    assert [row["team_number"] for row in final.rows] == [2, 3, 1, 4, 5]
    assert "지금의 결과를 그대로 발표했습니다" in reader.get(url(contest, f"final/{track.slug}/")).content.decode()
    assert "심사 더하기" not in reader.get(url(contest)).content.decode()


def test_every_error_of_a_table_is_shown_with_its_line_and_nothing_is_lost(
    contest: Contest, writer: Client, second: Stage
) -> None:
    wrong = "팀 번호,점수\n1,많음\n9,5\n2,101\n"
    response = writer.post(url(contest, f"{second.pk}/table/"), {"text": wrong, "based_on": "0"})
    page = response.content.decode()
    assert response.status_code == 422
    for text in ("점수가 수가 아닙니다", "참여하지 않는 팀입니다", "0부터 100까지의 범위를", "점수가 없는 팀입니다"):
        assert text in page
    assert "1,많음" in page  # still in the form
    assert not StageTable.objects.exists()


def test_a_file_takes_the_place_of_the_pasted_table(contest: Contest, writer: Client, second: Stage) -> None:
    template = writer.get(url(contest, f"{second.pk}/table/template.csv")).content.decode("utf-8-sig")
    assert template.splitlines()[0] == "팀 번호,팀,점수"
    filled = "\n".join([template.splitlines()[0], *(line + "50" for line in template.splitlines()[1:])])
    file = SimpleUploadedFile("scores.csv", filled.encode("cp949"))
    values = {"file": file, "text": "", "based_on": "0", "save": "1"}
    assert writer.post(url(contest, f"{second.pk}/table/"), values).status_code == 302
    table = newest_table(second)
    assert table is not None
    assert [row["score"] for row in table.rows] == [50.0, 50.0, 50.0]


def test_a_file_that_is_no_table_is_refused_at_its_field(contest: Contest, writer: Client, second: Stage) -> None:
    file = SimpleUploadedFile("scores.xlsx", b"PK\x03\x04\xff\x00\x81\xff")
    response = writer.post(url(contest, f"{second.pk}/table/"), {"file": file, "based_on": "0"})
    assert (response.status_code, "점수표를 읽을 수 없습니다" in response.content.decode()) == (422, True)


def test_a_new_version_shows_what_changes_and_needs_a_reason(contest: Contest, writer: Client, second: Stage) -> None:
    contest.enter(second, {1: 60, 2: 90.25, 3: 80})
    changed = {"text": TABLE.replace("90.25", "95"), "based_on": "1"}
    assert writer.post(url(contest, f"{second.pk}/table/"), changed).status_code == 422
    page = writer.post(url(contest, f"{second.pk}/table/"), changed | {"reason": "합산 오류"}).content.decode()
    assert "앞의 판과 다른 팀: 1팀" in page
    assert page.count("바뀜") == 1


def test_a_table_that_somebody_else_replaced_meanwhile_is_not_lost_nor_confirmed(
    contest: Contest, writer: Client, reader: Client, second: Stage
) -> None:
    contest.enter(second, {1: 1, 2: 2, 3: 3})
    seen = hidden(reader.get(url(contest, f"{second.pk}/")).content.decode(), f"{second.pk}/confirm/")
    contest.enter(second, {1: 1, 2: 2, 3: 99}, reason="오기")
    done = reader.post(url(contest, f"{second.pk}/confirm/"), seen | {"confirm": "on"}, follow=True)
    assert "보는 동안 점수표나 심사 규칙이 바뀌었습니다" in done.content.decode()
    stale = {"text": TABLE, "based_on": "1", "reason": "x", "save": "1"}
    response = writer.post(url(contest, f"{second.pk}/table/"), stale)
    assert (response.status_code, "90.25" in response.content.decode()) == (409, True)
    assert StageTable.objects.count() == 2


def test_rejecting_needs_a_reason_which_the_page_then_shows(contest: Contest, reader: Client, second: Stage) -> None:
    contest.enter(second, {1: 1, 2: 2, 3: 3})
    sent = hidden(reader.get(url(contest, f"{second.pk}/")).content.decode(), f"{second.pk}/reject/")
    assert reader.post(url(contest, f"{second.pk}/reject/"), sent).status_code == 422
    assert reader.post(url(contest, f"{second.pk}/reject/"), sent | {"reason": "서명 없음"}).status_code == 302
    assert "서명 없음" in reader.get(url(contest, f"{second.pk}/")).content.decode()


def test_publishing_wants_the_box_ticked_and_the_result_that_was_seen(contest: Contest, writer: Client) -> None:
    stage = contest.stage()
    address, seen = url(contest, f"{stage.pk}/publish/"), {"sha256": stage_content(stage).sha256}
    assert writer.post(address, seen).status_code == 422
    assert writer.post(address, {"sha256": "0" * 64, "confirm": "on"}).status_code == 409
    assert not StageSnapshot.objects.exists()
    assert writer.post(address, seen | {"confirm": "on"}).status_code == 302


@pytest.mark.parametrize(
    ("change", "field"), [({"weight": "1001"}, "weight"), ({"cut": "0"}, "cut"), ({"scale_max": "-5"}, "scale_max")]
)
def test_settings_that_are_refused_are_named_at_their_field(
    contest: Contest, writer: Client, second: Stage, change: dict[str, Any], field: str
) -> None:
    values = SETTINGS | {"scale_min": "0", "scale_max": "100"} | change
    response = writer.post(url(contest, f"{second.pk}/"), values)
    assert response.status_code == 422
    assert re.search(rf'name="{field}"[^>]*aria-invalid="true"', response.content.decode())


def test_a_viewer_sees_the_scores_and_changes_nothing(contest: Contest, second: Stage) -> None:
    contest.enter(second, {1: 71.25, 2: 2, 3: 3})
    person = person_in(contest.competition, "viewer")
    viewer = client_of(person)
    page = viewer.get(url(contest, f"{second.pk}/")).content.decode()
    assert "71.25" in page
    assert "/confirm/" not in page
    assert viewer.get(url(contest, f"{second.pk}/table/")).status_code == 403
    assert viewer.get(url(contest)).status_code == 200


def test_pages_speak_english(contest: Contest, writer: Client, second: Stage) -> None:
    contest.enter(second, {1: 1, 2: 2, 3: 3})
    for page in (
        "",
        f"new/{contest.track.slug}/",
        f"{second.pk}/",
        f"{second.pk}/table/",
        f"final/{contest.track.slug}/",
    ):
        text = writer.get(url(contest, page), headers={"Accept-Language": "en"}).content.decode()
        assert "Stages" in text, page
        assert not re.search("심사 결과|점수표", text), page


def test_the_two_ways_to_give_a_table_are_not_both_called_optional(
    contest: Contest, writer: Client, second: Stage
) -> None:
    page = writer.get(url(contest, f"{second.pk}/table/")).content.decode()
    assert page.count("(선택)") == 1, "only the reason"


def test_after_a_disqualification_the_list_and_later_stages_say_what_is_to_be_published_again(
    contest: Contest, writer: Client, second: Stage
) -> None:
    contest.judged(second, {1: 60, 2: 90, 3: 80})
    contest.publish_final()
    first = contest.track.stages.get(position=1)
    behind = f"앞의 심사 ‘{first.title}’의 결과를 다시 발표해야 합니다."
    assert "다시 발표해야 함" not in writer.get(url(contest)).content.decode()
    assert behind not in writer.get(url(contest, f"{second.pk}/")).content.decode()
    team = contest.teams[2]
    disqualify_team(team=team, actor=contest.writer, note_ko="규정 위반")
    listed = writer.get(url(contest)).content.decode()
    assert "앞 결과가 바뀜: 다시 발표해야 함" in listed.rpartition("종합 결과")[2]
    assert behind in writer.get(url(contest, f"{second.pk}/")).content.decode()
    page = writer.get(url(contest, f"{first.pk}/")).content.decode()
    assert f"실격하여 빠지는 팀(번호): {team.name} ({team.number})" in page
    assert "앞의 심사 ‘" not in page


def test_publishing_again_names_what_becomes_outdated(contest: Contest, writer: Client, second: Stage) -> None:
    """Of the board the stages made of it, of a stage those behind it and the combined standing."""
    contest.judged(second, {1: 60, 2: 90, 3: 80})
    contest.publish_final()
    disqualify_team(team=contest.teams[5], actor=contest.writer, note_ko="규정 위반")
    phases = f"/competitions/{contest.competition.slug}/manage/phases/{contest.phase.pk}/"
    page = writer.get(f"{phases}?show=final").content.decode()
    names = f"1. {contest.track.stages.get(position=1).title}, 2. {second.title}, 종합 결과"
    assert f"함께 다시 발표해야 합니다: {names}" in page
    done = writer.post(f"{phases}publish/", {"word": contest.phase.slug, "note_ko": "5번 팀 실격"}, follow=True)
    assert f"앞의 판에 따른 결과를 다시 발표해야 합니다: {names}" in done.content.decode()
    first = contest.track.stages.get(position=1)
    page = writer.get(url(contest, f"{first.pk}/")).content.decode()
    assert f"함께 다시 발표해야 합니다: 2. {second.title}, 종합 결과" in page
    assert "앞 결과가 바뀜: 다시 발표해야 함" in page
