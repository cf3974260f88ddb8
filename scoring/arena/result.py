"""The result of a campaign, computed from its votes file alone: the same bytes for the same votes.

Strengths (pairwise, ranking) are logits with mean 0: a difference of 1 is a chance of 73 % to win a comparison that is
decided. Scores of ratings are deviations of a judge with mean 0. Intervals, ranges of ranks and clusters are those of
``scoring.arena.intervals`` and ``scoring.arena.ranks``. Numbers are rounded, so that another processor, whose sums
differ in the last of 16 digits, writes the same: to ``DECIMALS``, and large ones to ``LARGE``. An error that is
unknown, and the ends of its interval, are ``null``. ``INSTRUMENT`` names the version that computes; a result of another
one is another.
"""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

import numpy as np

from scoring.arena import INSTRUMENT
from scoring.arena.bradley_terry import FIRST, SECOND, TIE, point_shares
from scoring.arena.comparable import require_result
from scoring.arena.influence import influences
from scoring.arena.intervals import Estimate
from scoring.arena.judge_quality import JudgeQuality
from scoring.arena.quality import judge_qualities
from scoring.arena.ranks import Pair, Standing, pairs, standings
from scoring.arena.rubric_scores import errors_of, penalty_of
from scoring.arena.scores import Scored, score_systems, scores_without_each
from scoring.arena.verdicts import agreement_document
from scoring.arena.vote_records import SEVERITIES, System, Vote, Votes
from scoring.arena.votes import votes_bytes
from scoring.composite import COMPARED_DECIMALS
from scoring.signature import canonical_json, json_sha256

FORMAT: Final = "malpan-arena-result@1"
DECIMALS: Final = COMPARED_DECIMALS
LARGE: Final = {"freedom": 3, "log_random": 5, "log_position": 5}  # decimals of figures that may be in the hundreds
FEW_JUDGES: Final = 5
SEPARATED: Final = 0.05  # share of the draws, beyond which their ends are those of pseudo votes


@dataclass(frozen=True, slots=True)
class ArenaResult:
    """A computed result. ``standings`` and ``estimates`` are in the order of ``scored.systems``."""

    votes: Votes
    real: tuple[Vote, ...]
    scored: Scored
    estimates: tuple[Estimate, ...]
    pairs: tuple[Pair, ...]
    standings: tuple[Standing, ...]
    qualities: tuple[JudgeQuality, ...]
    content: dict[str, Any]

    def document(self) -> dict[str, Any]:
        """The result as JSON values, numbers rounded, with its signature."""
        return self.content

    def bytes(self) -> bytes:
        """The published file: canonical JSON."""
        return canonical_json(self.content)


def compute(votes: Votes) -> ArenaResult:
    """The result of ``votes``. Raises ``NoResult`` if they do not compare two systems."""
    require_result(votes)
    real = votes.real()
    scored = score_systems(votes, real)
    level, systems = votes.settings.level, len(scored.systems)
    estimates = tuple(scored.found.figure(index, level) for index in range(systems))
    tested = pairs(scored.found, systems, level)
    placed = standings(scored.scores.tolist(), tested, level)
    qualities = judge_qualities(votes)
    parts = (votes, real, scored, estimates, tested, placed, qualities)
    return ArenaResult(*parts, content=rounded(_document(*parts)))


def signature_of(votes: Votes) -> dict[str, Any]:
    """What the numbers of a result depend on."""
    return {
        "format": FORMAT,
        "instrument": INSTRUMENT,
        "votes_sha256": hashlib.sha256(votes_bytes(votes)).hexdigest(),
        "protocol": votes.protocol,
        "resamples": votes.settings.resamples,
        "seed": votes.settings.seed,
    }


def _document(
    votes: Votes,
    real: tuple[Vote, ...],
    scored: Scored,
    estimates: tuple[Estimate, ...],
    tested: tuple[Pair, ...],
    placed: tuple[Standing, ...],
    qualities: tuple[JudgeQuality, ...],
) -> dict[str, Any]:
    order = sorted(range(len(scored.systems)), key=lambda at: (placed[at].rank, scored.systems[at]))
    figures = _figures(votes, real, scored)
    named = {system.label: system for system in votes.systems}
    rows = [_system(named[scored.systems[at]], estimates[at], placed[at], figures[scored.systems[at]]) for at in order]
    signature = signature_of(votes)
    return {
        "format": FORMAT,
        "campaign": dict(votes.campaign),
        "protocol": votes.protocol,
        "level": votes.settings.level,
        "numbers": _numbers(votes, real),
        "systems": rows,
        "unranked": [_unranked(each) for each in votes.systems if each.label not in scored.systems],
        "pairs": [_pair(each, scored.systems) for each in tested],
        "matrix": _matrix(scored, order),
        "parameters": _parameters(scored, votes.settings.level),
        "agreement": agreement_document(votes),
        "judges": [each.as_dict() for each in qualities],
        "influence": _influence(votes, scored),
        "warnings": _warnings(votes, real, scored, estimates),
        "signature": signature,
        "signature_hash": json_sha256(signature),
    }


def _numbers(votes: Votes, real: Sequence[Vote]) -> dict[str, Any]:
    kinds = Counter(vote.kind for vote in votes.counted())
    return {
        "systems": len(votes.systems),
        "items": len({vote.item for vote in real}),
        "judges": len({vote.judge for vote in real}),
        "votes": len(real),
        "controls": kinds["control"],
        "repeats": kinds["repeat"],
        "not_counted": len(votes.votes) - sum(kinds.values()),
        "excluded_judges": sum(each.judge is not None for each in votes.exclusions),
        "excluded_votes": sum(each.vote is not None for each in votes.exclusions),
        "seconds": sum(vote.seconds or 0 for vote in votes.votes),
    }


def _system(system: System, estimate: Estimate, standing: Standing, figures: dict[str, Any]) -> dict[str, Any]:
    return {
        "label": system.label,
        "name": system.name,
        "team_number": system.team_number,
        "score": estimate.value,
        "low": estimate.low,
        "high": estimate.high,
        "error": estimate.error,
        "freedom": estimate.freedom,
        "rank": standing.rank,
        "best_rank": standing.best,
        "worst_rank": standing.worst,
        "cluster": standing.cluster,
        **figures,
    }


def _unranked(system: System) -> dict[str, Any]:
    reason = system.reason if not system.counts else ""
    return {
        "label": system.label,
        "name": system.name,
        "team_number": system.team_number,
        "counts": system.counts,
        "reason": reason,
    }


def _pair(pair: Pair, systems: Sequence[str]) -> dict[str, Any]:
    found = pair.difference
    return {
        "one": systems[pair.one],
        "other": systems[pair.other],
        "difference": found.value,
        "low": found.low,
        "high": found.high,
        "p": found.p,
        "adjusted_p": pair.adjusted,
    }


def _figures(votes: Votes, real: Sequence[Vote], scored: Scored) -> dict[str, dict[str, Any]]:
    """Counts of each system: of comparisons how they ended, of ratings the means."""
    shown = Counter(label for vote in real for label in vote.systems)
    if scored.compared is not None:
        counts = scored.compared.counts()
        first, tie, second = (counts[0, ..., outcome] for outcome in (FIRST, TIE, SECOND))
        wins, losses = (one.sum(axis=1) + other.sum(axis=0) for one, other in ((first, second), (second, first)))
        ties, shares = tie.sum(axis=0) + tie.sum(axis=1), point_shares(counts)[0]
        bad = Counter(label for vote in real if vote.value.get("choice") == "both_bad" for label in vote.systems)
        return {
            label: {
                "votes": shown[label],
                "wins": int(wins[at]),
                "ties": int(ties[at]),
                "losses": int(losses[at]),
                "both_bad": bad[label],
                "points": float(shares[at]),
            }
            for at, label in enumerate(scored.systems)
        }
    assert scored.rated is not None
    means = scored.rated.mean_points()
    of = {label: [vote for vote in real if vote.systems[0] == label] for label in scored.systems}
    kinds = sorted({span.get("category", "") for vote in real for span in vote.value.get("spans", [])} - {""})
    return {
        label: {"votes": shown[label], "points": float(means[at]), **_means(votes, of[label], kinds)}
        for at, label in enumerate(scored.systems)
    }


def _means(votes: Votes, own: Sequence[Vote], kinds: Sequence[str]) -> dict[str, Any]:
    """Of marked errors how many a vote has, by severity and by kind if there are ``kinds``; of criteria the means."""
    if votes.protocol == "errors":
        return {
            "penalty": float(np.mean([penalty_of(vote) for vote in own])),
            "errors": errors_of(own, "severity", SEVERITIES),
            "kinds": errors_of(own, "category", kinds),
        }
    return {
        "criteria": {
            each.key: float(np.mean([vote.value["scores"][each.key] for vote in own])) for each in votes.criteria
        }
    }


def _matrix(scored: Scored, order: Sequence[int]) -> dict[str, Any] | None:
    """Wins of the row's system over the column's, and ties, in the order of ranks; ``None`` for ratings."""
    if scored.compared is None:
        return None
    counts = scored.compared.counts()[0]
    wins = counts[..., FIRST] + counts[..., SECOND].T
    ties = counts[..., TIE] + counts[..., TIE].T
    wins, ties = (table[np.ix_(order, order)].astype(int).tolist() for table in (wins, ties))
    return {"systems": [scored.systems[at] for at in order], "wins": wins, "ties": ties}


def _parameters(scored: Scored, level: float) -> dict[str, Any] | None:
    """The order effect and the log tie parameter, in logits, with intervals; shares as counted."""
    if scored.compared is None:
        return None
    count = len(scored.systems)
    outcomes = np.bincount(scored.compared.outcome, minlength=3) / len(scored.compared)
    tie = asdict(scored.found.figure(count + 1, level)) if scored.has_ties else None
    return {
        "order": asdict(scored.found.figure(count, level)),
        "tie": tie,
        "shares": {"first": float(outcomes[FIRST]), "tie": float(outcomes[TIE]), "second": float(outcomes[SECOND])},
    }


def _influence(votes: Votes, scored: Scored) -> list[dict[str, Any]]:
    judges, without = scores_without_each(votes, scored)
    return [asdict(each) for each in influences(scored.scores, without, judges)] if len(judges) > 1 else []


def _warnings(votes: Votes, real: Sequence[Vote], scored: Scored, estimates: Sequence[Estimate]) -> list[str]:
    judges = len({vote.judge for vote in real})
    found = {
        "error_unknown": any(math.isinf(each.error) for each in estimates),
        "regularised": scored.is_regularised,
        "separated_draws": not scored.is_regularised and scored.separated > SEPARATED,
        "one_judge": judges == 1,
        "few_judges": 1 < judges < FEW_JUDGES,
        "unseen_systems": len(scored.systems) < len(votes.counting),
    }
    return [name for name, is_so in found.items() if is_so]


def rounded(value: Any, decimals: int = DECIMALS) -> Any:
    """``value`` with its numbers rounded; whole ones are integers, infinite ones ``None``."""
    if isinstance(value, float):
        if math.isinf(value):
            return None
        found = round(value, decimals)
        return int(found) if found.is_integer() else found
    if isinstance(value, dict):
        return {key: rounded(each, LARGE.get(key, decimals)) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [rounded(each, decimals) for each in value]
    return value
