"""What a campaign is to be like, for the planner."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from malpan.arena.errors import PlanInvalid
from malpan.arena.models import Campaign
from malpan.arena.planning import LIMITS, RANGES, require_plannable
from malpan.core.messages import text_of


class PlannerForm(forms.Form):
    protocol = forms.ChoiceField(
        label=_("평가 방식"), choices=Campaign.Protocol.choices, initial=Campaign.Protocol.PAIRWISE
    )
    systems = forms.IntegerField(
        label=_("평가할 제출"), initial=10, min_value=LIMITS["systems"][0], max_value=LIMITS["systems"][1]
    )
    group = forms.IntegerField(
        label=_("함께 보이는 출력 수"),
        initial=4,
        help_text=_("순위를 매길 때만 씁니다."),
        min_value=LIMITS["group"][0],
        max_value=LIMITS["group"][1],
    )
    judges = forms.IntegerField(
        label=_("평가자"), initial=20, min_value=LIMITS["judges"][0], max_value=LIMITS["judges"][1]
    )
    votes = forms.IntegerField(
        label=_("한 사람의 판단 수"),
        initial=100,
        help_text=_(
            "확인과 되풀이 문항까지 셉니다. 두 배와 절반도 함께 셈하며, 절반이 20개보다 적으면 20개를 셈합니다."
        ),
        min_value=LIMITS["votes"][0],
        max_value=LIMITS["votes"][1],
    )
    items = forms.IntegerField(
        label=_("문항 수"), initial=200, min_value=LIMITS["items"][0], max_value=LIMITS["items"][1]
    )
    spread = forms.FloatField(
        label=_("실력의 차이"),
        initial=0.5,
        widget=forms.NumberInput(attrs={"step": "any"}),
        help_text=_("실력의 표준 편차(로짓)입니다. 0.5면 1표준 편차 차이인 두 팀에서 나은 쪽이 62%를 이깁니다."),
        min_value=RANGES["spread"][0],
        max_value=RANGES["spread"][1],
    )
    tie_percent = forms.IntegerField(
        label=_("‘비슷함’의 비율(%)"),
        initial=20,
        help_text=_("쌍 비교에서 실력이 같은 두 팀을 견줄 때의 비율입니다."),
        min_value=LIMITS["tie_percent"][0],
        max_value=LIMITS["tie_percent"][1],
    )
    order_effect = forms.FloatField(
        label=_("첫째 자리의 이로움"),
        initial=0,
        widget=forms.NumberInput(attrs={"step": "any"}),
        help_text=_("쌍 비교에서 먼저 보이는 출력이 얻는 로짓입니다. 모르면 0으로 둡니다."),
        min_value=RANGES["order_effect"][0],
        max_value=RANGES["order_effect"][1],
    )

    half_width = forms.FloatField(
        label=_("바라는 오차(±)"),
        required=False,
        widget=forms.NumberInput(attrs={"step": "any"}),
        help_text=_("점수의 95% 구간의 반너비입니다. 적으면 판단이 얼마나 있어야 하는지 말합니다."),
        min_value=RANGES["half_width"][0],
        max_value=RANGES["half_width"][1],
    )

    def clean(self) -> dict[str, Any]:
        values: dict[str, Any] = super().clean() or {}
        if not self.errors:
            try:
                require_plannable(**values)
            except PlanInvalid as error:
                self.add_error(error.field, text_of(error))
        return values

    def is_of_pairs(self) -> bool:
        """Whether judges compare outputs, so that strengths are in logits."""
        return self.cleaned_data["protocol"] in (Campaign.Protocol.PAIRWISE, Campaign.Protocol.RANKING)
