"""Fields about composites: the components of a track, one a line."""

from __future__ import annotations

import re
from typing import Any, Final

from django import forms
from django.core.exceptions import ValidationError
from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy as _

from malpan.competitions.composites import COMPONENTS_MAX
from malpan.web.forms.fields import text_area
from malpan.web.presenters.scores import language
from scoring.recipes import Recipe

HELP: Final = _(
    "한 줄에 점수 이름과 가중치 하나씩 적습니다(예: rmse 45). 적으면 지표마다 매긴 순위를 0~1로 바꾸어 가중 평균한 "
    "종합 점수로 팀의 순위를 정합니다. 비우면 채점 방식이 정한 대로 합니다. 점수가 나온 뒤에는 바꿀 수 없습니다."
)
_LINE: Final = re.compile(r"([A-Za-z0-9_]{1,60})[\s=:,]+([0-9]{1,6}(?:\.[0-9]{1,6})?)\s*%?")


class CompositeField(forms.CharField):
    """The components of a composite as ``rmse 45``, one a line; no line: what the recipe says."""

    widget = text_area(4, spellcheck="false")

    def offer(self, recipe: Recipe) -> None:
        """Name the scores of ``recipe`` that may rank in the help text."""
        text = _(
            "%(recipe)s에서 쓸 수 있는 점수: %(scores)s. 다른 채점 방식의 점수는 아래 ‘채점 방식의 규칙’에 있습니다."
        )
        known = {"recipe": recipe.id, "scores": names_of_scores(recipe)}
        self.help_text = format_lazy("{} {}", HELP, text % known)

    def prepare_value(self, value: Any) -> Any:
        if not isinstance(value, list):
            return value
        return "\n".join(f"{row['score']} {row['weight']:g}" for row in value)

    def to_python(self, value: Any) -> Any:
        lines = [line.strip() for line in (super().to_python(value) or "").splitlines()]
        if sum(map(bool, lines)) > COMPONENTS_MAX:
            text = _("종합 순위의 지표는 %(limit)s개까지 둘 수 있습니다. 필요 없는 줄을 지워 주십시오.")
            raise ValidationError(text, params={"limit": COMPONENTS_MAX})
        return [_component(number, line) for number, line in enumerate(lines, 1) if line]

    def has_changed(self, initial: Any, data: Any) -> bool:
        try:
            return bool(self.to_python(data) != (initial or []))
        except ValidationError:
            return True


def names_of_scores(recipe: Recipe) -> str:
    """The scores of ``recipe`` that may rank, each with its name: ``rmse(RMSE), spearman(Spearman)``."""
    columns = {column.key: column for column in recipe.columns}
    return ", ".join(f"{key}({columns[key].label(language())})" for key in recipe.directed_scores)


def _component(number: int, line: str) -> dict[str, Any]:
    found = _LINE.fullmatch(line)
    if found is None:
        text = _(
            "%(number)d번째 줄을 읽을 수 없습니다. ‘rmse 45’나 ‘llm_judge 10’처럼 점수의 영문 이름과 가중치를 띄어 "
            "적어 주십시오. 영문 이름은 지표 안내에 있습니다."
        )
        raise ValidationError(text, params={"number": number})
    weight = float(found[2])
    return {"score": found[1], "weight": int(weight) if weight.is_integer() else weight}
