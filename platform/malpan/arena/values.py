"""What a judge entered, checked and in the form of the votes file (``scoring.arena.votes``), by protocol. Pure."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, cast

from malpan.arena.errors import ValueInvalid
from malpan.arena.models import Campaign, Rubric
from malpan.arena.models.judging import NOTE_MAX
from malpan.core.language import in_language
from malpan.core.text import nfc
from scoring.arena.votes import CHOICES, SEVERITIES

SPANS_MAX: Final = 200  # of one output
HIGHEST_SCORE: Final = 100
DRAFT_MAX: Final = 60_000  # characters of JSON; 200 spans are a third of it
_KEPT: Final = ("\n", "\t")  # of the control characters

Value = dict[str, Any]


def clean_value(protocol: str, rubric: Rubric, texts: Sequence[str], value: Any) -> Value:
    """``value`` of a judgement of ``texts``, the outputs as shown. Raises ``ValueInvalid``.

    pairwise: ``{"choice", "reasons"}``, reasons being keys of the rubric's. rubric: ``{"scores": {key: number}}``.
    ranking: ``{"ranks"}`` in the order shown; 1, 2, 2, 3 becomes 1, 2, 2, 4. errors: ``{"score", "spans"}``, a span
    being ``{"output", "start", "end", "severity", "category"}`` in characters of the output, the category a key of the
    rubric's reasons (empty where it has none).
    """
    fields = {
        Campaign.Protocol.PAIRWISE: ("choice", "reasons"),
        Campaign.Protocol.RUBRIC: ("scores",),
        Campaign.Protocol.RANKING: ("ranks",),
        Campaign.Protocol.ERRORS: ("score", "spans"),
    }[Campaign.Protocol(protocol)]
    if not isinstance(value, Mapping) or not set(value) <= set(fields):
        raise ValueInvalid("form")
    return _CHECKS[Campaign.Protocol(protocol)](rubric, texts, value)


def clean_note(text: Any) -> str:
    """A note to the organisers: NFC, without unseen characters other than line breaks. Raises ``ValueInvalid``."""
    if not isinstance(text, str):
        raise ValueInvalid("note", "note")
    lines = nfc(text.replace("\r\n", "\n"))
    note = "".join(each for each in lines if each in _KEPT or unicodedata.category(each) not in ("Cc", "Cs")).strip()
    if len(note) > NOTE_MAX:
        raise ValueInvalid("note", "note")
    return note


def clean_draft(value: Any) -> Value:
    """What was entered so far, whatever is missing, as long as it can be stored. Raises ``ValueInvalid``."""
    if not isinstance(value, Mapping):
        raise ValueInvalid("form")
    try:
        written = json.dumps(dict(value), ensure_ascii=False, allow_nan=False)
        written.encode()
    except (TypeError, ValueError, RecursionError):
        raise ValueInvalid("form") from None
    if len(written) > DRAFT_MAX or "\\u0000" in written:
        raise ValueInvalid("form")
    found: Value = json.loads(written)
    return found


def _choice(rubric: Rubric, texts: Sequence[str], value: Mapping[str, Any]) -> Value:
    choice, reasons = value.get("choice"), value.get("reasons", [])
    if not isinstance(choice, str) or choice not in CHOICES:
        raise ValueInvalid("choice", "choice")
    known = [reason["key"] for reason in rubric.reasons]
    if not isinstance(reasons, list | tuple) or not all(each in known for each in reasons):
        raise ValueInvalid("reasons", "reasons")
    return {"choice": choice, "reasons": [key for key in known if key in reasons]}


def _scores(rubric: Rubric, texts: Sequence[str], value: Mapping[str, Any]) -> Value:
    given = value.get("scores")
    if not isinstance(given, Mapping) or not set(given) <= {each["key"] for each in rubric.criteria}:
        raise ValueInvalid("form")
    for each in rubric.criteria:
        score = given.get(each["key"])
        if score is None:
            raise ValueInvalid("score_missing", f"scores.{each['key']}", name=_label(each))
        if not _is_whole(score, each["low"], each["high"]):
            raise ValueInvalid("score_range", f"scores.{each['key']}", name=_label(each))
    return {"scores": {each["key"]: given[each["key"]] for each in rubric.criteria}}


def _ranks(rubric: Rubric, texts: Sequence[str], value: Mapping[str, Any]) -> Value:
    ranks = value.get("ranks")
    if not isinstance(ranks, list | tuple) or len(ranks) != len(texts) or any(each is None for each in ranks):
        raise ValueInvalid("rank_missing", "ranks")
    if not all(_is_whole(each, 1, len(texts)) for each in ranks):
        raise ValueInvalid("rank_range", "ranks")
    shared = [1 + sum(other < each for other in ranks) for each in ranks]  # 1, 2, 2, 4
    dense = [1 + len({other for other in ranks if other < each}) for each in ranks]  # 1, 2, 2, 3
    if list(ranks) not in (shared, dense):
        raise ValueInvalid("rank_gap", "ranks")
    return {"ranks": shared}


def _errors(rubric: Rubric, texts: Sequence[str], value: Mapping[str, Any]) -> Value:
    spans, score = value.get("spans", []), value.get("score")
    if not isinstance(spans, list | tuple):
        raise ValueInvalid("form")
    if len(spans) > SPANS_MAX * len(texts):
        raise ValueInvalid("spans_many", "spans")
    categories = [reason["key"] for reason in rubric.reasons] or [""]
    found = {tuple(_span(each, texts, categories).items()) for each in spans}
    if not _is_whole(score, 0, HIGHEST_SCORE):
        raise ValueInvalid("score", "score")
    order = ("output", "start", "end", "severity", "category")
    rows = sorted((dict(each) for each in found), key=lambda row: [row[name] for name in order])
    return {"score": score, "spans": rows}


def _span(given: Any, texts: Sequence[str], categories: Sequence[str]) -> Value:
    if not isinstance(given, Mapping) or not set(given) <= {"output", "start", "end", "severity", "category"}:
        raise ValueInvalid("form")
    output, start, end = (cast("int", given.get(name)) for name in ("output", "start", "end"))  # checked below
    if not _is_whole(output, 0, len(texts) - 1):
        raise ValueInvalid("span", "spans")
    if not _is_whole(start, 0, len(texts[output])) or not _is_whole(end, start + 1, len(texts[output])):
        raise ValueInvalid("span", "spans")
    severity, category = given.get("severity"), given.get("category", "")
    if severity not in SEVERITIES:
        raise ValueInvalid("severity", "spans")
    if category not in categories:
        raise ValueInvalid("category", "spans")
    return {"output": output, "start": start, "end": end, "severity": severity, "category": category}


def _label(row: Mapping[str, Any]) -> str:
    return in_language(str(row["label_ko"]), str(row.get("label_en", "")))


def _is_whole(value: Any, low: int, high: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and low <= value <= high


_CHECKS: Final[dict[str, Callable[[Rubric, Sequence[str], Mapping[str, Any]], Value]]] = {
    Campaign.Protocol.PAIRWISE: _choice,
    Campaign.Protocol.RUBRIC: _scores,
    Campaign.Protocol.RANKING: _ranks,
    Campaign.Protocol.ERRORS: _errors,
}
