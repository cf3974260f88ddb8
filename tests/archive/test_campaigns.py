"""Human evaluation from one site to another: the same published result and votes; who judged stays at home."""

from __future__ import annotations

import copy
import io
import json
import re
import zipfile
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from malpan.archive import format as form
from malpan.archive.campaigns import SEALED
from malpan.archive.errors import ArchiveRefused
from malpan.archive.importing import import_competition
from malpan.arena.bars import set_bars
from malpan.arena.closing import close_campaign
from malpan.arena.errors import SeedMissing
from malpan.arena.exclusions import make_exclusion
from malpan.arena.models import Assignment, Campaign, CampaignItem, CampaignJudge, Judgement
from malpan.arena.opening import open_campaign
from malpan.arena.publishing import computed_result, publish_result
from malpan.arena.verification import verify_campaigns
from malpan.arena.votes_file import votes_of
from malpan.competitions.models import Competition
from malpan.core import audit
from scoring.arena.votes import votes_bytes
from scoring.cli import main
from tests.archive.full_competition import exported, members
from tests.archive.test_archive import content
from tests.arena.answers import answered
from tests.arena.conftest import World, judge_everything, judge_one, make_world
from tests.factories import CANARY, UserFactory

pytestmark = pytest.mark.django_db
PEOPLE = ("해바라기", "민들레", "봉숭아", "나팔꽃")
HOMES = ("달빛대학교", "별빛연구소", "달빛 대학교", "")


def panel(world: World, **values: Any) -> Campaign:
    """A draft with four judges, two of them of one institution, in the order of ``PEOPLE``."""
    campaign = world.ready(0, **values)
    for name, home in zip(PEOPLE, HOMES, strict=True):
        email = f"{PEOPLE.index(name)}-{campaign.number}-judge@example.com"
        user = UserFactory.create(name=name, email=email)
        judge = world.judge(campaign, user, institution=home)
        audit.record(actor=user, action="campaign_judge.accept", obj=judge, after={"teams": 0})
    return campaign


@pytest.fixture(scope="module")
def made_world(kept: None) -> World:
    """A campaign published twice with an excluded judge, one that is open with a correction, and a draft."""
    world = make_world()
    first = open_campaign(campaign=panel(world), actor=world.owner)
    judge_everything(first)
    close_campaign(campaign=first, actor=world.owner)
    first.refresh_from_db()
    world.publish(first)
    make_exclusion(campaign=first, actor=world.owner, judge=first.judges.get(label="J02"), reason="너무 빠름")
    seen = answered(computed_result, campaign=first)
    publish_result(campaign=first, actor=world.owner, result_sha256=seen.result_sha256, note_ko="평가자를 뺐습니다")
    second = open_campaign(campaign=panel(world), actor=world.owner)
    rows = second.assignments.exclude(kind="calibration").filter(state="open", position__lt=105)
    for row in rows.select_related("judge"):
        judge_one(row, {"choice": "first", "reasons": []})
    corrected = Assignment.objects.filter(campaign=second, state="done").select_related("judge").earliest("pk")
    Judgement.objects.create(
        assignment=corrected,
        number=2,
        value={"choice": "second", "reasons": []},
        note=f"{PEOPLE[0]}의 메모",
        seconds=9,
        judged_by=corrected.judge.user,
        created_at=timezone.now(),
    )
    for judge in second.judges.all():
        set_bars(judge=judge, systems=list(second.systems.select_related("submission__team")))
    panel(world)
    return world


@pytest.fixture
def world(made_world: World, db: None) -> World:
    return copy.deepcopy(made_world)


def shown(campaign: Campaign) -> str:
    """The public page, without what is another in every response."""
    slug = campaign.track.competition.slug
    page = Client().get(reverse("campaign", args=[slug, campaign.track.slug, campaign.number])).content.decode()
    assert "forest" in page
    return re.sub(r"(csrfmiddlewaretoken|nonce|hx-headers)[^>]*", "", page)


def downloads(campaign: Campaign) -> list[bytes]:
    at = [campaign.track.competition.slug, campaign.track.slug, campaign.number]
    names = ("campaign_votes", "campaign_result", "campaign_csv")
    return [Client().get(reverse(name, args=[*at, snapshot])).content for name in names for snapshot in (1, 2)]


def test_a_published_result_is_the_same_elsewhere_and_recomputed_by_anybody(
    world: World, empty_site: Callable[[], None], tmp_path: Path
) -> None:
    campaign = Campaign.objects.get(number=1)
    before, files, votes = shown(campaign), downloads(campaign), votes_bytes(votes_of(campaign))
    signature = campaign.results.get(number=2).signature_hash
    archive = exported(world.competition)
    empty_site()

    done = import_competition(file=archive, actor=None)

    here = Campaign.objects.get(number=1)
    assert shown(here) == before
    assert downloads(here) == files
    assert here.results.get(number=2).signature_hash == signature
    assert votes_bytes(votes_of(here)) == votes
    (tmp_path / "VOTES.json").write_bytes(files[1])
    (tmp_path / "RESULT.json").write_bytes(files[3])
    assert main(["arena", str(tmp_path / "VOTES.json"), "--check", str(tmp_path / "RESULT.json")]) == 0
    assert verify_campaigns(done.competition) == []
    assert content(exported(done.competition)) == content(archive)


@pytest.mark.parametrize("is_sealed", [False, True])
def test_no_archive_says_who_judged(world: World, passphrase: str, is_sealed: bool) -> None:
    files = members(exported(world.competition, passphrase if is_sealed else ""))
    for name, data in files.items():
        for word in (*PEOPLE, *filter(None, HOMES), "judge@example.com", "달빛대학교"):
            assert word.encode() not in data, (name, word)
            assert json.dumps(word)[1:-1].encode() not in data, (name, word)
    judges = [json.loads(line) for line in files["tables/campaign_judges.jsonl"].splitlines()]
    assert [row["design_label"] for row in judges] == ["D01", "D02", "D03", "D04"] * 2  # of a draft there is nobody
    assert not {"user", "email", "declared_teams", "invited_at", "rubric"} & {key for row in judges for key in row}
    moments = {row["accepted_at"] for row in judges}
    assert moments == {campaign.opened_at.isoformat() for campaign in Campaign.objects.exclude(opened_at=None)}
    groups = [sorted(row["institution"] for row in judges if row["campaign"] == number) for number in (1, 2)]
    assert all(each in (["", "G1", "G1", "G2"], ["", "G1", "G2", "G2"]) for each in groups)
    log = [json.loads(line) for line in files["tables/audit_log.jsonl"].splitlines()]
    accepted = [row for row in log if row["action"] == "campaign_judge.accept"]
    assert {(row["actor"], row["person"], row["object_id"][0]) for row in accepted} == {(None, None, "~")}
    assert "judge_bars" not in "".join(files)


def test_judgements_keep_their_corrections_and_have_no_hour(world: World, empty_site: Callable[[], None]) -> None:
    def told() -> list[Any]:
        place = ("assignment__campaign__number", "assignment__judge__design_label", "assignment__position", "number")
        return list(Judgement.objects.order_by(*place).values_list(*place, "value", "seconds"))

    before = told()
    assert any(number == 2 for _campaign, _label, _position, number, *_value in before)
    archive = exported(world.competition)
    empty_site()

    import_competition(file=archive, actor=None)

    assert told() == before
    assert {each.created_at.hour for each in Judgement.objects.all()} == {0}
    assert set(Judgement.objects.values_list("note", "judged_by")) == {("", None)}
    assert set(CampaignJudge.objects.values_list("user", "email")) == {(None, "")}


def test_what_nobody_may_know_yet_is_only_in_what_is_encrypted(
    world: World, passphrase: str, empty_site: Callable[[], None]
) -> None:
    seeds = dict(Campaign.objects.values_list("number", "seed"))
    texts = list(CampaignItem.objects.order_by("campaign", "label").values_list("input_text", "reference_text"))
    assert any(CANARY in reference for _given, reference in texts)
    archive = exported(world.competition, passphrase)
    for data in members(archive).values():
        assert CANARY.encode() not in data
        assert not [number for number in (2, 3) if seeds[number].encode() in data]
    assert SEALED in members(archive)
    assert SEALED not in members(exported(world.competition))
    empty_site()

    import_competition(file=archive, actor=None, passphrase=passphrase)

    assert dict(Campaign.objects.values_list("number", "seed")) == seeds
    assert list(CampaignItem.objects.order_by("campaign", "label").values_list("input_text", "reference_text")) == texts
    second = Campaign.objects.get(number=2)
    owner = second.track.competition.roles.get().user
    close_campaign(campaign=second, actor=owner, accepts_open=True)
    assert verify_campaigns(second.track.competition) == []


def test_without_the_passphrase_an_open_campaign_is_seen_and_cannot_go_on(
    world: World, empty_site: Callable[[], None]
) -> None:
    archive = exported(world.competition)
    empty_site()
    import_competition(file=archive, actor=None)
    first, second, draft = Campaign.objects.order_by("number")
    owner = first.track.competition.roles.get().user
    assert (bool(first.seed), second.seed, draft.seed) == (True, "", "")
    assert verify_campaigns(first.track.competition) == []
    with pytest.raises(SeedMissing):
        close_campaign(campaign=second, actor=owner, accepts_open=True)
    with pytest.raises(SeedMissing):
        open_campaign(campaign=draft, actor=owner)
    slug = first.track.competition.slug
    assert Client().get(reverse("campaign", args=[slug, first.track.slug, 2])).status_code == 200


def forged(archive: io.BytesIO, table: str, **columns: Any) -> io.BytesIO:
    """``archive`` with ``columns`` of the first row of ``table`` changed; the manifest fits."""
    files = members(archive)
    name = f"tables/{table}.jsonl"
    first, *rest = files[name].splitlines(keepends=True)
    files[name] = json.dumps(json.loads(first) | columns).encode() + b"\n" + b"".join(rest)
    body = json.loads(files.pop(form.MANIFEST))
    body["members"] = [
        {"name": each, "size": len(data), "sha256": sha256(data).hexdigest()} for each, data in files.items()
    ]
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as opened:
        for each, data in {**files, form.MANIFEST: json.dumps(body).encode()}.items():
            opened.writestr(each, data)
    return target


@pytest.mark.parametrize(
    ("table", "columns"),
    [
        ("rubrics", {"criteria": [{"key": "a"}]}),
        ("campaign_items", {"outputs": {"S01": 1}}),
        ("campaign_results", {"signature_hash": "0" * 64}),
        ("campaign_results", {"rows": []}),
        ("assignments", {"systems": ["S01", "S99"], "kind": "real", "bad_index": None, "state": "done"}),
        ("campaign_systems", {"label": "S99"}),
        ("judgements", {"value": []}),
    ],
)
def test_campaigns_that_no_page_could_show_are_refused(
    world: World, empty_site: Callable[[], None], table: str, columns: dict[str, Any]
) -> None:
    archive = exported(world.competition)
    empty_site()
    with pytest.raises(ArchiveRefused) as refused:
        import_competition(file=forged(archive, table, **columns), actor=None)
    assert refused.value.params["reason"] == "rows"
    assert not Competition.objects.exists()
