"""Who may change something by which operation for participants: a line for each, written by hand.

``who`` are the viewers of ``tests.web.write_world``, each with a token for everything; ``at``: what the address names,
if not the first of the world.
"""

from __future__ import annotations

from typing import Any, Final

from malpan.notifications.models import Endpoint, Letter
from tests.factories import leader_of, prediction_bytes
from tests.web.write_rules import (
    LEADER,
    LEADERS,
    NEWCOMER,
    OWN_TEAM,
    PEOPLE,
    TEAMLESS,
    TEAMS,
    WEBHOOK,
    Rule,
    member,
    upload,
)

OTHER_LEADER: Final = frozenset({"other team"})
PLAIN_MEMBER: Final = frozenset({"own member"})  # no leader of others, nor the last of a team that sent files
NOTHING: Final[dict[str, Any]] = {}


def _hook(w: Any) -> dict[str, Any]:
    return {"pk": Endpoint.objects.get(person=leader_of(w.teams["own"])).pk}


def _delivery(w: Any) -> dict[str, Any]:
    letter = Letter.objects.get(endpoint=_hook(w)["pk"])
    return {**_hook(w), "delivery_pk": letter.pk}


def _merge(name: str) -> Any:
    return lambda w: {"pk": w.merges[name].pk}


RULES: Final[dict[str, Rule]] = {
    "acceptTerms": Rule(NEWCOMER, {"version": 1}),
    "askQuestion": Rule(PEOPLE, {"title": "형식", "body": "id는 문자열입니까?"}),
    # files
    "submit": Rule(TEAMS, lambda w: {"file": upload(prediction_bytes())}),
    "checkFile": Rule(TEAMS, lambda w: {"file": upload(b"no JSON")}),  # a rejection is recorded
    "chooseFinals": Rule(OWN_TEAM, lambda w: {"chosen": [str(w.submissions["own.after"].public_id)]}),
    "withdrawSubmission": Rule(OWN_TEAM, NOTHING, lambda w: {"public_id": w.submissions["own.after"].public_id}),
    # the team
    "createTeam": Rule(TEAMLESS, {"name": "새 팀"}),
    "renameTeam": Rule(LEADERS, {"name": "다른 이름"}),
    "describeModel": Rule(LEADERS, {"name": "말글-13B", "url": "https://example.com/model"}),
    "leaveTeam": Rule(PLAIN_MEMBER, NOTHING),
    "removeMember": Rule(LEADER, NOTHING, member),
    "handOverTeam": Rule(LEADER, NOTHING, member),
    "createInvitation": Rule(LEADERS, NOTHING),
    "mailInvitation": Rule(LEADERS, {"email": "guest@example.com"}),
    "revokeInvitation": Rule(LEADER, NOTHING, lambda w: {"pk": w.invitation.pk}),
    "acceptInvitation": Rule(TEAMLESS, lambda w: {"token": w.invitation_token}),
    "askMerge": Rule(OTHER_LEADER, {"target": "third"}),  # the own team has asked already
    "withdrawMerge": Rule(LEADER, NOTHING, _merge("asked")),
    "acceptMerge": Rule(LEADER, NOTHING, _merge("offered")),
    "declineMerge": Rule(LEADER, NOTHING, _merge("offered")),
    # webhooks
    "createWebhook": Rule(PEOPLE, WEBHOOK),
    "updateWebhook": Rule(LEADER, {"is_on": False}, _hook),
    "removeWebhook": Rule(LEADER, NOTHING, _hook),
    "testWebhook": Rule(LEADER, NOTHING, _hook),
    "resendDelivery": Rule(LEADER, NOTHING, _delivery),
}
