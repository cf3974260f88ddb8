"""A split: two results of one scoring, no item scored twice by a neural metric, the private one kept apart."""

from collections.abc import Iterator
from typing import Any

import pytest

from malpan.competitions.phases import update_phase
from malpan.submissions.evaluation import runs
from malpan.submissions.models import HiddenResult, MetricResult, ScoringRun
from malpan.submissions.scoring_changes import publish_reference_version, split_again
from scoring.text import run_tokens, tokenization
from scoring.text.okt import Okt, Tagged
from tests.factories import PhaseFactory, TeamFactory, file_bytes, report, rows
from tests.scoring.fakes import FakeNeural
from tests.submissions.conftest import claim_run, execute, send

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("neural")]

ITEMS = 6
REFERENCE = "‘맞히다’가 옳다. 정답을 고르는 일은 맞히다로 쓴다."


def _references() -> list[dict[str, Any]]:
    return rows(ITEMS, REFERENCE)


def _answers() -> bytes:
    """Items 1 to 3 right, the others wrong; every reason another text, so that every item asks the metrics itself."""
    answers = rows(ITEMS)
    for number, row in enumerate(answers, start=1):
        verdict = "맞히다" if number <= 3 else "맞추다"
        row["output"]["answer"] = f"‘{verdict}’가 옳다. " + "까닭이다 " * number
    return file_bytes(answers)


def _scored(public: list[str] | None, **settings: Any) -> ScoringRun:
    phase = PhaseFactory.create(**settings)
    publish_reference_version(phase=phase, data=file_bytes(_references()), actor=None, public_ids=public)
    team = TeamFactory.create(competition=phase.track.competition)
    return execute(send(phase, team, _answers()).runs.get())


def _asked(metric: str) -> int:
    return sum(name == metric for name, *_pair in FakeNeural.asked)


def test_the_run_holds_the_public_split_and_the_hidden_result_the_rest():
    run = _scored(["q1", "q2"])
    hidden = HiddenResult.objects.get(run=run)

    assert (run.state, run.error_code) == (ScoringRun.State.FINISHED, "")
    assert (run.scores["exact_match"], run.coverage["items"]) == (1.0, 2)
    assert (hidden.scores["exact_match"], hidden.coverage["items"]) == (0.25, 4)
    assert hidden.final_score == hidden.scores["final_score"] != run.final_score
    assert run.signature["references"]["items"] == 2
    assert hidden.signature["references"]["items"] == 4
    assert hidden.signature_hash != run.signature_hash


def test_the_private_split_may_be_all_items():
    run = _scored(["q1", "q2"], private_covers_all=True)
    hidden = HiddenResult.objects.get(run=run)

    assert (hidden.scores["exact_match"], hidden.coverage["items"]) == (0.5, 6)
    assert run.coverage["items"] == 2


def test_without_a_split_there_is_no_hidden_result():
    run = _scored(None)
    assert (run.coverage["items"], HiddenResult.objects.count()) == (6, 0)
    assert set(MetricResult.objects.values_list("split", flat=True)) == {"all"}


@pytest.mark.parametrize("covers_all", [False, True])
def test_a_split_scores_no_item_twice(covers_all):
    _scored(["q1", "q2"], private_covers_all=covers_all)
    assert (_asked("bleurt"), _asked("bertscore")) == (ITEMS, ITEMS)


def test_a_split_gives_the_scores_that_each_part_would_get_alone():
    whole = _scored(None)
    split = _scored(["q1", "q2"], private_covers_all=True)
    assert HiddenResult.objects.get(run=split).scores == whole.scores


def test_item_values_are_kept_by_split():
    run = _scored(["q1", "q2"])
    kept = {
        row.split: set(row.values) for row in MetricResult.objects.filter(submission=run.submission, metric="bleurt")
    }
    assert kept == {"public": {"q1", "q2"}, "private": {"q3", "q4", "q5", "q6"}}


def test_scoring_under_another_split_of_the_same_file_asks_no_neural_metric_again():
    run = _scored(["q1", "q2"])
    FakeNeural.asked.clear()
    split_again(phase=run.submission.phase, actor=None, public_ids=["q4", "q5", "q6"], replace_in_use=True)

    again = execute(runs.queue_run(submission=run.submission))

    assert (again.state, again.scores["exact_match"]) == (ScoringRun.State.FINISHED, 0.0)
    assert HiddenResult.objects.get(run=again).scores["exact_match"] == 1.0
    assert _asked("bleurt") + _asked("bertscore") == 0


@pytest.fixture
def letters_for_morphs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Okt without its Java, which takes 10 seconds of processor time to start: every letter is a noun."""

    def analyse(_self: Okt, piece: str) -> Iterator[Tagged]:
        yield from ((letter, "Noun", letter) for letter in piece)

    monkeypatch.setattr("scoring.text.okt.start_jvm", lambda: None)
    monkeypatch.setattr("jpype.JClass", lambda _name: None)
    monkeypatch.setattr(Okt, "_analyse", analyse)
    monkeypatch.setattr(tokenization, "_instances", {})  # neither the real one here nor this one elsewhere
    monkeypatch.setattr(run_tokens, "_memories", {})


@pytest.mark.usefixtures("letters_for_morphs")
def test_a_private_split_that_shrank_uses_no_row_made_in_the_light_of_all():
    """CIDEr-D of the rest is not CIDEr-D of all items: only its own rows may serve it."""
    phase = PhaseFactory.create(track__recipe="captioning-lexical@1", private_covers_all=True)
    things = ("사과", "자동차", "바다", "고양이", "눈사람", "기차")
    captions = {f"v{number}": f"{thing} 앞에 사람이 서 있다" for number, thing in enumerate(things, start=1)}
    public = ["v1", "v2"]
    publish_reference_version(phase=phase, data=file_bytes(captions), actor=None, public_ids=public)
    team = TeamFactory.create(competition=phase.track.competition)
    answers = {item: text.replace("서", "앉아") for item, text in captions.items()}
    first = execute(send(phase, team, file_bytes(answers)).runs.get())
    update_phase(phase=phase, actor=None, private_covers_all=False)
    again = execute(runs.queue_run(submission=first.submission))
    fresh = execute(send(phase, TeamFactory.create(competition=team.competition), file_bytes(answers)).runs.get())

    scores = [HiddenResult.objects.get(run=run).scores for run in (first, again, fresh)]
    assert scores[1] == scores[2]
    assert scores[0]["cider"] != scores[2]["cider"]


def test_the_hidden_result_is_written_with_the_run_or_not_at_all(run):
    claim_run(run)
    assert not runs.finish_run(run_id=run.pk, attempt=2, report=report(0.1), hidden=report(0.2))
    assert not HiddenResult.objects.exists()
    assert runs.finish_run(run_id=run.pk, attempt=1, report=report(0.1), hidden=report(0.2))
    assert (run.submission.runs.get().final_score, HiddenResult.objects.get().final_score) == (0.1, 0.2)
