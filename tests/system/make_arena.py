"""A competition with four teams whose files are stored, and campaigns to judge, in a running site's database: for
``Stack.call``. What is made goes through the services that organisers use.
"""

from __future__ import annotations

from typing import Any

ANCHORS = {"1": "읽기 어려움", "3": "어색한 곳이 있음", "5": "자연스러움"}
SCALE = {"low": 1, "high": 5, "anchors": {score: {"ko": text, "en": ""} for score, text in ANCHORS.items()}}
CRITERIA: list[dict[str, Any]] = [
    {"key": "fluency", "label_ko": "유창성", "label_en": "Fluency", "weight": 1, **SCALE},
    {"key": "accuracy", "label_ko": "정확성", "label_en": "Accuracy", "weight": 2, **SCALE, "anchors": {}},
    {"key": "overall", "label_ko": "종합", "label_en": "Overall", "low": 0, "high": 100, "weight": 1, "anchors": {}},
]
REASONS = [
    {"key": "accuracy", "label_ko": "더 정확함", "label_en": "More accurate"},
    {"key": "fluency", "label_ko": "더 자연스러움", "label_en": "More fluent"},
    {"key": "form", "label_ko": "형식을 더 잘 지킴", "label_en": "Better form"},
]
GUIDELINE = "## 순서\n\n1. 입력을 읽습니다.\n2. 출력을 **끝까지** 읽습니다.\n3. 길이가 아니라 내용을 봅니다."


def prepare(email: str, protocol: str, items: int) -> dict[str, Any]:
    """A draft of a campaign with one judge, ``email``, invited: its number and the path of the invitation."""
    from allauth.account.models import EmailAddress
    from django.urls import reverse

    from malpan.arena.invitations import invite_judge
    from tests.arena.conftest import make_world

    EmailAddress.objects.filter(email=email).update(verified=True)  # as by the link in the mail
    world = make_world()
    rubric = world.rubric(criteria=CRITERIA, reasons=REASONS, guideline_ko=GUIDELINE)
    campaign = world.ready(
        judges=0,
        rubric=rubric,
        protocol=protocol,
        group_size={"pairwise": 2, "ranking": 3}.get(protocol, 1),
        title_ko="결선 사람 평가",
        notice_ko="평가는 **두 주** 동안 합니다. 궁금한 점은 운영자에게 물어 주십시오.",
        item_count=items,
        units_per_item=1,
        calibration_count=1,
        control_percent=20,
        repeat_percent=0,
        shows_reference=True,
        min_seconds=1,
    )
    paths: list[str] = []

    def link_for(token: str) -> str:
        paths.append(reverse("arena_invitation", args=[token]))
        return f"https://malpan.example{paths[0]}"

    invite_judge(campaign=campaign, actor=world.owner, email=email, link_for=link_for)
    return {"campaign": campaign.pk, "path": paths[0]}


def begin(campaign: int) -> int:
    """Open the campaign; how many assignments its judge has, practice left out."""
    from malpan.arena.models import Assignment, Campaign
    from malpan.arena.opening import open_campaign
    from malpan.competitions.models import CompetitionRole

    row = Campaign.objects.select_related("track").get(pk=campaign)
    owner = CompetitionRole.objects.get(competition=row.track.competition_id, role="owner").user
    open_campaign(campaign=row, actor=owner)
    return Assignment.objects.filter(campaign=campaign).exclude(kind="calibration").count()


def lengthen(campaign: int) -> None:
    """Make the texts of every item as long as those of a real contest, with line breaks and a word without spaces."""
    from malpan.arena.models import CampaignItem

    long = "표준어 규정에 따르면 둘 이상의 말이 쓰일 때에는 그 가운데 더 널리 쓰이는 것을 표준어로 삼습니다. " * 6
    for item in CampaignItem.objects.filter(campaign=campaign):
        item.outputs = {
            label: f"{text}\n\n{long}\n- 첫째, 문맥\n- 둘째, 뜻풀이\n{'가나다라마바사' * 12}"
            for label, text in item.outputs.items()
        }
        item.save()


def said(campaign: int) -> list[Any]:
    """The newest value and note of every judged assignment, practice left out, in the order of the queue."""
    from malpan.arena.models import Assignment
    from malpan.arena.queue import newest_judgement

    rows = Assignment.objects.filter(campaign=campaign, state="done").exclude(kind="calibration").order_by("position")
    found = [newest_judgement(row) for row in rows]
    return [[each.value, each.note, each.number, each.seconds] for each in found if each is not None]
