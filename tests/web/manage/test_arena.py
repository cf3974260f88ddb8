"""운영실 › 사람 평가: a campaign from its rubric to its publication, as an organiser does it in the browser."""

from __future__ import annotations

import copy
import json
import re
from typing import Any

import pytest
from django.core import mail
from django.test import Client
from django.utils import timezone

from malpan.accounts.models import User
from malpan.arena.campaigns import update_campaign
from malpan.arena.closing import close_campaign
from malpan.arena.declaring import declare_bars
from malpan.arena.errors import JudgeRemoved
from malpan.arena.exclusions import lift_exclusion, make_exclusion
from malpan.arena.judges import bar_judge
from malpan.arena.models import Assignment, Campaign, CampaignJudge, CampaignResult, Exclusion, Rubric
from malpan.arena.quality import LiveJudgeQuality, current_result
from malpan.arena.systems import systems_of
from malpan.core.models import AuditEntry
from malpan.core.storage import read_private, store_private
from malpan.submissions.models import Submission
from malpan.web.presenters.arena_manage import influence_lines
from tests.arena.answers import rested, work_off
from tests.arena.conftest import ITEMS, NAMES, World, judge_everything, judge_one, make_world
from tests.arena.test_metrics import score
from tests.web.html import Element, parse, problems
from tests.web.manage_people import client_of, client_with_role

SETTINGS = {
    "title_ko": "2차 사람 평가", "title_en": "Round 2", "protocol": "pairwise", "part": "all", "item_count": "12",
    "units_per_item": "2", "judges_per_unit": "1", "calibration_count": "2", "control_percent": "10",
    "repeat_percent": "10", "min_seconds": "5", "resamples": "200", "shows_input": "on",
    "masked_words": "큰모델\nGPT-9",
}  # fmt: skip
NO_ROWS = {
    "criterion-TOTAL_FORMS": "0", "criterion-INITIAL_FORMS": "0", "reason-TOTAL_FORMS": "0",
    "reason-INITIAL_FORMS": "0",
}  # fmt: skip


@pytest.fixture(scope="module")
def made_world(kept: None) -> World:
    return make_world()


@pytest.fixture
def world(db: None, made_world: World) -> World:
    """How often its people posted in other tests is forgotten (``tests.web.conftest``)."""
    return copy.deepcopy(made_world)


@pytest.fixture
def writer(world: World) -> Client:
    return client_of(world.owner)


def url(world: World, page: str = "") -> str:
    return f"/competitions/{world.competition.slug}/manage/arena/{page}"


def hidden(text: str) -> dict[str, str]:
    """The hidden fields of a page but the token."""
    fields = [dict(re.findall(r'(\w+)="([^"]*)"', each)) for each in re.findall(r"<input[^>]*>", text)]
    return {each["name"]: each.get("value", "") for each in fields if each.get("type") == "hidden"}


def computed(client: Client, address: str, *, stays: bool = False) -> str:
    """A page that says it waits, and once a worker has answered, what it says then. It loads itself anew, or ``stays``
    as it is and says so: somebody may have ticked its form.
    """
    waiting = parse(client.get(address).content.decode())
    [polled] = [each.attributes["hx-get"] for each in waiting.all() if "hx-get" in each.attributes]
    assert "계산 중" in waiting.one("main").text
    assert any("django_htmx/htmx" in each.attributes.get("src", "") for each in waiting.all("script"))
    assert client.get(polled).status_code == 204
    assert work_off() == 1
    ready = client.get(polled)
    assert (ready.status_code, ready.headers.get("HX-Refresh")) == (286, None if stays else "true")
    assert ("새로 고쳐 보기" in ready.content.decode()) == stays
    return client.get(address).content.decode()


def red(page: Element) -> list[str]:
    """The names of the fields that are marked as wrong."""
    return [each.attributes["name"] for each in page.all() if each.attributes.get("aria-invalid") == "true"]


def rows(prefix: str, *given: dict[str, Any], initial: int = 0) -> dict[str, str]:
    values = {f"{prefix}-{place}-{name}": str(value) for place, row in enumerate(given) for name, value in row.items()}
    return values | {f"{prefix}-TOTAL_FORMS": str(len(given)), f"{prefix}-INITIAL_FORMS": str(initial)}


def test_a_campaign_from_its_rubric_to_its_publication(world: World, writer: Client) -> None:
    track = world.track.slug
    assert "기준표가 있어야" in writer.get(url(world)).content.decode()
    values = {"title_ko": "기준표", "guideline_ko": "**두 출력**을 읽습니다."} | NO_ROWS
    assert writer.post(url(world, f"rubrics/{track}/new/"), values).status_code == 302

    values = SETTINGS | {"rubric": str(Rubric.objects.get().pk), "phase": str(world.phase.pk)}
    made = writer.post(url(world, f"new/{track}/"), values)
    campaign = Campaign.objects.get()
    assert made.url == url(world, f"{campaign.pk}/systems/")
    assert (campaign.group_size, campaign.masked_words) == (2, ["큰모델", "GPT-9"])
    assert writer.post(url(world, f"new/{track}/"), values).url == made.url  # a second click

    top = writer.post(url(world, f"{campaign.pk}/systems/top/"), {"count": "3"})
    assert top.status_code == 302
    assert [row.submission.team.number for row in systems_of(campaign)] == [1, 2, 3]
    fourth = str(world.submissions[4].public_id)
    assert fourth in writer.get(url(world, f"{campaign.pk}/systems/")).content.decode()
    writer.post(url(world, f"{campaign.pk}/systems/add/"), {"add": fourth})
    assert len(systems_of(campaign)) == 4

    invited = {"lines": "one@uni.example.ac.kr, 가온대\ntwo@example.org\t나래원\n\nthree@example.org"}
    assert writer.post(url(world, f"{campaign.pk}/judges/invite/"), invited).status_code == 302
    assert len(mail.outbox) == 3
    assert "/arena/invitation/" in mail.outbox[0].body
    assert set(CampaignJudge.objects.values_list("email", "institution")) == {
        ("one@uni.example.ac.kr", "가온대"), ("two@example.org", "나래원"), ("three@example.org", ""),
    }  # fmt: skip
    for _number in range(3):
        world.judge(campaign)

    page = writer.get(url(world, f"{campaign.pk}/opening/")).content.decode()
    assert "아직 수락하지 않은 평가자가 3명" in page
    assert work_off() == 1  # the words that could give a team away
    assert writer.post(url(world, f"{campaign.pk}/opening/")).status_code == 422
    campaign.refresh_from_db()
    assert campaign.opened_at is None
    assert writer.post(url(world, f"{campaign.pk}/opening/"), {"confirm": "on"}).status_code == 302
    campaign.refresh_from_db()
    assert campaign.opened_at is not None

    page = writer.get(url(world, f"{campaign.pk}/closing/")).content.decode()
    total = Assignment.objects.filter(campaign=campaign).exclude(kind="calibration").count()
    assert f"배정 {total}개 가운데 {total}개가 남았습니다" in page
    assert writer.post(url(world, f"{campaign.pk}/closing/"), {"confirm": "on"}).status_code == 409
    judge_everything(campaign)
    assert "모든 배정을 판단했습니다" in writer.get(url(world, f"{campaign.pk}/closing/")).content.decode()
    assert writer.post(url(world, f"{campaign.pk}/closing/"), {"confirm": "on"}).status_code == 302

    page = computed(writer, url(world, f"{campaign.pk}/publishing/"))
    sent = {"result_sha256": hidden(page)["result_sha256"], "confirm": "on"}
    assert writer.post(url(world, f"{campaign.pk}/publishing/"), sent | {"result_sha256": "0" * 64}).status_code == 409
    assert writer.post(url(world, f"{campaign.pk}/publishing/"), sent).status_code == 302
    result = CampaignResult.objects.get()
    assert result.result_sha256 == sent["result_sha256"]
    assert "지금의 결과를 그대로 발표했습니다" in writer.get(url(world, f"{campaign.pk}/publishing/")).content.decode()


def test_the_first_manage_page_leads_to_the_closing_and_the_publication(world: World, writer: Client) -> None:
    campaign = world.opened()

    def links() -> list[str]:
        page = parse(writer.get(f"/competitions/{world.competition.slug}/manage/").content.decode())
        found = [a.attributes["href"] for a in page.one("ul", "todo").all("a")]
        return [href for href in found if "/arena/" in href]

    assert links() == [], "judges are at work"
    judge_everything(campaign)
    assert links() == [url(world, f"{campaign.pk}/closing/")]
    campaign = close_campaign(campaign=campaign, actor=world.owner)
    assert links() == [url(world, f"{campaign.pk}/publishing/")]
    world.publish(campaign)
    assert links() == []


def test_a_new_campaign_offers_as_many_items_as_there_are_and_too_many_lead_to_the_settings(
    world: World, writer: Client
) -> None:
    campaign = world.ready(item_count=100)
    page = parse(writer.get(url(world, f"new/{world.track.slug}/")).content.decode())
    assert page.one("input", name="item_count").attributes["value"] == str(ITEMS - 3), "three are for the practice"
    opening = parse(writer.get(url(world, f"{campaign.pk}/opening/")).content.decode())
    [link] = opening.one("section", "stack").one("p", "warning").all("a")
    assert link.attributes["href"] == url(world, f"{campaign.pk}/settings/#id_item_count")
    settings = parse(writer.get(url(world, f"{campaign.pk}/settings/")).content.decode())
    assert settings.one("input", id="id_item_count").attributes["value"] == "100"


def test_institutions_that_look_alike_are_asked_about_before_the_opening(world: World, writer: Client) -> None:
    campaign = world.draft_with("국어원", "", "")
    address = url(world, f"{campaign.pk}/opening/")
    assert "같은 기관입니까?" not in writer.get(address).content.decode()
    campaign.systems.filter(position=1).update(institution="국립국어원")
    page = parse(writer.get(address).content.decode())
    card = page.one("section", **{"aria-labelledby": "near-title"})
    assert f"국어원 – {NAMES[0]} 국립국어원" in card.text
    judge = campaign.judges.get(institution="국어원")
    links = [link.attributes["href"] for link in card.all("a")]
    assert links == [url(world, f"{campaign.pk}/systems/"), url(world, f"{campaign.pk}/judges/{judge.pk}/")]
    assert problems(page) == []


def test_judges_with_something_left_are_reminded_from_their_list(world: World, writer: Client) -> None:
    campaign = world.opened()
    address = url(world, f"{campaign.pk}/judges/")
    page = parse(writer.get(address).content.decode())
    assert "문항이 남은 평가자가 3명 있습니다" in page.one("section", **{"aria-labelledby": "remind-title"}).text
    done = writer.post(f"{address}remind/", follow=True).content.decode()
    assert "평가자 3명에게 알렸습니다." in done
    again = writer.post(f"{address}remind/", follow=True).content.decode()
    assert "3명에게는 24시간 안에 이미 알려 다시 보내지 않았습니다" in again
    assert "remind-title" not in client_with_role(world.competition, "viewer").get(address).content.decode()
    judge_everything(campaign)
    assert "remind-title" not in writer.get(address).content.decode()


# --- rubrics ----------------------------------------------------------------------------------------------------------


def test_a_new_version_copies_the_last_one_and_leaves_it_as_it_was(world: World, writer: Client) -> None:
    first = world.rubric()
    address = url(world, f"rubrics/{world.track.slug}/new/")
    page = parse(writer.get(address).content.decode())
    assert page.one("input", id="id_criterion-0-label_ko").attributes["value"] == "유창성"
    sent = {
        "title_ko": first.title_ko, "title_en": "", "guideline_ko": first.guideline_ko, "guideline_en": "",
        **rows(
            "criterion",
            {
                "label_ko": "유창성", "label_en": "Fluency", "key": "fluency", "low": 1, "high": 5, "weight": 2,
                "anchors_ko": "5: 자연스럽다\n1점: 읽기 어렵다", "anchors_en": "5: Reads well",
            },
            {
                "label_ko": "정확성", "label_en": "Accuracy", "key": "accuracy", "low": 1, "high": 5, "weight": 1,
                "DELETE": "on",
            },
            {"label_ko": "도움", "label_en": "Is it helpful?", "key": "", "low": 0, "high": 100, "weight": 1},
            initial=2,
        ),
        **rows(
            "reason", {"label_ko": "정확함", "label_en": "Accurate", "key": "accuracy"}, {"label_ko": "짧음"}, initial=1
        ),
    }  # fmt: skip
    assert writer.post(address, sent).status_code == 302
    second = Rubric.objects.get(number=2)
    assert [each["key"] for each in second.criteria] == ["fluency", "is_it_helpful"]
    assert second.criteria[0]["anchors"] == {
        "1": {"ko": "읽기 어렵다", "en": ""}, "5": {"ko": "자연스럽다", "en": "Reads well"},
    }  # fmt: skip
    assert [each["key"] for each in second.reasons] == ["accuracy", "reason_1"]
    first.refresh_from_db()
    assert len(first.criteria) == 2
    again = parse(writer.get(address).content.decode())
    assert "5: 자연스럽다" in again.one("textarea", id="id_criterion-0-anchors_ko").text


def test_more_empty_rows_are_given_with_what_was_written_so_far(world: World, writer: Client) -> None:
    address = url(world, f"rubrics/{world.track.slug}/new/")
    criteria = [
        {"label_ko": name, "key": "", "low": 1, "high": 5, "weight": 1} for name in ("내용", "조직", "", "표현")
    ]
    gone = {"label_ko": "지울 것", "key": "", "low": 1, "high": 5, "weight": 1, "DELETE": "on"}
    written = {"title_ko": "", "guideline_ko": "읽습니다. <b>"} | rows("criterion", *criteria, gone) | rows("reason")
    response = writer.post(address, written | {"more": "1"})
    page = parse(response.content.decode())
    assert (response.status_code, red(page), problems(page)) == (200, [], [])
    assert page.one("textarea", id="id_guideline_ko").text.strip() == "읽습니다. <b>"
    names = [page.one("input", id=f"id_criterion-{place}-label_ko").attributes.get("value", "") for place in range(5)]
    assert names == ["내용", "조직", "표현", "", ""]
    assert not Rubric.objects.exists()
    form = next(each for each in page.all("form") if each.all("textarea"))
    fields = {
        each.attributes["name"]: each.attributes.get("value", "")
        for each in form.all("input")
        if each.attributes.get("type") != "checkbox"
    }
    fields |= {each.attributes["name"]: each.text.strip() for each in form.all("textarea")}
    fields |= {"title_ko": "기준표", "criterion-3-label_ko": "맞춤법"}
    assert writer.post(address, fields).status_code == 302
    assert [each["label_ko"] for each in Rubric.objects.get().criteria] == ["내용", "조직", "표현", "맞춤법"]


def test_saving_a_rubric_twice_leads_to_the_version_that_was_made(world: World, writer: Client) -> None:
    address = url(world, f"rubrics/{world.track.slug}/new/")
    sent = {"title_ko": "기준표", "guideline_ko": "두 출력을 읽습니다."} | NO_ROWS
    first, second = writer.post(address, sent), writer.post(address, sent, follow=True)
    made = Rubric.objects.get()
    assert first.url == url(world, f"rubric/{made.pk}/")
    assert (second.redirect_chain, second.status_code) == ([(first.url, 302)], 200)
    assert "바뀐 것이 없어 새 판을 만들지 않았습니다" in parse(second.content.decode()).one("main").text


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"criterion-0-anchors_ko": "좋다"}, "criterion-0-anchors_ko"),
        ({"criterion-0-anchors_ko": "3: 보통\n9: 최고"}, "criterion-0-anchors_ko"),
        ({"criterion-0-high": "1"}, "criterion-0-high"),
        ({"criterion-0-key": "Not a key"}, "criterion-0-key"),
        ({"criterion-0-label_ko": ""}, "criterion-0-label_ko"),
        ({"guideline_ko": ""}, "guideline_ko"),
    ],
)
def test_what_is_wrong_with_a_rubric_is_said_at_its_field_and_nothing_is_lost(
    world: World, writer: Client, change: dict[str, str], field: str
) -> None:
    row = {"label_ko": "유창성", "label_en": "", "key": "", "low": 1, "high": 5, "weight": 2, "anchors_ko": "5: 좋다"}
    sent = {"title_ko": "기준표", "guideline_ko": "지침입니다."} | rows("criterion", row) | rows("reason") | change
    response = writer.post(url(world, f"rubrics/{world.track.slug}/new/"), sent)
    page = parse(response.content.decode())
    assert (response.status_code, red(page)) == (422, [field])
    assert page.one("textarea", name="criterion-0-anchors_ko").text.split() == sent["criterion-0-anchors_ko"].split()
    assert not Rubric.objects.exists()


def test_a_new_version_says_what_comes_next(world: World, writer: Client) -> None:
    rubric = world.rubric()
    page = parse(writer.get(url(world, f"rubric/{rubric.pk}/")).content.decode())
    assert page.one("main").one("a", href=url(world, f"new/{world.track.slug}/")).text == "새 평가 만들기"
    world.campaign()
    assert "새 평가" not in writer.get(url(world, f"rubric/{rubric.pk}/")).content.decode()
    reader = client_with_role(world.competition, "viewer")
    world.rubric(title_ko="둘째 판")
    assert "새 평가" not in reader.get(url(world, f"rubric/{Rubric.objects.get(number=2).pk}/")).content.decode()


def test_the_list_says_which_campaign_uses_which_version(world: World, writer: Client) -> None:
    campaign = world.campaign(title_ko="어느 평가")
    page = parse(writer.get(url(world, f"rubrics/{world.track.slug}/")).content.decode())
    assert "어느 평가" in page.one("main").text
    assert "어느 평가" in writer.get(url(world, f"rubric/{campaign.rubric_id}/")).content.decode()


# --- settings and systems ---------------------------------------------------------------------------------------------


def test_a_new_campaign_is_pairwise_unless_another_protocol_is_chosen(world: World, writer: Client) -> None:
    world.rubric()
    page = parse(writer.get(url(world, f"new/{world.track.slug}/")).content.decode())
    boxes = page.all("input", name="protocol")
    assert [box.attributes["value"] for box in boxes if "checked" in box.attributes] == ["pairwise"]
    assert "어느 팀이 나은지 가릴 때" in page.one("label", for_="id_protocol_0").text
    ranking = world.campaign(protocol="ranking", group_size=3)
    page = parse(writer.get(url(world, f"{ranking.pk}/settings/")).content.decode())
    boxes = page.all("input", name="protocol")
    assert [box.attributes["value"] for box in boxes if "checked" in box.attributes] == ["ranking"]


def test_a_campaign_that_contradicts_itself_is_refused_at_its_field(world: World, writer: Client) -> None:
    rubric = world.rubric(criteria=[])
    values = SETTINGS | {"rubric": str(rubric.pk), "phase": str(world.phase.pk)}
    address = url(world, f"new/{world.track.slug}/")
    for change, field in (
        ({"protocol": "rubric"}, "rubric"),
        ({"protocol": "ranking", "group_size": "2"}, "group_size"),
        ({"item_count": "0"}, "item_count"),
        ({"control_percent": "31"}, "control_percent"),
        ({"judges_per_unit": "eins"}, "judges_per_unit"),
        ({"masked_words": "가"}, "masked_words"),
        ({"starts_at": "2026-12-02T09:00", "ends_at": "2026-12-01T09:00"}, "ends_at"),
    ):
        response = writer.post(address, values | change)
        assert (response.status_code, red(parse(response.content.decode()))) == (422, [field]), change
    assert not Campaign.objects.exists()
    said = parse(writer.post(address, values | {"control_percent": "31", "repeat_percent": "x"}).content.decode()).text
    assert "확인 문항은 0%부터 30%까지 둘 수 있습니다." in said
    assert "되풀이 문항은 0%부터 30%까지 둘 수 있습니다." in said


def test_an_open_campaign_takes_texts_and_times_and_nothing_else(world: World, writer: Client) -> None:
    campaign = world.opened()
    address = url(world, f"{campaign.pk}/settings/")
    assert "item_count" not in writer.get(address).content.decode()
    sent = {"title_ko": "새 이름", "ends_at": "2030-12-02T09:00", "item_count": "3"}
    assert writer.post(address, sent).status_code == 302
    campaign.refresh_from_db()
    assert (campaign.title_ko, campaign.item_count, campaign.ends_at is not None) == ("새 이름", 12, True)


def test_nothing_ticked_is_an_error_of_the_form_and_adds_nothing(world: World, writer: Client) -> None:
    campaign = world.campaign()
    refused = writer.post(url(world, f"{campaign.pk}/systems/add/"))
    assert refused.status_code == 422
    page = parse(refused.content.decode())
    assert page.one("div", role="alert").text == "더할 제출을 하나 이상 골라 주십시오."
    assert "제출 0개를 평가합니다" not in page.text
    assert problems(page) == []


def test_who_is_left_out_is_marked_in_the_list_of_judges(world: World, writer: Client) -> None:
    campaign = world.opened()
    left_out, other = campaign.judges.order_by("pk")[:2]
    address = url(world, f"{campaign.pk}/judges/")
    made = make_exclusion(campaign=campaign, actor=world.owner, reason="읽지 않음", judge=left_out)

    def marked() -> list[bool]:
        rows = parse(writer.get(address).content.decode()).one("tbody").all("tr")
        return ["셈에서 뺌" in row.text for judge in (left_out, other) for row in rows if judge.email in row.text]

    assert marked() == [True, False]
    lift_exclusion(exclusion=made, actor=world.owner, reason="다시 봄")
    assert marked() == [False, False]


def test_systems_are_taken_out_and_institutions_kept(world: World, writer: Client) -> None:
    campaign = world.ready(judges=0)
    dropped = str(world.submissions[2].public_id)
    sent = {"institution-1": " 가온  대학교 ", "institution-3": "", "drop": dropped}
    assert writer.post(url(world, f"{campaign.pk}/systems/"), sent).status_code == 302
    assert [(row.submission.team.number, row.institution) for row in systems_of(campaign)] == [
        (1, "가온 대학교"), (3, ""), (4, ""),
    ]  # fmt: skip


def test_the_list_of_submissions_is_searched_by_team(world: World, writer: Client) -> None:
    campaign = world.campaign()
    page = parse(writer.get(url(world, f"{campaign.pk}/systems/?q=은하")).content.decode())
    assert [box.attributes["value"] for box in page.all("input", name="add")] == [str(world.submissions[2].public_id)]


def test_a_draft_is_removed_and_an_open_campaign_is_not(world: World, writer: Client) -> None:
    draft, running = world.campaign(), world.opened()
    assert writer.post(url(world, f"{draft.pk}/remove/")).status_code == 302
    assert Campaign.objects.filter(pk=draft.pk).exists()  # the box was not ticked
    writer.post(url(world, f"{draft.pk}/remove/"), {"confirm": "on"})
    said = writer.post(url(world, f"{running.pk}/remove/"), {"confirm": "on"}, follow=True).content.decode()
    assert list(Campaign.objects.all()) == [running]
    assert "이미 시작한 평가" in said


# --- judges -----------------------------------------------------------------------------------------------------------


def test_every_faulty_line_of_an_invitation_is_named_and_nobody_is_invited(world: World, writer: Client) -> None:
    campaign = world.campaign()
    lines = "one@example.org, 가온대\n이메일 아님\none@EXAMPLE.org\n"
    response = writer.post(url(world, f"{campaign.pk}/judges/invite/"), {"lines": lines})
    page = response.content.decode()
    assert response.status_code == 422
    assert "2번째 줄" in page
    assert "3번째 줄" in page
    assert "이메일 아님" in page
    assert not mail.outbox
    assert not CampaignJudge.objects.exists()


def test_whom_the_service_refuses_stays_in_the_form_and_the_others_are_invited(world: World, writer: Client) -> None:
    campaign = world.campaign()
    address = url(world, f"{campaign.pk}/judges/invite/")
    writer.post(address, {"lines": "one@example.org"})
    response = writer.post(address, {"lines": "one@example.org, 가온대\ntwo@example.org"})
    page = parse(response.content.decode())
    assert response.status_code == 422
    assert page.one("textarea", name="lines").text == "one@example.org, 가온대"
    assert "이미 초대했습니다" in page.text
    assert [message.to for message in mail.outbox] == [["one@example.org"], ["two@example.org"]]


def test_an_invitation_is_sent_again_with_another_link(world: World, writer: Client) -> None:
    campaign = world.campaign()
    writer.post(url(world, f"{campaign.pk}/judges/invite/"), {"lines": "one@example.org"})
    judge = CampaignJudge.objects.get()
    writer.post(url(world, f"{campaign.pk}/judges/{judge.pk}/resend/"))
    links = {link for message in mail.outbox for link in re.findall(r"/arena/invitation/[^/\s]+", message.body)}
    assert (len(mail.outbox), len(links)) == (2, 2)


def test_a_judge_is_removed_with_a_reason_and_the_page_says_where_the_work_goes(world: World, writer: Client) -> None:
    campaign = world.opened()
    judge = campaign.judges.order_by("pk")[0]
    open_real = Assignment.objects.filter(judge=judge, state="open", kind="real").count()
    address = url(world, f"{campaign.pk}/judges/{judge.pk}/remove/")
    assert writer.post(address, {"confirm": "on"}).status_code == 422
    said = writer.post(address, {"confirm": "on", "reason": "연락이 되지 않음"}, follow=True).content.decode()
    assert f"남은 배정 {open_real}개를 다른 평가자에게 옮겼습니다" in said
    page = writer.get(url(world, f"{campaign.pk}/judges/{judge.pk}/")).content.decode()
    assert "연락이 되지 않음" in page
    assert not Assignment.objects.filter(judge=judge, state="open").exists()
    audit = writer.get(f"/competitions/{world.competition.slug}/manage/audit/").content.decode()
    assert "평가자를 내보냄" in audit
    assert "제외" not in str(JudgeRemoved.text), "that word is for judgements that do not count"


def test_bars_are_shown_with_their_reason_before_and_after_the_opening(world: World, writer: Client) -> None:
    campaign = world.ready(judges=3)
    campaign.systems.filter(submission__team__number=1).update(institution="가온대학교")
    judge = campaign.judges.order_by("pk")[0]
    CampaignJudge.objects.filter(pk=judge.pk).update(institution="가온 대학교")
    address = url(world, f"{campaign.pk}/judges/{judge.pk}/")
    before = parse(writer.get(address).content.decode()).one("section", id="bars")
    writer.post(url(world, f"{campaign.pk}/opening/"), {"confirm": "on"})
    after = parse(writer.get(address).content.decode()).one("section", id="bars")
    for section in (before, after):
        assert f"{NAMES[0]} 같은 기관" in section.text


def test_the_list_says_what_a_judge_declared_and_had_judged_of_it(world: World, writer: Client) -> None:
    campaign = world.opened()
    judge = campaign.judges.order_by("pk")[0]
    row = Assignment.objects.filter(judge=judge, kind="real").order_by("position")[0]
    judge_one(row, {"choice": "tie", "reasons": []})
    address = url(world, f"{campaign.pk}/judges/")
    before = writer.get(address).content.decode()
    assert "안다고 밝힌 팀" not in before
    assert "제척된 팀을" not in before

    number = campaign.systems.get(label=row.systems[0]).submission.team.number
    bar_judge(judge=judge, actor=world.owner, team_numbers=[number], reason="지도 교수")

    line = next(each for each in parse(writer.get(address).content.decode()).all("tr") if judge.email in each.text)
    assert "안다고 밝힌 팀 1개 제척된 팀을 그 전에 판단한 것 1개" in line.text


def test_the_preview_promises_nothing_that_chance_decides(world: World, writer: Client) -> None:
    campaign = world.ready(judges=3)
    page = writer.get(url(world, f"{campaign.pk}/opening/")).content.decode()
    assert "누가 어느 몫을 맡는지는 시작할 때 우연히 정합니다" in page
    assert "언제나 같습니다" not in page


# --- quality, scores, exclusions --------------------------------------------------------------------------------------


def test_the_quality_of_a_running_campaign_says_nothing_of_who_leads(world: World, writer: Client) -> None:
    campaign = world.opened()
    judge_everything(campaign)
    judge = campaign.judges.order_by("pk")[0]
    labels = [row.label for row in campaign.systems.all()]
    for page in ("quality/", "", "systems/", "judges/", f"judges/{judge.pk}/", "exclusions/", "closing/"):
        address = url(world, f"{campaign.pk}/{page}")
        text = parse(writer.get(address).content.decode()).one("main").text
        if work_off():
            assert "채점 서버가 계산하고 있습니다" in text
            text = parse(writer.get(address).content.decode()).one("main").text
            assert "크리펜도르프" in text
        assert not [label for label in labels if label in text], page
        assert "first" not in text
    refused = writer.get(url(world, f"{campaign.pk}/quality/scores/"), follow=True)
    assert "점수는 열어 보지 않은 상태입니다" in refused.content.decode()


def test_checks_are_shown_by_kind_without_a_system(world: World, writer: Client) -> None:
    campaign = world.opened()
    judge_everything(campaign)
    control = Assignment.objects.filter(campaign=campaign, kind="control").select_related("judge")[0]
    bad = control.bad_index
    judge_one(control, {"choice": ("first", "second")[bad or 0], "reasons": []})

    page = parse(writer.get(url(world, f"{campaign.pk}/quality/")).content.decode())

    [table] = page.all("div", **{"aria-labelledby": "checks-title"})
    rows = {row.one("th").text: [cell.text for cell in row.all("td")] for row in table.one("tbody").all("tr")}
    count = Assignment.objects.filter(campaign=campaign, kind="control").count()
    judges = Assignment.objects.filter(campaign=campaign, kind="control").values("judge").distinct().count()
    assert rows["확인 문항 모두"][:3] == [f"1 / {count}", f"{100 // count}%", f"1 / {judges}"]
    assert not [row.label for row in campaign.systems.all() if row.label in table.text]


def test_scores_are_opened_with_a_reason_which_is_logged(world: World, writer: Client) -> None:
    campaign = world.opened()
    judge_everything(campaign)
    address = url(world, f"{campaign.pk}/quality/open/")
    assert writer.post(address, {"confirm": "on"}).status_code == 422
    opened = writer.post(address, {"confirm": "on", "reason": "동점이 많은지 확인"}, follow=True)
    assert opened.redirect_chain[0][0] == url(world, f"{campaign.pk}/quality/scores/")
    page = parse(computed(writer, url(world, f"{campaign.pk}/quality/scores/")))
    assert next(row.text for row in page.one("main").all("th", scope="row")) in NAMES
    entry = AuditEntry.objects.get(action="campaign.open_scores")
    assert (entry.actor, entry.after["reason"]) == (world.owner, "동점이 많은지 확인")
    other = client_with_role(world.competition, "organiser")
    assert other.get(url(world, f"{campaign.pk}/quality/scores/")).url == url(world, f"{campaign.pk}/quality/")


def test_words_of_one_teams_outputs_alone_are_shown_before_the_opening(world: World, writer: Client) -> None:
    """Each team of this world says its own name in every answer, which is hidden; one signs its answers as well."""
    campaign = world.ready()
    first, second = world.submissions[1], world.submissions[2]
    signed = [{**row, "output": {"answer": f"{row['output']['answer']} 달빛모델입니다."}} for row in answers_of(first)]
    stored = store_private(json.dumps(signed, ensure_ascii=False).encode())
    Submission.objects.filter(pk=first.pk).update(file_sha256=stored.sha256, file_size=stored.size)
    address = url(world, f"{campaign.pk}/opening/")
    assert "아직 셈하고 있습니다" in parse(writer.get(address).content.decode()).all("form")[-1].text
    page = parse(computed(writer, address, stays=True))
    assert "셈하고 있습니다" not in page.text
    words = page.one("section", **{"aria-labelledby": "words-title"})
    assert {term.text for term in words.all("dt")} >= {first.team.name}
    assert f"달빛모델 ({campaign.item_count})" in words.text
    assert second.team.name not in " ".join(each.text for each in words.all("dd"))
    update_campaign(campaign=campaign, actor=world.owner, masked_words=["달빛모델"])
    words = parse(computed(writer, address, stays=True)).one("section", **{"aria-labelledby": "words-title"})
    assert "달빛모델" not in words.text
    assert "계산 중" not in writer.get(address).content.decode(), "it is computed once"


def answers_of(row: Submission) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(read_private(row.file_sha256))
    return found


def test_a_judge_is_barred_from_a_team_that_they_may_not_declare_alone_any_more(world: World, writer: Client) -> None:
    campaign = world.opened()
    judge = campaign.judges.order_by("pk")[0]
    page = url(world, f"{campaign.pk}/judges/{judge.pk}/")
    assert writer.post(f"{page}bar/", {"teams": "3"}).status_code == 422
    refused = writer.post(f"{page}bar/", {"teams": ",", "reason": "지도"})
    assert (refused.status_code, red(parse(refused.content.decode()))) == (422, ["teams"])
    refused = writer.post(f"{page}bar/", {"teams": "3, 없는 팀, 99", "reason": "지도"})
    assert "이 대회에 없는 팀이라 제척하지 않았습니다: 없는 팀, 99." in refused.content.decode()
    assert "제척했습니다." in writer.post(f"{page}bar/", {"teams": "3", "reason": "지도"}, follow=True).content.decode()
    judge.refresh_from_db()
    assert judge.declared_teams == [3]
    assert world.teams[3].name in parse(writer.get(page).content.decode()).one("section", id="bars").text


def test_what_a_judge_declared_too_much_of_is_looked_at_before_the_opening(world: World, writer: Client) -> None:
    """Declared when no system was chosen yet: the opening names the judge, whose page has the teams filled in."""
    campaign = world.ready(judges=3)
    judge = campaign.judges.order_by("pk")[0]
    chosen = list(campaign.systems.all())
    campaign.systems.all().delete()
    declare_bars(judge=judge, actor=judge.user, team_numbers=[1, 3])
    campaign.systems.bulk_create(chosen)
    opening, own = url(world, f"{campaign.pk}/opening/"), url(world, f"{campaign.pk}/judges/{judge.pk}/")

    page = parse(writer.get(opening).content.decode()).one("main")
    assert f"(평가자 번호: {judge.pk})" in page.text
    assert [each.text for each in page.all("a", href=f"{own}#bars")] == [str(judge.user)]
    writer.post(opening, {"confirm": "on"})
    campaign.refresh_from_db()
    assert campaign.opened_at is None
    bars = parse(writer.get(own).content.decode()).one("section", id="bars")
    assert "스스로 알린 팀이 많아" in bars.text
    assert bars.one("input", id="known-teams").attributes["value"] == "1, 3"

    writer.post(f"{own}bar/", {"teams": "1, 3", "reason": "지도 교수"})

    bars = parse(writer.get(own).content.decode()).one("section", id="bars")
    assert "스스로 알린 팀이 많아" not in bars.text
    assert not bars.one("input", id="known-teams").attributes.get("value")
    writer.post(opening, {"confirm": "on"})
    campaign.refresh_from_db()
    assert campaign.opened_at is not None


def test_a_reason_that_is_sent_while_the_effect_is_computed_stays_in_the_form(world: World, writer: Client) -> None:
    campaign = world.closed()
    judge = campaign.judges.order_by("pk")[0]
    address = url(world, f"{campaign.pk}/judges/{judge.pk}/exclude/")
    assert not parse(writer.get(address).content.decode()).all("form", "manage-form")
    sent = {"reason": "끝까지 같은 쪽만 고름"}
    refused = writer.post(address, sent)
    page = parse(refused.content.decode())
    assert (refused.status_code, red(page)) == (422, ["confirm"])
    assert page.one("input", name="reason").attributes["value"] == sent["reason"]
    assert "아직 빼지 않았습니다" in page.text
    again = {**sent, "confirm": "on", "preview": "1"}
    for is_computed in (False, True):
        looked = writer.post(address, again)
        page = parse(looked.content.decode())
        assert looked.status_code == 200
        assert page.one("input", name="reason").attributes["value"] == sent["reason"]
        assert bool(page.all("section", **{"aria-labelledby": "effect-title"})) == is_computed
        assert not page.all("section", id="preview"), "of Markdown, of which this form has none"
        assert ("아직 빼지 않았습니다" in page.text) != is_computed
        work_off()
    assert not Exclusion.objects.exists()
    assert writer.post(address, {**sent, "confirm": "on"}).status_code == 302
    assert Exclusion.objects.get().reason == sent["reason"]


def test_a_note_that_is_sent_while_the_result_is_computed_anew_stays_in_the_form(world: World, writer: Client) -> None:
    campaign = world.closed()
    address = url(world, f"{campaign.pk}/publishing/")
    seen = hidden(computed(writer, address))["result_sha256"]
    Exclusion.objects.create(
        campaign=campaign, judge=campaign.judges.order_by("pk")[0], reason="읽지 않음", by=world.owner,
        created_at=timezone.now(),
    )  # fmt: skip
    notes = {"note_ko": "한 분을 빼고 셈했습니다.", "note_en": "Without one judge."}
    sent = {"result_sha256": seen, "confirm": "on", **notes}

    def form_of(response: Any) -> Element:
        page = parse(response.content.decode())
        assert problems(page) == []
        assert not page.all("section", id="preview"), "of Markdown, of which this form has none"
        assert page.text.count("계산하고 있") <= 1, "it is said once"
        form = page.one("form", "manage-form")
        assert {name: form.one("input", name=name).attributes["value"] for name in notes} == notes
        return form

    def fields_of(form: Element) -> tuple[str, bool]:
        sha256, confirm = (form.one("input", name=name).attributes for name in ("result_sha256", "confirm"))
        return sha256["value"], "checked" in confirm

    refused = writer.post(address, sent)
    assert refused.status_code == 409
    assert "적은 것은 아래에 그대로 있습니다" in refused.content.decode()
    assert fields_of(form_of(refused)) == (seen, True)
    again = sent | {"preview": "1"}
    waiting = writer.post(address, again)
    assert [each.attributes.get("name") for each in form_of(waiting).all("button")] == ["preview"]
    assert all("계산하고 있" in parse(each.content.decode()).text for each in (refused, waiting))
    assert work_off() == 1
    ready = writer.post(address, again)
    fresh, is_confirmed = fields_of(form_of(ready))
    assert (ready.status_code, fresh != seen, is_confirmed) == (200, True, False)
    assert fresh in parse(ready.content.decode()).one("dl", "facts").text, "what is shown is what is offered"
    changed = writer.post(address, sent)  # by who had not looked again
    assert changed.status_code == 409
    assert fields_of(form_of(changed)) == (fresh, False)
    assert not CampaignResult.objects.exists()
    assert writer.post(address, sent | {"result_sha256": fresh}).status_code == 302
    result = CampaignResult.objects.get()
    assert (result.result_sha256, result.note_ko, result.note_en) == (fresh, *notes.values())


def test_what_will_be_public_names_no_judge_and_the_field_is_told(world: World, writer: Client) -> None:
    campaign = world.closed()
    judge = campaign.judges.order_by("pk")[0]
    User.objects.filter(pk=judge.user_id).update(name="나그네")
    address = url(world, f"{campaign.pk}/judges/{judge.pk}/exclude/")
    computed(writer, address)
    refused = writer.post(address, {"confirm": "on", "reason": "나그네가 읽지 않음"})
    page = parse(refused.content.decode())
    assert (refused.status_code, red(page)) == (422, ["reason"])
    assert "평가자의 이름이 들어 있습니다" in page.text
    assert not Exclusion.objects.exists()
    address = url(world, f"{campaign.pk}/publishing/")
    form = parse(computed(writer, address)).one("form", "manage-form")
    sent = {"confirm": "on", "result_sha256": form.one("input", name="result_sha256").attributes["value"]}
    for field, note in (("note_ko", f"{judge.email}의 글"), ("note_en", "Without 나그네")):
        refused = writer.post(address, {**sent, field: note})
        assert (refused.status_code, red(parse(refused.content.decode()))) == (422, [field])
    exclusion = Exclusion.objects.create(
        campaign=campaign, judge=judge, reason="나그네가 읽지 않음", by=world.owner, created_at=timezone.now()
    )
    form = parse(computed(writer, address)).one("form", "manage-form")
    sent["result_sha256"] = form.one("input", name="result_sha256").attributes["value"]
    refused = writer.post(address, sent)
    assert refused.status_code == 422
    assert "다시 빼 주십시오" in refused.content.decode()
    Exclusion.objects.filter(pk=exclusion.pk).update(reason="읽지 않음")


def test_a_judge_invited_late_from_a_near_institution_is_asked_about_and_cleared(world: World, writer: Client) -> None:
    campaign = world.opened()
    page = url(world, f"{campaign.pk}/judges/")
    campaign.systems.filter(submission__team__number=3).update(institution="한국대 AI연구소")
    assert not parse(writer.get(page).content.decode()).all("section", id="near")
    answer = writer.post(f"{page}invite/", {"lines": "late@example.org, 한국대학교"}, follow=True)
    asked = parse(answer.content.decode()).one("section", id="near")
    assert {"한국대학교", "한국대 AI연구소"} <= {each.text for each in asked.all("strong")}
    late = campaign.judges.get(email="late@example.org")
    wrong = writer.post(f"{page}{late.pk}/clear/", {"team": "1"}, follow=True)
    assert "확인할 팀이 아닙니다: 1." in wrong.content.decode()
    cleared = writer.post(f"{page}{late.pk}/clear/", {"team": "3"}, follow=True).content.decode()
    assert "이 평가자에게 배정할 수 있습니다." in cleared
    assert not parse(cleared).all("section", id="near")


def test_the_influence_of_a_judge_is_for_who_opened_the_scores(world: World, writer: Client) -> None:
    campaign = world.opened()
    judge_everything(campaign)
    address = url(world, f"{campaign.pk}/quality/")
    assert "평가자 한 사람의 영향" not in computed(writer, address)
    writer.post(url(world, f"{campaign.pk}/quality/open/"), {"confirm": "on", "reason": "확인"})
    shown = parse(writer.get(address).content.decode())
    [table] = shown.all("div", **{"aria-labelledby": "influence-title"})
    rows = {row.one("th").text: [cell.text for cell in row.all("td")] for row in table.one("tbody").all("tr")}
    document = current_result(campaign=campaign, actor=world.owner).document
    judge_of = {judge.design_label: judge for judge in campaign.judges.all()}
    for each in document["influence"]:
        name = str(judge_of[each["judge"]].user)
        first = "바뀜" if each["first_changes"] else "–"
        assert rows[name][:2] == [str(each["rank_change"]), first]
    assert len(rows) == len(document["influence"]) == 3
    judges = list(campaign.judges.order_by("pk"))
    moves = [
        {"rank_change": 1, "first_changes": False, "tau": 0.9},
        {"rank_change": 2, "first_changes": False, "tau": -0.1},
    ]
    moves.append({"rank_change": 1, "first_changes": True, "tau": None})
    found = influence_lines(
        [LiveJudgeQuality(judge, 0, 0, None, 0, None, each) for judge, each in zip(judges, moves, strict=True)]
    )
    assert [(line.judge, line.tau) for line in found] == [(judges[2], "–"), (judges[1], "−0.10"), (judges[0], "0.90")]
    other = client_with_role(world.competition, "organiser")
    assert "평가자 한 사람의 영향" not in other.get(address).content.decode()


def test_the_effect_of_an_exclusion_is_shown_before_it_is_made_and_it_is_lifted(world: World, writer: Client) -> None:
    campaign = world.opened()
    judge_everything(campaign)
    judge = campaign.judges.order_by("pk")[0]
    own = Assignment.objects.filter(judge=judge, state="done", kind="real").count()
    total = Assignment.objects.filter(campaign=campaign, state="done", kind="real").count()
    address = url(world, f"{campaign.pk}/judges/{judge.pk}/exclude/")
    assert f"{total} → {total - own}" in computed(writer, address)
    assert not Exclusion.objects.exists()
    assert writer.post(address, {"confirm": "on"}).status_code == 422
    assert writer.post(address, {"confirm": "on", "reason": "무작위로 고름"}).status_code == 302
    exclusion = Exclusion.objects.get()
    assert "무작위로 고름" in writer.get(url(world, f"{campaign.pk}/exclusions/")).content.decode()
    assert writer.post(url(world, f"{campaign.pk}/exclusions/{exclusion.pk}/lift/")).status_code == 422
    writer.post(url(world, f"{campaign.pk}/exclusions/{exclusion.pk}/lift/"), {"reason": "확인함"})
    exclusion.refresh_from_db()
    assert exclusion.lift_reason == "확인함"


def test_assignments_that_nobody_takes_are_told_before_the_closing(world: World, writer: Client) -> None:
    campaign = world.opened()
    judge_everything(campaign)
    pages = [url(world, f"{campaign.pk}/{part}") for part in ("", "closing/")]
    assert "모든 배정을 판단했습니다" in writer.get(pages[1]).content.decode()
    judged = Assignment.objects.filter(campaign=campaign, kind="real", state="done").order_by("pk")
    lost, moved = judged[:2], judged[2:5]
    Assignment.objects.filter(pk__in=[row.pk for row in lost]).update(state="void", void_reason="barred")
    Assignment.objects.filter(pk__in=[row.pk for row in moved]).update(state="void", void_reason="moved")
    for page in pages:
        assert "평가자가 제척됨: 2개" in parse(writer.get(page).content.decode()).text
    closing = parse(writer.get(pages[1]).content.decode()).text
    assert "남은 배정을 모두 판단했습니다" in closing
    assert "모든 배정을 판단했습니다" not in closing


def test_the_judgements_of_a_result_add_up(world: World, writer: Client) -> None:
    campaign = world.closed()
    judge = campaign.judges.order_by("pk")[0]
    make_exclusion(campaign=campaign, actor=world.owner, judge=judge, reason="무작위로 고름")
    shown = computed(writer, url(world, f"{campaign.pk}/publishing/"))
    found = re.search(r"순위를 정한 판단 (\d+)개, 확인 (\d+)개, 되풀이 (\d+)개, 셈에서 뺀 판단 (\d+)개", shown)
    assert found is not None
    done = Assignment.objects.filter(campaign=campaign, state="done").exclude(kind="calibration")
    assert sum(map(int, found.groups())) == done.count()
    assert int(found[4]) == done.filter(judge=judge).count() > 0


def test_a_published_result_from_before_an_exclusion_is_told(world: World, writer: Client) -> None:
    campaign = world.published()
    overview, told = url(world, f"{campaign.pk}/"), "발표한 뒤 셈에서 뺀 것이 바뀌었습니다"
    assert told not in writer.get(overview).content.decode()
    judge = campaign.judges.order_by("pk")[0]
    exclusion = make_exclusion(campaign=campaign, actor=world.owner, judge=judge, reason="무작위로 고름")
    assert told in writer.get(overview).content.decode()
    lift_exclusion(exclusion=exclusion, actor=world.owner, reason="확인함")
    assert told not in writer.get(overview).content.decode(), "as it was when it was published"
    exclusion = make_exclusion(campaign=campaign, actor=world.owner, judge=judge, reason="무작위로 고름")
    world.publish(Campaign.objects.get(pk=campaign.pk), note="한 평가자를 뺐습니다.")
    assert told not in writer.get(overview).content.decode()
    lift_exclusion(exclusion=exclusion, actor=world.owner, reason="확인함")
    assert told in writer.get(overview).content.decode()


def test_newer_figures_are_offered_where_somebody_may_write_in_a_form(world: World, writer: Client) -> None:
    campaign = world.opened()
    judge_everything(campaign)
    address = url(world, f"{campaign.pk}/quality/")
    computed(writer, address)
    row = Assignment.objects.filter(campaign=campaign, kind="real").select_related("judge")[0]
    judge_one(row, {"choice": "both_bad", "reasons": []})
    resting = parse(writer.get(address).content.decode())
    assert "채점을 막지 않도록 조금 쉬었다가" in resting.text
    assert not [each for each in resting.all() if "hx-get" in each.attributes]
    rested()

    page = parse(writer.get(address).content.decode())
    assert "까지의 판단으로 계산한 값입니다" in page.text
    assert "크리펜도르프" in page.text
    [polled] = [each.attributes["hx-get"] for each in page.all() if "hx-get" in each.attributes]
    work_off()

    ready = writer.get(polled)
    assert (ready.status_code, "HX-Refresh" in ready.headers) == (286, False)
    assert "새로 고쳐 보기" in ready.content.decode()
    assert "까지의 판단으로" not in writer.get(address).content.decode()


def test_one_judgement_is_left_out(world: World, writer: Client) -> None:
    campaign = world.opened()
    judge_everything(campaign)
    row = Assignment.objects.filter(campaign=campaign, kind="real", state="done").select_related("judge")[0]
    judgement = row.judgements.get()
    address = url(world, f"{campaign.pk}/judgements/{judgement.pk}/exclude/")
    assert address in writer.get(url(world, f"{campaign.pk}/judges/{row.judge_id}/")).content.decode()
    assert writer.post(address, {"confirm": "on", "reason": "잘못 누름"}).status_code == 302
    assert Exclusion.objects.get().judgement == judgement
    practice = Assignment.objects.filter(campaign=campaign, kind="calibration", state="done")[0].judgements.get()
    assert writer.get(url(world, f"{campaign.pk}/judgements/{practice.pk}/exclude/")).status_code == 404


# --- planner ----------------------------------------------------------------------------------------------------------


def test_the_planner_says_how_narrow_intervals_get_and_is_bounded(world: World, writer: Client) -> None:
    asked = "planner/?protocol=pairwise&group=4&systems=4&judges=4&votes=40&items=50"
    asked += "&spread=0.5&tie_percent=20&order_effect=0"
    page = parse(computed(writer, url(world, asked)))
    cells = [[cell.text for cell in row.all("td")] for row in page.one("tbody").all("tr")]
    assert [row[:2] for row in cells] == [["20", "72"], ["40", "144"], ["80", "288"]]
    widths = [float(row[2]) for row in cells]
    assert widths[0] > widths[2] > 0
    half = (widths[1] + widths[2]) / 4  # between two rows
    told = parse(writer.get(url(world, f"{asked}&half_width={half}")).content.decode())
    needed = re.search(r"모두 (\d+)개쯤, 한 사람이 (\d+)개쯤", told.text)
    assert needed is not None, "no other row is computed for that"
    assert 144 < int(needed[1]) < 288
    assert 40 < int(needed[2]) <= 80
    assert "이내가 되지 않습니다" in writer.get(url(world, f"{asked}&half_width=0.01")).content.decode()
    assert "그보다 적은 수는 셈하지 않았습니다" in writer.get(url(world, f"{asked}&half_width=5")).content.decode()
    page = parse(computed(writer, url(world, asked.replace("pairwise", "errors"))))
    assert "평가자의 표준 편차" in page.one("thead").text
    refused = writer.get(url(world, asked.replace("pairwise", "ranking").replace("group=4", "group=5")))
    assert (refused.status_code, red(parse(refused.content.decode()))) == (422, ["group"])
    refused = writer.get(url(world, asked.replace("judges=4", "judges=100").replace("votes=40", "votes=500")))
    assert (refused.status_code, red(parse(refused.content.decode()))) == (422, ["votes"])


# --- every page -------------------------------------------------------------------------------------------------------

PARTS = (
    "",
    "settings/",
    "systems/",
    "practice/",
    "judges/",
    "opening/",
    "quality/",
    "exclusions/",
    "closing/",
    "publishing/",
)


@pytest.mark.parametrize("language", ["ko", "en"])
@pytest.mark.parametrize("state", ["ready", "opened", "closed", "published"])
def test_every_page_in_every_state_is_sound(world: World, writer: Client, state: str, language: str) -> None:
    score(world)
    campaign = getattr(world, state)()
    judge = campaign.judges.order_by("pk")[0]
    track = world.track.slug
    pages = [f"{campaign.pk}/{part}" for part in (*PARTS, f"judges/{judge.pk}/")]
    if state != "ready":
        pages.append(f"{campaign.pk}/judges/{judge.pk}/exclude/")
    pages += ["", "planner/", f"new/{track}/"]
    pages += [f"rubrics/{track}/", f"rubrics/{track}/new/", f"rubric/{campaign.rubric_id}/"]
    for page in pages:
        response = writer.get(url(world, page), headers={"Accept-Language": language})
        assert response.status_code == 200, page
        text = response.content.decode()
        assert problems(parse(text)) == [], page
        assert ("hx-get" in text) <= ("django_htmx/htmx" in text), page  # what polls has the script that does
        if work_off():  # what was computed has other markup than what waits
            text = writer.get(url(world, page), headers={"Accept-Language": language}).content.decode()
            assert problems(parse(text)) == [], page
        assert 'aria-invalid="true"' not in text, page  # nothing is red before it was sent


def test_long_lists_are_paged(world: World, writer: Client) -> None:
    campaign = world.campaign()
    for number in range(101):
        world.judge(
            campaign, email=f"j{number}@example.org", accepted_at=None, user=world.owner if not number else None
        )
    page = parse(writer.get(url(world, f"{campaign.pk}/judges/")).content.decode())
    assert len(page.one("table").all("tr")) == 101
    assert "1 / 2쪽" in page.text


def test_a_viewer_sees_the_pages_and_no_form_that_writes(world: World) -> None:
    campaign = world.opened()
    viewer = client_with_role(world.competition, "viewer")
    for part in ("", "settings/", "systems/", "judges/", "quality/", "exclusions/"):
        page = parse(viewer.get(url(world, f"{campaign.pk}/{part}")).content.decode())
        forms = page.one("main").all("form", method="post")
        assert all(form.all("fieldset", disabled="") for form in forms), part
