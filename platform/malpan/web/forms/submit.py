"""The form of the upload page."""

from __future__ import annotations

from typing import Any, Final
from uuid import uuid4

from django import forms
from django.utils.translation import gettext_lazy as _

from malpan.submissions.models import Submission
from malpan.web.forms.fields import FILE_REQUIRED, one_line
from scoring.recipes import AnswerForm

# What the browser offers to choose. What a file is, its content decides: the reader never looks at the name.
FILE_TYPES: Final = (".json", ".jsonl", ".txt")
CAPTION_FILE_TYPES: Final = (*FILE_TYPES, ".tsv", ".csv")


class SubmitForm(forms.Form):
    """``file_types``: the endings of the files that the track's reader may be given."""

    file = forms.FileField(
        label=_("제출 파일"),
        error_messages={
            **FILE_REQUIRED,
            "max_length": _("파일 이름이 너무 깁니다. 이름을 줄여 다시 올려 주십시오."),
        },
        max_length=Submission._meta.get_field("file_name").max_length,
        allow_empty_file=True,  # an empty file is rejected with a located message, not reported as missing
    )
    memo = forms.CharField(
        label=_("메모"),
        max_length=Submission._meta.get_field("memo").max_length,
        required=False,
        help_text=_("팀원과 주최 측만 볼 수 있습니다. 모델 이름이나 바꾼 점을 적어 두면 나중에 비교하기 쉽습니다."),
        widget=one_line(),
    )
    again = forms.BooleanField(label=_("똑같은 파일이어도 제출합니다"), required=False)
    upload_key = forms.CharField(required=False, initial=uuid4, widget=forms.HiddenInput)  # too long: ``submit``

    def __init__(self, *args: Any, answer_form: AnswerForm = "answers", **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.file_types = CAPTION_FILE_TYPES if answer_form == "captions" else FILE_TYPES
        self.fields["file"].widget.attrs["accept"] = ",".join(self.file_types)
