"""The search for the alignment with the most matches in the fewest chunks.

It is NP-hard in general (it contains minimum common string partition), but a caption repeats few tokens.

The candidate is read from left to right; a state is the set of reference tokens still free and the match of the
previous token. Of two ways into one state the worse is dropped, so this is dynamic programming, pruned by a bound: a
token that must be matched and cannot continue a chunk begins one. A state is kept only if it can beat the greedy
alignment, and then that of a beam of ``BEAM_WIDTH`` states. If ``SEARCH_BUDGET`` moves are not enough, the best
alignment so far is returned as unproven. It is never worse than the greedy one, and the time is linear in the tokens
times the length of the bit sets: about a second for 5,000 tokens against 5,000.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final, NamedTuple

Keys = Sequence[Sequence[Hashable]]  # of one stage: the keys of each token

BEAM_WIDTH: Final = 8
LOOKAHEAD: Final = 32
SEARCH_BUDGET: Final = 20_000
UNMATCHED: Final = -2  # so that no reference position is its successor


class Match(NamedTuple):
    """Positions in the two lists, 0-based, and the stage that matched them."""

    candidate: int
    reference: int
    stage: int


def count_chunks(matches: Sequence[Match]) -> int:
    """Runs of matches, given in the order of the candidate, that are neighbours in both lists; 0 without a match."""
    neighbours = pairwise(matches)
    return len(matches) - sum(b.candidate - a.candidate == b.reference - a.reference == 1 for a, b in neighbours)


@dataclass(frozen=True, slots=True)
class Problem:
    """The lists as bit sets of reference positions, one for each candidate token.

    ``edges[stage][i]``: what token i may be matched with in that stage and in no earlier one. ``reach[i]``: in any.
    ``future[i]``: what tokens i and later may be matched with. A *word* is a key of the first stage that both sides
    have: ``word_of`` of a candidate's token, ``reference_word`` of a reference's (-1: none), ``members`` their
    reference positions. ``upper[i]``: the most that tokens i and later can gain; ``joins[i]``: that bound assumes that
    token i continues a chunk. The value of an alignment is the sum of ``weights`` by stage minus its chunks; the first
    stage weighs nothing, since every alignment considered has all its matches.
    """

    edges: list[list[int]]
    reach: list[int]
    future: list[int]
    word_of: list[int]
    reference_word: list[int]
    members: list[int]
    weights: list[int]
    upper: list[int]
    joins: list[bool]

    def value(self, matches: Sequence[Match]) -> int:
        return sum(self.weights[match.stage] for match in matches) - count_chunks(matches)

    def may_beat(self, matches: Sequence[Match]) -> bool:
        return self.upper[0] > self.value(matches)

    def upper_after(self, i: int, state: tuple[int, int]) -> int:
        """The most that the tokens after i can gain from ``state``."""
        return self.upper[i + 1] - (self.joins[i + 1] and state[1] == UNMATCHED)

    def stage_of(self, i: int, j: int) -> int:
        return next(stage for stage, edges in enumerate(self.edges) if edges[i] >> j & 1)


def make_problem(reference_keys: Sequence[Keys], candidate_keys: Sequence[Keys]) -> Problem:
    size = len(candidate_keys[0])
    edges = _edges(reference_keys, candidate_keys)
    reach = [0] * (size + 1)
    for stage in edges:
        for i, mask in enumerate(stage):
            reach[i] |= mask
    future = list(reach)
    for i in reversed(range(size)):
        future[i] |= future[i + 1]
    shared = {keys[0] for keys in reference_keys[0]} & {keys[0] for keys in candidate_keys[0]}
    # Numbered in the order of the candidate: iterating over a set of strings would differ from run to run.
    words = {word: n for n, word in enumerate(dict.fromkeys(k[0] for k in candidate_keys[0] if k[0] in shared))}
    word_of = [words.get(keys[0], -1) for keys in candidate_keys[0]]
    members = [0] * len(words)
    for i, word in enumerate(word_of):
        if word >= 0:
            members[word] = edges[0][i]
    base = min(size, len(reference_keys[0])) + 1  # more than the possible number of matches or chunks
    weights = [0, *(base ** (len(edges) - stage) for stage in range(1, len(edges)))]
    upper, joins = _upper(edges, reach, word_of, weights)
    return Problem(
        edges=edges,
        reach=reach,
        future=future,
        word_of=word_of,
        reference_word=[words.get(keys[0], -1) for keys in reference_keys[0]],
        members=members,
        weights=weights,
        upper=upper,
        joins=joins,
    )


def _edges(reference_keys: Sequence[Keys], candidate_keys: Sequence[Keys]) -> list[list[int]]:
    """For each stage and candidate token, the reference positions it may be matched with, in the first such stage."""
    edges: list[list[int]] = []
    known = [0] * len(candidate_keys[0])
    for reference, candidate in zip(reference_keys, candidate_keys, strict=True):
        positions: dict[Hashable, int] = defaultdict(int)
        for j, keys in enumerate(reference):
            for key in keys:
                positions[key] |= 1 << j
        masks = [_union(positions.get(key, 0) for key in keys) for keys in candidate]
        edges.append([mask & ~before for mask, before in zip(masks, known, strict=True)])
        known = [mask | before for mask, before in zip(masks, known, strict=True)]
    return edges


def _union(masks: Iterable[int]) -> int:
    result = 0
    for mask in masks:
        result |= mask
    return result


def _upper(
    edges: list[list[int]], reach: list[int], word_of: list[int], weights: list[int]
) -> tuple[list[int], list[bool]]:
    """What tokens i and later can gain at most, and whether that assumes that token i continues a chunk.

    A word that the candidate has at most as often as the reference must be matched each time. Each time it begins a
    chunk, except as often as one of its matches directly follows one of the previous token. For any other token, the
    weight of its best later stage counts in full.
    """
    used = Counter(word_of)
    upper, joins = [0] * (len(word_of) + 1), [False] * (len(word_of) + 1)
    joined: Counter[int] = Counter()
    for i in reversed(range(len(word_of))):
        if word_of[i] >= 0 and used[word_of[i]] <= edges[0][i].bit_count():
            follows = reach[i - 1] << 1 & edges[0][i] if i else 0
            joins[i] = joined[follows] < follows.bit_count()
            joined[follows] += 1
            gain = 0 if joins[i] else -1
        else:
            gain = max((weights[stage] for stage in range(1, len(edges)) if edges[stage][i]), default=0)
        upper[i] = upper[i + 1] + gain
    return upper, joins


_Path = tuple[Any, int, int] | None  # (the path before, candidate position, reference position)
_States = dict[tuple[int, int], tuple[int, _Path]]  # (free reference positions, last match): (value, path)
_Choice = Callable[[Problem, int, int, int, int], Iterable[int]]


def beam(problem: Problem, width: int) -> tuple[Match, ...]:
    """The alignment from the ``width`` best states of each step, each continued by a few promising moves."""
    states: _States = {(problem.future[0], UNMATCHED): (0, None)}
    left = Counter(problem.word_of)
    for i, word in enumerate(problem.word_of):
        left[word] -= 1
        after: _States = {}
        for _ in _step(problem, i, states, left, _promising, after):
            pass
        # In the middle of a chunk is better than at its end.
        ranked = sorted(after.items(), key=lambda item: (item[1][0], item[0][1] >= 0), reverse=True)
        states = dict(ranked[:width])
    return _matches(problem, states)


def search(problem: Problem, floor: int, budget: int) -> tuple[tuple[Match, ...], bool]:
    """The best alignment with a value above ``floor`` (empty if none), and whether ``budget`` moves prove it."""
    states: _States = {(problem.future[0], UNMATCHED): (0, None)}
    left = Counter(problem.word_of)
    for i, word in enumerate(problem.word_of):
        left[word] -= 1
        after: _States = {}
        for _ in _step(problem, i, states, left, _every, after, floor):
            budget -= 1
            if budget < 0:
                return (), False
        states = after
    return _matches(problem, states), True


def _step(
    problem: Problem,
    i: int,
    states: _States,
    left: Counter[int],
    choice: _Choice,
    after: _States,
    floor: int | None = None,
) -> Iterator[None]:
    """Fill ``after`` with the states after token i that can end above ``floor``, yielding at every move tried.

    ``left`` counts the words that come after token i.
    """
    for (free, last), (value, path) in states.items():
        for j, gain in _moves(problem, i, free, last, left, choice):
            yield
            reached = value + gain
            key = _key_after(problem, i, free, j)
            if floor is not None and reached + problem.upper_after(i, key) <= floor:
                continue
            known = after.get(key)
            if known is None or known[0] < reached:
                after[key] = (reached, path if j == UNMATCHED else (path, i, j))


def _moves(
    problem: Problem, i: int, free: int, last: int, left: Counter[int], choice: _Choice
) -> Iterator[tuple[int, int]]:
    """(reference position or ``UNMATCHED``, gain) of the moves that lose no match of the first stage."""
    word = problem.word_of[i]
    may_give_up = word < 0 or (problem.members[word] & free).bit_count() <= left[word]
    for stage, edges in enumerate(problem.edges if may_give_up else problem.edges[:1]):
        for j in choice(problem, i, edges[i] & free, free, last):
            if stage == 0 or _is_spare(problem, j, free, left):
                yield j, problem.weights[stage] - (j != last + 1)
    if may_give_up:
        yield UNMATCHED, 0


def _is_spare(problem: Problem, j: int, free: int, left: Counter[int]) -> bool:
    """Whether the words still to come do not need reference token j."""
    word = problem.reference_word[j]
    return word < 0 or left[word] < (problem.members[word] & free).bit_count()


def _key_after(problem: Problem, i: int, free: int, j: int) -> tuple[int, int]:
    """The state after a move, without the positions that no longer matter."""
    if j == UNMATCHED:
        return free & problem.future[i + 1], UNMATCHED
    free = (free ^ 1 << j) & problem.future[i + 1]
    return free, j if (free & problem.reach[i + 1]) >> (j + 1) & 1 else UNMATCHED


def _every(problem: Problem, i: int, positions: int, free: int, last: int) -> Iterator[int]:
    while positions:
        lowest = positions & -positions
        yield lowest.bit_length() - 1
        positions ^= lowest


def _promising(problem: Problem, i: int, positions: int, free: int, last: int) -> Iterable[int]:
    """Of ``positions`` the one that continues the chunk, the start of the longest new one, the first and the last."""
    if not positions:
        return ()
    longest = positions
    for step in range(1, min(LOOKAHEAD, len(problem.reach) - i)):
        narrowed = longest & (problem.reach[i + step] & free) >> step
        if not narrowed:
            break
        longest = narrowed
    found = [(mask & -mask).bit_length() - 1 for mask in (longest, positions)]
    continued = [last + 1] if last >= 0 and positions >> (last + 1) & 1 else []
    return dict.fromkeys((*continued, *found, positions.bit_length() - 1))


def _matches(problem: Problem, states: _States) -> tuple[Match, ...]:
    """The matches on the path to the best of the final ``states``; none if there is no state."""
    _, path = max(states.values(), key=lambda state: state[0], default=(0, None))
    matches: list[Match] = []
    while path is not None:
        path, i, j = path
        matches.append(Match(i, j, problem.stage_of(i, j)))
    return tuple(reversed(matches))
