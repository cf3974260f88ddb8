"""Which automatic metric agreed with a published result: asked of a worker at the publication, and again on request
when scores have changed since. What comes of it is public where the scores are, and so are the scores that it is of, by
the labels of the votes file.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, cast

from django.db.models import OuterRef, Subquery

from malpan.arena.computations import Kind, Question, ask
from malpan.arena.errors import MetricsNotFound, NothingToCompare
from malpan.arena.models import Campaign, CampaignItem, CampaignResult, CampaignSystem, Computation
from malpan.competitions.errors import UnknownTrackRecipe
from malpan.competitions.permissions import Permission, require
from malpan.competitions.references import recipe_of
from malpan.core import audit
from malpan.core.storage import read_private
from malpan.submissions.models import HiddenResult, MetricResult, ScoringRun
from malpan.submissions.visibility import is_frozen, is_hidden
from scoring.arena.meta_scores import ScoredSystem, metrics_of
from scoring.arena.scores_file import ScoresFile
from scoring.recipes import Recipe
from scoring.signature import canonical_json, metric_signatures

if TYPE_CHECKING:
    from malpan.accounts.models import User

LEAST: Final = 2  # systems with scores
SHOWN: Final = 50  # results that the card of a metric looks at
DOCUMENTS_KEPT: Final = 64  # in the memory of a process


def ask_metrics(result: CampaignResult) -> Computation | None:
    """Have the metrics held against ``result``; ``None`` where fewer than two of its systems have scores."""
    question = _question(result)
    return None if question is None else ask(question)


def ask_metrics_again(*, result: CampaignResult, actor: User) -> Computation:
    """The same on request, with the scores as they are now; nothing is done again where they are the same.

    Raises ``ManageNotFound`` and ``NotAllowed`` without the permission to manage, ``NothingToCompare``.
    """
    require(actor, result.campaign.track.competition, Permission.MANAGE)
    found = ask_metrics(result)
    if found is None:
        raise NothingToCompare
    audit.record(actor=actor, action="campaign.compare_metrics", obj=result.campaign, after={"result": result.number})
    return found


def metrics_document(result: CampaignResult) -> dict[str, Any] | None:
    """What came of it last (``scoring.arena.meta``), ``None`` before. It is shared: change nothing in it."""
    rows = _answered(result.campaign_id, result.number)
    found = rows.values_list("pk", flat=True).first()
    return None if found is None else _document(found)


def shown_metrics(result: CampaignResult) -> dict[str, Any] | None:
    """The same for everybody: only where the scores that it is computed from are public.

    Of the public items, or where there is no split, while the board is neither hidden nor frozen; of others once the
    final board is published.
    """
    return metrics_document(result) if _are_scores_public(result.campaign) else None


def metrics_file(result: CampaignResult) -> bytes:
    """``shown_metrics`` as the file that everybody downloads. Raises ``MetricsNotFound``."""
    document = shown_metrics(result)
    if document is None:
        raise MetricsNotFound
    return canonical_json(document)


def scores_file(result: CampaignResult) -> bytes:
    """The scores that ``shown_metrics`` is of, as the file that everybody downloads and computes it from again
    (``python -m scoring arena-meta``). Raises ``MetricsNotFound``.
    """
    answer = _answered(result.campaign_id, result.number).values_list("answer", flat=True).first()
    if answer is None or not _are_scores_public(result.campaign):
        raise MetricsNotFound
    return canonical_json(json.loads(bytes(answer))["scores"])


def metrics_under_way(result: CampaignResult) -> Computation | None:
    """The computation that is not answered yet, with its job."""
    rows = _of(result.campaign_id, result.number).filter(answered_at=None).select_related("job")
    return rows.defer("given", "answer").order_by("-asked_at", "-pk").first()


def published_metrics(names: Iterable[str]) -> list[tuple[CampaignResult, dict[str, Any]]]:
    """The newest results of published competitions with a shown document that has one of the metrics ``names``."""
    wanted = set(names)
    found = compared_results(SHOWN)
    return [
        (result, document) for result, document in found if any(row["name"] in wanted for row in document["metrics"])
    ]


def compared_results(most: int) -> list[tuple[CampaignResult, dict[str, Any]]]:
    """Those of the ``most`` newest results of published competitions that have a shown document, with it."""
    newest = CampaignResult.objects.filter(campaign=OuterRef("campaign")).order_by("-number").values("pk")[:1]
    rows = CampaignResult.objects.filter(
        pk=Subquery(newest), campaign__track__competition__is_published=True, campaign__published_at__isnull=False
    )
    rows = rows.select_related("campaign__track__competition", "campaign__phase").defer("rows")
    shown = ((result, shown_metrics(result)) for result in rows.order_by("-published_at", "-pk")[:most])
    return [(result, document) for result, document in shown if document is not None]


def _of(campaign_pk: int, number: int) -> Any:
    return Computation.objects.filter(campaign=campaign_pk, kind=Kind.META, subject=str(number))


def _answered(campaign_pk: int, number: int) -> Any:
    return _of(campaign_pk, number).filter(answered_at__isnull=False).order_by("-asked_at", "-pk")


@lru_cache(maxsize=DOCUMENTS_KEPT)
def _document(pk: int) -> dict[str, Any]:
    answer = bytes(Computation.objects.values_list("answer", flat=True).get(pk=pk))
    return cast("dict[str, Any]", json.loads(answer)["document"])


def _are_scores_public(campaign: Campaign) -> bool:
    phase = campaign.phase
    if phase.final_published_at is not None:
        return True
    if is_hidden(phase) or is_frozen(phase):
        return False
    return campaign.part == Campaign.Part.PUBLIC or not phase.reference_versions.exclude(public_ids=None).exists()


def _question(result: CampaignResult) -> Question | None:
    campaign = result.campaign
    votes = json.loads(read_private(result.votes_sha256))
    try:
        recipe = recipe_of(campaign.track)
    except UnknownTrackRecipe:  # its plug-in is gone
        return None
    ranked = {row["label"] for row in result.rows}
    systems = {label: each for label, each in _systems(campaign, recipe).items() if label in ranked}
    if len(systems) < LEAST:
        return None
    scores = ScoresFile(votes["campaign"], recipe, metrics_of(recipe, systems))
    given = {"votes": votes, "scores": json.loads(scores.bytes())}
    return Question(
        competition=campaign.track.competition,
        kind=Kind.META,
        given=canonical_json(given),
        campaign=campaign,
        subject=str(result.number),
    )


def _systems(campaign: Campaign, recipe: Recipe) -> dict[str, ScoredSystem]:
    """The systems by label with the scores of the campaign's part, of those scored alike: by the recipe of the track
    and with the signature that most have.
    """
    rows = campaign.systems.select_related("submission__live_run__hidden_result")
    runs: dict[str, ScoringRun] = {
        row.label: row.submission.live_run
        for row in cast("Iterable[CampaignSystem]", rows)
        if row.submission.live_run is not None and row.submission.live_run.recipe == recipe.id
    }
    hashes = Counter(run.signature_hash for run in runs.values())
    if not hashes:
        return {}
    usual = max(hashes, key=lambda each: (hashes[each], each))
    alike = {label: run for label, run in runs.items() if run.signature_hash == usual}
    items = _item_values(campaign, recipe, alike)
    return {label: ScoredSystem(_scores(campaign, run), items[run.pk]) for label, run in alike.items()}


def _scores(campaign: Campaign, run: ScoringRun) -> Mapping[str, float]:
    hidden: HiddenResult | None = getattr(run, "hidden_result", None)
    return run.scores if hidden is None or campaign.part == Campaign.Part.PUBLIC else hidden.scores


def _item_values(
    campaign: Campaign, recipe: Recipe, runs: Mapping[str, ScoringRun]
) -> dict[int, dict[str, dict[str, float]]]:
    """Of each run the values of the evaluated items, by their labels; rows of corpus metrics are no values."""
    real = CampaignItem.objects.filter(campaign=campaign, kind=CampaignItem.Kind.REAL)
    label_of = dict(real.values_list("reference_id", "label"))
    run_of = {run.submission_id: run for run in runs.values()}
    known = {run.pk: metric_signatures(run.signature) if "metrics" in run.signature else {} for run in runs.values()}
    found: dict[int, dict[str, dict[str, float]]] = {run.pk: defaultdict(dict) for run in runs.values()}
    for row in MetricResult.objects.filter(submission__in=run_of).order_by("pk"):
        run = run_of[row.submission_id]
        if row.reference_version_id != run.reference_version_id:
            continue
        if known[run.pk].get(row.metric) != row.metric_signature:
            continue
        name = recipe.score_name(row.metric)
        for item, value in row.values.items():
            if item in label_of and isinstance(value, int | float):
                found[run.pk][label_of[item]][name] = float(value)
    return found
