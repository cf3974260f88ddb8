"""What migrations do to rows that exist."""

from importlib import import_module

import pytest
from django.apps import apps
from django.db import connection

from accounts.models import Team
from tests.factories import CompetitionFactory, TeamFactory

number_teams = import_module("accounts.migrations.0004_number_teams").number_teams


@pytest.mark.django_db
def test_existing_teams_are_numbered_in_the_order_in_which_they_were_made():
    one, two = CompetitionFactory.create_batch(2)
    teams = [TeamFactory.create(competition=each) for each in (one, two, one, one)]
    for team in teams:  # numbers as far from the right ones as the constraint allows
        Team.objects.filter(pk=team.pk).update(number=1000 - team.pk % 500)

    number_teams(apps, connection.schema_editor())

    assert [Team.objects.get(pk=team.pk).number for team in teams] == [1, 1, 2, 3]
