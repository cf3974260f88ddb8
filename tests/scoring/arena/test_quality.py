"""Figures of judges against hand counts, the tests against scipy, and who is flagged in simulated panels."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from scoring.arena.flagging import CONTROLS_LEVEL
from scoring.arena.quality import judge_qualities
from scoring.arena.simulation import Panel, simulate, spread_strengths
from scoring.arena.vote_records import PROTOCOLS, Exclusion, Vote
from scoring.arena.vote_values import pair_verdicts

KINDS = ("good",) * 14 + ("random", "random", "position", "tired", "good", "good")
PANEL = Panel(spread_strengths(10, 0.8), KINDS, items=200, votes_per_judge=100, control_share=0.1, repeat_share=0.1)


@pytest.fixture(scope="module")
def panel():
    votes = simulate(PANEL, 1)
    return votes, {each.judge: each for each in judge_qualities(votes)}


def test_counts_are_those_by_hand(panel):
    votes, found = panel
    for label in ("J01", "J15", "J17"):
        own = [vote for vote in votes.votes if vote.judge == label]
        real = [vote.value["choice"] for vote in own if vote.kind == "real"]
        failed = [
            vote for vote in own
            if vote.kind == "control" and vote.value["choice"] != ("second" if vote.bad == 0 else "first")
        ]  # fmt: skip
        quality = found[label]
        assert (quality.votes, quality.controls, quality.repeats) == (80, 10, 10)
        assert quality.control_failures == len(failed)
        assert quality.first_share == pytest.approx(real.count("first") / (real.count("first") + real.count("second")))
        assert quality.seconds == pytest.approx(np.median([vote.seconds for vote in own]))


def test_consistency_and_agreement_are_those_by_loops(panel):
    votes, found = panel
    by_number = {vote.number: vote for vote in votes.votes}

    def winner(vote: Vote) -> str | None:
        choice = vote.value["choice"]
        return vote.systems[("first", "second").index(choice)] if choice in ("first", "second") else None

    own = [vote for vote in votes.votes if vote.judge == "J03"]
    repeats = [vote for vote in own if vote.kind == "repeat"]
    same = [winner(vote) == winner(by_number[vote.repeats]) for vote in repeats]
    assert found["J03"].consistency == pytest.approx(sum(same) / len(same))
    equal = every = 0
    for vote in own:
        for other in votes.votes:
            is_unit = vote.item == other.item and set(vote.systems) == set(other.systems)
            if vote.kind == other.kind == "real" and other.judge != "J03" and is_unit:
                every += 1
                equal += winner(vote) == winner(other)
    assert every
    assert found["J03"].agreement == pytest.approx(equal / every)


def test_the_test_of_controls_is_scipys_against_the_other_judges_not_flagged(panel):
    _votes, found = panel
    clean = [each for each in found.values() if not each.flags]
    for each in found.values():
        others = [one for one in clean if one.judge != each.judge]
        failed, count = sum(one.control_failures for one in others), sum(one.controls for one in others)
        rate = (failed + 0.5) / (count + 1)
        expected = stats.binom.sf(each.control_failures - 1, each.controls, rate)
        assert each.control_p == pytest.approx(expected, abs=1e-12)
        assert ("controls" in each.flags) == (expected <= CONTROLS_LEVEL)


def test_clickers_and_the_biased_are_flagged_and_good_judges_are_not(panel):
    _votes, found = panel
    flagged = {judge: each.flags for judge, each in found.items() if each.flags}
    assert {"J15", "J16", "J17"} <= set(flagged)
    assert "random" in flagged["J15"]
    assert "position" in flagged["J17"]
    assert set(flagged) <= {"J15", "J16", "J17", "J18"}


def test_recall_and_false_alarms_over_panels():
    """The short form of the benchmark's 500 panels."""
    clickers = alarms = good = 0
    for seed in range(25):
        for kind, each in zip(KINDS, judge_qualities(simulate(PANEL, 100 + seed)), strict=True):
            clickers += kind == "random" and bool(each.flags)
            alarms += kind == "good" and bool(each.flags)
            good += kind == "good"
    assert clickers >= 0.95 * 50
    assert alarms <= 0.02 * good


@pytest.mark.parametrize("protocol", ["rubric", "ranking", "errors"])
def test_the_other_protocols_flag_clickers_too(protocol):
    kinds = ("good",) * 17 + ("random",) * 3
    flagged = [0, 0]
    for seed in range(6):
        votes = simulate(replace(PANEL, judges=kinds, protocol=protocol), seed)
        for kind, each in zip(kinds, judge_qualities(votes), strict=True):
            flagged[kind == "random"] += bool(each.flags)
    assert flagged[1] >= 17  # of 18
    assert flagged[0] <= 2  # of 102


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_an_excluded_judge_is_no_longer_judged(protocol):
    votes = simulate(replace(PANEL, protocol=protocol), 2)
    gone = replace(votes, exclusions=(Exclusion("clicks", judge="J15"),))
    assert "J15" not in {each.judge for each in judge_qualities(gone)}
    assert len(judge_qualities(gone)) == len(KINDS) - 1


def test_judges_without_any_real_vote_have_figures():
    votes = simulate(PANEL, 1)
    only = replace(votes, votes=tuple(vote for vote in votes.votes if vote.judge != "J01" or vote.kind == "control"))
    first = judge_qualities(only)[0]
    assert (first.votes, first.controls, first.repeats, first.agreement) == (0, 10, 0, None)
    assert judge_qualities(replace(votes, votes=())) == ()


def test_controls_of_ratings_and_rankings_fail_unless_the_bad_output_loses():
    ranking = replace(simulate(replace(PANEL, protocol="ranking"), 1), exclusions=())
    for vote in ranking.votes:
        if vote.kind == "control" and vote.judge == "J15":
            ranks = vote.value["ranks"]
            lost = ranks.index(max(ranks)) == vote.bad and ranks.count(max(ranks)) == 1
            one = replace(ranking, votes=(vote,))
            assert judge_qualities(one)[0].control_failures == (not lost)


def test_verdicts_do_not_depend_on_the_order_shown():
    one = Vote(1, "J", "I", ("S02", "S01"), {"choice": "first"})
    turned = Vote(2, "J", "I", ("S01", "S02"), {"choice": "second"})
    assert list(pair_verdicts(one)) == list(pair_verdicts(turned)) == [(("S01", "S02"), 1)]
    ranked = Vote(3, "J", "I", ("S03", "S01", "S02"), {"ranks": [1, 2, 2]})
    assert dict(pair_verdicts(ranked)) == {("S01", "S02"): 0, ("S01", "S03"): 1, ("S02", "S03"): 1}


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_nobody_is_flagged_for_speed_alone(protocol):
    """A moment for every vote changes no figure but the time itself; who reads quickly is no more suspicious."""
    kinds = ("fast",) * 4 + KINDS[4:]
    votes = simulate(replace(PANEL, judges=kinds, protocol=protocol), 3)
    found = judge_qualities(votes)
    assert [each.flags for each in found[:4]] == [()] * 4
    assert max(each.seconds for each in found[:4]) < min(each.seconds for each in found[4:14])

    hurried = tuple(replace(vote, seconds=0.1) for vote in votes.votes)
    without_time = [replace(each, seconds=None) for each in found]
    assert [replace(each, seconds=None) for each in judge_qualities(replace(votes, votes=hurried))] == without_time
