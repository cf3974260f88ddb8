"""The job that computes how sure a board is. The web process imports this module: numpy is loaded by the work alone."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, field
from typing import Any, Final
from uuid import uuid4

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from malpan.competitions.errors import RecipeNotInstalled, UnknownTrackRecipe
from malpan.core.errors import SystemFault
from malpan.jobs import outcome, registry
from malpan.jobs.lease import LeaseRenewer
from malpan.jobs.models import Job
from malpan.leaderboard.models import BoardItems, BoardSureness, StandingsVersion
from malpan.leaderboard.sureness.items import found_in
from malpan.leaderboard.sureness.queueing import SURENESS
from malpan.leaderboard.sureness.results import keep_results
from malpan.leaderboard.sureness.selectors import ROUNDED
from malpan.leaderboard.sureness.sources import Basis, basis_of, report_of, stored_values
from scoring.signature import json_sha256

SEED: Final = 20_261_120  # as ``python -m scoring compare`` has it
TRIALS: Final = 10_000


class SurenessCrashed(SystemFault):
    """Computing how sure a board is failed by an error of ours. The board is shown as it is, without intervals."""

    text = _("순위표의 신뢰구간을 계산하지 못했습니다. 점수와 순위에는 영향이 없습니다.")


@dataclass(frozen=True, slots=True)
class Found:
    """The result of a computation, as the columns of ``BoardSureness``, and ``in_items`` that of ``BoardItems``."""

    rows: dict[str, Any] = field(default_factory=dict)
    reason: str = ""
    items: int = 0
    pairs: int = 0
    level: float = 0.0
    in_items: dict[str, Any] = field(default_factory=dict)


class ComputeSureness(registry.Handler):
    """Computes the sureness of the board whose row names the job, and of results of its phase that have none yet; of a
    board of the same rows it only notes the standings.
    """

    crashed = SurenessCrashed

    def work(self, job: Job, lease: LeaseRenewer) -> None:
        wanted = BoardSureness.objects.select_related("phase__track", "snapshot__phase").get(job=job)
        began = time.monotonic()
        version = StandingsVersion.objects.filter(phase=wanted.phase_id).values_list("value", flat=True).first()
        is_all = keep_results(wanted.phase, trials=TRIALS, seed=SEED)
        fields: dict[str, Any] = {"version": version if is_all else None, "stamp": uuid4()}
        basis = _basis(wanted)
        key = "" if basis is None else json_sha256(basis.content(TRIALS, SEED))
        in_items = None
        if wanted.stamp is None or not key or key != wanted.basis:
            found = Found(reason="recipe") if basis is None else compute(basis)
            in_items = found.in_items
            fields |= {name: getattr(found, name) for name in ("rows", "reason", "items", "pairs", "level")}
            fields |= {"basis": key, "signature_hash": "" if basis is None else basis.signature_hash}
            fields |= {"seed": SEED, "trials": TRIALS, "computed_at": timezone.now()}
            fields["seconds"] = time.monotonic() - began
        outcome.written(job, lambda: _store(job, wanted.pk, fields, in_items))

    def given_up(self, job: Job) -> None:
        version = StandingsVersion.objects.filter(phase__pk__in=BoardSureness.objects.filter(job=job).values("phase"))
        BoardSureness.objects.filter(job=job).update(
            version=version.values_list("value", flat=True).first(),
            stamp=uuid4(),
            basis="",
            rows={},
            reason="crashed",
            computed_at=timezone.now(),
        )


def register() -> None:
    """Let this process compute how sure boards are."""
    registry.register(SURENESS, ComputeSureness())


def compute(basis: Basis) -> Found:
    """The sureness of a board from the stored values of its items."""
    if basis.is_rounded:
        return Found(reason=ROUNDED)
    if not basis.sources:
        return Found()
    values = stored_values(basis.sources)
    if basis.lacks or not all(values):
        return Found(reason="no_items")
    from scoring.significance.board import Entrant, NotOneBoard, board_sureness

    reports = [report_of(source, basis.recipe, each) for source, each in zip(basis.sources, values, strict=True)]
    entrants = [
        Entrant(source.name, report, is_ranked=source.rank is not None)
        for source, report in zip(basis.sources, reports, strict=True)
    ]
    try:
        found = board_sureness(entrants, components=basis.components, trials=TRIALS, seed=SEED)
    except NotOneBoard as error:
        return Found(reason=error.what)
    ranks = {source.name: source.rank for source in basis.sources}
    tied = Counter(each.band for each in found.entrants if each.band is not None)
    firsts: dict[int, int | None] = {}
    for each in found.entrants:
        if each.band is not None:
            firsts.setdefault(each.band, ranks[each.name])
    rows = {
        each.name: {
            "rank": ranks[each.name],
            "scores": {name: [interval.low, interval.high] for name, interval in each.intervals.items()},
            "places": each.places and [each.places.best, each.places.worst],
            "band": each.band,
            "first": each.band and firsts[each.band],
            "tied": 0 if each.band is None else tied[each.band],
            "p": each.above_p,
        }
        for each in found.entrants
    }
    in_items = {} if found.reason else found_in(basis, values)
    return Found(rows, str(found.reason or ""), found.items, found.pairs, found.level, in_items)


def _basis(wanted: BoardSureness) -> Basis | None:
    try:
        return basis_of(wanted)
    except (RecipeNotInstalled, UnknownTrackRecipe):
        return None


def _store(job: Job, pk: int, fields: dict[str, Any], in_items: dict[str, Any] | None) -> bool:
    """``in_items``: what was found in the items; ``None`` where it is as it was."""
    with transaction.atomic():
        if not outcome.finish(job_id=job.pk, attempt=job.attempt):
            return False
        BoardSureness.objects.filter(pk=pk).update(**fields)
        if in_items is not None:
            BoardItems.objects.update_or_create(sureness_id=pk, defaults={"found": in_items})
    return True
