"""The manage pages' page of duplicates: the same file from two teams, nearly the same answers, both sides to read."""

from __future__ import annotations

import json
import logging
from datetime import timedelta
from typing import Any

import pytest
from django.core.cache import cache
from django.test import Client
from django.utils import timezone

from malpan.competitions.models import Phase
from malpan.competitions.services import add_data_file
from malpan.core.storage import store_private
from malpan.jobs.models import Job
from malpan.submissions.integrity import alike, duplicates
from malpan.submissions.models import AlikeFiles, Submission
from malpan.submissions.scoring_changes import publish_reference_version
from malpan.teams.models import Team
from tests.factories import (
    CANARY,
    PhaseFactory,
    TeamFactory,
    TrackFactory,
    file_bytes,
    finished_submission,
    person_in,
    publish,
    rows,
)
from tests.submissions.integrity.comparing import compare_asked
from tests.web import html
from tests.web.conftest import client_of

ITEMS = 12


@pytest.fixture(autouse=True)
def _cold_cache() -> None:
    cache.clear()


@pytest.fixture
def phase(db: None) -> Phase:
    phase = PhaseFactory.create()
    publish(phase, ITEMS)
    return phase


@pytest.fixture
def viewer(phase: Phase) -> Client:
    return client_of(person_in(phase.track.competition, "viewer"))


def answers(mark: object, own_from: int = 0) -> bytes:
    """A file whose answers bear ``mark`` from the item ``own_from`` on; before it they are team 0's."""
    items = rows(ITEMS)
    for number, item in enumerate(items):
        item["output"]["answer"] = f"{number}번 답 {mark if number >= own_from else 0}"
    return file_bytes(items)


def sent(phase: Phase, name: str, data: bytes, score: float = 0.5, **fields: Any) -> Submission:
    team = Team.objects.filter(name=name).first() or TeamFactory.create(competition=phase.track.competition, name=name)
    return finished_submission(phase, team, score, file_sha256=store_private(data).sha256, **fields)


def look(client: Client, phase: Phase, query: str = "") -> html.Element:
    response = client.get(f"/competitions/{phase.track.competition.slug}/manage/duplicates/{query}")
    assert response.status_code == 200
    return html.parse(response.content.decode())


def compared(client: Client, phase: Phase) -> html.Element:
    """The page of a phase after a worker has done what it asks for."""
    look(client, phase, f"?phase={phase.pk}")
    compare_asked()
    return look(client, phase, f"?phase={phase.pk}")


def pairs_of(page: html.Element) -> list[list[str]]:
    return [[cell.text for cell in row.all("td")][:5] for table in page.all("tbody") for row in table.all("tr")]


def test_the_same_file_of_two_teams_is_listed_first_sender_first(phase: Phase, viewer: Client) -> None:
    sent(phase, "먼저", answers(1))
    sent(phase, "나중", answers(1))
    sent(phase, "다른", answers(2))
    [card] = look(viewer, phase).one("ul", "stack").all("li", "card")
    assert [each.text for each in card.all(css_class="name")] == ["먼저", "나중"]


def test_the_same_file_twice_from_one_team_is_no_duplicate(phase: Phase, viewer: Client) -> None:
    sent(phase, "한 팀", answers(1))
    sent(phase, "한 팀", answers(1))
    assert "같은 파일이 없습니다" in look(viewer, phase).text


def test_two_teams_that_were_merged_are_one(phase: Phase, viewer: Client) -> None:
    sent(phase, "남은 팀", answers(1))
    gone = sent(phase, "합쳐진 팀", answers(1)).team
    gone.merged_into = Team.objects.get(name="남은 팀")
    gone.save(update_fields=["merged_into"])
    page = compared(viewer, phase)
    assert "같은 파일이 없습니다" in page.text
    assert pairs_of(page) == []


def test_a_file_that_the_organisers_gave_out_says_so(phase: Phase, viewer: Client) -> None:
    data = answers(1)
    add_data_file(track=phase.track, kind="sample", title_ko="예시", title_en="", file_name="sample.json", data=data)
    sent(phase, "가", data)
    sent(phase, "나", data)
    assert "공개 자료와 같은 파일" in look(viewer, phase).text


def test_captions_named_by_id_and_by_file_are_compared(db: None) -> None:
    phase = PhaseFactory.create(track=TrackFactory.create(recipe="captioning-lexical@1"))
    images = [{"id": number, "file_name": f"picture_{number}.jpg"} for number in range(ITEMS)]
    gold = [{"image_id": number, "caption": f"{CANARY} {number}"} for number in range(ITEMS)]
    data = json.dumps({"images": images, "annotations": gold}).encode()
    publish_reference_version(phase=phase, data=data, actor=None)
    sent(phase, "번호", json.dumps({str(n): f"{n}번 그림" for n in range(ITEMS)}).encode())
    sent(phase, "파일", json.dumps({f"picture_{n}.jpg": f"{n}번 그림" for n in range(ITEMS)}).encode())
    alike.alike_in(phase)
    compare_asked()
    [found] = alike.alike_in(phase).pairs
    assert [row.team.name for row in (found.one, found.other)] == ["번호", "파일"]
    sides = duplicates.answers_side_by_side(found.one, found.other)
    assert [(side.id, side.is_same) for side in sides] == [(str(n), True) for n in range(ITEMS)]


def test_nearly_equal_best_files_make_a_pair_with_its_evidence(phase: Phase, viewer: Client) -> None:
    for number in range(6):
        sent(phase, f"팀 {number}", answers(number))
    sent(phase, "베낀 팀", answers("x", own_from=9))
    assert pairs_of(compared(viewer, phase)) == [["65%", "팀 0", "베낀 팀", "9 / 12", "9"]]


def test_only_the_best_file_of_a_team_is_compared(phase: Phase, viewer: Client) -> None:
    for number in range(6):
        sent(phase, f"팀 {number}", answers(number))
    sent(phase, "베낀 팀", answers(0), score=0.3)
    sent(phase, "베낀 팀", answers("own"), score=0.9)
    assert pairs_of(compared(viewer, phase)) == []


def test_without_a_phase_nothing_is_compared(phase: Phase, viewer: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(alike, "alike_in", lambda _phase: pytest.fail("compared"))
    assert "단계를 고르고 찾기를 누르면" in look(viewer, phase).text


def test_a_phase_of_another_competition_cannot_be_compared(phase: Phase, viewer: Client) -> None:
    page = look(viewer, phase, f"?phase={PhaseFactory.create().pk}")
    assert page.one("ul", "errorlist").text
    assert pairs_of(page) == []


def test_files_are_read_once_and_no_answer_stands_in_the_cache(
    phase: Phase, viewer: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(6):
        sent(phase, f"팀 {number}", answers(number))
    sent(phase, "베낀 팀", answers(0))
    kept: list[Any] = []
    real = cache.set_many

    def keep(values: dict[str, Any], seconds: int) -> None:
        kept.append(values)
        real(values, seconds)

    monkeypatch.setattr(duplicates.cache, "set_many", keep)
    first = pairs_of(compared(viewer, phase))
    monkeypatch.setattr(duplicates, "read_private", lambda _sha256: pytest.fail("read again"))
    AlikeFiles.objects.update(computed_at=None)
    assert pairs_of(compared(viewer, phase)) == first
    assert len(first) == 1
    assert kept
    assert "번 답" not in str(kept)


def test_a_new_file_is_compared_although_the_others_are_known(phase: Phase, viewer: Client) -> None:
    for number in range(6):
        sent(phase, f"팀 {number}", answers(number))
    assert pairs_of(compared(viewer, phase)) == []
    sent(phase, "베낀 팀", answers(3))
    over_the_pause()
    assert len(pairs_of(compared(viewer, phase))) == 1


def test_a_file_that_cannot_be_read_is_left_out_and_counted(
    phase: Phase, viewer: Client, caplog: pytest.LogCaptureFixture
) -> None:
    sent(phase, "가", answers(0))
    sent(phase, "나", answers(0))
    finished_submission(phase, TeamFactory.create(competition=phase.track.competition), 0.5)
    with caplog.at_level(logging.WARNING):
        page = compared(viewer, phase)
    assert "읽을 수 없는 파일 1건" in page.text
    assert len(pairs_of(page)) == 1
    assert "StoredFileMissing" in caplog.text


def over_the_pause() -> None:
    AlikeFiles.objects.update(computed_at=timezone.now() - timedelta(days=1))


def test_a_page_compares_nothing_but_asks_a_worker_once(
    phase: Phase, viewer: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(6):
        sent(phase, f"팀 {number}", answers(number % 5))
    with monkeypatch.context() as context:
        for name in ("read_private", "similar_pairs"):
            context.setattr(duplicates, name, lambda *_any, **_named: pytest.fail("the page compares"))
        page = look(viewer, phase, f"?phase={phase.pk}")
        assert "계산 중" in page.one(id="alike").text
        assert "hx-get" in page.one(id="alike").attributes
        assert "쌍이 없습니다" not in page.text
        assert html.problems(page) == []
        look(viewer, phase, f"?phase={phase.pk}")
        assert Job.objects.filter(kind=alike.ALIKE).count() == 1
    compare_asked()
    page = look(viewer, phase, f"?phase={phase.pk}")
    assert "hx-get" not in page.one(id="alike").attributes
    assert "비교했습니다" in page.one(id="alike").text
    assert "달라졌습니다" not in page.one(id="alike").text
    assert len(pairs_of(page)) == 1


def test_what_was_found_is_shown_while_what_changed_waits(phase: Phase, viewer: Client) -> None:
    for number in range(6):
        sent(phase, f"팀 {number}", answers(number % 5))
    first = pairs_of(compared(viewer, phase))
    sent(phase, "베낀 팀", answers(3))
    AlikeFiles.objects.update(seconds=60)
    page = look(viewer, phase, f"?phase={phase.pk}")
    assert (pairs_of(page), Job.objects.filter(state="queued").count()) == (first, 0), "in the pause nobody compares"
    assert "그 뒤에 파일이 달라졌습니다" in page.text
    over_the_pause()
    page = look(viewer, phase, f"?phase={phase.pk}")
    assert "계산 중" in page.text
    assert pairs_of(page) == first
    compare_asked()
    assert len(pairs_of(look(viewer, phase, f"?phase={phase.pk}"))) == 2
    assert Job.objects.filter(kind=alike.ALIKE).count() == 1, "an old job is no longer kept"


def test_a_comparison_that_was_given_up_says_so_and_is_tried_again(phase: Phase, viewer: Client) -> None:
    sent(phase, "가", answers(0))
    look(viewer, phase, f"?phase={phase.pk}")
    job = Job.objects.get(kind=alike.ALIKE)
    alike.CompareFiles().given_up(job)
    Job.objects.update(state="failed", finished_at=timezone.now())
    assert "오류가 났습니다" in look(viewer, phase, f"?phase={phase.pk}").text
    assert Job.objects.get(kind=alike.ALIKE).pk == job.pk
    over_the_pause()
    assert "계산 중" in look(viewer, phase, f"?phase={phase.pk}").text
    compare_asked()
    assert "오류가 났습니다" not in look(viewer, phase, f"?phase={phase.pk}").text


# --- side by side -----------------------------------------------------------------------------------------------------
def side_by_side(phase: Phase, one: Submission, other: Submission, query: str = "") -> str:
    slug = phase.track.competition.slug
    return f"/competitions/{slug}/manage/duplicates/{one.public_id}/{other.public_id}/{query}"


def test_both_answers_of_every_item_stand_side_by_side(phase: Phase, viewer: Client) -> None:
    one, other = sent(phase, "가", answers(0)), sent(phase, "나", answers("x", own_from=9))
    page = html.parse(viewer.get(side_by_side(phase, one, other)).content.decode())
    table = [[cell.text for cell in row.all("td")] for row in page.one("tbody").all("tr")]
    assert (len(table), table[0], table[11]) == (ITEMS, ["0번 답 0", "0번 답 0"], ["11번 답 0", "11번 답 x"])
    assert "12문항 가운데 9문항의 답이 같습니다" in page.text
    assert html.problems(page) == []


@pytest.mark.parametrize(("show", "count"), [("same", 9), ("different", 3), ("", 12)])
def test_the_items_can_be_narrowed(phase: Phase, viewer: Client, show: str, count: int) -> None:
    one, other = sent(phase, "가", answers(0)), sent(phase, "나", answers("x", own_from=9))
    page = html.parse(viewer.get(side_by_side(phase, one, other, f"?show={show}")).content.decode())
    assert len(page.one("tbody").all("tr")) == count


def test_what_participants_wrote_cannot_run(phase: Phase, viewer: Client) -> None:
    one = sent(phase, "가", answers("<script>alert(1)</script>"))
    assert b"<script>alert" not in viewer.get(side_by_side(phase, one, one)).content


def test_no_page_holds_a_reference_answer(phase: Phase, viewer: Client) -> None:
    one, other = sent(phase, "가", answers(0)), sent(phase, "나", answers(0))
    for address in (
        side_by_side(phase, one, other),
        f"/competitions/{phase.track.competition.slug}/manage/duplicates/",
    ):
        assert CANARY not in viewer.get(address, {"phase": phase.pk}).content.decode()


def test_a_submission_of_another_competition_is_not_shown(phase: Phase, viewer: Client) -> None:
    elsewhere = PhaseFactory.create()
    publish(elsewhere, ITEMS)
    mine, theirs = sent(phase, "가", answers(0)), sent(elsewhere, "남", answers(0))
    assert viewer.get(side_by_side(phase, mine, theirs)).status_code == 404


def test_the_page_is_sound_full_and_empty(phase: Phase, viewer: Client) -> None:
    assert html.problems(look(viewer, phase, f"?phase={phase.pk}")) == []
    for name in ("가", "나"):
        sent(phase, name, answers(0))
    assert html.problems(compared(viewer, phase)) == []


def test_participants_do_not_find_the_pages(phase: Phase) -> None:
    one = sent(phase, "가", answers(0))
    member = client_of(one.submitted_by)
    assert member.get(f"/competitions/{phase.track.competition.slug}/manage/duplicates/").status_code == 404
    assert member.get(side_by_side(phase, one, one)).status_code == 404
