"""A new scoring process starts the analysers of the runs that wait, and no others."""

from __future__ import annotations

import logging

import pytest

from malpan.competitions.models import Phase
from malpan.submissions.evaluation import warming
from malpan.submissions.models import ScoringRun
from scoring import engine
from scoring.recipes import Recipe, get_recipe
from tests.factories import ScoringRunFactory

State = ScoringRun.State


@pytest.fixture
def warmed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The recipes that were asked for, in order."""
    asked: list[str] = []
    monkeypatch.setattr(engine, "warm_up", lambda recipe: asked.append(recipe.id))
    return asked


def test_every_analyser_that_a_recipe_reads_does_a_first_text(monkeypatch: pytest.MonkeyPatch) -> None:
    texts: dict[str, str] = {}

    class Analyser:
        def __init__(self, name: str) -> None:
            self.name = name

        def tokenize(self, text: str) -> None:
            texts[self.name] = text

    monkeypatch.setattr(engine, "tokenizer", Analyser)
    engine.warm_up(get_recipe("classification@1"))
    assert texts == {}
    engine.warm_up(get_recipe("rag-qa@1"))
    assert texts.keys() == {"mecab-ko"}
    engine.warm_up(get_recipe("captioning@1"))
    assert texts.keys() == {"mecab-ko", "okt", "okt-tagged"}
    assert all(texts.values())


def run_of(phase: Phase, recipe: str, state: str = State.QUEUED) -> None:
    ScoringRunFactory.create(submission__phase=phase, recipe=recipe, state=state)


def test_only_what_waits_is_warmed_up_and_once(phase: Phase, warmed: list[str]) -> None:
    assert warming.begin() is None
    for recipe, state in (("captioning@1", State.QUEUED), ("captioning@1", State.QUEUED), ("rag-qa@1", State.RUNNING)):
        run_of(phase, recipe, state)
    thread = warming.begin()
    assert thread is not None
    thread.join()
    assert warmed == ["captioning@1"]


def test_an_unknown_recipe_keeps_no_other_cold(
    phase: Phase, warmed: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    for recipe in ("a-recipe-of-tomorrow@1", "captioning@1"):
        run_of(phase, recipe)
    with caplog.at_level(logging.WARNING):
        thread = warming.begin()
        assert thread is not None
        thread.join()
    assert warmed == ["captioning@1"]
    assert "a-recipe-of-tomorrow@1: UnknownTrackRecipe" in caplog.text


def test_a_warm_up_that_fails_is_logged_and_keeps_no_other_cold(
    phase: Phase, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    asked: list[str] = []

    def fails_at_first(recipe: Recipe) -> None:
        asked.append(recipe.id)
        if len(asked) == 1:
            raise RuntimeError("the JVM does not start")

    monkeypatch.setattr(engine, "warm_up", fails_at_first)
    for recipe in ("captioning@1", "rag-qa@1"):
        run_of(phase, recipe)
    with caplog.at_level(logging.ERROR):
        thread = warming.begin()
        assert thread is not None
        thread.join()
    assert sorted(asked) == ["captioning@1", "rag-qa@1"]
    assert f"nothing is warm for {asked[0]}" in caplog.text
    assert "the JVM does not start" in caplog.text
