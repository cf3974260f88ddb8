"""The way in: who may submit, what is refused and when, what is charged, and what survives a fault of ours."""

import json
import unicodedata
import uuid
from datetime import timedelta

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.utils import timezone

from malpan.competitions.errors import ReferencesNotPublished
from malpan.core.errors import DomainError
from malpan.core.models import AuditEntry
from malpan.core.storage import read_private
from malpan.jobs import doorbell
from malpan.submissions import intake
from malpan.submissions.errors import (
    DuplicateUpload,
    FileRejected,
    PhaseNotOpen,
    QuotaExceeded,
    UploadKeyReused,
    UploadKeyTooLong,
    UploadTooLarge,
)
from malpan.submissions.intake import clean_file_name
from malpan.submissions.integrity.receipts import receipt_of
from malpan.submissions.models import Rejection, RescoreBatch, ScoringRun, Submission
from malpan.submissions.quota import services as quota
from malpan.submissions.selectors import rejection_errors
from malpan.teams.errors import NotTeamMember, TeamDisqualified
from malpan.teams.models import Membership
from malpan.teams.services import disqualify_team
from tests.factories import (
    CANARY,
    PhaseFactory,
    TeamFactory,
    UserFactory,
    file_bytes,
    file_with_errors,
    leader_of,
    prediction_bytes,
    rows,
)
from tests.locks import waits_for
from tests.submissions.conftest import limited, send

pytestmark = pytest.mark.django_db


def test_sound_file_is_stored_charged_queued_and_audited(phase, team, rings, django_capture_on_commit_callbacks):
    with django_capture_on_commit_callbacks(execute=True):
        submission = send(phase, team, memo="첫 제출")

    assert read_private(submission.file_sha256) == prediction_bytes()
    assert (submission.item_count, submission.memo, submission.live_run) == (3, "첫 제출", None)
    run = submission.runs.get()
    assert (run.state, run.recipe, run.profile) == (ScoringRun.State.QUEUED, "rag-qa@1", "demo")
    assert run.reference_version == phase.reference_versions.get()
    assert rings == [doorbell.TASK]
    assert quota.status(phase=phase, team=team).used_total == 1
    assert AuditEntry.objects.get(action="submission.create").actor == leader_of(team)
    assert receipt_of(submission).entry is not None


def test_while_a_rescoring_is_open_an_upload_is_queued_for_it_as_well(phase, team):
    batch = RescoreBatch.objects.create(
        competition=phase.track.competition, phase=phase, reason="r", created_by=UserFactory.create()
    )

    submission = send(phase, team)

    assert {run.batch for run in submission.runs.all()} == {None, batch}


def test_uploaded_file_of_a_form_is_taken_like_bytes(phase, team):
    upload = SimpleUploadedFile("답안.json", prediction_bytes())

    assert send(phase, team, upload, file_name=upload.name).file_name == "답안.json"


def test_message_is_not_sent_before_the_commit(phase, team, rings, django_capture_on_commit_callbacks):
    with django_capture_on_commit_callbacks() as callbacks:
        send(phase, team)

    assert rings == []
    assert len(callbacks) == 1


def test_stranger_cannot_submit_for_a_team(phase, team):
    with pytest.raises(NotTeamMember):
        send(phase, team, user=UserFactory.create())


def test_team_of_another_competition_cannotsend(phase):
    with pytest.raises(NotTeamMember):
        send(phase, TeamFactory.create())


def test_who_may_not_submit_is_told_so_before_the_file_is_looked_at(phase, team):
    with pytest.raises(NotTeamMember):
        send(phase, team, b"no answers", user=UserFactory.create())

    assert not Rejection.objects.exists()


def test_disqualified_team_cannot_submit(phase, team):
    _disqualify(phase, team)

    with pytest.raises(TeamDisqualified):
        send(phase, team)

    assert not Submission.objects.exists()


def _disqualify(phase, team):
    disqualify_team(team=team, actor=UserFactory.create(is_superuser=True), note_ko="규정 위반")


def _leave(phase, team):
    Membership.objects.filter(team=team).delete()


def _send_the_same(phase, team):
    send(phase, team, upload_key="form-1")


def _use_the_last_slot(phase, team):
    send(phase, team, prediction_bytes(mark="faster"))


@pytest.mark.parametrize(
    ("happens", "error"),
    [
        (_disqualify, TeamDisqualified),
        (_leave, NotTeamMember),
        (_send_the_same, DuplicateUpload),
        (_use_the_last_slot, QuotaExceeded),
    ],
)
def test_what_happens_while_a_file_is_stored_counts(monkeypatch, happens, error):
    phase, team = limited(daily_limit=1)
    user, store = leader_of(team), intake.store_private

    def slow_store(data):
        monkeypatch.setattr(intake, "store_private", store)
        happens(phase, team)
        return store(data)

    monkeypatch.setattr(intake, "store_private", slow_store)
    with pytest.raises(error):
        send(phase, team, user=user, upload_key="form-1")
    assert quota.status(phase=phase, team=team).used_total == Submission.objects.count()


@pytest.mark.django_db(transaction=True)
def test_an_upload_waits_for_whoever_changes_the_team(phase, team):
    with waits_for(team):
        send(phase, team)

    assert not Submission.objects.exists()


def test_phase_takes_files_from_its_start_up_to_but_not_at_its_end(phase, team):
    moment = timedelta(microseconds=1)

    send(phase, team, prediction_bytes(mark=1), now=phase.starts_at)
    send(phase, team, prediction_bytes(mark=2), now=phase.ends_at - moment)
    for closed, is_over in ((phase.starts_at - moment, False), (phase.ends_at, True)):
        with pytest.raises(PhaseNotOpen) as caught:
            send(phase, team, prediction_bytes(mark=3), now=closed)
        assert caught.value.is_over == is_over


def test_whoever_was_cut_off_at_the_end_and_sends_again_is_told_that_it_was_accepted(phase, team):
    sent = send(phase, team, upload_key="cut", now=phase.ends_at - timedelta(seconds=1))
    with pytest.raises(DuplicateUpload) as caught:
        send(phase, team, upload_key="cut", now=phase.ends_at + timedelta(seconds=1))
    assert caught.value.params["public_id"] == sent.public_id
    with pytest.raises(PhaseNotOpen):
        send(phase, team, upload_key="another", now=phase.ends_at + timedelta(seconds=1))


def test_phase_without_references_takes_no_file():
    phase = PhaseFactory.create()

    with pytest.raises(ReferencesNotPublished):
        send(phase, TeamFactory.create(competition=phase.track.competition))


def test_file_over_the_limit_is_refused_before_it_is_read(phase, team, settings):
    settings.UPLOAD_MAX_BYTES = 1000

    class Unreadable(SimpleUploadedFile):
        def read(self, *_size: object) -> bytes:
            raise AssertionError("read")

    with pytest.raises(UploadTooLarge) as caught:
        send(phase, team, Unreadable("a.json", b"x" * 1001))
    assert caught.value.params == {"size_bytes": 1001, "limit_bytes": 1000}


def test_file_of_exactly_the_limit_is_taken(phase, team, settings):
    settings.UPLOAD_MAX_BYTES = len(prediction_bytes())

    assert send(phase, team).file_size == settings.UPLOAD_MAX_BYTES


def test_a_memo_is_cut_to_what_is_kept_and_a_key_is_not(phase, team):
    submission = send(phase, team, memo="말" * 201, upload_key="k" * 64)
    assert (submission.memo, submission.upload_key) == ("말" * 200, "k" * 64)
    with pytest.raises(UploadKeyTooLong):  # cut, it would be that of the first
        send(phase, team, upload_key="k" * 65)
    assert Submission.objects.count() == 1


def test_malformed_file_costs_no_quota_and_is_recorded_with_its_errors(phase, team, rings):
    items = [*rows(2), {"id": "q9", "output": {"answer": 7}}]

    with pytest.raises(FileRejected) as caught:
        send(phase, team, file_bytes(items), file_name="나쁜.json")

    rejection = Rejection.objects.get()
    assert caught.value.rejection == rejection
    assert (rejection.file_name, rejection.error_count) == ("나쁜.json", caught.value.total)
    assert rejection_errors(rejection) == caught.value.errors
    assert all(each.line or each.item_id for each in caught.value.errors)
    assert quota.status(phase=phase, team=team).used_total == 0
    assert not Submission.objects.exists()
    assert rings == []


def test_nothing_of_a_rejected_file_is_stored(phase, team, settings):
    before = {path for path in settings.PRIVATE_ROOT.rglob("*") if path.is_file()}

    with pytest.raises(FileRejected):
        send(phase, team, file_bytes([{"id": "q1", "output": {"answer": ["몰래 쓴 답"]}}]))

    assert {path for path in settings.PRIVATE_ROOT.rglob("*") if path.is_file()} == before
    assert "몰래 쓴 답" not in json.dumps(Rejection.objects.get().errors, ensure_ascii=False)


@pytest.mark.parametrize(("total", "kept"), [(99, 99), (100, 100), (101, 100), (500, 100)])
def test_a_hundred_errors_are_kept_and_all_are_counted(phase, team, total, kept):
    with pytest.raises(FileRejected) as caught:
        send(phase, team, file_with_errors(total))

    rejection = Rejection.objects.get()
    assert (len(caught.value.errors), len(rejection.errors), len(rejection_errors(rejection))) == (kept, kept, kept)
    assert rejection.error_count == caught.value.total == total


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\xff\xfe[\x00]\x00",
        b'[{"id": "q1\\u0000", "output": {"answer": "a"}}]',
        b'[{"id": "\\ud800", "output": {"answer": "\\udc00"}}]',
        b'[{"id": "q1", "output": {"answer": "a\\u0000b"}}]',
        b"[" * 5000,
        b'[{"id": 1e999, "output": NaN}]',
        b'{"q1": "' + b"x" * 100_000 + b'"}',
    ],
)
def test_hostile_file_is_rejected_and_its_record_can_be_stored_and_shown(phase, team, data):
    with pytest.raises(FileRejected):
        send(phase, team, data)

    errors = rejection_errors(Rejection.objects.get())
    assert errors
    for each in errors:
        str(each.as_dict()).encode()  # no lone surrogate is left in it


def test_team_without_quota_is_told_before_its_file_is_parsed(monkeypatch):
    phase, team = limited(daily_limit=1)
    send(phase, team)
    monkeypatch.setattr("malpan.submissions.intake.checked", lambda *_args, **_options: pytest.fail("parsed"))

    with pytest.raises(QuotaExceeded):
        send(phase, team, prediction_bytes(mark=2))
    assert not Rejection.objects.exists()


def test_second_click_is_told_of_the_first_and_not_charged():
    phase, team = limited(daily_limit=1)
    first = send(phase, team, upload_key="form-1")

    with pytest.raises(DuplicateUpload) as caught:  # and not: quota exceeded
        send(phase, team, upload_key="form-1")

    assert caught.value.params == {"public_id": first.public_id, "submitted_at": first.created_at}
    assert Submission.objects.count() == 1


def test_same_file_from_another_form_is_the_teams_own_decision_and_charged(phase, team):
    first = send(phase, team, upload_key="form-1")

    assert send(phase, team, upload_key="form-2") != first
    assert quota.status(phase=phase, team=team).used_total == 2


def test_another_file_in_a_form_the_browser_brought_back_is_taken(phase, team):
    first = send(phase, team, prediction_bytes(mark=1), upload_key="form-1")

    assert send(phase, team, prediction_bytes(mark=2), upload_key="form-1") != first


def test_another_file_under_a_key_for_one_file_is_refused(phase, team):
    send(phase, team, prediction_bytes(mark=1), upload_key="request-1", key_is_for_one_file=True)

    with pytest.raises(UploadKeyReused):
        send(phase, team, prediction_bytes(mark=2), upload_key="request-1", key_is_for_one_file=True)
    send(phase, team, prediction_bytes(mark=2), upload_key="request-2", key_is_for_one_file=True)


def test_same_form_key_of_another_team_is_no_duplicate(phase, team):
    send(phase, team, upload_key="form-1")

    send(phase, TeamFactory.create(competition=phase.track.competition), upload_key="form-1")


def test_macos_name_and_answers_are_normalised_and_counted(phase, team):
    nfd = unicodedata.normalize("NFD", "‘맞히다’가 옳다.")

    submission = send(phase, team, file_bytes(rows(3, nfd)), file_name=unicodedata.normalize("NFD", "답안.json"))

    assert (submission.file_name, submission.normalized_count) == ("답안.json", 3)


@pytest.mark.parametrize(
    ("name", "clean"),
    [
        ("a/b\\c.json", "c.json"),
        ("../../etc/passwd", "passwd"),
        ("답\x00안\u202e.json", "답안.json"),
        ("", "submission.json"),
        ("/", "submission.json"),
        ("ㄱ" * 300, "ㄱ" * 255),
        ("답\ud800안.json", "답안.json"),
    ],
)
def test_file_name_is_cleaned(name, clean):
    assert clean_file_name(name) == clean


@pytest.mark.parametrize(
    "items",
    [
        rows(2),
        rows(4),
        [*rows(2), rows(1)[0]],
        [*rows(2), {"id": "zz", "input": {}, "output": {"answer": "가"}}],
        [{"id": "q1"}],
        "text",
    ],
)
def test_rejection_never_quotes_a_reference_answer(phase, team, items, caplog):
    with pytest.raises(DomainError) as caught:
        send(phase, team, file_bytes(items))

    kept = json.dumps(list(Rejection.objects.values("errors")), ensure_ascii=False)
    shown = json.dumps([each.as_dict() for each in caught.value.errors], ensure_ascii=False)
    assert CANARY not in kept + shown + repr(caught.value) + caplog.text


def test_public_number_cannot_be_guessed_from_the_key(phase, team):
    assert uuid.UUID(str(send(phase, team, now=timezone.now()).public_id)).version == 4
