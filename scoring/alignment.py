"""Alignment of two token lists, as METEOR makes it: one-to-one matches, found stage after stage.

A *stage* gives each token its keys; two tokens may be matched in a stage if they have a key in common. A token that an
earlier stage matched is out of the later ones. A *chunk* is a longest run of matches that are neighbours, in the same
order, in both lists.

* ``greedy_alignment`` is NLTK's (``nltk.translate.meteor_score``, from its published behaviour): in each stage the
  candidate's tokens take, from the last to the first, the last free reference token that matches. In time linear in
  tokens and keys.
* ``optimal_alignment`` is METEOR's own definition (Banerjee & Lavie 2005, section 2.1): as many matches as possible in
  the first stage, then in the second, and so on; of all such alignments one with the fewest chunks. To find it is
  NP-hard in general (it contains minimum common string partition), but a caption repeats few tokens.

How the second one searches. The candidate is read from left to right; a state is the set of reference tokens still free
and the match of the token before. Of two ways into one state the worse is forgotten, so this is dynamic programming,
cut by a bound: each token that must be matched and cannot continue a chunk begins one. The greedy alignment, then that
of a beam of ``BEAM_WIDTH`` states, is what a state must be able to beat. If ``SEARCH_BUDGET`` moves do not settle it,
the best alignment so far stands with ``proven`` false: never worse than the greedy one in this order, in bounded time.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, NamedTuple

Stage = Callable[[Any], Sequence[Hashable]]
Keys = Sequence[Sequence[Hashable]]  # of one stage: the keys of each token
Method = Literal["greedy", "optimal"]

BEAM_WIDTH: Final = 8
LOOKAHEAD: Final = 32
SEARCH_BUDGET: Final = 50_000
UNMATCHED: Final = -2  # so that no reference position is its successor


class Match(NamedTuple):
    """Positions in the two lists, 0-based, and the stage that matched them."""

    candidate: int
    reference: int
    stage: int


@dataclass(frozen=True, slots=True)
class Alignment:
    """``matches`` in the order of the candidate. ``proven``: no better one exists (the greedy one never claims it)."""

    matches: tuple[Match, ...]
    proven: bool = False

    @property
    def chunks(self) -> int:
        """Runs of matches that are neighbours in both lists; 0 without a match."""
        later = zip(self.matches, self.matches[1:], strict=False)
        joined = sum(b.candidate == a.candidate + 1 and b.reference == a.reference + 1 for a, b in later)
        return len(self.matches) - joined


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
    return _greedy(_keys(reference, stages), _keys(candidate, stages))


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
    problem = _problem(reference_keys, candidate_keys)
    best = _greedy(reference_keys, candidate_keys).matches
    if not problem.may_beat(best):
        return Alignment(best, proven=True)
    best = max(best, _beam(problem, width), key=problem.value)
    if not problem.may_beat(best):
        return Alignment(best, proven=True)
    better, settled = _search(problem, problem.value(best), budget)
    return Alignment(better or best, proven=settled)


def _keys(tokens: Sequence[Any], stages: Sequence[Stage]) -> list[Keys]:
    return [[stage(token) for token in tokens] for stage in stages]


def _greedy(reference_keys: Sequence[Keys], candidate_keys: Sequence[Keys]) -> Alignment:
    matches: list[Match] = []
    taken: tuple[set[int], set[int]] = (set(), set())  # of the candidate, of the reference
    for stage, keys in enumerate(zip(reference_keys, candidate_keys, strict=True)):
        matches += [Match(i, j, stage) for i, j in _greedy_stage(*keys, *taken)]
    return Alignment(tuple(sorted(matches)))


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


@dataclass(frozen=True, slots=True)
class _Problem:
    """The lists as bit sets of reference positions, one a candidate token.

    ``edges[stage][i]``: what token i may be matched with in that stage and in no earlier one. ``reach[i]``: in any.
    ``future[i]``: what tokens i and later may be matched with. A *word* is a key of the first stage that both sides
    have: ``word_of`` of a candidate's token, ``reference_word`` of a reference's (-1: none), ``members`` their
    reference positions. ``upper[i]``: no way from token i on gains more. The value of an alignment is ``weights`` by
    stage less its chunks; the first stage weighs nothing, since all that are looked at have all its matches.
    """

    edges: list[list[int]]
    reach: list[int]
    future: list[int]
    word_of: list[int]
    reference_word: list[int]
    members: list[int]
    weights: list[int]
    upper: list[int]

    def value(self, matches: Sequence[Match]) -> int:
        return sum(self.weights[match.stage] for match in matches) - Alignment(tuple(matches)).chunks

    def may_beat(self, matches: Sequence[Match]) -> bool:
        return self.upper[0] > self.value(matches)

    def stage_of(self, i: int, j: int) -> int:
        return next(stage for stage, edges in enumerate(self.edges) if edges[i] >> j & 1)


def _problem(reference_keys: Sequence[Keys], candidate_keys: Sequence[Keys]) -> _Problem:
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
    base = min(size, len(reference_keys[0])) + 1  # more than there can be matches or chunks
    weights = [0, *(base ** (len(edges) - stage) for stage in range(1, len(edges)))]
    return _Problem(
        edges=edges,
        reach=reach,
        future=future,
        word_of=word_of,
        reference_word=[words.get(keys[0], -1) for keys in reference_keys[0]],
        members=members,
        weights=weights,
        upper=_upper(edges, reach, word_of, weights),
    )


def _edges(reference_keys: Sequence[Keys], candidate_keys: Sequence[Keys]) -> list[list[int]]:
    """For each stage and candidate token the reference positions it may be matched with, in the first stage it may."""
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


def _upper(edges: list[list[int]], reach: list[int], word_of: list[int], weights: list[int]) -> list[int]:
    """What the tokens from i on can gain at most.

    A word that the candidate has no oftener than the reference must be matched each time; where no match of it can
    follow on one of the token before, a chunk begins. Of any other token, the best later stage it has counts in full.
    """
    used = Counter(word_of)
    upper = [0] * (len(word_of) + 1)
    for i in reversed(range(len(word_of))):
        if word_of[i] >= 0 and used[word_of[i]] <= edges[0][i].bit_count():
            follows = i > 0 and reach[i - 1] << 1 & edges[0][i]
            gain = 0 if follows else -1
        else:
            gain = max((weights[stage] for stage in range(1, len(edges)) if edges[stage][i]), default=0)
        upper[i] = upper[i + 1] + gain
    return upper


_Path = tuple[Any, int, int] | None  # (the path before, candidate position, reference position)
_States = dict[tuple[int, int], tuple[int, _Path]]  # (free reference positions, last match): (value, path)
_Choice = Callable[[_Problem, int, int, int, int], Iterable[int]]


def _beam(problem: _Problem, width: int) -> tuple[Match, ...]:
    """The alignment that the ``width`` best states of each step lead to, each going on in a few promising ways."""
    states: _States = {(problem.future[0], UNMATCHED): (0, None)}
    left = Counter(problem.word_of)
    for i, word in enumerate(problem.word_of):
        left[word] -= 1
        states, _ = _step(problem, i, states, left, _promising, None)
        if len(states) > width:
            # In the middle of a chunk is better than at its end.
            ranked = sorted(states.items(), key=lambda item: (item[1][0], item[0][1] >= 0), reverse=True)
            states = dict(ranked[:width])
    return _matches(problem, states)


def _search(problem: _Problem, floor: int, budget: int) -> tuple[tuple[Match, ...], bool]:
    """The best alignment worth more than ``floor`` (none: empty), and whether ``budget`` moves sufficed to say so."""
    states: _States = {(problem.future[0], UNMATCHED): (0, None)}
    left = Counter(problem.word_of)
    for i, word in enumerate(problem.word_of):
        left[word] -= 1
        states, moves = _step(problem, i, states, left, _every, floor)
        budget -= moves
        if budget < 0:
            return (), False
    return _matches(problem, states), True


def _step(
    problem: _Problem, i: int, states: _States, left: Counter[int], choice: _Choice, floor: int | None
) -> tuple[_States, int]:
    """The states after token i and the moves tried; ``left`` counts the words after it. Drops what ends at ``floor``."""
    after: _States = {}
    moves = 0
    for (free, last), (value, path) in states.items():
        for j, gain in _moves(problem, i, free, last, left, choice):
            moves += 1
            reached = value + gain
            if floor is not None and reached + problem.upper[i + 1] <= floor:
                continue
            key = _key_after(problem, i, free, j)
            known = after.get(key)
            if known is None or known[0] < reached:
                after[key] = (reached, path if j == UNMATCHED else (path, i, j))
    return after, moves


def _moves(
    problem: _Problem, i: int, free: int, last: int, left: Counter[int], choice: _Choice
) -> Iterator[tuple[int, int]]:
    """(reference position or ``UNMATCHED``, gain) of the ways on that lose no match of the first stage."""
    word = problem.word_of[i]
    may_give_up = word < 0 or (problem.members[word] & free).bit_count() <= left[word]
    for stage, edges in enumerate(problem.edges if may_give_up else problem.edges[:1]):
        for j in choice(problem, i, edges[i] & free, free, last):
            if stage == 0 or _is_spare(problem, j, free, left):
                yield j, problem.weights[stage] - (j != last + 1)
    if may_give_up:
        yield UNMATCHED, 0


def _is_spare(problem: _Problem, j: int, free: int, left: Counter[int]) -> bool:
    """Whether the words still to come can do without reference token j."""
    word = problem.reference_word[j]
    return word < 0 or left[word] < (problem.members[word] & free).bit_count()


def _key_after(problem: _Problem, i: int, free: int, j: int) -> tuple[int, int]:
    """The state that a move leads to, without what can no longer matter."""
    if j == UNMATCHED:
        return free & problem.future[i + 1], UNMATCHED
    free = (free ^ 1 << j) & problem.future[i + 1]
    return free, j if (free & problem.reach[i + 1]) >> (j + 1) & 1 else UNMATCHED


def _every(problem: _Problem, i: int, positions: int, free: int, last: int) -> Iterator[int]:
    while positions:
        lowest = positions & -positions
        yield lowest.bit_length() - 1
        positions ^= lowest


def _promising(problem: _Problem, i: int, positions: int, free: int, last: int) -> Iterable[int]:
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


def _matches(problem: _Problem, states: _States) -> tuple[Match, ...]:
    """The matches on the path to the best of the final ``states``; none if there is no state."""
    _, path = max(states.values(), key=lambda state: state[0], default=(0, None))
    matches: list[Match] = []
    while path is not None:
        path, i, j = path
        matches.append(Match(i, j, problem.stage_of(i, j)))
    return tuple(reversed(matches))
