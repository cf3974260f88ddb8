"""The form of a notice."""

from __future__ import annotations

from datetime import datetime

from django.utils.translation import gettext_lazy as _

from malpan.competitions.models import Notice
from malpan.web.forms.fields import MARKDOWN_HELP, KstMinuteField, as_it_was, markdown_area
from malpan.web.forms.seen import SeenForm


class NoticeForm(SeenForm):
    published_at = KstMinuteField(label=_("게시 시각"), help_text=_("KST. 앞으로 올 시각을 적으면 그때부터 보입니다."))

    class Meta:
        model = Notice
        fields = ("title_ko", "title_en", "body_ko", "body_en", "is_pinned", "published_at")
        labels = {"body_ko": _("공지 내용"), "body_en": _("공지 내용(영어)")}
        widgets = {"body_ko": markdown_area(10), "body_en": markdown_area(10)}
        help_texts = {"body_ko": MARKDOWN_HELP, "is_pinned": _("다른 공지보다 위에 둡니다.")}

    def clean_published_at(self) -> datetime:
        """The moment; one that was not changed keeps its seconds."""
        before = self.instance.published_at if self.instance.pk else None
        return as_it_was(self.cleaned_data["published_at"], before)
