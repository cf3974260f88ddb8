"""The form of a baseline: whose name stands on the board, in which phase, the file."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

from django import forms
from django.db.models import QuerySet
from django.utils.translation import gettext_lazy as _

from malpan.competitions.models import Phase
from malpan.submissions.models import Submission
from malpan.web.forms.fields import FILE_REQUIRED, PhaseField, one_line, with_limit
from malpan.web.forms.team import TeamForm


class BaselineForm(TeamForm):
    phase = PhaseField(label=_("단계"), queryset=Phase.objects.none())
    file = forms.FileField(
        label=_("출력 파일"),
        help_text=_("참가자가 올리는 것과 같은 형식입니다."),
        max_length=Submission._meta.get_field("file_name").max_length,
        allow_empty_file=True,  # what is wrong with it is told by its lines
        error_messages={**FILE_REQUIRED},
    )
    memo = forms.CharField(
        label=_("메모"), max_length=Submission._meta.get_field("memo").max_length, required=False, widget=one_line()
    )
    upload_key = forms.CharField(required=False, initial=uuid4, widget=forms.HiddenInput)  # of one press of the button

    def __init__(self, *args: Any, phases: QuerySet[Phase], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["phase"].queryset = phases  # type: ignore[attr-defined]
        self.fields["phase"].empty_label = None  # type: ignore[attr-defined]
        self.fields["name"].label = _("기준 모델의 이름")
        self.fields["name"].help_text = _(
            "순위표에 순위 없이 오릅니다. 이미 있는 기준 모델의 이름이면 그 모델의 새 제출이 됩니다."
        )
        with_limit(self.fields["file"])
