"""A person whose data are erased: nothing names them any more, and everything that was published is as it was."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable
from datetime import timedelta
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.contrib.sessions.models import Session
from django.core import mail
from django.core.management import CommandError, call_command
from django.db import transaction
from django.test import Client
from django.utils import timezone, translation

from malpan.accounts.errors import ApiTokenInvalid
from malpan.accounts.models import AnsweredRequest, User
from malpan.accounts.selectors import api_token_by_secret
from malpan.accounts.services import create_api_token
from malpan.archive.exporting import export_competition
from malpan.archive.importing import import_competition
from malpan.arena.models import Judgement, JudgementDraft
from malpan.competitions import roles
from malpan.competitions.models import CompetitionRole, Question
from malpan.competitions.questions import answer_question
from malpan.core.models import AuditEntry
from malpan.leaderboard.digests import board_digests
from malpan.leaderboard.verification import verify_competition
from malpan.privacy.erasing import erase, obstacles, teams_affected
from malpan.privacy.errors import LeadsOthers, OnlyAdministrator, OwnsAlone
from malpan.privacy.holdings import HOLDINGS, SUBJECTS, Fate, counted
from malpan.submissions.integrity.receipts import receipt_as_dict, receipt_of
from malpan.submissions.models import ChainEntry, QuotaEntry, Submission
from malpan.teams.errors import NotTeamMember
from malpan.teams.models import Invitation, Membership, MergeRequest, Team
from malpan.teams.services import hand_over
from tests import database
from tests.confirmation import types
from tests.factories import PASSWORD, PhaseFactory, TeamFactory, TrackFactory, UserFactory, leader_of
from tests.privacy.conftest import CANARIES, EMAIL, NAME, SECOND, Scene, found_in_tables, over

pytestmark = pytest.mark.django_db


def published(scene: Scene) -> Any:
    """Everything that anybody can check: the boards, the chain, the ledger, the receipt of the person's file."""
    submission = Submission.objects.select_related("phase__track", "team", "live_run").get(pk=scene.submission.pk)
    receipt = receipt_as_dict(receipt_of(submission), scene.competition)
    return (
        board_digests(),
        list(ChainEntry.objects.order_by("pk").values()),
        list(QuotaEntry.objects.order_by("pk").values()),
        receipt["entries"],
        Client().get(f"/competitions/{scene.competition.slug}/board/").content.decode().partition("<main")[2],
    )


def test_no_table_holds_a_word_of_an_erased_person(scene: Scene) -> None:
    before = found_in_tables(CANARIES)
    assert {"accounts_user", "accounts_apitoken", "account_emailaddress", "teams_invitation"} <= set(before)
    assert {"submissions_submission", "submissions_rejection", "competitions_question"} <= set(before)
    assert "django_admin_log" in before

    assert erase(user=scene.person, actor=scene.person)

    assert found_in_tables(CANARIES) == {}


def test_what_a_program_of_an_organiser_was_answered_names_nobody_erased(scene: Scene) -> None:
    row, _token = create_api_token(user=scene.owner, label="x")
    told = {"name": scene.person.name, "members": [{"email": scene.person.email, "number": 1}]}
    answer = {"status": 200, "answer": json.dumps(told, ensure_ascii=False), "created_at": timezone.now()}
    kept = AnsweredRequest.objects.create(api_token=row, key="k", **answer)
    assert "accounts_answeredrequest" in found_in_tables(CANARIES)

    erase(user=scene.person, actor=None)

    assert found_in_tables(CANARIES) == {}
    kept.refresh_from_db()
    assert json.loads(kept.answer) == {"name": "***", "members": [{"email": "***", "number": 1}]}


def test_not_even_the_audit_log_held_one_before(scene: Scene) -> None:
    assert not {"core_auditentry", "submissions_chainentry", "submissions_quotaentry"} & set(found_in_tables(CANARIES))


def test_boards_chain_ledger_and_receipts_are_as_they_were(scene: Scene) -> None:
    before = published(scene)
    assert verify_competition(scene.competition) == []

    erase(user=scene.person, actor=None)

    assert published(scene) == before
    assert verify_competition(scene.competition) == []
    call_command("verify_chain", scene.competition.slug, stdout=StringIO())


def test_what_was_done_stays_a_former_users(scene: Scene) -> None:
    entries = list(AuditEntry.objects.order_by("pk").values())

    erase(user=scene.person, actor=scene.person)

    person = User.objects.get(pk=scene.person.pk)
    assert (person.email, person.name, person.is_active, person.has_usable_password()) == ("", "", False, False)
    assert str(person) == "탈퇴한 사람"
    with translation.override("en"):
        assert str(person) == "a former user"
    assert Submission.objects.get(pk=scene.submission.pk).submitted_by == person
    assert Membership.objects.get(team=scene.team).user == person
    assert list(AuditEntry.objects.order_by("pk").values())[: len(entries)] == entries
    erased = AuditEntry.objects.get(action="user.erase")
    assert (erased.actor, erased.person, erased.after["sessions"]) == (person, person, 1)


def test_what_lets_a_person_in_goes(scene: Scene) -> None:
    _row, token = create_api_token(user=scene.person, label="x")
    browser = Client()
    browser.force_login(scene.person)

    erase(user=scene.person, actor=None)

    with pytest.raises(ApiTokenInvalid):
        api_token_by_secret(token)
    assert browser.get("/tokens/").status_code == 302
    assert not [row for row in Session.objects.all() if row.get_decoded().get("_auth_user_id") == str(scene.person.pk)]
    assert not CompetitionRole.objects.filter(user=scene.person).exists()
    assert not Invitation.objects.exclude(email="").exists()
    assert not scene.person.groups.exists()
    assert not MergeRequest.objects.filter(state="open").exists()


def test_own_words_lose_the_name_and_keep_the_rest(scene: Scene) -> None:
    erase(user=scene.person, actor=None)
    asked = Question.objects.get(title__contains="입니다")
    assert (asked.title, asked.body) == ("***입니다", "답은 ***로.")
    submission = Submission.objects.get(pk=scene.submission.pk)
    assert (submission.file_name, submission.memo) == ("***_제출.json", "***의 첫 제출")


def test_notes_of_a_judge_go_and_the_judgements_stay(scene: Scene) -> None:
    before = Judgement.objects.values("pk", "value", "seconds", "number", "judged_by").get()
    erase(user=scene.person, actor=None)
    assert Judgement.objects.values("pk", "value", "seconds", "number", "judged_by").get() == before
    assert (Judgement.objects.get().note, JudgementDraft.objects.get().note) == ("", "")


def test_the_last_mail_says_so_and_no_later_one_is_sent(scene: Scene, django_capture_on_commit_callbacks: Any) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        erase(user=scene.person, actor=None)
    assert [each.to for each in mail.outbox] == [[EMAIL]]
    assert "지웠습니다" in mail.outbox[0].body
    assert "erased" in mail.outbox[0].body

    with django_capture_on_commit_callbacks(execute=True):
        answer_question(
            question=Question.objects.get(title="또 하나"), answer_ko="늦은 답", is_public=False, actor=scene.owner
        )
    assert len(mail.outbox) == 1


def test_the_log_names_a_number_alone(
    scene: Scene, caplog: pytest.LogCaptureFixture, django_capture_on_commit_callbacks: Any
) -> None:
    with caplog.at_level("INFO"), django_capture_on_commit_callbacks(execute=True):
        erase(user=scene.person, actor=None)
    assert f"the personal data of person {scene.person.pk} were erased" in caplog.text
    assert not [word for word in CANARIES if word in caplog.text]


# --- in each role -----------------------------------------------------------------------------------------------------
def test_a_member_leaves_a_running_team_and_stays_in_one_that_is_over(scene: Scene) -> None:
    member = scene.other.memberships.get(role="member").user
    past = TeamFactory.create(leader=member, members=1)
    over(PhaseFactory.create(track=TrackFactory.create(competition=past.competition)))
    assert teams_affected(member) == [(past, "stays"), (scene.other, "left")]

    erase(user=member, actor=member)

    assert list(Membership.objects.filter(user=member)) == [past.memberships.get(user=member)]


def test_a_leader_with_others_hands_over_first(scene: Scene) -> None:
    leader = leader_of(scene.other)
    with pytest.raises(LeadsOthers) as refused:
        erase(user=leader, actor=leader)
    assert refused.value.params["team"] == scene.other.name
    assert User.objects.get(pk=leader.pk).erased_at is None

    hand_over(team=scene.other, to=scene.other.memberships.get(role="member").user, actor=leader)
    assert obstacles(leader) == []
    assert erase(user=leader, actor=leader)
    assert scene.other.memberships.count() == 1


def test_after_the_end_a_leader_has_nobody_to_hand_over_to(scene: Scene) -> None:
    over(scene.phase)
    leader = leader_of(scene.other)
    assert erase(user=leader, actor=leader)
    with pytest.raises(NotTeamMember):
        hand_over(team=scene.other, to=leader, actor=scene.owner)


def test_the_only_owner_of_a_competition_hands_over_first(scene: Scene) -> None:
    with pytest.raises(OwnsAlone):
        erase(user=scene.owner, actor=scene.owner)
    assert CompetitionRole.objects.filter(user=scene.owner).exists()

    roles.appoint(competition=scene.competition, user=UserFactory.create(), role="owner", actor=scene.owner)
    assert erase(user=scene.owner, actor=scene.owner)
    assert not CompetitionRole.objects.filter(user=scene.owner).exists()


def test_the_only_administrator_stays(db: None) -> None:
    User.objects.update(is_superuser=False)
    only = UserFactory.create(is_superuser=True)
    assert [type(each) for each in obstacles(only)] == [OnlyAdministrator]
    UserFactory.create(is_superuser=True)
    assert obstacles(only) == []


@pytest.mark.parametrize("has_rejected_file", [False, True])
def test_a_team_without_anybody_and_without_files_is_removed(scene: Scene, has_rejected_file: bool) -> None:
    team = TeamFactory.create(competition=scene.competition)
    leader = leader_of(team)
    if has_rejected_file:
        scene.team.rejections.update(team=team)
    assert teams_affected(leader) == [(team, "alone" if has_rejected_file else "removed")]
    erase(user=leader, actor=leader)
    assert Team.objects.filter(pk=team.pk).exists() == has_rejected_file


# --- the operator's command -------------------------------------------------------------------------------------------
def run(*arguments: str) -> str:
    out = StringIO()
    call_command("erase_person", *arguments, "--yes", stdout=out)
    return out.getvalue()


def test_the_command_takes_any_address_or_the_number(scene: Scene) -> None:
    with pytest.raises(CommandError, match="person_not_found"):
        run("nobody@example.com")
    with pytest.raises(CommandError, match="person_not_found"):
        run(SECOND)  # it was never confirmed to be theirs
    assert f"Erased person {scene.person.pk}" in run(EMAIL.upper())
    assert "was erased before" in run(str(scene.person.pk))
    with pytest.raises(CommandError, match="person_not_found"):
        run(EMAIL)


def test_with_force_the_member_who_joined_first_leads(scene: Scene) -> None:
    leader, successor = leader_of(scene.other), scene.other.memberships.get(role="member").user
    with pytest.raises(CommandError, match="leads_others"):
        run(leader.email)
    run(leader.email, "--force")
    assert leader_of(scene.other) == successor

    run(scene.owner.email, "--force")
    assert not scene.competition.roles.exists()
    assert AuditEntry.objects.filter(action="role.dismiss", person=scene.owner).exists()


def test_the_operator_reads_whose_data_go_and_types_the_address(
    scene: Scene, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    types(monkeypatch, "y", str(scene.person.pk), EMAIL)
    for _refused in range(2):
        with pytest.raises(CommandError, match="nothing was changed"):
            call_command("erase_person", EMAIL)
    assert User.objects.get(pk=scene.person.pk).erased_at is None
    capsys.readouterr()

    call_command("erase_person", EMAIL)

    korean, _, english = capsys.readouterr().out.partition("\n\n")
    for text, words in (
        (korean, ("개인정보를 지웁니다", "제출 횟수 기록: ", "말글 연구실", "혼자인 팀입니다", "***로")),
        (english, ("personal data of person", "API tokens", "ledger of the quota: ", "말글 연구실", "a former user")),
    ):
        assert [word for word in (*words, NAME, EMAIL, SECOND) if word not in text] == []
    assert User.objects.get(pk=scene.person.pk).erased_at is not None


def test_what_cannot_be_erased_is_said_before_anybody_is_asked(
    scene: Scene, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    leader = leader_of(scene.other)
    types(monkeypatch, leader.email)
    with pytest.raises(CommandError, match="leads_others"):
        call_command("erase_person", leader.email)
    assert capsys.readouterr().out == ""
    call_command("erase_person", leader.email, "--force")
    assert f"Passed over with --force: You lead the team ‘{scene.other.name}’" in capsys.readouterr().out


@pytest.mark.parametrize("fate", Fate)
def test_what_is_counted_is_what_the_erasure_meets(scene: Scene, fate: Fate) -> None:
    counts = dict(counted(scene.person, fate))
    rows = {
        subject: {
            (held.model, row.pk) for held in HOLDINGS if held.subject is subject for row in held.rows(scene.person)
        }
        for subject in SUBJECTS
        if subject.fate is fate
    }
    assert counts == {subject: len(found) for subject, found in rows.items() if found}
    assert len(counts) > 4
    assert counted(UserFactory.create(), Fate.UNNAMED) == []


# --- archives ---------------------------------------------------------------------------------------------------------
def archive_of(scene: Scene) -> io.BytesIO:
    target = io.BytesIO()
    export_competition(competition=scene.competition, actor=None, target=target)
    return target


Elsewhere = Callable[..., tuple[User, list[str]]]


@pytest.fixture
def elsewhere(settings: Any, tmp_path: Path) -> Elsewhere:
    """Another site, that knows the pseudonym alone, or not even that."""

    def move(scene: Scene, *, keeps_pseudonym: bool = True) -> tuple[User, list[str]]:
        known = User.objects.get(pk=scene.person.pk)
        database.empty()
        settings.PRIVATE_ROOT = tmp_path / "elsewhere"
        pseudonym = User(erased_at=known.erased_at, former_addresses=known.former_addresses, is_active=False)
        if keeps_pseudonym:
            pseudonym.set_unusable_password()
            pseudonym.save()
        return pseudonym, known.former_addresses

    return move


def test_an_archive_of_an_earlier_day_does_not_bring_an_erased_person_back(scene: Scene, elsewhere: Elsewhere) -> None:
    archive = archive_of(scene)
    erase(user=scene.person, actor=None)
    pseudonym, secrets = elsewhere(scene)

    brought = import_competition(file=archive, actor=None)

    assert Membership.objects.get(competition=brought.competition, team__name="말글 연구실").user == pseudonym
    assert pseudonym.former_addresses == secrets
    assert not User.objects.filter(email__in=[EMAIL, SECOND]).exists()
    assert found_in_tables((NAME, EMAIL)) == {}


def test_somebody_who_came_back_is_who_a_later_archive_means(scene: Scene, elsewhere: Elsewhere) -> None:
    archive = archive_of(scene)
    erase(user=scene.person, actor=None, now=timezone.now() - timedelta(days=1))
    elsewhere(scene)
    again = UserFactory.create(email=EMAIL, name="돌아온 사람")

    brought = import_competition(file=archive, actor=None)

    assert Membership.objects.get(competition=brought.competition, team__name="말글 연구실").user == again


def test_an_archive_of_an_erased_person_names_nobody_elsewhere(scene: Scene, elsewhere: Elsewhere) -> None:
    erase(user=scene.person, actor=None)
    archive = archive_of(scene)
    elsewhere(scene, keeps_pseudonym=False)

    brought = import_competition(file=archive, actor=None)

    member = Membership.objects.get(competition=brought.competition, team__name="말글 연구실").user
    assert (member.email, member.name, member.is_active, member.erased_at is None) == ("", "", False, False)
    assert verify_competition(brought.competition) == []


def test_facts_of_older_archives_that_name_people_are_withheld(scene: Scene, elsewhere: Elsewhere) -> None:
    AuditEntry.objects.create(
        actor=scene.owner, action="role.appoint", object_type="competitions.competitionrole", object_id="7",
        competition_pk=scene.competition.pk, after={"email": EMAIL, "role": "owner"},
    )  # fmt: skip
    archive = archive_of(scene)
    elsewhere(scene, keeps_pseudonym=False)
    import_competition(file=archive, actor=None)
    assert AuditEntry.objects.get(action="role.appoint", after__email="***").after == {"email": "***", "role": "owner"}


# --- pages ------------------------------------------------------------------------------------------------------------
def test_a_form_of_the_admin_neither_deletes_nor_changes_an_erased_person(scene: Scene) -> None:
    administrator = UserFactory.create(is_staff=True, is_superuser=True)
    browser = Client()
    browser.force_login(administrator)
    erase(user=scene.person, actor=None)
    listed = browser.get("/admin/accounts/user/").content.decode()
    assert "탈퇴한 사람" in listed
    with transaction.atomic():
        assert browser.post(f"/admin/accounts/user/{scene.person.pk}/change/", {"email": EMAIL}).status_code == 403
        assert browser.post(f"/admin/accounts/user/{scene.owner.pk}/delete/", {"post": "yes"}).status_code == 403
    assert re.search("탈퇴한 사람", browser.get(f"/admin/accounts/user/{scene.person.pk}/change/").content.decode())


def test_nobody_can_sign_up_as_one_but_anybody_may_come_back(scene: Scene) -> None:
    erase(user=scene.person, actor=None)
    assert not Client().login(email=EMAIL, password=PASSWORD)
    again = UserFactory.create(email=EMAIL)
    assert erase(user=again, actor=None)
    assert User.objects.filter(email="").count() == 2
