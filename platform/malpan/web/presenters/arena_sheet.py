"""What a judge sees of an assignment: outputs by letter, the questions with what was entered. Nothing of it tells whose
an output is, or whether the assignment is a control or a repeat.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from django.utils.translation import gettext as _

from malpan.arena.models import Assignment, Campaign, Rubric
from malpan.web.presenters.arena import CHOICES, LETTERS, SEVERITIES, Criterion, criteria_of, label_of

_KEYS: Final = {"first": "1", "second": "2", "tie": "0", "both_bad": "9"}
_BLANK_ROWS: Final = 3  # for errors that are entered without script
_EMPTY_SPAN: Final[Mapping[str, Any]] = {"quote": "", "severity": "", "category": ""}


@dataclass(frozen=True, slots=True)
class Output:
    """An output under its letter."""

    letter: str
    text: str


@dataclass(frozen=True, slots=True)
class Option:
    """A value to choose. ``key``: of the keyboard, if there is one; ``hint``: what the value means."""

    value: str
    label: str
    key: str
    is_chosen: bool
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Question:
    """Something to answer: one of ``options``, or a whole number from ``low`` to ``high``."""

    name: str
    legend: str
    options: tuple[Option, ...] = ()
    low: int = 0
    high: int = 0
    entered: str = ""
    hints: tuple[tuple[int, str], ...] = ()


@dataclass(frozen=True, slots=True)
class SpanRow:
    """An error that was marked, or room for one. ``start`` and ``end`` in characters, if the place is known."""

    number: str
    quote: str
    at: int
    start: int | None
    end: int | None
    severities: tuple[Option, ...]
    categories: tuple[Option, ...]


@dataclass(frozen=True, slots=True)
class Sheet:
    """An assignment to be judged, or judged, with the value entered so far."""

    outputs: tuple[Output, ...]
    questions: tuple[Question, ...]
    reasons: tuple[Option, ...]
    spans: tuple[SpanRow, ...]
    blank_span: SpanRow | None  # of the protocol ``errors``: what another row is made from


def sheet_of(assignment: Assignment, texts: Sequence[str], value: Mapping[str, Any], rows: int = 0) -> Sheet:
    """``assignment`` with ``value`` entered; ``rows``: how many errors there must be room for."""
    campaign = assignment.judge.campaign
    outputs = tuple(Output(letter, text) for letter, text in zip(LETTERS, texts, strict=False))
    has_spans = campaign.protocol == Campaign.Protocol.ERRORS
    return Sheet(
        outputs=outputs,
        questions=_questions(campaign, outputs, value),
        reasons=_reasons(campaign, value),
        spans=_spans(campaign.rubric, value, texts[0], rows) if has_spans else (),
        blank_span=_span_row("__n__", _EMPTY_SPAN, campaign.rubric, "") if has_spans else None,
    )


def words_of(sheet: Sheet, note: str) -> str:
    """What was entered on ``sheet``, with ``note``, as a text; empty if nothing was."""
    lines = [f"{each.legend}: {said}" for each in sheet.questions if (said := each.entered or _chosen(each.options))]
    if reasons := _chosen(sheet.reasons):
        lines.append(_("까닭: %(reasons)s") % {"reasons": reasons})
    for row in sheet.spans:
        if row.quote.strip():
            said = ", ".join(filter(None, (_chosen(row.severities), _chosen(row.categories))))
            lines.append(_("오류: “%(quote)s”") % {"quote": row.quote} + (f" ({said})" if said else ""))
    if note.strip():
        lines += [_("메모:"), note]
    return "\n".join(lines)


def _chosen(options: Sequence[Option]) -> str:
    return ", ".join(each.label for each in options if each.is_chosen)


def _questions(campaign: Campaign, outputs: Sequence[Output], value: Mapping[str, Any]) -> tuple[Question, ...]:
    if campaign.protocol == Campaign.Protocol.PAIRWISE:
        chosen = value.get("choice")
        options = (Option(name, str(label), _KEYS[name], name == chosen) for name, label in CHOICES.items())
        return (Question("choice", _("판단"), tuple(options)),)
    if campaign.protocol == Campaign.Protocol.RUBRIC:
        scores = value.get("scores") or {}
        return tuple(_scored(one, scores.get(one.key)) for one in criteria_of(campaign.rubric))
    if campaign.protocol == Campaign.Protocol.RANKING:
        ranks = list(value.get("ranks") or ())
        ranks += [None] * (len(outputs) - len(ranks))
        return tuple(_ranked(place, outputs, ranks[place]) for place in range(len(outputs)))
    score = value.get("score")
    return (Question("score", _("전체 점수"), low=0, high=100, entered="" if score is None else str(score)),)


def _scored(criterion: Criterion, score: object) -> Question:
    name, anchors = f"score-{criterion.key}", criterion.anchors
    if criterion.is_typed:
        entered = "" if score is None else str(score)
        hints = tuple(anchors.items())
        return Question(name, criterion.label, (), criterion.low, criterion.high, entered, hints)
    points = range(criterion.low, criterion.high + 1)
    options = (Option(str(each), str(each), _key(each), each == score, anchors.get(each, "")) for each in points)
    return Question(name, criterion.label, tuple(options))


def _ranked(place: int, outputs: Sequence[Output], rank: object) -> Question:
    ranks = range(1, len(outputs) + 1)
    options = (Option(str(each), _("%(rank)d위") % {"rank": each}, _key(each), each == rank) for each in ranks)
    legend = _("출력 %(letter)s의 순위") % {"letter": outputs[place].letter}
    return Question(f"rank-{place}", legend, tuple(options))


def _key(number: int) -> str:
    return str(number) if number < 10 else ""


def _reasons(campaign: Campaign, value: Mapping[str, Any]) -> tuple[Option, ...]:
    if campaign.protocol != Campaign.Protocol.PAIRWISE:
        return ()
    chosen = value.get("reasons") or ()
    return tuple(Option(one["key"], label_of(one), "", one["key"] in chosen) for one in campaign.rubric.reasons)


def _spans(rubric: Rubric, value: Mapping[str, Any], text: str, rows: int) -> tuple[SpanRow, ...]:
    entered = list(value.get("spans") or ())
    blank = max(1 if entered else _BLANK_ROWS, rows - len(entered))
    filled = [*entered, *[_EMPTY_SPAN] * blank]
    return tuple(_span_row(str(number), span, rubric, text) for number, span in enumerate(filled))


def _span_row(number: str, span: Mapping[str, Any], rubric: Rubric, text: str) -> SpanRow:
    start, end = span.get("start"), span.get("end")
    quote = span.get("quote")
    if quote is None:  # a judgement has the place alone
        quote = " ".join(text[start:end].split()) if start is not None and end is not None else ""
    severities = (Option(name, str(label), "", name == span["severity"]) for name, label in SEVERITIES.items())
    categories = (Option(one["key"], label_of(one), "", one["key"] == span["category"]) for one in rubric.reasons)
    return SpanRow(number, quote, span.get("at") or 1, start, end, tuple(severities), tuple(categories))
