"""A campaign of every protocol from its rubric to its files, by the forms of its organiser and of its judges alone."""

from __future__ import annotations

import copy
import random
from pathlib import Path
from typing import Any

import pytest
from django.core import mail
from django.core.cache import cache
from django.test import Client
from django.urls import reverse

from malpan.arena.models import Assignment, Campaign, CampaignResult, Exclusion, Judgement, Rubric
from malpan.arena.queue import texts_of
from scoring.arena.vote_records import PROTOCOLS
from scoring.cli import main
from tests.arena.answers import work_off
from tests.arena.conftest import NAMES, World, make_world, strength_of, value_of
from tests.arena.panels import person
from tests.web.html import parse, problems
from tests.web.manage.test_arena import SETTINGS, computed, hidden, rows, url
from tests.web.manage_people import client_of

pytestmark = pytest.mark.django_db
CRITERIA = (
    {"key": "fluency", "label_ko": "유창성", "label_en": "Fluency", "low": 1, "high": 5, "weight": 2},
    {"key": "accuracy", "label_ko": "정확성", "label_en": "Accuracy", "low": 1, "high": 5, "weight": 1},
)
REASON = {"key": "accuracy", "label_ko": "정확성", "label_en": "Accuracy"}
SIZES = {"ranking": {"group_size": "3"}}


@pytest.fixture(scope="module")
def made_world(kept: None) -> World:
    return make_world()


@pytest.fixture
def world(db: None, made_world: World) -> World:
    cache.clear()
    return copy.deepcopy(made_world)


@pytest.fixture
def writer(world: World) -> Client:
    return client_of(world.owner)


def draft(world: World, writer: Client, protocol: str) -> Campaign:
    """A campaign of all teams, made by the forms."""
    track = world.track.slug
    values = {"title_ko": "기준표", "title_en": "Rubric", "guideline_ko": "출력을 끝까지 읽습니다."}
    made = writer.post(
        url(world, f"rubrics/{track}/new/"), values | rows("criterion", *CRITERIA) | rows("reason", REASON)
    )
    assert made.status_code == 302, made.content.decode()
    values = SETTINGS | {"protocol": protocol, "rubric": str(Rubric.objects.get().pk), "phase": str(world.phase.pk)}
    values |= {"item_count": "6", "calibration_count": "1", **SIZES.get(protocol, {})}
    made = writer.post(url(world, f"new/{track}/"), values)
    assert made.status_code == 302, made.content.decode()
    campaign = Campaign.objects.get()
    writer.post(url(world, f"{campaign.pk}/systems/top/"), {"count": "4"})
    return campaign


def invited(world: World, writer: Client, campaign: Campaign, count: int) -> list[Client]:
    """Judges at their browsers: they accepted by the link in the mail, and agreed to what they read."""
    emails = [f"judge{number}@example.org" for number in range(count)]
    writer.post(url(world, f"{campaign.pk}/judges/invite/"), {"lines": "\n".join(emails)})
    found = []
    for email, letter in zip(emails, mail.outbox[-count:], strict=True):
        assert letter.to == [email]
        client = Client()
        client.force_login(person(email))
        path = "/arena/invitation/" + letter.body.split("/arena/invitation/")[1].split("/")[0] + "/"
        read = client.post(path, follow=True).content.decode()
        agreed = {"consent": "on", "guideline": "on", **hidden(read)}
        assert client.post(f"/arena/{campaign.pk}/", agreed).status_code == 302
        found.append(client)
    return found


def sent_for(value: dict[str, Any], row: Assignment) -> dict[str, Any]:
    """What a browser sends for ``value``; of errors marked, the first words of the output as well."""
    if "choice" in value:
        return value
    if "ranks" in value:
        return {f"rank-{place}": str(rank) for place, rank in enumerate(value["ranks"])}
    if "scores" in value:
        return {f"score-{key}": str(score) for key, score in value["scores"].items()}
    quote = " ".join(texts_of(row)[0].split()[:2])
    marked = {"span-0-quote": quote, "span-0-at": "1", "span-0-severity": "minor", "span-0-category": "accuracy"}
    return {"score": str(value["score"]), "spans": "1", **marked}


def judge_all(client: Client, campaign: Campaign, rng: random.Random) -> int:
    """Judge whatever the queue shows, to its end; how many that were."""
    strengths = {row.label: strength_of(campaign, row.label) for row in campaign.systems.all()}
    count, shown = 0, client.post(f"/arena/{campaign.pk}/judge/")
    while "/judge/" in shown["Location"]:
        row = Assignment.objects.get(shown_key=shown["Location"].split("/judge/")[1].strip("/"))
        page = client.get(shown["Location"])
        assert page.status_code == 200
        assert problems(parse(page.content.decode())) == []
        given = {"expected": "0", "seconds": "9", **sent_for(value_of(campaign, row, strengths, rng), row)}
        shown = client.post(shown["Location"], given)
        assert shown.status_code == 302, parse(shown.content.decode()).one("main").text
        if row.kind == Assignment.Kind.CALIBRATION:
            shown = client.post(f"/arena/{campaign.pk}/judge/")
        count += 1
    assert shown["Location"] == f"/arena/{campaign.pk}/done/"
    return count


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_campaign_is_carried_through_by_forms(
    world: World, writer: Client, client: Client, tmp_path: Path, protocol: str
) -> None:
    campaign = draft(world, writer, protocol)
    judges = invited(world, writer, campaign, 3)
    opening = url(world, f"{campaign.pk}/opening/")
    writer.get(opening)
    work_off()
    assert problems(parse(writer.get(opening).content.decode())) == []
    opened = writer.post(opening, {"confirm": "on"})
    assert opened.status_code == 302, parse(opened.content.decode()).one("main").text
    campaign.refresh_from_db()

    rng = random.Random(protocol)
    counts = [judge_all(each, campaign, rng) for each in judges]
    assert sum(counts) == Assignment.objects.filter(campaign=campaign).count() == Judgement.objects.count()
    for each in judges:
        done = each.get(f"/arena/{campaign.pk}/done/").content.decode()
        assert "배정된 문항을 모두 마쳤습니다." in done
        assert problems(parse(done)) == []

    quality = computed(writer, url(world, f"{campaign.pk}/quality/"))
    assert problems(parse(quality)) == []
    assert "크리펜도르프" in quality
    assert "틀린 확인 문항" in quality
    leave_out_and_take_back(world, writer, campaign)

    assert "모든 배정을 판단했습니다" in writer.get(url(world, f"{campaign.pk}/closing/")).content.decode()
    assert writer.post(url(world, f"{campaign.pk}/closing/"), {"confirm": "on"}).status_code == 302
    publishing = url(world, f"{campaign.pk}/publishing/")
    page = computed(writer, publishing)
    assert problems(parse(page)) == []
    sent = {"result_sha256": hidden(page)["result_sha256"], "confirm": "on"}
    assert writer.post(publishing, sent).status_code == 302
    result = CampaignResult.objects.get()
    assert sorted(row["team_number"] for row in result.rows) == [1, 2, 3, 4]
    look_at_what_is_public(world, client, campaign, tmp_path)


def leave_out_and_take_back(world: World, writer: Client, campaign: Campaign) -> None:
    judge = campaign.judges.order_by("pk")[0]
    address = url(world, f"{campaign.pk}/judges/{judge.pk}/exclude/")
    assert "순위가 바뀌는 제출" in computed(writer, address)
    assert writer.post(address, {"confirm": "on", "reason": "끝까지 읽지 않음"}).status_code == 302
    held = Exclusion.objects.get()
    lift = url(world, f"{campaign.pk}/exclusions/{held.pk}/lift/")
    assert writer.post(lift, {"reason": "잘못 뺌"}).status_code == 302
    held.refresh_from_db()
    assert held.lifted_at is not None


def look_at_what_is_public(world: World, client: Client, campaign: Campaign, folder: Path) -> None:
    """The page in both languages, and its files, which the command computes again."""
    place = [world.competition.slug, campaign.track.slug, campaign.number]
    for language in ("ko", "en"):
        page = client.get(reverse("campaign", args=place), headers={"accept-language": language}).content.decode()
        assert problems(parse(page)) == []
        assert all(name in page for name in NAMES)
    for name in ("votes", "result", "csv"):
        answer = client.get(reverse(f"campaign_{name}", args=[*place, 1]))
        assert answer.status_code == 200
        assert "judge0@" not in answer.content.decode()
        (folder / name).write_bytes(answer.content)
    assert all(name in (folder / "csv").read_text(encoding="utf-8-sig") for name in NAMES)
    assert main(["arena", str(folder / "votes"), "--check", str(folder / "result")]) == 0
