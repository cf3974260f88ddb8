"""The contest of the chaos: two tracks and twelve teams with tokens. Run beside a site; prints ``{team: token}``.

``labels`` is scored in milliseconds. A file of ``answers`` is a large run: its values are computed in slices.
"""

from __future__ import annotations

import json
import random
import uuid
from datetime import timedelta

SLUG = "chaos"
TEAMS = 12
LABELS, LABEL_ITEMS = ("기쁨", "슬픔", "놀람", "화남"), 20
LARGE_RUN_ITEMS, SLICE_ITEMS = 30, 10
ANSWER_ITEMS = 40


def labels_file(dice: random.Random) -> bytes:
    """Labels by chance."""
    return _official({f"item-{number}": dice.choice(LABELS) for number in range(LABEL_ITEMS)})


def answers_file(dice: random.Random) -> bytes:
    """Answers with reasons that no other file has, so that all their values must be computed."""
    words = (f"{dice.randrange(10_000)}쪽의 {dice.randrange(10_000)}번째 보기" for _item in range(ANSWER_ITEMS))
    return _official({f"item-{number}": f'"바른 말"이 옳다. {each}에 적혀 있다.' for number, each in enumerate(words)})


def make() -> dict[str, str]:
    """The token of each team by its name."""
    from malpan.accounts.models import User
    from malpan.accounts.services import create_api_token
    from malpan.competitions.services import create_competition
    from malpan.teams.services import create_team

    competition = create_competition(slug=SLUG, title_ko="혼돈 대회", is_published=True)
    dice = random.Random(0)
    _make_track(competition, "labels", "classification-accuracy@1", labels_file(dice))
    _make_track(competition, "answers", "rag-qa@1", answers_file(dice))
    tokens = {}
    for number in range(TEAMS):
        leader = User.objects.create_user(email=f"{uuid.uuid4().hex}@example.org", name=f"참가자 {number}")
        team = create_team(competition=competition, name=f"{number}번 팀", leader=leader)
        tokens[team.name] = create_api_token(user=leader, label="chaos")[1]
    return tokens


def sessions() -> list[str]:
    """A session of each team's leader."""
    from malpan.teams.models import Membership
    from tests.sessions import session_of

    leaders = Membership.objects.filter(team__competition__slug=SLUG, role=Membership.Role.LEADER)
    return [session_of(each.user) for each in leaders.order_by("team__number")]


def _make_track(competition: object, slug: str, recipe: str, references: bytes) -> None:
    from django.utils import timezone

    from malpan.competitions.services import create_phase, create_track
    from malpan.submissions.scoring_changes import publish_reference_version

    track = create_track(competition=competition, slug=slug, title_ko=slug, recipe=recipe)
    now = timezone.now()
    phase = create_phase(
        track=track, slug="main", title_ko="본선", starts_at=now - timedelta(days=1), ends_at=now + timedelta(days=1),
        total_limit=10_000,
    )  # fmt: skip
    publish_reference_version(phase=phase, data=references, actor=None)


def _official(answers: dict[str, str]) -> bytes:
    rows = [
        {"id": key, "input": {"question_type": "교정형", "question": "고르시오."}, "output": {"answer": answer}}
        for key, answer in answers.items()
    ]
    return json.dumps(rows, ensure_ascii=False).encode()


if __name__ == "__main__":
    import django

    django.setup()
    print(json.dumps(make()))
