"""The votes file: read as written, canonical, and every defect with its place."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from scoring.arena.simulation import Panel, simulate
from scoring.arena.vote_records import PROTOCOLS
from scoring.arena.votes import Exclusion, System, VotesInvalid, read_votes, votes_bytes, votes_document

SMALL = Panel((0.5, 0.0, -0.5, 0.2), ("good",) * 4, items=12, votes_per_judge=20, control_share=0.1, repeat_share=0.1)


def document(protocol: str = "pairwise") -> dict:
    return votes_document(simulate(replace(SMALL, protocol=protocol), 1))


def defects(changed: dict) -> dict[str, str]:
    with pytest.raises(VotesInvalid) as caught:
        read_votes(json.dumps(changed).encode())
    assert caught.value.total == len(caught.value.defects)
    return {each.place: each.code for each in caught.value.defects}


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_what_is_written_is_read_as_it_was(protocol):
    votes = simulate(replace(SMALL, protocol=protocol), 3)
    votes = replace(
        votes,
        exclusions=(Exclusion("controls failed", judge="J02"), Exclusion("a slip", vote=3)),
        systems=(*votes.systems[:-1], System("S04", "말뭉치", None, False, "실격")),
    )
    data = votes_bytes(votes)
    again = read_votes(data)
    assert votes_bytes(again) == data
    assert again.systems == votes.systems
    assert again.exclusions == votes.exclusions
    assert [vote.number for vote in again.counted()] == [vote.number for vote in votes.counted()]
    assert {vote.kind for vote in again.votes} == {"real", "control", "repeat"}


def test_the_layout_of_a_file_does_not_change_its_canonical_bytes():
    data = votes_bytes(simulate(replace(SMALL, protocol="rubric"), 2))
    loose = json.dumps(json.loads(data), indent=3, ensure_ascii=True).replace('"weight": 1', '"weight": 1.0')
    assert votes_bytes(read_votes(b"\xef\xbb\xbf" + loose.encode())) == data
    assert b" " not in data.replace(b"seed 2", b"").replace(b"System ", b"")


def test_excluded_votes_and_those_of_systems_that_do_not_count_are_not_counted():
    votes = simulate(SMALL, 1)
    gone = replace(votes, exclusions=(Exclusion("why", judge="J01"), Exclusion("why", vote=votes.votes[-1].number)))
    expected = [vote for vote in votes.votes[:-1] if vote.judge != "J01"]
    assert list(gone.counted()) == expected
    out = replace(votes, systems=(replace(votes.systems[0], counts=False), *votes.systems[1:]))
    assert [vote.number for vote in out.counted()] == [v.number for v in votes.votes if "S01" not in v.systems]
    assert all(vote.kind == "real" for vote in out.real())


def of_vote(name: str, value: object, kind: str = "real", protocol: str = "pairwise") -> dict:
    """A document in which a vote of ``kind`` that none repeats has ``value`` at ``name``, and its place."""
    changed = document(protocol)
    repeated = {vote["repeats"] for vote in changed["votes"]}
    index = next(
        at for at, vote in enumerate(changed["votes"]) if vote["kind"] == kind and vote["number"] not in repeated
    )
    changed["votes"][index][name] = value
    return {"document": changed, "place": f"votes[{index}]"}


@pytest.mark.parametrize(
    ("name", "value", "kind", "protocol", "expected"),
    [
        ("judge", "J99", "real", "pairwise", {".judge": "unknown_label"}),
        ("item", 5, "real", "pairwise", {".item": "wrong_type"}),
        ("number", 0, "real", "pairwise", {".number": "out_of_range"}),
        ("number", True, "real", "pairwise", {".number": "wrong_type"}),
        ("seconds", -1, "real", "pairwise", {".seconds": "out_of_range"}),
        ("kind", "practice", "real", "pairwise", {".kind": "not_one_of"}),
        ("systems", ["S01"], "real", "pairwise", {".systems": "wrong_count"}),
        ("systems", ["S01", "S01"], "real", "pairwise", {".systems": "duplicate"}),
        ("bad", 0, "real", "pairwise", {".bad": "bad_only_of_controls"}),
        ("bad", None, "control", "pairwise", {".bad": "bad_only_of_controls"}),
        ("bad", 2, "control", "pairwise", {".bad": "out_of_range"}),
        ("repeats", None, "repeat", "pairwise", {".repeats": "repeats_only_of_repeats"}),
        ("repeats", 10**6, "repeat", "pairwise", {".repeats": "repeats_other"}),
        ("repeats", [1], "repeat", "pairwise", {".repeats": "repeats_other"}),
        ("value", {"choice": "left"}, "real", "pairwise", {".value.choice": "not_one_of"}),
        ("value", {"choice": ["first"]}, "real", "pairwise", {".value.choice": "not_one_of"}),
        ("value", {"choice": "tie", "reasons": [1]}, "real", "pairwise", {".value.reasons[0]": "wrong_type"}),
        ("value", {}, "real", "pairwise", {".value.choice": "missing"}),
        ("value", {"ranks": [1, 2, 3]}, "real", "ranking", {".value.ranks": "wrong_count"}),
        ("value", {"ranks": [1, 2, 3, 5]}, "real", "ranking", {".value.ranks[3]": "out_of_range"}),
        (
            *("value", {"scores": {"fluency": 6, "accuracy": 1}}, "real", "rubric"),
            {".value.scores.fluency": "out_of_range"},
        ),
        (
            *("value", {"scores": {"fluency": 1, "style": 1}}, "real", "rubric"),
            {".value.scores.accuracy": "missing", ".value.scores.style": "unknown_key"},
        ),
        ("value", {"score": 101}, "real", "errors", {".value.score": "out_of_range"}),
        ("value", {"score": float("nan")}, "real", "errors", {".value.score": "wrong_type"}),
        (
            *("value", {"score": 1, "spans": [{"output": 0, "start": 3, "end": 3, "severity": "minor"}]}, "real"),
            *("errors", {".value.spans[0].category": "missing"}),
        ),
        ("note", "private", "real", "pairwise", {".note": "unknown_key"}),
    ],
)
def test_a_defect_of_a_vote_is_told_with_its_place(name, value, kind, protocol, expected):
    changed = of_vote(name, value, kind, protocol)
    assert defects(changed["document"]) == {changed["place"] + at: code for at, code in expected.items()}


def test_a_repeat_belongs_to_its_judge_and_outputs():
    changed = document()
    repeat = next(at for at, vote in enumerate(changed["votes"]) if vote["kind"] == "repeat" and vote["judge"] == "J02")
    other = next(vote for vote in changed["votes"] if vote["judge"] == "J01")
    changed["votes"][repeat]["repeats"] = other["number"]
    assert defects(changed) == {f"votes[{repeat}].repeats": "repeats_other"}


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"format": "malpan-votes@2"}, {"format": "not_one_of"}),
        ({"protocol": "poll"}, {"protocol": "not_one_of"}),
        ({"systems": []}, {"systems": "nothing"}),
        ({"settings": {"resamples": 1, "seed": "a", "level": 0.05}}, {"settings.resamples": "out_of_range"}),
        ({"settings": {"resamples": 100, "seed": "a"}}, {"settings.level": "missing"}),
        ({"exclusions": [{"reason": "x"}]}, {"exclusions[0]": "one_of_two"}),
        ({"exclusions": [{"judge": "J77", "reason": "x"}]}, {"exclusions[0].judge": "unknown_label"}),
        ({"exclusions": [{"vote": 10**7, "reason": "x"}]}, {"exclusions[0].vote": "unknown_label"}),
        ({"criteria": [{"key": "a", "low": 2, "high": 2, "weight": 1}]}, {"criteria[0].high": "out_of_range"}),
        ({"names": {}}, {"names": "unknown_key"}),
        ({"judges": {}}, {"judges": "wrong_type"}),
    ],
)
def test_a_defect_outside_the_votes_is_told(change, expected):
    changed = {**document(), **change}
    found = defects({**changed, "votes": []} if {"judges", "systems", "protocol"} & set(change) else changed)
    assert found == expected


def test_a_label_is_given_once():
    changed = document()
    changed["judges"].append(changed["judges"][0])
    changed["votes"].append(dict(changed["votes"][0]))
    last = len(changed["votes"]) - 1
    assert defects(changed) == {"judges[4].label": "duplicate", f"votes[{last}].number": "duplicate"}


@pytest.mark.parametrize("data", [b"", b"{", b"\xff\xfe\x00", b"[" * 100_000, b"[]", b"3", b"null", b'"votes"'])
def test_what_is_no_document_is_refused(data):
    with pytest.raises(VotesInvalid) as caught:
        read_votes(data)
    assert caught.value.defects[0].place == "$"
    assert caught.value.message("ko")
    assert caught.value.message("en")


def test_all_defects_are_counted_and_the_first_hundred_kept():
    changed = document()
    changed["votes"] = [{**vote, "judge": "nobody"} for vote in changed["votes"] * 3]
    with pytest.raises(VotesInvalid) as caught:
        read_votes(json.dumps(changed).encode())
    assert caught.value.total == len(changed["votes"])
    assert len(caught.value.defects) == min(100, caught.value.total)
    assert str(caught.value.total) in caught.value.message("ko")
