"""Webhooks: where programs hear of events, and what was sent there."""

from __future__ import annotations

import sys
from argparse import Namespace
from typing import Any

from malpan_client.failing import WRONG_USAGE, Failure
from malpan_client.places import Place, place_of
from malpan_client.showing import Result, moment, pairs, state, table
from malpan_client.site import Site, each_of
from malpan_client.taking_part import confirm
from malpan_client.words import say


def _webhooks_path(options: Namespace, rest: str = "") -> str:
    """Of the caller's own webhooks or, with ``--contest``, of those of a contest."""
    path = f"webhooks/{rest}"
    return Place(place_of(options.contest).competition).manage(path) if options.contest else path


def list_webhooks(site: Site, options: Namespace) -> Result:
    found = site.pages(_webhooks_path(options), "items")
    rows = [
        (each["id"], each["url"], ", ".join(each_of(each["events"])), _state_of(each))
        for each in each_of(found["items"])
    ]
    text = table(["id", say("url"), say("events"), say("state")], rows, right=[0])
    return Result(found, text if rows else say("no_webhooks"))


def create_webhook(site: Site, options: Namespace) -> Result:
    made = site.change("POST", _webhooks_path(options), {"url": _url(options.url), "events": options.events})
    lines = [say("webhook_made", id=made["id"]), _webhook_text(made), say("webhook_secret", secret=made["secret"])]
    return Result(made, "\n".join(lines))


def update_webhook(site: Site, options: Namespace) -> Result:
    changes: dict[str, Any] = {}
    if options.url:
        changes["url"] = _url(options.url)
    if options.events:
        changes["events"] = options.events
    if options.on or options.off:
        changes["is_on"] = bool(options.on)
    if not changes:
        raise Failure(WRONG_USAGE, say("what_to_change"))
    found = site.change("PATCH", _webhooks_path(options, f"{options.webhook}/"), changes)
    return Result(found, _webhook_text(found))


def remove_webhook(site: Site, options: Namespace) -> Result:
    confirm(options, say("confirm_webhook_removal", id=options.webhook))
    site.change("DELETE", _webhooks_path(options, f"{options.webhook}/"))
    return Result({"removed": options.webhook}, say("webhook_removed", id=options.webhook))


def try_webhook(site: Site, options: Namespace) -> Result:
    return _soon(site.change("POST", _webhooks_path(options, f"{options.webhook}/test/")))


def resend_delivery(site: Site, options: Namespace) -> Result:
    return _soon(
        site.change("POST", _webhooks_path(options, f"{options.webhook}/deliveries/{options.delivery}/resend/"))
    )


def list_deliveries(site: Site, options: Namespace) -> Result:
    found = site.get(_webhooks_path(options, f"{options.webhook}/deliveries/"), page_size="100")
    rows = [
        (e["id"], e["webhook_id"], e["event"], moment(e["created_at"]), state(e["state"]), e["attempts"],
         moment(e["sent_at"] or e["next_attempt_at"]), e.get("reason") or e["error"] or None)
        for e in each_of(found["items"])
    ]  # fmt: skip
    heads = ["id", "webhook-id", say("event"), say("when"), say("state"), say("attempts"), say("attempt_at")]
    text = table([*heads, say("error")], rows, right=[0, 5])
    return Result(found, text if rows else say("no_deliveries"))


def _soon(delivery: Any) -> Result:
    return Result(delivery, say("webhook_sent", webhook_id=delivery["webhook_id"]))


def _webhook_text(found: Any) -> str:
    return pairs(
        {
            "id": str(found["id"]),
            say("url"): found["url"],
            say("events"): ", ".join(each_of(found["events"])),
            say("state"): _state_of(found),
        }
    )


def _state_of(found: Any) -> str:
    if not found["is_on"]:
        return state("off")
    return f"{state('failing')} {moment(found['failing_since'])}" if found["failing_since"] else state("on")


def _url(given: str) -> str:
    """An address may be a secret: then it is read, as other people of the machine see the command line."""
    return sys.stdin.readline().strip() if given == "-" else str(given)
