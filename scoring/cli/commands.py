"""The commands of ``python -m scoring``. Each takes the parsed options and returns the exit status."""

from __future__ import annotations

import argparse
import sys

from scoring.cli.files import (
    load_options,
    load_predictions,
    load_references,
    load_report,
    require_folder_of,
    write_whole,
)
from scoring.cli.parser import EXIT_USAGE
from scoring.cli.words import say
from scoring.errors import Language, ScoringError
from scoring.reading.file_formats import format_label
from scoring.recipes import RECIPES, get_recipe
from scoring.records import Progress, ProgressCallback
from scoring.report import render, report_as_json


def run_score(options: argparse.Namespace, language: Language) -> int:
    """Score a file, store the result and print the report."""
    from scoring.engine import score

    recipe = get_recipe(options.recipe)
    references = load_references(options.references, recipe)
    predictions = load_predictions(options.predictions, recipe, references)
    if options.output:
        require_folder_of(options.output)
    given = load_options(options.synonyms, options.media)
    report = score(
        recipe.id,
        references,
        predictions,
        profile=options.models,
        device=options.device,
        options=given,
        progress=progress_printer(),
    )
    try:  # the file first, as whoever reads our output may have gone; and the report whatever becomes of the file
        if options.output:
            write_whole(options.output, report_as_json(report, language))
            sys.stderr.write(say("saved", language, path=options.output) + "\n")
    finally:
        sys.stdout.write(render(report, "text", language))
    return 0


def run_check(options: argparse.Namespace, language: Language) -> int:
    """Say that a predictions file is sound; if it is not, ``InvalidInput`` carries every error."""
    recipe = get_recipe(options.recipe)
    references = load_references(options.references, recipe) if options.references else None
    predictions = load_predictions(options.predictions, recipe, references)
    lines = [say("sound", language, path=options.predictions, count=len(predictions.answers))]
    lines.append(say("recognised", language, name=format_label(predictions.format, language)))
    if predictions.normalized_ids:
        lines.append(say("normalized", language, count=len(predictions.normalized_ids)))
    sys.stdout.write("\n".join(lines) + "\n")
    return 0


def run_report(options: argparse.Namespace, language: Language) -> int:
    """Print a stored result, with its change against another where one is given."""
    baseline = load_report(options.baseline) if options.baseline else None
    report = load_report(options.result)
    sys.stdout.write(render(report, options.format, language, baseline, has_targets=not options.no_targets))
    return 0


def run_compare(options: argparse.Namespace, language: Language) -> int:
    """Print the comparison of two stored results."""
    from scoring.cli.compare import compare_files  # needs numpy, which no other command that prints a file does

    sys.stdout.write(compare_files(options.a, options.b, options.format, language))
    return 0


def run_recipes(options: argparse.Namespace, language: Language) -> int:
    """Print every recipe with its metrics and its rule."""
    for recipe in RECIPES.values():
        metrics = ", ".join(recipe.metrics)
        sys.stdout.write(f"{recipe.id}  {recipe.title(language)}\n  {say('metrics', language)}: {metrics}\n")
        sys.stdout.write(f"  {recipe.rule(language)}\n")
    return 0


def run_models(options: argparse.Namespace, language: Language) -> int:
    """List the profiles, fetch the models of one, or verify them."""
    if options.action == "list":
        return _list_models(language)
    if options.profile is None:
        raise ProfileNeeded(options.action)
    return (_fetch_models if options.action == "fetch" else _verify_models)(options.profile, language)


class ProfileNeeded(ScoringError):
    """``models fetch`` and ``models verify`` work on one profile."""

    def __init__(self, action: str) -> None:
        self.action = action
        super().__init__(self.message("en"))

    def message(self, language: Language = "ko") -> str:
        return say("profile_needed", language, action=self.action)


def _list_models(language: Language) -> int:
    from scoring.models.fetching import list_profiles

    for status in list_profiles():
        profile = status.profile
        state = say("ready", language) if status.is_ready else say("missing", language, profile=profile.name)
        sys.stdout.write(f"{profile.name}  {state}\n")
        absent = say("made_at_first_use" if profile.is_demo else "not_here", language)
        for model in status.models:
            spec = model.spec
            sys.stdout.write(f"  {spec.role}: {spec.model} @ {spec.revision}  {model.folder or absent}\n")
    return 0


def _fetch_models(profile: str, language: Language) -> int:
    from scoring.models.fetching import fetch

    for model in fetch(profile):
        sys.stdout.write(f"{model.spec.role}: {model.spec.model} @ {model.spec.revision}  {model.folder}\n")
    return 0


def _verify_models(profile: str, language: Language) -> int:
    from scoring.models.fetching import verify

    checks = verify(profile)
    for check in checks:
        result = say("passed" if check.ok else "failed", language)
        sys.stdout.write(f"{result}  {check.role} {check.name}: {check.message(language)}\n")
    if not all(check.ok for check in checks):
        return EXIT_USAGE
    _show_precisions(profile, language)
    return 0


def _show_precisions(profile: str, language: Language) -> None:
    """By how much each further number format moves scores here; nothing for a profile without such models."""
    from scoring.models.profile import load_profile
    from scoring.verification.precisions import SAMPLES, measure_precisions

    found = measure_precisions(load_profile(profile))
    if found:
        sys.stdout.write(say("precisions", language, count=len(SAMPLES)) + "\n")
    for one in found:
        numbers = say("precision", language, largest=one.largest, mean=one.mean, speed=one.speed)
        sys.stdout.write(f"  {one.role} {one.precision}: {numbers}\n")


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
