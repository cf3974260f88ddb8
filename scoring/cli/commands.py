"""The commands of ``python -m scoring``. Each takes the parsed options and returns the exit status."""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace

from scoring.cli.files import (
    load_options,
    load_predictions,
    load_references,
    load_report,
    require_folder_of,
    write_whole,
)
from scoring.cli.judging import foreseen_questions, kept_answers, recipe_of, require_judge
from scoring.cli.models import WrongUsage, run_models
from scoring.cli.pairwise import compare_pairs
from scoring.cli.rank import rank_files
from scoring.cli.words import say
from scoring.engine import score
from scoring.errors import Language, ModelUnavailable
from scoring.models.profile import profile_names
from scoring.reading.file_formats import format_label
from scoring.recipes import ORGANISER_CODES, RECIPES, RUBRICS, MismatchedFiles, Recipe, takes_a_judge, task_hints
from scoring.recipes.base import common_warnings
from scoring.recipes.essay_scoring import NOTHING_PARSED
from scoring.recipes.warning_texts import warning_text
from scoring.records import Items, Progress, ProgressCallback, ScoreWarning
from scoring.report import render, report_as_json
from scoring.running.needs import needs_models
from scoring.running.truncation import foreseen_warnings

__all__ = [
    "run_arena",
    "run_arena_meta",
    "run_check",
    "run_compare",
    "run_judge_agreement",
    "run_models",
    "run_pairwise",
    "run_panel",
    "run_rank",
    "run_recipes",
    "run_report",
    "run_score",
]


def run_score(options: argparse.Namespace, language: Language) -> int:
    """Score a file, store the result and print the report. The models must be chosen where the recipe needs some, and
    the judge where there is to be one.
    """
    recipe = recipe_of(options)
    require_judge(recipe, options.models)
    if options.models is None and needs_models(recipe):
        raise WrongUsage("models_needed", recipe=recipe.id, profiles=", ".join(profile_names()))
    references = load_references(options.references, recipe)
    predictions = load_predictions(options.predictions, recipe, references)
    if options.output:
        require_folder_of(options.output)
    sys.stderr.write("".join(f"{line}\n" for line in _same_file(references, predictions, language)))
    given = load_options(options.synonyms, options.media)
    with kept_answers(recipe, options, language) as kept:
        report = score(
            recipe.id,
            references,
            predictions,
            profile=options.models or "",  # without one nothing asks for a model
            device=options.device,
            options=replace(given, ledger=kept.ledger),
            progress=progress_printer(),
            pair_values=kept.answers,
        )
        try:  # the file first, as the reader of our output may have ended; the report even if the file fails
            if options.output:
                write_whole(options.output, report_as_json(report, language))
                sys.stderr.write(say("saved", language, path=options.output) + "\n")
        finally:
            sys.stdout.write(render(report, "text", language))
    return 0


def run_check(options: argparse.Namespace, language: Language) -> int:
    """Check a predictions file, and print which of its texts the models will cut; 1 if not one answer can be read.

    Raises ``InvalidInput`` with every error.
    """
    recipe = recipe_of(options)
    references = load_references(options.references, recipe) if options.references else None
    predictions = load_predictions(options.predictions, recipe, references)
    warnings = _known_before(recipe, references, predictions)
    is_readable = all(each.code != NOTHING_PARSED for each in warnings)
    headline = "sound" if is_readable else "unreadable"
    lines = [say(headline, language, path=options.predictions, count=len(predictions.items))]
    lines.append(say("recognised", language, name=format_label(predictions.format, language)))
    lines += _same_file(references, predictions, language)
    lines += [warning_text(warning, language) for warning in warnings]
    try:
        foreseen = foreseen_warnings(recipe, references, predictions, options.models)
        lines += [warning_text(warning, language) for warning in foreseen]
    except ModelUnavailable:
        lines.append(say("length_unchecked", language, profile=options.models))
    lines += foreseen_questions(recipe, references, predictions, options.models, language)
    sys.stdout.write("\n".join(lines) + "\n")
    return 0 if is_readable else 1


def _same_file(references: Items | None, predictions: Items, language: Language) -> list[str]:
    """A line that says that the file of references was given as predictions, too."""
    is_same = references is not None and references.sha256 == predictions.sha256
    return [say("same_file", language)] if is_same else []


def _known_before(recipe: Recipe, references: Items | None, predictions: Items) -> list[ScoreWarning]:
    """The warnings of a score that need no metric; without ``references`` those about the predictions alone."""
    try:
        of_layout = recipe.prepare(references or predictions, predictions).warnings
    except MismatchedFiles:  # without references a file may lack the question types that the recipe needs
        of_layout = tuple(common_warnings(predictions))
    files = (predictions,) if references is None else (references, predictions)
    shown = [one for one in of_layout if references is not None or one.code not in ORGANISER_CODES]
    return [*task_hints(recipe, *files), *shown]


def run_report(options: argparse.Namespace, language: Language) -> int:
    """Print a stored result, with its change against another if one is given."""
    baseline = load_report(options.baseline) if options.baseline else None
    report = load_report(options.result)
    sys.stdout.write(render(report, options.format, language, baseline, has_targets=not options.no_targets))
    return 0


def run_compare(options: argparse.Namespace, language: Language) -> int:
    """Print the comparison of two stored results, or how sure the ranks of more are."""
    from scoring.cli.compare import compare_files, compare_many  # needs numpy, unlike the others that print a file

    again = options.again_a, options.again_b
    if options.more or options.weights:
        if any(again):
            raise WrongUsage("again_for_two")
        text = compare_many([options.a, options.b, *options.more], options.weights, options.format, language)
    else:
        text = compare_files(options.a, options.b, options.format, language, *again)
    sys.stdout.write(text)
    return 0


def run_rank(options: argparse.Namespace, language: Language) -> int:
    """Print the composites of stored results, and store them if a file is named."""
    text = rank_files(options.results, options.weights, options.output, options.format, language)
    if options.output:
        sys.stderr.write(say("saved", language, path=options.output) + "\n")
    sys.stdout.write(text)
    return 0


def run_pairwise(options: argparse.Namespace, language: Language) -> int:
    """Print which of two files a judge prefers, and store every verdict if a file is named."""
    sys.stdout.write(compare_pairs(options, language, progress_printer()))
    return 0


def run_judge_agreement(options: argparse.Namespace, language: Language) -> int:
    """Print how far the judge of a stored result agrees with people, and store it if a file is named."""
    from scoring.cli.judge_agreement import judge_agreement

    text = judge_agreement(options, language)
    if options.save:
        sys.stderr.write(say("saved", language, path=options.save) + "\n")
    sys.stdout.write(text)
    return 0


def run_arena(options: argparse.Namespace, language: Language) -> int:
    """Print the result of a votes file; 1 if the file is not sound or a published result is another."""
    from scoring.cli.arena import arena  # needs numpy, as ``compare``

    return arena(options.votes, options.output, options.check, options.scores, options.format, language)


def run_arena_meta(options: argparse.Namespace, language: Language) -> int:
    """Print which metric agreed with the votes; 1 if the votes file is not sound."""
    from scoring.cli.arena_meta import arena_meta

    sources = (options.results, options.scores, options.items)
    return arena_meta(options.votes, *sources, options.output, options.format, language)


def run_panel(options: argparse.Namespace, language: Language) -> int:
    """Print the result of votes on pairs, and store it if a file is named; 1 if a line is no vote."""
    from scoring.cli.panel import panel

    return panel(options.votes, options.output, options.format, language)


def run_recipes(options: argparse.Namespace, language: Language) -> int:
    """Print every recipe with its metrics and its rule."""
    for recipe in RECIPES.values():
        metrics = ", ".join(recipe.metrics)
        sys.stdout.write(f"{recipe.id}  {recipe.title(language)}\n  {say('metrics', language)}: {metrics}\n")
        sys.stdout.write(f"  {recipe.rule(language)}\n")
        if recipe.composite:
            weights = ", ".join(f"{each.score} {each.weight:g}" for each in recipe.composite)
            sys.stdout.write(f"  {say('rank_weights', language, weights=weights)}\n")
        if takes_a_judge(recipe):
            sys.stdout.write(f"  {say('judge_offered', language, known=','.join(RUBRICS))}\n")
    return 0


def progress_printer() -> ProgressCallback:
    """Progress on standard error: one line rewritten in a terminal, else a line at the end of each metric."""
    is_terminal = sys.stderr.isatty()

    def show(progress: Progress) -> None:
        is_done = progress.done == progress.total
        if is_terminal or is_done:
            end = "\n" if is_done else ""
            sys.stderr.write(f"{chr(13) if is_terminal else ''}{progress.stage} {progress.done}/{progress.total}{end}")
            sys.stderr.flush()

    return show
