"""``python -m scoring models``: list the profiles, fetch the models of one, verify them.

``verify`` checks that the files are those the profile names, that our values equal those of the packages which the
contest's code calls, and how much other number formats would change. It exits with 1 if a value differs from a
package's, with 2 if a model is damaged.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Final

from scoring.arguments import EXIT_USAGE
from scoring.cli.files import load_predictions, load_references, load_report
from scoring.cli.words import say
from scoring.errors import Language, ScoringError
from scoring.models.files import list_profiles
from scoring.models.profile import Profile, load_profile
from scoring.recipes import get_recipe
from scoring.report.tables import aligned, indented, markdown_table
from scoring.verification.samples import SAMPLES

if TYPE_CHECKING:  # these load the model libraries
    from scoring.verification.checks import Check
    from scoring.verification.precisions import Deviation
    from scoring.verification.witnesses import Comparison

EXIT_DIFFERS: Final = 1


class WrongUsage(ScoringError):
    """The options cannot be combined, or one is missing; ``word`` is the key of the text that explains them."""

    def __init__(self, word: str, **params: str) -> None:
        self.word, self.params = word, params
        super().__init__(self.message("en"))

    def message(self, language: Language = "ko") -> str:
        return say(self.word, language, **self.params)


def run_models(options: argparse.Namespace, language: Language) -> int:
    """List the profiles, fetch the models of one, or verify them."""
    if options.action == "list":
        return _list_models(language)
    if options.profile is None:
        raise WrongUsage("profile_needed", action=options.action)
    return _fetch_models(options.profile) if options.action == "fetch" else _verify_models(options, language)


def _list_models(language: Language) -> int:
    for status in list_profiles():
        profile = status.profile
        state = say("ready", language) if status.is_ready else say("missing", language, profile=profile.name)
        sys.stdout.write(f"{profile.name}  {state}\n")
        absent = say("made_at_first_use" if profile.is_demo else "not_here", language)
        for model in status.models:
            spec = model.spec
            sys.stdout.write(f"  {spec.role}: {spec.model} @ {spec.revision}  {model.folder or absent}\n")
        if profile.judge is not None:
            sys.stdout.write(f"  judge: {profile.judge.model}  {profile.judge.base_url}\n")
    return 0


def _fetch_models(profile: str) -> int:
    from scoring.models.fetching import fetch

    for model in fetch(profile):
        sys.stdout.write(f"{model.spec.role}: {model.spec.model} @ {model.spec.revision}  {model.folder}\n")
    return 0


def _verify_models(options: argparse.Namespace, language: Language) -> int:
    """The checks, then the comparison with the packages, then the precisions; a damaged model ends it."""
    from scoring.verification.checks import verify
    from scoring.verification.precisions import measure_precisions
    from scoring.verification.witnesses import compare_built_in

    if bool(options.file) != bool(options.references and options.predictions):
        raise WrongUsage("file_needs_both")
    profile = load_profile(options.profile)
    checks = verify(profile, device=options.device)
    is_sound = all(check.ok for check in checks)
    compared = [(say("built_in_pairs", language), compare_built_in(profile, options.device))] if is_sound else []
    if is_sound and options.file:
        compared.append((options.file, _compare_file(options, profile)))
    deviations = measure_precisions(profile, options.device) if is_sound else ()
    if options.format == "json":
        sys.stdout.write(_as_json(checks, compared, deviations, language))
    else:
        lines = _check_lines(checks, language)
        for title, found in compared:
            lines += _comparison_lines(title, found, options.format, language)
        sys.stdout.write("\n".join([*lines, *_precision_lines(deviations, language)]) + "\n")
    if not is_sound:
        return EXIT_USAGE
    return 0 if all(one.is_ok for _, found in compared for one in found) else EXIT_DIFFERS


def _compare_file(options: argparse.Namespace, profile: Profile) -> tuple[Comparison, ...]:
    from scoring.verification.witnesses import compare_file

    report = load_report(options.file)
    recipe = get_recipe(report.recipe)
    references = load_references(options.references, recipe)
    predictions = load_predictions(options.predictions, recipe, references)
    return compare_file(profile, report, references, predictions, options.device)


def _check_lines(checks: Sequence[Check], language: Language) -> list[str]:
    return [f"{_result(check.ok, language)}  {check.role} {check.name}: {check.message(language)}" for check in checks]


def _comparison_lines(title: str, found: Sequence[Comparison], form: str, language: Language) -> list[str]:
    """The table of one set of pairs: both means, the largest difference and where it is, both times."""
    if not found:
        return []
    header = tuple(say("comparison_columns", language).split("|"))
    with_file = any(one.stored for one in found)
    rows = [_comparison_row(one, with_file, language) for one in found]
    if with_file:
        header = (*header[:5], *say("stored_columns", language).split("|"), *header[5:])
    heading = say("packages", language, pairs=title)
    if form == "markdown":
        return ["", heading, "", *markdown_table(header, rows)]
    return ["", heading, *indented(aligned([header, *rows], numeric=True))]


def _comparison_row(one: Comparison, with_file: bool, language: Language) -> tuple[str, ...]:
    if one.failure:
        values = ["-", "-", one.failure, *(["-", "-"] if with_file else []), "-", "-", f"{one.ours_s:.2f}"]
    else:
        of_file = [f"{one.stored.mean:.7f}", f"{one.stored.largest:.1e}"] if one.stored else ["-", "-"]
        theirs, ours = one.furthest
        values = [
            *(f"{sum(side) / len(side):.7f}" if side else "-" for side in (one.theirs, one.ours)),
            f"{one.largest:.1e}",
            *(of_file if with_file else []),
            f"{theirs:.7f} / {ours:.7f}",
            f"{one.theirs_s:.2f}",
            f"{one.ours_s:.2f}",
        ]
    return (f"{one.metric} ({one.package})", str(len(one.ours)), *values, _result(one.is_ok, language))


def _precision_lines(found: Sequence[Deviation], language: Language) -> list[str]:
    """By how much each further number format moves scores here; nothing for a profile without such models."""
    lines = ["", say("precisions", language, count=len(SAMPLES))] if found else []
    for one in found:
        numbers = say("precision", language, largest=one.largest, mean=one.mean, speed=one.speed)
        lines.append(f"  {one.role} {one.precision}: {numbers}")
    return lines


def _as_json(
    checks: Sequence[Check],
    compared: Sequence[tuple[str, Sequence[Comparison]]],
    deviations: Sequence[Deviation],
    language: Language,
) -> str:
    content: dict[str, Any] = {
        "checks": [
            {"role": check.role, "name": check.name, "ok": check.ok, "message": check.message(language)}
            for check in checks
        ],
        "comparisons": [
            {"pairs": title, **asdict(one), "largest": one.largest, "tolerance": one.tolerance, "ok": one.is_ok}
            for title, found in compared
            for one in found
        ],
        "precisions": [asdict(one) for one in deviations],
    }
    return json.dumps(content, ensure_ascii=False, indent=2) + "\n"


def _result(ok: bool, language: Language) -> str:
    return say("passed" if ok else "failed", language)
