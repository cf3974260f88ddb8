"""``python -m scoring pairwise A.json B.json``: which of two files a judge prefers, item by item, in both orders."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict, dataclass
from typing import Any, Final

from scoring.cli.files import (
    InvalidInput,
    load_predictions,
    load_references,
    read_bytes,
    require_folder_of,
    write_whole,
)
from scoring.cli.models import WrongUsage
from scoring.cli.pairwise_files import FORMAT, AnswerFile, answer_row
from scoring.cli.pairwise_view import Rendered, render_pairwise
from scoring.cli.words import say
from scoring.errors import InvalidFile, Language
from scoring.judging.asking import Tally
from scoring.judging.budget import MemoryLedger
from scoring.judging.judge import Judge
from scoring.judging.pairwise import (
    PROMPT,
    Comparison,
    Duel,
    MemoryAnswers,
    Outcome,
    compare,
    key_of,
    orders_of,
)
from scoring.judging.parsing import Judgement
from scoring.judging.prompt_files import Prompt
from scoring.models.profile import load_profile
from scoring.reading import read_references
from scoring.reading.questions import read_questions
from scoring.recipes import Recipe, get_recipe
from scoring.recipes.judged import JUDGED_FORMS
from scoring.records import Items, Progress, ProgressCallback

TEXTS: Final = "dialogue-summary@1"  # how files are read without a recipe
CAPTIONS: Final = "captioning@1"


@dataclass(frozen=True, slots=True)
class Asked:
    """What is compared and by whom."""

    judge: Judge
    prompt: Prompt
    described: dict[str, Any]
    duels: tuple[Duel, ...]


def compare_pairs(options: argparse.Namespace, language: Language, progress: ProgressCallback) -> str:
    """The comparison of the two files, rendered; stored at ``options.output`` too, if that is given.

    Raises ``WrongUsage``, ``CannotUse``, ``InvalidInput`` and the errors of ``scoring.judging``.
    """
    asked = _asked(options)
    if options.output:
        require_folder_of(options.output)
    ledger, tally = MemoryLedger(), Tally()
    kept = AnswerFile(options.output, asked.described, ledger) if options.output else None
    try:
        found = compare(
            asked.judge,
            asked.duels,
            prompt=asked.prompt,
            answers=kept or MemoryAnswers(),
            ledger=ledger,
            tally=tally,
            progress=lambda done, of: progress(Progress("pairwise", done, of)),
        )
    except BaseException:
        if kept is not None:
            kept.close()
            sys.stderr.write(say("answers_kept", language, path=kept.part) + "\n")
        raise
    result = result_of(options, asked, found, tally, ledger)
    if kept is not None:
        write_whole(options.output, _as_json(result))
        kept.finish()
        sys.stderr.write(say("saved", language, path=options.output) + "\n")
    if options.format == "json":
        return _as_json(result)
    names = {"a": options.a, "b": options.b}
    return render_pairwise(Rendered(found, names, result, asked.judge.spec.is_demo), options.format, language)


def _asked(options: argparse.Namespace) -> Asked:
    spec = load_profile(options.models).judge
    if spec is None:
        raise WrongUsage("judge_missing", profile=options.models)
    judge = Judge(spec)
    prompt = judge.prompt("preference", PROMPT)
    recipe, questions = _questions(options.questions, options.recipe)
    a, b = (load_predictions(path, recipe, questions) for path in (options.a, options.b))
    return Asked(judge, prompt, judge.describe(prompt), tuple(_duels(questions, a, b)))


def _questions(path: str, recipe_id: str | None) -> tuple[Recipe, Items]:
    """The questions, and the recipe that reads the answers; without one the questions tell answers from captions.

    Raises ``WrongUsage``, ``CannotUse`` and ``InvalidInput``.
    """
    recipe = get_recipe(recipe_id or TEXTS)
    if recipe.answer_form not in JUDGED_FORMS:
        raise WrongUsage("judge_no_texts", recipe=recipe.id)
    if recipe.answer_form == "captions":
        return recipe, load_references(path, recipe)
    data = read_bytes(path)
    try:
        return recipe, read_questions(data)
    except InvalidFile as error:
        captions = None if recipe_id else _captions(data)
        if captions is None:
            raise InvalidInput("questions", path, error) from error
        return get_recipe(CAPTIONS), captions


def _captions(data: bytes) -> Items | None:
    """The references of captions in ``data``, if it is such a file."""
    try:
        return read_references(data, get_recipe(CAPTIONS))
    except InvalidFile:
        return None


def _duels(questions: Items, a: Items, b: Items) -> list[Duel]:
    """The two answers to each question; a caption that is missing is blank."""
    texts = [{item.id: item.text for item in answers.items} for answers in (a, b)]
    return [
        Duel(item.id, "\n".join(dict.fromkeys(item.texts)), *(of.get(item.id, "") for of in texts))
        for item in questions.items
    ]


def result_of(
    options: argparse.Namespace, asked: Asked, found: Comparison, tally: Tally, ledger: MemoryLedger
) -> dict[str, Any]:
    """The content of the result: the figures, then every verdict with the judge's reasons."""
    return {
        "format": FORMAT,
        "a": options.a,
        "b": options.b,
        "questions": options.questions,
        "is_demo": asked.judge.spec.is_demo,
        "judge": asked.described,
        "summary": summary_of(found),
        "cut": [duel.item for duel in asked.duels if _is_cut(asked.judge, duel)],
        "asked_now": tally.as_dict(),
        "spent": asdict(ledger.usage()),
        "items": [_item(asked, duel, outcome) for duel, outcome in zip(asked.duels, found.outcomes, strict=True)],
    }


def _is_cut(judge: Judge, duel: Duel) -> bool:
    """Whether only the beginning of one of its texts is sent."""
    return not duel.is_same and any(map(judge.is_cut, (duel.reference, duel.left, duel.right)))


def summary_of(found: Comparison) -> dict[str, Any]:
    """The figures, with A for the left system and B for the right one."""
    share, low, high = found.left_share
    return {
        "items": len(found.outcomes),
        "a_wins": found.count("left"),
        "b_wins": found.count("right"),
        "ties": found.count("tie"),
        "a_share": share,
        "a_share_interval": [low, high],
        "p_value": found.preference_p,
        "flips": list(found.flips),
        "same_texts": [each.item for each in found.outcomes if each.is_same],
        "unparsable": list(found.unparsable),
        "position": {
            "order_effect": found.order_effect,
            "leaning_first": sum(each.lean > 0 for each in found.outcomes),
            "leaning_second": sum(each.lean < 0 for each in found.outcomes),
            "p_value": found.p_value,
            "is_biased": found.is_biased,
        },
    }


def _item(asked: Asked, duel: Duel, outcome: Outcome) -> dict[str, Any]:
    orders = [] if duel.is_same else list(zip(("ab", "ba"), orders_of(duel), _judgements(outcome), strict=True))
    return {
        "id": duel.item,
        "winner": {"left": "a", "right": "b"}.get(outcome.winner, "tie"),
        "is_flip": outcome.is_flip,
        "is_same": outcome.is_same,
        "answers": [
            {"order": order, "key": key_of(asked.judge.body(asked.prompt, texts)), **answer_row(answer)}
            for order, texts, answer in orders
        ],
    }


def _judgements(outcome: Outcome) -> list[Judgement | None]:
    pairs = zip(outcome.choices, outcome.reasons, strict=True)
    return [None if choice is None else Judgement(choice, reason) for choice, reason in pairs]  # type: ignore[arg-type]


def _as_json(result: dict[str, Any]) -> str:
    return json.dumps(result, ensure_ascii=False, allow_nan=False, indent=2) + "\n"
