"""What the sureness of a board is computed from: its rows, with the stored values of their items."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from malpan.competitions.references import recipe_named, recipe_of
from malpan.leaderboard import standings
from malpan.leaderboard.models import BoardSnapshot, BoardSureness
from malpan.leaderboard.rules import components_from, rule_of
from malpan.submissions.models import HiddenResult, MetricResult, ScoringRun
from scoring.composite import Component
from scoring.recipes import Recipe
from scoring.records import ItemScores, ScoreReport
from scoring.signature import metric_signatures

ROWS: Final = 300  # of a board, from the first
METHOD: Final = 2  # of what is stored; another number makes every board due


@dataclass(frozen=True, slots=True)
class Source:
    """A row of a board with the run that its scores are of; ``hidden`` where they are of the private split."""

    name: str  # the public id of its submission
    rank: int | None
    run: ScoringRun
    hidden: HiddenResult | None = None

    @property
    def key(self) -> list[Any]:
        return [self.name, self.rank, self.run.pk, self.hidden is not None]

    @property
    def result(self) -> ScoringRun | HiddenResult:
        return self.hidden or self.run


@dataclass(frozen=True, slots=True)
class Basis:
    """The rows of a board in its order. ``lacks``: some row has no result to compute from. ``is_rounded``: the board
    shows rounded scores, and an interval would give away the digits that it withholds.
    """

    recipe: Recipe
    signature_hash: str
    components: tuple[Component, ...]
    sources: tuple[Source, ...]
    lacks: bool
    is_rounded: bool = False

    def content(self, trials: int, seed: int) -> list[Any]:
        """All that decides the result."""
        parts = [[each.score, each.weight, each.higher_is_better] for each in self.components]
        rows = [each.key for each in self.sources]
        return [METHOD, self.recipe.id, self.signature_hash, parts, trials, seed, self.is_rounded, rows]


def basis_of(wanted: BoardSureness) -> Basis:
    """What the board of ``wanted`` is now. Raises ``RecipeNotInstalled`` and ``UnknownTrackRecipe``."""
    return _of_phase(wanted) if wanted.snapshot is None else _of_snapshot(wanted.snapshot)


def _of_phase(wanted: BoardSureness) -> Basis:
    phase = wanted.phase
    recipe = recipe_of(phase.track)
    signature = standings.summary(phase, wanted.scope).signature_hash or ""
    rows = standings.page(phase, wanted.scope, signature, 0, ROWS) if signature else []
    runs = ScoringRun.objects.select_related("reference_version").in_bulk([row.submission.live_run_id for row in rows])
    found = tuple(
        Source(str(row.submission.public_id), None if row.is_baseline else row.rank, runs[row.submission.live_run_id])
        for row in rows
        if row.submission.live_run_id in runs
    )
    components = rule_of(phase, recipe).components
    return Basis(recipe, signature, components, found, len(found) < len(rows), phase.score_step is not None)


def _of_snapshot(snapshot: BoardSnapshot) -> Basis:
    """Runs are found by signature: another one may be live since. Of several the newest, which completes what judges
    left out, but none of a batch of repeats: their scores count nowhere, and their items are not kept.
    """
    rows = snapshot.rows[:ROWS]
    names = [row.get("submission", "") for row in rows]
    runs = ScoringRun.objects.filter(
        submission__public_id__in=[name for name in names if name], state=ScoringRun.State.FINISHED
    )
    runs = runs.exclude(batch__repeats__gt=1)
    runs = runs.select_related("submission", "reference_version", "hidden_result").order_by("pk")
    by_name = {}
    for run in runs:
        hidden = getattr(run, "hidden_result", None) if snapshot.kind == BoardSnapshot.Kind.FINAL else None
        if (hidden or run).signature_hash == snapshot.signature_hash:
            by_name[str(run.submission.public_id)] = (run, hidden)
    found = tuple(
        Source(name, row["rank"], *by_name[name]) for name, row in zip(names, rows, strict=True) if name in by_name
    )
    components = components_from(snapshot.components)
    recipe = recipe_named(snapshot.recipe)
    return Basis(recipe, snapshot.signature_hash, components, found, lacks=len(found) < len(rows))


def report_of(source: Source, recipe: Recipe, values: Mapping[str, Mapping[str, Any]]) -> ScoreReport:
    """The result of ``source`` as the instrument has it, with ``values`` by metric and item."""
    result = source.result
    scores: dict[str, dict[str, float]] = defaultdict(dict)
    statistics: dict[str, dict[str, tuple[float, ...]]] = defaultdict(dict)
    for metric, of_items in values.items():
        for item, value in of_items.items():
            if isinstance(value, int | float):
                scores[item][recipe.score_name(metric)] = float(value)
            else:
                statistics[item][metric] = tuple(value)
    final = result.final_score or 0.0
    return ScoreReport(
        recipe=source.run.recipe,
        final_score=final,
        scores={**result.scores, "final_score": final},
        coverage={},
        warnings=(),
        items=tuple(ItemScores(item, scores[item], statistics[item]) for item in sorted({*scores, *statistics})),
        signature=result.signature,
        signature_hash=result.signature_hash,
        metric_signatures=_hashes(result.signature),
    )


def stored_values(sources: Sequence[Source]) -> list[dict[str, Mapping[str, Any]]]:
    """The values of each of ``sources`` by metric and item, those that its signature names. One query."""
    wanted = [_place(source) for source in sources]
    found: dict[tuple[int, int, str], dict[str, Mapping[str, Any]]] = defaultdict(dict)
    hashes = {place: _hashes(each.result.signature) for place, each in zip(wanted, sources, strict=True)}
    rows = MetricResult.objects.filter(
        submission__in={place[0] for place in wanted}, reference_version__in={place[1] for place in wanted}
    ).values_list("submission", "reference_version", "split", "metric", "metric_signature", "values")
    for submission, version, split, metric, signature, values in rows.iterator(100):
        place = (submission, version, split)
        if hashes.get(place, {}).get(metric) == signature:
            found[place][metric] = values
    return [found[place] for place in wanted]


def _hashes(signature: Mapping[str, Any]) -> dict[str, str]:
    return metric_signatures(signature) if signature.get("metrics") else {}


def _place(source: Source) -> tuple[int, int, str]:
    run = source.run
    split = "all" if run.reference_version.public_ids is None else "public"
    return run.submission_id, run.reference_version_id, split if source.hidden is None else "private"
