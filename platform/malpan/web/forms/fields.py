"""Fields that forms share: a moment in KST, a long text, a phase to choose, a box to tick."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, Final

from django import forms
from django.conf import settings
from django.core.exceptions import ValidationError
from django.template.defaultfilters import filesizeformat
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from malpan.competitions.models import Phase
from scoring.particles import fitted

MARKDOWN_HELP: Final = _(
    "Markdown으로 쓸 수 있습니다(제목 ##, 목록 -, 표, 링크). 스크립트와 서식 HTML, 다른 사이트의 이미지는 지워집니다."
)
REQUIRED: Final = {"required": _("입력해 주십시오.")}
FILE_REQUIRED: Final = {"required": _("파일을 골라 주십시오."), "missing": _("파일을 골라 주십시오.")}
MINUTE_FORMAT: Final = "%Y-%m-%dT%H:%M"


def of_these_centuries(moment: date) -> None:
    """Refuse a moment that is years before or after every contest: the first and the last ones that Python knows are
    none in another time zone, and pages that show them fail.
    """
    if not 2000 <= moment.year <= 2999:
        raise ValidationError(_("2000년부터 2999년까지의 날짜를 적어 주십시오."))


class KstMinuteField(forms.DateTimeField):
    """A moment to the minute, typed and shown in KST: the time zone of the site."""

    default_validators = [of_these_centuries]

    def __init__(self, **kwargs: Any) -> None:
        widget = forms.DateTimeInput(attrs={"type": "datetime-local", "step": "60"}, format=MINUTE_FORMAT)
        invalid = _("날짜와 시각을 2026-11-20 23:50처럼 입력해 주십시오.")
        super().__init__(widget=widget, error_messages={"invalid": invalid}, **kwargs)


class PhaseField(forms.ModelChoiceField):
    """A phase, named with its track."""

    def label_from_instance(self, obj: Phase) -> str:
        return f"{obj.track.title} · {obj.title}"


def with_limit(field: forms.Field) -> None:
    """Add to the help of a file how much is taken."""
    limit = gettext("한 번에 %(limit)s까지 올릴 수 있습니다.") % {"limit": filesizeformat(settings.UPLOAD_MAX_BYTES)}
    field.help_text = f"{field.help_text} {limit}"


def needed_when(form: forms.BaseForm, words: Any, *names: str) -> None:
    """Have the labels of fields that may be left empty say when they may not, in the place of “optional”; no words for
    several of which one is needed.
    """
    for name in names:
        form.fields[name].needed_when = words  # type: ignore[attr-defined]


class ConfirmField(forms.BooleanField):
    """A box to tick before something that cannot be undone; ``sentence`` says what will happen."""

    def __init__(self, sentence: Any = "", **kwargs: Any) -> None:
        super().__init__(label=sentence, error_messages={"required": _("확인란에 표시해 주십시오.")}, **kwargs)


class ConfirmForm(forms.Form):
    """A form with that box; ``key`` makes the ids unique if a page has several forms."""

    confirm = ConfirmField()

    def __init__(self, data: Any = None, *, sentence: Any, key: str = "confirm", **kwargs: Any) -> None:
        super().__init__(data, auto_id=f"{key}-%s", **kwargs)
        self.fields["confirm"].label = sentence


class TypedForm(forms.Form):
    """A word to type, if ticking a box would be too easy."""

    word = forms.CharField(
        label=_("확인"),
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
    )

    def __init__(self, data: Any = None, *, phase: Phase, **kwargs: Any) -> None:
        """The word is the address name of ``phase``."""
        super().__init__(data, **kwargs)
        self.wanted = phase.slug
        text = gettext("확인을 위해 단계의 주소 이름 ‘%(word)s’을(를) 그대로 적어 주십시오.")
        self.fields["word"].help_text = fitted(text % {"word": self.wanted})
        self.refusal = fitted(gettext("‘%(word)s’을(를) 그대로 적어야 합니다.") % {"word": self.wanted})
        self.fields["word"].error_messages["required"] = self.refusal

    def clean_word(self) -> str:
        if self.cleaned_data["word"].strip() != self.wanted:
            raise ValidationError(self.refusal)
        return self.wanted


def one_line(**attributes: str) -> forms.TextInput:
    """A line that the browser neither remembers nor fills."""
    return forms.TextInput(attrs={"autocomplete": "off", **attributes})


def text_area(rows: int, **attributes: str) -> forms.Textarea:
    return forms.Textarea(attrs={"rows": rows, "class": "long-text", **attributes})


class MarkdownArea(forms.Textarea):
    """A long text in Markdown: pages offer a preview of it."""


def markdown_area(rows: int) -> MarkdownArea:
    return MarkdownArea(attrs={"rows": rows, "class": "long-text"})


@dataclass(frozen=True, slots=True)
class Preview:
    label: str
    text: str
    language: str


def preview(form: forms.BaseForm) -> None:
    """Have ``form`` show what was typed into its Markdown fields as readers will see it (``forms/previews.html``), and
    the texts that go with it (``always_previewed``).

    For one that has none its page shows something else (``manage/arena_exclude.html``).
    """
    if fields := [field for field in form if isinstance(field.field.widget, MarkdownArea)]:
        form.previews = [  # type: ignore[attr-defined]
            Preview(str(field.label), field.value(), "en" if field.name.endswith("_en") else "ko")
            for field in fields
            if field.value()
        ]
        form.previews += getattr(form, "always_previewed", [])  # type: ignore[attr-defined]


def as_it_was(chosen: datetime, before: datetime | None) -> datetime:
    """``before``, with its seconds, if the form returned it unchanged to the minute; else ``chosen``."""
    return before if before and chosen == before.replace(second=0, microsecond=0) else chosen
