"""The filter above the submissions."""

from __future__ import annotations

from typing import Any, Final

from django import forms
from django.utils.translation import gettext_lazy as _

from malpan.competitions.models import Competition, Phase
from malpan.submissions import manage_selectors
from malpan.submissions.models import ScoringRun
from malpan.web.forms.filters import FilterForm, track_choices

STATES: Final = [
    ("", _("모든 상태")),
    *ScoringRun.State.choices,
    ("refunded", _("환불됨")),
    ("withdrawn", _("철회됨")),
]
WARNED: Final = [
    ("", _("모든 제출")),
    ("any", _("알림이 있는 제출")),
    ("noted", _("답변을 살펴볼 점이 있는 제출")),
]


class SubmissionFilterForm(FilterForm):
    track = forms.ChoiceField(label=_("트랙"), required=False)
    phase = forms.ChoiceField(label=_("단계"), required=False)
    team = forms.CharField(label=_("팀 이름"), required=False, max_length=60)
    state = forms.ChoiceField(label=_("상태"), required=False, choices=STATES)
    warned = forms.ChoiceField(label=_("알림"), required=False, choices=WARNED)

    def __init__(self, competition: Competition, data: Any) -> None:
        phases = Phase.objects.filter(track__competition=competition)
        named = {phase.slug: phase.title for phase in phases}
        super().__init__(
            data,
            choices={
                "track": track_choices(competition),
                "phase": [("", _("모든 단계")), *named.items()],
            },
        )

    def search(self) -> manage_selectors.SubmissionSearch:
        return manage_selectors.SubmissionSearch(
            track=self.value("track"),
            phase=self.value("phase"),
            team=self.value("team"),
            state=self.value("state"),
            warned=self.value("warned"),
        )
