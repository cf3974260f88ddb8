"""A competition with teams whose files are stored, campaigns to judge, and judges, in a running site's database: for
``Stack.call``. What is made goes through the services that people use.
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
LONG_NAME = (
    "말뭉치와사전을함께읽으며한국어생성을오래연구하고있는전국대학"
    "원생과직장인과교사의공부모임인봄꽃나들이와함께하는두번째팀"
)
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


def end(campaign: int) -> None:
    """Close the campaign whatever is left."""
    from malpan.arena.closing import close_campaign
    from malpan.arena.models import Campaign
    from malpan.competitions.models import CompetitionRole

    row = Campaign.objects.select_related("track").get(pk=campaign)
    owner = CompetitionRole.objects.get(competition=row.track.competition_id, role="owner").user
    close_campaign(campaign=row, actor=owner, accepts_open=True)


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


# --- the desk ---------------------------------------------------------------------------------------------------------
def organise(email: str) -> dict[str, str]:
    """A competition of five teams, scored by two metrics and one with a long name, that ``email`` runs."""
    from malpan.accounts.models import User
    from malpan.competitions.models import CompetitionRole
    from tests.arena.conftest import make_world
    from tests.arena.test_metrics import score

    world = make_world()
    world.add_team(LONG_NAME, 0.5)
    score(world)
    owner = User.objects.get(email=email)
    CompetitionRole.objects.create(user=owner, competition=world.competition, role="owner")
    return {"slug": world.competition.slug, "track": world.track.slug}


def accept(tokens: list[str]) -> None:
    """New people with the addresses that were invited accept and agree to what judges read."""
    from allauth.account.models import EmailAddress

    from malpan.arena.invitations import accept_invitation, invitation_of
    from malpan.arena.judges import consent_version_of, give_consent
    from tests.factories import UserFactory

    for token in tokens:
        email = invitation_of(token).email
        person = UserFactory.create(email=email, name=f"평가자 {email.partition('@')[0]}")
        EmailAddress.objects.create(user=person, email=email, verified=True, primary=True)
        judge = accept_invitation(token=token, user=person)
        version = consent_version_of(judge.campaign)
        give_consent(judge=judge, actor=person, rubric=judge.campaign.rubric, consent_version=version)


def judge(slug: str, careless: str) -> int:
    """Every queue of the competition's campaign is judged, by ``careless`` at once and always for what stands first;
    returns how many judgements there are.
    """
    import random
    from datetime import timedelta

    from django.utils import timezone

    from malpan.arena.judging import judge_assignment
    from malpan.arena.models import Campaign, Judgement
    from malpan.arena.queue import next_assignment
    from tests.arena.conftest import strength_of, value_of

    campaign, rng = Campaign.objects.get(track__competition__slug=slug), random.Random(1)
    strengths = {row.label: strength_of(campaign, row.label) for row in campaign.systems.all()}
    for each in campaign.judges.select_related("user", "campaign"):
        is_careless, now = each.email == careless, timezone.now() - timedelta(hours=1)
        while (row := next_assignment(judge=each, actor=each.user, now=now)) is not None:
            value = {"choice": "first", "reasons": []} if is_careless else value_of(campaign, row, strengths, rng)
            seconds = 2 if is_careless else rng.randint(15, 45)
            now += timedelta(seconds=seconds)
            judge_assignment(assignment=row, actor=each.user, value=value, seconds=seconds, now=now)
    return Judgement.objects.filter(assignment__campaign=campaign).count()
