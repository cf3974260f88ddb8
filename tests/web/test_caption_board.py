"""순위표 of a captioning track: what ranks, the baseline and the milestones, and the metrics beside."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from django.test import Client

from malpan.competitions.models import Phase, Track
from malpan.competitions.targets import add_published_targets, set_targets
from malpan.submissions.models import ScoringRun
from malpan.web.presenters import scores
from scoring.recipes.targets import Target
from tests.factories import PhaseFactory, TeamFactory, TrackFactory, finished_submission
from tests.web import html

CAPTION_SCORES = {"cider": 1.2345, "bertscore": 0.71, "meteor_synonym": 0.4, "bleu_4": 0.1, "length_ratio": 0.98}


@dataclass
class Captions:
    track: Track
    phase: Phase

    @property
    def board(self) -> str:
        return f"/competitions/{self.track.competition.slug}/board/"

    def add(self, name: str, meteor: float, *, is_baseline: bool = False, **scores: float) -> ScoringRun:
        team = TeamFactory.create(competition=self.track.competition, name=name, is_baseline=is_baseline)
        values = CAPTION_SCORES | {"meteor": meteor} | scores
        submission = finished_submission(self.phase, team, meteor, scores=values)
        ScoringRun.objects.filter(submission=submission).update(recipe="captioning@1")
        return submission.live_run


@pytest.fixture
def captions(db: None) -> Captions:
    track = TrackFactory.create(recipe="captioning@1", score_scale=1, score_decimals=4)
    add_published_targets(track=track, actor=None)
    return Captions(track, PhaseFactory.create(track=track))


def rows_of(page: html.Element) -> list[str]:
    """The rows of the board in order: the team's name, or the text of a line drawn across."""
    names = []
    for row in page.one("table", "board").all("tbody")[-1].all("tr"):
        if "mark" in row.classes:
            names.append(row.one("span", "mark-text").text)
        else:
            names.append(row.one(css_class="team-name").text)
    return names


def page_of(client: Client, address: str) -> html.Element:
    return html.parse(client.get(address).content.decode())


def test_baseline_and_milestones_are_drawn_between_those_who_reached_them_and_the_others(
    captions: Captions, client: Client
) -> None:
    captions.add("A", 0.401)
    captions.add("B", 0.366)
    captions.add("C", 0.3051)
    assert rows_of(page_of(client, captions.board)) == [
        "A",
        "목표 0.400",
        "B",
        "목표 0.366",
        "목표 0.336",
        "AI 허브 기준선 0.3052",
        "C",
    ]


def test_marks_that_nobody_reached_stand_on_top_and_those_all_reached_at_the_end(
    captions: Captions, client: Client
) -> None:
    captions.add("A", 0.35)
    assert rows_of(page_of(client, captions.board)) == [
        "목표 0.400",
        "목표 0.366",
        "A",
        "목표 0.336",
        "AI 허브 기준선 0.3052",
    ]


def test_the_baseline_says_that_it_is_not_comparable(captions: Captions, client: Client) -> None:
    captions.add("A", 0.35)
    note = page_of(client, captions.board).one("span", "mark-note").text
    assert "비교 불가" in note
    english = html.parse(client.get(captions.board, headers={"accept-language": "en"}).content.decode())
    assert "Not comparable" in english.one("span", "mark-note").text


def test_every_score_shows_its_change_against_the_baseline(captions: Captions, client: Client) -> None:
    captions.add("A", 0.3662)
    captions.add("B", 0.2747)
    changes = [element.text for element in page_of(client, captions.board).all("span", "change")]
    assert changes == ["참고 +20.0%", "참고 −10.0%"]


def test_equal_meteor_is_decided_by_cider_then_bertscore(captions: Captions, client: Client) -> None:
    captions.add("third", 0.35, cider=1.0, bertscore=0.7)
    captions.add("second", 0.35, cider=1.0, bertscore=0.8)
    captions.add("first", 0.35, cider=1.1, bertscore=0.1)
    page = page_of(client, captions.board)
    assert [name for name in rows_of(page) if not name.startswith(("목표", "AI"))] == ["first", "second", "third"]
    assert "CIDEr-D, BERTScore" in page.one("section", "board-rules").text


def test_only_the_metrics_that_judge_are_columns_until_all_are_asked_for(captions: Captions, client: Client) -> None:
    captions.add("A", 0.35)
    few = [cell.text for cell in page_of(client, captions.board).one("thead").all("th")]
    assert few == ["순위", "팀", "METEOR", "CIDEr-D", "BERTScore", "제출 수", "제출 시각(KST)"]
    every = [cell.text for cell in page_of(client, f"{captions.board}?metrics=all").one("thead").all("th")]
    assert {"METEOR(유의어)", "BLEU-4", "길이 비율"} <= set(every)
    assert "CLIPScore" not in every


def test_sorting_keeps_all_metrics_in_view(captions: Captions, client: Client) -> None:
    captions.add("A", 0.35)
    page = page_of(client, f"{captions.board}?metrics=all&sort=bleu_4")
    assert all("metrics=all" in link.attributes["href"] for link in page.one("thead").all("a"))
    assert page.all("tr", "mark") == []


def test_cider_is_never_multiplied(captions: Captions, client: Client) -> None:
    captions.track.score_scale, captions.track.score_decimals = 100, 2
    captions.track.save()
    captions.add("A", 0.35)
    page = page_of(client, captions.board)
    assert [span.text for span in page.all("span", "full") if span.text[0].isdigit()] == ["1.23", "71.00"]


def test_the_board_says_why_there_is_no_clipscore(captions: Captions, client: Client) -> None:
    captions.add("A", 0.35)
    assert "CLIPScore" in page_of(client, captions.board).one("section", "board-rules").text
    captions.add("B", 0.36, clipscore=0.6, refclipscore=0.7)
    page = page_of(client, f"{captions.board}?metrics=all")
    assert "계산하지 않았습니다" not in page.one("section", "board-rules").text
    assert "CLIPScore" in [cell.text for cell in page.one("thead").all("th")]


def test_a_contest_board_has_neither_marks_nor_a_choice_of_metrics(client: Client, db: None) -> None:
    track = TrackFactory.create()
    phase = PhaseFactory.create(track=track)
    finished_submission(phase, TeamFactory.create(competition=track.competition), 0.5)
    page = page_of(client, f"/competitions/{track.competition.slug}/board/")
    assert page.all("tr", "mark") == []
    assert page.all("span", "change") == []
    assert [link.text for link in page.one("p", "board-views").all("a")] == ["점수의 모든 자리 보기"]


def test_a_captioning_board_has_no_marks_until_its_organiser_sets_some(captions: Captions, client: Client) -> None:
    set_targets(track=captions.track, targets=[], actor=None)
    run = captions.add("A", 0.35)
    page = page_of(client, captions.board)
    assert page.all("tr", "mark") == page.all("span", "change") == []
    assert "0.3052" not in page.text
    assert scores.progress_of(run, captions.track) == []


def test_any_track_can_have_a_baseline_of_its_own(client: Client, db: None) -> None:
    phase = PhaseFactory.create()  # scores are shown times 100
    target = Target("baseline", 0.4, "작년 1위", "Last year's winner")
    set_targets(track=phase.track, targets=[target], actor=None)
    run = finished_submission(phase, TeamFactory.create(competition=phase.track.competition, name="가"), 0.5).live_run
    page = page_of(client, f"/competitions/{phase.track.competition.slug}/board/")
    assert rows_of(page) == ["가", "작년 1위 40.000"]
    assert [change.text for change in page.all("span", "change")] == ["기준선 대비 +25.0%"]
    assert "최종 점수 아래의 비율" in page.one("section", "board-rules").text
    assert scores.progress_of(run, phase.track) == ["작년 1위 40.000 대비 +25.0%"]


def test_a_figure_that_cannot_be_compared_with_says_so_wherever_it_is_shown(captions: Captions, client: Client) -> None:
    run = captions.add("A", 0.35)
    note = "비교 불가: 구현이 공개되지 않은 METEOR 값입니다."
    assert note in page_of(client, captions.board).one("section", "board-rules").text
    assert page_of(client, captions.board).one("span", "mark-note").text == note
    assert scores.progress_of(run, captions.track) == [
        f"AI 허브 기준선 0.3052 대비 +14.7% ({note})",
        "도달한 이정표: 목표 0.336",
        "다음 이정표: 목표 0.366",
    ]


def test_only_scores_of_models_are_marked_as_of_the_demo_models(captions: Captions, client: Client) -> None:
    captions.add("가", 0.3)
    ScoringRun.objects.update(is_demo_models=True)
    page = page_of(client, captions.board)
    assert "데모" not in page.one("table", "board").text
    assert "데모 모델이 매긴 점수: BERTScore" in page.one("section", "board-rules").text  # METEOR counts words
