"""Blindness: while a human evaluation runs, nothing that a judge or a participant can reach says whose an output is;
and before and after its publication nothing says who judged.

The names of teams, members, files and models, the ids of submissions and items and the seed are canaries. They are
searched in bodies, headers and addresses of every route of the site, read and written to, for every role without the
manage pages, in the mails and in everything that a judge meets on the way through a whole queue. On the manage pages
nothing says whose a label is before the closing.
"""

from __future__ import annotations

import copy
import io
import itertools
import json
import re
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

import pytest
from django.core import mail
from django.core.cache import cache
from django.test import Client
from django.urls import URLPattern, reverse

from malpan.accounts.models import Scope, User
from malpan.accounts.services import create_api_token
from malpan.archive.exporting import export_competition
from malpan.arena.closing import close_campaign
from malpan.arena.exclusions import make_exclusion
from malpan.arena.invitations import accept_invitation, invite_judge
from malpan.arena.judges import consent_version_of, give_consent, remove_judge
from malpan.arena.models import Assignment, Campaign, CampaignItem, CampaignJudge, Judgement
from malpan.arena.opening import open_campaign
from malpan.arena.reminders import remind_judges
from malpan.arena.systems import choose_systems
from malpan.competitions.models import Competition, CompetitionRole
from malpan.core.storage import store_private
from malpan.notifications import public_http, webhooks
from malpan.notifications.endpoints import create_endpoint
from malpan.notifications.events import all_events
from malpan.notifications.sending import deliver_due
from malpan.submissions.letters import tell_scored
from malpan.submissions.models import ScoringRun, Submission
from malpan.submissions.scoring_changes import publish_reference_version
from scoring.arena.blinding import MASK
from tests.arena.answers import work_off
from tests.arena.conftest import SCORES, World, judge_everything, judge_one, over
from tests.factories import PhaseFactory, TeamFactory, UserFactory, finished_submission
from tests.web.matrix import NAMES, addresses, declines, routes, taken_back
from tests.web.visibility_world import confirmed

pytestmark = pytest.mark.django_db

ITEMS: Final = 12
MODEL: Final = "카나리아모델"  # with the number of the team, as it stands in its answers
ARENA: Final = ("arena/", "competitions/<slug:slug>/campaigns/")  # pages of judges, and the public ones
NOTE: Final = "메모카나리아"
WHERE: Final = "기관카나리아"  # the institution of every judge, with a number
LOOKING: Final = (1, 2)  # the numbers of the teams that look: each meets its own submission and another team's


def answer(number: int, item: int) -> str:
    """What team ``number`` answers: with its own name, its member's and its model's, and words of its own."""
    who = f"팀카나리아{number} 사람카나리아{number} {MODEL}{number}"
    return f"**{item}번에서 저희 {who}**은 맞히다를 골랐습니다. 뜻풀이 {item}으로 보아 산들{number}바람이 옳습니다."


def item_id(item: int) -> str:
    return f"ref-canary-{item * 7919:06d}"


@dataclass
class Blind(World):
    """A world whose every secret is a canary. ``judges``: the people who judge; ``both`` also leads a team; ``asked``
    was invited and has not answered. ``tokens``: of invitations, theirs the last.
    """

    judges: list[User] = field(default_factory=list)
    removed: User | None = None
    both: User | None = None
    asked: User | None = None
    tokens: list[str] = field(default_factory=list)
    looked: Counter[str] = field(default_factory=Counter)  # answers searched, by method

    def plant(self, score: float) -> Submission:
        """A team whose names, file and answers are canaries."""
        number = len(self.teams) + 1
        leader = UserFactory.create(name=f"사람카나리아{number}", email=f"canary-member-{number}@team{number}.canary")
        confirmed(leader)
        team = TeamFactory.create(
            competition=self.competition, name=f"팀카나리아{number}", leader=leader, model_name=f"{MODEL}{number}"
        )
        rows = [{"id": item_id(item), "output": {"answer": answer(number, item)}} for item in range(1, ITEMS + 5)]
        stored = store_private(json.dumps(rows, ensure_ascii=False).encode())
        row = finished_submission(
            self.phase, team, score, file_sha256=stored.sha256, file_size=stored.size, item_count=len(rows),
            file_name=f"canary-file-{number}.json", memo=f"메모지카나리아{number}", submitted_by=leader,
        )  # fmt: skip
        self.teams[team.number], self.submissions[team.number] = team, row
        return row

    def invited(self, campaign: Campaign, person: User | None = None, *, accepts: bool = True) -> User:
        """Another judge, through the services: invited by mail, accepted, told."""
        number = len(self.tokens) + 1
        if person is None:
            person = UserFactory.create(name=f"평가인카나리아{number}", email=f"canary-judge-{number}@example.com")
            confirmed(person)

        def link_for(token: str) -> str:
            self.tokens.append(token)
            return f"https://malpan.example{reverse('arena_invitation', args=[token])}"

        invite_judge(
            campaign=campaign, actor=self.owner, email=person.email, institution=f"{WHERE}{number}", link_for=link_for
        )
        if accepts:
            judge = accept_invitation(token=self.tokens[-1], user=person)
            version = consent_version_of(campaign)
            give_consent(judge=judge, actor=person, rubric=campaign.rubric, consent_version=version)
        return person

    def secrets_of_systems(self, campaign: Campaign) -> dict[str, int]:
        """What must not be reached while the campaign runs, and whose it is: 0 for nobody's."""
        found = {item_id(item): 0 for item in range(1, ITEMS + 5)} | {campaign.seed: 0}
        for number, row in self.submissions.items():
            own = (
                *(f"팀카나리아{number}", f"사람카나리아{number}", f"canary-member-{number}@", f"{MODEL}{number}"),
                *(f"canary-file-{number}.json", f"메모지카나리아{number}", str(row.public_id), row.file_sha256),
                f"산들{number}바람",
            )
            found |= dict.fromkeys(own, number)
        return found

    def secrets_of_judges(self) -> list[str]:
        people = [*self.judges, *([self.asked] if self.asked else [])]
        names = [each for person in people for each in (person.name, person.email)]
        return [*names, WHERE, NOTE]


@pytest.fixture
def world(db: None) -> Blind:
    cache.clear()
    phase = PhaseFactory.create(slug="main")
    rows = [
        {"id": item_id(item), "input": {"question": f"{item}번 문제"}, "output": {"answer": f"답{item}이 옳다."}}
        for item in range(1, ITEMS + 5)
    ]
    publish_reference_version(phase=phase, data=json.dumps(rows, ensure_ascii=False).encode(), actor=None)
    world = Blind(phase, UserFactory.create(name="운영자"))
    CompetitionRole.objects.create(user=world.owner, competition=world.competition, role="owner")
    for score in SCORES:
        world.plant(score)
    return world


def opened(world: Blind) -> Campaign:
    campaign = world.campaign(item_count=ITEMS)
    ids = [row.public_id for row in world.submissions.values()]
    choose_systems(campaign=campaign, actor=world.owner, submissions=ids)
    world.judges = [world.invited(campaign) for _number in range(3)]
    world.both = world.invited(campaign, world.submissions[2].submitted_by)
    campaign = open_campaign(campaign=campaign, actor=world.owner)
    world.removed = world.invited(campaign)  # comes late, judges, and is removed
    world.judges.append(world.removed)
    world.asked = world.invited(campaign, accepts=False)
    late = campaign.judges.get(user=world.removed)
    judge_one(late.assignments.filter(kind="real").order_by("position")[0], {"choice": "tie", "reasons": []})
    remove_judge(judge=late, actor=world.owner, reason="까닭")
    return campaign


def is_managed(route: str) -> bool:
    return "/manage/" in route or route.startswith(("manage/", "admin/", "healthz", "openmetrics"))


def browser(user: User | None) -> Client:
    """A browser that is logged in, with an API token for everything as well."""
    if user is None:
        return Client(raise_request_exception=False)
    token = create_api_token(user=user, label="t", scopes=list(Scope))[1]
    client = Client(headers={"Authorization": f"Bearer {token}"}, raise_request_exception=False)
    client.force_login(user)
    return client


def said(response: Any) -> str:
    """Everything that a response says: where it leads to stands in its headers."""
    body = b"".join(response.streaming_content) if response.streaming else response.content
    return f"{body.decode(errors='replace')}\n{response.headers}"


def places(
    world: Blind, campaign: Campaign, is_wanted: Callable[[str], bool] = lambda route: not is_managed(route)
) -> Iterator[tuple[str, str]]:
    """Every address, with its route: those outside the manage pages, or as ``is_wanted`` says."""
    yield from ((route, address) for route, _pattern, address in _places(world, campaign, is_wanted))


def _places(
    world: Blind, campaign: Campaign, is_wanted: Callable[[str], bool] = lambda route: not is_managed(route)
) -> Iterator[tuple[str, URLPattern, str]]:
    campaigns = [campaign.pk]
    values: dict[str, list[Any]] = {
        "slug": [world.competition.slug],
        "track": [world.track.slug],
        "track_slug": [world.track.slug],
        "public_id": [world.submissions[number].public_id for number in LOOKING],
        "pk": campaigns,
        "number": [1],
        "snapshot": [1],
        "token": [world.tokens[0], world.tokens[-1]],
        "key": list(Assignment.objects.filter(campaign=campaign).values_list("shown_key", flat=True)[:3]),
        "name": ["exact_match"],
        "judge_pk": list(campaign.judges.values_list("pk", flat=True)[:1]),
        "judgement_pk": list(Judgement.objects.filter(assignment__campaign=campaign).values_list("pk", flat=True)[:1]),
        "exclusion_pk": list(campaign.exclusions.values_list("pk", flat=True)[:1]),
    }
    for route, pattern in routes():
        if not is_wanted(route):
            continue
        names = NAMES.findall(route) if "^" not in route else []
        for chosen in itertools.product(*(values.get(name, [1]) for name in names)):
            given = dict(zip(names, chosen, strict=True))
            yield from ((route, pattern, address) for address in addresses(route, None, given))  # type: ignore[arg-type]


def found_by(client: Client, world: Blind, campaign: Campaign, secrets: list[str]) -> Iterator[tuple[str, str, str]]:
    """Every secret in an answer, with route and address. What stands in the address that was asked for is known.

    A method that a view declines before it looks at anything is not asked for: it declines to all alike.
    """
    for route, pattern, address in _places(world, campaign):
        methods = ("get", "post", "put", "patch", "delete") if route.startswith("api/") else ("get", "post")
        for method in methods:
            if declines(pattern.callback, method.upper()):
                continue
            cookies = copy.deepcopy(client.cookies)
            with taken_back():
                text = said(getattr(client, method)(address))
            client.cookies = cookies  # it may have logged out
            world.looked[method] += 1
            yield from ((route, address, each) for each in secrets if each in text and each not in address)


def viewers(world: Blind) -> dict[str, tuple[User | None, int]]:
    """Who looks, and the number of their team. ``other organiser``: of another competition."""
    found: dict[str, tuple[User | None, int]] = {"anonymous": (None, 0), "other organiser": (UserFactory.create(), 0)}
    competition = PhaseFactory.create().track.competition
    CompetitionRole.objects.create(user=found["other organiser"][0], competition=competition, role="owner")
    found |= {"judge": (world.judges[0], 0), "removed judge": (world.removed, 0)}
    found |= {"team 1": (world.submissions[1].submitted_by, 1), "judge of team 2": (world.both, 2)}
    return found | {"invited": (world.asked, 0)}


def work_through(world: Blind, campaign: Campaign) -> list[str]:
    """Everything that a judge is told from the first question to the last, practice, notes and corrections included."""
    client, heard = browser(world.judges[0]), []

    def ask(method: str, address: str, **data: str) -> Any:
        response = client.get(address) if method == "get" else client.post(address, data)
        assert response.status_code < 400, (address, response.status_code)
        heard.append(f"{address}\n{said(response)}")
        return response

    queue = reverse("arena_queue", args=[campaign.pk])
    own = Assignment.objects.filter(judge__user=world.judges[0], campaign=campaign)
    for _number in range(own.filter(state="open").count()):
        place = ask("post", queue)["Location"]
        ask("get", place)
        ask("post", f"{place.split('?')[0]}draft/", choice="tie", note=NOTE)
        ask("post", place, choice="first", note=NOTE, expected="0")
    ask("get", reverse("arena_done", args=[campaign.pk]))
    assert not own.filter(state="open").exists()
    return heard


def test_a_judge_is_told_nothing_of_whose_an_output_is_from_the_first_question_to_the_last(world: Blind) -> None:
    campaign = opened(world)
    deliver_due()
    told = [each.to for each in mail.outbox if "평가가 시작했습니다" in each.subject]
    assert sorted(told) == sorted([person.email] for person in (*world.judges, world.both) if person != world.removed)
    heard = "\n".join([*work_through(world, campaign), *(f"{each.subject}\n{each.body}" for each in mail.outbox)])
    outputs = {f"산들{number}바람" for number in world.teams}
    secrets = set(world.secrets_of_systems(campaign)) - outputs
    assert sorted(each for each in secrets if each in heard) == []
    assert MASK in heard, "the names were there to be hidden"
    assert len([each for each in outputs if each in heard]) > 1, "the outputs were shown"
    systems = {row.label for row in campaign.systems.all()}
    assert sorted(label for label in systems if f'"{label}"' in heard or f">{label}<" in heard) == []
    assert [str(person.pk) for person in world.judges[1:] if person.name in heard or person.email in heard] == []


def test_nobody_reaches_more_while_it_runs(world: Blind) -> None:
    """In a published competition a team's name is public, and its members are known to themselves: not on the pages of
    the evaluation. What others answered, sent and are called is nobody's to know anywhere.
    """
    campaign = opened(world)
    owners = world.secrets_of_systems(campaign)
    leaks = []
    for viewer, (user, own) in viewers(world).items():
        for route, address, secret in found_by(browser(user), world, campaign, list(owners)):
            is_own = owners[secret] == own != 0
            if route.startswith(ARENA):  # in the head of a page stands who is logged in
                may = is_own and secret.startswith("사람")
                may |= secret.startswith("산들") and "judge" in viewer
                may |= is_own and secret.startswith("canary-member") and "/invitation/" in address  # the own account
            else:
                is_id = secret in {str(row.public_id) for row in world.submissions.values()}
                if own != 0 and secret.startswith("ref-canary-"):  # they wrote it: the file names the items answered
                    mine = f"/submissions/{world.submissions[own].public_id}/"
                    is_own |= address.split("?")[0].endswith((f"{mine}file/", f"{mine}items/"))
                is_on_board = secret.startswith(("팀카나리아", MODEL)) or (is_id and "/board/" in route)
                may = is_own or is_on_board  # public on a live board
            if not may:
                leaks.append(f"{viewer}: {address} {secret}")
    assert leaks == []
    least = {"get": 800, "post": 500, "put": 10, "patch": 20, "delete": 30}  # of all viewers together
    assert {method: world.looked[method] for method, count in least.items() if world.looked[method] < count} == {}


def test_no_mail_and_no_webhook_says_whose_an_output_is_while_it_runs(world: Blind, monkeypatch: Any) -> None:
    campaign = opened(world)
    owners, people = world.secrets_of_systems(campaign), [*world.judges, world.both, world.asked]
    people += [row.submitted_by for row in world.submissions.values()]
    for person in people:
        names = [event.name for event in all_events(person)]
        create_endpoint(person=person, url=f"https://hooks.example.com/{person.pk}/", events=names)
    sent = []
    monkeypatch.setattr(public_http, "post", lambda url, body, _headers: sent.append((url, body.decode())) or 200)
    remind_judges(campaign=campaign, actor=world.owner)
    for row in world.submissions.values():
        tell_scored(row.live_run)
    deliver_due()
    webhooks.deliver_due()
    own = {row.submitted_by.email: number for number, row in world.submissions.items()}
    texts = [(own.get(each.to[0], 0), f"{each.to}\n{each.subject}\n{each.body}") for each in mail.outbox]
    by_hook = {f"https://hooks.example.com/{person.pk}/": own.get(person.email, 0) for person in people}
    texts += [(by_hook[url], body) for url, body in sent]
    assert [text for whose, text in texts for secret in owners if secret in text and owners[secret] != whose] == []
    assert len(sent) >= 4 + 4
    assert len(mail.outbox) > 4 + 4


def test_a_judge_of_an_unpublished_competition_learns_nothing_of_it(world: Blind) -> None:
    campaign = opened(world)
    Competition.objects.filter(pk=world.competition.pk).update(is_published=False)
    secrets = [each for each in world.secrets_of_systems(campaign) if not each.startswith("산들")]
    assert list(found_by(browser(world.judges[0]), world, campaign, secrets)) == []


OWN_DATA = ("account/export/", "기관카나리아")  # the judge's own institution, as the organiser wrote it
DOCUMENTS: Final = ("campaign_votes", "campaign_result", "campaign_csv", "campaign_metrics")


def published(world: Blind, campaign: Campaign) -> None:
    """The final board and the result are public, the metrics are held against it, somebody is left out."""
    for number, row in world.submissions.items():
        signature = {"metrics": {"exact_match": {"metric": "exact_match"}}}
        scores = {"final_score": 1 - number / 10, "exact_match": 1 - number / 10}
        ScoringRun.objects.filter(submission=row).update(signature=signature, scores=scores)
    over(world)
    left_out = campaign.judges.get(user=world.judges[2])
    make_exclusion(campaign=campaign, actor=world.owner, judge=left_out, reason="읽지 않았습니다.")
    world.publish(campaign)
    work_off()


def test_no_page_says_who_judged_before_or_after_the_publication(world: Blind) -> None:
    campaign = opened(world)
    work_through(world, campaign)
    secrets = world.secrets_of_judges()
    people = {"judge": world.judges[0], "removed judge": world.removed}
    people |= {"judge of team 2": world.both, "invited": world.asked}
    for state in ("open", "closed", "published"):
        if state == "closed":
            judge_everything(campaign)
            close_campaign(campaign=campaign, actor=world.owner)
            campaign.refresh_from_db()
        if state == "published":
            published(world, campaign)
        for viewer, (user, _team) in viewers(world).items():
            found = list(found_by(browser(user), world, campaign, secrets))
            if (judge := people.get(viewer)) is not None:
                own = [judge.name, judge.email, NOTE]
                found = [each for each in found if each[2] not in own and each[:1] + each[2:] != OWN_DATA]
            assert (state, viewer, found) == (state, viewer, [])
    place = [world.competition.slug, world.track.slug, campaign.number]
    pages = [reverse("campaign", args=place), reverse("metric", args=["exact_match"])]
    pages += [reverse(name, args=[*place, 1]) for name in DOCUMENTS]
    for page in pages:  # they were looked at, and are no refusals
        assert Client().get(page).status_code == 200, page
    card = Client().get(pages[1]).content.decode()
    assert pages[0] in card, "the card of a metric tells of the campaign"
    document = json.loads(Client().get(reverse("campaign_votes", args=[*place, 1])).content)
    assert {vote["judge"] for vote in document["votes"]} <= {row["label"] for row in document["judges"]}
    assert all(set(row) == {"label", "institution_group"} for row in document["judges"])
    mails = [f"{each.subject}\n{each.body}" for each in mail.outbox]
    assert [secret for secret in secrets if any(secret in text for text in mails)] == []


def test_the_manage_pages_say_nothing_of_whose_a_label_is_before_the_closing(world: Blind) -> None:
    """Organisers know the teams and the judges; which output won, and which label is whose, they learn at the end."""
    campaign = opened(world)
    judge_everything(campaign)
    outputs = [f"산들{number}바람" for number in world.teams]
    labels = list(campaign.systems.values_list("label", flat=True))
    viewer = UserFactory.create()
    CompetitionRole.objects.create(user=viewer, competition=world.competition, role="viewer")
    desks = [(browser(world.owner), "ko"), (browser(world.owner), "en"), (browser(viewer), "ko")]
    computed, looked = 0, Counter()
    for _route, address in places(world, campaign, lambda route: "/manage/arena/" in route):
        for client, language in desks:
            page = client.get(address, headers={"accept-language": language})
            if waited := work_off():
                computed += waited
                page = client.get(address, headers={"accept-language": language})
            text = said(page)
            looked[address.startswith("/api/")] += page.status_code == 200
            looked["viewer"] += client is desks[-1][0] and page.status_code == 200
            found = [each for each in outputs if each in text]
            found += [each for each in labels if re.search(rf"\b{each}\b", text)]
            assert (address, found) == (address, [])
    assert computed >= 2, "figures and the effect of an exclusion were there"
    assert looked[False] > 20
    assert looked[True] > 20, "the operations of the API as well"
    assert looked["viewer"] > 15


def test_no_operation_says_who_judges(world: Blind) -> None:
    """The pages tell organisers; what programs get leaves the site."""
    campaign = opened(world)
    work_through(world, campaign)
    secrets = world.secrets_of_judges()
    client, is_desk = browser(world.owner), lambda route: route.startswith("api/") and "/manage/" in route
    looked = 0
    for state in ("open", "published"):
        if state == "published":
            judge_everything(campaign)
            close_campaign(campaign=campaign, actor=world.owner)
            campaign.refresh_from_db()
            published(world, campaign)
        for _route, address in places(world, campaign, is_desk):
            page = client.get(address)
            if work_off():
                page = client.get(address)
            text = said(page)
            looked += page.status_code == 200 and "/arena/" in address
            assert (state, address, [each for each in secrets if each in text]) == (state, address, [])
    assert looked > 25
    judges = client.get(reverse("listJudges", args=[world.competition.slug, campaign.pk])).json()
    assert {row["id"] for row in judges["items"]} == set(campaign.judges.values_list("pk", flat=True))


def test_no_export_of_the_audit_log_and_no_archive_says_who_judged(world: Blind) -> None:
    """What organisers did with judges stays theirs; what judges did is nobody's, in a CSV file and in an archive."""
    campaign = opened(world)
    work_through(world, campaign)
    leaving = campaign.judges.order_by("pk")[0]
    remove_judge(judge=leaving, actor=world.owner, reason="까닭")
    exported = browser(world.owner).get(reverse("manage_audit_csv", args=[world.competition.slug]))
    log = b"".join(exported.streaming_content).decode() if exported.streaming else exported.content.decode()
    file = io.BytesIO()
    export_competition(competition=world.competition, actor=world.owner, target=file)
    with zipfile.ZipFile(file) as archive:
        written = "".join(archive.read(name).decode(errors="replace") for name in archive.namelist())
        entries = [json.loads(line) for line in archive.read("tables/audit_log.jsonl").splitlines()]
        people = [json.loads(line) for line in archive.read("people.jsonl").splitlines()]
    for secret in world.secrets_of_judges():
        assert secret not in log, secret
        assert secret not in written, secret
    assert "judgement.create" in log
    assert "campaign_judge.accept" in log
    by_action = {entry["action"]: entry for entry in entries}
    owner = next(row["id"] for row in people if row["email"] == world.owner.email)
    assert (by_action["campaign_judge.remove"]["actor"], by_action["campaign_judge.remove"]["person"]) == (owner, None)
    assert {entry["actor"] for entry in entries if entry["action"] == "judgement.create"} == {None}
    assert by_action["campaign_judge.accept"]["actor"] is None


def test_labels_and_addresses_say_nothing_of_rank_row_or_order(world: Blind) -> None:
    """Labels of systems and judges are drawn, and the address of an assignment is random, not counted."""
    campaign = opened(world)
    keys = list(Assignment.objects.filter(campaign=campaign).values_list("shown_key", flat=True))
    assert {key.version for key in keys} == {4}
    assert len(set(keys)) == len(keys)
    orders = set()
    for number in range(2, 8):
        other = world.campaign(item_count=ITEMS, title_ko=f"평가 {number}")
        ids = [row.public_id for row in world.submissions.values()]
        choose_systems(campaign=other, actor=world.owner, submissions=ids)
        world.judge(other)
        open_campaign(campaign=other, actor=world.owner)
        orders.add(tuple(other.systems.order_by("label").values_list("submission__team__number", flat=True)))
    assert len(orders) > 2
    assert CampaignItem.objects.filter(campaign=campaign, label__contains="canary").count() == 0
    assert CampaignJudge.objects.filter(campaign=campaign).exclude(label="").count() == 0, "drawn at the closing"
