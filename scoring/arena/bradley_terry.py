"""Bradley–Terry strengths with ties and an effect of the order shown, for many sets of counts at once.

For a pair shown as i first, j second, with strengths s in logits, order effect d and log tie parameter t (Davidson
1970; Davidson & Beaver 1977)::

    first : tie : second  =  exp(e / 2) : exp(t) : exp(-e / 2),      e = s_i - s_j + d

so that without ties P(first) = 1 / (1 + exp(-e)). The likelihood is concave; Newton's method finds its maximum, a step
never longer than ``_LONGEST_STEP``. Strengths sum to zero.

The maximum does not exist where some systems won everything against the others (Ford 1957: the graph of who took at
least half a point from whom is not strongly connected), where all outcomes are first, or all second, or where strengths
and order together explain everything (found as steps without an end or estimates beyond ``_FARTHEST`` logits). It is
not the only one where the order cannot be told from the strengths, as when every pair was shown in one order. Those
sets of counts, and no others, get ``_PSEUDO`` of a vote for every system, won and lost alike, in both orders and
against every other system alike. They are marked ``is_regularised``. Sets without any tie in a model with ties get
pseudo ties alone.

The fit is our own: choix (MIT) and evalica (Apache-2.0) fit one set of outcomes, without an order effect, evalica with
a tie as half a win each, and need scipy or pandas beside numpy. choix is a witness in the tests.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]

FIRST, TIE, SECOND = 0, 1, 2  # the last axis of counts

_PSEUDO: Final = 0.5
_LONGEST_STEP: Final = 2.0
_FARTHEST: Final = 12.0  # logits
_RIDGE: Final = 1e-9  # on the curvature of a step: the maximum stays where it is
_TOLERANCE: Final = 1e-11
_MOST_STEPS: Final = 100
_STEEPEST: Final = 60.0  # logits beyond which a probability is 0 or 1 anyhow
_BLOCK_CELLS: Final = 1 << 15  # of one table: a block and what is made of it stay near the processor


@dataclass(frozen=True, slots=True)
class Fit:
    """Parameters of every set of counts.

    ``strengths``: (trials, systems), centred logits. ``order``: (trials,) logits for the output shown first. ``tie``:
    (trials,) log of Davidson's parameter, minus infinity in a model without ties. ``is_regularised``: (trials,) had
    pseudo votes; ``is_separated``: (trials,) and not for a lack of ties only.
    """

    strengths: FloatArray
    order: FloatArray
    tie: FloatArray
    is_regularised: BoolArray
    is_separated: BoolArray

    def parameters(self) -> FloatArray:
        """(systems + 2,) of the first set of counts, a tie parameter that the model lacks as 0."""
        tie = self.tie[0] if np.isfinite(self.tie[0]) else 0.0
        return np.concatenate([self.strengths[0], [self.order[0], tie]])


def fit(counts: FloatArray, *, has_order: bool = True, has_ties: bool | None = None, start: Fit | None = None) -> Fit:
    """The maximum likelihood fit of counts (trials, first shown, second shown, outcome), outcomes ``FIRST``, ``TIE``,
    ``SECOND``; counts may be weights of any size.

    ``has_ties``: whether the model has ties, by default whether there is any; a model without them leaves them out.
    ``start``: the fit of counts like these, of which the first is begun from; it saves steps and changes no digit.
    Raises ``ValueError`` for another shape.
    """
    if counts.ndim != 4 or counts.shape[1] != counts.shape[2] or counts.shape[3] != 3 or counts.shape[1] < 2:
        raise ValueError(f"expected counts (trials, systems, systems, 3), not {counts.shape}")
    with_ties = bool(counts[..., TIE].sum() > 0) if has_ties is None else has_ties
    if not with_ties:
        counts = counts * (np.arange(3) != TIE)
    systems = counts.shape[1]
    between = ~np.eye(systems, dtype=bool)[:, :, None]  # nobody is compared with itself
    counts, is_regularised, is_separated = _with_maximum(np.where(between, counts, 0.0), has_order, with_ties)
    model = _Model(systems, has_order, with_ties)
    begin = np.zeros(model.size) if start is None else start.parameters()
    block = max(1, _BLOCK_CELLS // systems**2)
    parts = [model.maximum(counts[at : at + block], begin) for at in range(0, len(counts), block)]
    found = np.concatenate([part for part, _reached in parts]) if parts else np.empty((0, model.size))
    is_reached = np.concatenate([reached for _part, reached in parts]) if parts else np.empty(0, dtype=bool)
    lost = ~is_regularised & ~(is_reached & (np.abs(found[:, : systems + 1]).max(axis=1) < _FARTHEST))
    if lost.any():
        more = counts[lost] + _pseudo(systems, np.full(int(lost.sum()), True), with_ties)
        found[lost] = model.maximum(more, np.zeros(model.size))[0]
        is_regularised, is_separated = is_regularised | lost, is_separated | lost
    tie = found[:, systems + 1] if with_ties else np.full(len(found), -np.inf)
    return Fit(found[:, :systems], found[:, systems], tie, is_regularised, is_separated)


def _with_maximum(counts: FloatArray, has_order: bool, has_ties: bool) -> tuple[FloatArray, BoolArray, BoolArray]:
    """``counts`` with pseudo votes where there is no maximum, where that is, and where not for a lack of ties only."""
    systems = counts.shape[1]
    firsts, ties, seconds = (counts[..., outcome].sum(axis=(1, 2)) for outcome in (FIRST, TIE, SECOND))
    is_open = ~_is_connected(counts)
    if has_order:
        is_open |= (firsts == 0) | (seconds == 0) | ~_has_order_told(counts)
    if has_ties:
        is_open |= firsts + seconds == 0
    lacks_ties = has_ties & (ties == 0)
    if not (is_open | lacks_ties).any():
        return counts, is_open, is_open
    added = _pseudo(systems, is_open, has_ties)
    if has_ties:
        added[..., TIE] = _pseudo(systems, is_open | lacks_ties, has_ties)[..., TIE]
    return counts + added, is_open | lacks_ties, is_open


def _pseudo(systems: int, wanted: BoolArray, has_ties: bool) -> FloatArray:
    """Pseudo votes (trials, first, second, outcome) of the sets of counts that are ``wanted``."""
    share = _PSEUDO / (2 * (systems - 1))  # a system is in as many ordered pairs
    outcomes = np.array([1.0, float(has_ties), 1.0])
    others = ~np.eye(systems, dtype=bool)
    added: FloatArray = share * (wanted[:, None, None] & others)[..., None] * outcomes
    return added


def _has_order_told(counts: FloatArray) -> BoolArray:
    """(trials,): whether the order effect is told from the strengths: by a pair shown in both orders, or by a circle of
    pairs, which is looked for by the rank of the design.
    """
    shown = counts.sum(axis=3) > 0
    told: BoolArray = (shown & np.swapaxes(shown, 1, 2)).any(axis=(1, 2))
    systems = counts.shape[1]
    for trial in np.flatnonzero(~told):
        first, second = np.nonzero(shown[trial])
        design = np.zeros((len(first), systems + 1))
        design[np.arange(len(first)), first] = 1.0
        design[np.arange(len(first)), second] = -1.0
        strengths_alone = np.linalg.matrix_rank(design) if len(first) else 0
        design[:, systems] = 1.0
        told[trial] = len(first) > 0 and np.linalg.matrix_rank(design) > strengths_alone
    return told


def _is_connected(counts: FloatArray) -> BoolArray:
    """(trials,): whether every system took half a point from some other, directly or through others."""
    systems = counts.shape[1]
    took = counts[..., FIRST] + counts[..., TIE] + np.swapaxes(counts[..., SECOND] + counts[..., TIE], 1, 2)
    reach = ((took > 0) | np.eye(systems, dtype=bool)).astype(np.float32)
    for _ in range(max(1, int(np.ceil(np.log2(systems))))):
        reach = (reach @ reach > 0).astype(np.float32)
    connected: BoolArray = reach.min(axis=(1, 2)) > 0
    return connected


def outcome_probabilities(difference: FloatArray, order: float, tie: float) -> FloatArray:
    """Probabilities (…, outcome) of a pair whose strengths differ by ``difference`` (first minus second)."""
    half = np.clip((difference + order) / 2, -_STEEPEST, _STEEPEST)
    first, second = np.exp(half), np.exp(-half)
    parts = np.stack([first, np.full_like(first, np.exp(tie)), second], axis=-1)
    shares: FloatArray = parts / parts.sum(axis=-1, keepdims=True)
    return shares


def point_shares(counts: FloatArray) -> FloatArray:
    """(trials, systems): wins and half the ties over all votes of a system; NaN without votes."""
    first, tie, second = (counts[..., outcome] for outcome in (FIRST, TIE, SECOND))
    points = (first + tie / 2).sum(axis=2) + (second + tie / 2).sum(axis=1)
    votes = counts.sum(axis=3)
    played = votes.sum(axis=2) + votes.sum(axis=1)
    shares: FloatArray = np.divide(points, played, out=np.full_like(points, np.nan), where=played > 0)
    return shares


class _Model:
    """Newton's method on tables (trials, first, second); the sums over them that a step needs are short, whatever the
    number of systems.
    """

    def __init__(self, systems: int, has_order: bool, has_ties: bool) -> None:
        self.systems, self.has_order, self.has_ties = systems, has_order, has_ties
        self.size = systems + 2  # strengths, order, tie

    def maximum(self, counts: FloatArray, start: FloatArray) -> tuple[FloatArray, BoolArray]:
        """The parameters (trials, ``size``) of counts (trials, first, second, outcome), and where they were reached;
        the first step is from ``start``, (``size``,).

        A trial is done when its next step, as the last two let expect, is below ``_TOLERANCE``.
        """
        total = counts[..., FIRST] + counts[..., TIE] + counts[..., SECOND]
        given = np.zeros((len(counts), self.size))
        given[:, :-1] = self._sums((counts[..., FIRST] - counts[..., SECOND]) / 2)
        given[:, -1] = counts[..., TIE].sum(axis=(1, 2))
        found = np.repeat(start[None], len(counts), axis=0)
        before = np.ones(len(counts))
        active = np.arange(len(counts))
        for _ in range(_MOST_STEPS):
            step = self._step(found[active], total[active], given[active])
            longest = np.abs(step).max(axis=1)
            found[active] += step * np.minimum(1.0, _LONGEST_STEP / np.maximum(longest, _TOLERANCE))[:, None]
            is_going_on = longest * np.minimum(1.0, longest / before[active]) > _TOLERANCE
            before[active] = longest
            active = active[is_going_on]
            if not len(active):
                break
        found[:, : self.systems] -= found[:, : self.systems].mean(axis=1, keepdims=True)
        is_reached = np.full(len(counts), True)
        is_reached[active] = False
        return found, is_reached

    def _step(self, found: FloatArray, total: FloatArray, given: FloatArray) -> FloatArray:
        first, tie, second = self._probabilities(found)
        lean = (first - second) / 2
        gradient = np.empty_like(found)
        gradient[:, :-1] = given[:, :-1] - self._sums(total * lean)
        gradient[:, -1] = given[:, -1] - (total * tie).sum(axis=(1, 2)) if self.has_ties else 0.0
        curvature = self._curvature(total, tie, lean, (first + second) / 4 - lean**2)
        return np.asarray(np.linalg.solve(curvature, gradient[:, :, None])[:, :, 0], dtype=np.float64)

    def _sums(self, table: FloatArray) -> FloatArray:
        """(trials, systems + 1): of a table (trials, first, second) how much each system has more as the first than as
        the second, and the sum of all for the order effect.
        """
        rows, columns = table.sum(axis=2), table.sum(axis=1)
        order = rows.sum(axis=1, keepdims=True) * self.has_order
        return np.hstack([rows - columns, order])

    def _probabilities(self, found: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        strengths, order = found[:, : self.systems], found[:, self.systems]
        difference = strengths[:, :, None] - strengths[:, None, :] + order[:, None, None] * self.has_order
        first = np.exp(np.clip(difference / 2, -_STEEPEST, _STEEPEST))
        second = 1.0 / first
        tie = np.exp(np.clip(found[:, -1], -_STEEPEST, _STEEPEST)) if self.has_ties else np.zeros(len(found))
        whole = first + second + tie[:, None, None]
        return first / whole, tie[:, None, None] / whole, second / whole

    def _curvature(self, total: FloatArray, tie: FloatArray, lean: FloatArray, spread: FloatArray) -> FloatArray:
        """Minus the second derivatives. The sum of the strengths, and parameters that the model lacks, are held at 0 by
        a curvature of their own.
        """
        size, systems = self.size, self.systems
        curvature = np.zeros((len(total), size, size))
        weights = total * spread
        both_ways = weights + np.swapaxes(weights, 1, 2)
        votes = total.sum(axis=(1, 2))
        curvature[:, :systems, :systems] = votes[:, None, None] / (4 * systems**2) - both_ways
        places = np.arange(systems)
        curvature[:, places, places] += both_ways.sum(axis=2)
        if self.has_order:
            ordered = self._sums(weights)
            curvature[:, :-1, systems] = ordered
            curvature[:, systems, :-1] = ordered
        else:
            curvature[:, systems, systems] = 1.0
        if self.has_ties:
            tied = total * tie
            mixed = -self._sums(tied * lean)
            curvature[:, :-1, -1] = mixed
            curvature[:, -1, :-1] = mixed
            curvature[:, -1, -1] = (tied * (1 - tie)).sum(axis=(1, 2))
        else:
            curvature[:, -1, -1] = 1.0
        curvature[:, np.arange(size), np.arange(size)] += _RIDGE
        return curvature
