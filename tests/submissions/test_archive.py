"""A competition from one database into an empty one: the same board, ledger and audit log, and no answer leaks."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable
from datetime import timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client
from django.utils import timezone

from accounts.models import CompetitionRole, Invitation, Team, TermsAcceptance, User
from competitions.models import Competition, Phase, Question, ReferenceVersion
from competitions.services import add_data_file, post_notice
from core import audit
from core.errors import ArchiveRefused, DeskNotFound, NotAllowed, PassphraseTooShort
from core.models import AuditEntry
from core.storage import read_private
from leaderboard.models import BoardSnapshot
from leaderboard.verification import verify_competition
from scoring.signature import json_sha256
from submissions import chain, intake, quota, runs
from submissions.archive import format as form
from submissions.archive.exporting import export_competition
from submissions.archive.importing import import_competition
from submissions.models import HiddenResult, QuotaEntry, Rejection, RescoreBatch, ScoringRun, Submission
from tests.factories import (
    CANARY,
    PhaseFactory,
    ScoringRunFactory,
    TeamFactory,
    UserFactory,
    leader_of,
    prediction_bytes,
    publish,
    report,
)

pytestmark = pytest.mark.django_db
PASSPHRASE = "열두 글자가 넘는 암호 구문"
OWN_ENTRIES = {"competition.export", "competition.import"}  # what the journey itself writes into the audit log


@pytest.fixture
def competition(sent: list[int]) -> Competition:
    """Something of everything, by the real services where there are some."""
    phase = PhaseFactory.create(min_interval=timedelta(0), daily_limit=5, split_seed="씨앗")
    publish(phase)
    competition = phase.track.competition
    submissions = [scored(phase, number) for number in range(3)]
    owner = UserFactory.create(name="주인")
    CompetitionRole.objects.create(user=owner, competition=competition, role="owner")
    add_data_file(track=phase.track, kind="data", title_ko="자료", file_name="q.json", data=b"[1]", actor=owner)
    post_notice(competition=competition, title_ko="공지", body_ko="본문", actor=owner)
    Question.objects.create(competition=competition, asked_by=leader_of(submissions[0].team), title="문의", body="?")
    TermsAcceptance.objects.create(user=leader_of(submissions[0].team), competition=competition, version=1)
    reject(phase, submissions[0].team)
    rescore(phase, submissions, owner)
    merge(submissions)
    snapshot(phase, owner)
    audit.record(actor=owner, action="competition_role.remove", obj=owner, before={"role": "viewer"})
    age(competition)
    return competition


def scored(phase: Phase, number: int) -> Submission:
    team = TeamFactory.create(competition=phase.track.competition, members=1)
    data = prediction_bytes(mark=number)
    submission = intake.submit(phase=phase, team=team, user=leader_of(team), file_name="가.json", upload=data)
    run = runs.claim_run(run_id=submission.runs.get().pk, worker="w")
    assert run is not None
    runs.finish_run(run_id=run.pk, attempt=run.attempt, report=report(0.1 + number / 7))
    return submission


def reject(phase: Phase, team: Team) -> None:
    Rejection.objects.create(
        phase=phase,
        team=team,
        submitted_by=leader_of(team),
        file_name="wrong.json",
        file_size=3,
        errors=[{"code": "x"}],
        error_count=1,
        created_at=timezone.now(),
    )


def rescore(phase: Phase, submissions: list[Submission], owner: User) -> None:
    """A batch that names teams and submissions by number, with a run that became the live one."""
    first, second, *_ = submissions
    selection = {"teams": [second.team_id, first.team_id], "excluded": {str(second.pk): "사유"}, "states": ["finished"]}
    batch = RescoreBatch.objects.create(
        competition=phase.track.competition,
        phase=phase,
        reason="정오",
        selection=selection,
        state="applied",
        created_by=owner,
    )
    run = ScoringRunFactory.create(
        submission=first,
        batch=batch,
        state="finished",
        finished_at=timezone.now(),
        final_score=2 / 3,
        scores={"a": 1e-9},
    )
    HiddenResult.objects.create(run=run, final_score=0.25, scores={"final_score": 0.25}, signature_hash="h")
    Submission.objects.filter(pk=first.pk).update(live_run=run)
    QuotaEntry.objects.create(team=first.team, phase=phase, kind="grant", slots=2, batch=batch, moment=timezone.now())
    chain.append_scores([first])


def merge(submissions: list[Submission]) -> None:
    Team.objects.filter(pk=submissions[0].team_id).update(merged_into=submissions[2].team_id)


def snapshot(phase: Phase, owner: User) -> None:
    rows = [{"rank": 1, "team": "가", "final_score": 2 / 3, "scores": {"a": 0.1 + 0.2}, "submission": "x"}]
    BoardSnapshot.objects.create(
        phase=phase,
        number=1,
        recipe="rag-qa@1",
        rows=rows,
        sha256=json_sha256(rows),
        published_by=owner,
        published_at=timezone.now(),
    )
    payload = {
        "track": phase.track.slug,
        "phase": phase.slug,
        "snapshot": 1,
        "rows_sha256": json_sha256(rows),
    }
    chain.append(competition=phase.track.competition, kind="board", payload=payload)


def age(competition: Competition) -> None:
    """Moments that are set by themselves lie in the past, so that a new one would show."""
    past = timezone.now() - timedelta(days=100)
    Competition.objects.filter(pk=competition.pk).update(created_at=past)
    Team.objects.filter(competition=competition).update(created_at=past)


def exported(competition: Competition, passphrase: str = "") -> io.BytesIO:
    target = io.BytesIO()
    export_competition(competition=competition, actor=None, target=target, passphrase=passphrase)
    return target


def members(archive: io.BytesIO) -> dict[str, bytes]:
    with zipfile.ZipFile(archive) as opened:
        return {name: opened.read(name) for name in opened.namelist()}


def content(archive: io.BytesIO) -> dict[str, Any]:
    """All that an archive says of the competition: rows and files, less the entries of the journey itself."""
    found: dict[str, Any] = {name: data for name, data in members(archive).items() if name != form.MANIFEST}
    log = [json.loads(line) for line in found["tables/audit_log.jsonl"].splitlines()]
    found["tables/audit_log.jsonl"] = [{**row, "id": None} for row in log if row["action"] not in OWN_ENTRIES]
    return found


@pytest.fixture
def empty_site(tmp_path: Path, settings: Any) -> Callable[[], None]:
    """Forget everything: another database, another disk."""

    def forget() -> None:
        tables = ", ".join(f'"{model._meta.db_table}"' for model in apps.get_models() if model._meta.managed)
        with connection.cursor() as cursor:
            cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
            cursor.execute(f"TRUNCATE {tables} RESTART IDENTITY CASCADE")
            cursor.execute("SET CONSTRAINTS ALL DEFERRED")
            for _number in range(3):  # numbers of the new site are others
                cursor.execute("SELECT nextval(pg_get_serial_sequence('submissions_submission', 'id'))")
                cursor.execute("SELECT nextval(pg_get_serial_sequence('accounts_team', 'id'))")
        settings.PRIVATE_ROOT = tmp_path / "other"

    return forget


def test_round_trip_gives_the_same_board_ledger_audit_log_and_everything_else(
    competition: Competition, empty_site: Callable[[], None]
) -> None:
    board_before = board_of(competition)
    archive = exported(competition)
    ledger_before = ledger_of(competition)
    empty_site()
    done = import_competition(file=archive, actor=None)
    assert content(exported(done.competition)) == content(archive)
    assert board_of(done.competition) == board_before
    assert len(board_before["rows"]) >= 2
    assert ledger_of(done.competition) == ledger_before
    assert verify_competition(done.competition) == []
    assert AuditEntry.objects.filter(competition_pk=done.competition.pk).count() > 3


def board_of(competition: Competition) -> Any:
    address = f"/api/v1/competitions/{competition.slug}/tracks/{competition.tracks.get().slug}/board/"
    return Client().get(address).json()


def ledger_of(competition: Competition) -> list[Any]:
    teams = Team.objects.filter(competition=competition).order_by("name")
    phase = Phase.objects.get(track__competition=competition)
    now = timezone.now().replace(hour=3)
    return [(team.name, replace_now(quota.status(phase=phase, team=team, now=now))) for team in teams]


def replace_now(status: Any) -> Any:
    return (status.used_today, status.left_today, status.used_total, status.left_total)


def test_references_are_left_out_unless_asked_for(competition: Competition, empty_site: Callable[[], None]) -> None:
    archive = exported(competition)
    assert not any(CANARY.encode() in data for data in members(archive).values())
    assert not [name for name in members(archive) if name.startswith("references/")]
    empty_site()
    assert not import_competition(file=archive, actor=None).has_references


def test_references_travel_encrypted_and_open_with_the_passphrase_alone(
    competition: Competition, empty_site: Callable[[], None]
) -> None:
    version = ReferenceVersion.objects.get()
    answers = read_private(version.file_sha256)
    archive = exported(competition, PASSPHRASE)
    assert CANARY.encode() in answers
    assert not any(CANARY.encode() in data for data in members(archive).values())
    empty_site()
    with pytest.raises(ArchiveRefused) as refused:
        import_competition(file=archive, actor=None, passphrase="다른 암호 구문입니다 아마도")
    assert refused.value.reason == "passphrase"
    assert not Competition.objects.exists()
    assert import_competition(file=archive, actor=None, passphrase=PASSPHRASE).has_references
    assert read_private(version.file_sha256) == answers


def test_short_passphrase_is_refused(competition: Competition) -> None:
    with pytest.raises(PassphraseTooShort):
        exported(competition, "short")


def test_every_encrypted_piece_is_bound_to_its_place(monkeypatch: pytest.MonkeyPatch) -> None:
    from submissions.archive import crypto

    monkeypatch.setattr(crypto, "CHUNK_BYTES", 10)
    key, size = b"k" * 32, 10 + 16
    data = bytes(range(35))
    sealed = b"".join(crypto.sealed(io.BytesIO(data), key=key, name="n"))
    assert b"".join(crypto.opened(io.BytesIO(sealed), key=key, name="n")) == data
    prefix, pieces = sealed[:7], [sealed[7 + at : 7 + at + size] for at in range(0, len(sealed) - 7, size)]
    first, second, *rest = pieces
    forged = {
        "swapped": [second, first, *rest],
        "cut short": pieces[:-1],
        "changed": [bytes([first[0] ^ 1]) + first[1:], second, *rest],
        "empty": [],
    }
    for parts in forged.values():
        with pytest.raises(ArchiveRefused):
            list(crypto.opened(io.BytesIO(prefix + b"".join(parts)), key=key, name="n"))
    with pytest.raises(ArchiveRefused):
        list(crypto.opened(io.BytesIO(sealed), key=key, name="another"))


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
    ours = {"accounts", "competitions", "submissions", "leaderboard", "core"}
    labels = {model._meta.label_lower for model in apps.get_models() if model._meta.app_label in ours}
    people = {"accounts.user", "accounts.apitoken"}
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
        action="team.remove", object_type="accounts.team", object_id="999999", competition_pk=competition.pk
    )
    archive = exported(competition)
    empty_site()
    done = import_competition(file=archive, actor=None)
    assert AuditEntry.objects.get(action="team.remove").object_id == "~999999"
    assert content(exported(done.competition)) == content(archive)


def test_taken_slug_is_refused_and_another_one_taken(competition: Competition, empty_site: Callable[[], None]) -> None:
    archive = exported(competition)
    empty_site()
    PhaseFactory.create(track__competition__slug=competition.slug)
    assert refusal(archive) == "slug_taken"
    assert refusal(archive, slug="a b") == "slug_invalid"
    assert import_competition(file=archive, actor=None, slug="another").competition.slug == "another"


def test_same_competition_cannot_stand_here_twice(competition: Competition) -> None:
    assert refusal(exported(competition), slug="another") == "present"


def refusal(archive: io.BytesIO, **options: Any) -> str:
    """The reason for which the archive is refused; nothing may have changed."""
    before = {model: model._default_manager.count() for model in (Competition, User, AuditEntry, Submission)}
    with pytest.raises(ArchiveRefused) as refused:
        import_competition(file=archive, actor=None, **options)
    assert before == {model: model._default_manager.count() for model in before}
    return refused.value.reason


@pytest.fixture
def forged(competition: Competition, empty_site: Callable[[], None]) -> Callable[..., io.BytesIO]:
    """Make an archive with members changed, its manifest fitting again unless told otherwise; the site is empty."""
    original = members(exported(competition))
    empty_site()

    def forge(changes: dict[str, Any], *, fits: bool = True, manifest: dict[str, Any] | None = None) -> io.BytesIO:
        changed = {name: data for name, data in {**original, **changes}.items() if data is not None}
        body = json.loads(original[form.MANIFEST]) | (manifest or {})
        if fits:
            body["members"] = [
                {"name": name, "size": len(data), "sha256": sha256(data).hexdigest()}
                for name, data in changed.items()
                if name != form.MANIFEST
            ]
        changed[form.MANIFEST] = json.dumps(body).encode()
        target = io.BytesIO()
        with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, data in changed.items():
                archive.writestr(name, data)
        return target

    return forge


def test_forged_archive_that_changes_nothing_is_taken(forged: Callable[..., io.BytesIO]) -> None:
    import_competition(file=forged({}), actor=None)


@pytest.mark.parametrize(
    ("changes", "options", "reason"),
    [
        ({"tables/teams.jsonl": b""}, {"fits": False}, "damaged"),
        ({"tables/teams.jsonl": None}, {"fits": True}, "damaged"),
        ({"files/" + "0" * 64: b"x"}, {"fits": False}, "damaged"),
        ({"files/" + "0" * 64: b"x"}, {"fits": True}, "damaged"),
        ({"../outside": b"x"}, {}, "name"),
        ({"files/../../outside": b"x"}, {}, "name"),
        ({"/etc/passwd": b"x"}, {}, "name"),
        ({"files/UPPER": b"x"}, {}, "name"),
        ({"tables/teams.jsonl": b"not json\n"}, {}, "rows"),
        ({"tables/teams.jsonl": b'{"id": 2}\n'}, {}, "rows"),
        ({"tables/teams.jsonl": b""}, {}, "rows"),
        ({"tables/competitions.jsonl": b""}, {}, "slug_invalid"),
        ({"tables/notices.jsonl": b'{"id": 1, "competition": 7}\n'}, {}, "rows"),
        ({"tables/notices.jsonl": b'{"id": 1, "competition": 1, "no_such_column": 1}\n'}, {}, "rows"),
        ({"tables/notices.jsonl": b'{"id": 1, "competition": 1, "title_ko": "\\u0000"}\n'}, {}, "rows"),
        ({"people.jsonl": b'{"id": 1, "email": null, "name": null}\n'}, {}, "rows"),
        ({}, {"manifest": {"version": 2}}, "version"),
        ({}, {"manifest": {"format": "other"}}, "unreadable"),
        ({}, {"manifest": {"members": "none"}, "fits": False}, "unreadable"),
    ],
)
def test_archive_that_was_tampered_with_changes_nothing(
    forged: Callable[..., io.BytesIO], changes: dict[str, Any], options: dict[str, Any], reason: str
) -> None:
    assert refusal(forged(changes, **options)) == reason


def test_what_is_no_archive_is_refused() -> None:
    assert refusal(io.BytesIO(b"PK not a zip")) == "unreadable"
    empty = io.BytesIO()
    zipfile.ZipFile(empty, "w").close()
    assert refusal(empty) == "unreadable"


def test_zip_bomb_is_refused_before_it_is_unpacked(
    forged: Callable[..., io.BytesIO], monkeypatch: pytest.MonkeyPatch
) -> None:
    bomb = forged({"files/" + sha256(b"0" * 30_000_000).hexdigest(): b"0" * 30_000_000})
    monkeypatch.setattr(form, "RATIO_FREE_BYTES", 1_000_000)
    assert refusal(bomb) == "too_large"
    monkeypatch.setattr(form, "RATIO_FREE_BYTES", 10**9)
    monkeypatch.setattr(form, "TOTAL_MAX_BYTES", 1_000_000)
    assert refusal(bomb) == "too_large"


def test_archive_cannot_name_a_stored_file_of_this_site_that_it_does_not_bring(
    forged: Callable[..., io.BytesIO],
) -> None:
    theirs = PhaseFactory.create()
    answers = publish(theirs).file_sha256
    line = {"id": 1, "track": 1, "kind": "data", "title_ko": "가", "file_name": "q", "file_sha256": answers}
    line |= {"file_size": 1, "created_at": timezone.now().isoformat()}
    archive = forged({"tables/data_files.jsonl": json.dumps(line).encode() + b"\n"})
    assert refusal(archive, slug="another") == "foreign_file"


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
    with pytest.raises(DeskNotFound):
        export_competition(competition=competition, actor=organiser, target=io.BytesIO())
    CompetitionRole.objects.create(user=organiser, competition=competition, role="organiser")
    with pytest.raises(NotAllowed):
        export_competition(competition=competition, actor=organiser, target=io.BytesIO())
    with pytest.raises(NotAllowed):
        import_competition(file=io.BytesIO(), actor=organiser)


def test_export_and_import_are_in_the_audit_log(competition: Competition, empty_site: Callable[[], None]) -> None:
    owner = CompetitionRole.objects.get().user
    target = io.BytesIO()
    export_competition(competition=competition, actor=owner, target=target, passphrase=PASSPHRASE)
    entry = AuditEntry.objects.get(action="competition.export")
    assert (entry.actor, entry.after) == (owner, {"references": "encrypted"})
    empty_site()
    admin = User.objects.create_superuser("admin@example.com", name="관리자")
    done = import_competition(file=target, actor=admin)
    entry = AuditEntry.objects.get(action="competition.import")
    assert (entry.actor, entry.competition_pk) == (admin, done.competition.pk)


def test_commands_carry_a_competition_from_one_site_to_another(
    competition: Competition, empty_site: Callable[[], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MALPAN_ARCHIVE_PASSPHRASE", PASSPHRASE)
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
