"""What team, visitors and programs read of scores that a phase rounds or withholds, on every page and address."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from malpan.accounts.services import create_api_token
from malpan.submissions.integrity import chain
from malpan.submissions.integrity.receipts import issue_receipt
from tests.factories import (
    PhaseFactory,
    ReferenceVersionFactory,
    TeamFactory,
    finished_submission,
    leader_of,
    person_in,
)
from tests.web import html
from tests.web.conftest import client_of

pytestmark = pytest.mark.django_db

FIRST, BELOW, RISEN = 0.70412345, 0.70998765, 0.72345678  # of these the public may know 0.70 and 0.72
DIGITS = ["0.70412345", "70.412345", "0.70998765", "70.998765", "0.72345678", "72.345678", "70.99", "70.41", "72.34"]


@pytest.fixture
def world() -> Any:
    phase = PhaseFactory.create(
        track__competition__is_published=True, score_step=Decimal("0.01"), is_ladder=True, title_ko="본선"
    )
    ReferenceVersionFactory.create(phase=phase)
    team = TeamFactory.create(competition=phase.track.competition, name="오르는 팀")
    leader = leader_of(team)
    rows = [
        finished_submission(
            phase,
            team,
            score,
            created_at=timezone.now() - timedelta(minutes=9 - number),
            submitted_by=leader,
            scores={"exact_match": score, "average": score},
        )
        for number, score in enumerate([FIRST, BELOW, RISEN])
    ]
    for row in rows:
        issue_receipt(submission=row)
    chain.append_scores(rows)
    return phase, team, leader, rows


def test_no_digit_beyond_the_step_is_anywhere(world):
    phase, _team, leader, rows = world
    slug, track = phase.track.competition.slug, phase.track.slug
    member = client_of(leader)
    token = Client(headers={"Authorization": f"Bearer {create_api_token(user=leader, label='t')[1]}"})
    base, api = f"/competitions/{slug}", f"/api/v1/competitions/{slug}"
    boards = [f"{base}/board/{query}" for query in ("", "?metrics=all", "?digits=all", "?as=csv")]
    pages = [f"{base}/", *boards, f"{base}/chain/", f"{base}/chain.json"]
    own = [f"{base}/submissions/", *(f"/submissions/{row.public_id}/" for row in rows)]
    own += [f"/submissions/{row.public_id}/status/?view=full" for row in rows]
    own += [f"/submissions/{row.public_id}/receipt.json" for row in rows]
    programs = [f"{api}/", f"{api}/tracks/{track}/board/", f"{api}/tracks/{track}/submissions/"]
    programs += [f"/api/v1/submissions/{row.public_id}/" for row in rows]
    read = 0
    for client, addresses in ((Client(), pages), (member, pages + own), (token, programs)):
        for address in addresses:
            answer = client.get(address)
            text = b"".join(answer.streaming_content).decode() if answer.streaming else answer.content.decode()
            if answer.status_code in (200, 286):
                read += 1
            assert [digits for digits in DIGITS if digits in text] == [], address
    assert read == 2 * len(pages) + len(own) + len(programs)


def test_the_team_is_told_why_a_score_is_not_there_and_visitors_what_the_scores_are(world):
    phase, _team, leader, rows = world
    slug = phase.track.competition.slug
    member = client_of(leader)
    below = member.get(f"/submissions/{rows[1].public_id}/").content.decode()
    assert "한 단위 넘게 오르지 않아, 이 제출의 점수는 최종 발표 때 공개합니다" in below
    board = Client().get(f"/competitions/{slug}/board/").content.decode()
    assert "공개 점수는 1점 단위입니다" in board
    assert [cell.text for cell in html.parse(board).all("td", "main")] == ["72"]
    history = member.get(f"/competitions/{slug}/submissions/").content.decode()
    assert "이 단계는 순위표가 고정되었거나" not in history
    phase.is_ladder = False
    phase.save()
    assert "1점 단위로 반올림합니다" in Client().get(f"/competitions/{slug}/board/").content.decode()


@pytest.mark.parametrize(("step", "written"), [("0.05", "70"), ("0.005", "70.5")])
def test_a_rounded_score_has_the_decimals_of_the_step_and_is_said_to_be_rounded(world, step, written):
    phase, team, leader, _rows = world
    phase.is_ladder, phase.score_step = False, Decimal(step)
    phase.save()
    row = finished_submission(
        phase, team, 0.7049, submitted_by=leader, scores={"exact_match": 0.7049, "average": 0.7049}
    )
    page = html.parse(client_of(leader).get(f"/submissions/{row.public_id}/").content.decode())
    assert page.one("p", "state-score").text == written
    table = page.one("section", **{"aria-labelledby": "scores-title"}).one("table")
    values = [line.all("td")[0].text for line in table.one("tbody").all("tr")]
    assert set(values) == {written, "–"}
    assert page.text.count("단위로 반올림합니다") == 1
    token = Client(headers={"Authorization": f"Bearer {create_api_token(user=leader, label='t')[1]}"})
    shown = token.get(f"/api/v1/submissions/{row.public_id}/").json()["run"]["shown"]
    assert {each["text"] for each in shown} == {written}


@pytest.mark.parametrize("query", ["", "?digits=all", "?metrics=all"])
def test_a_rounded_board_has_no_more_digits_to_show(world, query):
    phase, _team, _leader, _rows = world
    text = Client().get(f"/competitions/{phase.track.competition.slug}/board/{query}").content.decode()
    page = html.parse(text)
    assert [cell.text for cell in page.all("td", "main")] == ["72"]
    assert "72.00" not in text
    assert "점수의 모든 자리 보기" not in text
    assert "점수를 짧게 보기" not in text


def test_programs_are_told_the_rule_and_the_reason(world):
    phase, _team, leader, rows = world
    slug, track = phase.track.competition.slug, phase.track.slug
    token = Client(headers={"Authorization": f"Bearer {create_api_token(user=leader, label='t')[1]}"})
    shown = token.get(f"/api/v1/competitions/{slug}/tracks/{track}/board/").json()
    assert (shown["phase"]["score_step"], shown["phase"]["is_ladder"]) == (0.01, True)
    assert [row["final_score"] for row in shown["rows"]] == [0.72]
    runs = [token.get(f"/api/v1/submissions/{row.public_id}/").json()["run"] for row in rows]
    assert [run.get("final_score") for run in runs] == [0.7, None, 0.72]
    assert [run["withheld"] for run in runs] == [None, "ladder", None]


def test_organisers_see_every_digit(world):
    phase, _team, _leader, rows = world
    organiser = person_in(phase.track.competition, "organiser")
    page = client_of(organiser).get(f"/submissions/{rows[1].public_id}/").content.decode()
    assert "70.9987650" in page
