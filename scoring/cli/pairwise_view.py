"""A comparison by pairs for people to read, as text or Markdown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from scoring.cli.words import say
from scoring.errors import Language, quoted
from scoring.judging.pairwise import Comparison
from scoring.report import ReportFormat
from scoring.report.tables import Row, aligned, indented, markdown_table

SHOWN_IDS: Final = 20
CHANCE_ABOVE: Final = 0.05  # a p-value from which on a difference is called one that may be chance


@dataclass(frozen=True, slots=True)
class Rendered:
    """What is shown. ``files`` are the paths of A and B; ``result`` is the content of the stored result."""

    found: Comparison
    files: Mapping[str, str]
    result: Mapping[str, Any]
    is_demo: bool


def render_pairwise(shown: Rendered, form: ReportFormat, language: Language) -> str:
    """The comparison as ``form`` (text or markdown)."""
    title, rows = say("pairwise_title", language), _counts(shown.found, language)
    header = (say("pairwise_result", language), say("pairwise_items", language), say("pairwise_share", language))
    notes = [*_facts(shown, language), *_verdicts(shown.found, language), *_named(shown, language)]
    if form == "markdown":
        lines = [f"# {title}", "", *markdown_table(header, rows), "", *(f"- {note}" for note in notes)]
    else:
        lines = [title, "", *indented(aligned([header, *rows], numeric=True)), "", *(f"  - {note}" for note in notes)]
    return "\n".join(lines) + "\n"


def _counts(found: Comparison, language: Language) -> list[Row]:
    total = len(found.outcomes)
    counts = {
        "pairwise_a": found.count("left"),
        "pairwise_b": found.count("right"),
        "pairwise_tie": found.count("tie"),
        "pairwise_flips": len(found.flips),
        "pairwise_same": sum(each.is_same for each in found.outcomes),
        "pairwise_unparsable": len(found.unparsable),
    }
    return [(say(key, language), str(count), f"{100 * count / total:.1f}%") for key, count in counts.items()]


def _facts(shown: Rendered, language: Language) -> list[str]:
    judge, asked, spent = (shown.result[name] for name in ("judge", "asked_now", "spent"))
    repeated = ", ".join(f"{why} {count}" for why, count in asked["repeated"].items()) or "0"
    server = " ".join(str(part) for part in (judge["server"]["version"], judge["server"]["quantisation"]) if part)
    prompt = {
        "id": judge["prompt"]["id"],
        "written_in": judge["prompt"]["language"],
        "sha256": judge["prompt"]["sha256"],
    }
    return [
        *([say("pairwise_demo", language)] if shown.is_demo else []),
        say("pairwise_files", language, **shown.files),
        say("pairwise_judge", language, model=judge["model"], server=server or "-", **prompt),
        say("pairwise_asked", language, **asked | {"repeated": repeated}, spent=spent["requests"]),
    ]


def _verdicts(found: Comparison, language: Language) -> list[str]:
    """What the figures say: who is preferred, and whether the judge prefers a position."""
    share, low, high = (100 * part for part in found.left_share)
    decided = found.count("left") + found.count("right")
    is_chance = found.preference_p >= CHANCE_ABOVE
    leans = [each.lean for each in found.outcomes if each.lean]
    first = sum(lean > 0 for lean in leans)
    preference = [
        say("pairwise_interval", language, share=share, low=low, high=high, decided=decided),
        say("pairwise_chance" if is_chance else "pairwise_difference", language, p=found.preference_p),
    ]
    return [
        *(preference if decided else [say("pairwise_undecided", language)]),
        say("pairwise_position", language, effect=found.order_effect, first=first, of=len(leans), p=found.p_value),
        say(_bias(found), language),
    ]


def _bias(found: Comparison) -> str:
    if found.is_biased:
        return "pairwise_biased"
    return "pairwise_unsure" if found.p_value < CHANCE_ABOVE else "pairwise_unbiased"


def _named(shown: Rendered, language: Language) -> list[str]:
    named = {
        "pairwise_flipped_items": shown.found.flips,
        "pairwise_unparsable_items": shown.found.unparsable,
        "pairwise_cut_items": shown.result["cut"],
    }
    limit = shown.result["judge"]["max_chars"]
    lists = {key: items for key, items in named.items() if items}
    return [say(key, language, items=_listed(of), count=len(of), limit=limit) for key, of in lists.items()]


def _listed(items: Sequence[str]) -> str:
    return ", ".join(map(quoted, items[:SHOWN_IDS])) + (" …" if len(items) > SHOWN_IDS else "")
