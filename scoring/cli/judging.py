"""The judge of ``score`` and ``check``: which recipe ``--judge`` makes, what is asked, where the answers are kept."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from scoring.cli.files import require_folder_of
from scoring.cli.judgement_file import SUFFIX, JudgementFile
from scoring.cli.models import WrongUsage
from scoring.cli.words import say
from scoring.errors import Language
from scoring.judging.budget import MemoryLedger
from scoring.judging.fencing import cleaned
from scoring.judging.spec import JudgeSpec
from scoring.metrics import METRICS
from scoring.models.profile import load_profile, profile_names
from scoring.recipes import RUBRICS, MismatchedFiles, Pairs, Recipe, get_recipe, judged_id, parts_of, takes_a_judge
from scoring.records import Items
from scoring.running.needs import has_judge


@dataclass(frozen=True, slots=True)
class Kept:
    """What outlives a scoring that is stopped, where it has a file: what it spent, and the judge's answers."""

    ledger: MemoryLedger | None = None
    answers: JudgementFile | None = None


def recipe_of(options: argparse.Namespace) -> Recipe:
    """The recipe that the options choose, with the judge of ``--judge``. Raises ``WrongUsage``."""
    if not options.judge:
        return get_recipe(options.recipe)
    base, rubrics = parts_of(options.recipe)
    given = [name.strip() for name in options.judge.split(",")]
    if not set(given) <= set(RUBRICS):
        raise WrongUsage("judge_unknown", known=", ".join(RUBRICS))
    if not takes_a_judge(get_recipe(base)):
        raise WrongUsage("judge_no_texts", recipe=base)
    return get_recipe(judged_id(base, (*rubrics, *given)))


def require_judge(recipe: Recipe, profile: str | None) -> None:
    """Raise ``WrongUsage`` unless ``profile`` names the judge that ``recipe`` was chosen for."""
    if not parts_of(recipe.id)[1]:
        return
    if profile is None:
        raise WrongUsage("judge_needs_profile", profiles=", ".join(profile_names()))
    if load_profile(profile).judge is None:
        raise WrongUsage("judge_missing", profile=profile)


@contextmanager
def kept_answers(recipe: Recipe, options: argparse.Namespace, language: Language) -> Iterator[Kept]:
    """The file of answers of a scoring, which is over when the context ends: whatever stops it, they stay.

    Raises ``WrongUsage`` and ``CannotUse``.
    """
    is_judged = has_judge(recipe, options.models or "")
    path = options.answers or _beside(options.output)
    if options.answers and not is_judged:
        raise WrongUsage("answers_no_judge")
    if not is_judged or not path:
        sys.stderr.write(say("answers_not_kept", language) + "\n" if is_judged else "")
        yield Kept()
        return
    require_folder_of(path)
    answers = JudgementFile(path, ledger := MemoryLedger())
    try:
        yield Kept(ledger, answers)
    except BaseException:
        answers.close()
        if len(answers):
            sys.stderr.write(say("answers_kept", language, path=path) + "\n")
        raise
    answers.finish()


def _beside(output: str | None) -> str | None:
    """The file of answers beside the result; none beside a pipe or a device."""
    return output + SUFFIX if output and (Path(output).is_file() or not Path(output).exists()) else None


def foreseen_questions(
    recipe: Recipe, references: Items | None, predictions: Items, profile: str, language: Language
) -> Iterator[str]:
    """A line for each rubric of ``recipe``: how often a judge is asked at least, and what it would see in part."""
    rubrics = parts_of(recipe.id)[1]
    if not rubrics:
        return
    judge = load_profile(profile).judge
    try:
        pairs = recipe.prepare(references or predictions, predictions).pairs
    except MismatchedFiles:  # without references a file may not say which answers are texts
        return
    for metric in (RUBRICS[name] for name in rubrics):
        label = METRICS[metric].label.text(language)
        yield say("judge_questions", language, label=label, count=len(_questions(pairs[metric])))
        if judge is not None and (cut := _cut(pairs[metric], judge, has_references=references is not None)):
            yield say("judge_cuts", language, label=label, count=cut, limit=judge.max_chars)
    yield say("judge_none" if judge is None else "judge_budget", language, profile=profile, **_budget(judge))


def _questions(pairs: Pairs) -> set[tuple[tuple[str, ...], str]]:
    """The different questions: equal ones are asked once, and a blank text is not sent."""
    return {pair for pair in zip(pairs.references, pairs.candidates, strict=True) if pair[1].strip()}


def _cut(pairs: Pairs, judge: JudgeSpec, *, has_references: bool) -> int:
    """The number of items with a text of which only the beginning is sent."""
    rows = zip(pairs.references, pairs.candidates, strict=True)
    texts = ((*(references if has_references else ()), candidate) for references, candidate in rows)
    return sum(any(len(cleaned(text)) > judge.max_chars for text in of_item) for of_item in texts)


def _budget(judge: JudgeSpec | None) -> dict[str, object]:
    if judge is None:
        return {}
    return {"requests": judge.max_requests or "∞", "tokens": judge.max_tokens_total or "∞"}
