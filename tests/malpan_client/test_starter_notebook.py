"""The starter notebook of a track, run from its first cell to the last against the site itself."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as site_settings
from django.core.cache import cache
from django.test import Client

from malpan.accounts.models import Scope
from malpan.accounts.services import create_api_token
from malpan.competitions.models import Competition, Phase, Track
from malpan.competitions.services import add_data_file
from malpan.demo import specs
from malpan.demo.tracks import TrackSpec
from malpan.submissions.models import Rejection, Submission
from malpan.submissions.scoring_changes import publish_reference_version
from malpan.web.presenters.notebook import starter_notebook
from scoring.reading import read_predictions
from scoring.recipes import RECIPES
from tests.factories import PhaseFactory, TeamFactory, leader_of, person_in
from tests.web import html

pytestmark = pytest.mark.django_db(transaction=True)
TRACKS = {
    track.slug: track
    for competition in specs.COMPETITIONS
    for track in competition.tracks
}  # fmt: skip


def phase_with(spec: TrackSpec) -> Phase:
    """An open phase with the demo's questions and references."""
    phase = PhaseFactory.create(track__recipe=spec.recipe)
    publish_reference_version(phase=phase, data=spec.references(), actor=None)
    for file in spec.public_files():
        add_data_file(
            track=phase.track,
            kind=file.kind,
            title_ko=file.title_ko,
            file_name=file.file_name,
            data=file.data,
            actor=person_in(phase.track.competition, "owner"),
        )
    return phase


def address_of(phase: Phase) -> str:
    return f"/competitions/{phase.track.competition.slug}/data/{phase.track.slug}.ipynb"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the notebook is run."""
    cache.clear()
    for name in ("http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("MALPAN_LANG", "ko")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("slug", sorted(TRACKS))
def test_the_notebook_of_every_track_of_the_demo_writes_a_sound_file(
    slug: str,
    folder: Path,
    site: str,
    settings: Any,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    settings.SITE_URL = site
    phase = phase_with(TRACKS[slug])
    member = leader_of(TeamFactory.create(competition=phase.track.competition))
    monkeypatch.setenv("MALPAN_TOKEN", create_api_token(user=member, label="CI", scopes=list(Scope))[1])
    response = Client().get(address_of(phase))
    assert response.headers["Content-Disposition"].startswith("attachment")
    notebook = json.loads(response.content)
    names: dict[str, Any] = {}
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            exec(compile("".join(cell["source"]), cell["id"], "exec"), names)
    assert names["done"].returncode == 0, capsys.readouterr().out
    assert "answers.json: 이상이 없습니다" in names["done"].stdout
    assert len(json.loads((folder / "answers.json").read_text())) == len(names["items"]) > 1
    assert not Submission.objects.exists()
    assert not Rejection.objects.exists()


@pytest.mark.parametrize("recipe", sorted(RECIPES.keys() - {"target-accuracy@1"}))
def test_what_it_answers_has_the_form_of_every_recipe(recipe: str) -> None:
    track = Track(recipe=recipe, slug="main", competition=Competition(slug="spring", title_ko="대회"))
    notebook = starter_notebook(track, "q.json", {"q.json": "/q.json"}, "https://example.org")
    sources = ["".join(cell["source"]) for cell in notebook["cells"]]
    names: dict[str, Any] = {}
    exec(next(source for source in sources if "def answer" in source), names)
    rows = [{"id": name, **names["answer"]({"id": name})} for name in ("q1", "q2")]
    assert len(read_predictions(json.dumps(rows).encode(), RECIPES[recipe]).items) == 2


def test_the_data_page_offers_notebook_and_check(folder: Path) -> None:
    phase = phase_with(TRACKS["culture-qa"])
    page = html.parse(Client().get(f"/competitions/{phase.track.competition.slug}/data/").content.decode())
    links = [link.attributes["href"] for link in page.one("section", "starting").all("a")]
    assert links == [address_of(phase), "/tokens/", "/api/malpan.py", "/api/docs/"]
    assert f"python malpan.py login {site_settings.SITE_URL.rstrip(chr(47))}" in page.text
    assert f"python malpan.py check {phase.track.competition.slug}/{phase.track.slug}" in page.text
    assert html.problems(page) == []


def test_a_track_without_questions_has_no_notebook(folder: Path) -> None:
    phase = PhaseFactory.create()
    assert Client().get(address_of(phase)).status_code == 404
    page = html.parse(Client().get(f"/competitions/{phase.track.competition.slug}/data/").content.decode())
    hrefs = [link.attributes["href"] for link in page.one("section", "starting").all("a")]
    assert hrefs == ["/tokens/", "/api/malpan.py", "/api/docs/"]


def test_a_notebook_of_a_hidden_competition_is_not_found(folder: Path) -> None:
    phase = phase_with(TRACKS["culture-qa"])
    type(phase.track.competition).objects.update(is_published=False)
    assert Client().get(address_of(phase)).status_code == 404
