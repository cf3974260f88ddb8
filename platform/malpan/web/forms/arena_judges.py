"""Invitations of several judges at once: a line for each, ``address, institution``."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from django import forms
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.utils.translation import gettext as _t
from django.utils.translation import gettext_lazy as _

from malpan.arena.invitations import INSTITUTION_MAX
from malpan.arena.judges import REASON_MAX
from malpan.core.text import one_line
from malpan.web.forms.arena import KnownTeamsForm
from malpan.web.forms.fields import text_area
from scoring.particles import fitted

LINES_MAX: Final = 50  # invitations of one form: a mail is sent for each before the page answers
_SEPARATOR: Final = re.compile(r"[,;\t]")
_CHARS_MAX: Final = 20_000


@dataclass(frozen=True, slots=True)
class InvitationLine:
    """A line of the form. ``number`` counts from 1."""

    number: int
    text: str
    email: str
    institution: str


class InviteForm(forms.Form):
    lines = forms.CharField(
        label=_("초대할 평가자"),
        max_length=_CHARS_MAX,
        strip=False,
        widget=text_area(6, spellcheck="false", autocomplete="off", placeholder="kim@example.ac.kr, 예시대학교"),
        help_text=_(
            "한 줄에 한 사람씩 ‘이메일, 소속 기관’으로 적습니다. 소속 기관은 제척에 쓰며, 스프레드시트의 두 열을 "
            "그대로 붙여 넣어도 됩니다. 한 번에 50명까지 초대합니다."
        ),
        error_messages={"required": _("초대할 사람의 이메일을 적어 주십시오.")},
    )

    def clean_lines(self) -> list[InvitationLine]:
        """The lines, none twice. All faults are named with their lines; nobody is invited before all are mended."""
        found: list[InvitationLine] = []
        faults: list[str] = []
        seen: set[str] = set()
        for number, text in enumerate(self.cleaned_data["lines"].splitlines(), start=1):
            if not text.strip():
                continue
            email, institution = read_line(text)
            fault = _fault(email, institution, seen)
            if fault:
                faults.append(_t("%(line)d번째 줄: %(text)s") % {"line": number, "text": fault})
            seen.add(email.lower())
            found.append(InvitationLine(number, text.strip(), email, institution))
        if not found:
            raise ValidationError(_t("초대할 사람의 이메일을 적어 주십시오."))
        if len(found) > LINES_MAX:
            raise ValidationError(_t("한 번에 %(limit)d명까지 초대할 수 있습니다.") % {"limit": LINES_MAX})
        if faults:
            raise ValidationError(faults)
        return found


class BarForm(KnownTeamsForm):
    """Teams that a judge must not see, and why."""

    reason = forms.CharField(
        label=_("사유"),
        max_length=REASON_MAX,
        error_messages={"required": _("사유를 적어 주십시오.")},
        help_text=_("감사 로그에 남습니다."),
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )

    def __init__(self, data: Any = None, *, teams: Sequence[int] = ()) -> None:
        super().__init__(data, teams=teams)
        self.fields["teams"].label = _("제척할 팀의 번호나 이름")


class NearForm(forms.Form):
    """The team, by number, whose institution is not the judge's."""

    team = forms.IntegerField(min_value=1)


def read_line(text: str) -> tuple[str, str]:
    """Address and institution of a line."""
    email, *rest = _SEPARATOR.split(text, maxsplit=1)
    return email.strip().strip("<>").strip(), one_line(rest[0]) if rest else ""


def _fault(email: str, institution: str, seen: set[str]) -> str:
    try:
        validate_email(email)
    except ValidationError:
        return fitted(_t("‘%(email)s’은(는) 이메일 주소가 아닙니다.") % {"email": email[:100]})
    if email.lower() in seen:
        return fitted(_t("‘%(email)s’을(를) 두 번 적었습니다.") % {"email": email})
    if len(institution) > INSTITUTION_MAX:
        return _t("소속 기관은 %(limit)d자까지 적을 수 있습니다.") % {"limit": INSTITUTION_MAX}
    return ""


def form_of(lines: list[str]) -> InviteForm:
    """An unsent form with ``lines`` in it, such as those that could not be invited."""
    initial: dict[str, Any] = {"lines": "\n".join(lines)}
    return InviteForm(initial=initial)
