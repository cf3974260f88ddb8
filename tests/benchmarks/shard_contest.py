"""Self-written large files in a running site's database, through the services that pages use: for ``Stack.call``."""

from __future__ import annotations

import json
import random
from typing import Any

RULES = (
    "사이시옷은 순우리말로 된 합성어에서 앞말이 모음으로 끝날 때 받치어 적는다",
    "조사는 앞말에 붙여 쓰고 의존 명사는 띄어 쓴다",
    "어간의 끝음절 하의 줄어진 말은 본말의 형태를 밝혀 적지 않는다",
)
WORDS = [word for rule in RULES for word in rule.split()]


def references(items: int) -> bytes:
    """An answer and a reason of three to twelve words for every item; no two reasons are the same."""
    chance = random.Random(items)
    return _file([f"말{number}이 옳다. {_reason(chance)} {number}" for number in range(items)])


def answers(items: int) -> bytes:
    """Nine of ten answers right; every reason another than the reference's."""
    chance = random.Random(-items)
    right = [chance.random() < 0.9 for _ in range(items)]
    return _file(
        [f"말{number if right[number] else 'x'}이 옳다. {_reason(chance)} {number}" for number in range(items)]
    )


def _reason(chance: random.Random) -> str:
    return " ".join(chance.choices(WORDS, k=chance.randint(3, 12)))


def _file(texts: list[str]) -> bytes:
    rows = ({"id": f"{number}", "output": {"answer": text}} for number, text in enumerate(texts))
    return b"\n".join(json.dumps(row, ensure_ascii=False, separators=(",", ":")).encode() for row in rows)


def make(slug: str, items: int) -> dict[str, Any]:
    """A contest with its references."""
    from tests.system.make_contest import make as make_contest

    return {"slug": make_contest(slug, [], references(items))["slug"]}


def submit(slug: str, name: str, items: int) -> dict[str, Any]:
    """A new team's file."""
    from malpan.accounts.models import User
    from malpan.competitions.models import Phase
    from malpan.submissions import intake
    from malpan.teams.services import create_team

    phase = Phase.objects.select_related("track__competition").get(track__competition__slug=slug)
    user = User.objects.create(email=f"{slug}-{name}@example.org", name=name)
    team = create_team(competition=phase.track.competition, name=name, leader=user)
    taken = intake.submit(phase=phase, team=team, user=user, file_name="answers.jsonl", upload=answers(items))
    return {"run": taken.runs.get().pk}
