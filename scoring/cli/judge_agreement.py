"""``python -m scoring judge-agreement OUT.json HUMAN.json``: how far the judge of a result agrees with people.

Nothing is scored or asked again. What is saved names the judge, the rubric and the source of the people's scores.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from typing import Any

from scoring.agreement.human import read_human
from scoring.agreement.record import agreement, judged_by
from scoring.cli.files import InvalidInput, load_report, read_bytes, require_folder_of, write_whole
from scoring.cli.words import say
from scoring.errors import InvalidFile, Language
from scoring.report.tables import Row, aligned, markdown_table
from scoring.report.words import word

_FIGURES = ("pearson", "spearman", "kappa")


def judge_agreement(options: argparse.Namespace, language: Language) -> str:
    """The agreement of the files, rendered; stored as JSON too, if ``--save`` names a file.

    Raises ``CannotUse``, ``InvalidInput``, ``NoJudgement`` and ``TooFewJudged``.
    """
    if options.save:
        require_folder_of(options.save)
    judged, data = judged_by(load_report(options.result), options.metric), read_bytes(options.human)
    try:
        human = read_human(data, judged.values)
    except InvalidFile as error:
        raise InvalidInput("human", options.human, error) from error
    record = agreement(judged, human, data=data, source=options.source)
    text = json.dumps(record, ensure_ascii=False, allow_nan=False, indent=2) + "\n"
    if options.save:
        write_whole(options.save, text)
    return text if options.format == "json" else _rendered(record, options.format, language)


def _rendered(record: Mapping[str, Any], form: str, language: Language) -> str:
    title, *notes = _notes(record, language)
    header, *rows = _table(record, language)
    if form == "markdown":
        lines = [f"# {title}", "", *markdown_table(header, rows), "", *(f"- {note}" for note in notes)]
    else:
        lines = [title, "", *aligned([header, *rows], numeric=True), "", *(f"  - {note}" for note in notes)]
    return "\n".join(lines) + "\n"


def _table(record: Mapping[str, Any], language: Language) -> list[Row]:
    rows: list[Row] = [("", *(say(key, language) for key in ("agreement_value", "agreement_interval")))]
    for name in _FIGURES:
        found, label = record[name], say(f"agreement_{name}", language)
        if found["value"] is None:
            rows.append((label, say("agreement_undefined", language), "-"))
        else:
            rows.append((label, f"{found['value']:.4f}", f"{found['low']:.4f}–{found['high']:.4f}"))
    return rows


def _notes(record: Mapping[str, Any], language: Language) -> list[str]:
    """The title, then what was compared with what."""
    judge, prompt = record["judge"], record["judge"]["prompt"]
    named = " · ".join(str(part) for part in (judge["model"], judge["version"], judge["quantisation"]) if part)
    notes = [
        say("agreement_title", language, items=record["items"], metric=record["metric"]),
        say("agreement_judge", language, judge=named, prompt=f"{prompt['id']} ({prompt['language']})"),
        say("agreement_rule", language),
    ]
    reasons = dict.fromkeys(record[name]["reason"] for name in _FIGURES if record[name]["value"] is None)
    notes += [say(f"agreement_{reason}", language) for reason in reasons]
    if record["unanswered"]:
        notes.append(say("agreement_unanswered", language, count=record["unanswered"]))
    if record["source"]:
        notes.append(say("agreement_source", language, source=record["source"]))
    return [*notes, word("demo", language)] if record["is_demo"] else notes
