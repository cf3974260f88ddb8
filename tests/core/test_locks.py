"""The one order of locks: whoever goes back a level is told so."""

import pytest
from django.db import transaction

from malpan.core import locks
from malpan.core.locks import Level, LockOrderBroken

pytestmark = pytest.mark.django_db


def test_later_levels_and_the_same_one_again_are_fine():
    with transaction.atomic():
        for level in (Level.TEAM, Level.TEAM, Level.PHASE, Level.COMPETITION):
            locks.note(level)


def test_an_earlier_level_is_refused_also_inside_of_a_savepoint_and_after_it():
    with transaction.atomic():
        with transaction.atomic():
            locks.note(Level.PHASE)
        with pytest.raises(LockOrderBroken, match="TEAM is locked after PHASE"):
            locks.note(Level.TEAM)
        with transaction.atomic(), pytest.raises(LockOrderBroken):
            locks.note(Level.WORK)


def test_every_transaction_begins_anew_however_the_one_before_ended():
    with transaction.atomic():
        locks.note(Level.COMPETITION)
    with transaction.atomic():
        locks.note(Level.COMPETITION)
        transaction.set_rollback(True)

    with transaction.atomic():
        locks.note(Level.TEAM)


def test_rows_that_the_transaction_made_itself_are_locked_in_any_order():
    with transaction.atomic(), locks.own_rows():
        locks.note(Level.PHASE)
        locks.note(Level.TEAM)

    with transaction.atomic():
        locks.note(Level.PHASE)
        with pytest.raises(LockOrderBroken):
            locks.note(Level.TEAM)


def test_a_site_does_not_check(settings):
    settings.CHECK_LOCK_ORDER = False

    with transaction.atomic():
        locks.note(Level.PHASE)
        locks.note(Level.TEAM)
