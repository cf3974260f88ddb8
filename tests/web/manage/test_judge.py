"""Agreement of a judge with people: uploaded by an organiser, shown on the card of the metric, taken off again."""

from __future__ import annotations

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.http import HttpResponse
from django.test import Client
from scipy.stats import pearsonr, spearmanr
from sklearn.metrics import cohen_kappa_score

from malpan.competitions.models import Competition
from malpan.core.models import AuditEntry
from malpan.submissions.models import JudgeAgreement, Submission
from tests.factories import TeamFactory, person_in
from tests.judged_submissions import human_bytes, judged_submission
from tests.web import html
from tests.web.conftest import Contest, client_of

JUDGED = {"e1": 1.0, "e2": 0.8, "e3": 0.2, "e4": 0.6, "e5": 0.4, "e6": 1.0, "e7": 0.0}  # the last has no answer
HUMAN = {"e1": 4.5, "e2": 4.0, "e3": 1.5, "e4": 2.0, "e5": 3.0, "e6": 5.0, "e7": 1.0}
SOURCE = "국어 교사 두 명, 같은 기준으로"


@pytest.fixture
def organiser(contest: Contest) -> Client:
    return client_of(person_in(contest.competition, "organiser"))


@pytest.fixture
def judged(contest: Contest) -> Submission:
    team = TeamFactory.create(competition=contest.competition, name="근거 팀")
    return judged_submission(contest.phase, team, JUDGED)


def upload(client: Client, contest: Contest, judged: Submission, data: bytes) -> HttpResponse:
    file = SimpleUploadedFile("human.json", data, content_type="application/json")
    body = {"judged": f"{judged.pk}:llm_judge", "file": file, "source": SOURCE}
    return client.post(contest.url("manage/judge/"), body)


def card(name: str = "llm_judge", language: str = "ko") -> html.Element:
    return html.parse(Client().get(f"/metrics/{name}/", headers={"accept-language": language}).content.decode())


def test_uploaded_scores_become_figures_on_the_card(contest: Contest, organiser: Client, judged: Submission) -> None:
    page = organiser.get(contest.url("manage/judge/")).content.decode()
    assert html.problems(html.parse(page)) == []
    assert "근거 팀" in page
    assert upload(organiser, contest, judged, human_bytes(HUMAN)).status_code == 302

    ids = [item for item in HUMAN if JUDGED[item]]
    scores, people = [round(JUDGED[item] * 5) for item in ids], [HUMAN[item] for item in ids]
    whole = [int(score + 0.5) for score in people]
    expected = (
        pearsonr(scores, people)[0],
        spearmanr(scores, people)[0],
        cohen_kappa_score(scores, whole, weights="quadratic", labels=[1, 2, 3, 4, 5]),
    )
    found = JudgeAgreement.objects.get()
    assert [found.figures[name]["value"] for name in ("pearson", "spearman", "kappa")] == pytest.approx(expected)
    assert (found.figures["items"], found.figures["unanswered"], found.is_demo_models) == (6, 1, True)

    for language, shown in (("ko", "데모 모델"), ("en", "Demo")):
        page_of_card = card(language=language)
        assert html.problems(page_of_card) == []
        section = page_of_card.one("section").text
        for text in (*(f"{value:.3f}" for value in expected), "Qwen3-8B-AWQ", "rationale-1", SOURCE, shown):
            assert text in section
        assert "6" in section
    assert "근거 팀" not in card().one("main").text
    assert SOURCE not in card("chrf").one("main").text
    entry = AuditEntry.objects.get(action="judge_agreement.record")
    assert entry.competition_pk == contest.competition.pk
    assert entry.after["submission"] == str(judged.public_id)

    organiser.post(contest.url(f"manage/judge/{found.pk}/remove/"))
    assert not JudgeAgreement.objects.exists()
    assert AuditEntry.objects.get(action="judge_agreement.remove").before["source"] == SOURCE
    assert SOURCE not in card().one("main").text


def test_a_hidden_competition_shows_nothing_on_the_card(
    contest: Contest, organiser: Client, judged: Submission
) -> None:
    upload(organiser, contest, judged, human_bytes(HUMAN))
    Competition.objects.filter(pk=contest.competition.pk).update(is_published=False)
    assert SOURCE not in card().one("main").text
    assert SOURCE in organiser.get(contest.url("manage/judge/")).content.decode()


@pytest.mark.parametrize(
    ("data", "shown"),
    [
        (b'[{"id": "e1", "score": 3},\n {"id": "x9", "score": 3}]', "x9"),
        (b'[{"id": "e1", "score": 7}]', "5"),
        (b"", "비어"),
        (b'{"metric": "llm_judge", "human_sha256": "00"}', "사람 점수 파일(문항마다 {&quot;id&quot;: ..., "),
        (human_bytes({"e1": 3}), "1개입니다"),
        (human_bytes({"e1": 3, "e7": 3}), "1개입니다"),
    ],
)
def test_a_file_that_cannot_be_used_says_where_and_why(
    contest: Contest, organiser: Client, judged: Submission, data: bytes, shown: str
) -> None:
    response = upload(organiser, contest, judged, data)
    assert response.status_code == 422
    assert html.problems(html.parse(response.content.decode())) == []
    assert shown in response.content.decode()
    assert not JudgeAgreement.objects.exists()


def test_a_viewer_reads_and_cannot_upload_or_remove(contest: Contest, organiser: Client, judged: Submission) -> None:
    upload(organiser, contest, judged, human_bytes(HUMAN))
    row = JudgeAgreement.objects.get()
    viewer = client_of(person_in(contest.competition, "viewer"))
    page = viewer.get(contest.url("manage/judge/")).content.decode()
    assert SOURCE in page
    assert 'name="judged"' not in page
    assert upload(viewer, contest, judged, human_bytes(HUMAN)).status_code == 403
    assert viewer.post(contest.url(f"manage/judge/{row.pk}/remove/")).status_code == 403
    assert JudgeAgreement.objects.count() == 1


def test_a_submission_of_another_competition_cannot_be_named(contest: Contest, organiser: Client) -> None:
    from tests.factories import PhaseFactory, publish

    phase = PhaseFactory.create()
    publish(phase)
    other = judged_submission(phase, TeamFactory.create(competition=phase.track.competition), JUDGED)
    assert upload(organiser, contest, other, human_bytes(HUMAN)).status_code == 422
    assert not JudgeAgreement.objects.exists()


def test_of_several_scorings_that_of_the_live_result_counts(
    contest: Contest, organiser: Client, judged: Submission
) -> None:
    """Values by another prompt are there as well, from before."""
    row = judged.metric_results.first()
    assert row is not None
    row.pk, row.metric_signature, row.values = None, "0" * 64, dict.fromkeys(JUDGED, 0.2)
    row.save()
    upload(organiser, contest, judged, human_bytes(HUMAN))
    assert JudgeAgreement.objects.get().figures["pearson"]["value"] > 0.5


def test_what_cannot_be_determined_is_said_on_the_page_and_on_the_card(
    contest: Contest, organiser: Client, judged: Submission
) -> None:
    assert upload(organiser, contest, judged, human_bytes(dict.fromkeys(HUMAN, 3))).status_code == 302
    found = JudgeAgreement.objects.get()
    assert [found.figures[name]["value"] for name in ("pearson", "spearman", "kappa")] == [None, None, 0.0]
    page = html.parse(organiser.get(contest.url("manage/judge/")).content.decode())
    assert html.problems(page) == []
    for text in (page.one("table").text, card().one("section").text):
        assert text.count("정할 수 없음") == 2
        assert text.count("사람의 점수가 모두 같습니다") == 2
        assert "None" not in text
    english = card(language="en").one("section").text
    assert english.count("cannot be determined") >= 2
    assert "all scores of people are equal" in english
