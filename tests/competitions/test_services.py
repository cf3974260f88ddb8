"""Reference versions: checked, numbered, one current; nothing of an answer in what comes back."""

import json

import pytest
from django.core.exceptions import ValidationError
from django.utils import timezone

from malpan.competitions.errors import (
    AnswersWouldLeak,
    ReferencesArePublic,
    ReferencesInUse,
    ReferencesRejected,
    UnknownTrackRecipe,
)
from malpan.competitions.models import DataFile, Phase, ReferenceVersion
from malpan.competitions.phases import set_board
from malpan.competitions.references import load_references
from malpan.competitions.services import add_data_file, create_phase, create_track
from malpan.core.messages import text_of
from malpan.core.models import AuditEntry
from malpan.core.storage import read_private
from malpan.submissions.scoring_changes import publish_reference_version
from tests.factories import (
    CANARY,
    CompetitionFactory,
    PhaseFactory,
    SubmissionFactory,
    TrackFactory,
    UserFactory,
    file_bytes,
    publish,
    reference_bytes,
    rows,
)
from tests.threads import at_once

pytestmark = pytest.mark.django_db


def test_published_references_are_current_stored_privately_and_audited():
    phase, organiser = PhaseFactory.create(), UserFactory.create(is_staff=True)

    version = publish_reference_version(phase=phase, data=reference_bytes(), actor=organiser, note="최종")

    assert (version.number, version.is_current, version.item_count, version.created_by) == (1, True, 3, organiser)
    assert read_private(version.file_sha256) == reference_bytes()
    assert AuditEntry.objects.get(action="reference_version.publish").actor == organiser


@pytest.mark.parametrize("answer", [f"{CANARY}#", f"#{CANARY}", '""'])
def test_references_with_an_empty_alternative_are_refused_and_nothing_is_quoted(answer):
    phase = PhaseFactory.create()
    with pytest.raises(ReferencesRejected) as caught:
        publish_reference_version(phase=phase, data=file_bytes(rows(2, answer)), actor=None)
    assert [(error.code, error.item_id) for error in caught.value.errors] == [
        ("empty_alternative", "q1"),
        ("empty_alternative", "q2"),
    ]
    assert CANARY not in repr([error.as_dict() for error in caught.value.errors])
    assert not phase.reference_versions.exists()


def test_captions_whose_ids_meet_are_refused_with_both_names():
    phase = PhaseFactory.create(track__recipe="captioning-lexical@1")
    rows_of_two = [{"id": name, "caption": CANARY} for name in ("cat.jpg", "cat.png")]
    with pytest.raises(ReferencesRejected) as caught:
        publish_reference_version(phase=phase, data=file_bytes(rows_of_two), actor=None)
    (error,) = caught.value.errors
    assert (error.params["first"], error.params["second"]) == ("cat.jpg", "cat.png")
    assert CANARY not in repr(error.as_dict())


def test_new_version_takes_over_and_the_old_one_stays():
    phase = PhaseFactory.create()
    first, second = publish(phase, 3), publish(phase, 4)

    assert list(phase.reference_versions.values_list("number", "is_current")) == [(2, True), (1, False)]
    assert read_private(first.file_sha256) != read_private(second.file_sha256)


@pytest.mark.parametrize(
    "items",
    [
        [],
        [*rows(2, CANARY), rows(2, CANARY)[1]],
        [{"id": "q1", "input": {"question_type": "선택형"}, "output": {"answer": {"text": CANARY}}}],
        [{"id": "q1", "input": {"question_type": "선택형"}, "output": {"answer": f"{CANARY}\x07"}}],
        {CANARY: CANARY},
    ],
)
def test_broken_references_are_refused_without_quoting_an_answer(items, caplog):
    with pytest.raises(ReferencesRejected) as caught:
        publish_reference_version(phase=PhaseFactory.create(), data=file_bytes(items), actor=None)

    located = json.dumps([each.as_dict() for each in caught.value.errors], ensure_ascii=False)
    assert caught.value.errors
    assert CANARY not in located + text_of(caught.value) + repr(caught.value) + caplog.text
    assert caught.value.__cause__ is None
    assert not ReferenceVersion.objects.exists()


def test_audit_log_holds_no_answer():
    publish(PhaseFactory.create())

    assert CANARY not in json.dumps(list(AuditEntry.objects.values("before", "after")), ensure_ascii=False)


def test_references_with_counted_submissions_are_replaced_only_knowingly():
    phase = PhaseFactory.create()
    publish(phase)
    SubmissionFactory.create_batch(2, phase=phase)
    SubmissionFactory.create(phase=phase, refunded_at=timezone.now())

    with pytest.raises(ReferencesInUse) as caught:
        publish_reference_version(phase=phase, data=reference_bytes(4), actor=None)
    assert caught.value.params["count"] == 2

    version = publish_reference_version(phase=phase, data=reference_bytes(4), actor=None, replace_in_use=True)
    assert version.is_current


def test_reference_file_cannot_become_a_download_nor_a_download_a_reference():
    phase = PhaseFactory.create()
    publish(phase)

    with pytest.raises(AnswersWouldLeak):
        add_data_file(track=phase.track, kind="data", title_ko="자료", file_name="answers.json", data=reference_bytes())
    add_data_file(track=phase.track, kind="data", title_ko="자료", file_name="q.json", data=reference_bytes(5))
    with pytest.raises(ReferencesArePublic) as refused:
        publish_reference_version(phase=phase, data=reference_bytes(5), actor=None)
    assert "정답으로 쓸 수 없습니다" in text_of(refused.value)


def test_data_file_keeps_only_the_last_part_of_its_name():
    file = add_data_file(
        track=TrackFactory.create(), kind=DataFile.Kind.SAMPLE, title_ko="예시", file_name="a/b/예시.json", data=b"[]"
    )

    assert (file.file_name, file.file_size) == ("예시.json", 2)


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("가" * 300 + ".json", "가" * 115 + ".json"),
        ("a." + "b" * 300, "a." + "b" * 106 + "." + "b" * 11),
        ("\u200b", "data"),
        ("", "data"),
    ],
)
def test_data_file_has_a_name_of_any_length_with_its_ending(name, kept):
    file = add_data_file(
        track=PhaseFactory.create().track, kind="data", title_ko="자료", file_name=name, data=b"some bytes"
    )
    assert len(file.file_name) <= 120
    assert file.file_name == kept


def test_references_are_parsed_once_per_process(monkeypatch):
    version = publish(PhaseFactory.create(), 7)
    first = load_references(version, "rag-qa@1")
    monkeypatch.setattr("malpan.competitions.references.read_private", lambda _sha256: pytest.fail("read again"))

    assert load_references(version, "rag-qa@1") is first


def test_track_needs_a_known_recipe():
    with pytest.raises(UnknownTrackRecipe):
        create_track(competition=CompetitionFactory.create(), slug="t", title_ko="과제", recipe="no-such@1")


def test_phase_that_ends_before_it_starts_is_refused():
    now = timezone.now()

    with pytest.raises(ValidationError):
        create_phase(track=TrackFactory.create(), slug="p", title_ko="본선", starts_at=now, ends_at=now)


def test_freezing_twice_keeps_the_first_moment():
    phase = PhaseFactory.create()

    first = set_board(phase=phase, board=Phase.Board.FROZEN, actor=None).frozen_at
    again = set_board(phase=phase, board=Phase.Board.FROZEN, actor=None).frozen_at

    assert first == again
    assert set_board(phase=phase, board=Phase.Board.LIVE, actor=None).frozen_at is None


@pytest.mark.django_db(transaction=True)
def test_versions_published_at_once_are_numbered_in_turn_and_one_is_current():
    phase = PhaseFactory.create()
    files = [reference_bytes(count) for count in range(1, 9)]

    at_once([lambda data=data: publish_reference_version(phase=phase, data=data, actor=None) for data in files])

    versions = phase.reference_versions.order_by("number")
    assert [each.number for each in versions] == list(range(1, 9))
    assert [each.is_current for each in versions] == [False] * 7 + [True]
