"""People who set up, enter, decide and publish at the same moment."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from malpan.stages.contents import stage_content
from malpan.stages.entering import confirm_table, enter_table, reject_table
from malpan.stages.errors import NothingChanged, TableChanged, TableDecided
from malpan.stages.models import StageDecision, StageSnapshot, StageTable
from malpan.stages.publishing import publish_stage
from malpan.stages.services import update_stage
from tests.factories import UserFactory
from tests.stages.conftest import Contest, make_contest
from tests.threads import at_once

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def contest(transactional_db: None) -> Contest:
    return make_contest()


def test_changes_at_once_are_all_kept(contest: Contest) -> None:
    stage = contest.stage()
    changes: dict[str, Any] = {"weight": 7, "cut": 2, "title_en": "Board", "notice_ko": "안내", "notice_en": "Note"}
    at_once([partial(update_stage, stage=stage, actor=contest.writer, **{name: changes[name]}) for name in changes])
    stage.refresh_from_db()
    assert {name: getattr(stage, name) for name in changes} == changes


def test_two_people_who_click_at_once_decide_once(contest: Contest) -> None:
    contest.publish(contest.stage())
    stage = contest.stage()
    table = contest.enter(stage, {1: 1, 2: 2, 3: 3})
    others = [contest.reader, *(UserFactory.create(is_superuser=True) for _ in range(5))]

    def decide(person: Any) -> Any:
        known = {"stage": stage, "number": 1, "sha256": table.sha256, "actor": person}
        if person.pk % 2:
            return confirm_table(**known)
        return reject_table(**known, reason="다시")

    done = at_once([lambda person=person: decide(person) for person in others])  # type: ignore[misc]
    assert [type(each) for each in done].count(StageDecision) == 1
    assert [type(each) for each in done].count(TableDecided) == len(others) - 1
    assert StageDecision.objects.count() == 1


def test_people_who_enter_at_once_enter_one_version(contest: Contest) -> None:
    contest.publish(contest.stage())
    stage = contest.stage()
    known: dict[str, Any] = {"stage": stage, "text": "1,1\n2,2\n3,3\n", "actor": contest.writer, "based_on": 0}
    done = at_once([lambda: enter_table(**known)] * 6)
    assert [type(each) for each in done].count(StageTable) == 1
    assert [type(each) for each in done].count(TableChanged) == 5


def test_people_who_publish_at_once_publish_once(contest: Contest) -> None:
    stage = contest.stage()
    seen = stage_content(stage).sha256
    done = at_once([lambda: publish_stage(stage=stage, actor=contest.reader, sha256=seen)] * 6)
    assert [type(each) for each in done].count(StageSnapshot) == 1
    assert [type(each) for each in done].count(NothingChanged) == 5
