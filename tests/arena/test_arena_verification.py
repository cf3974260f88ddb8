"""Tampering with a campaign is found: by the site, and by the script from what the site publishes."""

from __future__ import annotations

import copy
import hashlib
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from django.db import connection

from malpan.arena.models import Campaign, CampaignJudge
from malpan.arena.selectors import result_bytes_of, result_of, votes_bytes_of
from malpan.arena.verification import TEXTS, verify_campaigns
from malpan.arena.votes_file import votes_of
from malpan.stages.verification import verify_competition
from malpan.submissions.integrity import chain
from malpan.submissions.models import ChainEntry
from malpan.web.pages.chain import SCRIPT
from scoring.arena.redrawing import Redrawn, redrawn
from scoring.arena.votes import read_votes, votes_bytes
from scoring.signature import canonical_json
from tests.arena.conftest import World, make_world

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def made(kept: None) -> tuple[World, Campaign]:
    """A published campaign in its world."""
    world = make_world()
    return world, world.published(protocol="rubric", group_size=1, units_per_item=2)


@pytest.fixture
def published(made: tuple[World, Campaign]) -> tuple[World, Campaign]:
    return copy.deepcopy(made)


@pytest.fixture
def world(published: tuple[World, Campaign]) -> World:
    return published[0]


@pytest.fixture
def campaign(published: tuple[World, Campaign]) -> Campaign:
    return published[1]


def codes(world: World) -> list[str]:
    return [finding.code for finding in verify_campaigns(world.competition)]


def change(sql: str) -> None:
    """As somebody with all rights in the database would."""
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL session_replication_role = replica")
        cursor.execute(sql)
        cursor.execute("SET LOCAL session_replication_role = DEFAULT")


def test_a_campaign_is_as_recorded_in_every_state(world: World, campaign: Campaign) -> None:
    world.opened()
    world.campaign()
    world.closed()
    assert codes(world) == []
    # the submissions of this world were made without receipts and commitments of scores
    assert {finding.code for finding in verify_competition(world.competition)} <= {"receipt_missing", "score_missing"}


@pytest.mark.parametrize(
    ("sql", "code"),
    [
        ("UPDATE arena_campaign SET seed = repeat('0', 64)", "seed_differs"),
        ("UPDATE arena_campaign SET seed_sha256 = repeat('0', 64)", "seed_differs"),
        ("DELETE FROM submissions_chainentry WHERE payload->>'event' = 'committed'", "campaign_missing"),
        ("DELETE FROM submissions_chainentry WHERE payload->>'event' = 'opened'", "campaign_missing"),
        ("DELETE FROM submissions_chainentry WHERE payload->>'event' = 'closed'", "campaign_missing"),
        ("DELETE FROM submissions_chainentry WHERE payload->>'event' = 'published'", "result_missing"),
        ("UPDATE arena_assignment SET systems = '[\"S01\"]'", "design_differs"),
        ("UPDATE arena_assignment SET kind = 'real', bad_index = NULL WHERE kind = 'control'", "design_differs"),
        ("UPDATE arena_campaign SET design_sha256 = ''", "design_differs"),
        ("UPDATE arena_campaignjudge SET barred_at_opening = '[\"S01\"]'", "design_not_drawn"),
        ("UPDATE arena_campaign SET control_percent = 30", "design_not_drawn"),
        ("UPDATE arena_campaignresult SET rows = '[]'", "result_differs"),
        ("UPDATE arena_campaignresult SET votes_sha256 = repeat('0', 64)", "result_differs"),
        ("DELETE FROM arena_campaignresult", "result_gone"),
    ],
)
def test_what_is_changed_in_the_database_is_found(world: World, campaign: Campaign, sql: str, code: str) -> None:
    change(sql)
    found = verify_campaigns(world.competition)
    assert [finding.code for finding in found] == [code]
    assert found[0].text == str(TEXTS[code])


def test_a_result_that_does_not_follow_from_its_votes_is_found(
    world: World, campaign: Campaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = result_of(campaign)
    votes = json.loads(votes_bytes_of(result))
    real = next(vote for vote in votes["votes"] if vote["kind"] == "real")
    real["value"]["scores"]["fluency"] = 6 - real["value"]["scores"]["fluency"]
    real["value"]["scores"]["accuracy"] = 1
    other = {result.votes_sha256: canonical_json(votes), result.result_sha256: result_bytes_of(result)}
    monkeypatch.setattr("malpan.arena.verification.read_private", other.__getitem__)
    assert codes(world) == ["votes_miscounted"]


def test_a_result_of_another_version_of_the_arena_is_taken_as_it_is(
    world: World, campaign: Campaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of this version it would be miscounted: what is computed from the votes has other bytes."""
    result = result_of(campaign)
    votes, published = json.loads(votes_bytes_of(result)), json.loads(result_bytes_of(result))
    votes["settings"]["resamples"] += 1
    kept = {result.votes_sha256: canonical_json(votes), result.result_sha256: canonical_json(published)}
    monkeypatch.setattr("malpan.arena.verification.read_private", kept.__getitem__)
    assert codes(world) == ["votes_miscounted"]
    published["signature"]["instrument"] = "0.1.0"
    kept[result.result_sha256] = canonical_json(published)
    assert codes(world) == []


def test_the_votes_file_is_drawn_again_by_anybody(world: World, campaign: Campaign) -> None:
    votes = read_votes(votes_bytes_of(result_of(campaign)))
    found = redrawn(votes)
    assert found == Redrawn(is_same=True, drawn=len(votes.votes), moved=0)
    assert votes.design is not None
    opened = ChainEntry.objects.get(competition=world.competition, payload__event="opened")
    assert votes.design.sha256 == opened.payload["queues_sha256"]
    assert votes.design.judges == len(votes.judges)


def test_no_votes_file_says_who_was_barred(world: World, campaign: Campaign) -> None:
    """Nor does it have a design, from which bars would follow; the site draws it again."""
    judge = CampaignJudge.objects.filter(campaign=campaign).first()
    assert judge is not None
    CampaignJudge.objects.filter(pk=judge.pk).update(barred_at_opening=["S01"])
    votes = votes_of(campaign)
    assert votes.design is None
    assert b"barred" not in votes_bytes(votes)


# --- the script that the site serves ----------------------------------------------------------------------------------
def exported(world: World) -> dict[str, Any]:
    rows = ChainEntry.objects.filter(competition=world.competition).order_by("number")
    return {
        "entries": [
            {
                "number": row.number,
                "kind": row.kind,
                "payload": row.payload,
                "previous": row.previous_sha256,
                "sha256": row.sha256,
            }
            for row in rows
        ]
    }


def chained_again(document: dict[str, Any]) -> dict[str, Any]:
    """As whoever rewrites the whole chain would: every link and hash fits."""
    previous = ""
    for number, entry in enumerate(document["entries"], start=1):
        entry |= {"number": number, "previous": previous}
        previous = entry["sha256"] = chain.link_sha256(
            number=number, kind=entry["kind"], payload=entry["payload"], previous=entry["previous"]
        )
    return document


def run(tmp_path: Path, document: dict[str, Any], *files: bytes) -> tuple[int, str]:
    paths = []
    for number, data in enumerate((json.dumps(document).encode(), *files)):
        path = tmp_path / f"{number}.json"
        path.write_bytes(data)
        paths.append(str(path))
    arena = ["--arena", *paths[1:]] if files else []
    command = [sys.executable, str(SCRIPT), paths[0], *arena]
    done = subprocess.run(command, capture_output=True, text=True, check=False, encoding="utf-8")
    return done.returncode, done.stdout + done.stderr


def test_the_script_finds_a_published_campaign_sound(world: World, campaign: Campaign, tmp_path: Path) -> None:
    result = result_of(campaign)
    code, said = run(tmp_path, exported(world), votes_bytes_of(result), result_bytes_of(result))
    assert code == 0, said
    assert "the revealed seed is the one committed before the opening" in said
    assert "The votes file is the one recorded" in said
    assert "The result file is the one recorded" in said


def test_the_script_says_nothing_of_a_campaign_that_runs(tmp_path: Path) -> None:
    world = make_world()
    world.opened()
    world.campaign()
    code, said = run(tmp_path, exported(world))
    assert code == 0, said
    assert "[!!]" not in said
    assert "seed" not in said


def test_the_script_finds_another_seed(world: World, campaign: Campaign, tmp_path: Path) -> None:
    document = exported(world)
    for entry in document["entries"]:
        if entry["payload"].get("event") == "closed":
            entry["payload"]["seed"] = "0" * 64
    code, said = run(tmp_path, chained_again(document))
    assert code == 1
    assert "the seed is not the one committed before the opening" in said


@pytest.mark.parametrize("event", ["committed", "opened", "closed"])
def test_the_script_misses_a_step_and_sees_it_twice(
    world: World, campaign: Campaign, tmp_path: Path, event: str
) -> None:
    document = exported(world)
    without = [entry for entry in document["entries"] if entry["payload"].get("event") != event]
    code, said = run(tmp_path, chained_again({"entries": [dict(entry) for entry in without]}))
    assert (code, "not in their order" in said) == (1, True)
    twice = [dict(entry) for entry in document["entries"]]
    twice += [dict(entry) for entry in twice if entry["payload"].get("event") == event]
    code, said = run(tmp_path, chained_again({"entries": twice}))
    assert (code, "not in their order" in said) == (1, True)


def test_the_script_finds_files_that_are_not_those_recorded(world: World, campaign: Campaign, tmp_path: Path) -> None:
    result = result_of(campaign)
    votes = json.loads(votes_bytes_of(result))
    votes["votes"][0]["seconds"] += 1
    code, said = run(tmp_path, exported(world), canonical_json(votes))
    assert (code, "none of those recorded in the chain" in said) == (1, True)
    spaced = json.dumps(json.loads(result_bytes_of(result))).encode()
    code, said = run(tmp_path, exported(world), spaced)
    assert (code, "none of those recorded in the chain" in said) == (1, True)
    code, said = run(tmp_path, exported(world), b'{"format": "other", "campaign": {}}')
    assert (code, "--arena" in said) == (2, True)


def test_the_script_finds_a_votes_file_with_other_queues(world: World, campaign: Campaign, tmp_path: Path) -> None:
    votes = json.loads(votes_bytes_of(result_of(campaign)))
    votes["design"]["sha256"] = "0" * 64
    data, document = canonical_json(votes), exported(world)
    for entry in document["entries"]:
        if entry["payload"].get("event") == "published":
            entry["payload"]["votes_sha256"] = hashlib.sha256(data).hexdigest()
    code, said = run(tmp_path, chained_again(document), data)
    assert (code, "not those recorded in the chain at the opening" in said) == (1, True)


def test_the_script_finds_a_votes_file_with_another_seed(world: World, campaign: Campaign, tmp_path: Path) -> None:
    votes = json.loads(votes_bytes_of(result_of(campaign)))
    votes["settings"]["seed"] = "0" * 64
    data, document = canonical_json(votes), exported(world)
    for entry in document["entries"]:
        if entry["payload"].get("event") == "published":
            entry["payload"]["votes_sha256"] = hashlib.sha256(data).hexdigest()
    code, said = run(tmp_path, chained_again(document), data)
    assert (code, "seed written in this votes file differs" in said) == (1, True)
