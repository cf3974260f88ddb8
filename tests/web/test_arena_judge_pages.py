"""The pages of a judge: invitation, consent, practice, the queue in every protocol, drafts, corrections, the end; and
what a judge, a stranger and a participant do not see.
"""

from __future__ import annotations

import copy
import re
from datetime import timedelta
from typing import Any

import pytest
from allauth.account.models import EmailAddress
from django.core import mail
from django.core.cache import cache
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from malpan.accounts.models import User
from malpan.arena.invitations import invite_judge
from malpan.arena.judges import consent_version_of, remove_judge
from malpan.arena.models import (
    Assignment,
    Campaign,
    CampaignItem,
    CampaignJudge,
    Judgement,
    JudgementDraft,
    Rubric,
)
from malpan.arena.queue import texts_of
from malpan.competitions.models import Competition, CompetitionRole
from malpan.teams.models import Membership
from malpan.web.forms.arena import place_of
from malpan.web.presenters.arena import time_left
from tests.arena.panels import REASONS, VALUES, Panel, draft_panel, open_panel, person
from tests.factories import UserFactory
from tests.web import html

pytestmark = pytest.mark.django_db

HANGUL = re.compile(r"[가-힣ㄱ-ㅎㅏ-ㅣ]+")
PROTOCOLS = ("pairwise", "rubric", "ranking", "errors")
QUERY_LIMIT = 25
SENT: dict[str, dict[str, Any]] = {  # what a browser without script sends for ``VALUES``
    "pairwise": {"choice": "first", "reasons": ["accuracy"]},
    "rubric": {"score-fluency": "4", "score-accuracy": "3"},
    "ranking": {"rank-0": "1", "rank-1": "2", "rank-2": "2"},
    "errors": {
        "score": "70", "spans": "3", "span-0-quote": "문항", "span-0-at": "1", "span-0-severity": "major",
        "span-0-category": "accuracy", "span-1-quote": "", "span-2-quote": " ",
    },
}  # fmt: skip


@pytest.fixture(autouse=True)
def _no_rate_limit_of_another_test() -> None:
    cache.clear()


class Judge:
    """A judge of ``panel`` at a browser."""

    def __init__(self, panel: Panel, place: int = 0, language: str = "ko") -> None:
        self.panel, self.row = panel, panel.judges[place]
        self.client = Client(headers={"accept-language": language})
        assert self.row.user is not None
        self.client.force_login(self.row.user)

    def url(self, name: str, *args: Any) -> str:
        return reverse(name, args=[self.panel.campaign.pk, *args])

    def begin(self) -> Assignment:
        """Ask for the next assignment; the one that the page leads to."""
        return self.at(self.client.post(self.url("arena_queue")))

    def at(self, response: Any) -> Assignment:
        assert response.status_code == 302, response.content.decode()
        key = response["Location"].split("/judge/")[1].strip("/")
        return Assignment.objects.get(shown_key=key)

    def look(self, assignment: Assignment, query: str = "", **headers: str) -> html.Element:
        response = self.client.get(self.url("arena_assignment", assignment.shown_key) + query, headers=headers)
        assert response.status_code == 200
        return html.parse(response.content.decode())

    def send(self, assignment: Assignment, **data: Any) -> Any:
        given = {"expected": "0", **(data or SENT[self.panel.campaign.protocol])}
        return self.client.post(self.url("arena_assignment", assignment.shown_key), given)

    def practise(self) -> Assignment:
        """Do the practice; the first assignment of the queue."""
        while (assignment := self.begin()).kind == Assignment.Kind.CALIBRATION:
            self.send(assignment)
        return assignment


@pytest.fixture(scope="module")
def made(kept: None) -> Panel:
    return open_panel()


@pytest.fixture
def judge(made: Panel) -> Judge:
    return Judge(copy.deepcopy(made))


def fields_of(page: html.Element) -> dict[str, list[str]]:
    """What the form of the page would send as it is."""
    return html.fields_of(next(each for each in page.all("form") if "data-judge" in each.attributes))


# --- invitations ------------------------------------------------------------------------------------------------------
def invited(panel: Panel, email: str = "new@example.com") -> str:
    """The path of an invitation to ``email``."""
    paths: list[str] = []

    def link_for(token: str) -> str:
        paths.append(reverse("arena_invitation", args=[token]))
        return f"https://malpan.example{paths[-1]}"

    invite_judge(campaign=panel.campaign, actor=panel.organiser, email=email, link_for=link_for)
    return paths[0]


def test_a_visitor_is_led_to_log_in_or_sign_up_and_back() -> None:
    path = invited(draft_panel())
    assert path in mail.outbox[0].body
    page = html.parse(Client().get(path).content.decode())
    links = [link.attributes["href"] for link in page.one("main").all("a")]
    assert links == [
        f"/accounts/login/?next={path.replace('/', '%2F')}",
        f"/accounts/signup/?next={path.replace('/', '%2F')}",
    ]
    assert "new@example.com" not in page.text
    assert "n***@example.com" in page.text
    sent = Client().post(path)
    assert sent["Location"].startswith("/accounts/login/?next=")


def test_who_was_invited_accepts_and_reads_the_campaign() -> None:
    panel = draft_panel()
    path, client = invited(panel), Client()
    client.force_login(person("new@example.com"))
    assert "초대 수락" in client.get(path).content.decode()
    response = client.post(path, follow=True)
    assert response.redirect_chain == [(f"/arena/{panel.campaign.pk}/", 302)]
    assert "초대를 수락했습니다" in response.content.decode()
    assert "이미 수락한 초대입니다" in client.get(path).content.decode()
    stranger = Client()
    stranger.force_login(person("other@example.com"))
    assert "이미 다른 사람이 수락한 초대입니다" in stranger.get(path).content.decode()
    assert stranger.get(f"/arena/{panel.campaign.pk}/").status_code == 404


def test_an_invitation_is_for_its_address_its_time_and_nobody_who_organises() -> None:
    panel = draft_panel()
    path, client = invited(panel), Client()
    client.force_login(person("other@example.com"))
    assert "n***@example.com 주소로 보낸 것입니다" in client.get(path).content.decode()
    assert "n***@example.com 주소로 보낸 것입니다" in client.post(path, follow=True).content.decode()
    told = html.parse(client.get(path).content.decode()).one("main")
    assert "지금 로그인한 계정 other@example.com" in told.text
    form = next(each for each in told.all("form") if each.attributes["action"] == reverse("account_logout"))
    left = client.post(reverse("account_logout"), html.fields_of(form))
    assert left["Location"] == path, "where they log in with the other account"
    assert "로그인하거나 가입해" in client.get(path).content.decode()
    client.force_login(User.objects.get(email="other@example.com"))
    organiser = Client()
    assert panel.organiser.email
    own = invited(panel, panel.organiser.email)
    EmailAddress.objects.create(user=panel.organiser, email=panel.organiser.email, primary=True, verified=True)
    organiser.force_login(panel.organiser)
    assert "운영하는 사람은 평가자가 될 수 없습니다" in organiser.get(own).content.decode(), "before they press"
    assert "운영하는 사람은 평가자가 될 수 없습니다" in organiser.post(own, follow=True).content.decode()
    CampaignJudge.objects.update(expires_at=timezone.now() - timedelta(days=1))
    assert client.get(path).status_code == 410
    assert client.get("/arena/invitation/nothing/").status_code == 404
    assert not CampaignJudge.objects.filter(accepted_at__isnull=False).exists()


# --- consent ----------------------------------------------------------------------------------------------------------
def without_consent(panel: Panel) -> Judge:
    CampaignJudge.objects.filter(pk=panel.judges[0].pk).update(consent_version="", consented_at=None, rubric=None)
    return Judge(panel)


def test_judging_begins_after_consent_to_the_versions_on_the_page() -> None:
    judge = without_consent(open_panel())
    address = judge.url("arena_campaign")
    led = judge.client.post(judge.url("arena_queue"), follow=True)
    assert led.redirect_chain == [(address, 302)]
    page = html.parse(led.content.decode())
    assert "먼저 안내에 동의하고" in page.text
    seen = {
        field.attributes["name"]: field.attributes["value"]
        for field in page.all("input", type="hidden")
        if "name" in field.attributes
    }
    versions = {name: seen[name] for name in ("consent_version", "rubric")}
    assert versions == {
        "consent_version": consent_version_of(judge.panel.campaign), "rubric": str(judge.panel.campaign.rubric_id)
    }  # fmt: skip
    assert judge.client.post(address, {**versions, "consent": "on"}).status_code == 422
    stale = judge.client.post(address, {**versions, "consent": "on", "guideline": "on", "rubric": "1234"})
    assert (stale.status_code, "안내나 지침이 바뀌었습니다" in stale.content.decode()) == (409, True)
    assert judge.client.post(address, {**versions, "consent": "on", "guideline": "on"}).status_code == 302
    row = CampaignJudge.objects.get(pk=judge.row.pk)
    assert (row.rubric, row.consent_version) == (judge.panel.campaign.rubric, versions["consent_version"])
    assert judge.begin().kind == "calibration"


def test_consent_is_asked_again_when_the_notice_changes(judge: Judge) -> None:
    assignment = judge.practise()
    Campaign.objects.update(notice_ko="다른 안내")
    response = judge.client.get(judge.url("arena_assignment", assignment.shown_key), follow=True)
    assert response.redirect_chain == [(judge.url("arena_campaign"), 302)]
    assert "동의하기" in response.content.decode()


def test_teams_that_a_judge_knows_are_taken_out_of_the_queue() -> None:
    judge = Judge(open_panel(systems=6))
    system = judge.panel.systems[0]
    sent = judge.client.post(judge.url("arena_known_teams"), {"teams": f" {system.submission.team.number}, 99999 "})
    assert sent.status_code == 302
    left = Assignment.objects.filter(judge=judge.row, state="open")
    assert left
    assert [row for row in left if system.label in row.systems] == []
    assert judge.client.post(judge.url("arena_known_teams"), {"teams": " , "}).status_code == 422


def test_what_was_shown_before_a_team_was_declared_is_closed_whosoever_it_is() -> None:
    """Else a judge who declares a team sees which of the outputs before them was that team's."""
    judge = Judge(open_panel(systems=9, item_count=6))
    done = judge.practise()
    judge.send(done)
    on_show = judge.begin()
    others = [row for row in judge.panel.systems if row.label not in {*done.systems, *on_show.systems}]
    judge.client.post(judge.url("arena_known_teams"), {"teams": str(others[0].submission.team.number)})

    for assignment in (done, on_show):
        page = judge.look(assignment)
        assert "그때까지 본 문항은 모두 닫았습니다" in page.text
        assert [text for text in texts_of(assignment) if text in page.text] == []
    sent = judge.send(done, expected="1", choice="second")
    assert (sent.status_code, "어느 문항이 그 팀의 것인지" in sent.content.decode()) == (409, True)
    assert judge.send(on_show).status_code == 409
    listed = html.parse(judge.client.get(judge.url("arena_done")).content.decode())
    assert "닫힌 문항" in listed.text
    assert "보고 고치기" not in listed.text
    following = judge.begin()
    assert following.pk != on_show.pk
    assert not [each for each in judge.look(following).all("a") if "data-undo" in each.attributes]
    judge.send(following)
    assert Judgement.objects.filter(assignment=following).exists()
    assert "보고 고치기" in judge.client.get(judge.url("arena_done")).content.decode(), "that was shown afterwards"
    assert Judgement.objects.filter(assignment=done).count() == 1, "and counts"


def test_a_name_that_is_no_teams_is_left_to_the_organisers(judge: Judge) -> None:
    said = [
        html.parse(judge.client.post(judge.url("arena_known_teams"), {"teams": teams}, follow=True).content.decode())
        for teams in ("없는팀이름, 세종대로", "없는팀이름")
    ]
    assert "이 대회의 팀이면 그 팀의 출력은 이제 보이지 않습니다" in said[0].text
    assert "없는팀이름" not in said[1].text
    assert CampaignJudge.objects.get(pk=judge.row.pk).unknown_teams == ["없는팀이름", "세종대로"]


def test_a_judge_who_declares_too_many_is_told_whom_to_ask(judge: Judge) -> None:
    address = judge.url("arena_known_teams")
    numbers = [system.submission.team.number for system in judge.panel.systems]
    refused = judge.client.post(address, {"teams": f"{numbers[0]}, {numbers[1]}"})
    page = html.parse(refused.content.decode())
    assert refused.status_code == 409
    assert "아는 팀을 운영자에게 알려 주십시오" in page.text
    assert page.one("input", id="known-teams").attributes["aria-invalid"] == "true"
    assert CampaignJudge.objects.get(pk=judge.row.pk).declared_teams == []
    told = html.parse(judge.client.get(judge.url("arena_campaign")).content.decode())
    assert "아는 팀이 많으면 아래의 ‘운영자에게 알리기’로 알려 주십시오" in told.text


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_the_reference_is_shown_where_the_campaign_shows_it_and_nowhere_else(protocol: str) -> None:
    """In practice, before judging, and where what was judged is looked at again."""
    judge = Judge(open_panel(protocol))
    CampaignItem.objects.update(reference_text="정답카나리아 <b>글</b>")
    for is_shown in (False, True):
        Campaign.objects.update(shows_reference=is_shown)
        assignment = judge.begin()
        pages = [judge.look(assignment)]
        judge.send(assignment)
        pages.append(judge.look(assignment))
        for page in pages:
            assert ("정답카나리아" in page.text) == is_shown
            assert [each.text for each in page.all("section", **{"aria-labelledby": "reference"})] == (
                ["모범 답안 정답카나리아 <b>글</b>"] if is_shown else []
            )
        others = [judge.client.get(judge.url(name)).content.decode() for name in ("arena_campaign", "arena_done")]
        assert not [text for text in others if "정답카나리아" in text]


# --- practice and the queue -------------------------------------------------------------------------------------------
def test_practice_comes_first_and_tells_what_was_expected(judge: Judge) -> None:
    practice = judge.begin()
    assert practice.kind == "calibration"
    page = judge.look(practice)
    assert "연습" in page.one("title").text
    wrong = {"choice": "first" if practice.bad_index == 0 else "second"}
    response = judge.send(practice, **wrong)
    assert response["Location"] == judge.url("arena_assignment", practice.shown_key)
    page = judge.look(practice)
    assert "기대한 것과 다른 판단입니다" in page.text
    assert f"기대한 판단: {'B가 나음' if practice.bad_index == 0 else 'A가 나음'}" in " ".join(page.text.split())
    assert "뒤섞였습니다." in page.text
    assert not [form for form in page.all("form") if "data-judge" in form.attributes]
    assert page.one("button", "button").text == "평가 시작"
    assert judge.begin().kind != "calibration"


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_every_protocol_is_judged_by_a_plain_form(protocol: str) -> None:
    judge = Judge(open_panel(protocol))
    assignment = judge.practise()
    response = judge.send(assignment, **SENT[protocol], note="  어려움 ", seconds="0")
    judged = Judgement.objects.get(assignment=assignment)
    assert (judged.value, judged.note, judged.number) == (VALUES[protocol], "어려움", 1)
    then = judge.at(response)
    assert (then.position, then.state) == (assignment.position + 1, "open")
    page = judge.look(assignment)  # shown as it was judged, and sent again as it is
    again = fields_of(page)
    assert again["expected"] == ["1"]
    assert again["note"] == ["어려움"]
    sent = judge.client.post(judge.url("arena_assignment", assignment.shown_key), again)
    assert sent.status_code == 302
    assert Judgement.objects.filter(assignment=assignment).count() == 1, "nothing was changed"


@pytest.mark.parametrize(
    ("protocol", "sent", "said"),
    [
        ("pairwise", {"choice": "", "reasons": "accuracy"}, "어느 쪽이 나은지 골라"),
        ("rubric", {"score-fluency": "3"}, "‘정확성’의 점수를 골라"),
        ("rubric", {"score-fluency": "3", "score-accuracy": "9"}, "척도를 벗어납니다"),
        ("ranking", {"rank-0": "1", "rank-1": "2"}, "모든 출력의 순위를"),
        ("ranking", {"rank-0": "1", "rank-1": "3", "rank-2": "3"}, "순위가 건너뜁니다"),
        ("errors", {"spans": "0"}, "점수를 0부터 100까지"),
        ("errors", {"score": "70", "spans": "1", "span-0-quote": "없는 글"}, "‘없는 글’을 출력에서 찾지"),
        ("errors", {"score": "70", "spans": "1", "span-0-quote": "문항"}, "오류의 정도를 골라"),
        ("errors", {"score": "70", "spans": "1", "span-0-severity": "major"}, "1번째 오류의 글이 비어 있습니다"),
        ("errors", {"score": "70", "spans": "1", "span-0-category": "fluency"}, "잘못된 곳을 옮겨 적거나"),
        ("errors", {"score": "70", "spans": "1", "span-0-quote": "문항", "span-0-severity": "minor"}, "오류의 종류를"),
    ],
)
def test_what_is_missing_is_said_and_nothing_is_lost(protocol: str, sent: dict[str, str], said: str) -> None:
    judge = Judge(open_panel(protocol))
    assignment = judge.practise()
    response = judge.send(assignment, **sent, note="적어 둔 것")
    assert response.status_code == 422
    page = html.parse(response.content.decode())
    assert said in page.one(id="errors").text
    assert page.one(id="errors").attributes["role"] == "alert"
    kept = fields_of(page)
    assert kept["note"] == ["적어 둔 것"]
    for name, value in sent.items():
        if value and name not in ("spans",) and value != "9":
            assert kept[name] == [value], name
    assert not Judgement.objects.filter(assignment=assignment).exists()


def test_a_row_of_an_error_is_taken_away_without_script() -> None:
    """A button of its severity cannot be let go of."""
    judge = Judge(open_panel("errors"))
    assignment = judge.practise()
    judge.send(assignment, **SENT["errors"], **{"span-1-severity": "minor", "span-1-drop": "1"})
    assert Judgement.objects.get(assignment=assignment).value == VALUES["errors"]


def test_kinds_of_errors_are_spoken_of_where_the_rubric_has_them() -> None:
    told = []
    for reasons in (REASONS, []):
        judge = Judge(open_panel("errors", reasons=reasons))
        told.append(judge.look(judge.begin()).one(id="spans-help").text)
    assert "정도와 종류를 고릅니다" in told[0]
    assert "정도를 고릅니다" in told[1]
    assert "종류" not in told[1]


def test_looking_writes_nothing_and_asking_for_the_next_twice_changes_nothing(judge: Judge) -> None:
    assert judge.client.get(judge.url("arena_queue"))["Location"] == judge.url("arena_campaign")
    practice = judge.begin()
    before = Assignment.objects.get(pk=practice.pk).first_shown_at
    assert before is not None
    pages = ["arena_campaign", "arena_queue", "arena_done"]
    addresses = [*map(judge.url, pages), judge.url("arena_assignment", practice.shown_key), "/arena/"]
    for address in addresses:
        with CaptureQueriesContext(connection) as queries:
            judge.client.get(address)
        writes = [each["sql"] for each in queries if re.match(r"\s*(INSERT|UPDATE|DELETE)", each["sql"])]
        assert writes == [], address
        assert len(queries) <= QUERY_LIMIT, address
    assert judge.begin() == practice
    assert Assignment.objects.get(pk=practice.pk).first_shown_at == before
    assert judge.client.get(judge.url("arena_queue"))["Location"].endswith(f"/{practice.shown_key}/")


def test_an_assignment_not_shown_yet_or_of_another_judge_is_not_there(judge: Judge) -> None:
    waiting = Assignment.objects.filter(judge=judge.row, first_shown_at=None).last()
    other = Judge(judge.panel, 1)
    theirs = other.begin()
    assert waiting is not None
    for key in (waiting.shown_key, theirs.shown_key):
        for name in ("arena_assignment", "arena_draft"):
            address = judge.url(name, key)
            assert judge.client.post(address, {"choice": "first", "expected": "0"}).status_code == 404
        assert judge.client.get(judge.url("arena_assignment", key)).status_code == 404


def test_haste_is_said_and_holds_nobody_up(judge: Judge) -> None:
    assignment = judge.practise()
    response = judge.client.post(
        judge.url("arena_assignment", assignment.shown_key), {"choice": "tie", "expected": "0"}, follow=True
    )
    assert "5초 이상 읽기를 권합니다" in html.parse(response.content.decode()).one("div", "messages").text
    Assignment.objects.filter(state="open").update(first_shown_at=timezone.now() - timedelta(seconds=90))
    slow = judge.begin()
    sent = judge.send(slow, choice="tie", seconds="31")
    assert Judgement.objects.get(assignment=slow).seconds == 31
    assert (
        "권합니다"
        not in html.parse(judge.client.get(sent["Location"]).content.decode()).one("main").text.split("판단 보내기")[0]
    )


def test_progress_and_time_left(judge: Judge) -> None:
    assignment = judge.practise()
    total = Assignment.objects.filter(judge=judge.row).exclude(kind="calibration").count()
    assert f"문항 1/{total}" in judge.look(assignment).one("title").text
    for _ in range(3):
        Assignment.objects.filter(pk=assignment.pk).update(first_shown_at=timezone.now() - timedelta(minutes=2))
        assignment = judge.at(judge.send(assignment))
    page = judge.look(assignment)
    assert page.one("progress").attributes["value"] == "3"
    assert f"남은 시간 {time_left(120 * (total - 3))}" in page.text


# --- drafts -----------------------------------------------------------------------------------------------------------
def test_the_script_keeps_a_draft_that_the_page_begins_with(judge: Judge) -> None:
    assignment = judge.practise()
    address = judge.url("arena_draft", assignment.shown_key)
    response = judge.client.post(address, {"reasons": "fluency", "note": "보는 중"})
    assert response.status_code == 200
    assert response.json()["said"].startswith("임시 저장했습니다.")
    kept = fields_of(judge.look(assignment))
    assert (kept["reasons"], kept["note"], "choice" in kept) == (["fluency"], ["보는 중"], False)
    judge.send(assignment)
    assert not JudgementDraft.objects.exists()
    late = judge.client.post(address, {"choice": "tie"})
    assert (late.status_code, late.json()["said"].startswith("다른 창이나 기기에서")) == (409, True)
    assert judge.client.get(address).status_code == 405
    assert Client().post(address).status_code == 302


def test_a_draft_is_kept_without_script_with_room_for_more_errors() -> None:
    judge = Judge(open_panel("errors"))
    assignment = judge.practise()
    address = judge.url("arena_assignment", assignment.shown_key)
    row = {"span-0-quote": "아직 없는 글", "span-0-severity": "minor", "spans": "3"}
    response = judge.client.post(address, {**row, "more": "1", "expected": "0"})
    assert response["Location"] == f"{address}?rows=4"
    page = judge.look(assignment, "?rows=4")
    kept = fields_of(page)
    assert (kept["span-0-quote"], kept["span-0-severity"], kept["spans"]) == (["아직 없는 글"], ["minor"], ["4"])
    assert judge.client.post(address, {**row, "draft": "1", "expected": "0"})["Location"] == address
    assert len(fields_of(judge.look(assignment, "?rows=9999"))["spans"]) == 1
    assert fields_of(judge.look(assignment, "?rows=9999"))["spans"] == ["200"]


# --- refused ----------------------------------------------------------------------------------------------------------
def close(judge: Judge, _assignment: Assignment) -> None:
    Campaign.objects.update(closed_at=timezone.now())


def end(judge: Judge, _assignment: Assignment) -> None:
    Campaign.objects.update(ends_at=timezone.now() - timedelta(seconds=1))


def change_notice(judge: Judge, _assignment: Assignment) -> None:
    Campaign.objects.update(notice_ko="다른 안내")


def move(judge: Judge, assignment: Assignment) -> None:
    Assignment.objects.filter(pk=assignment.pk).update(state="void", void_reason="moved")


def judge_elsewhere(judge: Judge, assignment: Assignment) -> None:
    assert judge.send(assignment).status_code == 302


def remove(judge: Judge, _assignment: Assignment) -> None:
    remove_judge(judge=judge.row, actor=judge.panel.organiser, reason="이해 충돌")


def appoint(judge: Judge, _assignment: Assignment) -> None:
    competition = judge.panel.campaign.track.competition
    CompetitionRole.objects.create(competition=competition, user=judge.row.user, role="viewer")


REFUSED = [
    (close, "campaign_not_open", 409, "운영자가 이 판단이 도착하기 전에 평가를 마감했습니다", "arena_campaign"),
    (end, "campaign_time_over", 409, "마감 시각이 지난 뒤에 도착했습니다", "arena_campaign"),
    (change_notice, "", 403, "운영자가 안내나 지침을 바꾸었습니다", "arena_campaign"),
    (move, "assignment_void", 409, "평가에서 빠지거나 다른 평가자에게 옮겨졌습니다", "arena_queue"),
    (judge_elsewhere, "judgement_elsewhere", 409, "다른 창이나 기기에서 먼저 보낸 판단", "arena_assignment"),
    (remove, "judge_removed", 403, "평가자 목록을 바꾸었습니다", ""),
    (appoint, "judge_is_organiser", 409, "운영을 맡게 되었습니다", ""),
]
WORDS = "셋째 줄을\n다시 읽어 보니 <b>달라서</b>"


def lines_of(field: html.Element) -> list[str]:
    return "".join(map(str, field.children)).removeprefix("\n").split("\n")


@pytest.mark.parametrize(("happen", "code", "status", "why", "leads_to"), REFUSED)
def test_what_is_refused_is_left_to_the_judge_with_who_did_it_and_what_to_do(
    judge: Judge, happen: Any, code: str, status: int, why: str, leads_to: str
) -> None:
    assignment = judge.practise()
    happen(judge, assignment)
    sent = {"choice": "second", "reasons": "fluency", "note": WORDS}
    before = Judgement.objects.count()
    for extra in ({}, {"draft": "1"}):
        if extra and happen is change_notice:
            continue
        response = judge.send(assignment, **sent, **extra)
        page = html.parse(response.content.decode())
        assert (response.status_code, html.problems(page)) == (status, [])
        assert why in page.one(id="errors").text
        own = page.one("textarea", id="words")
        assert "readonly" in own.attributes
        assert "disabled" not in own.attributes
        assert lines_of(own) == ["판단: B가 나음", "까닭: 자연스러워서", "메모:", *WORDS.split("\n")]
        main = page.one("main")
        if leads_to == "arena_queue":
            assert main.one("form").attributes["action"] == judge.url("arena_queue")
        else:
            args = [assignment.shown_key] if leads_to == "arena_assignment" else []
            to = judge.url(leads_to, *args) if leads_to else "/arena/"
            assert main.one("a", "button").attributes["href"] == to
        assert [text for text in texts_of(assignment) if text in main.text] == [], "the outputs are not shown again"
    assert Judgement.objects.count() == before
    drafted = judge.client.post(judge.url("arena_draft", assignment.shown_key), sent)
    assert drafted.json().get("code", "") == code


@pytest.mark.parametrize("happen", [close, end, move])
@pytest.mark.parametrize("protocol", ["pairwise", "errors"])
def test_what_is_incomplete_and_too_late_is_left_to_the_judge_as_well(protocol: str, happen: Any) -> None:
    judge = Judge(open_panel(protocol))
    assignment = judge.practise()
    happen(judge, assignment)
    sent = {"choice": "", "spans": "1", "span-0-quote": "출력에 없는 글", "note": "여기까지"}
    response = judge.send(assignment, **sent)
    own = lines_of(html.parse(response.content.decode()).one("textarea", id="words"))
    assert (response.status_code, own[-2:]) == (409, ["메모:", "여기까지"])
    assert ("오류: “출력에 없는 글”" in own) == (protocol == "errors")


def test_what_was_sent_before_a_changed_notice_is_read_is_there_after_the_consent(judge: Judge) -> None:
    assignment = judge.practise()
    change_notice(judge, assignment)
    refused = judge.send(assignment, choice="second", note=WORDS).content.decode()
    assert "이 문항을 열면 그대로 나옵니다" in refused
    judge.panel.campaign.refresh_from_db()
    versions = {"consent_version": consent_version_of(judge.panel.campaign), "rubric": judge.panel.campaign.rubric_id}
    judge.client.post(judge.url("arena_campaign"), {**versions, "consent": "on", "guideline": "on"})
    assert judge.begin() == assignment
    again = fields_of(judge.look(assignment))
    assert (again["choice"], again["note"][0].split()) == (["second"], WORDS.split())


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_what_was_refused_is_told_in_every_protocol(protocol: str) -> None:
    judge = Judge(open_panel(protocol))
    assignment = judge.practise()
    move(judge, assignment)
    page = html.parse(judge.send(assignment, **SENT[protocol]).content.decode())
    assert lines_of(page.one("textarea", id="words")) == {
        "pairwise": ["판단: A가 나음", "까닭: 정확해서"],
        "rubric": ["자연스러움: 4", "정확성: 3"],
        "ranking": ["출력 A의 순위: 1위", "출력 B의 순위: 2위", "출력 C의 순위: 2위"],
        "errors": ["전체 점수: 70", "오류: “문항” (무거움, 정확해서)"],
    }[protocol]  # fmt: skip


def test_a_note_that_is_too_long_is_not_lost_with_a_draft(judge: Judge) -> None:
    assignment = judge.practise()
    response = judge.send(assignment, choice="tie", note="가" * 2001, draft="1")
    page = html.parse(response.content.decode())
    assert (response.status_code, "2,000자" in page.one(id="errors").text) == (422, True)
    assert fields_of(page)["note"] == ["가" * 2001]


# --- undo, corrections, the end ---------------------------------------------------------------------------------------
def test_the_last_judgement_is_taken_up_again_as_another_row(judge: Judge) -> None:
    first = judge.practise()
    second = judge.at(judge.send(first, choice="first"))
    page = judge.look(second)
    undo = next(link for link in page.all("a") if "data-undo" in link.attributes)
    assert undo.attributes["href"] == judge.url("arena_assignment", first.shown_key)
    response = judge.send(first, choice="second", expected="1", note="다시 읽음")
    assert judge.at(response) == second, "back to where the judge was"
    assert list(first.judgements.values_list("number", "value__choice", "note")) == [
        (2, "second", "다시 읽음"),
        (1, "first", ""),
    ]
    stale = html.parse(judge.send(first, choice="tie", expected="1").content.decode())
    assert "이미 판단한 문항입니다" in stale.one(id="errors").text
    assert stale.one("main").one("a", "button").attributes["href"] == judge.url("arena_assignment", first.shown_key)
    assert fields_of(judge.look(first))["choice"] == ["second"]
    assert first.judgements.count() == 2


def judge_all(judge: Judge) -> None:
    assignment = judge.practise()
    for _ in range(200):
        response = judge.send(assignment)
        if response["Location"] == judge.url("arena_done"):
            return
        assignment = judge.at(response)


def test_the_end_shows_what_was_said_and_lets_it_be_corrected_until_the_closing(judge: Judge) -> None:
    judge_all(judge)
    done = judge.client.get(judge.url("arena_done"))
    page = html.parse(done.content.decode())
    rows = page.one("tbody").all("tr")
    total = Assignment.objects.filter(judge=judge.row, state="done").exclude(kind="calibration").count()
    assert len(rows) == total > 3
    assert "A가 나음 (정확해서)" in rows[0].text
    assert "배정된 문항을 모두 마쳤습니다" in page.text
    link = rows[-1].one("a").attributes["href"]
    assignment = Assignment.objects.get(shown_key=link.split("/judge/")[1].split("/")[0])
    assert fields_of(judge.look(assignment, "?list=1"))["list"] == ["1"]
    response = judge.send(assignment, choice="tie", expected="1", list="1")
    assert response["Location"] == judge.url("arena_done")

    Campaign.objects.update(closed_at=timezone.now())
    page = judge.look(assignment)
    assert "disabled" in next(each for each in page.all("fieldset", "arena-fields")).attributes
    assert [button.text for button in page.one("form", "arena-form").all("button", "button")] == []
    refused = judge.send(assignment, choice="first", expected="2")
    assert "지금은 진행 중인 평가가 아닙니다" in refused.content.decode()
    assert assignment.judgements.count() == 2
    assert "보기" in judge.client.get(judge.url("arena_done")).content.decode()
    assert "마감한 평가입니다" in judge.client.get(judge.url("arena_campaign")).content.decode()


@pytest.mark.parametrize(("language", "word"), [("ko", "마감함"), ("en", "Closed")])
def test_a_closed_campaign_says_so_in_the_readers_language(judge: Judge, language: str, word: str) -> None:
    close(judge, judge.begin())
    for address in ("/arena/", judge.url("arena_campaign")):
        page = html.parse(judge.client.get(address, headers={"accept-language": language}).content.decode())
        assert next(each.text for each in page.all("span") if "badge" in each.attributes.get("class", "")) == word


def test_an_assignment_that_became_void_is_passed_over(judge: Judge) -> None:
    assignment = judge.practise()
    Assignment.objects.filter(pk=assignment.pk).update(state="void", void_reason="moved")
    closed = judge.look(assignment)
    assert "다른 평가자에게 옮겨졌습니다" in closed.text
    assert [text for text in texts_of(assignment) if text in closed.text] == []
    page = html.parse(judge.send(assignment, choice="first").content.decode())
    assert "이 문항은 더 평가하지 않습니다" in page.one(id="errors").text
    then = judge.client.post(page.one("main").one("form").attributes["action"])
    assert judge.at(then).position == assignment.position + 1
    assert not Judgement.objects.filter(assignment=assignment).exists()


# --- who sees what ----------------------------------------------------------------------------------------------------
def addresses_of(judge: Judge, assignment: Assignment) -> list[str]:
    names = ("arena_campaign", "arena_queue", "arena_done")
    return [*map(judge.url, names), judge.url("arena_assignment", assignment.shown_key)]


def test_nobody_else_gets_an_answer(judge: Judge) -> None:
    assignment = judge.practise()
    leader = Membership.objects.filter(team=judge.panel.systems[0].submission.team).get().user
    for user in (UserFactory.create(), leader, judge.panel.organiser):
        client = Client()
        client.force_login(user)
        for address in addresses_of(judge, assignment):
            assert client.get(address).status_code == 404, address
            assert client.post(address, {"choice": "first", "expected": "0"}).status_code in (404, 405), address
    for address in addresses_of(judge, assignment):
        assert Client().get(address)["Location"].startswith("/accounts/login/?next=")
    remove_judge(judge=judge.row, actor=judge.panel.organiser, reason="이해 충돌")
    for address in addresses_of(judge, assignment):
        assert judge.client.get(address).status_code == 403
    assert "평가자로 참여하는 평가가 없습니다" in judge.client.get("/arena/").content.decode()


def test_a_judge_sees_nothing_else_of_an_unpublished_competition(judge: Judge) -> None:
    competition = judge.panel.campaign.track.competition
    Competition.objects.update(is_published=False)
    judge.practise()
    places = (
        "",
        "data/",
        "submit/",
        "board/",
        "team/",
        "questions/",
        "chain/",
        "manage/",
        "manage/teams/",
        "manage/runs/",
    )
    for place in places:
        assert judge.client.get(f"/competitions/{competition.slug}/{place}").status_code == 404, place
    assert competition.title not in judge.client.get("/").content.decode()
    assert judge.client.get(judge.url("arena_campaign")).status_code == 200


def canaries(panel: Panel) -> set[str]:
    """What names a team, a person, a file or the part that an output plays."""
    found = {judge.design_label for judge in panel.judges} | {system.label for system in panel.systems}
    for system in panel.systems:
        submission = system.submission
        found |= {submission.team.name, str(submission.public_id), submission.file_name, submission.file_sha256}
        members = User.objects.filter(memberships__team=submission.team)
        found |= {text for user in members for text in (user.email, user.name)}
    found |= {judge.email for judge in panel.judges[1:]} | {panel.organiser.email, panel.campaign.seed}
    found |= {item.label for item in CampaignItem.objects.all()} | {
        item.reference_id for item in CampaignItem.objects.all()
    }
    return found - {""}


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_nothing_names_a_team_or_tells_a_control_or_a_repeat(protocol: str) -> None:
    panel = open_panel(protocol)
    for number, item in enumerate(CampaignItem.objects.all()):
        item.outputs = dict.fromkeys(item.outputs, f"글 {number} 가운데 하나입니다.")
        item.input_text, item.reference_id = f"물음 {number}", f"canary-reference-{number}"
        item.save()
    Assignment.objects.exclude(bad_index=None).update(bad_text="다른 글입니다.")
    judge, words, shapes, kinds = Judge(panel), canaries(panel), set(), set()
    sent = SENT[protocol] | ({"span-0-quote": "글"} if protocol == "errors" else {})
    assignment = judge.begin()
    while True:
        address = judge.url("arena_assignment", assignment.shown_key)
        shown = judge.client.get(address)
        text = f"{address}\n{shown.headers}\n{shown.content.decode()}"
        assert [word for word in words if re.search(rf"(?<![\w-]){re.escape(word)}(?![\w-])", text)] == []
        assert not re.search(r"control|repeat|calibration|확인 문항|되풀이", text)
        kinds.add(assignment.kind)
        if assignment.kind != "calibration":
            shapes.add(shape_of(html.parse(shown.content.decode())))
        response = judge.send(assignment, **sent)
        if response["Location"] == judge.url("arena_done"):
            break
        assignment = judge.begin()
    assert kinds == {"calibration", "real", "control", "repeat"}
    assert len(shapes) <= 2, "with and without something to undo; the kind changes nothing"
    text = judge.client.get(judge.url("arena_done")).content.decode()
    assert [word for word in words if re.search(rf"(?<![\w-]){re.escape(word)}(?![\w-])", text)] == []


def shape_of(page: html.Element) -> tuple[str, ...]:
    """The elements of the page with the names of their attributes; messages and estimates are left out."""
    skipped = {"messages", "arena-progress"}
    found = []
    for each in page.one("main").all():
        if not skipped & {name for element in [each, *each.ancestors()] for name in element.classes}:
            found.append(f"{each.tag} {sorted(each.attributes)}")
    return tuple(found)


# --- markup -----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("language", ["ko", "en"])
def test_every_page_is_sound_markup_in_both_languages(protocol: str, language: str) -> None:
    panel = open_panel(protocol, title_en="Evaluation", notice_en="Keep it secret.", shows_reference=True)
    rubric = in_two_languages(panel)
    judge = without_consent(panel)
    pages = [judge.client.get(judge.url("arena_campaign"), headers={"accept-language": language})]
    CampaignJudge.objects.filter(pk=judge.row.pk).update(
        consent_version=consent_version_of(panel.campaign), rubric=rubric, consented_at=timezone.now()
    )
    judge = Judge(panel, language=language)
    first = judge.begin()
    look = {"accept-language": language}
    pages.append(judge.client.get(judge.url("arena_assignment", first.shown_key), headers=look))
    judge.send(first)
    pages.append(judge.client.get(judge.url("arena_assignment", first.shown_key), headers=look))
    assignment = judge.begin()
    pages.append(judge.client.get(judge.url("arena_assignment", assignment.shown_key), headers=look))
    pages.append(
        judge.client.post(judge.url("arena_assignment", assignment.shown_key), {"expected": "0"}, headers=look)
    )
    pages.append(
        judge.client.post(
            judge.url("arena_assignment", assignment.shown_key),
            {**SENT[protocol], "spans": "0", "expected": "3"},
            headers=look,
        )
    )
    judge.send(assignment)
    pages += [
        judge.client.get(address, headers=look)
        for address in ("/arena/", judge.url("arena_done"), judge.url("arena_campaign"))
    ]
    pages.append(Client().get(invited(panel), headers=look))
    for response in pages:
        page = html.parse(response.content.decode())
        assert html.problems(page) == [], response.request["PATH_INFO"]
        assert "default-src 'self'" in response["Content-Security-Policy"]
        if language == "en":
            assert page.one("html").attributes["lang"] == "en"
            assert [word for text in english_of(page) for word in HANGUL.findall(text)] == [], response.request[
                "PATH_INFO"
            ]


def in_two_languages(panel: Panel) -> Rubric:
    """A version of the rubric with English texts and anchors, and a long scale, is that of the campaign."""
    old = panel.campaign.rubric
    fluency, accuracy = old.criteria
    anchors = {"1": {"ko": "나쁨", "en": "Bad"}, "5": {"ko": "좋음", "en": "Good"}}
    perfect = {"100": {"ko": "완벽", "en": "Perfect"}}
    criteria = [fluency | {"anchors": anchors}, accuracy | {"high": 100, "anchors": perfect}]
    rubric = Rubric.objects.create(
        track=old.track, number=2, title_ko="기준", title_en="Rubric", guideline_ko="읽는다.", guideline_en="Read it.",
        criteria=criteria, reasons=old.reasons, created_by=old.created_by, created_at=old.created_at,
    )  # fmt: skip
    Campaign.objects.filter(pk=panel.campaign.pk).update(rubric=rubric)
    Competition.objects.update(title_en="Contest")
    User.objects.update(name="Judge")
    panel.campaign.refresh_from_db()
    return rubric


def english_of(element: html.Element) -> list[str]:
    """Texts and worded attributes outside what is marked as Korean."""
    if element.attributes.get("lang") == "ko":
        return []
    worded = ("aria-", "data-", "title")
    texts = [value for name, value in element.attributes.items() if name.startswith(worded)]
    own = [child for child in element.children if isinstance(child, str)]
    below = [text for child in element.children if isinstance(child, html.Element) for text in english_of(child)]
    return [" ".join(own), *texts, *below]


def test_texts_are_shown_as_they_are_and_never_as_markup(judge: Judge) -> None:
    assignment = judge.practise()
    item = assignment.item
    item.outputs = dict.fromkeys(item.outputs, "<b>굵게</b>\n둘째 줄 & <script>alert(1)</script>")
    item.save()
    Assignment.objects.filter(pk=assignment.pk).update(bad_index=None, bad_text="", kind="real", repeats=None)
    page = judge.look(assignment)
    text = page.one("div", "arena-outputs").all("div", "arena-text")[0].children
    assert text == ["<b>굵게</b>\n둘째 줄 & <script>alert(1)</script>"]


# --- places and times -------------------------------------------------------------------------------------------------
def test_a_quote_is_found_at_its_place_else_by_its_number() -> None:
    text = "가나 다라\n가나  다라 가나"
    span = {"quote": "가나", "start": None, "end": None, "at": None}
    assert place_of(span, text) == (0, 2)
    assert place_of(span | {"at": 3}, text) == (text.rindex("가나"), len(text))
    assert place_of(span | {"at": 4}, text) is None
    assert place_of(span | {"quote": "다라 가나", "at": 1}, text) == (3, 8), "a line break is white space"
    assert place_of(span | {"quote": "가나 다라", "start": 6, "end": 12}, text) == (6, 12)
    assert place_of(span | {"start": 1, "end": 3, "at": 2}, text) == (6, 8), "a place that says something else"
    assert place_of(span | {"quote": " "}, text) is None
    assert place_of(span | {"quote": "(", "at": 1}, "a(b") == (1, 2), "no pattern"


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (None, ""),
        (0, ""),
        (1, "약 1분"),
        (60, "약 1분"),
        (61, "약 2분"),
        (3540, "약 59분"),
        (3600, "약 1시간"),
        (3700, "약 1시간 5분"),
        (7000, "약 2시간"),
    ],
)
def test_time_left_in_words(seconds: int | None, words: str) -> None:
    assert time_left(seconds) == words
