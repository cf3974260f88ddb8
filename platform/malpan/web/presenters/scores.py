"""Texts for the names of scoring: columns, stages, coverage, warnings, rules. In the reader's language."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, Final

from django.utils.functional import Promise
from django.utils.translation import get_language, gettext_lazy, ngettext
from django.utils.translation import gettext as _

from malpan.competitions import shown_scores
from malpan.competitions.errors import ReferencesRejected
from malpan.competitions.models import Phase, Track
from malpan.competitions.references import recipe_of
from malpan.competitions.targets import targets_of
from malpan.core.errors import DomainError
from malpan.submissions.errors import HumanScoresRejected
from malpan.submissions.models import ScoringRun, Submission
from malpan.submissions.visibility import ShownRun
from malpan.web.presenters import formatting
from scoring.cards import card_for, load_card
from scoring.composite import COMPARED_DECIMALS
from scoring.errors import FileError, Language, grouped
from scoring.reading.file_formats import FORMAT_LABELS, format_label
from scoring.recipes import ORGANISER_CODES, Column, Recipe, get_recipe, warning_text
from scoring.recipes.essay_scoring import NOTHING_PARSED
from scoring.recipes.targets import FINAL_SCORE, Target, change_percent
from scoring.records import ScoreWarning

COVERAGE: Final[dict[str, Promise]] = {
    "items": gettext_lazy("전체 문항"),
    "answered": gettext_lazy("답을 쓴 문항"),
    "missing": gettext_lazy("답이 없어 0점인 문항"),
    "references": gettext_lazy("정답 설명 수"),
    "reason_gold": gettext_lazy("이유가 있어야 하는 문항"),
    "reason_answered": gettext_lazy("이유를 쓴 문항"),
    "reason_coverage": gettext_lazy("이유 응답률"),
    "multiple_choice": gettext_lazy("선다형 문항"),
    "short_answer": gettext_lazy("단답형 문항"),
    "descriptive": gettext_lazy("서술형 문항"),
}

ROW_PLACES: Final = 3  # lines and ids in a row of the error table; the others are behind a click


def language() -> Language:
    """The reader's language as a ``Language`` of scoring."""
    return "en" if (get_language() or "ko").startswith("en") else "ko"


@dataclass(frozen=True, slots=True)
class Mark:
    """A line across the board: the baseline or a milestone of the track. ``value`` is 0-1."""

    value: float
    text: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class TrackRules:
    """How a track is scored, in the reader's language."""

    recipe_id: str
    title: str
    rule: str
    scale_text: str
    tie_text: str  # who is higher of two that are equal
    compared_text: str  # to which digit they are
    cards: tuple[tuple[str, str], ...]  # (name of a metric's card, its title)
    formula: str = ""  # of the composite that ranks


def rules_of(track: Track, recipe: Recipe) -> TrackRules:
    """The rules of ``track`` by ``recipe``: under the table of the board and under the track on the overview."""
    return TrackRules(
        recipe_id=recipe.id,
        title=recipe.title(language()),
        rule=recipe.rule(language()),
        scale_text=_scale_text(track, recipe),
        tie_text=_tie_text(recipe),
        compared_text=_("점수는 0~1의 값을 소수점 아래 %(digits)d자리까지 견줍니다. 그 아래는 계산 오차입니다.")
        % {"digits": COMPARED_DECIMALS},
        cards=_cards_of(recipe),
    )


def _cards_of(recipe: Recipe) -> tuple[tuple[str, str], ...]:
    names = dict.fromkeys(card for metric in (*recipe.metrics, *recipe.optional_metrics) if (card := card_for(metric)))
    return tuple((name, load_card(name, language()).title) for name in names)


def step_text(phase: Phase) -> str | None:
    """The step of the public scores of ``phase`` on its track's scale; ``None`` if they are shown as computed."""
    if phase.score_step is None:
        return None
    return shown_scores.step_text(phase.score_step, phase.track.score_scale)


def plain_step_text(phase: Phase, recipe: Recipe) -> str:
    """The step of those public scores that are not on the track's scale, with their names; empty where there are none,
    or where the scale is theirs.
    """
    names = unscaled_names(recipe)
    if phase.score_step is None or phase.track.score_scale == 1 or not names:
        return ""
    step = shown_scores.step_text(phase.score_step, 1)
    return _("배율 없이 보이는 점수(%(names)s)는 %(step)s 단위입니다.") % {"names": names, "step": step}


def unscaled_names(recipe: Recipe) -> str:
    """The names of the scores that judge and are shown as they are, not times the scale of the track."""
    plain = [column for column in recipe.columns if not column.is_scaled and column.group == "main"]
    return ", ".join(column.label(language()) for column in plain if column.decimals is None)


def _scale_text(track: Track, recipe: Recipe) -> str:
    if track.score_scale == Track.Scale.PERCENT:
        text = _("점수는 0~100이며(0~1의 값 × 100) 소수점 아래 %(decimals)d자리까지 적습니다.")
    else:
        text = _("점수는 0~1이며 소수점 아래 %(decimals)d자리까지 적습니다.")
    text = text % {"decimals": track.score_decimals}
    names = unscaled_names(recipe)
    if not names:
        return text
    return text + " " + _("다만 %(names)s의 값은 배율 없이 그대로 적으며 이 범위 밖일 수 있습니다.") % {"names": names}


def _tie_text(recipe: Recipe) -> str:
    labels = {column.key: column.label(language()) for column in recipe.columns}
    names = ", ".join(labels.get(key, key) for key in recipe.tie_breaks)
    if not names:
        return _("최종 점수가 같으면 먼저 제출한 팀이 앞섭니다.")
    rule = _("최종 점수가 같으면 %(names)s 점수로 가리고, 그래도 같으면 먼저 제출한 팀이 앞섭니다.")
    return rule % {"names": names}


def marks_of(track: Track, targets: Sequence[Target]) -> list[Mark]:
    """The lines on the board of ``track``, the highest first; then those of other scores."""
    ordered = sorted(targets, key=lambda target: (target.score != FINAL_SCORE, target.score, -target.value))
    return [Mark(target.value, _target_text(target, track), _remark(target)) for target in ordered]


def baseline_of(targets: Sequence[Target]) -> Target | None:
    return next((target for target in targets if target.kind == "baseline"), None)


def change_text(score: float, baseline: Target) -> str:
    """``+14.7%``: how far ``score`` (0-1) is from the baseline."""
    return formatting.percent_text(change_percent(score, baseline.value))


def against_baseline(score: float, baseline: Target) -> str:
    """``기준선 대비 +14.7%``, or ``참고 +14.7%`` where the two cannot be compared: as the cell of a score has it."""
    text = _("기준선 대비 %(change)s") if baseline.is_comparable else _("참고 %(change)s")
    return text % {"change": change_text(score, baseline)}


def _target_text(target: Target, track: Track) -> str:
    label = target.label(language())
    if target.score == FINAL_SCORE:
        return f"{label} {plain_score(target.value, track)}"
    column = next((column for column in recipe_of(track).columns if column.key == target.score), None)
    is_plain = column is not None and not column.is_scaled
    value = f"{target.value:.2f}" if is_plain else plain_score(target.value, track)
    return f"{column.label(language()) if column else target.score} {label} {value}"


def _remark(target: Target) -> str:
    """What to know before comparing with ``target``."""
    note = target.note(language())
    if target.is_comparable:
        return note
    return _("비교 불가: %(note)s") % {"note": note} if note else _("비교 불가")


def plain_score(value: float, track: Track) -> str:
    """A number of a rule on the scale of ``track``, without trailing zeros beyond three decimals."""
    return f"{value * track.score_scale:.4f}".removesuffix("0")


def progress_of(run: ScoringRun | ShownRun, track: Track) -> list[str]:
    """How far the final score of ``run`` is from the track's baseline and which milestones it reached."""
    score = run.final_score
    if score is None:
        return []
    lines = []
    targets = targets_of(track)
    if baseline := baseline_of(targets):
        change = {"target": _target_text(baseline, track), "change": change_text(score, baseline)}
        remark = _remark(baseline)
        lines.append(_("%(target)s 대비 %(change)s") % change + (f" ({remark})" if remark else ""))
    milestones = [target for target in targets if target.kind == "milestone"]
    for key in dict.fromkeys((FINAL_SCORE, *(target.score for target in milestones))):
        own = score if key == FINAL_SCORE else run.scores.get(key)
        if own is not None:
            lines += _milestone_lines([target for target in milestones if target.score == key], own, track)
    return lines


def _milestone_lines(milestones: Sequence[Target], score: float, track: Track) -> list[str]:
    """Which of ``milestones``, the lowest first, ``score`` has reached, and the next one."""
    reached = [_target_text(target, track) for target in milestones if score >= target.value]
    ahead = [_target_text(target, track) for target in milestones if score < target.value]
    lines = [_("도달한 이정표: %(values)s") % {"values": ", ".join(reached)}] if reached else []
    return [*lines, _("다음 이정표: %(value)s") % {"value": ahead[0]}] if ahead else lines


def score_text(
    column: Column, value: float | None, track: Track, step: Decimal | None = None, *, is_short: bool = False
) -> str:
    """A score as the pages of ``track`` show it; ``is_short`` for the second line of a phone. ``step``: what it is
    rounded to, if it is.
    """
    if not is_short or column.decimals is not None:
        return shown_scores.score_text(column, value, track, step)
    scale = shown_scores.scale_of(column, track)
    decimals = shown_scores.fewest_decimals(formatting.SHORT_DECIMALS[scale], scale, step)
    return shown_scores.scaled_text(value, scale, decimals)


def caption_formats() -> list[str]:
    """The name of every format in which captions are read."""
    return [name.text(language()) for name in FORMAT_LABELS.values()]


def file_format(submission: Submission) -> str:
    """The detected format of the file; empty for one from before formats were stored."""
    return format_label(submission.file_format, language())


def is_demo(run: ScoringRun | ShownRun, key: str) -> bool:
    """Whether the demo models took part in the score ``key`` of ``run``."""
    return run.is_demo_models and key in get_recipe(run.recipe).model_scores


def stage_label(recipe: str, stage: str) -> str:
    """What the worker is computing now: the label of a metric, or the stage's own name."""
    return get_recipe(recipe).metric_label(stage, language())


def warnings_of(submission: Submission, run: ShownRun | None) -> list[str]:
    """What the check of the file warned of, then what its score ``run`` adds for its reader, as sentences."""
    first = [row for row in submission.file_warnings if row["code"] not in ORGANISER_CODES]
    told = {row["code"] for row in first}
    return _sentences([*first, *(row for row in (run.warnings if run else ()) if row["code"] not in told)])


def told_warnings(rows: Iterable[Mapping[str, Any]]) -> list[str]:
    """What the check of a file warned of, as sentences; without what only organisers are told."""
    return _sentences([row for row in rows if row["code"] not in ORGANISER_CODES])


def is_unreadable(submission: Submission) -> bool:
    """Whether not one answer of the file could be read."""
    return any(row["code"] == NOTHING_PARSED for row in submission.file_warnings)


def _sentences(rows: Iterable[Mapping[str, Any]]) -> list[str]:
    return [warning_text(ScoreWarning(row["code"], row.get("params", {})), language()) for row in rows]


def coverage_of(coverage: Mapping[str, Any], items_label: str = "") -> list[tuple[str, str]]:
    """(label, value) pairs in the order of ``COVERAGE``; a share is written as a percentage.

    ``items_label`` is for the number of items, where they are not all items of the phase.
    """
    labels = {key: str(label) for key, label in COVERAGE.items()}
    labels["items"] = items_label or labels["items"]
    return [(label, _coverage_value(coverage[key])) for key, label in labels.items() if key in coverage]


def public_items_label(submission: Submission) -> str:
    """What the items of a public score are called, beside the number of items that the team's own file holds."""
    text = ngettext(
        "공개 문항(제출한 파일은 %(count)d문항)", "공개 문항(제출한 파일은 %(count)d문항)", submission.item_count
    )
    return text % {"count": submission.item_count}


def private_items_label(phase: Phase) -> str:
    """What the scores are called that decide the final ranking of a split phase, after the items they are of."""
    return _("모든 문항의 점수") if phase.private_covers_all else _("비공개 문항의 점수")


def _coverage_value(value: float | int) -> str:
    return f"{value * 100:.1f}%" if isinstance(value, float) else f"{value:,}"


@dataclass(frozen=True, slots=True)
class ErrorTable:
    """The rows of the error table, and how many errors are in them. ``has_lines``: lines tell errors apart."""

    rows: list[dict[str, Any]]
    shown: int
    has_lines: bool

    def __bool__(self) -> bool:
        return bool(self.rows)


def located_errors(errors: Iterable[FileError]) -> ErrorTable:
    """The table of ``errors``: those that say the same of several items are one row, which opens to all places."""
    groups = grouped(errors)
    has_lines = _has_lines([error for group in groups for error in group])
    return ErrorTable([_row(group, has_lines) for group in groups], sum(map(len, groups)), has_lines)


def _has_lines(errors: Sequence[FileError]) -> bool:
    """Whether some line is not the first: in a file of one line it is that of every item. It is kept where it is all
    that says where an item without an id stands.
    """
    on_first = {error.item_id for error in errors if error.line == 1}
    return any((error.line or 1) > 1 for error in errors) or on_first == {None}


def _row(group: Sequence[FileError], has_lines: bool) -> dict[str, Any]:
    """The first error of a group, with the first lines and ids, and with every place where there are more."""
    lines, ids = [str(error.line) for error in group if error.line], [each.item_id for each in group if each.item_id]
    places = [f"{each.item_id or ''} ({each.line or '–'})" for each in group] if has_lines else ids
    more = places if len(group) > ROW_PLACES else []
    return _located(group[0]) | {"lines": _first(lines), "ids": _first(ids), "count": len(group), "places": more}


def _first(texts: Sequence[str]) -> str:
    return ", ".join(texts[:ROW_PLACES]) + (" …" if len(texts) > ROW_PLACES else "")


def rejected_file(error: DomainError | None) -> dict[str, Any]:
    """The context of the error table of a refused file of an organiser (reference answers, scores of people), without
    the official messages: those are about submissions.
    """
    if not isinstance(error, ReferencesRejected | HumanScoresRejected):
        return {"errors": located_errors(()), "total": 0}
    table = located_errors(error.errors)
    rows = [row | {"official": None} for row in table.rows]
    return {"errors": replace(table, rows=rows), "total": error.total}


def _located(error: FileError) -> dict[str, Any]:
    try:
        return error.as_dict(language())
    except KeyError:  # stored by an earlier version with other codes or params
        text = _("예전 판의 검사에서 찾은 오류입니다(%(code)s). 파일을 다시 올리면 자세히 알려 드립니다.")
        place = {"code": error.code, "line": error.line, "id": error.item_id, "field": error.field}
        return place | {"official": None, "message": text % {"code": error.code}}
