"""What a campaign is to be like, for the planner."""

from __future__ import annotations

from typing import Any, Final

from django import forms
from django.utils.translation import gettext as _t
from django.utils.translation import gettext_lazy as _

from malpan.arena.models import Campaign
from malpan.arena.planning import STEPS

VOTES_MOST: Final = 12_000  # of all judges in the longest row, so that an answer takes seconds


class PlannerForm(forms.Form):
    protocol = forms.ChoiceField(
        label=_("평가 방식"), choices=Campaign.Protocol.choices, initial=Campaign.Protocol.PAIRWISE
    )
    systems = forms.IntegerField(label=_("평가할 제출"), min_value=2, max_value=30, initial=10)
    group = forms.IntegerField(
        label=_("함께 보이는 출력 수"),
        min_value=3,
        max_value=8,
        initial=4,
        help_text=_("순위를 매길 때만 씁니다."),
    )
    judges = forms.IntegerField(label=_("평가자"), min_value=2, max_value=100, initial=20)
    votes = forms.IntegerField(
        label=_("한 사람의 판단 수"),
        min_value=20,
        max_value=500,
        initial=100,
        help_text=_("확인과 되풀이 문항까지 셉니다. 그 절반과 두 배도 함께 셈합니다."),
    )
    items = forms.IntegerField(label=_("문항 수"), min_value=10, max_value=2000, initial=200)
    spread = forms.FloatField(
        label=_("실력의 차이"),
        min_value=0.05,
        max_value=3,
        initial=0.5,
        widget=forms.NumberInput(attrs={"step": "any"}),
        help_text=_("실력의 표준 편차(로짓)입니다. 0.5면 1표준 편차 차이인 두 팀에서 나은 쪽이 62%를 이깁니다."),
    )
    tie_percent = forms.IntegerField(
        label=_("‘비슷함’의 비율(%)"),
        min_value=0,
        max_value=80,
        initial=20,
        help_text=_("쌍 비교에서 실력이 같은 두 팀을 견줄 때의 비율입니다."),
    )
    order_effect = forms.FloatField(
        label=_("첫째 자리의 이로움"),
        min_value=-2,
        max_value=2,
        initial=0,
        widget=forms.NumberInput(attrs={"step": "any"}),
        help_text=_("쌍 비교에서 먼저 보이는 출력이 얻는 로짓입니다. 모르면 0으로 둡니다."),
    )

    def clean(self) -> dict[str, Any]:
        values: dict[str, Any] = super().clean() or {}
        if {"judges", "votes"} <= values.keys() and values["judges"] * values["votes"] * max(STEPS) > VOTES_MOST:
            text = _t("평가자 수와 판단 수를 곱한 값이 %(limit)d을(를) 넘지 않게 적어 주십시오.")
            self.add_error("votes", text % {"limit": VOTES_MOST // max(STEPS)})
        is_ranking = values.get("protocol") == Campaign.Protocol.RANKING
        if is_ranking and {"systems", "group"} <= values.keys() and values["group"] > values["systems"]:
            self.add_error("group", _t("평가할 제출보다 많은 출력을 함께 보일 수 없습니다."))
        return values

    def is_of_pairs(self) -> bool:
        """Whether judges compare outputs, so that strengths are in logits."""
        return self.cleaned_data["protocol"] in (Campaign.Protocol.PAIRWISE, Campaign.Protocol.RANKING)
