"""Forms of a judge: consent, teams they know, a word to the organisers; and what a judge entered, as a value of the
votes file.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from django import forms
from django.core.exceptions import ValidationError
from django.http import QueryDict
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from malpan.arena.judges import consent_version_of
from malpan.arena.models import Assignment, Campaign, CampaignJudge
from malpan.arena.models.judging import WORD_MAX
from malpan.web.forms.fields import ConfirmField, one_line, text_area
from scoring.particles import fitted

SPANS_MAX: Final = 200
TEAMS_MAX: Final = 50
_NUMBER: Final = re.compile(r"[0-9]{1,9}")


class ConsentForm(forms.Form):
    """Two boxes to tick, and the versions of what the judge read."""

    consent = ConfirmField(_("위의 안내를 읽었고, 평가자로 참여하는 데 동의합니다."))
    guideline = ConfirmField(_("평가 지침을 끝까지 읽었고, 지침에 따라 평가하겠습니다."))
    consent_version = forms.CharField(max_length=20, widget=forms.HiddenInput)
    rubric = forms.IntegerField(widget=forms.HiddenInput)

    def __init__(self, data: Any = None, *, judge: CampaignJudge) -> None:
        seen = {"consent_version": consent_version_of(judge.campaign), "rubric": judge.campaign.rubric_id}
        super().__init__(data, initial=seen, auto_id="consent-%s")


class KnownTeamsForm(forms.Form):
    """The teams that a judge knows, by number or name; whether there is one of a name is not said."""

    teams = forms.CharField(
        label=_("아는 팀의 번호나 이름"),
        max_length=4000,
        widget=one_line(),
        help_text=_("여러 팀이면 쉼표로 나누어 적습니다. 예: 3, 12, 고래바다"),
    )

    def __init__(self, data: Any = None, *, teams: Sequence[int] = ()) -> None:
        """``teams``: the numbers that an unsent form has."""
        super().__init__(data, initial={"teams": ", ".join(map(str, teams))}, auto_id="known-%s")

    def clean_teams(self) -> list[str]:
        parts = [part.strip() for part in re.split(r"[,、，\n]", self.cleaned_data["teams"]) if part.strip()]
        if not parts or len(parts) > TEAMS_MAX:
            raise ValidationError(gettext("팀의 번호나 이름을 쉼표로 나누어 %d개까지 적어 주십시오.") % TEAMS_MAX)
        return parts

    def known(self) -> dict[str, Any]:
        """The teams as the services take them. A name may be made of digits."""
        parts = self.cleaned_data["teams"]
        return {"team_numbers": [int(part) for part in parts if _NUMBER.fullmatch(part)], "team_names": parts}


class TellForm(forms.Form):
    """What a judge tells the organisers."""

    text = forms.CharField(
        label=_("알릴 말"),
        max_length=WORD_MAX,
        widget=text_area(5),
        help_text=_("운영자만 읽습니다. 참가팀과 다른 평가자에게는 보이지 않습니다."),
    )

    def __init__(self, data: Any = None) -> None:
        super().__init__(data, auto_id="tell-%s")


# --- what a judge entered ---------------------------------------------------------------------------------------------
def entered_value(assignment: Assignment, data: QueryDict) -> dict[str, Any]:
    """What was entered, in the form of the votes file as far as it is there; numbers that are none are left out.

    A span of the protocol ``errors`` also has ``quote`` and ``at``, the text and which of its occurrences is meant;
    ``located`` finds its place.
    """
    return _ENTERED[assignment.judge.campaign.protocol](assignment, data)


def _choice(_assignment: Assignment, data: QueryDict) -> dict[str, Any]:
    return {"choice": data.get("choice", ""), "reasons": data.getlist("reasons")}


def _scores(assignment: Assignment, data: QueryDict) -> dict[str, Any]:
    keys = [one["key"] for one in assignment.judge.campaign.rubric.criteria]
    entered = {key: _whole(data.get(f"score-{key}")) for key in keys}
    return {"scores": {key: score for key, score in entered.items() if score is not None}}


def _ranks(assignment: Assignment, data: QueryDict) -> dict[str, Any]:
    return {"ranks": [_whole(data.get(f"rank-{place}")) for place, _label in enumerate(assignment.systems)]}


def _errors(_assignment: Assignment, data: QueryDict) -> dict[str, Any]:
    places = [f"span-{row}-" for row in range(min(_whole(data.get("spans")) or 0, SPANS_MAX))]
    rows = [_span(data, place) for place in places if f"{place}drop" not in data]
    score = _whole(data.get("score"))
    return {"spans": [row for row in rows if _is_begun(row)]} | ({} if score is None else {"score": score})


def _is_begun(span: Mapping[str, Any]) -> bool:
    """Whether anything was entered in the row of an error, if not all that it needs."""
    return bool(span["quote"].strip() or span["severity"] or span["category"])


def _span(data: QueryDict, prefix: str) -> dict[str, Any]:
    numbers = {name: _whole(data.get(prefix + name)) for name in ("start", "end", "at")}
    return {
        "output": 0,
        "quote": data.get(f"{prefix}quote", ""),
        "severity": data.get(f"{prefix}severity", ""),
        "category": data.get(f"{prefix}category", ""),
        **numbers,
    }


_ENTERED: Final[Mapping[str, Callable[[Assignment, QueryDict], dict[str, Any]]]] = {
    Campaign.Protocol.PAIRWISE: _choice,
    Campaign.Protocol.RUBRIC: _scores,
    Campaign.Protocol.RANKING: _ranks,
    Campaign.Protocol.ERRORS: _errors,
}


def located(value: Mapping[str, Any], texts: Sequence[str]) -> tuple[dict[str, Any], list[str]]:
    """``value`` with the place of every span instead of its quote; and a sentence for each quote that is not there or
    was not written.
    """
    if "spans" not in value:
        return dict(value), []
    spans, problems = [], []
    for number, span in enumerate(value["spans"], 1):
        place = place_of(span, texts[0])
        if not span["quote"].strip():
            text = gettext("%(number)d번째 오류의 글이 비어 있습니다. 잘못된 곳을 옮겨 적거나 그 오류를 지워 주십시오.")
            problems.append(text % {"number": number})
        elif place is None:
            text = gettext("‘%(quote)s’을(를) 출력에서 찾지 못했습니다. 출력의 글을 그대로 옮겨 적어 주십시오.")
            problems.append(fitted(text % {"quote": span["quote"]}))
        else:
            kept = {name: span[name] for name in ("output", "severity", "category")}
            spans.append({**kept, "start": place[0], "end": place[1]})
    return {**value, "spans": spans}, problems


def place_of(span: Mapping[str, Any], text: str) -> tuple[int, int] | None:
    """Where in ``text`` the quote is, in characters: at the place named, if it is there, else its ``at``-th occurrence.

    Any white space equals any other, as a line break is lost where a quote is typed.
    """
    words = span["quote"].split()
    start, end = span.get("start"), span.get("end")
    if start is not None and end is not None and words and text[start:end].split() == words:
        return start, end
    found = [match.span() for match in re.finditer(r"\s+".join(map(re.escape, words)), text)] if words else []
    at = span.get("at") or 1
    return found[at - 1] if 0 < at <= len(found) else None


def _whole(text: str | None) -> int | None:
    found = (text or "").strip()
    return int(found) if _NUMBER.fullmatch(found) else None
