"""A human evaluation by the API: prepared, opened, watched, closed and published by a program; judged by people."""

from __future__ import annotations

import re

import pytest
from django.core import mail

from malpan.arena.invitations import accept_invitation
from malpan.arena.judges import consent_version_of, give_consent
from malpan.arena.models import Campaign, CampaignResult, Exclusion
from malpan.core.models import AuditEntry
from tests.api.test_contest import Caller
from tests.arena.answers import work_off
from tests.arena.conftest import CRITERIA, judge_everything, made_world, world
from tests.factories import UserFactory
from tests.web.visibility_world import confirmed

pytestmark = pytest.mark.django_db
__all__ = ["made_world", "world"]
SETTINGS = {
    "title_ko": "사람 평가",
    "protocol": "pairwise",
    "item_count": 12,
    "units_per_item": 2,
    "judges_per_unit": 1,
    "calibration_count": 0,
    "control_percent": 10,
    "repeat_percent": 10,
    "resamples": 200,
}


class Desk(Caller):
    """The owner's program. What a worker computes is computed at once."""

    def __init__(self, world):
        super().__init__(world.owner)
        self.world = world
        self.arena = f"/competitions/{world.competition.slug}/manage/arena"
        self.track = f"/competitions/{world.competition.slug}/manage/tracks/{world.track.slug}"

    def computed(self, method, path, body=None):
        assert self(method, path, body, 409)["code"] == "still_computing"
        assert work_off() == 1
        return self(method, path, body)

    def made(self, **values):
        """The address of a draft with all submissions."""
        rubric = {"title_ko": "기준표", "guideline_ko": "두 출력을 견줍니다.", "criteria": CRITERIA}
        made = self("POST", f"{self.arena}/rubrics/{self.world.track.slug}/", rubric, 201)
        given = {**SETTINGS, "rubric": made["id"], "phase": self.world.phase.pk, **values}
        campaign = self("POST", f"{self.track}/campaigns/", given, 201)
        return f"{self.arena}/{campaign['id']}"

    def invited(self, one):
        """A judge who accepted and agreed."""
        person = UserFactory.create()
        confirmed(person)
        invited = self("POST", f"{one}/judges/", {"email": person.email, "institution": "예시대"}, 201)
        assert invited["state"] == "waiting"
        token = re.search(r"/arena/invitation/([^/\s]+)/", mail.outbox[-1].body)[1]
        judge = accept_invitation(token=token, user=person)
        version = consent_version_of(judge.campaign)
        give_consent(judge=judge, actor=person, rubric=judge.campaign.rubric, consent_version=version)
        return invited["id"]


def test_a_campaign_is_prepared_opened_closed_and_published(world):
    desk = Desk(world)
    one = desk.made()
    chosen = desk("POST", f"{one}/systems/top/", {"count": 4})
    assert [each["team_number"] for each in chosen] == [1, 2, 3, 4]
    ids = [each["submission"] for each in chosen]
    chosen = desk("PUT", f"{one}/systems/", {"submissions": ids[:3], "institutions": {"2": "예시대학교"}})
    assert [(each["label"], each["institution"]) for each in chosen] == [(None, ""), (None, "예시대학교"), (None, "")]
    choices = desk("GET", f"{one}/systems/choices/")["items"]
    assert [each["is_chosen"] for each in choices] == [True, True, True, False]
    assert desk("GET", f"{one}/opening/", status=409)["code"] == "no_judges"
    judges = [desk.invited(one) for _number in range(3)]

    design = desk("GET", f"{one}/opening/")
    assert design["near"] == [{"judge": each, "team_number": 2} for each in judges], "예시대 is asked about"
    assert (design["systems"], design["items"], design["judges"], design["balance"]["idle"]) == (3, 12, 3, 0)
    opened = desk("POST", f"{one}/opening/")
    assert (opened["state"], opened["progress"]["accepted"], opened["progress"]["done"]) == ("open", 3, 0)
    assert opened["work"]["real"] == 24
    assert desk("GET", f"{one}/opening/", status=409)["code"] == "campaign_opened"
    assert desk("PATCH", f"{one}/", {"item_count": 13}, 409)["code"] == "campaign_opened"
    assert desk("PATCH", f"{one}/", {"title_en": "People"})["title_en"] == "People"
    assert desk("POST", f"{one}/closing/", {}, 409)["code"] == "open_assignments_left"

    campaign = Campaign.objects.get()
    judge_everything(campaign)
    closed = desk("POST", f"{one}/closing/", {})
    assert (closed["state"], closed["publications"]) == ("closed", [])
    assert {each["label"] for each in desk("GET", f"{one}/systems/")} == {"S01", "S02", "S03"}
    result = desk.computed("GET", f"{one}/publishing/")
    assert (result["published"], len(result["document"]["systems"])) == (None, 3)
    body = {"result_sha256": "0" * 64}
    assert desk("POST", f"{one}/publishing/", body, 409)["code"] == "result_changed"
    published = desk("POST", f"{one}/publishing/", {"result_sha256": result["result_sha256"]}, 201)
    assert published["result_sha256"] == CampaignResult.objects.get().result_sha256
    votes = desk("GET", f"{one}/votes/")
    assert len(votes["judges"]) == len(judges) == 3
    assert desk("GET", f"{one}/publishing/")["is_published_so"]
    assert desk("GET", f"{one}/metrics/")["document"] is None
    assert [each["state"] for each in desk("GET", f"{desk.arena}/")] == ["published"]


def test_who_leads_is_told_to_whoever_opened_the_scores(world):
    desk, campaign = Desk(world), world.opened()
    judge_everything(campaign)
    one, judge = f"{desk.arena}/{campaign.pk}", campaign.judges.order_by("pk")[0]
    quality = desk("GET", f"{one}/quality/")
    assert (quality["is_computing"], quality["agreement"], quality["has_opened_scores"]) == (True, None, False)
    assert work_off() == 1
    quality = desk("GET", f"{one}/quality/")
    assert (quality["is_computing"], len(quality["judges"])) == (False, 3)
    assert quality["judges"][0]["controls"] >= 0
    assert {each["name"] for each in quality["checks"]} >= {"control"}

    assert desk("GET", f"{one}/quality/scores/", status=403)["code"] == "scores_not_opened"
    seen = desk("GET", f"{one}/judges/{judge.pk}/judgements/")["items"]
    assert {(each["value"], each["systems"]) for each in seen} == {(None, None)}
    effect = desk.computed("GET", f"{one}/judges/{judge.pk}/exclude/")
    assert effect["votes_after"] < effect["votes_before"]
    assert effect["moved"] == []

    desk("POST", f"{one}/quality/open/", {"reason": "오류가 있는지 봅니다."}, 204)
    assert AuditEntry.objects.filter(action="campaign.open_scores", actor=world.owner).count() == 1
    assert len(desk("GET", f"{one}/quality/scores/")["document"]["systems"]) == 4
    seen = desk("GET", f"{one}/judges/{judge.pk}/judgements/")["items"]
    assert seen[0]["value"]["choice"] in {"first", "second", "tie"}
    assert len(seen[0]["systems"]) == 2


def test_judges_and_judgements_are_left_out_and_taken_back(world):
    desk, campaign = Desk(world), world.opened()
    judge_everything(campaign)
    one, judge = f"{desk.arena}/{campaign.pk}", campaign.judges.order_by("pk")[0]
    why = {"reason": "읽지 않았습니다."}
    judgement = desk("GET", f"{one}/judges/{judge.pk}/judgements/")["items"][0]["id"]
    desk("POST", f"{one}/judgements/{judgement}/exclude/", why, 201)
    assert desk("GET", f"{one}/judges/{judge.pk}/judgements/")["items"][0]["is_excluded"]
    made = desk("POST", f"{one}/judges/{judge.pk}/exclude/", why, 201)
    assert desk("POST", f"{one}/judges/{judge.pk}/exclude/", why, 409)["code"] == "exclusion_in_force"
    lifted = desk("POST", f"{one}/exclusions/{made['id']}/lift/", {"reason": "읽었습니다."})
    assert (lifted["judge"], lifted["lift_reason"]) == (judge.pk, "읽었습니다.")
    assert [each["judge"] for each in desk("GET", f"{one}/exclusions/")] == [judge.pk, None]
    assert Exclusion.objects.filter(lifted_at=None).count() == 1
    assert desk("GET", f"{one}/judgements/{10**6}/exclude/", status=404)["code"] == "assignment_not_found"


def test_judges_are_removed_and_invited_again(world):
    desk, campaign = Desk(world), world.opened()
    one, judge = f"{desk.arena}/{campaign.pk}", campaign.judges.order_by("pk")[0]
    assert desk("POST", f"{one}/judges/remind/") == {"told": 3, "told_before": 0}
    assert desk("POST", f"{one}/judges/remind/") == {"told": 0, "told_before": 3}
    refused = desk("POST", f"{one}/judges/{judge.pk}/bar/", {"team_numbers": [1, 99], "reason": "같은 연구실"}, 422)
    assert (refused["code"], refused["errors"][0]["field"]) == ("teams_unknown", "body.team_numbers")
    desk("POST", f"{one}/judges/{judge.pk}/bar/", {"team_numbers": [1, 2], "reason": "같은 연구실"})
    assert set(judge.bars.values_list("system__submission__team__number", flat=True)) == {1, 2}
    assert desk("POST", f"{one}/judges/{judge.pk}/remove/", {"reason": "그만둠"})["moved"] > 0
    assert desk("GET", f"{one}/judges/{judge.pk}/")["state"] == "removed"
    assert desk("POST", f"{one}/judges/{judge.pk}/resend/", status=404)["code"] == "judge_not_found"
    assert desk("POST", f"{one}/judges/{judge.pk}/reinvite/")["state"] == "waiting"
    desk("POST", f"{one}/judges/{judge.pk}/resend/")
    assert len(mail.outbox) == 2
    found = desk("POST", f"{one}/judges/", {"email": "kim"}, 422)
    assert found["code"] == "judge_address_invalid"


def test_what_a_judge_declared_too_much_of_is_confirmed_by_a_program(world):
    desk, campaign = Desk(world), world.ready(judges=3)
    judge = campaign.judges.order_by("pk")[0]
    judge.declared_teams = [1, 3]
    judge.save()
    one = f"{desk.arena}/{campaign.pk}"
    assert desk("GET", f"{one}/judges/{judge.pk}/")["declared_alone"] == [1, 3]
    for method in ("GET", "POST"):
        refused = desk(method, f"{one}/opening/", status=409)
        assert refused["code"] == "declared_too_much"
        assert str(judge.pk) in refused["detail"]
    bar = {"team_numbers": [1, 3], "reason": "같은 연구실"}
    assert desk("POST", f"{one}/judges/{judge.pk}/bar/", bar)["declared_alone"] == []
    assert desk("POST", f"{one}/opening/")["state"] == "open"


def test_what_will_be_public_names_no_judge(world):
    desk, campaign = Desk(world), world.closed()
    one, judge = f"{desk.arena}/{campaign.pk}", campaign.judges.order_by("pk")[0]
    campaign.judges.filter(pk=judge.pk).update(institution="달빛대학교")
    judgement = desk("GET", f"{one}/judges/{judge.pk}/judgements/")["items"][0]["id"]
    for place in (f"judges/{judge.pk}", f"judgements/{judgement}"):
        refused = desk("POST", f"{one}/{place}/exclude/", {"reason": "달빛대학교에서 왔습니다."}, 422)
        assert (refused["code"], refused["errors"][0]["field"]) == ("judge_named", "body.reason")
    result = desk.computed("GET", f"{one}/publishing/")["result_sha256"]
    for field in ("note_ko", "note_en"):
        refused = desk("POST", f"{one}/publishing/", {"result_sha256": result, field: f"{judge.email} 제외"}, 422)
        assert (refused["code"], refused["errors"][0]["field"]) == ("judge_named", f"body.{field}")
    assert not CampaignResult.objects.exists()
    assert not Exclusion.objects.exists()


def test_a_judge_invited_late_does_not_see_a_near_institution_until_that_is_cleared(world):
    desk, campaign = Desk(world), world.opened()
    one = f"{desk.arena}/{campaign.pk}"
    campaign.systems.filter(submission__team__number=2).update(institution="한국대 AI연구소")
    made = desk("POST", f"{one}/judges/", {"email": "late@example.org", "institution": "한국대학교"}, 201)
    assert made["near_teams"] == [2]
    clear = f"{one}/judges/{made['id']}/clear/"
    refused = desk("POST", clear, {"team_numbers": [1, 2]}, 422)
    assert (refused["code"], refused["errors"][0]["field"]) == ("teams_not_near", "body.team_numbers")
    assert desk("GET", f"{one}/judges/")["items"][-1]["near_teams"] == [2]
    assert desk("POST", clear, {"team_numbers": [2]})["near_teams"] == []
    assert desk("POST", clear, {"team_numbers": [2]})["near_teams"] == [], "saying it twice changes nothing"


def test_faults_are_named_at_their_place(world):
    desk = Desk(world)
    one = desk.made()
    assert desk("PATCH", f"{one}/", {"rubric": 10**6}, 422)["errors"][0]["field"] == "body.rubric"
    assert desk("PATCH", f"{one}/", {"masked_words": ["가"]}, 422)["errors"][0]["field"] == "body.masked_words"
    rubric = {"title_ko": "기준표", "guideline_ko": "지침", "criteria": [{"key": "A"}]}
    found = desk("POST", f"{desk.arena}/rubrics/{world.track.slug}/", rubric, 422)
    assert (found["code"], found["errors"][0]["field"]) == ("rubric_invalid", "body.criteria")
    practice = desk("PUT", f"{one}/practice/", {"items": [{"input": "문제", "outputs": ["답"], "expected": 1}]}, 422)
    assert practice["code"] == "practice_invalid"
    assert {each["item"] for each in practice["errors"]} == {1}
    good = {"input": "문제", "outputs": ["답", "다른 답"], "expected": {"choice": "first"}, "feedback_ko": "까닭"}
    assert desk("PUT", f"{one}/practice/", {"items": [good]})["count"] == 1
    assert desk("GET", f"{one}/practice/")["items"][0]["outputs"] == good["outputs"]
    assert desk("DELETE", f"{one}/practice/") == {"count": 0, "items": []}
    desk("DELETE", f"{one}/", status=204)
    assert desk("GET", f"{one}/", status=404)["code"] == "campaign_not_found"


def test_a_panel_is_planned(world):
    desk = Desk(world)
    plan = {"systems": 4, "judges": 3, "votes": 20, "items": 20}
    rows = desk.computed("POST", f"{desk.arena}/planner/", plan)["rows"]
    assert [row["votes_per_judge"] for row in rows] == [20, 40]
    found = desk("POST", f"{desk.arena}/planner/", {"judges": 100, "votes": 500}, 422)
    assert (found["code"], found["errors"][0]["field"]) == ("plan_invalid", "body.votes")
    found = desk("POST", f"{desk.arena}/planner/", {"protocol": "ranking", "systems": 3, "group": 8}, 422)
    assert found["errors"][0]["field"] == "body.group"
