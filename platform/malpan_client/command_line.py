"""The command line: every command with its arguments."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

from malpan_client import VERSION
from malpan_client.awarding import (
    create_award,
    list_awards,
    move_award,
    propose_awards,
    publish_awards,
    remove_award,
    update_award,
    withdraw_awards,
)
from malpan_client.downloading import download, download_submission
from malpan_client.judging import (
    confirm_scores,
    create_stage,
    enter_scores,
    list_stage_teams,
    list_stages,
    publish_stage,
    publish_standing,
    reject_scores,
    remove_stage,
    show_scores,
    show_stage,
    update_stage,
)
from malpan_client.organisers_commands import add_organisers_commands
from malpan_client.organising import (
    close,
    create,
    diff_references,
    discard_references,
    export,
    get_settings,
    list_references,
    publish_board,
    publish_contest,
    publish_references,
    update_settings,
    upload_references,
)
from malpan_client.parsing import (
    Parser,
    add_command,
    add_common,
    add_flags,
    add_group,
    add_numbered,
    add_options,
    add_settings,
    add_waiting,
    name_list,
    number_list,
    number_or_none,
)
from malpan_client.rescoring import (
    apply_rescoring,
    cancel_rescoring,
    list_rescorings,
    order_rescoring,
    preview_rescoring,
    show_rescoring,
    start_rescoring,
    withdraw_rescoring,
)
from malpan_client.reviewing import compare, items
from malpan_client.sending import check, submit
from malpan_client.showing import Result
from malpan_client.taking_part import (
    board,
    competitions,
    files,
    final,
    limits,
    login,
    logout,
    submission,
    submissions,
    team,
    terms,
    whoami,
    withdraw,
)
from malpan_client.webhooks import (
    create_webhook,
    list_deliveries,
    list_webhooks,
    remove_webhook,
    resend_delivery,
    try_webhook,
    update_webhook,
)
from malpan_client.words import say


def parser() -> argparse.ArgumentParser:
    """Every command, in the language that is spoken."""
    made = Parser(prog="malpan", description=say("help_program"), epilog=say("help_end"))
    made.add_argument("--version", action="version", version=f"malpan {VERSION}", help=say("help_version_option"))
    add_common(made, is_main=True)
    commands = made.add_subparsers(dest="command", required=True, metavar="COMMAND", title=say("help_commands"))
    _taking_part(commands)
    _webhooks(add_group(commands, "webhooks"))
    _organising(commands)
    return made


def _taking_part(commands: Any) -> None:
    for name, run in (("login", login), ("logout", logout)):
        add_command(commands, name, run).add_argument("address", nargs="?", default="", help=say("help_site"))
    add_command(commands, "whoami", whoami)
    made = add_command(commands, "competitions", competitions)
    made.add_argument("place", nargs="?", default="", help=say("help_arg_place"))
    add_command(commands, "files", files, "place")
    made = add_command(commands, "download", download, "place")
    made.add_argument("names", nargs="*", metavar="FILE", help=say("help_arg_names"))
    add_options(made, "to", default=".", metavar="FOLDER")
    add_flags(made, "force")
    made = add_command(commands, "terms", terms, "place")
    add_options(made, "accept", type=int, default=None, metavar="VERSION")
    made = add_command(commands, "team", team, "place")
    add_options(made, "create", metavar="NAME", help=say("help_create_team"))
    made = add_command(commands, "check", check)
    made.add_argument("place", nargs="?", default="", help=say("help_arg_place"))
    made.add_argument("file", help=say("help_arg_file"))
    add_flags(made, "local")
    add_options(made, "recipe", metavar="RECIPE")
    add_options(made, "references", metavar="FILE", help=say("help_own_references"))
    made = add_command(commands, "submit", submit, "place", "file")
    add_options(made, "memo")
    add_flags(made, "dry-run", "again")
    add_waiting(made)
    add_command(commands, "submissions", submissions, "place")
    add_command(commands, "submission", submission, "id")
    made = add_command(commands, "items", items, "id")
    add_options(made, "by", metavar="METRIC")
    made.add_argument("--all", action="store_true", help=say("help_all_rows"))
    made = add_command(commands, "compare", compare, "id", "other")
    add_flags(made, "private", "answers")
    made.add_argument("--all", action="store_true", help=say("help_all_rows"))
    add_waiting(made)
    made = add_command(commands, "fetch", download_submission, "id")
    add_options(made, "to", default=".", metavar="FOLDER")
    add_flags(made, "force")
    add_command(commands, "limits", limits, "place")
    made = add_command(commands, "board", board, "place")
    made.add_argument("--all", action="store_true", help=say("help_all_rows"))
    made = add_command(commands, "final", final, "place")
    made.add_argument("ids", nargs="*", metavar="ID", help=say("help_arg_ids"))
    add_flags(made, "none")
    add_flags(add_command(commands, "withdraw", withdraw, "id"), "yes")


def _webhooks(commands: Any) -> None:
    def one(name: str, run: Callable[..., Result], *places: str) -> argparse.ArgumentParser:
        made = add_command(commands, name, run, *places, about=f"webhooks_{name}")
        add_options(made, "contest", metavar="CONTEST")
        return made

    def of_one(name: str, run: Callable[..., Result]) -> argparse.ArgumentParser:
        made = one(name, run)
        made.add_argument("webhook", type=int, metavar="ID", help=say("help_arg_webhook"))
        return made

    one("list", list_webhooks)
    add_options(one("create", create_webhook, "url"), "events", type=name_list, required=True, metavar="NAMES")
    made = of_one("update", update_webhook)
    add_options(made, "url", metavar="URL")
    add_options(made, "events", type=name_list, metavar="NAMES")
    add_flags(made, "on", "off")
    add_flags(of_one("remove", remove_webhook), "yes")
    of_one("test", try_webhook)
    of_one("log", list_deliveries)
    made = of_one("resend", resend_delivery)
    made.add_argument("delivery", type=int, metavar="DELIVERY", help=say("help_arg_delivery"))


def _organising(commands: Any) -> None:
    add_flags(add_command(commands, "create", create, "file"), "dry-run")
    settings = add_group(commands, "settings")
    add_command(settings, "get", get_settings, "place", about="settings_get")
    add_flags(add_command(settings, "update", update_settings, "file", about="settings_update"), "dry-run")
    references = add_group(commands, "references")
    add_command(references, "list", list_references, "place", about="references_list")
    made = add_command(references, "upload", upload_references, "place", "file", about="references_upload")
    add_options(made, "frames", "synonyms", "note", "erratum-ko", "erratum-en")
    made.add_argument("--built-in-synonyms", action="store_true", help=say("help_built_in_synonyms"))
    made.add_argument("--publish", action="store_true", help=say("help_at_once"))
    for name, run in (("publish", publish_references), ("diff", diff_references), ("discard", discard_references)):
        add_numbered(references, name, run, about=f"references_{name}")
    _rescoring(add_group(commands, "rescore"))
    _stages(add_group(commands, "stages"))
    _awards(add_group(commands, "awards"))
    add_organisers_commands(commands)
    _publishing(add_group(commands, "publish"))
    add_flags(add_command(commands, "close", close, "place"), "yes")
    made = add_command(commands, "export", export, "place")
    add_options(made, "to", metavar="FILE", help=say("help_to_file"))
    add_flags(made, "encrypt", "force")


def _rescoring(commands: Any) -> None:
    add_command(commands, "list", list_rescorings, "place", about="rescore_list")
    made = add_command(commands, "start", start_rescoring, "place", about="rescore_start")
    add_options(made, "reason", required=True)
    add_options(made, "also", type=name_list, default=[], metavar="PHASES")
    add_options(made, "references", metavar="ID", help=say("help_version"))
    add_options(made, "recipe", "profile")
    add_options(made, "since", "until", metavar="TIME")
    add_options(made, "state", choices=["finished", "waiting"])
    add_options(made, "teams", type=number_list, default=[], metavar="NUMBERS")
    add_flags(made, "from-scratch")
    add_waiting(made)
    add_waiting(add_numbered(commands, "show", show_rescoring, about="rescore_show"))
    for name, run in (("preview", preview_rescoring), ("cancel", cancel_rescoring)):
        add_numbered(commands, name, run, about=f"rescore_{name}")
    made = add_numbered(commands, "apply", apply_rescoring, about="rescore_apply")
    add_options(made, "seen")
    _has_choices(made)
    made = add_numbered(commands, "order", order_rescoring, about="rescore_order")
    add_options(made, "guard", type=int, default=3, metavar="PLACES")
    _has_choices(made)
    add_numbered(commands, "withdraw", withdraw_rescoring, about="rescore_withdraw")


def _has_choices(made: argparse.ArgumentParser) -> None:
    """What happens when a rescoring is applied."""
    add_options(made, "title-ko", "body-ko", "title-en", "body-en")
    add_options(made, "grant", type=int, default=0, metavar="SLOTS")
    add_flags(made, "reset-quota", "leave-other-phases", "yes")


def _stages(commands: Any) -> None:
    add_command(commands, "list", list_stages, "place", about="stages_list")
    add_numbered(commands, "show", show_stage, about="stages_show")
    made = add_command(commands, "create", create_stage, "place", about="stages_create")
    _stage_settings_of(made, is_new=True)
    _stage_settings_of(add_numbered(commands, "update", update_stage, about="stages_update"), is_new=False)
    add_flags(add_numbered(commands, "remove", remove_stage, about="stages_remove"), "yes")
    add_numbered(commands, "teams", list_stage_teams, about="stages_teams")
    add_numbered(commands, "scores", show_scores, about="stages_scores")
    made = add_numbered(commands, "enter", enter_scores, about="stages_enter")
    made.add_argument("file", help=say("help_arg_scores"))
    add_options(made, "reason", help=say("help_scores_reason"))
    add_flags(made, "dry-run")
    made = add_numbered(commands, "confirm", confirm_scores, about="stages_confirm")
    add_options(made, "seen", metavar="SHA256", help=say("help_seen_scores"))
    add_flags(made, "yes")
    made = add_numbered(commands, "reject", reject_scores, about="stages_reject")
    add_options(made, "seen", metavar="SHA256", help=say("help_seen_scores"))
    add_options(made, "reason", required=True)


def _stage_settings_of(made: argparse.ArgumentParser, *, is_new: bool) -> None:
    add_settings(made, "stage", "title-ko", required=is_new)
    add_settings(made, "stage", "weight", type=int, metavar="NUMBER", required=is_new)
    add_settings(made, "stage", "title-en", "notice-ko", "notice-en")
    add_settings(made, "stage", "phase", metavar="PHASE")
    add_settings(made, "stage", "cut", type=number_or_none, metavar="TEAMS")
    add_settings(made, "stage", "campaign", type=number_or_none, metavar="ID")
    add_settings(made, "stage", "scale-min", "scale-max", type=float, metavar="NUMBER")
    add_settings(made, "stage", "normalisation", choices=["value", "rank"])
    add_settings(made, "stage", "tie-rule", choices=["shared", "earlier"])
    add_flags(made, "announce", "conceal")


def _awards(commands: Any) -> None:
    add_command(commands, "list", list_awards, "place", about="awards_list")
    made = add_command(commands, "propose", propose_awards, "place", about="awards_propose")
    add_options(made, "places", type=int, default=3, metavar="NUMBER")
    made = add_command(commands, "create", create_award, "place", about="awards_create")
    _award_settings_of(made, is_new=True)
    _award_settings_of(add_numbered(commands, "update", update_award, about="awards_update"), is_new=False)
    made = add_numbered(commands, "move", move_award, about="awards_move")
    made.add_argument("position", type=int, help=say("help_arg_position"))
    add_flags(add_numbered(commands, "remove", remove_award, about="awards_remove"), "yes")
    add_flags(add_command(commands, "publish", publish_awards, "place", about="awards_publish"), "dry-run", "yes")
    add_flags(add_command(commands, "withdraw", withdraw_awards, "place", about="awards_withdraw"), "yes")


def _award_settings_of(made: argparse.ArgumentParser, *, is_new: bool) -> None:
    add_settings(made, "award", "team", type=int, metavar="NUMBER", required=is_new)
    add_settings(made, "award", "title-ko", required=is_new)
    add_settings(made, "award", "awarded-on", metavar="DATE", required=is_new)
    add_settings(made, "award", "title-en", "prize-ko", "prize-en")
    add_settings(made, "award", "track", metavar="TRACK")


def _publishing(commands: Any) -> None:
    add_flags(add_command(commands, "contest", publish_contest, "place", about="publish_contest"), "accept-gaps")
    for made in (
        add_command(commands, "board", publish_board, "place", about="publish_board"),
        add_numbered(commands, "stage", publish_stage, about="publish_stage"),
        add_command(commands, "standing", publish_standing, "place", about="publish_standing"),
    ):
        add_options(made, "note-ko", "note-en")
        add_flags(made, "dry-run", "yes")
