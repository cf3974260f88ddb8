"""A competition from one database into an empty one: the same board, ledger and audit log, and no answer leaks."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone

from malpan.accounts.models import User
from malpan.archive import format as form
from malpan.archive.errors import ArchiveRefused, PassphraseTooShort
from malpan.archive.exporting import export_competition
from malpan.archive.importing import import_competition
from malpan.competitions.errors import ManageNotFound, NotAllowed
from malpan.competitions.models import Competition, CompetitionRole, Phase, ReferenceVersion
from malpan.core.models import AuditEntry
from malpan.core.storage import read_private
from malpan.jobs.claim import claim_next
from malpan.jobs.models import Job
from malpan.stages.awarded import awards_of
from malpan.stages.awards import publish_awards
from malpan.stages.selectors import newest_final
from malpan.stages.verification import verify_competition
from malpan.submissions.models import RescoreBatch, ScoringRun, Submission
from malpan.submissions.quota import services as quota
from malpan.teams.models import Invitation, Team
from scoring.running.costs import tokens_of_file
from tests.archive.full_competition import exported, members
from tests.factories import CANARY, ScoringRunFactory, SubmissionFactory, UserFactory, leader_of

pytestmark = pytest.mark.django_db
OWN_ENTRIES = {"competition.export", "competition.import"}  # what the journey itself writes into the audit log


def content(archive: io.BytesIO) -> dict[str, Any]:
    """All that an archive says of the competition: rows and files, less the entries of the journey itself."""
    found: dict[str, Any] = {name: data for name, data in members(archive).items() if name != form.MANIFEST}
    log = [json.loads(line) for line in found["tables/audit_log.jsonl"].splitlines()]
    found["tables/audit_log.jsonl"] = [{**row, "id": None} for row in log if row["action"] not in OWN_ENTRIES]
    return found


def test_round_trip_gives_the_same_board_ledger_audit_log_and_everything_else(
    competition: Competition, empty_site: Callable[[], None]
) -> None:
    board_before, stages_before, now = board_of(competition), stages_of(competition), timezone.now()
    archive = exported(competition)
    ledger_before = ledger_of(competition, now)
    assert sum(used_total for *_others, used_total, _left in ledger_before) == 3
    empty_site()
    done = import_competition(file=archive, actor=None)
    assert content(exported(done.competition)) == content(archive)
    assert board_of(done.competition) == board_before
    assert len(board_before["rows"]) >= 2
    assert stages_of(done.competition) == stages_before
    assert [row["normalised"] for row in stages_before["stages"][1]["snapshots"][-1]["rows"]] == pytest.approx([0.33])
    assert stages_before["final"]["snapshots"][-1]["rows"][0]["final_score"] == pytest.approx(
        0.45 * 2 / 3 + 0.55 * 0.33
    )
    assert ledger_of(done.competition, now) == ledger_before
    assert verify_competition(done.competition) == []
    assert AuditEntry.objects.filter(competition_pk=done.competition.pk).count() > 3


def board_of(competition: Competition) -> Any:
    address = f"/api/v1/competitions/{competition.slug}/tracks/{competition.tracks.get().slug}/board/"
    return Client().get(address).json()


def stages_of(competition: Competition) -> Any:
    return Client().get(f"/competitions/{competition.slug}/stages/{competition.tracks.get().slug}.json").json()


def test_awards_keep_their_order_numbers_and_what_they_rest_on(
    competition: Competition, empty_site: Callable[[], None]
) -> None:
    archive = exported(competition)
    empty_site()
    imported = import_competition(file=archive, actor=None).competition
    first, waiting = awards_of(imported)
    assert (first.number, first.team.competition, first.published_at is None) == ("2026-1", imported, False)
    assert first.stage_snapshot == newest_final(imported.tracks.get())
    assert (waiting.position, waiting.number, waiting.title_en) == (2, "", "Encouragement")
    publish_awards(competition=imported, actor=UserFactory.create(is_superuser=True))
    waiting.refresh_from_db()
    assert waiting.number == "2026-3", "the number of the revoked one travelled, so nobody gets it again"


def ledger_of(competition: Competition, now: datetime) -> list[Any]:
    """What each team has used and has left, at one and the same moment."""
    phase = Phase.objects.get(track__competition=competition)
    teams = Team.objects.filter(competition=competition).order_by("name")
    found = [(team.name, quota.status(phase=phase, team=team, now=now)) for team in teams]
    return [(name, each.used_today, each.left_today, each.used_total, each.left_total) for name, each in found]


def test_references_are_left_out_unless_asked_for(competition: Competition, empty_site: Callable[[], None]) -> None:
    archive = exported(competition)
    assert not any(CANARY.encode() in data for data in members(archive).values())
    assert not [name for name in members(archive) if name.startswith("references/")]
    empty_site()
    assert not import_competition(file=archive, actor=None).has_references


def test_references_travel_encrypted_and_open_with_the_passphrase_alone(
    competition: Competition, empty_site: Callable[[], None], passphrase: str
) -> None:
    version = ReferenceVersion.objects.get()
    answers = read_private(version.file_sha256)
    archive = exported(competition, passphrase)
    assert CANARY.encode() in answers
    assert not any(CANARY.encode() in data for data in members(archive).values())
    empty_site()
    with pytest.raises(ArchiveRefused) as refused:
        import_competition(file=archive, actor=None, passphrase="다른 암호 구문입니다 아마도")
    assert refused.value.params["reason"] == "passphrase"
    assert not Competition.objects.exists()
    assert import_competition(file=archive, actor=None, passphrase=passphrase).has_references
    assert read_private(version.file_sha256) == answers


def test_short_passphrase_is_refused(competition: Competition) -> None:
    with pytest.raises(PassphraseTooShort):
        exported(competition, "short")


def test_no_password_token_or_invitation_is_exported(competition: Competition) -> None:
    user = leader_of(Team.objects.earliest("pk"))
    Invitation.objects.create(
        team=Team.objects.earliest("pk"), token_sha256="t" * 64, created_by=user, expires_at=timezone.now()
    )
    everything = b"".join(members(exported(competition)).values())
    assert user.email.encode() in everything
    assert user.password.encode() not in everything
    assert b"t" * 64 not in everything


def test_every_table_of_a_competition_is_archived_or_left_out_on_purpose() -> None:
    ours = {"accounts", "competitions", "teams", "jobs", "submissions", "leaderboard", "arena", "stages", "core"}
    labels = {model._meta.label_lower for model in apps.get_models() if model._meta.app_label in ours}
    people = {"accounts.user", "accounts.apitoken", "accounts.answeredrequest"}  # the last: of a token, for a day
    assert labels - people == set(form.BY_LABEL) | set(form.LEFT_OUT)


def test_every_column_points_into_the_archive_or_at_a_person() -> None:
    for table in form.TABLES:
        for column in table.fields():
            if column.is_relation:
                assert form.points_at_person(column) or form.target_of(column), f"{table.label}.{column.name}"


def test_people_are_matched_by_email_whatever_case_and_others_have_no_usable_password(
    competition: Competition, empty_site: Callable[[], None]
) -> None:
    archive = exported(competition)
    leader = leader_of(Submission.objects.earliest("pk").team)
    empty_site()
    known = User.objects.create_user(leader.email.upper(), "비밀번호", name="이미 있는 사람")
    done = import_competition(file=archive, actor=None)
    assert known.submissions.count() == 1
    others = User.objects.exclude(pk=known.pk)
    assert done.new_people == others.count() > 3
    assert not any(user.has_usable_password() for user in others)
    known.refresh_from_db()
    assert known.name == "이미 있는 사람"


def test_runs_that_went_on_elsewhere_take_their_turns_in_the_line_of_this_site(
    competition: Competition, empty_site: Callable[[], None]
) -> None:
    phase = Phase.objects.get(track__competition=competition)
    busy, other = Team.objects.filter(competition=competition, merged_into=None)[:2]
    first, _second, _of_other = (
        ScoringRunFactory.create(submission=SubmissionFactory.create(phase=phase, team=team))
        for team in (busy, busy, other)
    )
    ScoringRun.objects.filter(pk=first.pk).update(state="running", started_at=timezone.now())
    Job.objects.filter(pk=first.job_id).update(
        state="running", attempt=32767, worker="gpu-9", lease_expires_at=timezone.now() + timedelta(days=999)
    )
    archive = exported(competition)
    empty_site()
    over = {"state": "finished", "finished_at": timezone.now(), "final_score": 1}
    here = ScoringRunFactory.create(job__attempt=1, job__fair_tag=1000, **over)

    import_competition(file=archive, actor=None)

    waiting = ScoringRun.objects.filter(state="queued").order_by("pk")
    cost = tokens_of_file(waiting[0].submission.file_size)
    assert [run.job.cost for run in waiting] == [cost] * 3
    assert [run.job.fair_tag - here.job.fair_tag for run in waiting] == [cost, 2 * cost, cost]
    assert claimed() == [busy.name, other.name, busy.name]


def claimed() -> list[str]:
    """Whose runs are taken, one after the other."""
    jobs = iter(lambda: claim_next(worker="w"), None)
    return [ScoringRun.objects.get(job=job).submission.team.name for job in jobs]


def test_numbers_inside_a_batch_and_the_audit_log_are_those_of_the_new_site(
    competition: Competition, empty_site: Callable[[], None]
) -> None:
    archive = exported(competition)
    names = list(
        Team.objects.filter(pk__in=RescoreBatch.objects.get().selection["teams"]).values_list("name", flat=True)
    )
    excluded = Submission.objects.get(pk=int(*RescoreBatch.objects.get().selection["excluded"])).file_sha256
    empty_site()
    import_competition(file=archive, actor=None)
    selection = RescoreBatch.objects.get().selection
    assert sorted(Team.objects.filter(pk__in=selection["teams"]).values_list("name", flat=True)) == sorted(names)
    assert Submission.objects.get(pk=int(*selection["excluded"])).file_sha256 == excluded
    entry = AuditEntry.objects.filter(action="submission.create").earliest("pk")
    assert Submission.objects.get(pk=int(entry.object_id)).file_sha256 == entry.after["file_sha256"]


def test_audit_entry_of_a_row_that_is_gone_names_no_row_of_the_new_site(
    competition: Competition, empty_site: Callable[[], None]
) -> None:
    AuditEntry.objects.create(
        action="team.remove", object_type="teams.team", object_id="999999", competition_pk=competition.pk
    )
    archive = exported(competition)
    empty_site()
    done = import_competition(file=archive, actor=None)
    assert AuditEntry.objects.get(action="team.remove").object_id == "~999999"
    assert content(exported(done.competition)) == content(archive)


def test_missing_stored_file_is_named_and_does_not_stop_the_export(
    competition: Competition, empty_site: Callable[[], None], settings: Any, tmp_path: Path
) -> None:
    lost = Submission.objects.earliest("pk").file_sha256
    (Path(settings.PRIVATE_ROOT) / lost[:2] / lost[2:4] / lost).unlink()
    target = io.BytesIO()
    done = export_competition(competition=competition, actor=None, target=target)
    assert done.missing_files == [lost]
    empty_site()
    assert import_competition(file=target, actor=None).missing_files == [lost]


def test_export_needs_the_permission_to_own_and_import_the_one_to_add_competitions(competition: Competition) -> None:
    organiser = UserFactory.create()
    with pytest.raises(ManageNotFound):
        export_competition(competition=competition, actor=organiser, target=io.BytesIO())
    CompetitionRole.objects.create(user=organiser, competition=competition, role="organiser")
    with pytest.raises(NotAllowed):
        export_competition(competition=competition, actor=organiser, target=io.BytesIO())
    with pytest.raises(NotAllowed):
        import_competition(file=io.BytesIO(), actor=organiser)


def test_export_and_import_are_in_the_audit_log(
    competition: Competition, empty_site: Callable[[], None], passphrase: str
) -> None:
    owner = CompetitionRole.objects.get().user
    target = io.BytesIO()
    export_competition(competition=competition, actor=owner, target=target, passphrase=passphrase)
    entry = AuditEntry.objects.get(action="competition.export")
    assert (entry.actor, entry.after) == (owner, {"references": "encrypted"})
    empty_site()
    admin = User.objects.create_superuser("admin@example.com", name="관리자")
    done = import_competition(file=target, actor=admin)
    entry = AuditEntry.objects.get(action="competition.import")
    assert (entry.actor, entry.competition_pk) == (admin, done.competition.pk)


def test_commands_carry_a_competition_from_one_site_to_another(
    competition: Competition,
    empty_site: Callable[[], None],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    passphrase: str,
) -> None:
    monkeypatch.setenv("MALPAN_ARCHIVE_PASSPHRASE", passphrase)
    path = tmp_path / "out.zip"
    call_command("export_competition", competition.slug, str(path), "--references", stdout=io.StringIO())
    assert oct(path.stat().st_mode)[-3:] == "600"
    assert [each.name for each in tmp_path.glob(".malpan-*")] == []
    empty_site()
    output = io.StringIO()
    call_command("import_competition", str(path), "--references", "--slug", "again", stdout=output)
    assert output.getvalue().startswith("again: competitions 1, ")
    with pytest.raises(CommandError, match="archive_refused"):
        call_command("import_competition", str(path), "--slug", "third", stdout=io.StringIO())


def test_unscored_work_is_kept_as_it_was(competition: Competition, empty_site: Callable[[], None]) -> None:
    submission = Submission.objects.earliest("pk")
    ScoringRunFactory.create(submission=submission, reference_version=ReferenceVersion.objects.get())
    archive = exported(competition)
    empty_site()
    import_competition(file=archive, actor=None)
    assert ScoringRun.objects.filter(state="queued").count() == 1
