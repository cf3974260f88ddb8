"""Fields about composites: the components of a track, one a line."""

from __future__ import annotations

import re
from typing import Any, Final

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _

from malpan.competitions.composites import COMPONENTS_MAX
from malpan.web.forms.fields import text_area

_LINE: Final = re.compile(r"([A-Za-z0-9_]{1,60})[\s=:,]+([0-9]{1,6}(?:\.[0-9]{1,6})?)\s*%?")


class CompositeField(forms.CharField):
    """The components of a composite as ``rmse 45``, one a line; no line: what the recipe says."""

    widget = text_area(4, spellcheck="false")

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
