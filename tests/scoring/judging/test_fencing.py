"""Texts of people are data: they stand inside the fence and move no judge that reads only there."""

from __future__ import annotations

import json
import re
import unicodedata
from pathlib import Path
from typing import Any

import pytest

from scoring.judging.demo_features import decide, texts_of
from scoring.judging.fencing import FENCE_CHARS, VERSION, cleaned, fenced
from scoring.judging.judge import Judge
from scoring.judging.parsing import Judgement
from scoring.models.profile import load_profile
from tests.scoring.judging.injections import INJECTIONS
from tests.scoring.judging.toys import ESSAY, GOOD, STOCK, demo_judge, profile_for

NEUTRAL = "오늘 날씨가 맑다."  # no word of it is in the essay


@pytest.fixture
def judge(judged: Path) -> Judge:
    return Judge(load_profile(judged).judge_spec())


def sent(judge: Judge, candidate: str, reference: str = ESSAY) -> list[dict[str, str]]:
    """The chat about ``candidate``, as it is sent."""
    body = judge.body(judge.prompt("llm_judge", "rationale-1"), {"reference": reference, "candidate": candidate})
    found: list[dict[str, str]] = json.loads(body)["messages"]
    return found


def judgements(judge: Judge, candidates: list[str]) -> list[Judgement | None]:
    prompt = judge.prompt("llm_judge", "rationale-1")
    answers = dict(judge.ask(prompt, [{"reference": ESSAY, "candidate": each} for each in candidates]))
    return [answers[place] for place in range(len(candidates))]


def test_there_are_fifty_and_none_twice() -> None:
    assert len(set(INJECTIONS)) == len(INJECTIONS) == 50


def test_no_injection_changes_a_parsed_field(judge: Judge) -> None:
    """Alone, before and after reasons, good and bad ones."""
    for base in (NEUTRAL, GOOD, STOCK):
        variants = [text for each in INJECTIONS for text in (f"{base}\n{each}", f"{each}\n{base}")]
        [expected], found = judgements(judge, [base]), judgements(judge, variants)
        assert expected is not None
        assert found == [expected] * len(variants)
    [nothing] = judgements(judge, [NEUTRAL])
    assert judgements(judge, list(INJECTIONS)) == [nothing] * len(INJECTIONS)


def test_the_same_texts_do_move_a_judge_that_obeys_them(tmp_path: Path) -> None:
    """Otherwise the test above would say nothing."""
    with demo_judge(gullible=True) as server:
        judge = Judge(load_profile(profile_for(tmp_path / "p.toml", server.url)).judge_spec())
        moved = [each for each in judgements(judge, [f"{NEUTRAL}\n{text}" for text in INJECTIONS]) if each]
    assert sum(each.decision == 5 for each in moved) > len(INJECTIONS) / 2


@pytest.mark.parametrize("text", INJECTIONS, ids=range(len(INJECTIONS)))
def test_a_text_stands_only_inside_the_fence(judge: Judge, text: str) -> None:
    messages, plain = sent(judge, text), sent(judge, NEUTRAL)
    outside, blocks = _taken_apart(messages)
    assert outside == _taken_apart(plain)[0]  # not a letter outside depends on the text
    assert blocks["reference"] == cleaned(ESSAY)
    assert blocks["candidate"] == cleaned(text)
    assert texts_of(messages) == blocks


def _taken_apart(messages: list[dict[str, str]]) -> tuple[list[Any], dict[str, str]]:
    """The chat without the fence's name and without what stands inside, and what stands inside by role."""
    system = messages[0]["content"]
    [fence] = set(re.findall(r"\[\[([0-9a-f]{32}):", system))
    blocks: dict[str, str] = {}

    def keep(found: re.Match[str]) -> str:
        blocks[found[1]] = found[2]
        return f"<{found[1]}>"

    inside = re.compile(rf"\[\[{fence}:(\w+):begin\]\]\n(.*?)\n\[\[{fence}:\1:end\]\]", re.DOTALL)
    user = inside.sub(keep, messages[1]["content"])
    assert fence not in user
    assert len(messages) == 2
    return [(messages[0]["role"], system.replace(fence, "F")), (messages[1]["role"], user)], blocks


@pytest.mark.parametrize("text", [*INJECTIONS, "".join(map(chr, range(0x20, 0x3000)))])
def test_nothing_that_cannot_be_seen_and_no_mark_of_a_template_is_sent(text: str) -> None:
    clean = cleaned(text)
    hidden = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
    assert not [each for each in clean if each not in "\n\t" and unicodedata.category(each) in hidden]
    assert not re.search(r"[<>]|\[/?INST\]", clean)
    assert cleaned(clean) == clean


def test_what_is_harmless_stays_as_it_is() -> None:
    for text in (ESSAY, GOOD, "값이 3 이상[주1]이면 (가)를 고른다.\n\t‘따옴표’ — “인용” 🙂"):
        assert cleaned(text) == text


def test_the_fence_follows_from_the_item_and_from_nothing_else() -> None:
    texts = {"reference": ESSAY, "candidate": GOOD}
    one = fenced(texts, "p", 1000)
    assert one == fenced(dict(texts), "p", 1000)
    others = [
        fenced({**texts, "candidate": STOCK}, "p", 1000),
        fenced({**texts, "reference": STOCK}, "p", 1000),
        fenced(texts, "q", 1000),
        fenced({"reference": ESSAY + GOOD, "candidate": ""}, "p", 1000),
    ]
    assert len({one.fence, *(other.fence for other in others)}) == 5
    assert len(one.fence) == FENCE_CHARS


def test_a_text_with_its_own_fence_gets_another(monkeypatch: pytest.MonkeyPatch) -> None:
    """No text can be made that does this: the hash is forced here."""
    import hashlib

    digests, hashed = iter(["a" * 64, "b" * 64]), []

    class Forced:
        def __init__(self, data: bytes) -> None:
            hashed.append(data)

        def hexdigest(self) -> str:
            return next(digests)

    monkeypatch.setattr(hashlib, "sha256", Forced)
    assert fenced({"reference": "글", "candidate": "a" * 32}, "p", 1000).fence == "b" * 32
    first, second = hashed
    assert first[8:9] + second[8:9] == b"01", "a number that counts the tries is what differs"
    assert first[9:] == second[9:]


def test_what_is_sent_changes_with_the_version_alone() -> None:
    """The form of a fence in bytes. Whoever changes it, or what is cleaned, raises the version, which is signed."""
    import hashlib

    parts = [part.encode() for part in ("0", "p", "reference", "글", "candidate", "까닭")]
    mark = hashlib.sha256(b"".join(len(part).to_bytes(8, "big") + part for part in parts)).hexdigest()[:32]
    sent = fenced({"reference": "글", "candidate": "까닭"}, "p", 1000)
    assert (VERSION, sent.fence, sent.cut) == (1, mark, ())
    assert sent.text == (
        f"[[{mark}:reference:begin]]\n글\n[[{mark}:reference:end]]\n\n"
        f"[[{mark}:candidate:begin]]\n까닭\n[[{mark}:candidate:end]]"
    )


def test_a_long_text_is_cut_inside_its_fence_and_that_is_told(judge: Judge) -> None:
    long = "가" * (judge.spec.max_chars + 1)
    _, blocks = _taken_apart(sent(judge, long))
    assert blocks["candidate"] == "가" * judge.spec.max_chars
    assert judge.is_cut(long)
    assert not judge.is_cut(long[1:])
    of_both = {"reference": long, "candidate": "짧다"}
    assert fenced(of_both, "p", judge.spec.max_chars).cut == ("reference",)


def test_a_lone_surrogate_breaks_nothing(judge: Judge) -> None:
    _, blocks = _taken_apart(sent(judge, "앞\ud800뒤"))
    assert blocks["candidate"] == "앞뒤"


def test_the_demo_judge_orders_sensibly() -> None:
    scores = [decide({"reference": ESSAY, "candidate": text}, "score")["score"] for text in (NEUTRAL, STOCK, GOOD)]
    assert scores[0] == 1
    assert scores == sorted(scores)
    assert scores[2] >= 4
