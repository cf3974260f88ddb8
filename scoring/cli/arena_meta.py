"""``python -m scoring arena-meta VOTES.json --scores SCORES.json``: which metric agreed with the people's votes.

The scores are those of a scores file, or of the scored files of the systems (``S01=A.json S02=B.json``). The result of
the votes is computed as by ``arena``; nothing is scored again.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from scoring.arena.comparable import NoResult
from scoring.arena.meta import document_bytes, evaluate
from scoring.arena.meta_scores import MetricScores, ScoredSystem, metrics_of
from scoring.arena.meta_warnings import warnings_of
from scoring.arena.result import compute
from scoring.arena.scores_file import ScoresInvalid, read_scores
from scoring.arena.vote_records import Votes
from scoring.arena.vote_values import is_of_pairs
from scoring.arena.votes import VotesInvalid, read_votes
from scoring.cli.files import load_report, read_bytes, require_folder_of, write_whole
from scoring.cli.rank import require_alike
from scoring.cli.words import say
from scoring.errors import Language, ScoringError, quoted
from scoring.recipes import Recipe, get_recipe
from scoring.records import ScoreReport
from scoring.report import ReportFormat
from scoring.report.tables import Row, aligned, indented, markdown_table
from scoring.report.words import word
from scoring.signature import is_demo

_NONE: Final = "-"


class CannotMatch(ScoringError):
    """Files cannot be matched with the systems or items of the votes. ``code`` is a key of ``WORDS``."""

    def __init__(self, code: str, **params: str) -> None:
        self.code, self.params = code, params
        super().__init__(self.message("en"))

    def message(self, language: Language = "ko") -> str:
        return say(self.code, language, **self.params)


class CannotRead(CannotMatch):
    """A file is no scores file."""

    def __init__(self, path: str, cause: ScoresInvalid) -> None:
        self.cause = cause
        super().__init__("meta_scores_invalid", path=path)

    def message(self, language: Language = "ko") -> str:
        return say(self.code, language, **self.params, detail=self.cause.message(language))


def arena_meta(
    votes_path: str,
    results: Sequence[str],
    scores: str | None,
    items: str | None,
    output: str | None,
    form: ReportFormat,
    language: Language,
) -> int:
    """Print how far metrics agree with the votes, and store it at ``output``, if given.

    The metrics are those of the file ``scores``, or of ``results``: ``LABEL=FILE``, or files named after a label, a
    name or a team number; ``items`` is then a JSON object of the ids of the items by their labels, ``None`` if the
    labels are the ids. Returns 0, or 1 if the votes are not sound. Raises ``CannotUse``, ``CannotMatch`` and
    ``CannotRank``.
    """
    if output:
        require_folder_of(output)
    if (scores is None) == (not results) or (scores and items):
        raise CannotMatch("meta_one_source")
    try:
        votes = read_votes(read_bytes(votes_path))
        given = scores_at(scores, votes) if scores else _scored(results, items, votes)
        document = evaluate(compute(votes), given.metrics)
    except (VotesInvalid, NoResult) as error:
        sys.stderr.write(say("arena_invalid", language, path=votes_path, detail=error.message(language)) + "\n")
        return 1
    if output:
        write_whole(output, document_bytes(document).decode())
        sys.stderr.write(say("saved", language, path=output) + "\n")
    sys.stdout.write(_shown(document, given, form, language))
    return 0


@dataclass(frozen=True, slots=True)
class Given:
    """Metrics with the ``recipe`` whose columns name them; ``is_of_demo``: they were computed by demo models."""

    recipe: Recipe
    metrics: Sequence[MetricScores]
    is_of_demo: bool = False


def scores_at(path: str, votes: Votes) -> Given:
    """Those of the scores file at ``path``. Raises ``CannotUse``, and ``CannotMatch``, also for a file of another
    campaign: its labels are other systems.
    """
    try:
        found = read_scores(read_bytes(path))
    except ScoresInvalid as error:
        raise CannotRead(path, error) from error
    own, theirs = (_campaign(each) for each in (votes.campaign, found.campaign))
    if own != theirs:
        raise CannotMatch("meta_other_campaign", path=path, own=own, theirs=theirs)
    return Given(found.recipe, found.metrics)


def _campaign(facts: Mapping[str, Any]) -> str:
    """What names a campaign: competition, track and number."""
    return quoted("/".join(str(facts.get(name, "–")) for name in ("competition", "track", "number")))


def _scored(results: Sequence[str], items: str | None, votes: Votes) -> Given:
    paths = matched(results, votes)
    reports = {label: load_report(path) for label, path in paths.items()}
    _require_alike(list(paths.values()), list(reports.values()))
    recipe = get_recipe(next(iter(reports.values())).recipe)
    id_of = _item_ids(items, votes)
    systems = {label: ScoredSystem(report.scores, _by_label(report, id_of)) for label, report in reports.items()}
    return Given(recipe, metrics_of(recipe, systems), any(is_demo(report.signature) for report in reports.values()))


def matched(results: Sequence[str], votes: Votes) -> dict[str, str]:
    """The path of each system, by its label. Raises ``CannotMatch``."""
    names = {name: system.label for system in votes.systems for name in (system.name, str(system.team_number)) if name}
    names |= {system.label: system.label for system in votes.systems}
    found: dict[str, str] = {}
    for given in results:
        left, equals, right = given.partition("=")
        name, path = (left, right) if equals and left in names else (Path(given).stem, given)
        if name not in names:
            raise CannotMatch("meta_unknown_system", given=quoted(given), known=_known(votes))
        label = names[name]
        if label in found:
            raise CannotMatch("meta_system_twice", label=label, a=found[label], b=path)
        found[label] = path
    return found


def _known(votes: Votes) -> str:
    return ", ".join(f"{system.label} {quoted(system.name)}".strip() for system in votes.systems)


def _require_alike(paths: Sequence[str], reports: Sequence[ScoreReport]) -> None:
    """Raise ``CannotRank`` unless all are of one recipe and one set of references, each metric computed alike."""
    common = set.intersection(*(set(report.scores) for report in reports))
    require_alike(paths, reports, sorted(common))


def _item_ids(path: str | None, votes: Votes) -> dict[str, str]:
    """The id of each item, by its label. Raises ``CannotMatch``."""
    labels = {item.label for item in votes.items}
    if path is None:
        return {label: label for label in labels}
    try:
        raw = json.loads(read_bytes(path).decode("utf-8-sig"))
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError) as error:
        raise CannotMatch("meta_items_invalid", path=path) from error
    if not isinstance(raw, dict) or not all(isinstance(each, str) for each in raw.values()) or not labels & raw.keys():
        raise CannotMatch("meta_items_invalid", path=path)
    return {label: raw[label] for label in labels & raw.keys()}


def _by_label(report: ScoreReport, id_of: Mapping[str, str]) -> dict[str, Mapping[str, float]]:
    values = {item.id: item.scores for item in report.items}
    return {label: values[name] for label, name in id_of.items() if name in values}


def _shown(document: Mapping[str, Any], given: Given, form: ReportFormat, language: Language) -> str:
    if form == "json":
        return json.dumps(document, ensure_ascii=False, allow_nan=False, indent=2) + "\n"
    title = f"{say('meta_title', language)}: {quoted(str(document['campaign'].get('title', '')))}"
    return section(title, document, given, form, language)


def section(
    title: str, document: Mapping[str, Any], given: Given, form: ReportFormat, language: Language, level: int = 1
) -> str:
    """The table of the metrics under a heading of ``level``, with notes, as text or Markdown."""
    header, *rows = _table(document, given.recipe, language)
    notes = [*_notes(document, language), *([word("demo", language)] if given.is_of_demo else [])]
    if form == "markdown":
        lines = [f"{'#' * level} {title}", "", *markdown_table(header, rows), "", *(f"- {note}" for note in notes)]
    else:
        lines = [title, "", *indented(aligned([header, *rows], numeric=True)), "", *(f"  - {note}" for note in notes)]
    return "\n".join(lines) + "\n"


def _table(document: Mapping[str, Any], recipe: Recipe, language: Language) -> Iterator[Row]:
    """The header, then a row for each metric, best first."""
    names = (
        *("metric", "tau", "over_systems", "over_votes", "accuracy", "over_systems", "over_votes", "decided"),
        *("acc_eq", "interval", "threshold"),
    )
    percent = 100 * (1 - document["level"])
    yield tuple(say(f"meta_{name}", language, percent=percent) for name in names)
    for row in document["metrics"]:
        systems, items = row["systems"], row["items"]
        tau = systems["tau"]
        yield (
            f"{recipe.metric_label(row['name'], language)} ({row['name']})",
            f"{_figure(tau['value'])}{'*' * systems['leads']}",
            _interval(tau["systems"]),
            _interval(tau["votes"]),
            _percent(systems["accuracy"]["value"]),
            _percents(systems["accuracy"]["systems"]),
            _percents(systems["accuracy"]["votes"]),
            _percent(systems["decided"]),
            _NONE if items is None else f"{_percent(items['value'])}{'*' * items['leads']}",
            _percents(items),
            _NONE if items is None else f"{items['threshold']:.4f}",
        )


def _figure(value: float | None) -> str:
    return _NONE if value is None else f"{value:+.3f}"


def _interval(found: Mapping[str, float] | None) -> str:
    return _NONE if found is None else f"{found['low']:+.2f}~{found['high']:+.2f}"


def _percent(value: float | None) -> str:
    return _NONE if value is None else f"{100 * value:.1f}"


def _percents(found: Mapping[str, float] | None) -> str:
    return _NONE if found is None else f"{_percent(found['low'])}~{_percent(found['high'])}"


def _notes(document: Mapping[str, Any], language: Language) -> Iterator[str]:
    numbers = document["numbers"]
    yield say("meta_numbers", language, **numbers)
    yield say("meta_star", language)
    yield say("meta_intervals", language, percent=100 * (1 - document["level"]))
    if any(row["items"] for row in document["metrics"]):
        shares = {name: 100 * numbers[name] for name in ("tie_share", "chance")}
        yield say("meta_chance", language, pairs=numbers["item_pairs"], **shares)
        if is_of_pairs(document["protocol"]):
            yield say("meta_merged", language)
    else:
        yield say("meta_no_items", language)
    for name in warnings_of(document):
        yield say(f"meta_warning_{name}", language, percent=100 * (1 - document["level"]))
    for each in document["skipped"]:
        yield say(f"meta_skipped_{each['reason']}", language, name=each["name"])
    yield say("meta_signature", language, hash=document["signature_hash"])
