"""Which metric agreed with a published result: computed by a worker, shown where the scores are public."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from django.urls import reverse
from scipy.stats import kendalltau

from malpan.arena.errors import MetricsNotFound, NothingToCompare
from malpan.arena.metrics import (
    ask_metrics_again,
    metrics_document,
    metrics_file,
    metrics_under_way,
    published_metrics,
    shown_metrics,
)
from malpan.arena.models import Campaign, CampaignResult, Computation
from malpan.arena.selectors import newest_result
from malpan.competitions.models import Phase, ReferenceVersion
from malpan.core.models import AuditEntry
from malpan.submissions.models import HiddenResult, MetricResult, ScoringRun
from scoring.cli import main
from scoring.signature import metric_signatures
from tests.arena.answers import work_off
from tests.arena.conftest import NAMES, World, over
from tests.factories import CANARY

pytestmark = pytest.mark.django_db
SIGNATURE = {
    "references": {"items": 24, "sha256": "0" * 64},
    "metrics": {"exact_match": {"metric": "exact_match"}, "rouge_1": {"metric": "rouge_1"}},
}
EXACT, ROUGE = (metric_signatures(SIGNATURE)[name] for name in ("exact_match", "rouge_1"))


def score(world: World) -> None:
    """Values of every item: by exact match the better team is better, by ROUGE-1 the worse one."""
    for number, submission in world.submissions.items():
        run = submission.live_run
        assert run is not None
        scores = {**run.scores, "exact_match": 1 - number / 10, "rouge_1": number / 10}
        ScoringRun.objects.filter(pk=run.pk).update(signature=SIGNATURE, scores=scores)
        ids = [f"q{at:02d}" for at in range(1, 25)]
        for metric, signature, value in (
            ("exact_match", EXACT, 1 - number / 10),
            ("rouge_1", ROUGE, number / 10),
            ("rouge_1", "of another model", 0.5),
        ):
            MetricResult.objects.create(
                submission=submission,
                reference_version=run.reference_version,
                metric=metric,
                metric_signature=signature,
                values={**dict.fromkeys(ids, value), CANARY: value},
            )


def published(world: World, **values: object) -> CampaignResult:
    score(world)
    campaign = world.published(**values)
    result = newest_result(campaign)
    assert result is not None
    return result


def row_of(result: CampaignResult, name: str) -> dict:
    document = metrics_document(result)
    assert document is not None
    return next(row for row in document["metrics"] if row["name"] == name)


def tau_of(result: CampaignResult, score_of: Callable[[int], float]) -> float:
    """Kendall's tau-b of people's scores and those of the teams by their numbers."""
    rows = result.rows
    return float(kendalltau([row["score"] for row in rows], [score_of(row["team_number"]) for row in rows]).statistic)


def test_a_worker_holds_the_metrics_against_the_result_once_it_is_published(world):
    result = published(world)
    assert metrics_document(result) is None
    assert metrics_under_way(result) is not None
    work_off()
    assert metrics_under_way(result) is None
    near, far = row_of(result, "exact_match"), row_of(result, "rouge_1")
    assert near["systems"]["tau"]["value"] == pytest.approx(tau_of(result, lambda number: -number), abs=1e-7)
    assert far["systems"]["tau"]["value"] == -near["systems"]["tau"]["value"]
    assert near["items"]["items"] == 12  # those that people saw, of 24
    assert row_of(result, "final_score")["items"] is None


def test_a_value_of_another_signature_or_item_does_not_count(world):
    result = published(world)
    given = json.loads(bytes(Computation.objects.get(kind="meta").given))
    rouge = next(each for each in given["scores"]["metrics"] if each["name"] == "rouge_1")
    assert {value for of in rouge["items"].values() for value in of.values()} == {0.1, 0.2, 0.3, 0.4}
    labels = set(result.campaign.items.filter(kind="real").values_list("label", flat=True))
    assert all(set(of) == labels for of in rouge["items"].values())


def test_the_document_names_no_system_no_item_and_no_judge(world):
    result = published(world)
    work_off()
    text = json.dumps(metrics_document(result), ensure_ascii=False)
    assert CANARY not in text
    for name in (*NAMES, *(f'"S0{number}"' for number in range(1, 5)), "q01", "J01"):
        assert name not in text


def test_scores_that_are_not_public_are_not_told_by_it(world):
    result = published(world)
    work_off()
    assert shown_metrics(result) == metrics_document(result)
    phase = world.phase
    for changes in ({"board": Phase.Board.HIDDEN}, {"board": Phase.Board.FROZEN, "frozen_at": phase.starts_at}):
        Phase.objects.filter(pk=phase.pk).update(**changes)
        hidden = newest_result(Campaign.objects.get(pk=result.campaign_id))
        assert hidden is not None
        assert shown_metrics(hidden) is None
        assert published_metrics(["exact_match"]) == []
        assert metrics_document(hidden) is not None  # organisers see it
        with pytest.raises(MetricsNotFound):
            metrics_file(hidden)


def test_of_a_private_split_it_is_shown_after_the_final_board_and_made_of_its_scores(world):
    ReferenceVersion.objects.filter(phase=world.phase).update(public_ids=[f"q{at:02d}" for at in range(1, 13)])
    score(world)
    for number, submission in world.submissions.items():
        HiddenResult.objects.create(
            run=submission.live_run,
            final_score=0.5,
            scores={"final_score": 0.5, "rouge_1": 1 - number / 10},  # the other way round than on the public split
            signature=SIGNATURE,
            signature_hash="s",
        )
    campaign = world.published(part="private", item_count=8)
    work_off()
    result = newest_result(campaign)
    assert result is not None
    assert shown_metrics(result) is None
    assert row_of(result, "rouge_1")["systems"]["tau"]["value"] == pytest.approx(
        tau_of(result, lambda number: -number), abs=1e-7
    )
    over(world)
    after = newest_result(Campaign.objects.get(pk=campaign.pk))
    assert after is not None
    assert shown_metrics(after) is not None


def test_it_is_computed_again_on_request_and_only_where_a_score_has_changed(world):
    result = published(world)
    work_off()
    ask_metrics_again(result=result, actor=world.owner)
    assert work_off() == 0
    run = world.submissions[1].live_run
    ScoringRun.objects.filter(pk=run.pk).update(scores={**run.scores, "exact_match": 0.0, "rouge_1": 0.1})
    before = metrics_document(result)
    assert before is not None
    ask_metrics_again(result=result, actor=world.owner)
    assert work_off() == 1
    after = metrics_document(result)
    assert after is not None
    assert after["signature"]["scores_sha256"] != before["signature"]["scores_sha256"]
    assert AuditEntry.objects.filter(action="campaign.compare_metrics").count() == 2


def test_without_two_scored_systems_there_is_nothing_to_compare(world):
    result = published(world)
    Computation.objects.filter(kind="meta").delete()
    ScoringRun.objects.filter(submission__in=list(world.submissions.values())[1:]).update(recipe="captioning@1")
    again = CampaignResult.objects.get(pk=result.pk)
    with pytest.raises(NothingToCompare):
        ask_metrics_again(result=again, actor=world.owner)
    assert not Computation.objects.filter(kind="meta").exists()


def test_the_public_page_the_file_and_the_card_of_the_metric_show_it(world, client):
    result = published(world)
    campaign = result.campaign
    at = [world.competition.slug, campaign.track.slug, campaign.number]
    assert "어느 지표가 사람과" not in client.get(reverse("campaign", args=at)).content.decode()
    assert client.get(reverse("campaign_metrics", args=[*at, 1])).status_code == 404
    work_off()
    page = client.get(reverse("campaign", args=at)).content.decode()
    assert "어느 지표가 사람과 맞았습니까" in page
    assert 'id="metrics-tau-title"' in page
    assert reverse("metric", args=["exact_match"]) in page
    file = client.get(reverse("campaign_metrics", args=[*at, 1]))
    assert file.json() == metrics_document(result)
    assert "metrics-1-1.json" in file["Content-Disposition"]
    index = client.get(reverse("metrics")).content.decode()
    assert reverse("campaign", args=at) in index
    assert "시스템의 순서(타우 b)" in index
    card = client.get(reverse("metric", args=["exact_match"])).content.decode()
    assert reverse("campaign", args=at) in card
    assert reverse("campaign", args=at) not in client.get(reverse("metric", args=["cider"])).content.decode()


@pytest.mark.parametrize("protocol", ["pairwise", "rubric"])
def test_a_stranger_computes_the_same_bytes_from_the_two_files(world, client, tmp_path, capsys, protocol):
    values = {} if protocol == "pairwise" else {"protocol": protocol, "judges_per_unit": 2}
    result = published(world, **values)
    work_off()
    at = [world.competition.slug, result.campaign.track.slug, result.campaign.number, result.number]
    files = {}
    for kind in ("votes", "scores", "metrics"):
        files[kind] = tmp_path / f"{kind}.json"
        files[kind].write_bytes(client.get(reverse(f"campaign_{kind}", args=at)).content)
    score = files["scores"].read_text(encoding="utf-8")
    assert CANARY not in score
    assert not any(name in score for name in (*NAMES, "q01"))

    given = [str(files["votes"]), "--scores", str(files["scores"])]
    assert main(["arena-meta", *given, "-o", str(tmp_path / "mine.json")]) == 0

    assert (tmp_path / "mine.json").read_bytes() == files["metrics"].read_bytes()
    capsys.readouterr()
    assert main(["arena", *given, "--format", "markdown"]) == 0
    assert "## 사람의 평가와 맞은 지표" in capsys.readouterr().out


def test_scores_that_changed_since_do_not_change_the_file(world, client):
    result = published(world)
    work_off()
    at = [world.competition.slug, result.campaign.track.slug, result.campaign.number, result.number]
    before = client.get(reverse("campaign_scores", args=at)).content
    MetricResult.objects.filter(submission__in=world.submissions.values()).delete()
    assert client.get(reverse("campaign_scores", args=at)).content == before
    Phase.objects.filter(pk=world.phase.pk).update(board=Phase.Board.HIDDEN)
    assert client.get(reverse("campaign_scores", args=at)).status_code == 404


def test_the_organisers_page_shows_it_and_asks_again(world, client):
    result = published(world)
    client.force_login(world.owner)
    at = reverse("manage_campaign_publishing", args=[world.competition.slug, result.campaign_id])
    assert "견주고 있습니다" in client.get(at).content.decode()
    work_off()
    assert "metrics-tau" in client.get(at).content.decode()
    again = client.post(reverse("manage_campaign_metrics", args=[world.competition.slug, result.campaign_id]))
    assert again.status_code == 302
    assert AuditEntry.objects.filter(action="campaign.compare_metrics").exists()
