"""Forms of stages: settings, a table of scores, the second person, publication. The services decide."""

from __future__ import annotations

from typing import Any, Final, cast

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _

from malpan.arena.models import Campaign
from malpan.competitions.models import Phase, Track
from malpan.core.messages import text_of
from malpan.stages.entering import REASON_MAX
from malpan.stages.errors import StageSettingsInvalid, TableUnreadable
from malpan.stages.models import Stage
from malpan.stages.publishing import NOTE_MAX
from malpan.stages.tables import CHARS_MAX, decoded
from malpan.web.forms.fields import MARKDOWN_HELP, ConfirmField, PhaseField, markdown_area, needed_when, text_area
from malpan.web.forms.seen import SeenForm

_FILE_BYTES_MAX: Final = 4 * CHARS_MAX


class StageForm(SeenForm):
    """The settings of a stage: the first names the phase whose board it reads, a later one the human evaluation or,
    for scores that are entered, their scale.
    """

    phase = PhaseField(
        Phase.objects.none(),
        label=_("단계"),
        empty_label=None,
        help_text=_("이 단계의 발표된 최종 순위표가 첫 심사의 점수입니다."),
    )

    campaign = forms.ModelChoiceField(
        Campaign.objects.none(),
        label=_("사람 평가"),
        required=False,
        empty_label=_("없음: 점수표를 입력합니다"),
        help_text=_(
            "고르면 그 평가의 발표된 결과가 점수입니다. 점수는 0~1이고, 0.5가 평균입니다(쌍 비교에서는 평균 실력의 "
            "상대를 이길 확률). 이때 아래의 점수 범위는 쓰지 않습니다."
        ),
    )

    class Meta:
        model = Stage
        fields = (
            *(
                "title_ko",
                "title_en",
                "phase",
                "campaign",
                "scale_min",
                "scale_max",
                "normalisation",
                "weight",
                "cut",
                "tie_rule",
            ),
            *("notice_ko", "notice_en", "is_announced"),
        )
        widgets = {
            "normalisation": forms.RadioSelect,
            "tie_rule": forms.RadioSelect,
            "notice_ko": markdown_area(6),
            "notice_en": markdown_area(6),
            "scale_min": forms.NumberInput(attrs={"step": "any"}),
            "scale_max": forms.NumberInput(attrs={"step": "any"}),
        }
        help_texts = {
            "title_ko": _("예: 1차 심사(순위표), 2차 심사(전문가 평가), 3차 심사(발표)"),
            "scale_max": _("입력할 점수의 범위입니다. 범위 밖의 점수는 받지 않습니다."),
            "weight": _(
                "종합 점수는 심사마다 100점 만점으로 환산한 점수를 비중으로 평균한 값입니다. 0이면 진출 팀만 가립니다."
            ),
            "cut": _("다음 심사로 가는 팀의 수. 비우면 모두 갑니다. 마지막 심사에서는 쓰지 않습니다."),
            "notice_ko": MARKDOWN_HELP,
            "is_announced": _(
                "발표하기 전에도 심사의 제목, 안내, 비중, 진출 팀 수를 참가자에게 보입니다. 점수는 보이지 않습니다."
            ),
        }

    def __init__(self, *args: Any, track: Track, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        is_first = self.instance.is_first if self.instance.pk else not track.stages.exists()
        for name in ("campaign", "scale_min", "scale_max") if is_first else ("phase",):
            del self.fields[name]
        if is_first:
            cast("PhaseField", self.fields["phase"]).queryset = track.phases.select_related("track")
            return
        campaigns = Campaign.objects.filter(track=track).order_by("number")
        if campaigns:
            cast("forms.ModelChoiceField[Campaign]", self.fields["campaign"]).queryset = campaigns
        else:
            del self.fields["campaign"]
        if not self.instance.pk:
            self.initial = {**self.initial, "scale_min": 0, "scale_max": 100}

    def clean(self) -> dict[str, Any]:
        values: dict[str, Any] = super().clean() or {}
        low, high = values.get("scale_min"), values.get("scale_max")
        if low is not None and high is not None and not low < high:
            self.add_error("scale_max", str(StageSettingsInvalid.sentence("scale")))
        return values

    def values(self) -> dict[str, Any]:
        """The settings as the services take them: with a human evaluation there is no scale to choose."""
        values = dict(self.cleaned_data)
        unused = ("scale_min", "scale_max") if values.get("campaign") else ()
        return {name: value for name, value in values.items() if name not in unused}


class StageTableForm(forms.Form):
    """A table that is pasted or uploaded. ``based_on``: the version that the person saw."""

    text = forms.CharField(
        label=_("점수표"),
        required=False,
        strip=False,
        widget=text_area(12, spellcheck="false"),
        help_text=_(
            "스프레드시트에서 팀 번호와 점수 열을 머리글과 함께 복사해 붙여 넣으십시오. 탭, 쉼표, 쌍반점으로 나눈 표를 "
            "읽습니다."
        ),
    )
    file = forms.FileField(
        label=_("또는 CSV 파일"), required=False, help_text=_("파일을 고르면 위의 표 대신 파일을 읽습니다.")
    )
    reason = forms.CharField(label=_("사유"), max_length=REASON_MAX, required=False)
    based_on = forms.IntegerField(min_value=0, max_value=32767, widget=forms.HiddenInput)

    def __init__(self, *args: Any, needs_reason: bool, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        needed_when(self, "", "text", "file")
        self.fields["reason"].required = needs_reason
        self.fields["reason"].help_text = (
            _("앞의 판을 왜 고치는지 적어 주십시오. 운영자만 봅니다.") if needs_reason else _("운영자만 봅니다.")
        )

    def clean(self) -> dict[str, Any]:
        """``text`` is that of the file, where one was sent."""
        values: dict[str, Any] = super().clean() or {}
        file = values.get("file")
        if file:
            try:
                if file.size > _FILE_BYTES_MAX:
                    raise TableUnreadable(limit=f"{CHARS_MAX:,}")
                values["text"] = decoded(file.read())
            except TableUnreadable as error:
                raise ValidationError({"file": text_of(error)}) from None
        return values


class TableConfirmForm(forms.Form):
    """The second person confirms the version that the page shows."""

    number = forms.IntegerField(min_value=1, max_value=32767, widget=forms.HiddenInput)
    sha256 = forms.CharField(max_length=64, widget=forms.HiddenInput)
    confirm = ConfirmField(_("점수표를 원본과 대조했으며 그대로 확인합니다."))


class TableRejectForm(forms.Form):
    """The second person sends the version that the page shows back."""

    number = forms.IntegerField(min_value=1, max_value=32767, widget=forms.HiddenInput)
    sha256 = forms.CharField(max_length=64, widget=forms.HiddenInput)
    reason = forms.CharField(label=_("돌려보내는 사유"), max_length=REASON_MAX, help_text=_("운영자만 봅니다."))


class StagePublishForm(forms.Form):
    """The publication of what the page shows; a correction says why."""

    sha256 = forms.CharField(max_length=64, widget=forms.HiddenInput)
    note_ko = forms.CharField(label=_("안내"), max_length=NOTE_MAX, required=False)
    note_en = forms.CharField(label=_("안내(영어)"), max_length=NOTE_MAX, required=False)
    confirm = ConfirmField(
        _("위의 결과를 누구에게나 공개합니다. 되돌릴 수 없으며, 고칠 때는 새 판으로 다시 발표합니다.")
    )

    def __init__(self, *args: Any, is_erratum: bool, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["note_ko"].required = is_erratum
        self.fields["note_ko"].help_text = (
            _("무엇을 왜 바로잡는지 적어 주십시오. 결과 위에 보입니다.") if is_erratum else _("결과 위에 보입니다.")
        )
