"""The commands of ``python -m scoring`` and their options."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from scoring import __version__
from scoring.arguments import Parser
from scoring.cli.words import say
from scoring.errors import Language
from scoring.recipes import RECIPES, RUBRICS, UnknownRecipe, get_recipe

SCRIPT: Final = "malpan-score"


class RecipeIds(Iterable[str]):
    """The recipes that an option may name; those with a judge count, but are not listed."""

    def __contains__(self, name: object) -> bool:
        try:
            return isinstance(name, str) and bool(get_recipe(name))
        except UnknownRecipe:
            return False

    def __iter__(self) -> Iterator[str]:
        return iter(RECIPES)


def _program() -> str:
    """How this was started: by the console script of the package, or as a module."""
    return SCRIPT if Path(sys.argv[0]).stem == SCRIPT else "python -m scoring"


def build_parser(language: Language) -> Parser:
    """The commands and their options, with help in ``language``."""
    parser = Parser(language=language, prog=_program(), description=say("program", language))
    parser.add_argument("--version", action="version", version=f"malpan {__version__}", help=say("version", language))
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND", parser_class=Parser)
    made = {}
    for name in (
        *("score", "check", "report", "compare", "pairwise", "rank"),
        *("judge-agreement", "arena", "arena-meta", "panel", "recipes", "models"),
    ):
        words = say(name, language)
        made[name] = commands.add_parser(name, help=words, description=words, language=language)
        made[name].add_argument("--lang", choices=("ko", "en"), default="ko", help=say("lang", language))
    for name in ("score", "check"):
        _add_files(made[name], language, references_required=name == "score")
    made["score"].add_argument("--models", metavar="PROFILE", help=say("profile_chosen", language))
    made["check"].add_argument("--models", default="official", metavar="PROFILE", help=say("profile_read", language))
    for name in ("score", "rank"):
        made[name].add_argument("--output", metavar="FILE", help=say("output", language))
    for name in ("score", "models"):
        devices = ("auto", "cpu", "cuda")
        made[name].add_argument("--device", choices=devices, default="auto", help=say("device", language))
    made["score"].add_argument("--answers", metavar="FILE", help=say("answers", language))
    made["score"].add_argument("--synonyms", metavar="FILE", help=say("synonyms", language))
    made["score"].add_argument("--media", metavar="PATH", help=say("media", language))
    made["report"].add_argument("result", metavar="FILE", help=say("result", language))
    for name in ("a", "b"):
        made["compare"].add_argument(name, metavar=name.upper(), help=say(f"result_{name}", language))
        words = say(f"again_{name}", language)
        made["compare"].add_argument(f"--again-{name}", action="append", default=[], metavar="FILE", help=words)
    made["compare"].add_argument("more", nargs="*", metavar="C", help=say("more_results", language))
    _add_pairwise(made["pairwise"], language)
    made["rank"].add_argument("results", nargs="+", metavar="FILE", help=say("results", language))
    for name in ("compare", "rank"):
        made[name].add_argument("--weights", metavar="NAME=NUMBER,…", help=say("weights", language))
    formats = ("text", "markdown", "json")
    _add_agreement(made["judge-agreement"], language)
    _add_arena(made["arena"], language)
    _add_meta(made["arena-meta"], language)
    made["panel"].add_argument("votes", metavar="VOTES.jsonl", help=say("panel_votes", language))
    made["panel"].add_argument("-o", "--output", metavar="OUT.json", help=say("output", language))
    for name in ("report", "compare", "pairwise", "rank", "judge-agreement", "arena", "arena-meta", "panel", "models"):
        made[name].add_argument("--format", choices=formats, default="text", help=say("format", language))
    made["report"].add_argument("--baseline", metavar="FILE", help=say("baseline", language))
    made["report"].add_argument("--no-targets", action="store_true", help=say("no_targets", language))
    made["models"].add_argument("action", choices=("list", "fetch", "verify"), help=say("action", language))
    made["models"].add_argument("profile", nargs="?", metavar="PROFILE", help=say("profile", language))
    made["models"].add_argument("--file", metavar="OUT.json", help=say("scored_file", language))
    for name in ("references", "predictions"):
        made["models"].add_argument(f"--{name}", metavar="FILE", help=say(f"scored_{name}", language))
    return parser


def _add_pairwise(command: Parser, language: Language) -> None:
    for name in ("a", "b"):
        command.add_argument(name, metavar=name.upper(), help=say(f"pairwise_file_{name}", language))
    for name, key in (("questions", "questions"), ("models", "pairwise_profile")):
        metavar = "FILE" if name == "questions" else "PROFILE"
        command.add_argument(f"--{name}", required=True, metavar=metavar, help=say(key, language))
    command.add_argument("--recipe", choices=RecipeIds(), metavar="RECIPE", help=say("pairwise_recipe", language))
    command.add_argument("--output", metavar="FILE", help=say("pairwise_output", language))


def _add_agreement(command: Parser, language: Language) -> None:
    command.add_argument("result", metavar="OUT.json", help=say("result", language))
    command.add_argument("human", metavar="HUMAN.json", help=say("human_given", language))
    command.add_argument("--metric", default="llm_judge", metavar="NAME", help=say("judged_metric", language))
    command.add_argument("--source", default="", metavar="TEXT", help=say("human_source", language))
    command.add_argument("--save", metavar="FILE", help=say("output", language))


def _add_arena(command: Parser, language: Language) -> None:
    command.add_argument("votes", metavar="VOTES.json", help=say("arena_votes", language))
    command.add_argument("-o", "--output", metavar="RESULT.json", help=say("output", language))
    command.add_argument("--check", metavar="RESULT.json", help=say("arena_check", language))
    command.add_argument("--scores", metavar="SCORES.json", help=say("arena_scores", language))


def _add_meta(command: Parser, language: Language) -> None:
    command.add_argument("votes", metavar="VOTES.json", help=say("arena_votes", language))
    command.add_argument("results", nargs="*", metavar="LABEL=OUT.json", help=say("meta_results", language))
    command.add_argument("--scores", metavar="SCORES.json", help=say("meta_scores", language))
    command.add_argument("--items", metavar="ITEMS.json", help=say("meta_items", language))
    command.add_argument("-o", "--output", metavar="META.json", help=say("output", language))


def _add_files(command: Parser, language: Language, references_required: bool) -> None:
    known = RecipeIds()
    command.add_argument("--recipe", required=True, choices=known, metavar="RECIPE", help=say("recipe", language))
    command.add_argument("--judge", metavar="NAME,…", help=say("judge", language, known=", ".join(RUBRICS)))
    command.add_argument("--predictions", required=True, metavar="FILE", help=say("predictions_given", language))
    command.add_argument(
        "--references", required=references_required, metavar="FILE", help=say("references_given", language)
    )
