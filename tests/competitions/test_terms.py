"""Terms: the current version is accepted before joining and submitting."""

import pytest
from django.contrib.auth.models import AnonymousUser

from malpan.competitions.errors import TermsChanged, TermsNotAccepted
from malpan.competitions.models import TermsAcceptance
from malpan.competitions.terms import accept_terms, is_accepted, require_accepted
from malpan.core.models import AuditEntry
from malpan.submissions.intake import submit
from malpan.submissions.models import Submission
from malpan.teams.invitations import create_invitation, join_team
from malpan.teams.services import create_team
from tests.factories import (
    CompetitionFactory,
    PhaseFactory,
    TeamFactory,
    UserFactory,
    leader_of,
    prediction_bytes,
    publish,
)
from tests.threads import at_once

pytestmark = pytest.mark.django_db


def _competition(version: int = 1):
    return CompetitionFactory.create(terms_version=version, terms_ko="약관")


def test_nothing_is_asked_where_there_are_no_terms():
    competition = CompetitionFactory.create()

    assert is_accepted(AnonymousUser(), competition)
    require_accepted(UserFactory.create(), competition)


def test_acceptance_is_kept_with_its_version_and_stands_in_the_audit_log_once():
    competition, user = _competition(2), UserFactory.create()

    for _time in range(2):
        accept_terms(user=user, competition=competition, version=2)

    require_accepted(user, competition)
    assert TermsAcceptance.objects.get().version == 2
    assert AuditEntry.objects.get(action="terms.accept").competition_pk == competition.pk


@pytest.mark.parametrize("version", [0, 1, 3])
def test_only_the_current_version_can_be_accepted(version):
    with pytest.raises(TermsChanged):
        accept_terms(user=UserFactory.create(), competition=_competition(2), version=version)


def test_team_is_neither_made_nor_joined_without_accepting():
    competition, user = _competition(), UserFactory.create()
    team = TeamFactory.create(competition=competition)
    _row, token = create_invitation(team=team, actor=leader_of(team))

    with pytest.raises(TermsNotAccepted):
        create_team(competition=competition, name="새 팀", leader=user)
    with pytest.raises(TermsNotAccepted):
        join_team(token=token, user=user)

    accept_terms(user=user, competition=competition, version=1)
    join_team(token=token, user=user)


def test_organiser_makes_a_team_for_somebody_who_will_be_asked_later():
    competition = _competition()

    create_team(competition=competition, name="새 팀", leader=UserFactory.create(), actor=UserFactory.create())


def test_new_version_is_accepted_before_the_next_submission():
    competition = _competition()
    phase = PhaseFactory.create(track__competition=competition)
    publish(phase)
    team = TeamFactory.create(competition=competition)
    user = leader_of(team)
    accept_terms(user=user, competition=competition, version=1)
    submit(phase=phase, team=team, user=user, file_name="a.json", upload=prediction_bytes(mark=1))

    competition.terms_version = 2
    competition.save()
    phase.track.competition.refresh_from_db()
    with pytest.raises(TermsNotAccepted):
        submit(phase=phase, team=team, user=user, file_name="a.json", upload=prediction_bytes(mark=2))
    assert Submission.objects.count() == 1

    accept_terms(user=user, competition=competition, version=2)
    submit(phase=phase, team=team, user=user, file_name="a.json", upload=prediction_bytes(mark=2))


@pytest.mark.django_db(transaction=True)
def test_ten_clicks_at_once_are_one_acceptance():
    competition, user = _competition(), UserFactory.create()

    at_once([lambda: accept_terms(user=user, competition=competition, version=1) for _click in range(10)])

    assert TermsAcceptance.objects.count() == AuditEntry.objects.filter(action="terms.accept").count() == 1
