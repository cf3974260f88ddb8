"""Forms of rescoring. They check the format; the services decide."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import Any, Final

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from malpan.competitions.models import Phase, ReferenceVersion
from malpan.core.text import NOTICE_PART_MAX_CHARS
from malpan.submissions.rescoring.apply import Announcement
from malpan.submissions.rescoring.batches import Selection, phases_to_rescore_with
from malpan.submissions.rescoring.orders import PLACES
from malpan.teams.models import Team
from malpan.web.forms.fields import REQUIRED, ConfirmField, KstMinuteField, Preview, markdown_area, needed_when
from malpan.web.forms.judges import recipes_reading_the_files_of
from malpan.web.presenters.scores import language
from scoring.models.profile import profile_names

UNCHANGED: Final = _("바꾸지 않음")
REPEATS_MAX: Final = 20
GUARDED_MAX: Final = 1000


class StartForm(forms.Form):
    """What changes, for which submissions, and why."""

    reason = forms.CharField(
        label=_("사유"),
        max_length=300,
        error_messages=REQUIRED,
        help_text=_("감사 기록과 제출 횟수 기록에 남고, 반영하면 다시 채점한 제출의 결과 페이지에서 그 팀이 봅니다."),
    )
    reference_version = forms.ModelChoiceField(
        label=_("정답 판"), queryset=ReferenceVersion.objects.none(), required=False, empty_label=UNCHANGED
    )
    recipe = forms.ChoiceField(label=_("채점 방식"), required=False)
    profile = forms.ChoiceField(label=_("모델 프로필"), required=False)
    also = forms.ModelMultipleChoiceField(
        label=_("함께 재채점할 단계"),
        queryset=Phase.objects.none(),
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text=_(
            "채점 방식과 모델 프로필은 같은 트랙의 모든 단계에 적용됩니다. 고른 단계도 지금의 정답으로 다시 채점해, "
            "함께 적용하거나 취소합니다."
        ),
    )
    is_from_scratch = forms.BooleanField(
        label=_("모든 값을 새로 계산합니다"),
        required=False,
        help_text=_(
            "이미 계산해 둔 지표 값을 쓰지 않습니다. 채점 서버 하나가 잘못된 값을 낸 것이 드러났을 때 고르십시오. "
            "그만큼 오래 걸립니다. LLM 심사의 답은 다시 묻지 않습니다."
        ),
    )
    teams = forms.ModelMultipleChoiceField(
        label=_("팀"),
        queryset=Team.objects.none(),
        required=False,
        help_text=_("아무 팀도 고르지 않으면 모든 팀입니다."),
    )
    since = KstMinuteField(label=_("이 시각부터"), required=False, help_text=_("KST"))
    until = KstMinuteField(label=_("이 시각 전까지"), required=False, help_text=_("KST"))
    states = forms.ChoiceField(
        label=_("상태"),
        required=False,
        choices=[("", _("모두")), ("finished", _("점수가 있는 제출")), ("waiting", _("아직 점수가 없는 제출"))],
    )
    signature_hash = forms.CharField(
        label=_("서명 해시"),
        max_length=64,
        required=False,
        help_text=_("이 서명으로 채점된 제출만. 비우면 모든 제출입니다."),
    )

    def __init__(self, *args: Any, phase: Phase, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        fields: Any = self.fields
        versions = phase.reference_versions.filter(is_current=False).order_by("-number")
        fields["reference_version"].queryset = versions
        fields["reference_version"].label_from_instance = _version_label
        fields["also"].queryset = others = phases_to_rescore_with(phase)
        fields["also"].label_from_instance = _phase_label
        if not others:
            del fields["also"]
        fields["teams"].queryset = phase.track.competition.teams.filter(merged_into=None).order_by("name")
        recipes = [
            (each.id, f"{each.title(language())} — {each.id}")
            for each in recipes_reading_the_files_of(phase.track.recipe)
        ]
        fields["recipe"].choices = [("", f"{UNCHANGED} ({phase.track.recipe})"), *recipes]
        fields["profile"].choices = [("", UNCHANGED), *((name, name) for name in profile_names())]

    def clean(self) -> dict[str, Any]:
        values: dict[str, Any] = super().clean() or {}
        since, until = values.get("since"), values.get("until")
        if since and until and since >= until:
            raise ValidationError(_("시작 시각이 끝 시각보다 앞서야 합니다."))
        return values

    def selection(self) -> Selection:
        values = self.cleaned_data
        return Selection(
            teams=tuple(team.pk for team in values["teams"]),
            since=values["since"],
            until=values["until"],
            states=(values["states"],) if values["states"] else (),
            signature_hash=values["signature_hash"].strip(),
        )


def _phase_label(phase: Phase) -> str:
    return phase.title


def _version_label(version: ReferenceVersion) -> str:
    kind = _("초안") if version.published_at is None else _("지난 판")
    values = {"number": version.number, "kind": kind, "count": version.item_count}
    label = _("%(number)d판 (%(kind)s, %(count)d문항)") % values
    return f"{label} {version.note}".strip()


class RepeatForm(forms.Form):
    """Score one submission several times, to see the numeric noise."""

    submission = forms.UUIDField(label=_("제출 번호"), error_messages={"invalid": _("제출 번호를 확인해 주십시오.")})
    repeats = forms.IntegerField(label=_("반복 횟수"), min_value=2, max_value=REPEATS_MAX, initial=3)


class ChoicesForm(forms.Form):
    """What happens when the new scores are applied. ``corrected``: the references whose errata are posted then."""

    resets_quota = forms.BooleanField(
        label=_("모든 팀의 제출 횟수를 초기화합니다"),
        required=False,
        help_text=_("이 단계에서 지금까지 쓴 횟수와 최소 간격을 세지 않습니다. 제출과 점수는 그대로 남습니다."),
    )
    grants_slots = forms.IntegerField(
        label=_("모든 팀에 더 줄 제출 횟수"), min_value=0, max_value=1000, required=False, initial=0
    )
    title_ko = forms.CharField(
        label=_("공지 제목"), max_length=200, required=False, help_text=_("비우면 공지를 올리지 않습니다.")
    )
    body_ko = forms.CharField(
        label=_("공지 내용"), max_length=NOTICE_PART_MAX_CHARS, required=False, widget=markdown_area(5)
    )
    title_en = forms.CharField(label=_("공지 제목(영어)"), max_length=200, required=False)
    body_en = forms.CharField(
        label=_("공지 내용(영어)"), max_length=NOTICE_PART_MAX_CHARS, required=False, widget=markdown_area(5)
    )
    leaves_other_phases = forms.BooleanField(
        label=_("같은 트랙의 다른 단계에서 이전 규칙의 점수가 순위표에서 빠지는 것을 알고 있습니다"), required=False
    )

    def __init__(
        self, *args: Any, hurts_others: bool, corrected: Sequence[ReferenceVersion] = (), **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        if not hurts_others:
            del self.fields["leaves_other_phases"]
        needed_when(self, _("제목을 적었을 때 필요"), "body_ko")
        needed_when(self, _("내용을 적었을 때 필요"), "title_ko")
        if corrected:
            self.fields["title_ko"].help_text = _(
                "비우면 새 정답 판의 정오 안내만 ‘정답 정정 안내’로 시작하는 제목의 공지로 올립니다. 적으면 이 공지 "
                "끝에 정오 안내를 붙여 하나로 올립니다."
            )
        self.always_previewed = [each for version in corrected for each in _errata(version)]

    def clean(self) -> dict[str, Any]:
        values: dict[str, Any] = super().clean() or {}
        if values.get("title_ko") and not values.get("body_ko"):
            self.add_error("body_ko", _("공지 내용을 적어 주십시오."))
        if not values.get("title_ko") and any(values.get(name) for name in ("body_ko", "title_en", "body_en")):
            self.add_error("title_ko", _("공지 제목을 적어 주십시오. 공지를 올리지 않으려면 내용도 비워 주십시오."))
        return values

    def choices(self) -> dict[str, Any]:
        """What ``apply_batch`` and ``order_application`` are asked for."""
        values = self.cleaned_data
        return {
            "resets_quota": values["resets_quota"],
            "grants_slots": values["grants_slots"] or 0,
            "announcement": Announcement(values["title_ko"], values["body_ko"], values["title_en"], values["body_en"]),
            "leaves_other_phases": values.get("leaves_other_phases", False),
        }


def _errata(version: ReferenceVersion) -> list[Preview]:
    texts = ((version.erratum_ko, "ko"), (version.erratum_en, "en"))
    label = gettext("정답 %(number)d판의 정오 안내") % {"number": version.number}
    return [Preview(label, text, used) for text, used in texts if text]


class ApplyForm(ChoicesForm):
    """Apply it now. ``seen`` names the preview that the page shows."""

    seen = forms.CharField(required=False, widget=forms.HiddenInput)
    confirm = ConfirmField(_("미리보기를 확인했고, 지금 모든 점수와 순위를 한꺼번에 바꾸겠습니다"))

    def show(self, seen: str) -> None:
        """Use the form under another preview than the one that was posted: it has to be confirmed anew."""
        data: Any = copy(self.data)  # of what was posted, one that may be changed
        data["seen"] = seen
        data.pop("confirm", None)
        self.data = data


class OrderForm(ChoicesForm):
    """Have it applied when it is ready, without another look."""

    guarded_places = forms.IntegerField(
        label=_("순서가 바뀌면 적용하지 않을 순위"),
        min_value=0,
        max_value=GUARDED_MAX,
        initial=PLACES,
        help_text=_(
            "공개 순위표에서 1위부터 이 순위까지의 순서가 바뀌면 적용하지 않고 알립니다. 0은 순위가 어떻게 바뀌어도 "
            "적용합니다."
        ),
    )
    confirm = ConfirmField(_("미리보기를 다시 보지 않고, 채점이 끝나는 대로 모든 점수와 순위를 한꺼번에 바꾸겠습니다"))
    field_order = ["guarded_places"]


class ExcludeForm(forms.Form):
    submission = forms.IntegerField(widget=forms.HiddenInput)
    reason = forms.CharField(label=_("제외 사유"), max_length=300, error_messages=REQUIRED)
