"""What submissions are compared with, by the API: other teams' files, people's scores."""

from __future__ import annotations

import pytest
from django.core.cache import cache

from malpan.competitions.models import CompetitionRole
from malpan.competitions.roles import appoint
from malpan.core.storage import store_private
from malpan.submissions.models import JudgeAgreement
from tests.api.test_contest import Caller
from tests.factories import PhaseFactory, TeamFactory, UserFactory, file_bytes, finished_submission, publish, rows
from tests.judged_submissions import human_bytes, judged_submission
from tests.submissions.integrity.comparing import compare_asked

pytestmark = pytest.mark.django_db
ITEMS = 24


@pytest.fixture
def phase():
    cache.clear()
    phase = PhaseFactory.create()
    publish(phase, ITEMS)
    return phase


@pytest.fixture
def owner(phase):
    person = UserFactory.create()
    appoint(competition=phase.track.competition, user=person, role=CompetitionRole.Role.OWNER, actor=None)
    return Caller(person)


def manage(phase):
    return f"/competitions/{phase.track.competition.slug}/manage"


def sent(phase, data):
    team = TeamFactory.create(competition=phase.track.competition)
    return finished_submission(phase, team, 0.5, file_sha256=store_private(data).sha256)


def test_equal_and_nearly_equal_files_are_found_and_read_side_by_side(phase, owner):
    items = rows(ITEMS)
    for number, item in enumerate(items):
        item["output"]["answer"] = f"{number}번 답"
    one, same = sent(phase, file_bytes(items)), sent(phase, file_bytes(items))
    items[0]["output"]["answer"] = "다른 답"
    near = sent(phase, file_bytes(items))

    [shared] = owner("GET", f"{manage(phase)}/duplicates/")
    assert [each["submission"] for each in shared["submissions"]] == [str(one.public_id), str(same.public_id)]
    waiting = owner("GET", f"{manage(phase)}/phases/{phase.pk}/duplicates/")
    assert (waiting["computed_at"], waiting["is_waiting"], waiting["is_current"]) == (None, True, False)
    compare_asked()
    alike = owner("GET", f"{manage(phase)}/phases/{phase.pk}/duplicates/")
    assert (alike["is_waiting"], alike["is_current"], alike["has_failed"]) == (False, True, False)
    assert (alike["teams"], alike["unread"], len(alike["pairs"])) == (3, 0, 3)
    assert (alike["pairs"][0]["same"], alike["pairs"][0]["compared"]) == (ITEMS, ITEMS)

    address = f"{manage(phase)}/duplicates/{one.public_id}/{near.public_id}/"
    found = owner("GET", f"{address}?page_size=10")
    assert (found["count"], len(found["items"])) == (ITEMS, 10)
    assert [each["is_same"] for each in found["items"]] == [False] + [True] * 9
    assert found["items"][0]["other"] == "다른 답"


def test_a_file_that_cannot_be_read_has_no_answers(phase, owner):
    one, broken = sent(phase, file_bytes(rows(ITEMS))), sent(phase, b"[")
    found = owner("GET", f"{manage(phase)}/duplicates/{one.public_id}/{broken.public_id}/")
    assert found == {"count": 0, "next": None, "items": []}


def test_the_agreement_of_a_judge_with_people_is_recorded_and_removed(phase, owner):
    people = human_bytes({"e1": 5, "e2": 4, "e3": 1})
    team = TeamFactory.create(competition=phase.track.competition)
    submission = judged_submission(phase, team, {"e1": 1.0, "e2": 0.8, "e3": 0.2})
    [listed] = owner("GET", f"{manage(phase)}/judge/submissions/")
    assert (listed["submission"], listed["metric"]) == (str(submission.public_id), "llm_judge")

    fields = {"submission": listed["submission"], "metric": "llm_judge", "source": "국어 교사 세 사람의 평균"}
    made = owner.upload(f"{manage(phase)}/judge/", people, **fields)
    assert (made["source"], made["figures"]["items"], made["judge"]["model"]) == (fields["source"], 3, "Qwen3-8B-AWQ")
    assert made["figures"]["pearson"]["value"] == pytest.approx(1)

    refused = owner.upload(f"{manage(phase)}/judge/", b'[{"id": "e1", "score": 9}]', 422, **fields)
    assert refused["code"] == "human_scores_rejected"
    assert refused["errors"]
    other = owner.upload(f"{manage(phase)}/judge/", people, 409, **{**fields, "metric": "meteor"})
    assert other["code"] == "judgements_missing"
    unnamed = owner.upload(f"{manage(phase)}/judge/", people, 400, **{**fields, "source": " "})
    assert unnamed["code"] == "api_request_invalid"

    assert [each["id"] for each in owner("GET", f"{manage(phase)}/judge/")] == [made["id"]]
    owner("DELETE", f"{manage(phase)}/judge/{made['id']}/", status=204)
    assert not JudgeAgreement.objects.exists()
