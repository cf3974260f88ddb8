"""How far it is: clicks of somebody new from the home page to the first score, and forms of an organiser from nothing
to a contest that takes submissions.

Before the paths were mended it was 11 clicks, one log-in repeated, and 11 forms without the baseline. Now it is 10
clicks, the link of the mail among them and nothing twice, and 8 forms, the baseline among them.
"""

from __future__ import annotations

from datetime import timedelta

from django.contrib.auth.models import Permission
from django.test import Client
from django.utils import timezone

from malpan.competitions.models import Competition, Phase
from malpan.core.times import KST
from malpan.submissions.models import ScoringRun, Submission
from malpan.teams.models import Team
from tests.factories import PASSWORD, UserFactory, prediction_bytes, reference_bytes
from tests.web.conftest import client_of
from tests.web.manage.test_setup import TEXTS, TRACK, upload
from tests.web.pointer import Pointer

CLICKS, FORMS = 10, 8
NEW = {"name": "김말판", "email": "new@example.com", "password1": PASSWORD, "password2": PASSWORD, "privacy": "on"}


def test_clicks_from_the_home_page_to_the_first_score(phase: Phase) -> None:
    pointer = Pointer(Client())
    pointer.open("/")
    pointer.follow("어문 규범 대회")
    pointer.follow("팀 만들기")
    pointer.follow("회원가입")
    pointer.press("가입하기", **NEW)
    pointer.follow_mail()
    pointer.press("내 이메일이 맞습니다")
    pointer.press("로그인", login=NEW["email"], password=PASSWORD)
    pointer.press("팀 만들기", name="새 팀")
    pointer.follow("제출")
    pointer.press("제출하기", file=upload(prediction_bytes()))
    submission = Submission.objects.get()
    assert submission.team == Team.objects.get(name="새 팀")
    assert pointer.address == f"/submissions/{submission.public_id}/"

    [polled] = {each.attributes["hx-get"] for each in pointer.page.all() if "hx-get" in each.attributes}
    ended = {"state": "finished", "final_score": 0.625, "finished_at": timezone.now()}
    ScoringRun.objects.filter(submission=submission).update(**ended, signature_hash="s", scores={"final_score": 0.625})
    Submission.objects.update(live_run=ScoringRun.objects.get())
    pointer.open(polled)  # the page does that by itself
    assert "62.5" in pointer.page.text
    assert pointer.clicks == CLICKS


def test_forms_from_nothing_to_an_open_contest_with_a_baseline(db: None) -> None:
    founder = UserFactory.create()
    founder.user_permissions.add(Permission.objects.get(codename="add_competition"))
    pointer = Pointer(client_of(founder))
    pointer.open("/")
    pointer.follow("새 대회 만들기")
    pointer.press("대회 만들기", title_ko="규범 대회", title_en="Norms", slug="norms")
    pointer.press("저장하고 트랙으로", **TEXTS)
    pointer.follow("트랙 더하기")
    pointer.press("저장", **TRACK)
    pointer.follow("다음: 단계")
    pointer.follow("단계 더하기")
    pointer.press("저장", title_ko="본선", title_en="Main", slug="main", min_interval="90분", **_times())
    pointer.follow("다음: 정답과 자료")
    pointer.follow("정답 올리기")
    pointer.press("정답 등록", file=upload(reference_bytes()))
    pointer.follow("자료 올리기")
    pointer.press("자료 올리기", kind="sample", title_ko="예시", file=upload(prediction_bytes()))
    pointer.follow("다음: 점검과 공개")
    pointer.press("공개하기")
    pointer.follow("팀")
    pointer.follow("기준 모델 올리기")
    baseline = {"name": "KoGPT 기준", "phase": Phase.objects.get().pk, "file": upload(prediction_bytes(mark="b"))}
    pointer.press("올리기", **baseline)
    assert Competition.objects.get().is_published
    assert Submission.objects.get().team.is_baseline
    assert pointer.forms == FORMS


def _times() -> dict[str, str]:
    now = timezone.now().astimezone(KST)
    moments = {"starts_at": now - timedelta(minutes=5), "ends_at": now + timedelta(days=7)}
    return {name: f"{moment:%Y-%m-%dT%H:%M}" for name, moment in moments.items()}
