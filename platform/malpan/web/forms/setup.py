"""Forms of the set-up: the competition, its tracks, its files. They check the format; the services decide."""

from __future__ import annotations

import re
from typing import Any, Final, cast

from django import forms
from django.core.exceptions import ValidationError
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from malpan.competitions.models import Competition, DataFile, Track
from malpan.web.forms.composites import HELP, CompositeField
from malpan.web.forms.fields import MARKDOWN_HELP, markdown_area, needed_when, with_limit
from malpan.web.forms.judges import chosen_rubrics, judge_field, may_be_judged, value_of
from malpan.web.forms.seen import SeenForm
from malpan.web.presenters.scores import language
from scoring.models.profile import profile_names
from scoring.recipes import RECIPES, judged_id, parts_of

PRIZE_PLACES_MAX: Final = 10
LAST_PLACE: Final = 1000


class PrizePlacesField(forms.CharField):
    """Ranks as ``1, 3, 10``: sorted, each once."""

    def prepare_value(self, value: Any) -> Any:
        return ", ".join(str(place) for place in value) if isinstance(value, list) else value

    def to_python(self, value: Any) -> Any:
        parts = [part for part in re.split(r"[\s,]+", super().to_python(value) or "") if part]
        if not all(map(_is_place, parts)):
            raise ValidationError(_("순위를 1부터 1000까지의 수로, 쉼표로 나누어 적어 주십시오."))
        places = sorted({int(part) for part in parts})
        if len(places) > PRIZE_PLACES_MAX:
            raise ValidationError(_("시상 순위는 10개까지 적을 수 있습니다."))
        return places


def _is_place(part: str) -> bool:
    """Whether ``part`` is a rank; Python converts no number of thousands of digits."""
    return part.isascii() and part.isdigit() and len(part) <= len(str(LAST_PLACE)) and 1 <= int(part) <= LAST_PLACE


class NewCompetitionForm(forms.ModelForm):
    """What a competition needs at its creation; the rest follows in the next steps."""

    copy_of = forms.ModelChoiceField(
        label=_("본으로 삼을 대회"),
        queryset=Competition.objects.none(),
        required=False,
        empty_label=_("빈 대회에서 시작"),
        help_text=_(
            "글, 약관, 트랙, 단계를 옮깁니다. 정답, 자료, 팀, 제출, 역할은 옮기지 않으며 지난 일정은 미룹니다."
        ),
    )

    class Meta:
        model = Competition
        fields = ("title_ko", "title_en", "slug")
        help_texts = {"slug": _("주소에 들어갑니다: 영문자, 숫자, 붙임표(-), 밑줄(_). 공개한 뒤에는 바꿀 수 없습니다.")}

    def __init__(self, *args: Any, sources: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field: Any = self.fields["copy_of"]
        field.queryset = sources


class TextsForm(SeenForm):
    prize_places = PrizePlacesField(
        label=_("시상 순위"),
        required=False,
        help_text=_("이 순위 아래에 시상선을 긋습니다. 예: 1, 3, 10"),
    )
    renews_terms = forms.BooleanField(
        label=_("새 판으로 올려 모두에게 다시 동의를 받습니다"),
        required=False,
        help_text=_(
            "표시하지 않으면 이미 동의한 사람은 고친 약관에도 동의한 것으로 봅니다. 오탈자만 고칠 때 쓰십시오."
        ),
    )

    class Meta:
        model = Competition
        fields = (
            *("title_ko", "title_en", "slug", "organiser_ko", "organiser_en", "summary_ko", "summary_en"),
            *("description_ko", "description_en", "cover", "team_size_max", "has_blind_names", "prize_places"),
            *("terms_ko", "terms_en", "personal_data_months"),
        )
        widgets = {
            "description_ko": markdown_area(12),
            "description_en": markdown_area(12),
            "terms_ko": markdown_area(8),
            "terms_en": markdown_area(8),
        }
        help_texts = {
            "slug": _("주소에 들어갑니다: 영문자, 숫자, 붙임표(-), 밑줄(_). 공개한 뒤에는 바꿀 수 없습니다."),
            "description_ko": MARKDOWN_HELP,
            "description_en": MARKDOWN_HELP,
            "terms_ko": _("팀에 들어올 때 동의를 받습니다. 비우면 동의를 받지 않습니다."),
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["slug"].disabled = bool(self.instance.is_published)
        cast("forms.ChoiceField", self.fields["cover"]).choices = [("", _("기본 회색")), *Competition.Cover.choices]
        needed_when(self, _("공개하려면 필요"), "summary_ko", "description_ko")
        if not self.instance.terms_version:
            del self.fields["renews_terms"]


def _recipes() -> list[tuple[str, str]]:
    return [(each.id, f"{each.title(language())} — {each.id}") for each in RECIPES.values()]


def _profiles() -> list[tuple[str, str | Promise]]:
    return [("", _("서버의 기본 프로필")), *((name, name) for name in profile_names())]


class TrackForm(SeenForm):
    recipe = forms.ChoiceField(
        label=_("채점 방식"), choices=_recipes, help_text=_("규칙은 아래 ‘채점 방식의 규칙’에서 볼 수 있습니다.")
    )
    judge = judge_field()
    profile = forms.ChoiceField(label=_("모델 프로필"), choices=_profiles, required=False)
    composite = CompositeField(
        label=_("종합 순위의 지표와 가중치"),
        required=False,
        help_text=HELP,
    )

    class Meta:
        model = Track
        fields = (
            *("title_ko", "title_en", "slug", "description_ko", "description_en"),
            *("recipe", "profile", "composite", "score_scale", "score_decimals", "position"),
        )
        widgets = {"description_ko": markdown_area(6), "description_en": markdown_area(6)}
        help_texts = {
            "description_ko": MARKDOWN_HELP,
            "score_decimals": _("0~9자리. AI 말평은 7자리까지 적습니다."),
            "position": _("작은 수가 앞에 옵니다."),
        }

    def __init__(self, *args: Any, competition: Competition, may_name_path: bool = False, **kwargs: Any) -> None:
        """``may_name_path``: an administrator may choose any profile, also a file on the server."""
        super().__init__(*args, **kwargs)
        self.competition = competition
        self.initial.update(judge=value_of(self.instance.recipe), recipe=parts_of(self.instance.recipe)[0])
        shown = RECIPES.get(self["recipe"].value() or next(iter(RECIPES)))
        if shown is not None:
            composite: Any = self.fields["composite"]
            composite.offer(shown)
        if may_name_path:
            label, text = self.fields["profile"].label, _("이름 또는 서버에 있는 TOML 파일의 경로. 비우면 기본 프로필.")
            self.fields["profile"] = forms.CharField(label=label, required=False, max_length=200, help_text=text)
            return
        own = self.instance.profile
        field: Any = self.fields["profile"]
        if own and own not in profile_names():  # a path that an administrator entered
            field.choices = [*_profiles(), (own, own)]

    def clean(self) -> dict[str, Any]:
        """With the recipe that rule and judge make together, and without the judge."""
        values: dict[str, Any] = super().clean() or {}
        rubrics = chosen_rubrics(values.pop("judge", ""))
        if rubrics and "recipe" in values:
            if not may_be_judged(values["recipe"]):
                text = _("이 채점 방식의 답은 글이 아니어서 심사할 수 없습니다. ‘쓰지 않음’을 골라 주십시오.")
                self.add_error("judge", text)
            else:
                values["recipe"] = judged_id(values["recipe"], rubrics)
        return values

    def clean_slug(self) -> str:
        slug: str = self.cleaned_data["slug"]
        if self.competition.tracks.filter(slug=slug).exclude(pk=self.instance.pk).exists():
            raise ValidationError(_("이 대회의 다른 트랙이 쓰는 주소 이름입니다."))
        return slug

    def clean_score_decimals(self) -> int:
        decimals: int = self.cleaned_data["score_decimals"]
        if decimals > 9:
            raise ValidationError(_("9 이하의 수를 적어 주십시오."))
        return decimals


class DataFileForm(forms.ModelForm):
    """How a file is offered for download; its content does not change."""

    class Meta:
        model = DataFile
        fields: tuple[str, ...] = ("kind", "title_ko", "title_en", "position")
        help_texts = {"position": _("작은 수가 앞에 옵니다.")}


class NewDataFileForm(DataFileForm):
    file = forms.FileField(
        label=_("파일"), help_text=_("누구나 내려받을 수 있게 됩니다. 정답이 들어 있으면 안 됩니다.")
    )

    class Meta(DataFileForm.Meta):
        fields = ("kind", "title_ko", "title_en")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        with_limit(self.fields["file"])


class GapsForm(forms.Form):
    """Publishing in spite of gaps in the checklist; without gaps there is no box."""

    accepts_gaps = forms.BooleanField(required=False)

    def __init__(self, data: Any = None, *, gaps: int) -> None:
        super().__init__(data, auto_id="publish-%s")
        text = ngettext(
            "갖추지 못한 항목이 %(count)d건 있어도 공개합니다.",
            "갖추지 못한 항목이 %(count)d건 있어도 공개합니다.",
            gaps,
        )
        self.fields["accepts_gaps"].label = text % {"count": gaps}
        if not gaps:
            del self.fields["accepts_gaps"]
