"""The commands of organisers about teams, what they have left, and human evaluation, with their arguments."""

from __future__ import annotations

import argparse
from typing import Any

from malpan_client.campaigning import (
    campaign_systems,
    close_campaign,
    create_campaign,
    create_rubric,
    fetch_votes,
    invite_judges,
    list_campaigns,
    list_judges,
    list_rubrics,
    open_campaign,
    publish_campaign,
    remind_judges,
    remove_campaign,
    show_campaign,
    update_campaign,
)
from malpan_client.parsing import (
    add_command,
    add_flags,
    add_group,
    add_numbered,
    add_options,
    add_settings,
)
from malpan_client.teams_managing import (
    create_managed_team,
    grant_slots,
    list_teams,
    refund_slot,
    reset_quota,
    show_ledger,
    show_quota,
    update_managed_team,
)
from malpan_client.words import say


def add_organisers_commands(commands: Any) -> None:
    _teams(add_group(commands, "teams", about="group_teams"))
    _quota(add_group(commands, "quota"))
    _arena(add_group(commands, "arena"))


def _teams(commands: Any) -> None:
    add_command(commands, "list", list_teams, "place", about="teams_list")
    made = add_command(commands, "create", create_managed_team, "place", about="teams_create")
    made.add_argument("name", help=say("help_arg_team_name"))
    made.add_argument("--email", required=True, metavar="ADDRESS", help=say("help_team_leader"))
    add_flags(made, "baseline")
    made = add_numbered(commands, "update", update_managed_team, about="teams_update")
    add_settings(made, "team", "name")
    add_flags(made, "baseline", "no-baseline", "no-program")
    made.add_argument("--program", action="store_true", help=say("help_team_program"))


def _quota(commands: Any) -> None:
    for name, run in (("show", show_quota), ("ledger", show_ledger)):
        _has_team(add_command(commands, name, run, "place", about=f"quota_{name}"), is_one=True)
    made = add_command(commands, "grant", grant_slots, "place", about="quota_grant")
    made.add_argument("slots", type=int, help=say("help_arg_slots"))
    made.add_argument("--day", default="", metavar="DATE", help=say("help_quota_day"))
    _has_team(made, is_one=False)
    _has_team(add_command(commands, "reset", reset_quota, "place", about="quota_reset"), is_one=False)
    made = add_command(commands, "refund", refund_slot, "place", about="quota_refund")
    made.add_argument("submission", metavar="ID", help=say("help_arg_id"))
    _has_team(made, is_one=True)
    add_options(made, "reason", required=True)


def _has_team(made: argparse.ArgumentParser, *, is_one: bool) -> None:
    """Which team; without ``is_one`` it may be all of them, and there is a reason."""
    made.add_argument("--team", type=int, default=None, metavar="NUMBER", required=is_one, help=say("help_quota_team"))
    if not is_one:
        made.add_argument("--all", action="store_true", help=say("help_quota_all"))
        add_options(made, "reason", required=True)
        add_flags(made, "yes")


def _arena(commands: Any) -> None:
    add_command(commands, "list", list_campaigns, "place", about="arena_list")
    add_numbered(commands, "show", show_campaign, about="arena_show")
    add_command(commands, "rubrics", list_rubrics, "place", about="arena_rubrics")
    add_command(commands, "rubric", create_rubric, "place", "file", about="arena_rubric")
    _campaign_settings_of(add_command(commands, "create", create_campaign, "place", about="arena_create"), is_new=True)
    _campaign_settings_of(add_numbered(commands, "update", update_campaign, about="arena_update"), is_new=False)
    add_flags(add_numbered(commands, "remove", remove_campaign, about="arena_remove"), "yes")
    made = add_numbered(commands, "systems", campaign_systems, about="arena_systems")
    made.add_argument("ids", nargs="*", metavar="ID", help=say("help_arg_ids"))
    add_options(made, "top", type=int, default=None, metavar="COUNT")
    add_flags(made, "with-baselines")
    add_numbered(commands, "judges", list_judges, about="arena_judges")
    made = add_numbered(commands, "invite", invite_judges, about="arena_invite")
    made.add_argument("emails", nargs="+", metavar="ADDRESS", help=say("help_arg_emails"))
    add_options(made, "institution")
    add_numbered(commands, "remind", remind_judges, about="arena_remind")
    add_flags(add_numbered(commands, "open", open_campaign, about="arena_open"), "dry-run", "yes")
    add_flags(add_numbered(commands, "close", close_campaign, about="arena_close"), "accept-open", "yes")
    made = add_numbered(commands, "publish", publish_campaign, about="arena_publish")
    add_options(made, "note-ko", "note-en")
    add_flags(made, "dry-run", "yes")
    made = add_numbered(commands, "votes", fetch_votes, about="arena_votes")
    add_options(made, "to", metavar="FILE", help=say("help_votes_file"))
    add_options(made, "snapshot", type=int, default=None, metavar="NUMBER")
    add_flags(made, "force")


def _campaign_settings_of(made: argparse.ArgumentParser, *, is_new: bool) -> None:
    add_settings(made, "campaign", "title-ko", required=is_new)
    add_settings(made, "campaign", "protocol", choices=["pairwise", "rubric", "ranking", "errors"], required=is_new)
    add_settings(made, "campaign", "rubric", type=int, metavar="ID", required=is_new)
    add_settings(made, "campaign", "title-en", "notice-ko", "notice-en")
    add_settings(made, "campaign", "starts-at", "ends-at", metavar="TIME")
    add_settings(made, "campaign", "part", choices=["public", "private", "all"])
    numbers = ("item-count", "units-per-item", "judges-per-unit", "calibration-count", "min-seconds")
    add_settings(made, "campaign", *numbers, type=int, metavar="NUMBER")
