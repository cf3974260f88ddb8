"""Own submissions item by item, and two of them compared, as tables of a terminal and as the API's JSON."""

from __future__ import annotations

from typing import Any

import pytest

ONE, OTHER = "11111111-1111-1111-1111-111111111111", "22222222-2222-2222-2222-222222222222"
ITEMS, COMPARED = f"submissions/{ONE}/items/", f"submissions/{ONE}/compare/{OTHER}/"
METRICS = [{"key": "bleurt", "label": "BLEURT"}]


def page(*rows: dict[str, Any], **more: Any) -> dict[str, Any]:
    found = {"count": len(rows), "next": None, "items": [*rows], "item_scores": "open", "metrics": METRICS}
    return {**found, "is_unreadable": False, **more}


def item(name: str, answer: str = "답", low: float | None = None, high: float | None = None) -> dict[str, Any]:
    values = {} if low is None else {"bleurt": {"low": low, "high": low if high is None else high}}
    return {"id": name, "answer": answer, "values": values}


def difference(**more: Any) -> dict[str, Any]:
    found = {"key": "final_score", "label": "종합", "one": 0.5, "other": 0.6, "difference": 0.1}
    return {**found, "one_text": "50.0000", "other_text": "60.0000", "difference_text": "+10.0000", **more}


def comparison(*scores: dict[str, Any], **more: Any) -> dict[str, Any]:
    found = {"one": ONE, "other": OTHER, "refusal": None, "split": "public", "has_private": False, "reason": None}
    return {**found, "is_computed": True, "items": 40, "trials": 10_000, "seed": 1, "scores": [*scores], **more}


def test_items_are_a_table_with_values_as_they_are_opened(command, script):
    script.on("GET", ITEMS, page(item("q1", "여러\n줄", 0.25, 0.5), item("q2", "가" * 90, 0.8123), item("q3")))
    lines = command("items", ONE).out.splitlines()
    assert [line.split()[0] for line in lines] == ["id", "q1", "q2", "q3"]
    assert "여러 줄" in lines[1]
    assert lines[1].endswith("0.25–0.5")
    assert "…" in lines[2]
    assert lines[2].endswith("0.8123")
    assert lines[3].endswith("–")
    assert script.requests[-1].query == {"page_size": "20"}


def test_more_items_are_counted_or_all_are_asked_for(command, script):
    script.on("GET", ITEMS, page(*(item(f"q{number}") for number in range(20)), count=22, next="https://x/?page=2"))
    assert "… 2줄 더 있습니다" in command("items", ONE, "--by", "bleurt").out
    assert script.requests[-1].query == {"page_size": "20", "by": "bleurt"}
    script.on("GET", ITEMS, page(item("q1"), count=2, next="https://x/?page=2"), page(item("q2"), count=2))
    found = command("items", ONE, "--all", "--json").json
    assert [each["id"] for each in found["items"]] == ["q1", "q2"]


def test_a_file_that_cannot_be_read_is_said(command, script):
    script.on("GET", ITEMS, page(is_unreadable=True))
    assert "읽을 수 없어" in command("items", ONE).out


def test_two_are_compared_in_words(command, script):
    tested = difference(p=0.0123, is_significant=True, interval=[0.05, 0.15])
    script.on("GET", COMPARED, comparison(tested, difference(key="rouge_1", label="ROUGE-1")))
    done = command("compare", ONE, OTHER)
    assert done.status == 0
    for text in (ONE, OTHER, "50.0000", "60.0000", "+10.0000", "0.0123", "차이가 있음"):
        assert text in done.out
    assert done.out.splitlines()[-1].split()[-2:] == ["–", "–"]
    script.on("GET", COMPARED, comparison(difference(p=0.5, is_significant=False)))
    assert "may be chance" in command("compare", ONE, OTHER, "--lang", "en").out


def test_the_private_scores_are_asked_for_and_named(command, script):
    script.on("GET", COMPARED, comparison(difference(), split="private"))
    assert "비공개 문항" in command("compare", ONE, OTHER, "--private").out
    assert script.requests[-1].query == {"split": "private"}


@pytest.mark.parametrize("refusal", ["not_scored", "withheld", "rounded", "of_tomorrow"])
def test_why_scores_are_not_compared_is_said(command, script, refusal):
    script.on("GET", COMPARED, comparison(refusal=refusal, is_computed=False))
    done = command("compare", ONE, OTHER, "--wait")
    assert (done.status, len(script.requests)) == (0, 1), "nothing to wait for"
    assert done.out.strip() == "of_tomorrow" if refusal == "of_tomorrow" else "다." in done.out


@pytest.mark.parametrize("reason", ["no_items", "items", "recipe", "crashed"])
def test_why_nothing_was_tested_is_said(command, script, reason):
    script.on("GET", COMPARED, comparison(difference(), reason=reason))
    said = command("compare", ONE, OTHER).out
    assert "50.0000" in said
    assert ("못했습니다" in said) != ("다시 해 보십시오" in said)


def test_it_is_waited_for_or_told_that_it_is_not_there_yet(command, script, waits):
    script.on("GET", COMPARED, comparison(difference(), is_computed=False))
    done = command("compare", ONE, OTHER)
    assert (done.status, "검정하고 있습니다" in done.out, waits) == (0, True, [])
    open_one, tested = comparison(difference(), is_computed=False), comparison(difference(p=0.5, is_significant=False))
    script.on("GET", COMPARED, open_one, open_one, tested)
    done = command("compare", ONE, OTHER, "--wait")
    assert (done.status, "0.5000" in done.out, len(waits)) == (0, True, 2)
    script.on("GET", COMPARED, open_one)
    assert command("compare", ONE, OTHER, "--wait", "--wait-limit", "0").status == 7


def test_answers_stand_side_by_side_those_that_differ_or_all(command, script):
    script.on("GET", COMPARED, comparison(difference()))
    values = {"bleurt": [{"low": 0.4, "high": 0.4}, None]}
    pair = {"id": "q3", "one": "먼저", "other": None, "is_same": False, "values": values}
    script.on("GET", f"{COMPARED}items/", page(pair, changed_count=1))
    done = command("compare", ONE, OTHER, "--answers")
    assert "답이 다른 문항 1개" in done.out
    assert done.out.splitlines()[-1].split() == ["q3", "먼저", "–", "0.4000", "→", "–"]
    assert script.requests[-1].query == {"page_size": "20", "changed": "true"}
    assert command("compare", ONE, OTHER, "--answers", "--all", "--json").json["answers"]["count"] == 1
    assert script.requests[-1].query == {}
