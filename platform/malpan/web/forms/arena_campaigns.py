"""Forms of campaigns: settings, texts, systems, opening, closing, publication. The services decide."""

from __future__ import annotations

from typing import Any, Final, cast

from django import forms
from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator, MinValueValidator
from django.utils.html import format_html
from django.utils.text import format_lazy
from django.utils.translation import gettext as _t
from django.utils.translation import gettext_lazy as _

from malpan.arena.campaigns import GROUP_SIZES, LIMITS, MASKED_CHARS, MASKED_MAX, RANKING_GROUP
from malpan.arena.errors import CampaignSettingsInvalid
from malpan.arena.judges import REASON_MAX
from malpan.arena.models import Campaign, Rubric
from malpan.arena.publishing import NOTE_MAX
from malpan.arena.systems import SYSTEMS_MOST
from malpan.competitions.models import Phase, Track
from malpan.core.messages import text_of
from malpan.web.forms.fields import (
    FILE_REQUIRED,
    MARKDOWN_HELP,
    ConfirmField,
    KstMinuteField,
    PhaseField,
    as_it_was,
    markdown_area,
    needed_when,
    text_area,
    with_limit,
)
from malpan.web.forms.seen import SeenForm

GROUPS: Final = (
    ("texts", _("이름과 안내"), ("title_ko", "title_en", "notice_ko", "notice_en")),
    ("what", _("무엇을 어떻게 평가합니까"), ("protocol", "group_size", "rubric", "phase", "part", "item_count")),
    ("often", _("얼마나 많이 평가합니까"), ("units_per_item", "judges_per_unit")),
    ("checks", _("연습과 확인"), ("calibration_count", "control_percent", "repeat_percent", "min_seconds")),
    ("shown", _("평가자에게 보이는 것"), ("shows_input", "shows_reference", "masked_words")),
    ("times", _("예정과 통계"), ("starts_at", "ends_at", "resamples")),
)

PURPOSES: Final = {
    Campaign.Protocol.PAIRWISE: _(
        "나란히 놓인 출력 둘에서 나은 쪽을 고르며, 판단이 쉬워 어느 팀이 나은지 가릴 때 알맞습니다."
    ),
    Campaign.Protocol.RUBRIC: _(
        "출력마다 기준별로 점수를 매기며, 팀마다 무엇을 잘하고 못하는지 알고 싶을 때 알맞습니다."
    ),
    Campaign.Protocol.RANKING: _(
        "출력 여럿을 한꺼번에 보고 순위를 매기며, 출력이 짧고 평가자의 시간이 모자랄 때 알맞습니다."
    ),
    Campaign.Protocol.ERRORS: _(
        "출력에서 잘못된 곳을 표시하고 점수를 매기며, 어떤 잘못이 어디에 있는지 알고 싶을 때 알맞습니다."
    ),
}


NOTICE_HELP: Final = format_lazy("{} {}", _("평가자뿐 아니라 누구나 대회의 화면에서 봅니다."), MARKDOWN_HELP)


class RubricField(forms.ModelChoiceField):
    """A version of a rubric, with its number."""

    def label_from_instance(self, obj: Rubric) -> str:
        return _t("%(number)d판: %(title)s") % {"number": obj.number, "title": obj.title}


class _TimedForm(SeenForm):
    """What drafts and open campaigns share: moments keep the seconds that the form does not show."""

    starts_at = KstMinuteField(
        label=_("시작 예정"),
        required=False,
        help_text=_("평가자의 화면에 보이는 시각입니다. 평가는 운영자가 ‘시작’을 누를 때 시작합니다."),
    )
    ends_at = KstMinuteField(
        label=_("마감 예정"),
        required=False,
        help_text=_(
            "이 시각이 지나면 판단이 저절로 멈추며, 늦출 수 있습니다. 비우면 운영자가 ‘마감’을 누를 때까지 판단합니다."
        ),
    )

    def clean(self) -> dict[str, Any]:
        values: dict[str, Any] = super().clean() or {}
        for name in ("starts_at", "ends_at"):
            if values.get(name) is not None:
                values[name] = as_it_was(values[name], self.initial.get(name))
        starts, ends = values.get("starts_at"), values.get("ends_at")
        if starts and ends and starts >= ends:
            self.add_error("ends_at", _t("마감 예정 시각은 시작 예정 시각보다 뒤여야 합니다."))
        return values

    def values(self) -> dict[str, Any]:
        """The settings as the services take them."""
        return dict(self.cleaned_data)


class CampaignTextsForm(_TimedForm):
    """What may change in an open campaign."""

    class Meta:
        model = Campaign
        fields = ("title_ko", "title_en", "notice_ko", "notice_en", "starts_at", "ends_at")
        widgets = {"notice_ko": markdown_area(6), "notice_en": markdown_area(6)}
        help_texts = {"notice_ko": NOTICE_HELP}


class CampaignForm(_TimedForm):
    """The settings of a draft."""

    rubric = RubricField(
        Rubric.objects.none(),
        label=_("평가 기준표"),
        empty_label=None,
        help_text=_(
            "지침과 기준의 판입니다. 참가자는 대회의 ‘사람 평가’ 화면에서 평가 방식과 함께 바로 봅니다. 시작한 뒤에는 "
            "바꿀 수 없습니다."
        ),
    )
    phase = PhaseField(
        Phase.objects.none(), label=_("단계"), empty_label=None, help_text=_("이 단계에 낸 제출을 평가합니다.")
    )
    masked_words = forms.CharField(
        label=_("가릴 이름"),
        required=False,
        widget=text_area(4),
        help_text=_(
            "출력에서 〔가림〕으로 바꿀 이름을 한 줄에 하나씩 적습니다(모델 이름, 기관 이름). 팀과 팀원의 이름은 늘 "
            "가립니다."
        ),
    )

    class Meta:
        model = Campaign
        fields = tuple(name for _key, _label, names in GROUPS for name in names)
        widgets = {
            "protocol": forms.RadioSelect,
            "notice_ko": markdown_area(6),
            "notice_en": markdown_area(6),
        }
        help_texts = {
            "title_ko": _("예: 2차 심사 사람 평가"),
            "notice_ko": NOTICE_HELP,
            "group_size": _("순위 매기기에서만 씁니다(3~8). 쌍 비교는 2, 나머지는 1로 정해져 있습니다."),
            "part": _("발표하지 않은 비공개 문항을 쓰면 평가자가 그 문항을 보게 됩니다."),
            "item_count": _("정답이 있는 문항에서 유형별 비율대로 뽑습니다."),
            "units_per_item": _("한 문항에서 출력을 서로 다르게 묶는 수입니다. 쌍 비교에서는 한 묶음이 한 쌍입니다."),
            "judges_per_unit": _("같은 묶음을 보는 평가자의 수입니다. 2 이상이어야 일치도를 잴 수 있습니다."),
            "calibration_count": _("먼저 푸는 연습 문항입니다. 답과 설명을 보여 주며 셈에는 들지 않습니다."),
            "control_percent": _("규칙으로 망가뜨린 출력이 섞인 문항의 비율입니다. 평가자는 알지 못합니다."),
            "repeat_percent": _("자신이 본 문항을 순서만 바꾸어 다시 보이는 비율입니다. 스스로와의 일치도를 잽니다."),
            "min_seconds": _("이보다 빨리 답하면 알려 줄 뿐 막지 않으며, 품질 화면에 수가 나옵니다."),
            "shows_input": _("끄면 출력만 보입니다."),
            "shows_reference": _("평가자가 정답을 함께 보게 됩니다."),
            "resamples": _("신뢰 구간을 셈할 때 문항과 평가자를 다시 뽑는 횟수입니다."),
        }

    def __init__(self, *args: Any, track: Track, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name, rows in (("rubric", track.rubrics.all()), ("phase", track.phases.select_related("track"))):
            field = self.fields[name]
            assert isinstance(field, forms.ModelChoiceField)
            field.queryset = rows
        self.fields["group_size"].required = False
        needed_when(self, _t("순위 매기기일 때 필요"), "group_size")
        cast("forms.ChoiceField", self.fields["protocol"]).choices = _protocols()
        for name, (low, high) in LIMITS.items():
            _limit(self.fields[name], low, high, text_of(CampaignSettingsInvalid(name, name)))
        self.initial["protocol"] = self.initial.get("protocol") or Campaign.Protocol.PAIRWISE
        self.initial["masked_words"] = "\n".join(self.initial.get("masked_words") or ())
        if self.instance.pk is None:
            self.initial["item_count"] = _items_to_offer(self.instance, track)

    def groups(self) -> list[tuple[str, Any, list[forms.BoundField]]]:
        """The fields under their headings."""
        return [(key, label, [self[name] for name in names]) for key, label, names in GROUPS]

    def clean_masked_words(self) -> list[str]:
        low, high = MASKED_CHARS
        words = [line.strip() for line in self.cleaned_data["masked_words"].splitlines() if line.strip()]
        if len(words) > MASKED_MAX:
            raise ValidationError(_t("%(limit)d개까지 적을 수 있습니다.") % {"limit": MASKED_MAX})
        for word in words:
            if not low <= len(word) <= high:
                text = _t("‘%(word)s’: %(low)d자 이상 %(high)d자 이하로 적어 주십시오.")
                raise ValidationError(text % {"word": word[:40], "low": low, "high": high})
        return words

    def clean(self) -> dict[str, Any]:
        """``group_size`` is the protocol's where that has only one."""
        values = super().clean()
        protocol = values.get("protocol")
        if protocol in GROUP_SIZES:
            values["group_size"] = GROUP_SIZES[protocol]
            self.errors.pop("group_size", None)
        elif protocol and "group_size" not in self.errors:
            low, high = RANKING_GROUP
            if not low <= (values.get("group_size") or 0) <= high:
                self.add_error("group_size", _t("순위 매기기에서는 한 번에 출력 3~8개를 보입니다."))
        return values


def _items_to_offer(new: Campaign, track: Track) -> int:
    """The usual number of items, or what the phase that is offered first has beside the practice."""
    phase = track.phases.first()
    version = phase.reference_versions.filter(is_current=True).first() if phase else None
    if version is None:
        return new.item_count
    return max(1, min(new.item_count, version.item_count - new.calibration_count))


def _protocols() -> list[tuple[str, str]]:
    """Each with what it is for."""
    line = '{}<br><span class="field-help">{}</span>'
    return [(each.value, format_html(line, each.label, PURPOSES[each])) for each in Campaign.Protocol]


def _limit(field: forms.Field, low: int, high: int, text: str) -> None:
    """Make ``field`` take whole numbers of the range, with one sentence for all that is wrong."""
    message = text.replace("%", "%%")  # validators fill in numbers
    field.validators = [MinValueValidator(low, message), MaxValueValidator(high, message)]
    field.error_messages |= {"invalid": text, "required": text}
    field.widget.attrs |= {"min": low, "max": high}


class TopForm(forms.Form):
    """The first teams of a board."""

    count = forms.IntegerField(
        label=_("상위 몇 팀"), min_value=2, max_value=SYSTEMS_MOST, initial=10,
        help_text=_(
            "발표한 최종 순위표에서, 없으면 지금의 최종 순위에서 고릅니다. 앞서 고른 제출은 새로 고른 것으로 바뀝니다."
        ),
    )  # fmt: skip
    with_baselines = forms.BooleanField(label=_("순위표에 오른 기준 모델도 함께 고릅니다"), required=False)


class CampaignReasonForm(forms.Form):
    """Why something is done, for the audit log or for the public."""

    reason = forms.CharField(
        label=_("사유"),
        max_length=REASON_MAX,
        error_messages={"required": _("사유를 적어 주십시오.")},
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )

    def __init__(self, data: Any = None, *, key: str, help_text: Any = "", **kwargs: Any) -> None:
        super().__init__(data, auto_id=f"{key}-%s", **kwargs)
        self.fields["reason"].help_text = help_text


class ConfirmedReasonForm(CampaignReasonForm):
    confirm = ConfirmField()

    def __init__(self, data: Any = None, *, sentence: Any, **kwargs: Any) -> None:
        super().__init__(data, **kwargs)
        self.fields["confirm"].label = sentence


class RemoveJudgeForm(ConfirmedReasonForm):
    """``accepts_loss`` only where assignments may be left that nobody else may see."""

    accepts_loss = forms.BooleanField(
        label=_("다른 평가자가 맡을 수 없는 배정은 무효로 합니다."),
        required=False,
        help_text=_("표시하지 않으면 맡을 사람이 없는 배정이 있을 때 내보내지 않습니다."),
    )
    field_order = ["reason", "accepts_loss", "confirm"]

    def __init__(self, data: Any = None, *, has_queue: bool, **kwargs: Any) -> None:
        super().__init__(data, **kwargs)
        if not has_queue:
            del self.fields["accepts_loss"]


class CloseForm(forms.Form):
    """The closing; ``accepts_open`` is asked for only where something is unfinished."""

    accepts_open = forms.BooleanField(required=False)
    confirm = ConfirmField(_("평가를 마감합니다. 다시 열 수 없으며, 평가자는 더 판단하거나 고칠 수 없습니다."))

    def __init__(self, data: Any = None, *, left: int, **kwargs: Any) -> None:
        super().__init__(data, auto_id="close-%s", **kwargs)
        if left:
            text = _t("판단하지 않은 배정 %(left)d개를 무효로 하고 마감합니다.")
            self.fields["accepts_open"].label = text % {"left": left}
        else:
            del self.fields["accepts_open"]


class CampaignPublishForm(forms.Form):
    """The publication of the result that the page shows; a correction says why."""

    result_sha256 = forms.CharField(max_length=64, widget=forms.HiddenInput)
    note_ko = forms.CharField(label=_("안내"), max_length=NOTE_MAX, required=False)
    note_en = forms.CharField(label=_("안내(영어)"), max_length=NOTE_MAX, required=False)
    confirm = ConfirmField(
        _(
            "위의 결과와 이름을 가린 판단을 누구에게나 공개합니다. 되돌릴 수 없으며, 고칠 때는 새 판으로 다시 "
            "발표합니다."
        )
    )

    def __init__(self, data: Any = None, *, is_erratum: bool, **kwargs: Any) -> None:
        super().__init__(data, auto_id="publish-%s", **kwargs)
        self.fields["note_ko"].required = is_erratum
        self.fields["note_ko"].help_text = (
            _("무엇을 왜 바로잡는지 적어 주십시오. 결과 위에 보입니다.") if is_erratum else _("결과 위에 보입니다.")
        )

    def offer(self, result_sha256: str) -> None:
        """Come back for the result that the page shows now: with the notes, and to be confirmed if it is another one
        than was sent.
        """
        if self.is_bound and self.data.get("result_sha256") != result_sha256:
            kept = {name: self.data[name] for name in self.data if name != "confirm"}
            self.data = {**kept, "result_sha256": result_sha256}


class PracticeForm(forms.Form):
    """A file of practice items."""

    file = forms.FileField(
        label=_("연습 문항 파일(JSON)"),
        help_text=_("입력, 출력, 기대하는 판단, 판단한 뒤에 보일 설명을 적은 JSON 배열입니다."),
        error_messages=FILE_REQUIRED,
        allow_empty_file=True,  # an empty file is rejected with a located message, not reported as missing
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        with_limit(self.fields["file"])
