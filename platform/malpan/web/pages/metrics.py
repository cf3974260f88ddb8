"""The pages that explain the metrics: an index by what they judge, and one card for each."""

from __future__ import annotations

from typing import Final

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_safe

from malpan.arena.metrics import compared_results, published_metrics
from malpan.submissions.judge_agreement import agreements_on_card
from malpan.web.presenters.arena_metrics import card_lines, leaders_of
from malpan.web.presenters.judge import agreement_lines
from malpan.web.presenters.scores import language
from scoring.cards import UnknownCard, cards_by_group, load_card, recipes_with, scores_on_card

CAMPAIGNS_SHOWN: Final = 10
GROUP_TITLES: Final[dict[str, Promise]] = {
    "exact": gettext_lazy("맞고 틀림을 세는 지표"),
    "overlap": gettext_lazy("겹치는 말을 세는 지표"),
    "meaning": gettext_lazy("뜻이 가까운지를 보는 지표"),
    "picture": gettext_lazy("그림과 맞는지를 보는 지표"),
    "file": gettext_lazy("파일 전체와 차이를 보는 방법"),
}


@require_safe
def index_page(request: HttpRequest) -> HttpResponse:
    groups = [
        (name, GROUP_TITLES[name], [load_card(card, language()) for card in cards])
        for name, cards in cards_by_group().items()
    ]
    context = {"groups": groups, "campaigns": leaders_of(compared_results(CAMPAIGNS_SHOWN))}
    return render(request, "pages/metrics.html", context)


@require_safe
def card_page(request: HttpRequest, name: str) -> HttpResponse:
    try:
        card = load_card(name, language())
    except UnknownCard as error:
        raise Http404 from error
    recipes = [(recipe.id, recipe.title(language())) for recipe in recipes_with(name)]
    scores = scores_on_card(name)
    metrics = card_lines(published_metrics(scores), scores)
    context = {
        "card": card,
        "recipes": recipes,
        "lines": agreement_lines(agreements_on_card(name)),
        "metrics": metrics,
        "has_narrow": any(line.is_narrow for line in metrics),
    }
    return render(request, "pages/metrics_card.html", context)
