"""Alignment of two token lists, as METEOR makes it: one-to-one matches, found stage after stage.

A *stage* gives each token its keys; two tokens may be matched in a stage if they have a key in common. A token matched
by an earlier stage takes no part in later ones. A *chunk* is a longest run of matches that are neighbours, in the same
order, in both lists.

* ``greedy_alignment`` is NLTK's (``nltk.translate.meteor_score``, from its published behaviour): in each stage the
  candidate's tokens take, from the last to the first, the last free reference token that matches. In time linear in
  tokens and keys.
* ``optimal_alignment`` is METEOR's own definition (Banerjee & Lavie 2005, section 2.1): as many matches as possible in
  the first stage, then in the second, and so on; of all such alignments one with the fewest chunks.
  ``scoring.matching.search`` explains how it is found and what limits its time.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from scoring.matching.search import BEAM_WIDTH, SEARCH_BUDGET, Keys, Match, beam, count_chunks, make_problem, search

Stage = Callable[[Any], Sequence[Hashable]]
Method = Literal["greedy", "optimal"]


@dataclass(frozen=True, slots=True)
class Alignment:
    """``matches`` in the order of the candidate. ``proven``: no better one exists (always false for the greedy one)."""

    matches: tuple[Match, ...]
    proven: bool = False

    @property
    def chunks(self) -> int:
        """Runs of matches that are neighbours in both lists; 0 without a match."""
        return count_chunks(self.matches)


def align(
    reference: Sequence[Any], candidate: Sequence[Any], stages: Sequence[Stage], method: Method = "greedy"
) -> Alignment:
    """The alignment of two token lists by ``method``. Raises ``ValueError`` for an unknown one."""
    if method == "greedy":
        return greedy_alignment(reference, candidate, stages)
    if method == "optimal":
        return optimal_alignment(reference, candidate, stages)
    raise ValueError(f"no alignment is called {method!r}")


def greedy_alignment(reference: Sequence[Any], candidate: Sequence[Any], stages: Sequence[Stage]) -> Alignment:
    """NLTK's alignment."""
    return Alignment(_greedy(_keys(reference, stages), _keys(candidate, stages)))


def greedy_counts(reference: Sequence[Hashable], candidate: Sequence[Hashable]) -> tuple[int, int]:
    """Matches and chunks of NLTK's alignment of equal tokens, without the alignment itself.

    Equal to ``greedy_alignment`` with the token itself as the only key, but several times as fast. The positions of a
    token in the reference are a chain from the last to the first; a match takes the chain's head.
    """
    head: dict[Hashable, int] = {}
    before: list[int] = []  # the position before this one that has the same token, -1: none
    for position, token in enumerate(reference):
        before.append(head.get(token, -1))
        head[token] = position
    matches = chunks = 0
    following = -1  # where the candidate's next token is matched
    for token in reversed(candidate):
        position = head.get(token, -1)
        if position >= 0:
            head[token] = before[position]
            matches += 1
            chunks += position + 1 != following
        following = position
    return matches, chunks


def optimal_alignment(
    reference: Sequence[Any],
    candidate: Sequence[Any],
    stages: Sequence[Stage],
    width: int = BEAM_WIDTH,
    budget: int = SEARCH_BUDGET,
) -> Alignment:
    """Most matches, stage before stage, in the fewest chunks.

    The first stage must give every token exactly one key (``ValueError`` otherwise), as equality of words does.
    """
    reference_keys, candidate_keys = _keys(reference, stages), _keys(candidate, stages)
    if any(len(keys) != 1 for side in (reference_keys, candidate_keys) for keys in side[0]):
        raise ValueError("the first stage must give every token exactly one key")
    problem = make_problem(reference_keys, candidate_keys)
    best = _greedy(reference_keys, candidate_keys)
    if not problem.may_beat(best):
        return Alignment(best, proven=True)
    best = max(best, beam(problem, width), key=problem.value)
    if not problem.may_beat(best):
        return Alignment(best, proven=True)
    better, settled = search(problem, problem.value(best), budget)
    if settled:
        return Alignment(better or best, proven=True)
    first_stage = beam(make_problem(reference_keys[:1], candidate_keys[:1]), width)
    return Alignment(max(best, _greedy(reference_keys, candidate_keys, first_stage), key=problem.value))


def _keys(tokens: Sequence[Any], stages: Sequence[Stage]) -> list[Keys]:
    return [[stage(token) for token in tokens] for stage in stages]


def _greedy(
    reference_keys: Sequence[Keys], candidate_keys: Sequence[Keys], made: tuple[Match, ...] = ()
) -> tuple[Match, ...]:
    """The greedy alignment that adds to the matches already ``made``."""
    matches = list(made)
    taken_candidate, taken_reference = {match.candidate for match in made}, {match.reference for match in made}
    for stage, keys in enumerate(zip(reference_keys, candidate_keys, strict=True)):
        matches += [Match(i, j, stage) for i, j in _greedy_stage(*keys, taken_candidate, taken_reference)]
    return tuple(sorted(matches))


def _greedy_stage(
    reference: Keys, candidate: Keys, taken_candidate: set[int], taken_reference: set[int]
) -> Iterator[tuple[int, int]]:
    """Candidate tokens from the last to the first, each with the last free reference token that shares a key."""
    open_positions: dict[Hashable, list[int]] = defaultdict(list)
    for position, keys in enumerate(reference):
        if position not in taken_reference:
            for key in keys:
                open_positions[key].append(position)
    for i in reversed(range(len(candidate))):
        if i in taken_candidate:
            continue
        j = max((_last_free(open_positions.get(key), taken_reference) for key in candidate[i]), default=-1)
        if j >= 0:
            taken_candidate.add(i)
            taken_reference.add(j)
            yield i, j


def _last_free(positions: list[int] | None, taken: set[int]) -> int:
    while positions and positions[-1] in taken:
        positions.pop()
    return positions[-1] if positions else -1
