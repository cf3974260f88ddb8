"""A stranger has the two files that the site publishes, and the instrument alone: from its wheel, or its folder.

What they compute is the published result byte for byte, in every protocol; of changed votes they are told where it is
another.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from django.test import Client
from django.urls import reverse

from malpan.arena.models import Campaign
from malpan.arena.selectors import result_of
from scoring.arena.vote_records import PROTOCOLS
from scoring.signature import canonical_json, json_sha256
from tests.arena.conftest import World, make_world
from tests.arena.panels import GROUPS
from tests.scoring.test_package import BASE, SCORING, built, installed_for

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Where the instrument is found, with what its base needs: the wheel unpacked, and the folder as it is."""
    wheel, checkout = (tmp_path_factory.mktemp(name) for name in ("wheel", "checkout"))
    zipfile.ZipFile(wheel / built("build_wheel", SCORING, wheel)).extractall(wheel)
    (checkout / "scoring").symlink_to(SCORING)
    for found in installed_for(BASE):
        for place in (wheel, checkout):
            (place / found.name).symlink_to(found)
    return [wheel, checkout]


@pytest.fixture(scope="module")
def world(kept: None) -> World:
    return make_world()


def run(place: Path, folder: Path, *more: str) -> subprocess.CompletedProcess[str]:
    """The command in ``folder``, where the two files are; nothing of this site can be imported."""
    command = [sys.executable, "-S", "-m", "scoring", "arena", "votes.json", "--check", "result.json", "--lang", "en"]
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(place), "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(
        [*command, *more], cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=300
    )


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_anybody_recomputes_what_is_published(
    world: World, places: list[Path], client: Client, tmp_path: Path, protocol: str
) -> None:
    campaign: Campaign = world.published(protocol=protocol, group_size=GROUPS[protocol], title_ko=f"{protocol} 평가")
    result = result_of(campaign)
    for name in ("votes", "result"):
        address = reverse(
            f"campaign_{name}", args=[world.competition.slug, campaign.track.slug, campaign.number, result.number]
        )
        (tmp_path / f"{name}.json").write_bytes(client.get(address).content)
    published = (tmp_path / "result.json").read_bytes()
    assert hashlib.sha256(published).hexdigest() == result.result_sha256
    assert json_sha256(json.loads(published)["signature"]) == result.signature_hash

    for place in places:
        found = run(place, tmp_path, "--output", "again.json")
        assert found.returncode == 0, found.stderr
        assert f"equal byte for byte. Signature {result.signature_hash}" in found.stderr
        assert "drawn again from the seed" in found.stderr
        assert (tmp_path / "again.json").read_bytes() == published

    votes = json.loads((tmp_path / "votes.json").read_bytes())
    votes["votes"].pop()
    (tmp_path / "votes.json").write_bytes(canonical_json(votes))
    found = run(places[0], tmp_path)
    assert found.returncode == 1
    assert "result.json" in found.stderr
    assert "equal byte for byte" not in found.stderr
