"""Forms of a question and of its answer."""

from __future__ import annotations

from django import forms
from django.utils.translation import gettext_lazy as _

from malpan.competitions import questions
from malpan.competitions.models import Question
from malpan.web.forms.fields import MARKDOWN_HELP, markdown_area, text_area


class QuestionForm(forms.Form):
    title = forms.CharField(label=_("제목"), max_length=questions.TITLE_MAX_CHARS)
    body = forms.CharField(
        label=_("질문 내용"),
        max_length=questions.BODY_MAX_CHARS,
        widget=text_area(6),
        help_text=_("4,000자까지 쓸 수 있습니다. 답이나 점수를 알 수 있는 내용, 개인 정보는 적지 마십시오."),
    )


class AnswerForm(forms.ModelForm):
    answer_ko = forms.CharField(
        label=_("답변"), max_length=questions.ANSWER_MAX_CHARS, widget=markdown_area(8), help_text=MARKDOWN_HELP
    )
    answer_en = forms.CharField(
        label=_("답변(영어)"), max_length=questions.ANSWER_MAX_CHARS, required=False, widget=markdown_area(8)
    )
    is_public = forms.BooleanField(
        label=_("모두에게 공개"),
        required=False,
        help_text=_("질문과 답변이 모두에게 보입니다. 질문한 사람의 이름은 보이지 않습니다."),
    )

    class Meta:
        model = Question
        fields = ("answer_ko", "answer_en", "is_public")
