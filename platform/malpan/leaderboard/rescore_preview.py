"""What applying a rescoring batch would change on the board: from the runs of the batch, ranked like the board."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from malpan.competitions.models import ReferenceVersion
from malpan.competitions.references import recipe_named, recipe_of
from malpan.leaderboard import ranking
from malpan.leaderboard.ranking import Rule
from malpan.leaderboard.results import comparable_entries, entry_of, live_runs, public_entries
from malpan.leaderboard.rules import rule_of
from malpan.submissions.models import HiddenResult, RescoreBatch, ScoringRun, Submission
from malpan.submissions.release import Release
from malpan.submissions.rescoring import batches, deltas
from malpan.submissions.rescoring.deltas import Change, Histogram, Place, RankMove, Scored
from malpan.submissions.rescoring.errors import BatchPreviewGrew, BatchPreviewOutdated
from malpan.submissions.rescoring.spreads import spreads_of
from malpan.submissions.scoring_config import scoring_config_of
from scoring.recipes import Recipe
from scoring.signature import json_sha256

TOGETHER: Final = ","  # between the names of previews
MOST_DIGITS: Final = 10  # of a number that a form sent and an error repeats


@dataclass(frozen=True, slots=True)
class Preview:
    """``rows`` are the submissions with a finished run in the batch. ``left_out``: live scores that would leave the
    board, as they are not in the batch and the rule changes. The ``hidden_*`` are empty without a private split.
    ``is_composite``: a composite ranks before or after; the scores of ``moves`` are composites where one does.
    ``ranked_by``: the scores that rank, the final score or the parts of the composite. ``histogram`` is of the final
    scores of submissions or, where a composite ranks before and after, of the teams' composites; then a closed batch
    has none, as its boards are not computed again, and the private split neither. ``spreads``: of scores of which a
    file was scored several times by the rule before or that of the batch; ``changes`` do not count differences within.
    """

    recipe: Recipe
    rows: tuple[Scored, ...]
    changes: tuple[Change, ...]
    histogram: Histogram | None
    moves: tuple[RankMove, ...]
    prize_moves: tuple[RankMove, ...]
    left_out: int
    hidden_changes: tuple[Change, ...]
    hidden_histogram: Histogram | None
    is_composite: bool
    ranked_by: tuple[str, ...]
    spreads: Mapping[str, float]

    @property
    def has_hidden(self) -> bool:
        return bool(self.hidden_changes)

    @property
    def score_names(self) -> tuple[str, ...]:
        return tuple(column.key for column in self.recipe.columns)

    @property
    def seen(self) -> str:
        """``COUNT-SHA256``: how many submissions, and of all that applying would change, each score before and after,
        each team's place before and after, and what leaves the board. Names and spreads are no part of it.
        """
        content = {
            "rows": [
                [row.submission_id, row.team_id, row.before, row.after, row.hidden_before, row.hidden_after]
                for row in self.rows
            ],
            "moves": [
                [each.team_id, each.before, each.after, each.score_before, each.score_after, each.crossed]
                for each in self.moves
            ],
            "left_out": self.left_out,
        }
        return f"{len(self.rows)}-{json_sha256(content)}"


def require_seen(batch: RescoreBatch, seen: str) -> None:
    """Raise ``BatchPreviewOutdated`` unless ``seen`` is that of the preview as it is now; ``BatchPreviewGrew`` if the
    number of submissions is another. Call it with the batch locked.
    """
    current = preview(batch).seen
    if seen == current:
        return
    before, now = seen.partition("-")[0], current.partition("-")[0]
    if before.isascii() and before.isdecimal() and len(before) < MOST_DIGITS and before != now:
        raise BatchPreviewGrew(before=before, now=now)
    raise BatchPreviewOutdated


def require_all_seen(held: Sequence[RescoreBatch], seen: str) -> None:
    """As ``require_seen``, of batches that are applied together: ``seen`` has those of all, as ``seen_together``."""
    texts = seen.split(TOGETHER)
    if len(texts) != len(held):
        raise BatchPreviewOutdated
    for batch, text in zip(held, texts, strict=True):
        require_seen(batch, text)


def seen_together(found: Iterable[Preview]) -> str:
    """What names the previews of batches that are applied together, in the order of their numbers."""
    return TOGETHER.join(each.seen for each in found)


def preview(batch: RescoreBatch) -> Preview:
    """The preview of a batch from its current runs; a few queries. A closed batch has no moves."""
    fresh = _finished(batch)
    recipe = recipe_named(next((run.recipe for run in fresh.values()), batch.phase.track.recipe))
    earlier = _before(batch, fresh)
    rows = tuple(_rows(fresh, earlier))
    scores = [column.key for column in recipe.columns]
    spreads = spreads_of(batch.phase, {run.signature_hash for run in (*fresh.values(), *earlier.values())})
    moves, left_out = _moves(batch, fresh, recipe) if batch.is_open else ((), 0)
    rules = rule_of(batch.phase), rule_of(batch.phase, recipe)
    is_composite = any(rule.is_composite for rule in rules)
    hidden = [] if is_composite else [delta for row in rows if (delta := row.hidden_delta()) is not None]
    return Preview(
        recipe=recipe,
        rows=rows,
        changes=tuple(deltas.changes(rows, scores, spreads=spreads)),
        histogram=_histogram(rules, rows, moves),
        moves=moves,
        prize_moves=tuple(move for move in moves if move.crossed),
        left_out=left_out,
        hidden_changes=tuple(deltas.changes(rows, scores, is_private=True, spreads=spreads)),
        hidden_histogram=deltas.histogram(hidden) if hidden else None,
        is_composite=is_composite,
        ranked_by=tuple(part.score for part in rules[1].components) or (deltas.FINAL,),
        spreads=spreads,
    )


def _histogram(rules: tuple[Rule, Rule], rows: Iterable[Scored], moves: Iterable[RankMove]) -> Histogram | None:
    """How much what ranks changes; ``None`` where a composite ranks and there is nothing to compare it with."""
    if not any(rule.is_composite for rule in rules):
        return deltas.histogram(delta for row in rows if (delta := row.delta()) is not None)
    found = [delta for move in moves if move.is_ranked and (delta := move.delta) is not None]
    return deltas.histogram(found) if found and all(rule.is_composite for rule in rules) else None


def _moves(batch: RescoreBatch, fresh: Mapping[int, ScoringRun], recipe: Recipe) -> tuple[tuple[RankMove, ...], int]:
    """Every team's rank before and after, and how many live scores would leave the board."""
    phase = batch.phase
    live = live_runs(phase)
    after = {**live, **{pk: run for pk, run in fresh.items() if pk in live or _is_new(run)}}
    entries = _comparable_after(after, scoring_config_of(phase, batch).reference_version, recipe)
    shown = public_entries(entries, Release(phase, runs={**live, **fresh}.values()))
    names = {run.submission.team_id: run.submission.team.name for run in after.values()}
    old_recipe = recipe_of(phase.track)
    entries_before = public_entries(comparable_entries(live.values(), old_recipe), Release(phase))
    before, then = _places(entries_before, rule_of(phase, old_recipe)), _places(shown, rule_of(phase, recipe))
    moves = deltas.rank_moves(before, then, names, phase.track.competition.prize_places)
    return tuple(moves), len(after) - len(entries)


def _is_new(run: ScoringRun) -> bool:
    """Whether the run would bring a submission without a score onto the board."""
    return run.submission.live_run_id is None and run.submission.team.disqualified_at is None


def _finished(batch: RescoreBatch) -> dict[int, ScoringRun]:
    """The newest finished run of the batch by submission, with its team."""
    rows = batches.newest_runs(batch).select_related("submission__team", "reference_version")
    rows = rows.defer("signature", "warnings", "coverage", "reference_version__public_ids")
    return {run.submission_id: run for run in rows if run.state == ScoringRun.State.FINISHED}


def _rows(fresh: Mapping[int, ScoringRun], before: Mapping[int, ScoringRun]) -> list[Scored]:
    hidden = _hidden([*(run.pk for run in fresh.values()), *(run.pk for run in before.values())])
    found = []
    for key, run in sorted(fresh.items()):
        old = before.get(key)
        found.append(
            Scored(
                submission_id=key,
                public_id=str(run.submission.public_id),
                team_id=run.submission.team_id,
                team_name=run.submission.team.name,
                submitted_at=run.submission.created_at,
                before=old.scores if old else None,
                after=run.scores,
                hidden_before=hidden.get(old.pk) if old else None,
                hidden_after=hidden.get(run.pk),
            )
        )
    return found


def _before(batch: RescoreBatch, fresh: Mapping[int, ScoringRun]) -> dict[int, ScoringRun]:
    """The run that counts without the batch: the live one or, if it was applied, the newest finished one before."""
    if batch.state != RescoreBatch.State.APPLIED:
        live = Submission.objects.filter(pk__in=list(fresh)).select_related("live_run")
        live = live.defer("live_run__signature", "live_run__warnings", "live_run__coverage")
        return {row.pk: row.live_run for row in live if row.live_run is not None}
    runs = ScoringRun.objects.filter(submission__in=list(fresh), state=ScoringRun.State.FINISHED)
    runs = runs.exclude(batch=batch).exclude(
        batch__state__in=[RescoreBatch.State.RUNNING, RescoreBatch.State.CANCELLED]
    )
    earlier = runs.filter(finished_at__lt=batch.closed_at).defer("signature", "warnings", "coverage")
    return {run.submission_id: run for run in earlier.order_by("submission_id", "pk")}


def _hidden(run_ids: list[int]) -> dict[int, dict[str, float]]:
    return dict(HiddenResult.objects.filter(run__in=run_ids).values_list("run", "scores"))


def _comparable_after(runs: Mapping[int, ScoringRun], version: ReferenceVersion, recipe: Recipe) -> list[ranking.Entry]:
    """The entries of the new board: those with the most common signature of the runs by the new rule."""
    current = [run for run in runs.values() if run.reference_version_id == version.pk and run.recipe == recipe.id]
    signature = ranking.board_signature(map(entry_of, current))
    return [entry_of(run) for run in runs.values() if run.signature_hash == signature]


def _places(entries: list[ranking.Entry], rule: Rule) -> dict[int, Place]:
    """The teams of a board. A place has the scores that decide it: others may go with a recipe that changes."""
    names = tuple(part.score for part in rule.components) or (deltas.FINAL, *rule.tie_breaks)
    return {
        ranked.entry.team_id: Place(
            rank=ranked.rank,
            score=ranked.entry.final_score if ranked.composite is None else ranked.composite.value,
            submission_id=ranked.entry.submission_id,
            scores=_of_names({**ranked.entry.scores, deltas.FINAL: ranked.entry.final_score}, names),
        )
        for ranked in ranking.rank(entries, rule)
    }


def _of_names(scores: Mapping[str, float], names: Iterable[str]) -> dict[str, float]:
    return {name: scores[name] for name in names if name in scores}
