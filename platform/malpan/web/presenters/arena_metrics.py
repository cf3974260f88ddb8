"""Which automatic metric agreed with people (``scoring.arena.meta``), in words and drawings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from django.utils.translation import gettext_lazy as _

from malpan.arena.models import CampaignResult
from malpan.competitions.errors import UnknownTrackRecipe
from malpan.competitions.references import recipe_named
from malpan.web.plots.forest import Estimate, Forest, forest
from malpan.web.presenters.arena_manage import figure_text
from malpan.web.presenters.scores import language
from scoring.arena.meta_warnings import warnings_of
from scoring.cards import card_for

NONE: Final = "–"
WARNINGS: Final = {
    "narrow_systems": _(
        "시스템이 열 개보다 적어 ‘다른 시스템’의 구간이 좁게 나올 수 있습니다. 참값이 구간 밖에 있는 일이 95% "
        "구간이라는 말보다 잦을 수 있으며, 지표가 시스템을 거의 모두 바르게 늘어놓을 때 가장 잦습니다."
    ),
    "few_systems": _("시스템이 여섯 개보다 적어 다른 시스템에 넓혀 볼 구간을 내지 않습니다."),
    "few_items": _("문항이 서른 개보다 적어 문항 단위의 값이 거칠고 조금 높게 나옵니다."),
}
SKIPPED: Final = {
    "missing": _("값이 없는 시스템이 있어 뺐습니다."),
    "constant": _("모든 시스템의 값이 같아 뺐습니다."),
}


@dataclass(frozen=True, slots=True)
class MetricLine:
    """A metric beside people, as texts. ``card``: the page that explains it, if there is one; ``leads_…``: it has the
    highest figure or is not significantly below it.
    """

    label: str
    card: str | None
    tau: str
    over_systems: str
    over_votes: str
    accuracy: str
    accuracy_over_systems: str
    accuracy_over_votes: str
    decided: str
    leads_systems: bool
    items: str
    items_interval: str
    leads_items: bool


@dataclass(frozen=True, slots=True)
class CardLine:
    """How far a score of a card agreed with people in one campaign. ``is_narrow``: its interval of tau is, as there are
    few systems.
    """

    result: CampaignResult
    score: str
    tau: str
    interval: str
    is_narrow: bool
    systems: int
    items: str
    items_interval: str
    item_count: int


@dataclass(frozen=True, slots=True)
class Leaders:
    """The metrics that lead in one campaign, over whole systems and over items: (label, card or ``None``, figure)."""

    result: CampaignResult
    systems: list[tuple[str, str | None, str]]
    items: list[tuple[str, str | None, str]]


def leaders_of(found: Iterable[tuple[CampaignResult, Mapping[str, Any]]]) -> list[Leaders]:
    """Which metrics agreed best with the people of each campaign, the others not told apart from them included."""
    return [_leaders(result, document["metrics"]) for result, document in found]


def _leaders(result: CampaignResult, rows: Iterable[Mapping[str, Any]]) -> Leaders:
    lines = [_line(row, result.campaign.track.recipe) for row in rows]
    return Leaders(
        result,
        [(line.label, line.card, line.tau) for line in lines if line.leads_systems],
        [(line.label, line.card, line.items) for line in lines if line.leads_items],
    )


def metrics_context(document: Mapping[str, Any], recipe: str) -> dict[str, Any]:
    """What ``arena_metrics.html`` shows. ``recipe``: that of the track, for the names of scores."""
    numbers, rows = document["numbers"], document["metrics"]
    return {
        "lines": [_line(row, recipe) for row in rows],
        "numbers": numbers,
        "ties": _percent(numbers["tie_share"]),
        "chance": _percent(numbers["chance"]),
        "has_items": any(row["items"] for row in rows),
        "is_of_pairs": document["protocol"] in ("pairwise", "ranking"),
        "systems_plot": _systems_plot(rows, recipe),
        "items_plot": _items_plot(rows, recipe),
        "warnings": [WARNINGS[name] for name in warnings_of(document)],
        "skipped": [(_label(each["name"], recipe), SKIPPED[each["reason"]]) for each in document["skipped"]],
        "signature_hash": document["signature_hash"],
    }


def card_lines(found: Iterable[tuple[CampaignResult, Mapping[str, Any]]], scores: Iterable[str]) -> list[CardLine]:
    """The lines of the scores that a card explains."""
    wanted = set(scores)
    return [
        _card_line(result, document, row)
        for result, document in found
        for row in document["metrics"]
        if row["name"] in wanted
    ]


def _card_line(result: CampaignResult, document: Mapping[str, Any], row: Mapping[str, Any]) -> CardLine:
    tau, items = row["systems"]["tau"], row["items"]
    return CardLine(
        result=result,
        score=_label(row["name"], result.campaign.track.recipe),
        tau=_figure(tau["value"]),
        interval=_interval(tau["systems"] or tau["votes"]),
        is_narrow="narrow_systems" in warnings_of(document),
        systems=document["numbers"]["systems"],
        items=_percent(items["value"]) if items else NONE,
        items_interval=_percents(items) if items else "",
        item_count=items["items"] if items else 0,
    )


def _line(row: Mapping[str, Any], recipe: str) -> MetricLine:
    systems, items = row["systems"], row["items"]
    return MetricLine(
        label=_label(row["name"], recipe),
        card=card_for(row["name"]),
        tau=_figure(systems["tau"]["value"]),
        over_systems=_interval(systems["tau"]["systems"]),
        over_votes=_interval(systems["tau"]["votes"]),
        accuracy=_percent(systems["accuracy"]["value"]),
        accuracy_over_systems=_percents(systems["accuracy"]["systems"]),
        accuracy_over_votes=_percents(systems["accuracy"]["votes"]),
        decided=_percent(systems["decided"]),
        leads_systems=systems["leads"],
        items=_percent(items["value"]) if items else NONE,
        items_interval=_percents(items),
        leads_items=bool(items and items["leads"]),
    )


def _systems_plot(rows: Iterable[Mapping[str, Any]], recipe: str) -> Forest | None:
    """tau with its interval over systems, or over votes where there are too few systems."""
    given = [(row, row["systems"]["tau"]) for row in rows]
    return forest(
        [
            Estimate(_label(row["name"], recipe), tau["value"], found["low"], found["high"], row["systems"]["leads"])
            for row, tau in given
            if tau["value"] is not None and (found := tau["systems"] or tau["votes"]) is not None
        ]
    )


def _items_plot(rows: Iterable[Mapping[str, Any]], recipe: str) -> Forest | None:
    ordered = sorted((row for row in rows if row["items"]), key=lambda row: -row["items"]["value"])
    return forest(
        [
            Estimate(
                _label(row["name"], recipe),
                100 * row["items"]["value"],
                100 * row["items"]["low"],
                100 * row["items"]["high"],
                row["items"]["leads"],
            )
            for row in ordered
        ]
    )


def _label(score: str, recipe: str) -> str:
    try:
        columns = recipe_named(recipe).columns
    except UnknownTrackRecipe:
        return score
    return next((column.label(language()) for column in columns if column.key == score), score)


def _figure(value: float | None) -> str:
    return NONE if value is None else figure_text(value, 2)


def _interval(found: Mapping[str, float] | None) -> str:
    return NONE if found is None else f"{figure_text(found['low'], 2)} ~ {figure_text(found['high'], 2)}"


def _percent(value: float | None) -> str:
    return NONE if value is None else f"{100 * value:.1f}%"


def _percents(found: Mapping[str, float] | None) -> str:
    return NONE if found is None else f"{_percent(found['low'])} ~ {_percent(found['high'])}"
