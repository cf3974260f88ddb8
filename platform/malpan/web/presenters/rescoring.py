"""The page of a rescoring batch: progress, figures of the preview, numeric noise, in the reader's language."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from django.utils.translation import gettext as _

from malpan.competitions.models import ReferenceVersion, Track
from malpan.core.messages import text_of_code
from malpan.leaderboard.rescore_preview import Preview, preview
from malpan.submissions.models import RescoreBatch, ScoringRun
from malpan.submissions.rescoring import batches, deltas, orders
from malpan.submissions.rescoring.batches import BatchProgress
from malpan.submissions.rescoring.deltas import Change, Histogram, RankMove, Scored
from malpan.submissions.rescoring.letters import text_of_refusal
from malpan.web.plots import bars as plots
from malpan.web.presenters import composites, scores
from malpan.web.presenters.spread import preview_note
from scoring.cards import card_for, judge_metrics_of
from scoring.recipes import Column, get_recipe

SHOWN_ROWS: Final = 200
State = RescoreBatch.State


@dataclass(frozen=True, slots=True)
class ChangeLine:
    label: str
    count: int
    changed: int
    mean: str
    minimum: str
    maximum: str


@dataclass(frozen=True, slots=True)
class MoveLine:
    move: RankMove
    score_before: str
    score_after: str
    delta: str


@dataclass(frozen=True, slots=True)
class RowLine:
    """One submission, and its figures in the order of the headings, each after its heading."""

    row: Scored
    cells: list[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class BarLine:
    span: str
    count: int


@dataclass(frozen=True, slots=True)
class Drawn:
    """A histogram as a plot and as the lines of a table."""

    plot: plots.Bars
    lines: list[BarLine]


@dataclass(frozen=True, slots=True)
class BatchLine:
    """Batches that were started together, by number, or one alone; ``state`` of all, in words. ``is_ordered``: they are
    applied by themselves when their runs are finished.
    """

    together: list[RescoreBatch]
    state: RescoreBatch.State
    is_ordered: bool

    @property
    def batch(self) -> RescoreBatch:
        return self.together[0]


def batch_lines(found: Iterable[RescoreBatch]) -> list[BatchLine]:
    """One line for each batch, but one for those of ``found`` that were started together."""
    lines: dict[object, list[RescoreBatch]] = {}
    for batch in found:
        lines.setdefault(batch.group or batch.pk, []).append(batch)
    ordered = orders.ordered_among(each for line in lines.values() for each in line if each.is_open)
    return [
        BatchLine(
            together=sorted(each, key=_number_of),
            state=batches.common_state([*map(batches.state_of, each)]),
            is_ordered=any(batch.pk in ordered for batch in each),
        )
        for each in lines.values()
    ]


def _number_of(batch: RescoreBatch) -> int:
    return batch.pk


def step_of(state: RescoreBatch.State) -> int:
    """The step of the workflow that a batch is in: 2 scoring, 3 preview, 4 closed."""
    return {State.RUNNING: 2, State.READY: 3}.get(state, 4)


def mark_of(progress: BatchProgress) -> str:
    return f"{progress.finished}.{progress.running}.{progress.queued}.{progress.failed}.{progress.excluded}"


def progress_context(progress: BatchProgress) -> dict[str, Any]:
    return {
        "progress": progress,
        "mark": mark_of(progress),
        "share": progress.finished / progress.total if progress.total else 0.0,
    }


def facts_of(batch: RescoreBatch) -> dict[str, Any]:
    """The failed and the excluded runs, and which submissions the batch selects."""
    newest = batches.newest_runs(batch).select_related("submission__team")
    excluded = batches.excluded_of(batch)
    left_out = batch.phase.submissions.filter(pk__in=[int(key) for key in excluded]).select_related("team")
    return {
        "failed_runs": [(run, text_of_code(run.error_code)) for run in newest if run.state == ScoringRun.State.FAILED],
        "excluded_rows": [(submission, excluded[str(submission.pk)]) for submission in left_out],
        "selection": batches.Selection.from_json(batch.selection),
        "selected_teams": batch.competition.teams.filter(pk__in=batch.selection.get("teams", [])),
    }


def part_context(batch: RescoreBatch, minimum: str) -> dict[str, Any]:
    """What the page shows of one batch: its progress, its runs, and the preview or the spread if there is one."""
    state = batches.state_of(batch)
    context = {"batch": batch, "state": state, "is_open": batch.is_open, "is_repeat": batch.repeats > 1}
    context |= progress_context(batches.progress_of(batch)) | facts_of(batch) | {"items": batches.item_counts(batch)}
    if batch.repeats > 1:
        return context | spread_context(batch)
    return context if state == State.RUNNING else context | preview_context(batch, minimum)


def together_context(held: Sequence[RescoreBatch], parts: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """What the page says of all batches that are applied together."""
    found = [part["progress"] for part in parts]
    return {
        "held": held,
        "finished": sum(progress.finished for progress in found),
        "can_cancel": held[0].repeats == 1 or any(progress.unfinished or progress.failed for progress in found),
        "is_new_rule": any(each.reference_version or each.recipe or each.profile for each in held),
        "corrected": corrected_by(held),
    }


def corrected_by(held: Sequence[RescoreBatch]) -> list[ReferenceVersion]:
    """The references that become current when ``held`` are applied, and say what they correct."""
    versions = [each.reference_version for each in held if each.reference_version is not None]
    return [version for version in versions if not version.is_current and version.erratum_ko.strip()]


def order_context(batch: RescoreBatch) -> dict[str, Any]:
    """The newest order to apply the batch by itself, why it was refused, if it was, and what the page adds to the
    address that it polls where one waits.
    """
    order = orders.last_order(batch)
    return {
        "order": order,
        "order_refusal": "" if order is None else text_of_refusal(order),
        "ordered": "&ordered" if order is not None and order.is_waiting else "",
    }


def preview_context(batch: RescoreBatch, minimum: str) -> dict[str, Any]:
    """The preview; ``minimum`` is the smallest change to list, on the scale of the board."""
    found = preview(batch)
    track = batch.phase.track
    least = _number(minimum) / track.score_scale
    rows = deltas.at_least(found.rows, 2 * deltas.NOISE if found.is_composite else least, found.ranked_by)
    columns = {column.key: column for column in found.recipe.columns}
    main = columns[deltas.FINAL]
    ranking = composites.COLUMN if found.is_composite else main
    return {
        "preview": found,
        "changes": [_change(change, columns, track) for change in found.changes],
        "hidden_changes": [_change(change, columns, track) for change in found.hidden_changes],
        "drawn": _drawn(found.histogram, ranking, track),
        "hidden_drawn": _drawn(found.hidden_histogram, main, track),
        "moves": [_move(move, ranking, track) for move in found.moves if move.moves],
        "prize_moves": [_move(move, ranking, track) for move in found.prize_moves],
        "pushed_teams": [move.team_name for move in found.moves if move.moves and not move.is_own],
        **(_composite_context(found, rows, least, track) if found.is_composite else _plain_context(found, rows, batch)),
        "row_count": len(rows),
        "shown_rows": SHOWN_ROWS,
        "minimum": minimum,
        "moved_teams": sum(move.moves for move in found.moves),
        "changed_rows": deltas.count_changed(found.rows, found.ranked_by, spreads=found.spreads),
        "hidden_changed_rows": deltas.count_changed(
            found.rows, found.ranked_by, is_private=True, spreads=found.spreads
        ),
        "spread_note": preview_note(found.spreads, found.recipe, track),
    }


def _composite_context(found: Preview, rows: list[Scored], least: float, track: Track) -> dict[str, Any]:
    """Where a composite ranks: the teams whose composite changes by ``least`` or more, if that is nothing also those
    whose rank alone does, and ``rows`` by its parts, each as ``0.52 → 0.48 (−0.04)`` or, if it is the same, its value.
    """
    columns = {column.key: column for column in found.recipe.columns}
    parts = [columns[name] for name in found.ranked_by if name in columns]
    labels = [_label(columns, part.key) for part in parts]
    changed = deltas.moved_at_least(found.moves, least)
    if not least:
        changed += [move for move in found.moves if move.moves and move not in changed]
    return {
        "team_lines": [_move(move, composites.COLUMN, track) for move in changed[:SHOWN_ROWS]],
        "changed_teams": len(deltas.moved_at_least(found.moves, 0.0)),
        "team_count": len(changed),
        "row_labels": labels,
        "rows": [_row_line(row, labels, [_cell(row, part, track) for part in parts]) for row in rows[:SHOWN_ROWS]],
    }


def _plain_context(found: Preview, rows: list[Scored], batch: RescoreBatch) -> dict[str, Any]:
    """Where the final score ranks: ``rows`` by it."""
    main = next(column for column in found.recipe.columns if column.key == deltas.FINAL)
    track = batch.phase.track
    sides = [_("지금 점수"), _("새 점수")] if batch.is_open else [_("이전 점수"), _("다시 채점한 점수")]
    labels = [*sides, _("차이"), *([_("비공개 차이")] if found.has_hidden else [])]
    lines = [_row_line(row, labels, _cells(row, main, track)) for row in rows[:SHOWN_ROWS]]
    return {"row_labels": labels, "rows": lines}


def _row_line(row: Scored, labels: Sequence[str], cells: Sequence[str]) -> RowLine:
    return RowLine(row, list(zip(labels, cells, strict=False)))


def _cell(row: Scored, part: Column, track: Track) -> str:
    before, after = ((side or {}).get(part.key) for side in (row.before, row.after))
    texts = [scores.score_text(part, value, track) for value in (before, after)]
    if texts[0] == texts[1]:
        return texts[1]
    return f"{texts[0]} → {texts[1]} ({_signed(part, row.delta(part.key), track)})"


def spread_context(batch: RescoreBatch) -> dict[str, Any]:
    """The lowest, highest and mean value of each score over the finished repetitions of each submission."""
    finished = batches.newest_runs(batch).filter(state=ScoringRun.State.FINISHED).select_related("submission__team")
    by_submission: dict[int, list[ScoringRun]] = {}
    for run in finished:
        by_submission.setdefault(run.submission_id, []).append(run)
    track = batch.phase.track
    spreads = []
    for runs in by_submission.values():
        columns = {column.key: column for column in get_recipe(runs[0].recipe).columns}
        lines = [
            (_label(columns, change.score), change, *_texts(change, columns, track))
            for change in deltas.spreads([run.scores for run in runs], columns)
        ]
        spreads.append((runs[0].submission, len(runs), lines))
    names = {name for runs in by_submission.values() for run in runs for name in run.scores}
    return {"spreads": spreads, "is_judged": any(map(_is_judged, names))}


def _is_judged(score: str) -> bool:
    card = card_for(score)
    return card is not None and bool(judge_metrics_of(card))


def _texts(change: Change, columns: dict[str, Column], track: Track) -> tuple[str, str, str]:
    """Lowest, highest, and their difference."""
    column = columns[change.score]
    width = change.maximum - change.minimum
    return (
        scores.score_text(column, change.minimum, track),
        scores.score_text(column, change.maximum, track),
        scores.score_text(column, width, track),
    )


def _change(change: Change, columns: dict[str, Column], track: Track) -> ChangeLine:
    column = columns[change.score]
    mean, least, most = (_signed(column, value, track) for value in (change.mean, change.minimum, change.maximum))
    return ChangeLine(_label(columns, change.score), change.count, change.changed, mean, least, most)


def _label(columns: dict[str, Column], score: str) -> str:
    return columns[score].label(scores.language())


def _move(move: RankMove, main: Column, track: Track) -> MoveLine:
    before, after = (scores.score_text(main, value, track) for value in (move.score_before, move.score_after))
    return MoveLine(move, before, after, _signed(main, move.delta, track))


def _cells(row: Scored, main: Column, track: Track) -> list[str]:
    before = row.before.get(main.key) if row.before else None
    return [
        scores.score_text(main, before, track),
        scores.score_text(main, row.after.get(main.key), track),
        _signed(main, row.delta(), track),
        _signed(main, row.hidden_delta(), track),
    ]


def _drawn(found: Histogram | None, main: Column, track: Track) -> Drawn | None:
    """The bars between the lowest and the highest with a count; ``None`` where nothing changes."""
    if found is None:
        return None
    filled = [place for place, bar in enumerate(found.bars) if bar.count]
    shown = found.bars[filled[0] : filled[-1] + 1] if filled else ()
    lines = [BarLine(_span(bar.low, bar.high, main, track), bar.count) for bar in shown]
    ends = [bar.low for bar in shown] + [bar.high for bar in shown[-1:]]
    edges = [_signed(main, end, track, is_short=True) for end in ends]
    plot = plots.bars([plots.Column(line.span, (line.count,)) for line in lines], edges)
    return None if plot is None else Drawn(plot, lines)


def _span(low: float, high: float, main: Column, track: Track) -> str:
    return " ~ ".join(_signed(main, value, track, is_short=True) for value in (low, high))


def _signed(column: Column, value: float | None, track: Track, *, is_short: bool = False) -> str:
    """A difference with its sign, a true minus as wide as the plus; ``–`` for none."""
    if value is None:
        return "–"
    text = scores.score_text(column, abs(value), track, is_short=is_short)
    is_zero = not any(digit in text for digit in "123456789")
    return text if is_zero else f"{'−' if value < 0 else '+'}{text}"


def _number(text: str) -> float:
    """A number as typed; zero for anything else."""
    try:
        value = float(text)
    except ValueError:
        return 0.0
    return value if value > 0 and value != float("inf") else 0.0
