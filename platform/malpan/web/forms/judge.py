"""The form for scores of people that a judge is compared with. The service decides."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from django import forms
from django.utils.translation import gettext_lazy as _

from malpan.submissions.judge_agreement import SOURCE_CHARS
from malpan.web.forms.fields import FILE_REQUIRED, with_limit


class HumanScoresForm(forms.Form):
    judged = forms.ChoiceField(label=_("심사 모델이 채점한 제출"), help_text=_("사람이 점수를 매긴 제출을 고르십시오."))
    file = forms.FileField(
        label=_("사람 점수 파일"),
        help_text=_(
            '문항마다 {"id": ..., "score": 1~5}인 JSON 배열이나 JSONL. 여러 사람이 매겼으면 평균을 적습니다. 일부 '
            "문항만 있어도 됩니다. 파일은 보관하지 않습니다."
        ),
        error_messages=FILE_REQUIRED,
        allow_empty_file=True,  # an empty file is rejected with a located message, not reported as missing
    )
    source = forms.CharField(
        label=_("사람 점수의 출처"),
        max_length=SOURCE_CHARS,
        help_text=_(
            "누가 몇 명이서 어떤 기준으로 매겼는지 적으십시오. 평가 지표 화면에 공개되니 사람의 이름은 적지 마십시오."
        ),
    )

    def __init__(self, *args: Any, choices: Sequence[tuple[str, str]], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        cast("forms.ChoiceField", self.fields["judged"]).choices = choices
        with_limit(self.fields["file"])
