"""Choices of an LLM judge beside the scores of a track: which rubrics it has, and the recipe that this makes."""

from __future__ import annotations

from typing import Final

from django import forms
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from scoring.recipes import RECIPES, RUBRICS, Recipe, UnknownRecipe, get_recipe, judged_id, parts_of, takes_a_judge

_SEPARATOR: Final = "+"
_LABELS: Final[dict[str, Promise]] = {
    "": _("쓰지 않음"),
    "fluency": _("유창성: 문장이 자연스러운가"),
    "faithfulness": _("충실성: 자료와 정답에 어긋나지 않는가"),
    "fluency+faithfulness": _("유창성과 충실성"),
}


def judge_field() -> forms.ChoiceField:
    """Which rubrics a judge answers for a track, as the end of its recipe's id."""
    return forms.ChoiceField(
        label=_("LLM 심사(참고 열)"),
        choices=list(_LABELS.items()),
        required=False,
        help_text=_(
            "모델 프로필의 심사 모델([judge])이 매긴 점수를 참고로 더합니다. 순위에는 쓰지 않습니다. 글로 답하는 채점 "
            "방식에만 둘 수 있고, 점수가 나온 뒤에는 재채점으로 바꿉니다. 충실성 심사에는 정답도 심사 모델에 보냅니다."
        ),
    )


def chosen_rubrics(value: str) -> tuple[str, ...]:
    """The rubrics of a value of ``judge_field``."""
    return tuple(name for name in RUBRICS if name in value.split(_SEPARATOR))


def value_of(recipe_id: str) -> str:
    """The value of ``judge_field`` for a recipe."""
    return _SEPARATOR.join(parts_of(recipe_id)[1])


def may_be_judged(recipe_id: str) -> bool:
    """Whether a judge may read the answers of this recipe, which has none."""
    return takes_a_judge(RECIPES[recipe_id])


def recipes_reading_the_files_of(current: str) -> list[Recipe]:
    """The other recipes that read the same files, without a judge and with that of ``current``, and ``current`` with
    every other choice of rubrics. All recipes, if ``current`` does not exist here any more.
    """
    try:
        shape = get_recipe(current).file_shape
    except UnknownRecipe:
        return list(RECIPES.values())
    base, rubrics = parts_of(current)
    found: list[Recipe] = []
    for each in RECIPES.values():
        choices = [chosen_rubrics(value) for value in _LABELS] if each.id == base else [(), rubrics]
        if each.file_shape == shape:
            found += [get_recipe(judged_id(each.id, names)) for names in choices if not names or takes_a_judge(each)]
    return list({recipe.id: recipe for recipe in found if recipe.id != current}.values())
