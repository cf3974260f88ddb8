"""The search above the audit log."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from malpan.competitions.models import Competition
from malpan.core import audit_selectors
from malpan.web.forms.fields import KstMinuteField
from malpan.web.forms.filters import FilterForm
from malpan.web.presenters.audit import action_label


class AuditSearchForm(FilterForm):
    actor = forms.CharField(
        label=_("행위자"),
        required=False,
        max_length=120,
        help_text=_("이름이나 이메일의 일부. 시스템이 한 일은 ‘시스템’."),
    )
    action = forms.ChoiceField(label=_("행위"), required=False)
    object_type = forms.ChoiceField(label=_("대상 종류"), required=False)
    object_id = forms.CharField(label=_("대상 번호"), required=False, max_length=64)
    since = KstMinuteField(label=_("이때부터(KST)"), required=False)
    until = KstMinuteField(label=_("이때 전까지(KST)"), required=False)
    text = forms.CharField(label=_("이전·이후 값에 든 글, 해당하는 사람"), required=False, max_length=200)

    def __init__(self, competition: Competition, data: Any) -> None:
        pk = competition.pk
        actions = [(each, action_label(each)) for each in audit_selectors.known_actions(pk)]
        types = [(each, audit_selectors.object_label(each)) for each in audit_selectors.known_object_types(pk)]
        super().__init__(
            data,
            choices={
                "action": [("", _("모든 행위")), *actions],
                "object_type": [("", _("모든 대상")), *types],
            },
        )

    def search(self) -> audit_selectors.AuditSearch:
        values = {name: self.cleaned_data.get(name) or "" for name in ("actor", "action", "object_type")}
        if values["actor"] == gettext("시스템"):
            values["actor"] = audit_selectors.SYSTEM
        return audit_selectors.AuditSearch(
            **values,
            object_id=self.value("object_id"),
            since=self.value("since") or None,
            until=self.value("until") or None,
            text=self.value("text"),
        )
