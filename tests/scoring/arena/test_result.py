"""The result of a campaign: its figures by hand counts, its bytes the same wherever and however it is computed."""

from __future__ import annotations

import hashlib
import json
import random
import subprocess
import sys
from dataclasses import replace

import pytest

from scoring.arena import INSTRUMENT
from scoring.arena.bradley_terry import fit
from scoring.arena.comparable import NoResult
from scoring.arena.comparisons import comparisons
from scoring.arena.result import compute
from scoring.arena.simulation import Panel, simulate, spread_strengths
from scoring.arena.vote_records import (
    PROTOCOLS,
    ArenaItem,
    Criterion,
    Exclusion,
    Judge,
    System,
    Vote,
    Votes,
    VoteSettings,
)
from scoring.arena.votes import read_votes, votes_bytes

PANEL = Panel(
    spread_strengths(5, 0.8), ("good",) * 7 + ("random",), items=40, votes_per_judge=60, order_effect=0.3, resamples=200
)


def votes_of(protocol="pairwise", seed=1):
    return simulate(replace(PANEL, protocol=protocol), seed)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_the_same_votes_give_the_same_bytes(protocol):
    votes = votes_of(protocol)
    result = compute(votes)
    again = compute(read_votes(votes_bytes(votes)))
    assert result.bytes() == again.bytes()
    document = json.loads(result.bytes())
    assert document == result.document()
    assert document["signature"] == {
        "format": "malpan-arena-result@1",
        "instrument": INSTRUMENT,
        "votes_sha256": hashlib.sha256(votes_bytes(votes)).hexdigest(),
        "protocol": protocol,
        "resamples": 200,
        "seed": votes.settings.seed,
    }
    assert [row["rank"] for row in document["systems"]] == sorted(row["rank"] for row in document["systems"])
    for row in document["systems"]:
        assert row["low"] < row["score"] < row["high"]
        assert row["best_rank"] <= row["rank"] <= row["worst_rank"]
    assert sum(row["score"] for row in document["systems"]) == pytest.approx(0, abs=1e-7)


def test_another_process_with_other_threads_gives_the_same_bytes(tmp_path):
    votes = votes_of()
    (tmp_path / "V.json").write_bytes(votes_bytes(votes))
    script = (
        "import sys; from scoring.arena.result import compute; from scoring.arena.votes import read_votes;"
        "sys.stdout.buffer.write(compute(read_votes(open(sys.argv[1], 'rb').read())).bytes())"
    )
    environment = {"OPENBLAS_NUM_THREADS": "1", "PYTHONHASHSEED": "77", "PYTHONPATH": ":".join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path / "V.json")], capture_output=True, env=environment, check=True
    )
    assert done.stdout == compute(votes).bytes()


def test_counts_are_those_by_hand():
    votes = votes_of()
    document = compute(votes).document()
    real = [vote for vote in votes.votes if vote.kind == "real"]
    for row in document["systems"]:
        own = [vote for vote in real if row["label"] in vote.systems]
        won = [vote for vote in own if vote.value["choice"] == ("first", "second")[vote.systems.index(row["label"])]]
        tied = [vote for vote in own if vote.value["choice"] in ("tie", "both_bad")]
        assert (row["votes"], row["wins"], row["ties"]) == (len(own), len(won), len(tied))
        assert row["losses"] == len(own) - len(won) - len(tied)
        assert row["both_bad"] == sum(vote.value["choice"] == "both_bad" for vote in own)
        assert row["points"] == pytest.approx((len(won) + len(tied) / 2) / len(own))
    assert document["numbers"]["votes"] == len(real)
    assert document["numbers"]["controls"] == sum(vote.kind == "control" for vote in votes.votes)
    matrix = document["matrix"]
    order = matrix["systems"]
    assert order == [row["label"] for row in document["systems"]]
    wins = sum(
        vote.value["choice"] == ("first" if vote.systems[0] == order[0] else "second")
        for vote in real
        if set(vote.systems) == set(order[:2])
    )
    assert matrix["wins"][0][1] == wins
    assert [sum(row) for row in matrix["wins"]] == [row["wins"] for row in document["systems"]]
    assert matrix["ties"][0][1] == matrix["ties"][1][0]


def test_scores_are_those_of_the_fit_and_influence_of_fits_without_each_judge():
    votes = votes_of()
    document = compute(votes).document()
    found = fit(comparisons(votes.real(), votes.counting).counts())
    scores = {row["label"]: row["score"] for row in document["systems"]}
    for at, label in enumerate(votes.counting):
        assert scores[label] == pytest.approx(found.strengths[0, at], abs=1e-8)
    assert document["parameters"]["order"]["value"] == pytest.approx(found.order[0], abs=1e-8)
    assert document["parameters"]["tie"]["value"] == pytest.approx(found.tie[0], abs=1e-8)
    ranks = {row["label"]: row["rank"] for row in document["systems"]}
    for row in document["influence"][:3]:
        without = compute(replace(votes, exclusions=(Exclusion("x", judge=row["judge"]),))).document()
        moved = max(abs(each["rank"] - ranks[each["label"]]) for each in without["systems"])
        assert row["rank_change"] == moved


@pytest.mark.parametrize("protocol", ["rubric", "errors"])
def test_influence_of_ratings_is_the_result_without_the_judge(protocol):
    votes = votes_of(protocol)
    document = compute(votes).document()
    ranks = {row["label"]: row["rank"] for row in document["systems"]}
    row = document["influence"][-1]
    without = compute(replace(votes, exclusions=(Exclusion("x", judge=row["judge"]),))).document()
    assert row["rank_change"] == max(abs(each["rank"] - ranks[each["label"]]) for each in without["systems"])


def test_the_order_of_votes_changes_no_score():
    votes = votes_of()
    mixed = list(votes.votes)
    random.Random(1).shuffle(mixed)
    one, other = (compute(each).document() for each in (votes, replace(votes, votes=tuple(mixed))))
    assert one["systems"] == other["systems"]
    assert one["agreement"] == other["agreement"]
    assert one["judges"] == other["judges"]


def test_a_system_that_does_not_count_is_unranked_with_its_reason():
    votes = votes_of()
    systems = (replace(votes.systems[0], counts=False, reason="disqualified"), *votes.systems[1:])
    document = compute(replace(votes, systems=systems)).document()
    assert [(each["label"], each["reason"]) for each in document["unranked"]] == [("S01", "disqualified")]
    assert "S01" not in {row["label"] for row in document["systems"]}
    assert document["numbers"]["not_counted"] == sum("S01" in vote.systems for vote in votes.votes)


def test_a_system_without_votes_is_told_and_unranked():
    votes = votes_of()
    left = tuple(vote for vote in votes.votes if "S02" not in vote.systems)
    document = compute(replace(votes, votes=left)).document()
    assert [each["label"] for each in document["unranked"]] == ["S02"]
    assert "unseen_systems" in document["warnings"]


def test_excluding_a_clicker_is_as_if_it_had_not_voted():
    votes = votes_of()
    gone = replace(votes, exclusions=(Exclusion("random", judge="J08"),))
    less = replace(votes, votes=tuple(vote for vote in votes.votes if vote.judge != "J08"))
    one, other = compute(gone).document(), compute(less).document()
    assert one["systems"] == other["systems"]
    assert one["signature_hash"] != other["signature_hash"]


def test_one_judge_and_all_wins_are_warned_of():
    votes = votes_of()
    first = [vote for vote in votes.votes if vote.judge == "J01" and vote.kind == "real"]
    best = [
        replace(vote, value={"choice": "first" if vote.systems[0] < vote.systems[1] else "second"}) for vote in first
    ]
    document = compute(replace(votes, votes=tuple(best))).document()
    assert document["warnings"] == ["regularised", "one_judge"]
    assert [row["label"] for row in document["systems"]] == list(votes.counting)
    assert document["influence"] == []


def few(values, protocol="pairwise", **changes):
    """Votes of (judge, item, systems, value)."""
    rows = [Vote(number, *each) for number, each in enumerate(values, 1)]
    labels = sorted({label for row in rows for label in row.systems})
    return Votes(
        {"number": 1, "title": ""},
        protocol,
        tuple(System(label, f"team {label}", number) for number, label in enumerate(labels, 1)),
        tuple(ArenaItem(label) for label in sorted({row.item for row in rows})),
        tuple(Judge(label) for label in sorted({row.judge for row in rows})),
        tuple(rows),
        settings=VoteSettings(100, "a"),
        **changes,
    )


FIRST_WINS = {"choice": "first"}
SCALE = (Criterion("a", 1, 5),)


@pytest.mark.parametrize(
    "votes",
    [
        few([("J1", "I1", ("S1", "S2"), FIRST_WINS)]),
        few([("J1", "I1", pair, FIRST_WINS) for pair in (("S1", "S2"), ("S1", "S3"), ("S2", "S3"))]),
        few([("J1", "I1", (f"S{at}",), {"scores": {"a": at}}) for at in (1, 2, 3)], "rubric", criteria=SCALE),
        few([(f"J{at}", f"I{at}", (f"S{at}",), {"scores": {"a": at}}) for at in (1, 2, 3)], "rubric", criteria=SCALE),
        few([(f"J{at}", f"I{at}", ("S1", "S2"), FIRST_WINS) for at in (1, 2)]),
    ],
    ids=["one vote", "one judge on one item", "one rating of each", "one rating of each by others", "two judges agree"],
)
def test_votes_that_show_no_error_tell_nobody_apart(votes):
    document = compute(read_votes(votes_bytes(votes))).document()
    assert "error_unknown" in document["warnings"]
    systems = len(document["systems"])
    for row in document["systems"]:
        assert (row["error"], row["low"], row["high"]) == (None, None, None)
        assert (row["best_rank"], row["worst_rank"], row["cluster"]) == (1, systems, 1)
    for pair in document["pairs"]:
        assert (pair["low"], pair["high"]) == (None, None)
        assert pair["p"] == (1 if len(votes.judges) != 2 else 0.5)  # two agree by chance half of the time


@pytest.mark.parametrize(("judges", "is_apart"), [(5, False), (6, True)])
def test_of_judges_who_all_agree_the_signs_are_tested(judges, is_apart):
    """No draw differs: 2^(1 - judges) is the probability, but how far the two are apart has no interval."""
    rows = [(f"J{at}", f"I{item}", ("S1", "S2"), FIRST_WINS) for at in range(judges) for item in range(8)]
    document = compute(few(rows)).document()
    assert document["pairs"][0]["p"] == 2.0 ** (1 - judges)
    assert [row["low"] for row in document["systems"]] == [None, None]
    assert ([row["cluster"] for row in document["systems"]] == [1, 2]) == is_apart
    assert document["warnings"] == ["error_unknown", "regularised"]


def test_a_strong_winner_by_few_votes_is_warned_of():
    """One system lost 2 of 30 comparisons, once in either order: a third of the draws lacks one of the two."""
    judges = range(6)
    rows = [(f"J{at}", f"I{item}", ("S1", "S2")[:: (-1) ** item], item % 2) for at in judges for item in range(5)]
    lost = [{"choice": ("first", "second")[turned]} for *_, turned in rows]
    for at in (7, 13):
        lost[at] = {"choice": ("second", "first")[rows[at][3]]}
    votes = few([(*row[:3], value) for row, value in zip(rows, lost, strict=True)])
    assert compute(votes).document()["warnings"] == ["separated_draws"]
    assert compute(votes_of()).scored.separated == 0


def test_draws_without_ties_are_not_draws_that_are_separated():
    votes = votes_of()
    decided = [vote for vote in votes.votes if vote.kind == "real" and vote.value["choice"] in ("first", "second")]
    tie = next(vote for vote in votes.votes if vote.kind == "real" and vote.value["choice"] == "tie")
    result = compute(replace(votes, votes=(*decided, tie)))
    assert result.document()["warnings"] == []
    assert result.scored.has_ties


def test_systems_stand_in_the_order_of_their_ranks_not_of_their_labels():
    votes = votes_of()
    won = [
        replace(vote, value={"choice": "second" if vote.systems[0] < vote.systems[1] else "first"})
        for vote in votes.votes
        if vote.kind == "real"
    ]
    document = compute(replace(votes, votes=tuple(won))).document()
    best_first = sorted(votes.counting, reverse=True)
    assert [(row["label"], row["rank"]) for row in document["systems"]] == list(
        zip(best_first, range(1, 6), strict=True)
    )
    assert document["matrix"]["systems"] == best_first


def test_without_two_systems_there_is_no_result():
    votes = votes_of()
    with pytest.raises(NoResult) as caught:
        compute(replace(votes, votes=()))
    assert "0" in caught.value.message("ko")
    assert str(caught.value) == caught.value.message("en")
    assert "0" in caught.value.message("en")
    two = tuple(vote for vote in votes.votes if set(vote.systems) == {"S01", "S02"})
    assert len(compute(replace(votes, votes=two)).document()["systems"]) == 2


@pytest.mark.parametrize(("count", "warnings"), [(1, ["one_judge"]), (2, ["few_judges"]), (4, ["few_judges"]), (5, [])])
def test_fewer_than_five_judges_are_warned_of_and_two_have_an_influence(count, warnings):
    votes = votes_of()
    judges = [f"J{number:02d}" for number in range(1, count + 1)]
    document = compute(replace(votes, votes=tuple(vote for vote in votes.votes if vote.judge in judges))).document()
    assert document["warnings"] == warnings
    assert [each["judge"] for each in document["influence"]] == (judges if count > 1 else [])


def test_what_does_not_count_and_the_time_are_those_by_hand():
    votes = votes_of()
    untimed = (replace(votes.votes[0], seconds=None), *votes.votes[1:])
    numbers = [vote.number for vote in untimed if vote.judge == "J02" and vote.kind == "real"][:2]
    out = (Exclusion("x", judge="J08"), *(Exclusion("x", vote=number) for number in numbers))
    counted = compute(replace(votes, votes=untimed, exclusions=out)).document()["numbers"]
    assert (counted["excluded_judges"], counted["excluded_votes"]) == (1, 2)
    assert counted["not_counted"] == sum(vote.judge == "J08" for vote in untimed) + 2
    assert counted["seconds"] == pytest.approx(sum(vote.seconds for vote in untimed[1:]))


def test_shares_of_outcomes_are_those_by_hand():
    votes = votes_of()
    real = [vote.value["choice"] for vote in votes.votes if vote.kind == "real"]
    shares = compute(votes).document()["parameters"]["shares"]
    for name, choices in (("first", ["first"]), ("second", ["second"]), ("tie", ["tie", "both_bad"])):
        assert shares[name] == pytest.approx(sum(map(real.count, choices)) / len(real))


@pytest.mark.parametrize("protocol", ["rubric", "errors"])
def test_means_of_ratings_are_those_by_hand(protocol):
    votes = votes_of(protocol)
    weights = {"minor": 1, "major": 5, "critical": 25}
    for row in compute(votes).document()["systems"]:
        own = [vote.value for vote in votes.votes if vote.kind == "real" and vote.systems == (row["label"],)]
        assert row["votes"] == len(own)
        if protocol == "errors":
            marked = [sum(weights[span["severity"]] for span in value.get("spans", [])) for value in own]
            assert row["penalty"] == pytest.approx(sum(marked) / len(own))
            said = [span["severity"] for value in own for span in value.get("spans", [])]
            assert row["errors"] == pytest.approx({name: said.count(name) / len(own) for name in weights})
            assert "criteria" not in row
        else:
            keys = [each.key for each in votes.criteria]
            means = {key: sum(value["scores"][key] for value in own) / len(own) for key in keys}
            assert row["criteria"] == pytest.approx(means)
            assert "penalty" not in row


def test_errors_are_counted_by_kind_of_the_votes_that_count():
    """Neither controls nor repeats nor what is left out."""
    votes = votes_of("errors")
    left_out = next(vote.judge for vote in votes.votes)

    def marked(vote):
        counts = vote.kind == "real" and vote.judge != left_out
        spans = [{"output": 0, "start": 0, "end": 1, "severity": "major", "category": "fact" if counts else "left out"}]
        return replace(vote, value={**vote.value, "spans": [*spans, {**spans[0], "category": "", "end": 2}]})

    given = replace(votes, votes=tuple(map(marked, votes.votes)), exclusions=(Exclusion("x", judge=left_out),))
    for row in compute(given).document()["systems"]:
        assert row["errors"] == {"minor": 0, "major": 2, "critical": 0}
        assert row["kinds"] == {"fact": 1}


def test_large_figures_have_fewer_decimals():
    document = compute(votes_of()).document()
    freedoms = [row["freedom"] for row in document["systems"]]
    assert freedoms == [round(each, 3) for each in freedoms] != [round(each, 2) for each in freedoms]
    for name in ("log_random", "log_position"):
        logs = [row[name] for row in document["judges"]]
        assert logs == [round(each, 5) for each in logs] != [round(each, 4) for each in logs]
    scores = [row["score"] for row in document["systems"]]
    assert scores == [round(each, 8) for each in scores] != [round(each, 7) for each in scores]


def test_a_ranking_is_its_pairs():
    votes = votes_of("ranking")
    document = compute(votes).document()
    assert sum(row["wins"] for row in document["systems"]) == sum(row["losses"] for row in document["systems"])
    of_pairs = sum(row["wins"] + row["ties"] / 2 for row in document["systems"])
    assert of_pairs == 6 * document["numbers"]["votes"]
