"""Forms of a phase: its settings, its split, its final board. They check the format; the services decide."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from typing import Any, Final

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _

from malpan.competitions.models import Phase, Track
from malpan.competitions.splitting import ids_of_text
from malpan.web.forms.fields import KstMinuteField, TypedForm, as_it_was, needed_when, text_area
from malpan.web.forms.intervals import IntervalField
from malpan.web.forms.seen import SeenForm
from malpan.web.presenters.composites import scores_of_composite
from malpan.web.presenters.scores import step_text

STEP_PLACES: Final = 6  # decimals of ``Phase.score_step``


class PhaseForm(SeenForm):
    """Everything an organiser sets on a phase. A new one has an address name, and its board is live."""

    starts_at = KstMinuteField(label=_("시작"), help_text=_("KST. 이 시각부터 제출을 받습니다."))
    ends_at = KstMinuteField(label=_("마감"), help_text=_("KST. 이 시각이 되면 더 받지 않습니다."))
    frozen_at = KstMinuteField(
        label=_("순위표 고정 시각"),
        required=False,
        help_text=_(
            "KST. ‘고정’일 때만 쓰며, 이 시각 전의 제출까지만 순위표에 오릅니다. 앞으로 올 시각을 적으면 그때 "
            "고정됩니다. 비우면 지금입니다."
        ),
    )
    min_interval = IntervalField(
        label=_("제출 간 최소 간격"),
        help_text=_("72시간, 90분, 1시간 30분, 3일처럼 적습니다. 0이면 간격이 없습니다."),
        initial=timedelta(),
    )

    step_points = forms.DecimalField(
        label=_("공개 점수의 단위(점)"),
        required=False,
        help_text=_(
            "최종 발표 전에는 이 단위로 반올림한 점수를 보이고, 순위도 그 점수로 매깁니다. RMSE처럼 배율 없이 보이는 "
            "점수는 0~1의 값으로 같은 단위입니다(100점 가운데 0.1점이면 0.001). 비우면 모든 자리를 보입니다."
        ),
    )

    counting = forms.ChoiceField(
        label=_("팀마다 반영할 제출"),
        choices=[("", _("골라 주십시오")), *Phase.Counting.choices],
        help_text=_(
            "종합 점수는 팀마다 제출 하나로 매깁니다. ‘팀이 고른 제출’은 최종 선택 한도가 1일 때 쓰며, 고르지 않은 "
            "팀은 가장 최근 제출이 반영됩니다. ‘가장 최근 제출’이면 최종 선택 한도를 비웁니다."
        ),
    )
    counting_score = forms.ChoiceField(
        label=_("가장 좋은 제출을 가리는 점수"), required=False, help_text=_("‘가장 좋은 제출’일 때만 씁니다.")
    )

    class Meta:
        model = Phase
        fields = (
            *("title_ko", "title_en", "slug", "starts_at", "ends_at", "daily_limit", "total_limit"),
            *("min_interval", "public_percent", "private_covers_all", "finals_limit", "counting"),
            *("counting_score", "shows_own_score"),
            *("step_points", "is_ladder", "ties", "item_scores", "position", "board", "frozen_at"),
        )
        help_texts = {
            "daily_limit": _("KST 하루에 몇 번. 비우면 한도가 없습니다."),
            "total_limit": _("이 단계 전체에서 몇 번. 비우면 한도가 없습니다."),
            "public_percent": _(
                "이만큼의 문항이 공개 점수가 됩니다. 나머지는 최종 발표까지 숨깁니다. "
                "나누는 시드는 서버가 정하고 아무에게도 보여 주지 않습니다. 비우면 나누지 않습니다."
            ),
            "private_covers_all": _("표시하면 최종 순위를 숨긴 문항만이 아니라 모든 문항의 점수로 정합니다."),
            "is_ladder": _(
                "자기 팀의 공개 점수보다 한 단위 넘게 오른 제출만 공개 점수를 받습니다. 나머지 제출의 점수는 최종 "
                "발표까지 팀에게도 보이지 않아, 많이 제출하며 공개 점수에 맞추기가 어려워집니다."
            ),
            "shows_own_score": _(
                "순위표가 고정되거나 비공개인 동안에도 각 팀에게 자기 제출의 공개 점수를 보입니다. 표시하지 않으면 "
                "고정된 뒤의 제출이나 비공개인 동안의 점수는 최종 발표까지 그 팀에게도 보이지 않습니다."
            ),
            "ties": _(
                "문항을 다시 뽑아 검정했을 때 차이를 확인할 수 없는 팀들을 순위표에 어떻게 보일지 정합니다. 공식 "
                "순위는 어느 쪽이든 그대로 보입니다."
            ),
            "item_scores": _(
                "팀에게 자기 제출의 문항별 점수를 어떻게 보일지 정합니다. 나눈 단계에서는 최종 발표까지 "
                "공개 문항만 보이므로, 어느 문항이 공개 문항인지가 드러납니다. 공개 점수의 단위를 정하면 "
                "최종 발표까지는 어느 쪽이든 보이지 않습니다. 점수 그대로 열면 최종 발표 "
                "뒤에는 문항마다의 평균도 누구나 봅니다. 정답은 어느 쪽이든 보이지 않습니다."
            ),
            "position": _("작은 수가 앞에 옵니다."),
            "finals_limit": _("팀이 최종 순위를 위해 고를 수 있는 제출의 수. 비우면 가장 좋은 제출이 됩니다."),
        }

    def __init__(self, *args: Any, track: Track, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.track = track
        if self.instance.score_step is not None:
            self.fields["step_points"].initial = step_text(self.instance)
        for name in ("slug",) if self.instance.pk else ("board", "frozen_at"):
            del self.fields[name]
        for name in ("ties", "item_scores"):
            self.fields[name].required = False
        needed_when(self, _("오른 점수만 공개할 때는 필요"), "step_points")
        self._set_counting()

    def _set_counting(self) -> None:
        """Offer what counts only where a composite ranks; in a new phase it must be chosen."""
        scores = scores_of_composite(self.track)
        if not scores:
            del self.fields["counting"], self.fields["counting_score"]
            return
        needed_when(self, _("‘가장 좋은 제출’일 때 필요"), "counting_score")
        field = self.fields["counting_score"]
        assert isinstance(field, forms.ChoiceField)
        field.choices = [("", _("골라 주십시오")), *scores]
        if not self.instance.pk:
            self.initial["counting"] = ""

    def clean_ties(self) -> str:
        """As it was, where the form has no choice of it."""
        return self.cleaned_data["ties"] or str(self.instance.ties)

    def clean_item_scores(self) -> str:
        """As it was, where the form has no choice of it."""
        return self.cleaned_data["item_scores"] or str(self.instance.item_scores)

    def clean_slug(self) -> str:
        slug: str = self.cleaned_data["slug"]
        if self.track.phases.filter(slug=slug).exists():
            raise ValidationError(_("이 트랙의 다른 단계가 쓰는 주소 이름입니다."))
        return slug

    def clean(self) -> dict[str, Any]:
        values: dict[str, Any] = super().clean() or {}
        if values.get("counting") == Phase.Counting.BEST and not values.get("counting_score"):
            self.add_error("counting_score", _("가장 좋은 제출을 가리는 점수를 골라 주십시오."))
        return values

    def clean_step_points(self) -> Decimal | None:
        points: Decimal | None = self.cleaned_data["step_points"]
        if points is None:
            return None
        highest = self.track.score_scale / Decimal(10)
        step = points / self.track.score_scale
        if not 0 < step <= Decimal("0.1") or step != round(step, STEP_PLACES):
            lowest = (self.track.score_scale * Decimal(1).scaleb(-STEP_PLACES)).normalize()
            text = _("%(lowest)s에서 %(highest)s까지, %(lowest)s의 배수로 적어 주십시오.")
            raise ValidationError(text % {"lowest": f"{lowest:f}", "highest": f"{highest.normalize():f}"})
        return points

    def _post_clean(self) -> None:
        """Check each column by its own limits, then all by the rules of the model; ``instance`` keeps the values of the
        database. The service checks the whole row.
        """
        columns = {column.name: column for column in Phase._meta.concrete_fields}
        for name in [name for name in self.cleaned_data if name in columns]:
            try:
                columns[name].clean(self.cleaned_data[name], self.instance)
            except ValidationError as error:
                self.add_error(name, error)
        try:
            Phase(**self.values()).clean()
        except ValidationError as error:
            for name, found in error.error_dict.items():
                field = "step_points" if name == "score_step" else name
                if field not in self.errors:
                    self.add_error(field, found)

    def values(self) -> dict[str, Any]:
        """The columns of the phase. A moment that was not changed keeps its seconds."""
        chosen = dict(self.cleaned_data)
        points = chosen.pop("step_points", None)
        chosen["score_step"] = None if points is None else round(points / self.track.score_scale, STEP_PLACES)
        for name in chosen.keys() & {"starts_at", "ends_at", "frozen_at"}:
            chosen[name] = as_it_was(chosen[name], getattr(self.instance, name))
        if "counting" in chosen and chosen["counting"] != Phase.Counting.BEST:
            chosen["counting_score"] = ""
        return chosen


class SplitForm(forms.Form):
    way = forms.ChoiceField(
        label=_("나누는 방법"),
        choices=[
            ("share", _("단계 설정의 비율대로(문항 유형마다 같은 비율)")),
            ("list", _("아래 목록의 문항을 공개 문항으로")),
            ("none", _("나누지 않음(모든 문항을 공개 점수로)")),
        ],
        widget=forms.RadioSelect,
        error_messages={"required": _("방법을 골라 주십시오.")},
    )
    public_ids = forms.CharField(
        label=_("공개 문항의 id"),
        required=False,
        strip=True,
        help_text=_("한 줄에 하나씩, 또는 쉼표로 나누어 적습니다."),
        widget=text_area(8, spellcheck="false"),
    )
    replaces = forms.BooleanField(
        label=_("이미 제출이 있어도 새 판으로 바꿉니다. 지금까지의 점수는 다시 채점할 때까지 순위표에서 빠집니다."),
        required=False,
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        needed_when(self, _("목록으로 나눌 때 필요"), "public_ids")

    def clean(self) -> dict[str, Any]:
        values: dict[str, Any] = super().clean() or {}
        if values.get("way") == "list" and not ids_of_text(values.get("public_ids", "")):
            self.add_error("public_ids", _("공개 문항의 id를 적어 주십시오."))
        return values


class PublishForm(TypedForm):
    """The publication of a final board."""

    note_ko = forms.CharField(
        label=_("안내"),
        max_length=300,
        required=False,
        help_text=_("최종 순위표 위에 보입니다. 다시 발표할 때는 그 이유를 적어 주십시오."),
    )
    note_en = forms.CharField(label=_("안내(영어)"), max_length=300, required=False)
    field_order = ["note_ko", "note_en", "word"]
