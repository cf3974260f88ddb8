"""Forms of awards: one award, and the proposal by a published result. The services decide."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import Any

from django import forms
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from malpan.competitions.models import Competition, Track
from malpan.core.times import kst_day
from malpan.stages.awarded import PLACES_MAX, Proposed, awardable_teams, track_of
from malpan.stages.models import Award
from malpan.teams.models import Team
from malpan.web.forms.fields import REQUIRED, of_these_centuries
from malpan.web.forms.seen import SeenForm


class TeamField(forms.ModelChoiceField):
    """A team by name and number."""

    def label_from_instance(self, obj: Team) -> str:
        return f"{obj.name} ({obj.number})"


class TrackField(forms.ModelChoiceField):
    """A track by its title."""

    def label_from_instance(self, obj: Track) -> str:
        return obj.title


def today() -> date:
    return kst_day(timezone.now())


def day_field() -> forms.DateField:
    return forms.DateField(
        label=_("시상일"),
        initial=today,
        validators=[of_these_centuries],
        widget=forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d"),
        error_messages={**REQUIRED, "invalid": _("날짜를 2026-11-20처럼 입력해 주십시오.")},
        help_text=_("상장에 적히는 날짜입니다."),
    )


class AwardForm(SeenForm):
    """One award. ``tracks``: those whose final result is published."""

    team = TeamField(
        Team.objects.none(),
        label=_("팀"),
        empty_label=_("골라 주십시오"),
        help_text=_("이 대회에서 제출한 팀입니다."),
    )
    track = TrackField(
        Track.objects.none(),
        label=_("근거가 되는 결과"),
        required=False,
        empty_label=_("없음: 특별상 등"),
        help_text=_("고르면 그 트랙의 최종 결과를 보는 화면에도 이 상이 보입니다."),
    )
    awarded_on = day_field()

    class Meta:
        model = Award
        fields = ("title_ko", "title_en", "team", "track", "prize_ko", "prize_en", "awarded_on")
        help_texts = {
            "title_ko": _("예: 대상, 최우수상, 우수상"),
            "prize_ko": _("예: 국립국어원장상, 300만 원. 비워도 됩니다."),
        }

    def __init__(self, *args: Any, competition: Competition, tracks: Sequence[Track], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["team"].queryset = awardable_teams(competition)  # type: ignore[attr-defined]
        keys = [track.pk for track in tracks]
        self.fields["track"].queryset = Track.objects.filter(pk__in=keys)  # type: ignore[attr-defined]
        if self.instance.pk:
            self.initial["track"] = track_of(self.instance)
        elif len(tracks) == 1:
            self.initial.setdefault("track", tracks[0])


class ProposalForm(forms.Form):
    """Of which result how many places are proposed."""

    track = TrackField(Track.objects.none(), label=_("트랙"), empty_label=None, to_field_name="slug")
    places = forms.IntegerField(label=_("몇 위까지"), min_value=1, max_value=PLACES_MAX)

    def __init__(self, data: Any, *, tracks: Sequence[Track], **kwargs: Any) -> None:
        super().__init__(data, auto_id="proposal-%s", **kwargs)
        rows = Track.objects.filter(pk__in=[track.pk for track in tracks]).order_by("position", "pk")
        self.fields["track"].queryset = rows  # type: ignore[attr-defined]


class ProposedForm(forms.Form):
    """A team of the proposal. It is chosen beforehand where it is alone on its place and has no award of the track."""

    is_chosen = forms.BooleanField(label=_("이 팀에 주기"), required=False)
    title_ko = forms.CharField(label=_("상 이름"), max_length=60, error_messages=REQUIRED)
    title_en = forms.CharField(label=_("상 이름(영어)"), max_length=120, required=False)

    def __init__(self, data: Any, *, proposed: Proposed) -> None:
        initial = {
            "is_chosen": proposed.sharing == 1 and not proposed.has_award,
            "title_ko": proposed.title_ko,
            "title_en": proposed.title_en,
        }
        super().__init__(data, prefix=f"team-{proposed.team.number}", initial=initial)
        self.proposed = proposed


class DayForm(forms.Form):
    """The day of all awards of a proposal."""

    awarded_on = day_field()
