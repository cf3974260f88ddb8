"""What several tests of the instrument share: models made once, an empty cache of the hub, a network that refuses."""

from __future__ import annotations

import shutil
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.scoring.hub import HUB_NAME, REVISION, Hub, serve


@pytest.fixture(scope="session")
def made_models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with models ``bert`` and ``bleurt``; tests that change one work on a copy."""
    folder = tmp_path_factory.mktemp("made")
    from tests.scoring.tiny_models import make_bert, make_sentencepiece_bleurt

    make_bert(folder / "bert")
    make_sentencepiece_bleurt(folder / "bleurt")
    return folder


@pytest.fixture
def models(made_models: Path, tmp_path: Path) -> Path:
    shutil.copytree(made_models, tmp_path, dirs_exist_ok=True)
    return tmp_path


@pytest.fixture
def profile(models: Path) -> Path:
    """A profile file that names copies of those models, for the test to change as it likes."""
    from tests.scoring.tiny_models import write_profile

    return write_profile(models / "mine.toml", bertscore=models / "bert", bleurt=models / "bleurt")


@pytest.fixture
def hub_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache of the hub."""
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "hub"))
    return tmp_path / "hub"


@pytest.fixture
def hub(models: Path, hub_cache: Path) -> Iterator[Hub]:
    """A hub on this machine that has the model ``bleurt``."""
    with serve(Hub(HUB_NAME, REVISION, models / "bleurt")) as hub:
        yield hub


@pytest.fixture
def remote(tmp_path: Path) -> Path:
    """A profile that names the model of that hub."""
    text = f'name = "remote"\n[bleurt]\nmodel = "{HUB_NAME}"\nrevision = "{REVISION}"\n'
    (tmp_path / "remote.toml").write_text(text, encoding="utf-8")
    return tmp_path / "remote.toml"


@pytest.fixture
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("scoring tried to reach the network")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)


@pytest.fixture
def fake_models(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the neural metrics only their names."""
    from scoring.metrics import METRICS
    from tests.scoring.fakes import FakeBertScore, FakeBleurt

    monkeypatch.setitem(METRICS.entries, "bertscore", FakeBertScore)
    monkeypatch.setitem(METRICS.entries, "bleurt", FakeBleurt)


@pytest.fixture(scope="session")
def okt_knows_the_items() -> None:
    """The texts of ``caption_items`` analysed together, as in a run: one by one, Okt is asked for each word again."""
    from scoring.text.run_tokens import RunTokens
    from tests.scoring.caption_items import caption_items

    texts = (text for item in caption_items(300) for text in (*item.references, item.candidate))
    RunTokens().add("okt", texts, lambda _: None)


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """Paths of R.json and P.json with the golden items, and of the result."""
    from tests.scoring.command_line import PREDICTION_ROWS, REFERENCE_ROWS
    from tests.scoring.texts import contest_json

    (tmp_path / "R.json").write_text(contest_json(REFERENCE_ROWS), encoding="utf-8")
    (tmp_path / "P.json").write_text(contest_json(PREDICTION_ROWS), encoding="utf-8")
    return tmp_path
