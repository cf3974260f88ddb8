"""The forms of a rubric: its texts, a row for each criterion and for each reason, and two empty ones to fill."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from django import forms
from django.core.exceptions import ValidationError
from django.utils.functional import Promise
from django.utils.translation import gettext as _t
from django.utils.translation import gettext_lazy as _

from malpan.arena.models import Rubric
from malpan.arena.models.campaign import TITLE_MAX
from malpan.arena.rubric_form import ANCHOR_MAX, CRITERIA_MAX, LABEL_MAX, REASONS_MAX, SCALE, WEIGHT
from malpan.core.text import MARKDOWN_MAX_CHARS
from malpan.web.forms.fields import MARKDOWN_HELP, markdown_area, text_area
from scoring.particles import fitted

KEY: Final = re.compile(r"\A[a-z][a-z0-9_]{0,39}\Z")
_ANCHOR_LINE: Final = re.compile(r"\s*(\d{1,3})\s*(?:점)?\s*[:：]\s*(\S.*)")
_ANCHORS_CHARS: Final = 20_000
_WHOLE: Final = _("0부터 100까지의 정수를 적어 주십시오.")
_WHOLE_WEIGHT: Final = _("1부터 100까지의 정수를 적어 주십시오.")
_KEY_HELP: Final = _(
    "공개하는 평가 파일에서 쓰는 이름입니다. 영문 소문자로 시작해 소문자, 숫자, 밑줄로 적습니다. 비우면 영어 이름으로 "
    "만듭니다."
)


class RubricForm(forms.Form):
    """The texts of a version. ``based_on``: the newest version that the person saw."""

    title_ko = forms.CharField(
        label=_("제목"), max_length=TITLE_MAX, error_messages={"required": _("제목을 적어 주십시오.")}
    )
    title_en = forms.CharField(label=_("제목(영어)"), max_length=TITLE_MAX, required=False)
    guideline_ko = forms.CharField(
        label=_("평가 지침"),
        max_length=MARKDOWN_MAX_CHARS,
        widget=markdown_area(14),
        help_text=MARKDOWN_HELP,
        error_messages={"required": _("평가 지침을 적어 주십시오. 평가자는 지침을 확인한 뒤에 평가를 시작합니다.")},
    )
    guideline_en = forms.CharField(
        label=_("평가 지침(영어)"), max_length=MARKDOWN_MAX_CHARS, required=False, widget=markdown_area(10)
    )


class _NamedRow(forms.Form):
    """What criteria and reasons share."""

    label_ko = forms.CharField(
        label=_("이름"), max_length=LABEL_MAX, error_messages={"required": _("이름을 적어 주십시오.")}
    )
    label_en = forms.CharField(label=_("이름(영어)"), max_length=LABEL_MAX, required=False)
    key = forms.RegexField(
        KEY,
        label=_("파일 속 이름"),
        max_length=40,
        required=False,
        help_text=_KEY_HELP,
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
        error_messages={"invalid": _("영문 소문자로 시작해 소문자, 숫자, 밑줄로 적어 주십시오.")},
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["key"].strip = True  # type: ignore[attr-defined]


class CriterionForm(_NamedRow):
    low = forms.IntegerField(
        label=_("최저점"),
        min_value=SCALE[0],
        max_value=SCALE[1],
        initial=1,
        error_messages=dict.fromkeys(("required", "invalid", "min_value", "max_value"), _WHOLE),
    )
    high = forms.IntegerField(
        label=_("최고점"),
        min_value=SCALE[0],
        max_value=SCALE[1],
        initial=5,
        error_messages=dict.fromkeys(("required", "invalid", "min_value", "max_value"), _WHOLE),
    )
    weight = forms.IntegerField(
        label=_("비중"),
        min_value=WEIGHT[0],
        max_value=WEIGHT[1],
        initial=1,
        error_messages=dict.fromkeys(("required", "invalid", "min_value", "max_value"), _WHOLE_WEIGHT),
    )
    anchors_ko = forms.CharField(
        label=_("점수마다의 설명"),
        max_length=_ANCHORS_CHARS,
        required=False,
        widget=text_area(5),
        help_text=_("한 줄에 하나씩 ‘5: 매우 자연스럽다’처럼 적습니다. 설명이 없는 점수는 비워 둡니다."),
    )
    anchors_en = forms.CharField(
        label=_("점수마다의 설명(영어)"), max_length=_ANCHORS_CHARS, required=False, widget=text_area(5)
    )
    field_order = ("label_ko", "label_en", "low", "high", "weight", "key")

    def clean(self) -> dict[str, Any]:
        values: dict[str, Any] = super().clean() or {}
        low, high = values.get("low"), values.get("high")
        if low is None or high is None:
            return values
        if low >= high:
            self.add_error("high", _t("최고점은 최저점보다 커야 합니다."))
            return values
        for name in ("anchors_ko", "anchors_en"):
            try:
                values[name] = read_anchors(values.get(name) or "", low, high)
            except ValidationError as error:
                self.add_error(name, error)
        return values

    def row(self) -> dict[str, Any]:
        """The criterion as ``Rubric`` has it; the key may be empty."""
        values = self.cleaned_data
        korean, english = values["anchors_ko"], values["anchors_en"]
        points = sorted({*korean, *english})
        anchors = {str(point): {"ko": korean.get(point, ""), "en": english.get(point, "")} for point in points}
        kept = {name: values[name] for name in ("key", "label_ko", "label_en", "low", "high", "weight")}
        return kept | {"anchors": anchors}


class ReasonForm(_NamedRow):
    def row(self) -> dict[str, Any]:
        return {name: self.cleaned_data[name] for name in ("key", "label_ko", "label_en")}


class _Rows(forms.BaseFormSet):
    stem = "row"

    def rows(self) -> list[dict[str, Any]]:
        """The rows that are filled in and not to be deleted, each with a key of its own."""
        known = self.initial_form_count()
        filled = [form for place, form in enumerate(self.forms) if place < known or form.has_changed()]
        rows = [form.row() for form in filled if form not in self.deleted_forms]
        return with_keys(rows, self.prefix or self.stem)


def _row_set(form: type[_NamedRow], most: int) -> Any:
    return forms.formset_factory(
        form, formset=_Rows, extra=2, max_num=most, absolute_max=2 * most, validate_max=True, can_delete=True,
        can_delete_extra=False,
    )  # fmt: skip


_Criteria: Final = _row_set(CriterionForm, CRITERIA_MAX)
_Reasons: Final = _row_set(ReasonForm, REASONS_MAX)


class RubricForms:
    """The three parts of the page of a new version, filled in from ``last`` or from what was sent in ``data``;
    or, with two more empty rows and no word of what is wrong, as it was ``written`` so far.
    """

    def __init__(self, data: Any = None, last: Rubric | None = None, written: Any = None) -> None:
        if written is not None:
            initial = {name: written.get(name, "") for name in RubricForm.base_fields}
            criteria, reasons = _written(written, _Criteria, "criterion"), _written(written, _Reasons, "reason")
        else:
            initial = {name: getattr(last, name) for name in RubricForm.base_fields} if last else {}
            criteria, reasons = [_initial(each) for each in last.criteria] if last else [], last.reasons if last else []
        self.texts = RubricForm(data, initial=initial)
        self.criteria = _Criteria(data, initial=criteria, prefix="criterion")
        self.reasons = _Reasons(data, initial=reasons, prefix="reason")

    @property
    def is_bound(self) -> bool:
        return self.texts.is_bound

    def is_valid(self) -> bool:
        found = [part.is_valid() for part in (self.texts, self.criteria, self.reasons)]  # each shows its faults
        return all(found)

    def values(self) -> dict[str, Any]:
        """The version as ``create_rubric`` takes it."""
        return {**self.texts.cleaned_data, "criteria": self.criteria.rows(), "reasons": self.reasons.rows()}


def _written(data: Any, rows: Any, prefix: str) -> list[dict[str, str]]:
    """The rows in ``data`` that have something in them and are not to be deleted."""
    names, count = [*rows.form.base_fields], data.get(f"{prefix}-TOTAL_FORMS", "")
    total = min(int(count), rows.absolute_max) if count.isascii() and count.isdigit() and len(count) < 5 else 0
    given = [{name: data.get(f"{prefix}-{place}-{name}", "") for name in names} for place in range(total)]
    gone = [f"{prefix}-{place}-DELETE" in data for place in range(total)]
    blank = {name: str(field.initial or "") for name, field in rows.form.base_fields.items()}
    return [row for row, is_gone in zip(given, gone, strict=True) if row != blank and not is_gone]


def read_anchors(text: str, low: int, high: int) -> dict[int, str]:
    """The texts by score, of lines ``5: text``. Raises ``ValidationError`` with the line."""
    found: dict[int, str] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        read = _ANCHOR_LINE.fullmatch(line.rstrip())
        if not read:
            raise _at_line(number, _t("‘점수: 설명’의 모양이 아닙니다."))
        score, words = int(read[1]), read[2].strip()
        if not low <= score <= high:
            raise _at_line(number, fitted(_t("점수 %(score)d이(가) 척도를 벗어납니다.") % {"score": score}))
        if score in found:
            raise _at_line(number, fitted(_t("점수 %(score)d을(를) 두 번 적었습니다.") % {"score": score}))
        if len(words) > ANCHOR_MAX:
            raise _at_line(number, _t("설명이 %(limit)d자를 넘습니다.") % {"limit": ANCHOR_MAX})
        found[score] = words
    return found


def written_anchors(anchors: Mapping[str, Mapping[str, str]], language: str) -> str:
    """Anchors as lines, the highest score first."""
    scores = sorted(anchors, key=int, reverse=True)
    return "\n".join(f"{score}: {anchors[score][language]}" for score in scores if anchors[score].get(language))


def with_keys(rows: Sequence[dict[str, Any]], stem: str) -> list[dict[str, Any]]:
    """``rows`` with a key for each that has none: from the English name, or ``stem`` and a number."""
    taken = {row["key"] for row in rows if row["key"]}
    found = []
    for row in rows:
        key = row["key"] or _free_key(row["label_en"], stem, taken)
        taken.add(key)
        found.append({**row, "key": key})
    return found


def _free_key(label: str, stem: str, taken: Iterable[str]) -> str:
    plain = re.sub(r"[^a-z0-9]+", "_", label.lower()).strip("_")[:36]
    if KEY.fullmatch(plain) and plain not in taken:
        return plain
    number = 1
    while f"{stem}_{number}" in taken:
        number += 1
    return f"{stem}_{number}"


def _initial(criterion: Mapping[str, Any]) -> dict[str, Any]:
    anchors = criterion["anchors"]
    texts = {f"anchors_{language}": written_anchors(anchors, language) for language in ("ko", "en")}
    return {**criterion, **texts}


def _at_line(number: int, text: str | Promise) -> ValidationError:
    return ValidationError(_t("%(line)d번째 줄: %(text)s") % {"line": number, "text": text})
