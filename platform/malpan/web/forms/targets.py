"""The form of a track's baseline and milestones: a row for each, and two empty ones to fill."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, Final

from django import forms
from django.utils.translation import gettext_lazy as _

from malpan.competitions.models import Track, TrackTarget
from malpan.competitions.targets import TARGETS_MAX, targets_of
from scoring.recipes.targets import FINAL_SCORE, LARGEST, Target

_RANGE: Final = _("0부터 1까지의 수를 적어 주십시오. 예: 0.3052")
_LABEL: Final = _("순위표에 보일 이름을 적어 주십시오.")


class TargetForm(forms.Form):
    kind = forms.ChoiceField(label=_("종류"), choices=TrackTarget.Kind.choices, initial=TrackTarget.Kind.MILESTONE)
    score = forms.ChoiceField(label=_("점수"), initial=FINAL_SCORE, required=False)
    value = forms.FloatField(
        label=_("값(0~1, 최종 점수가 아니면 10까지)"),
        min_value=0,
        max_value=LARGEST,
        widget=forms.NumberInput(attrs={"step": "any"}),
        error_messages=dict.fromkeys(("required", "invalid", "min_value", "max_value"), _RANGE),
    )
    label_ko = forms.CharField(label=_("이름"), max_length=60, error_messages={"required": _LABEL})
    label_en = forms.CharField(label=_("이름(영어)"), max_length=60, required=False)
    note_ko = forms.CharField(label=_("참고할 점"), max_length=200, required=False)
    note_en = forms.CharField(label=_("참고할 점(영어)"), max_length=200, required=False)
    is_comparable = forms.BooleanField(label=_("이 트랙의 점수와 비교할 수 있습니다"), initial=True, required=False)

    def __init__(self, *args: Any, scores: Sequence[tuple[str, str]] = (), **options: Any) -> None:
        """``scores`` are the columns of the track's board: key and name."""
        super().__init__(*args, **options)
        field = self.fields["score"]
        assert isinstance(field, forms.ChoiceField)
        field.choices = list(scores)

    def clean(self) -> dict[str, Any]:
        """Without a score named it is the final one, which is at most 1."""
        found = {**self.cleaned_data, "score": self.cleaned_data.get("score") or FINAL_SCORE}
        if found["score"] == FINAL_SCORE and found.get("value", 0) > 1:
            self.add_error("value", _RANGE)
        return found


class _TargetRows(forms.BaseFormSet):
    def targets(self) -> list[Target]:
        """The rows that are filled in and not to be deleted. The service checks conflicts between rows."""
        known = self.initial_form_count()
        filled = [row for place, row in enumerate(self.forms) if place < known or row.has_changed()]
        values = [row.cleaned_data for row in filled if row not in self.deleted_forms]
        return [Target(**{name: row[name] for name in TargetForm.base_fields}) for row in values]


_Rows: Final = forms.formset_factory(
    TargetForm,
    formset=_TargetRows,
    extra=2,
    max_num=TARGETS_MAX,
    absolute_max=2 * TARGETS_MAX,
    can_delete=True,
    can_delete_extra=False,
)


def target_rows(track: Track, scores: Sequence[tuple[str, str]], data: Any = None) -> Any:
    """The rows of ``track``, or those that were sent in ``data``; ``scores`` are those that a row may be of."""
    named = {"scores": scores}
    if data is not None:
        return _Rows(data, form_kwargs=named)
    return _Rows(initial=[asdict(target) for target in targets_of(track)], form_kwargs=named)
