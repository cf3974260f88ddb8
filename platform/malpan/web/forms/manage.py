"""Forms of the manage pages. They check shape and carry values; the services decide."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from typing import Any, Final

from django import forms
from django.core.exceptions import ValidationError
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from malpan.competitions import questions
from malpan.competitions.models import Competition, CompetitionRole, DataFile, Notice, Phase, Question, Track
from malpan.web.presenters.scores import language
from scoring.models.profile import profile_names
from scoring.recipes import RECIPES

MARKDOWN_HELP: Final = _("Markdown으로 쓸 수 있습니다(제목 ##, 목록 -, 표, 링크). 스크립트와 서식 HTML은 지워집니다.")
PRIZE_PLACES_MAX: Final = 10
LAST_PLACE: Final = 1000
MINUTE_FORMAT: Final = "%Y-%m-%dT%H:%M"


class KstMinuteField(forms.DateTimeField):
    """A moment to the minute, typed and shown in KST: the time zone of the site."""

    def __init__(self, **kwargs: Any) -> None:
        widget = forms.DateTimeInput(attrs={"type": "datetime-local", "step": "60"}, format=MINUTE_FORMAT)
        invalid = _("날짜와 시각을 2026-11-20 23:50처럼 입력해 주십시오.")
        super().__init__(widget=widget, error_messages={"invalid": invalid}, **kwargs)


def _as_it_was(chosen: datetime, before: datetime | None) -> datetime:
    """``before``, to the second, where the form gave it back as it was shown, to the minute; else ``chosen``."""
    return before if before and chosen == before.replace(second=0, microsecond=0) else chosen


def _text_area(rows: int) -> forms.Textarea:
    return forms.Textarea(attrs={"rows": rows, "class": "long-text"})


class PrizePlacesField(forms.CharField):
    """Ranks as ``1, 3, 10``: sorted, each once."""

    def prepare_value(self, value: Any) -> Any:
        return ", ".join(str(place) for place in value) if isinstance(value, list) else value

    def to_python(self, value: Any) -> Any:
        parts = [part for part in re.split(r"[\s,]+", super().to_python(value) or "") if part]
        if not all(part.isascii() and part.isdigit() and 1 <= int(part) <= LAST_PLACE for part in parts):
            raise ValidationError(_("순위를 1부터 1000까지의 수로, 쉼표로 나누어 적어 주십시오."))
        places = sorted({int(part) for part in parts})
        if len(places) > PRIZE_PLACES_MAX:
            raise ValidationError(_("시상 순위는 10개까지 적을 수 있습니다."))
        return places


class NewCompetitionForm(forms.ModelForm):
    """What must be known before the first row is written; the rest follows step by step."""

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
        help_texts = {"slug": _("주소에 들어갑니다: 영문 소문자, 숫자, 붙임표(-). 공개한 뒤에는 바꿀 수 없습니다.")}

    def __init__(self, *args: Any, sources: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field: Any = self.fields["copy_of"]
        field.queryset = sources


class TextsForm(forms.ModelForm):
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
            *("description_ko", "description_en", "team_size_max", "has_blind_names", "prize_places"),
            *("terms_ko", "terms_en"),
        )
        widgets = {
            "description_ko": _text_area(12),
            "description_en": _text_area(12),
            "terms_ko": _text_area(8),
            "terms_en": _text_area(8),
        }
        help_texts = {
            "slug": _("주소에 들어갑니다: 영문 소문자, 숫자, 붙임표(-). 공개한 뒤에는 바꿀 수 없습니다."),
            "description_ko": MARKDOWN_HELP,
            "description_en": MARKDOWN_HELP,
            "terms_ko": _("팀에 들어올 때 동의를 받습니다. 비우면 동의를 받지 않습니다."),
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["slug"].disabled = bool(self.instance.is_published)
        if not self.instance.terms_version:
            del self.fields["renews_terms"]


def _recipes() -> list[tuple[str, str]]:
    return [(each.id, f"{each.title(language())} — {each.id}") for each in RECIPES.values()]


def _profiles() -> list[tuple[str, str | Promise]]:
    return [("", _("서버의 기본 프로필")), *((name, name) for name in profile_names())]


class TrackForm(forms.ModelForm):
    recipe = forms.ChoiceField(
        label=_("채점 방식"), choices=_recipes, help_text=_("규칙은 아래 ‘채점 방식의 규칙’에서 볼 수 있습니다.")
    )
    profile = forms.ChoiceField(label=_("모델 프로필"), choices=_profiles, required=False)

    class Meta:
        model = Track
        fields = (
            *("title_ko", "title_en", "slug", "description_ko", "description_en"),
            *("recipe", "profile", "score_scale", "score_decimals", "position"),
        )
        widgets = {"description_ko": _text_area(6), "description_en": _text_area(6)}
        help_texts = {
            "description_ko": MARKDOWN_HELP,
            "score_decimals": _("0~9자리. AI 말평은 7자리까지 적습니다."),
            "position": _("작은 수가 앞에 옵니다."),
        }

    def __init__(self, *args: Any, competition: Competition, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.competition = competition
        own = self.instance.profile
        field: Any = self.fields["profile"]
        if own and own not in profile_names():  # a path, which the operator named
            field.choices = [*_profiles(), (own, own)]

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


class PhaseForm(forms.ModelForm):
    """A phase as the wizard asks for it. The board and the final results are set on the page of the phases."""

    starts_at = KstMinuteField(label=_("시작"), help_text=_("KST. 이 시각부터 제출을 받습니다."))
    ends_at = KstMinuteField(label=_("마감"), help_text=_("KST. 이 시각이 되면 더 받지 않습니다."))
    interval_minutes = forms.IntegerField(
        label=_("제출 간 최소 간격(분)"), min_value=0, max_value=60 * 24 * 365, initial=0, help_text=_("0: 간격 없음")
    )

    class Meta:
        model = Phase
        fields: tuple[str, ...] = (
            *("title_ko", "title_en", "slug", "starts_at", "ends_at", "daily_limit", "total_limit"),
            *("interval_minutes", "public_percent", "private_covers_all", "finals_limit", "shows_own_score"),
        )
        help_texts = {
            "daily_limit": _("KST 하루에 몇 번. 비우면 한도가 없습니다."),
            "total_limit": _("이 단계 전체에서 몇 번. 비우면 한도가 없습니다."),
            "public_percent": _(
                "이만큼의 문항이 공개 점수가 됩니다. 나머지는 최종 발표까지 숨깁니다. "
                "나누는 시드는 서버가 정하고 아무에게도 보여 주지 않습니다. 비우면 나누지 않습니다."
            ),
            "private_covers_all": _("표시하면 최종 점수를 숨긴 문항만이 아니라 모든 문항으로 구합니다."),
            "finals_limit": _("팀이 고를 수 있는 최종 제출의 수. 비우면 가장 좋은 제출이 됩니다."),
        }

    def __init__(self, *args: Any, track: Track, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.track = track
        if self.instance.pk:
            self.fields["interval_minutes"].initial = int(self.instance.min_interval.total_seconds() // 60)
            del self.fields["slug"]

    def clean_slug(self) -> str:
        slug: str = self.cleaned_data["slug"]
        if self.track.phases.filter(slug=slug).exists():
            raise ValidationError(_("이 트랙의 다른 단계가 쓰는 주소 이름입니다."))
        return slug

    def clean_public_percent(self) -> int | None:
        share: int | None = self.cleaned_data["public_percent"]
        if share is not None and not 1 <= share <= 99:
            raise ValidationError(_("1부터 99까지의 수를 적어 주십시오."))
        return share

    def clean(self) -> dict[str, Any]:
        values: dict[str, Any] = super().clean() or {}
        if (start := values.get("starts_at")) and (end := values.get("ends_at")) and end <= start:
            self.add_error("ends_at", _("마감은 시작보다 뒤여야 합니다."))
        return values

    def _post_clean(self) -> None:
        """Each column by its own limits; ``instance`` stays what stands in the database.

        What columns must be to each other is said above, beside their fields; the service checks the whole row.
        """
        columns = {column.name: column for column in Phase._meta.concrete_fields}
        for name in [name for name in self.cleaned_data if name in columns]:
            try:
                columns[name].clean(self.cleaned_data[name], self.instance)
            except ValidationError as error:
                self.add_error(name, error)

    def values(self) -> dict[str, Any]:
        """The columns of the phase. A moment left as it was shown, to the minute, stays as it is, to the second."""
        chosen = dict(self.cleaned_data)
        chosen["min_interval"] = timedelta(minutes=chosen.pop("interval_minutes"))
        for name in chosen.keys() & {"starts_at", "ends_at", "frozen_at"}:
            chosen[name] = _as_it_was(chosen[name], getattr(self.instance, name))
        return chosen


class ReferencesForm(forms.Form):
    file = forms.FileField(
        label=_("정답 파일"), help_text=_("올린 파일은 채점에만 쓰이며 다시 내려받거나 볼 수 없습니다.")
    )
    frames = forms.FileField(
        label=_("프레임 파일(zip)"),
        required=False,
        help_text=_("CLIPScore에 쓸 이미지입니다. 이미지를 보지 않는 채점 방식이면 비워 두십시오."),
    )
    note = forms.CharField(label=_("메모"), max_length=300, required=False)


class DataFileForm(forms.ModelForm):
    file = forms.FileField(
        label=_("파일"), help_text=_("누구나 내려받을 수 있게 됩니다. 정답이 들어 있으면 안 됩니다.")
    )

    class Meta:
        model = DataFile
        fields = ("kind", "title_ko", "title_en")


class NoticeForm(forms.ModelForm):
    published_at = KstMinuteField(label=_("게시 시각"), help_text=_("KST. 앞으로 올 시각을 적으면 그때부터 보입니다."))

    class Meta:
        model = Notice
        fields = ("title_ko", "title_en", "body_ko", "body_en", "is_pinned", "published_at")
        labels = {"body_ko": _("공지 내용"), "body_en": _("공지 내용(영어)")}
        widgets = {"body_ko": _text_area(10), "body_en": _text_area(10)}
        help_texts = {"body_ko": MARKDOWN_HELP, "is_pinned": _("다른 공지보다 위에 둡니다.")}

    def clean_published_at(self) -> datetime:
        """A moment left as it was shown, to the minute, stays as it is, to the second."""
        before = self.instance.published_at if self.instance.pk else None
        return _as_it_was(self.cleaned_data["published_at"], before)


class AnswerForm(forms.ModelForm):
    answer_ko = forms.CharField(
        label=_("답변"), max_length=questions.ANSWER_MAX_CHARS, widget=_text_area(8), help_text=MARKDOWN_HELP
    )
    answer_en = forms.CharField(
        label=_("답변(영어)"), max_length=questions.ANSWER_MAX_CHARS, required=False, widget=_text_area(8)
    )
    is_public = forms.BooleanField(
        label=_("모두에게 공개"),
        required=False,
        help_text=_("질문과 답변이 모두에게 보입니다. 질문한 사람의 이름은 보이지 않습니다."),
    )

    class Meta:
        model = Question
        fields = ("answer_ko", "answer_en", "is_public")


class QuestionForm(forms.Form):
    title = forms.CharField(label=_("제목"), max_length=questions.TITLE_MAX_CHARS)
    body = forms.CharField(
        label=_("질문 내용"),
        max_length=questions.BODY_MAX_CHARS,
        widget=_text_area(6),
        help_text=_("4,000자까지 쓸 수 있습니다. 답이나 점수를 알 수 있는 내용, 개인 정보는 적지 마십시오."),
    )


class AppointForm(forms.Form):
    email = forms.EmailField(
        label=_("이메일"),
        help_text=_("이미 가입한 사람의 이메일을 적어 주십시오."),
        error_messages={"invalid": _("올바른 형식으로 입력해 주십시오.")},
        widget=forms.EmailInput(attrs={"autocomplete": "off"}),
    )
    role = forms.ChoiceField(label=_("역할"), choices=CompetitionRole.Role.choices, initial=CompetitionRole.Role.VIEWER)


class RoleForm(forms.Form):
    role = forms.ChoiceField(label=_("역할"), choices=CompetitionRole.Role.choices)


class ConfirmForm(forms.Form):
    """An act that cannot be taken back: a box that must be ticked, with ``words`` beside it."""

    confirmed = forms.BooleanField(error_messages={"required": _("확인란에 표시해 주십시오.")})

    def __init__(self, *args: Any, words: str, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["confirmed"].label = words
