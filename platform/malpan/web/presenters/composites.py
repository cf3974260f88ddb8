"""Composites in words and numbers: the formula under a board, which submission counts, the parts of one composite."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Final

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from malpan.competitions.composites import components_of
from malpan.competitions.errors import RecipeNotInstalled
from malpan.competitions.models import Phase, Track
from malpan.competitions.references import recipe_of
from malpan.leaderboard.boards import COMPOSITE, BoardRow, View
from malpan.leaderboard.published import published_board
from malpan.leaderboard.selectors import board
from malpan.submissions.models import Submission
from malpan.submissions.visibility import ShownRun
from malpan.web.presenters import scores
from malpan.web.presenters.scores import TrackRules
from scoring.composite import COMPARED_DECIMALS, Component, Composite, Part
from scoring.errors import Message
from scoring.recipes import Column, Recipe, UnknownRecipe, get_recipe

COLUMN: Final = Column(COMPOSITE, Message("종합 점수", "Composite"), is_main=True)
FINAL_SCORE: Final = "final_score"


@dataclass(frozen=True, slots=True)
class PartLine:
    """One part of a composite: ``rank`` as ``3.5위``, ``normalised`` from 0 to 1."""

    label: str
    value: str
    rank: str
    normalised: str
    weight: str


@dataclass(frozen=True, slots=True)
class TeamComposite:
    """The composite of a team on the board now. ``counts``: it is made of the submission that is asked about; else
    ``counted`` is the public id of the one that it is made of.
    """

    value: str
    rank: int | None
    parts: list[PartLine]
    counts: bool
    counted: str


def board_columns(recipe: Recipe, components: Sequence[Component]) -> tuple[Column, ...]:
    """The columns of a board that ranks by ``components``: the composite, its parts, the others. A final score that
    ranks nobody is shown for reference.
    """
    columns = {column.key: replace(column, is_main=False) for column in recipe.columns}
    parts = [replace(columns.pop(each.score), group="main") for each in components if each.score in columns]
    others = [replace(each, group="reference") if each.key == FINAL_SCORE else each for each in columns.values()]
    return COLUMN, *parts, *others


def score_columns(run: ShownRun, track: Track, values: Mapping[str, float]) -> tuple[Column, ...]:
    """The columns of a result of ``track``: those of its recipe, the parts of a composite first where one ranks; then
    those that depend on what was scored.
    """
    recipe = get_recipe(run.recipe)
    components = components_of(track, recipe)
    columns = board_columns(recipe, components)[1:] if components else recipe.columns
    return (*columns, *recipe.further_columns(values))


def formula_text(components: Sequence[Component], recipe: Recipe) -> str:
    """How the composite is computed, with its weights; empty where none ranks."""
    if not components:
        return ""
    text = _("종합 점수 = 지표별 (팀 수 − 순위) ÷ (팀 수 − 1)의 가중 평균. 가중치: %(weights)s.")
    return text % {"weights": weights_text(components, recipe)}


def _directed(component: Component, recipe: Recipe) -> str:
    """The name of a component, which says so where lower is better."""
    name, words = _labels(recipe).get(component.score, component.score), _("낮을수록 좋음")
    is_said = component.higher_is_better or words in name
    return name if is_said else _("%(name)s(낮을수록 좋음)") % {"name": name}


def formula_details(components: Sequence[Component]) -> list[str]:
    """What ``formula_text`` leaves out, a sentence each: ties, a single team, components without values."""
    if not components:
        return []
    return [
        _("순위는 지표마다 매기며 값이 같으면 평균 순위입니다."),
        _("팀이 하나면 1이고, 아직 아무 팀도 값이 없는 지표는 뺍니다."),
        _("다른 팀의 점수가 바뀌면 종합 점수도 바뀝니다."),
    ]


def weights_text(components: Sequence[Component], recipe: Recipe) -> str:
    """``RMSE(낮을수록 좋음) 45, Spearman 45``."""
    return ", ".join(f"{_directed(each, recipe)} {each.weight:g}" for each in components)


def weights_of(track: Track) -> str:
    """The weights of the composite of ``track``; empty where none ranks, or without its recipe."""
    recipe = _recipe_or_none(track)
    return "" if recipe is None else weights_text(components_of(track, recipe), recipe)


def counting_of(phase: Phase) -> str:
    """Which submission of a team is on the public board of ``phase`` and which on the final one; empty without the
    recipe.
    """
    recipe = _recipe_or_none(phase.track)
    if recipe is None:
        return ""
    components = components_of(phase.track, recipe)
    texts = [rule(phase, components, recipe) for rule in (counting_text, final_counting_text)]
    return " ".join(dict.fromkeys(texts))


def counting_name(phase: Phase) -> str:
    """The same as a name: ``가장 최근 제출``, ``가장 좋은 제출(RMSE), 최종은 팀이 고른 2건 가운데``."""
    recipe = _recipe_or_none(phase.track)
    components = () if recipe is None else components_of(phase.track, recipe)
    name = str(Phase.Counting.BEST.label)
    if recipe is not None and components:
        if phase.counting != Phase.Counting.BEST:
            return phase.get_counting_display()
        score = phase.counting_score or FINAL_SCORE
        name = f"{name}({_labels(recipe).get(score, score)})"
    if phase.finals_limit is None:
        return name
    return _("%(name)s, 최종은 팀이 고른 %(limit)d건 가운데") % {"name": name, "limit": phase.finals_limit}


def counting_text(phase: Phase, components: Sequence[Component], recipe: Recipe) -> str:
    """Which submission of a team is on the public board."""
    if not components and phase.finals_limit is not None:
        return _("공개 순위표에는 팀마다 공개 점수가 가장 높은 제출 하나가 올라갑니다.")
    if not components:
        return _("팀마다 가장 높은 제출 하나가 올라갑니다.")
    if phase.counting == Phase.Counting.LATEST:
        return _("팀마다 점수가 나온 제출 가운데 가장 최근 것 하나가 반영됩니다.")
    if phase.counting == Phase.Counting.CHOSEN:
        return _(
            "팀마다 최종 제출로 고른 제출 하나가 반영됩니다. 고르지 않은 팀은 점수가 나온 제출 가운데 가장 최근 것이 "
            "반영됩니다."
        )
    name = _labels(recipe).get(phase.counting_score or FINAL_SCORE, phase.counting_score)
    if phase.finals_limit is not None:
        return _("공개 순위표에는 팀마다 ‘%(score)s’ 점수가 가장 좋은 제출 하나가 반영됩니다.") % {"score": name}
    return _("팀마다 ‘%(score)s’ 점수가 가장 좋은 제출 하나가 반영됩니다.") % {"score": name}


def final_counting_text(phase: Phase, components: Sequence[Component], recipe: Recipe) -> str:
    """Which submission of a team is on the final board."""
    if phase.finals_limit is None or (components and phase.counting != Phase.Counting.BEST):
        return counting_text(phase, components, recipe)
    limit = ngettext(
        "최종 순위를 위해 팀은 단계가 끝날 때까지 제출을 %(limit)d건까지 고릅니다.",
        "최종 순위를 위해 팀은 단계가 끝날 때까지 제출을 %(limit)d건까지 고릅니다.",
        phase.finals_limit,
    ) % {"limit": phase.finals_limit}
    if not components:
        rule = _(
            "고른 제출 가운데 최종 순위를 정하는 점수가 가장 높은 것 하나가 반영되고, 고르지 않은 팀은 공개 점수가 "
            "가장 높은 제출이 반영됩니다."
        )
        return f"{limit} {rule}"
    name = _labels(recipe).get(phase.counting_score or FINAL_SCORE, phase.counting_score)
    rule = _(
        "최종 순위에는 팀이 고른 제출 가운데 최종 채점에서 ‘%(score)s’ 점수가 가장 좋은 것 하나가 반영됩니다. 고르지 "
        "않은 팀은 공개 순위표에서 ‘%(score)s’ 점수가 가장 좋은 제출이 반영됩니다."
    ) % {"score": name}
    return f"{limit} {rule}"


def rules_of(track: Track) -> TrackRules:
    """The rules of ``track`` (``scores.rules_of``), with the formula of the composite if one ranks."""
    recipe = recipe_of(track)
    return board_rules(track, recipe, components_of(track, recipe))


def board_rules(track: Track, recipe: Recipe, components: Sequence[Component]) -> TrackRules:
    """The rules of a board by ``recipe`` and ``components``, which an earlier one has of its own."""
    rules = scores.rules_of(track, recipe)
    if not components:
        return rules
    return replace(
        rules,
        tie_text=_("종합 점수가 같으면 먼저 제출한 팀이 앞섭니다."),
        compared_text=_(
            "지표의 값과 종합 점수는 화면의 배율을 곱하기 전의 값을 소수점 아래 %(digits)d자리까지 견줍니다."
        )
        % {"digits": COMPARED_DECIMALS},
        formula=formula_text(components, recipe),
    )


def rank_text(rank: float) -> str:
    """``3.5위``: an average rank."""
    return _("%(rank)s위") % {"rank": f"{rank:.1f}".removesuffix(".0")}


def part_text(part: Part) -> str:
    """Rank and normalised rank beside a value: ``3.5위 · 0.500``."""
    return f"{rank_text(part.rank)} · {part.normalised:.3f}"


def named_part(part: Part, recipe: Recipe) -> str:
    return f"{_labels(recipe).get(part.score, part.score)} {part_text(part)}"


def value_text(value: float | None, track: Track) -> str:
    return scores.score_text(COLUMN, value, track)


def part_lines(composite: Composite, recipe: Recipe, track: Track) -> list[PartLine]:
    columns = {column.key: column for column in recipe.columns}
    return [
        PartLine(
            label=columns[part.score].label(scores.language()) if part.score in columns else part.score,
            value=scores.score_text(columns.get(part.score, COLUMN), part.value, track),
            rank=rank_text(part.rank),
            normalised=f"{part.normalised:.3f}",
            weight=f"{part.weight:g}",
        )
        for part in composite.parts
    ]


def raw_text(recipe_id: str, values: Mapping[str, float], track: Track, step: Decimal | None = None) -> str:
    """The values that a submission brings to its team's composite: ``RMSE 0.5 · Spearman 0.6``. Empty where the final
    score ranks. Unlike the composite they do not change with other teams. ``step``: what they are rounded to.
    """
    try:
        recipe = get_recipe(recipe_id)
    except UnknownRecipe:
        return ""
    columns = {column.key: column for column in recipe.columns}
    shown = [columns[each.score] for each in components_of(track, recipe) if each.score in columns]
    texts = [
        f"{column.label(scores.language())} "
        f"{scores.score_text(column, values.get(column.key), track, step, is_short=True)}"
        for column in shown
    ]
    return " · ".join(text.replace(" ", "\N{NO-BREAK SPACE}") for text in texts)


def composite_now(submission: Submission) -> TeamComposite | None:
    """The composite that the team of ``submission`` has on the board that everybody sees now; ``None`` without one."""
    phase, only_own = submission.phase, View(limit=0)
    found = published_board(phase, viewer_team=submission.team, view=only_own)
    found = found or board(phase, viewer_team=submission.team, view=only_own)
    own: BoardRow | None = found.own_row
    if own is None or own.composite is None:
        return None
    return TeamComposite(
        value=value_text(own.composite.value, phase.track),
        rank=own.rank,
        parts=part_lines(own.composite, found.recipe, phase.track),
        counts=own.submission_name == str(submission.public_id),
        counted=own.submission_name,
    )


def scores_of_composite(track: Track) -> list[tuple[str, str]]:
    """Key and name of every score of ``track`` with a direction if it ranks by a composite; else, or without its
    recipe, nothing.
    """
    recipe = _recipe_or_none(track)
    if recipe is None or not components_of(track, recipe):
        return []
    labels = _labels(recipe)
    return [(key, labels[key]) for key in recipe.directed_scores]


def _recipe_or_none(track: Track) -> Recipe | None:
    try:
        return recipe_of(track)
    except RecipeNotInstalled:
        return None


def _labels(recipe: Recipe) -> dict[str, str]:
    return {column.key: column.label(scores.language()) for column in recipe.columns}
