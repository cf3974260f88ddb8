"""The manage pages' workflow of a rule that changes: who may do which step, and what each page says."""

from __future__ import annotations

import copy
import csv
import io
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client

from malpan.competitions.drafts import create_draft
from malpan.competitions.models import Competition, Notice, Track
from malpan.submissions.models import HiddenResult, QuotaEntry, RescoreBatch, ScoringRun, Submission
from malpan.submissions.rescoring import services as rescoring
from malpan.submissions.rescoring.batches import Selection, state_of
from tests.factories import person_in
from tests.submissions.conftest import work_uncommitted
from tests.submissions.rescoring.contest_of_many import (
    STRICT,
    Contest,
    fill,
    found,
    references,
    upload,
    with_fake_models,
    work_off,
)
from tests.web.conftest import client_of
from tests.web.html import Element, parse, problems

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def made(kept: None) -> Contest:
    """Five teams with two scored submissions each."""
    with pytest.MonkeyPatch.context() as patched:
        with_fake_models(patched)
        work_uncommitted(patched)
        contest = found(5, total_limit=10)
        contest.phase.track.competition.prize_places = [1, 3]
        contest.phase.track.competition.save()
        fill(contest, 2)
    return contest


@pytest.fixture
def contest(made: Contest, monkeypatch: pytest.MonkeyPatch) -> Contest:
    with_fake_models(monkeypatch)
    work_uncommitted(monkeypatch)
    return copy.deepcopy(made)


def competition_of(contest: Contest) -> Competition:
    return contest.phase.track.competition


def person(contest: Contest, role: str) -> Client:
    return client_of(person_in(competition_of(contest), role))


def url(contest: Contest, rest: str = "") -> str:
    return f"/competitions/{competition_of(contest).slug}/manage/rescoring/{rest}"


def ready(contest: Contest, **changes: Any) -> RescoreBatch:
    batch = rescoring.start_batch(
        phase=contest.phase, selection=Selection(), reason="규칙 변경", actor=contest.organiser, **changes
    )
    work_off()
    return batch


def seen_by(client: Client, contest: Contest, batch: RescoreBatch) -> str:
    """What the form of the application sends of the preview beside it."""
    page = parse(client.get(url(contest, f"{batch.pk}/")).content.decode())
    return str(page.one("input", name="seen").attributes["value"])


def headings(page: Element) -> set[str]:
    """Those of the table of the submissions."""
    return {cell.text for cell in page.one("table", id="rows").all("th", scope="col")}


def test_the_workflow_from_start_to_applied(contest: Contest) -> None:
    organiser = person(contest, "organiser")
    start = url(contest, f"start/{contest.phase.pk}/")
    assert problems(parse(organiser.get(start).content.decode())) == []

    response = organiser.post(start, {"reason": "빠진 이유는 0점", "recipe": STRICT})
    batch = RescoreBatch.objects.get()
    assert response.url == url(contest, f"{batch.pk}/")
    page = parse(organiser.get(response.url).content.decode())
    assert page.one("div", id="progress").attributes["hx-get"] == url(contest, f"{batch.pk}/progress/?shown=running")
    assert problems(page) == []

    work_off()
    page = parse(organiser.get(response.url).content.decode())
    assert problems(page) == []
    assert "미리보기" in page.text
    assert {"지금 점수", "새 점수"} < headings(page)
    applied = organiser.post(
        url(contest, f"{batch.pk}/apply/"),
        {
            "confirm": "on",
            "resets_quota": "on",
            "title_ko": "규칙 변경",
            "body_ko": "0점 처리",
            "seen": page.one("input", name="seen").attributes["value"],
        },
        follow=True,
    )

    page = parse(applied.content.decode())
    assert problems(page) == []
    assert headings(page).isdisjoint({"지금 점수", "새 점수"})
    assert {"이전 점수", "다시 채점한 점수"} < headings(page)
    assert "순위가 바뀌는 팀" not in page.text  # what was a preview is history: ranks are not computed again
    batch.refresh_from_db()
    assert batch.state == RescoreBatch.State.APPLIED
    assert Track.objects.get(pk=contest.phase.track_id).recipe == STRICT
    assert Notice.objects.get().title_ko == "규칙 변경"
    assert QuotaEntry.objects.filter(kind="reset").count() == 5


def test_other_rules_are_offered_where_they_read_the_same_files(contest: Contest) -> None:
    def offered() -> list[str]:
        page = parse(person(contest, "organiser").get(url(contest, f"start/{contest.phase.pk}/")).content.decode())
        return [option.attributes["value"] for option in page.one("select", name="recipe").all("option")]

    own = ["rag-qa@1+fluency", "rag-qa@1+faithfulness", "rag-qa@1+fluency+faithfulness"]
    assert offered() == ["", *own, STRICT, "story-completion@1"]  # the first is the rule as it is
    Track.objects.filter(pk=contest.phase.track_id).update(recipe=own[0])
    others = [STRICT, f"{STRICT}+fluency", "story-completion@1", "story-completion@1+fluency"]
    assert offered() == ["", "rag-qa@1", *own[1:], *others]
    Track.objects.filter(pk=contest.phase.track_id).update(recipe="regression@1")
    assert offered() == [""]
    Track.objects.filter(pk=contest.phase.track_id).update(recipe="captioning@1")
    assert [each for each in offered() if "+" not in each] == ["", "captioning-lexical@1", "captioning-rich@1"]
    Track.objects.filter(pk=contest.phase.track_id).update(recipe="no-longer-here@1")
    assert {"", STRICT, "captioning@1", "regression@1"} <= set(offered())


def test_a_change_of_the_private_part_alone_is_counted_and_labelled(contest: Contest) -> None:
    """The values of both parts are as a run would store them; only those of the private part differ."""
    batch = ready(contest)
    new = {run.submission_id: run for run in ScoringRun.objects.filter(batch=batch)}
    for submission in Submission.objects.filter(pk__in=new).select_related("live_run"):
        for run, value in ((submission.live_run, 0.0), (new[submission.pk], 0.25)):
            HiddenResult.objects.create(run=run, final_score=value, scores={"final_score": value})

    page = parse(person(contest, "organiser").get(url(contest, f"{batch.pk}/")).content.decode())

    assert problems(page) == []
    assert "10건 가운데 0건의 공개 점수와 10건의 비공개 점수가 바뀝니다" in page.text
    assert page.all("svg", "bars") == []  # one bar is no picture
    [histogram] = page.all("table", "manage-histogram")
    assert "비공개 문항" in histogram.one("thead").text
    [bar] = histogram.one("tbody").all("tr")  # one value needs one bar
    assert "+25.0" in bar.text


def test_applying_asks_for_an_explicit_yes(contest: Contest) -> None:
    batch = ready(contest, recipe=STRICT)
    organiser = person(contest, "organiser")

    response = organiser.post(url(contest, f"{batch.pk}/apply/"), {"title_ko": "제목만"})

    assert response.status_code == 422
    page = parse(response.content.decode())
    assert problems(page) == []
    assert "확인란에 표시해" in page.text
    assert "공지 내용을 적어" in page.text
    assert state_of(batch) == RescoreBatch.State.READY


def test_what_is_posted_without_a_title_is_what_the_form_says(contest: Contest) -> None:
    """The erratum of new references is posted in any case; nothing else is without a title."""
    said = "1번 정답을 더했습니다."
    draft = create_draft(phase=contest.phase, data=references("새말"), actor=contest.organiser, erratum_ko=said)
    batch, organiser = ready(contest, reference_version=draft), person(contest, "organiser")
    page = parse(organiser.get(url(contest, f"{batch.pk}/")).content.decode())
    assert "공지를 올리지 않습니다" not in page.one("section", id="apply").text
    assert "‘정답 정정 안내’로 시작하는 제목" in page.one("section", id="apply").text

    address = url(contest, f"{batch.pk}/apply/")
    previewed = parse(organiser.post(address, {"preview": "1"}).content.decode())
    assert said in previewed.one("section", id="preview").text
    answers = {"confirm": "on", "seen": page.one("input", name="seen").attributes["value"]}
    refused = organiser.post(address, {**answers, "body_ko": "제목이 없는 글"})
    assert (refused.status_code, Notice.objects.count()) == (422, 0)
    assert "공지 제목을 적어 주십시오." in refused.content.decode()

    assert organiser.post(address, answers).status_code == 302
    notice = Notice.objects.get()
    assert (notice.title_ko.startswith("정답 정정 안내"), notice.body_ko) == (True, said)


def test_a_preview_that_is_outdated_applies_nothing_and_a_fresh_one_is_shown_once(contest: Contest) -> None:
    batch = ready(contest, recipe=STRICT)
    organiser = person(contest, "organiser")
    old = seen_by(organiser, contest, batch)
    upload(contest)
    work_off()
    pointers = list(Submission.objects.order_by("pk").values_list("live_run", flat=True))
    written = {"confirm": "on", "grants_slots": "2", "title_ko": "규칙을 바꿉니다", "body_ko": "여러 줄의 안내"}

    refused = organiser.post(url(contest, f"{batch.pk}/apply/"), written | {"seen": old})

    assert refused.status_code == 409
    page = parse(refused.content.decode())
    assert problems(page) == []
    assert "재채점한 제출이 10건에서 11건으로 바뀌어 결과가 달라졌습니다" in page.text
    assert "제출 11건 가운데" in page.text
    assert page.one("input", name="title_ko").attributes["value"] == "규칙을 바꿉니다"
    assert "여러 줄의 안내" in page.one("textarea", name="body_ko").text
    assert "checked" not in page.one("input", id="id_confirm").attributes
    assert state_of(batch) == RescoreBatch.State.READY
    assert list(Submission.objects.order_by("pk").values_list("live_run", flat=True)) == pointers
    assert not Notice.objects.exists()
    assert not QuotaEntry.objects.filter(batch=batch).exists()

    fresh = page.one("input", name="seen").attributes["value"]
    assert organiser.post(url(contest, f"{batch.pk}/apply/"), written | {"seen": fresh}).status_code == 302
    batch.refresh_from_db()
    assert batch.state == RescoreBatch.State.APPLIED
    assert Submission.objects.filter(live_run__batch=batch).count() == 11


@pytest.mark.parametrize("seen", [None, "", "10-" + "0" * 64, "0" * 64, "9" * 5000 + "-x", "<b>-x"])
def test_a_forged_or_missing_preview_is_refused(contest: Contest, seen: str | None) -> None:
    batch = ready(contest, recipe=STRICT)
    data = {"confirm": "on"} | ({} if seen is None else {"seen": seen})

    refused = person(contest, "organiser").post(url(contest, f"{batch.pk}/apply/"), data)

    assert refused.status_code == 409
    assert "미리 본 것과 지금 적용될 결과가 다릅니다" in refused.content.decode()
    assert state_of(batch) == RescoreBatch.State.READY


def test_what_no_preview_shows_does_not_outdate_it(contest: Contest) -> None:
    batch = ready(contest, recipe=STRICT)
    organiser = person(contest, "organiser")
    old = seen_by(organiser, contest, batch)
    contest.teams[0].name = "새 이름"
    contest.teams[0].save()
    waiting = upload(contest)  # neither of its runs has a score yet
    Submission.objects.filter(pk=waiting.pk).update(created_at=batch.created_at + timedelta(seconds=1))

    assert seen_by(organiser, contest, batch) == old
    assert organiser.post(url(contest, f"{batch.pk}/apply/"), {"confirm": "on", "seen": old}).status_code == 302
    batch.refresh_from_db()
    assert batch.state == RescoreBatch.State.APPLIED


def test_scores_that_differ_outdate_a_preview_of_as_many_submissions(contest: Contest) -> None:
    batch = ready(contest, recipe=STRICT)
    organiser = person(contest, "organiser")
    old = seen_by(organiser, contest, batch)
    run = ScoringRun.objects.filter(live_for__in=contest.submissions).order_by("pk").first()
    assert run is not None
    ScoringRun.objects.filter(pk=run.pk).update(scores=run.scores | {"final_score": 0.123})

    refused = organiser.post(url(contest, f"{batch.pk}/apply/"), {"confirm": "on", "seen": old})

    assert refused.status_code == 409
    assert "미리 본 것과 지금 적용될 결과가 다릅니다" in refused.content.decode()
    unconfirmed = organiser.post(url(contest, f"{batch.pk}/apply/"), {"seen": old})
    kept = parse(unconfirmed.content.decode()).one("input", name="seen").attributes["value"]
    assert (unconfirmed.status_code, kept) == (422, old), "a mistake in the form confirms no new preview"


def test_a_batch_that_was_applied_elsewhere_says_so(contest: Contest) -> None:
    batch = ready(contest, recipe=STRICT)
    organiser = person(contest, "organiser")
    data = {"confirm": "on", "seen": seen_by(organiser, contest, batch)}
    assert organiser.post(url(contest, f"{batch.pk}/apply/"), data).status_code == 302

    again = organiser.post(url(contest, f"{batch.pk}/apply/"), data)

    assert again.status_code == 409
    assert "이미 적용했거나 취소한" in again.content.decode()


def test_who_may_do_which_step(contest: Contest) -> None:
    batch = ready(contest, recipe=STRICT)
    steps = {
        "": {"owner": 200, "organiser": 200, "operator": 200, "viewer": 200},
        f"start/{contest.phase.pk}/": {"owner": 200, "organiser": 200, "operator": 200, "viewer": 403},
        f"{batch.pk}/": {"owner": 200, "organiser": 200, "operator": 200, "viewer": 200},
        f"{batch.pk}/preview.csv": {"owner": 200, "organiser": 200, "operator": 200, "viewer": 200},
    }
    for rest, expected in steps.items():
        for role, status in expected.items():
            assert person(contest, role).get(url(contest, rest)).status_code == status, (rest, role)
        assert client_of(contest.users[0]).get(url(contest, rest)).status_code == 404
        assert Client().get(url(contest, rest)).status_code == 302
    assert person(contest, "operator").post(url(contest, f"{batch.pk}/apply/"), {"confirm": "on"}).status_code == 403
    assert person(contest, "viewer").post(url(contest, f"{batch.pk}/cancel/")).status_code == 403
    assert state_of(batch) == RescoreBatch.State.READY


def test_the_list_filters_by_the_size_of_the_change(contest: Contest) -> None:
    batch = ready(contest, recipe=STRICT)
    viewer = person(contest, "viewer")

    def listed(minimum: str) -> int:
        page = parse(viewer.get(url(contest, f"{batch.pk}/?minimum={minimum}")).content.decode())
        return len(page.one("table", id="rows").all("tr")) - 1

    assert listed("") == 10
    assert listed("nonsense") == 10
    assert 0 < listed("0.0000001") < 10
    assert listed("100") == 0


def test_the_csv_holds_every_submission_on_both_sides(contest: Contest) -> None:
    contest.teams[0].name = "=HYPERLINK(1)"
    contest.teams[0].save()
    batch = ready(contest, recipe=STRICT)

    response = person(contest, "organiser").get(url(contest, f"{batch.pk}/preview.csv"))

    lines = list(csv.DictReader(io.StringIO(response.content.decode("utf-8-sig"))))
    assert len(lines) == 10
    runs = {str(run.submission.public_id): run for run in batch.runs.select_related("submission__live_run")}
    for line in lines:
        run = runs[line["submission"]]
        assert run.submission.live_run is not None
        assert float(line["final_score_after"]) == run.final_score
        assert float(line["final_score_before"]) == run.submission.live_run.final_score
        assert not line["team"].startswith("=")


def test_polling_says_nothing_while_nothing_changes_and_reloads_at_the_end(contest: Contest) -> None:
    batch = rescoring.start_batch(
        phase=contest.phase, selection=Selection(), reason="r", actor=contest.organiser, recipe=STRICT
    )
    viewer = person(contest, "viewer")
    address = url(contest, f"{batch.pk}/progress/")

    first = viewer.get(address)
    assert first.status_code == 200
    mark = parse(first.content.decode()).one("input", name="mark").attributes["value"]
    assert viewer.get(f"{address}?mark={mark}").status_code == 204
    work_off(3)
    assert "3 / 10" in viewer.get(f"{address}?mark={mark}").content.decode()
    work_off()
    last = viewer.get(address)
    assert (last.status_code, last["HX-Refresh"]) == (286, "true")


def test_a_late_upload_that_is_scored_does_not_reload_the_page_somebody_writes_in(contest: Contest) -> None:
    batch = ready(contest, recipe=STRICT)
    late = batch.runs.order_by("pk").last()
    assert late is not None
    Submission.objects.filter(pk=late.submission_id).update(created_at=batch.created_at + timedelta(seconds=1))
    ScoringRun.objects.filter(pk=late.pk).update(state=ScoringRun.State.QUEUED)
    organiser = person(contest, "organiser")
    page = parse(organiser.get(url(contest, f"{batch.pk}/")).content.decode())
    assert "미리보기" in page.text
    address = page.one("div", id="progress").attributes["hx-get"]
    mark = page.one("input", name="mark").attributes["value"]
    assert organiser.get(f"{address}&mark={mark}").status_code == 204

    ScoringRun.objects.filter(pk=late.pk).update(state=ScoringRun.State.FINISHED)
    last = organiser.get(f"{address}&mark={mark}")

    assert (last.status_code, last.has_header("HX-Refresh")) == (286, False)
    note = parse(last.content.decode())
    assert "10 / 10" in note.text
    assert "아래 미리보기는 그 전의 것입니다" in note.text
    assert note.one("a").attributes["href"] == url(contest, f"{batch.pk}/")


def test_a_failed_run_is_shown_and_can_be_left_out_with_a_reason(contest: Contest) -> None:
    batch = ready(contest, recipe=STRICT)
    run = batch.runs.order_by("pk").last()
    assert run is not None
    ScoringRun.objects.filter(pk=run.pk).update(
        state=ScoringRun.State.FAILED, error_code="scoring_crashed", final_score=None
    )
    RescoreBatch.objects.filter(pk=batch.pk).update(state="running")
    operator = person(contest, "operator")

    page = parse(operator.get(url(contest, f"{batch.pk}/")).content.decode())
    assert problems(page) == []
    assert "scoring_crashed" in page.text
    address = url(contest, f"{batch.pk}/exclude/")
    assert operator.post(address, {"submission": run.submission_id, "reason": ""}).status_code == 422
    operator.post(address, {"submission": run.submission_id, "reason": "파일 손상"})

    page = parse(operator.get(url(contest, f"{batch.pk}/")).content.decode())
    assert "파일 손상" in page.text
    batch.refresh_from_db()
    assert state_of(batch) == RescoreBatch.State.READY


def test_cancelling_asks_and_leaves_the_scores(contest: Contest) -> None:
    batch = ready(contest, recipe=STRICT)
    pointers = list(Submission.objects.order_by("pk").values_list("live_run", flat=True))
    operator = person(contest, "operator")

    assert operator.post(url(contest, f"{batch.pk}/cancel/")).status_code == 422
    operator.post(url(contest, f"{batch.pk}/cancel/"), {"confirm": "on"})

    batch.refresh_from_db()
    assert batch.state == RescoreBatch.State.CANCELLED
    assert list(Submission.objects.order_by("pk").values_list("live_run", flat=True)) == pointers
    assert problems(parse(operator.get(url(contest, f"{batch.pk}/")).content.decode())) == []


def test_what_a_cancelled_rescoring_dropped_is_no_failure(contest: Contest) -> None:
    batch = rescoring.start_batch(
        phase=contest.phase, selection=Selection(), reason="r", actor=contest.organiser, recipe=STRICT
    )
    rescoring.cancel_batch(batch=batch, actor=contest.organiser)

    page = parse(person(contest, "viewer").get(url(contest, f"{batch.pk}/")).content.decode())

    assert problems(page) == []
    figures = {each.one("dt").text: each.one("dd").text for each in page.one("dl", "manage-figures").all("div")}
    assert figures == {"완료": "0 / 10", "채점 중": "0", "대기 중": "0", "실패": "0", "취소됨": "10"}
    assert "0건 가운데" not in page.text
    assert "이전 점수와의 차이" not in page.text


def test_repetitions_show_the_spread(contest: Contest) -> None:
    operator = person(contest, "operator")
    submission = contest.submissions[0]

    response = operator.post(url(contest, "repeat/"), {"submission": str(submission.public_id), "repeats": 3})
    assert "재채점 취소" in operator.get(response.url).content.decode()
    work_off()

    page = parse(operator.get(response.url).content.decode())
    assert problems(page) == []
    assert "3번 채점한 값" in page.text
    assert "아무 심사 모델에도 묻지 않았습니다" in page.text
    assert "재채점 취소" not in page.text, "there is nothing left to cancel"
    assert "같음" in page.text
    strange = operator.post(url(contest, "repeat/"), {"submission": "0" * 32, "repeats": 3})
    assert strange.status_code == 404


def test_a_batch_of_another_competition_is_not_there(contest: Contest) -> None:
    other = found(1)
    fill(other, 1)
    batch = ready(other)

    assert person(contest, "owner").get(url(contest, f"{batch.pk}/")).status_code == 404
    assert person(contest, "owner").post(url(contest, f"{batch.pk}/apply/"), {"confirm": "on"}).status_code == 404
