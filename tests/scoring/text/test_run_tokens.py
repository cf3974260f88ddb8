"""Every distinct text is analysed once a run by each tokenizer, and what is remembered once for several runs."""

from __future__ import annotations

import cProfile
import random
from collections import Counter
from collections.abc import Callable
from dataclasses import replace

import pytest

from scoring.engine import score
from scoring.metrics import METRICS, CorpusMetric, Row
from scoring.recipes import get_recipe
from scoring.records import Item, Items
from scoring.text import mecab_ko, okt, run_tokens
from scoring.text.run_tokens import RunTokens
from scoring.text.tokenization import tokenizer
from tests.scoring.fakes import STORE

LEXICAL = "captioning-lexical@1"
WORDS = [chr(ord("가") + 28 * n) + chr(ord("나") + 28 * m) for n in range(30) for m in range(10)]


def caption_files(items: int, references: int = 5) -> tuple[Items, Items]:
    """References and captions of many items: unlike texts of ten words, some with Latin letters, some twice."""
    source = random.Random(items)

    def text() -> str:
        return " ".join([*source.choices(WORDS, k=9), source.choice(("BMX", "개", "TV"))])

    first = [[text() for _ in range(references)] for _ in range(items)]
    gold = [Item(f"c{n}", texts[0], n + 1, others=tuple(texts[1:])) for n, texts in enumerate(first)]
    given = [Item(f"c{n}", text() if n % 10 else first[n][0], n + 1) for n in range(items)]
    return tuple(Items(tuple(answers), "coco", "0" * 64) for answers in (gold, given))  # type: ignore[return-value]


def texts_of(references: Items, captions: Items) -> set[str]:
    return {text for answer in (*references.items, *captions.items) for text in answer.texts}


@pytest.fixture
def nothing_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_tokens, "_memories", {})


@pytest.fixture
def analysed(monkeypatch: pytest.MonkeyPatch, nothing_remembered: None) -> Counter[str]:
    """How often Okt was given a text; the analyser itself is stubbed: words are nouns, known at once."""
    seen: Counter[str] = Counter()

    def tokenize_all(self: okt.Okt, texts: list[str], report: object) -> list[tuple[okt.Tagged, ...]]:
        seen.update(texts)
        return [tuple((word, "Noun", word) for word in text.split()) for text in texts]

    monkeypatch.setattr(okt.Okt, "tokenize_all", tokenize_all)
    return seen


@pytest.fixture
def no_arithmetic(monkeypatch: pytest.MonkeyPatch) -> None:
    """Metrics are given all tokens as ever, and compute next to nothing of them: that took nine tenths of the time."""

    def of_the_first(statistics: Callable[..., list[Row]]) -> Callable[..., list[Row]]:
        return lambda self, ids, references, candidates, report, **given: (
            statistics(self, ids[:1], references[:1], candidates[:1], **given) * len(ids)
        )

    for metric in map(METRICS.__getitem__, get_recipe(LEXICAL).metrics):
        if issubclass(metric, CorpusMetric):
            monkeypatch.setattr(metric, "statistics", of_the_first(metric.statistics))
        else:
            monkeypatch.setattr(metric, "value", lambda self, reference, candidate: float(reference == candidate))


def test_each_distinct_text_of_5000_items_with_5_references_is_analysed_once(
    analysed: Counter[str], no_arithmetic: None
) -> None:
    references, captions = caption_files(5_000)
    read = [name for name in METRICS if METRICS[name].reads.startswith("okt")]

    score(LEXICAL, references, captions)

    texts = texts_of(references, captions)
    assert len(read) >= 8
    assert set(analysed) == texts | {text.lower() for text in texts}
    assert set(analysed.values()) == {1}


def test_the_next_run_analyses_what_is_new(analysed: Counter[str]) -> None:
    references, captions = caption_files(20, 2)
    first = score(LEXICAL, references, captions)
    analysed.clear()
    assert score(LEXICAL, references, captions) == first
    assert not analysed
    other = captions.items[0].text + " 그리고"
    answers = (replace(captions.items[0], text=other), *captions.items[1:])
    score(LEXICAL, references, replace(captions, items=answers))
    assert set(analysed) == {other, other.lower()}


def test_a_run_larger_than_the_memory_finds_what_was_kept(
    analysed: Counter[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """No cliff: with room for half of the texts, the next run analyses the other half."""
    texts = [f"글 {n}" for n in range(1_000)]
    monkeypatch.setattr(run_tokens, "REMEMBERED", 500 * (run_tokens.TEXT_SIZE + 2))
    for _ in range(3):
        analysed.clear()
        tokens = RunTokens()
        tokens.add("okt", texts, lambda _: None)
        assert tokens.tokenize("okt")(texts[0]) == ("글", "0")
    assert sum(analysed.values()) == 500


def test_a_forked_process_and_its_parent_share_no_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """The lock of a memory that another thread held at the fork would never open."""
    analyser = tokenizer("mecab-ko")
    ours = run_tokens._memory_of(analyser)
    assert run_tokens._memory_of(analyser) is ours
    monkeypatch.setattr(run_tokens.os, "getpid", lambda: -1)
    assert run_tokens._memory_of(analyser) is not ours


def test_the_contest_reads_mecab_once_a_text(
    monkeypatch: pytest.MonkeyPatch, fake_models: None, nothing_remembered: None
) -> None:
    seen: Counter[str] = Counter()
    tokenize = mecab_ko.MecabKo.tokenize
    monkeypatch.setattr(mecab_ko.MecabKo, "tokenize", lambda self, text: seen.update([text]) or tokenize(self, text))
    answers = [Item(f"q{n}", f"글 {n % 7}을 읽었다.", n + 1) for n in range(60)]
    file = Items(tuple(answers), "json-array", "0" * 64)

    score("story-completion@1", file, file, store=STORE)

    # ROUGE reads the text without punctuation, BLEU-1 as it is
    assert seen == {text: 1 for n in range(7) for text in (f"글 {n}을 읽었다.", f"글 {n}을 읽었다")}


def test_only_what_is_not_known_is_analysed(analysed: Counter[str]) -> None:
    references, captions = caption_files(30, 2)
    first = score(LEXICAL, references, captions)
    known = {
        (name, signature): {item.id: item.scores[METRICS[name].score_names[0]] for item in first.items}
        if METRICS[name].has_item_values
        else {item.id: item.statistics[name] for item in first.items}
        for name, signature in first.metric_signatures.items()
    }
    analysed.clear()
    assert score(LEXICAL, references, captions, known=known) == first
    assert not analysed


def test_a_view_of_another_tokenizer_needs_no_analysis(analysed: Counter[str]) -> None:
    tokens = RunTokens()
    tokens.add("okt-tagged", ["파란 바다"], lambda _: None)
    tokens.add("okt", ["파란 바다"], lambda _: None)
    assert tokens.tokenize("okt")("파란 바다") == ("파란", "바다")
    assert analysed == {"파란 바다": 1}


def test_tokens_of_a_run_are_those_of_each_text_alone() -> None:
    references, captions = caption_files(20, 2)
    tokens = RunTokens()
    for name in ("okt", "okt-tagged", "mecab-ko"):
        tokens.add(name, texts_of(references, captions), lambda _: None)
        for text in texts_of(references, captions):
            assert tokens.tokenize(name)(text) == tokenizer(name).tokenize(text)


def test_work_grows_with_the_items_and_not_faster(analysed: Counter[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Twice the items, twice the calls of functions (and at most twice the analyses), whatever is remembered.

    Where a run had more texts than were remembered, the next metric analysed them anew: a cliff of a factor of five.
    Calls are counted, as time is not the same twice; 100 items are enough for pairs of items to show among them.
    """
    monkeypatch.setattr(run_tokens, "REMEMBERED", 100 * (run_tokens.TEXT_SIZE + 10))

    def calls(items: int) -> int:
        references, captions = caption_files(items)
        analysed.clear()
        with cProfile.Profile() as profile:
            score(LEXICAL, references, captions)
        assert len(analysed) >= len(texts_of(references, captions))
        assert set(analysed.values()) == {1}
        return sum(entry.callcount for entry in profile.getstats())

    calls(50)
    assert calls(200) < 2.1 * calls(100)
