"""The pages of quota: who sees them, who acts on them, and what their forms do."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from malpan.competitions.models import CompetitionRole, Phase
from malpan.core.times import kst_day
from malpan.submissions.models import QuotaEntry
from malpan.submissions.quota import services as quota
from tests.factories import PhaseFactory, SubmissionFactory, TeamFactory, UserFactory, leader_of, person_in
from tests.web.conftest import client_of

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("contexts")]
Role = CompetitionRole.Role


def manage_client(competition, role=Role.ORGANISER) -> Client:
    return client_of(person_in(competition, role))


@pytest.fixture
def organiser(phase):
    return manage_client(phase.track.competition)


@pytest.fixture
def submission(phase, team):
    return SubmissionFactory.create(phase=phase, team=team, file_name="mine.json")


def url(name, phase, *more):
    args = [phase.track.competition.slug] + ([phase.pk, *more] if name != "manage_quota" else [])
    return reverse(name, args=args)


def body(key, **fields):
    return {f"{key}-{name}": value for name, value in fields.items()}


def every_address(phase, team):
    """Name, address, method and the least role that may."""
    yield "manage_quota", url("manage_quota", phase), "get", Role.VIEWER
    yield "team", url("manage_quota_team", phase, team.pk), "get", Role.VIEWER
    yield "all", url("manage_quota_all", phase), "get", Role.ORGANISER
    for name in ("grant", "refund", "reset"):
        yield name, url(f"manage_quota_{name}", phase, team.pk), "post", Role.ORGANISER
    for name in ("grant_all", "reset_all"):
        yield name, url(f"manage_quota_{name}", phase), "post", Role.ORGANISER


def test_viewers_see_the_ledgers_and_organisers_act(phase, submission):
    stranger = manage_client(PhaseFactory.create().track.competition, Role.OWNER)
    member = client_of(leader_of(submission.team))
    clients = {role: manage_client(phase.track.competition, role) for role in Role.values}

    for name, address, method, least in every_address(phase, submission.team):
        seen = {role: getattr(client, method)(address).status_code for role, client in clients.items()}
        allowed = set(Role.values) if least == Role.VIEWER else {Role.OWNER, Role.ORGANISER}
        assert {role for role, status in seen.items() if status in {200, 422}} == allowed, (name, seen)
        assert all(seen[role] == 403 for role in set(seen) - allowed), (name, seen)
        assert getattr(stranger, method)(address).status_code == 404
        assert getattr(member, method)(address).status_code == 404
        assert getattr(Client(), method)(address).status_code == 302
    assert not QuotaEntry.objects.exclude(kind="charge").exists()


def test_table_says_what_each_team_has_used_and_has_left(phase, submission, organiser):
    quota.grant(phase=phase, team=submission.team, slots=2, reason="r", actor=None, day=kst_day(timezone.now()))
    TeamFactory.create(competition=phase.track.competition, name="Zebra")

    answer = organiser.get(url("manage_quota", phase))

    assert [(line.team.name, line.status.left_today) for line in answer.context["lines"]] == [
        ("Team One", 6),
        ("Zebra", 5),
    ]
    page = answer.content.decode()
    assert "추가 2회 포함" in page
    assert "1/7" in page


def test_table_of_a_phase_that_is_over_promises_nobody_a_next_submission(phase, submission, organiser):
    Phase.objects.update(starts_at=timezone.now() - timedelta(days=9), ends_at=timezone.now() - timedelta(days=1))
    page = organiser.get(url("manage_quota", phase)).content.decode()
    assert "없음(마감함)" in page
    assert "남은 기회 없음" not in page


def test_team_is_found_by_a_part_of_its_name_and_the_phase_is_kept(phase, submission, organiser):
    other = PhaseFactory.create(track=phase.track, total_limit=9, starts_at=timezone.now() + timedelta(days=40),
                                ends_at=timezone.now() + timedelta(days=50))  # fmt: skip
    TeamFactory.create(competition=phase.track.competition, name="Zebra")

    answer = organiser.get(url("manage_quota", phase), {"phase": other.pk, "team": "zeb"})

    assert [line.team.name for line in answer.context["lines"]] == ["Zebra"]
    assert answer.context["phase"] == other
    assert f'<option value="{other.pk}" selected>' in answer.content.decode()


def test_table_costs_as_many_queries_for_many_teams_as_for_one(phase, submission, organiser):
    def cost(teams):
        with CaptureQueriesContext(connection) as queries:
            assert len(organiser.get(url("manage_quota", phase)).context["lines"]) == teams
        return len(queries)

    cost(1)  # what is cached is cached
    of_one = cost(1)
    for _number in range(10):
        SubmissionFactory.create(phase=phase)

    assert cost(11) == of_one < 20


def test_competition_without_a_phase_has_an_empty_page_of_quota(phase):
    competition = TeamFactory.create().competition

    assert manage_client(competition).get(reverse("manage_quota", args=[competition.slug])).status_code == 200


def test_grant_for_a_day_and_for_the_phase(phase, submission, organiser):
    team, today = submission.team, kst_day(timezone.now())
    fields = {"slots": 2, "reason": "장애 보상"}

    for scope in ("day", "phase"):
        answer = organiser.post(
            url("manage_quota_grant", phase, team.pk), body("grant", scope=scope, day=today.isoformat(), **fields)
        )
        assert answer["Location"] == url("manage_quota_team", phase, team.pk)

    entries = QuotaEntry.objects.filter(kind="grant").order_by("pk")
    assert [(entry.slots, entry.day, entry.reason) for entry in entries] == [
        (2, today, "장애 보상"),
        (2, None, "장애 보상"),
    ]
    assert all(entry.actor is not None for entry in entries)
    found = quota.status(phase=phase, team=team)
    assert (found.left_today, found.left_total) == (6, 41)


@pytest.mark.parametrize(
    ("fields", "wrong"),
    [
        ({"slots": 0}, "slots"),
        ({"slots": 101}, "slots"),
        ({"reason": " "}, "reason"),
        ({"day": ""}, "day"),
        ({"day": "2020-01-01"}, "day"),
        ({"scope": "year"}, "scope"),
    ],
)
def test_grant_says_beside_the_field_what_is_wrong(fields, wrong, phase, submission, organiser):
    good = {"slots": 1, "scope": "day", "day": kst_day(timezone.now()).isoformat(), "reason": "r"}

    answer = organiser.post(url("manage_quota_grant", phase, submission.team.pk), body("grant", **(good | fields)))

    assert answer.status_code == 422
    assert wrong in answer.context["forms"]["grant"].errors
    assert not answer.context["forms"]["reset"].is_bound
    assert not QuotaEntry.objects.filter(kind="grant").exists()


def test_grant_that_raises_no_limit_is_refused_on_the_form():
    phase = PhaseFactory.create()
    team = TeamFactory.create(competition=phase.track.competition)

    answer = manage_client(phase.track.competition).post(
        url("manage_quota_grant", phase, team.pk), body("grant", slots=1, scope="phase", reason="r")
    )

    assert answer.status_code == 422
    assert "늘릴 한도가 없습니다" in answer.content.decode()


def test_refund_needs_its_box_ticked_and_takes_only_submissions_of_the_team(phase, submission, organiser):
    address = url("manage_quota_refund", phase, submission.team.pk)
    foreign = SubmissionFactory.create(phase=phase)
    fields = {"submission": submission.pk, "reason": "잘못된 안내"}

    assert organiser.post(address, body("refund", **fields)).status_code == 422
    assert (
        organiser.post(address, body("refund", **fields | {"submission": foreign.pk}, confirm="on")).status_code == 422
    )
    assert not QuotaEntry.objects.filter(kind="refund").exists()

    assert organiser.post(address, body("refund", **fields, confirm="on")).status_code == 302
    assert QuotaEntry.objects.get(kind="refund").submission == submission
    submission.refresh_from_db()
    assert submission.refunded_at is not None
    assert (
        organiser.post(address, body("refund", **fields, confirm="on")).status_code == 422
    )  # it is no choice any more


def test_reset_of_one_team_needs_its_box_ticked(phase, submission, organiser):
    address = url("manage_quota_reset", phase, submission.team.pk)

    assert organiser.post(address, body("reset", reason="r")).status_code == 422
    assert organiser.post(address, body("reset", reason="r", confirm="on")).status_code == 302
    assert quota.status(phase=phase, team=submission.team).used_total == 0


def test_reset_of_all_teams_needs_the_typed_word(phase, submission, organiser):
    other = SubmissionFactory.create(phase=phase)
    address = url("manage_quota_reset_all", phase)

    for word in ("", "yes"):
        answer = organiser.post(address, body("reset", reason="r", word=word))
        assert answer.status_code == 422
        assert "word" in answer.context["forms"]["reset"].errors
    assert quota.status(phase=phase, team=submission.team).used_total == 1

    assert organiser.post(address, body("reset", reason="r", word=phase.slug)).status_code == 302
    for team in (submission.team, other.team):
        assert quota.status(phase=phase, team=team).used_total == 0


def test_grant_to_all_teams_needs_its_box_ticked(phase, submission, organiser):
    TeamFactory.create(competition=phase.track.competition)
    fields = {"slots": 1, "scope": "phase", "reason": "서버 장애"}
    address = url("manage_quota_grant_all", phase)

    assert organiser.post(address, body("grant", **fields)).status_code == 422
    assert organiser.post(address, body("grant", **fields, confirm="on")).status_code == 302
    assert QuotaEntry.objects.filter(kind="grant", slots=1, reason="서버 장애").count() == 2


def test_team_and_phase_of_another_competition_are_not_found(phase, submission, organiser):
    foreign_team, foreign_phase = TeamFactory.create(), PhaseFactory.create()
    slug = phase.track.competition.slug

    for args in ([slug, phase.pk, foreign_team.pk], [slug, foreign_phase.pk, submission.team.pk]):
        assert organiser.get(reverse("manage_quota_team", args=args)).status_code == 404


def test_organiser_reads_who_wrote_each_line_and_the_team_reads_the_reason_only(phase, submission, organiser, member):
    boss = UserFactory.create(name="Boss Park")
    quota.refund(submission=submission, reason="worker_lost")
    quota.grant(phase=phase, team=submission.team, slots=2, reason="장애 보상", actor=boss)

    access = organiser.get(url("manage_quota_team", phase, submission.team.pk)).content.decode()
    own = member.get(reverse("submissions", args=[phase.track.competition.slug])).content.decode()

    assert "Boss Park" in access
    assert f'href="{url("manage_quota", phase)}?phase={phase.pk}"' in access
    assert "Boss Park" not in own
    for page in (access, own):
        assert "장애 보상" in page
        assert "채점 서버와 연결이 끊겼습니다" in page
        assert "worker_lost" not in page
    assert "추가 2회 포함" in own


def test_lines_of_before_a_reset_are_marked(phase, submission, member):
    quota.reset(phase=phase, team=submission.team, reason="재시험", actor=None)

    page = member.get(reverse("submissions", args=[phase.track.competition.slug])).content.decode()

    assert page.count("초기화 전") == 1
    assert "재시험" in page


def test_team_sees_no_ledger_of_another_team(phase, submission, member):
    SubmissionFactory.create(phase=phase, file_name="theirs.json")

    page = member.get(reverse("submissions", args=[phase.track.competition.slug])).content.decode()

    assert "mine.json" in page
    assert "theirs.json" not in page
