"""``python -m scoring arena VOTES.json``: the result of a votes file, and whether a published one is recomputed."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from scoring.arena import INSTRUMENT
from scoring.arena.comparable import NoResult
from scoring.arena.meta import evaluate
from scoring.arena.redrawing import redrawn
from scoring.arena.result import ArenaResult, compute
from scoring.arena.votes import SEVERITIES, Votes, VotesInvalid, read_votes
from scoring.cli.arena_meta import scores_at, section
from scoring.cli.files import read_bytes, require_folder_of, write_whole
from scoring.cli.words import say
from scoring.errors import Language, quoted
from scoring.report import ReportFormat
from scoring.report.tables import Row, aligned, indented, markdown_table

SHOWN_PLACES: Final = 5
_NONE: Final = "-"


def arena(
    path: str,
    output: str | None,
    published: str | None,
    scores: str | None,
    form: ReportFormat,
    language: Language,
) -> int:
    """Print the result of the votes at ``path``, store it at ``output`` and compare it with ``published``, if given.

    The queues of the judges are drawn again from the seed in the file. ``scores``: a file with scores of metrics; the
    report then says which of them agreed with these people. Returns 0, or 1 if the votes are not sound, the seed draws
    other queues or the published result is another. Raises ``CannotUse``, ``CannotMatch``.
    """
    if output:
        require_folder_of(output)
    expected = read_bytes(published) if published else None
    try:
        votes = read_votes(read_bytes(path))
        given = scores_at(scores, votes) if scores else None
        result = compute(votes)
    except (VotesInvalid, NoResult) as error:
        sys.stderr.write(say("arena_invalid", language, path=path, detail=error.message(language)) + "\n")
        return 1
    if output:
        write_whole(output, result.bytes().decode())
        sys.stderr.write(say("saved", language, path=output) + "\n")
    if expected is not None and (told := _other_votes(result, str(published), expected, language)):
        sys.stderr.write(told + "\n")  # before a table of other figures
    sys.stdout.write(shown_result(result, form, language))
    if given is not None and form != "json":
        title, document = say("meta_title", language), evaluate(result, given.metrics)
        sys.stdout.write("\n" + section(title, document, given, form, language, level=2))
    sys.stdout.flush()
    is_drawn, said = _redrawn(votes, language)
    sys.stderr.write(said + "\n")
    if expected is None:
        return 0 if is_drawn else 1
    sys.stderr.write(_comparison(result, str(published), expected, language) + "\n")
    return 0 if is_drawn and expected == result.bytes() else 1


def _redrawn(votes: Votes, language: Language) -> tuple[bool, str]:
    """Whether nothing speaks against the queues of the file being those that its seed draws, and what is said of it."""
    found = redrawn(votes)
    if found is None or votes.design is None:
        return True, say("arena_not_redrawn", language)
    word = "arena_redrawn" if found.is_same else "arena_redrawn_other"
    return found.is_same, say(word, language, sha256=votes.design.sha256, drawn=found.drawn, moved=found.moved)


def _other_votes(result: ArenaResult, path: str, expected: bytes, language: Language) -> str:
    """That the published result is of another votes file; empty if it is of this one, or names none."""
    try:
        other = _signed_by(json.loads(expected.decode("utf-8-sig"))).get("votes_sha256")
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError):
        return ""
    found = result.document()["signature"]["votes_sha256"]
    if not isinstance(other, str) or other == found:
        return ""
    return say("arena_other_votes", language, path=path, expected=quoted(other, len(found)), found=found)


def _comparison(result: ArenaResult, path: str, expected: bytes, language: Language) -> str:
    if expected == result.bytes():
        return say("arena_same", language, path=path, hash=result.document()["signature_hash"])
    try:
        other = json.loads(expected.decode("utf-8-sig"))
        if (made_by := _instrument(other)) not in ("", INSTRUMENT):
            return say("arena_other_instrument", language, path=path, made_by=quoted(made_by), instrument=INSTRUMENT)
        places = list(differences(result.document(), other))
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError):
        places = [say("arena_not_json", language)]
    places = places or [say("arena_layout", language)]
    shown = ", ".join(places[:SHOWN_PLACES]) + (" …" if len(places) > SHOWN_PLACES else "")
    return say("arena_differs", language, path=path, places=shown)


def _instrument(document: Any) -> str:
    """The version that a result says it was computed by."""
    return str(_signed_by(document).get("instrument", ""))


def _signed_by(document: Any) -> Mapping[str, Any]:
    """The signature of a result; empty if there is none."""
    signature = document.get("signature") if isinstance(document, Mapping) else None
    return signature if isinstance(signature, Mapping) else {}


def differences(one: Any, other: Any, place: str = "") -> Iterator[str]:
    """The places where two JSON values differ, such as ``systems[0].score``."""
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        for name in sorted(set(one) | set(other)):
            at = f"{place}.{quoted(name)}" if place else quoted(name)
            if name in one and name in other:
                yield from differences(one[name], other[name], at)
            else:
                yield at
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for index, (left, right) in enumerate(zip(one, other, strict=True)):
            yield from differences(left, right, f"{place}[{index}]")
    elif one != other or isinstance(one, bool) != isinstance(other, bool):
        yield place or "$"


def shown_result(result: ArenaResult, form: ReportFormat, language: Language) -> str:
    """The report of ``result``."""
    document = result.document()
    if form == "json":
        return json.dumps(document, ensure_ascii=False, allow_nan=False, indent=2) + "\n"
    title, name = say("arena_title", language), quoted(str(document["campaign"].get("title", "")))
    title = f"{title}: {name}" if name else title
    notes = list(_notes(document, language))
    is_markdown = form == "markdown"
    lines = [f"# {title}" if is_markdown else title, "", *_laid_out(_table(document, language), form), ""]
    if "errors" in document["systems"][0]:
        head = say("arena_marked", language)
        lines += [f"## {head}" if is_markdown else head, "", *_laid_out(_marked(document, language), form), ""]
    lines += [f"- {note}" if is_markdown else f"  - {note}" for note in notes]
    return "\n".join(lines) + "\n"


def _laid_out(table: Iterator[Row], form: ReportFormat) -> list[str]:
    """The lines of ``table``, whose first row is its head."""
    header, *rows = table
    return list(
        markdown_table(header, rows) if form == "markdown" else indented(aligned([header, *rows], numeric=True))
    )


def _marked(document: Mapping[str, Any], language: Language) -> Iterator[Row]:
    """The header, then for each system how many errors a judgement marks, by severity and by kind."""
    rows = document["systems"]
    kinds = list(rows[0]["kinds"])
    yield (
        say("arena_system", language),
        *(say(f"arena_{name}", language) for name in SEVERITIES),
        say("arena_penalty", language),
        *map(quoted, kinds),
    )
    for row in rows:
        figures = [
            *(row["errors"][name] for name in SEVERITIES),
            row["penalty"],
            *(row["kinds"][kind] for kind in kinds),
        ]
        yield (_named(row), *(f"{figure:.2f}" for figure in figures))


def _named(row: Mapping[str, Any]) -> str:
    return f"{row['label']} {quoted(row['name'])}".strip()


def _table(document: Mapping[str, Any], language: Language) -> Iterator[Row]:
    """The header, then a row for each system, best first."""
    has_ends = "wins" in document["systems"][0]
    names = ["system", "rank", "score", "interval", "range", "cluster", "points" if has_ends else "mean", "count"]
    percent = 100 * (1 - document["level"])
    yield tuple(say(f"arena_{name}", language, percent=percent) for name in [*names, *(["ends"] * has_ends)])
    for row in document["systems"]:
        ends = [f"{row['wins']}-{row['ties']}-{row['losses']}"] if has_ends else []
        yield (
            _named(row),
            str(row["rank"]),
            f"{row['score']:+.3f}",
            _NONE if row["low"] is None else _signed(row),
            f"{row['best_rank']}~{row['worst_rank']}",
            str(row["cluster"]),
            f"{100 * row['points']:.1f}",
            str(row["votes"]),
            *ends,
        )


def _notes(document: Mapping[str, Any], language: Language) -> Iterator[str]:
    yield say("arena_numbers", language, **document["numbers"])
    parameters = document["parameters"]
    yield say("arena_scale_pairs" if parameters else "arena_scale_ratings", language)
    yield say("arena_clusters", language)
    if "errors" in document["systems"][0]:
        yield say("arena_penalties", language)
    if parameters:
        yield _order(parameters, language)
    for row in document["agreement"]:
        yield _agreement(row, language)
    suspicious = [each for each in document["judges"] if each["flags"]]
    if suspicious:
        judges = ", ".join(f"{each['judge']}({_flags(each['flags'], language)})" for each in suspicious)
        yield say("arena_suspicious", language, judges=judges)
    if document["influence"]:
        yield _influence(document["influence"], language)
    if document["unranked"]:
        systems = ", ".join(f"{each['label']} {quoted(each['reason'])}".strip() for each in document["unranked"])
        yield say("arena_unranked", language, systems=systems)
    for name in document["warnings"]:
        yield say(f"arena_warning_{name}", language)
    votes = document["signature"]["votes_sha256"]
    yield say("arena_signature", language, hash=document["signature_hash"], votes=votes)


def _order(parameters: Mapping[str, Any], language: Language) -> str:
    order, tie = parameters["order"], 100 * parameters["shares"]["tie"]
    interval = _NONE if order["low"] is None else _signed(order)
    return say("arena_order", language, value=order["value"], interval=interval, tie=tie)


def _signed(found: Mapping[str, float]) -> str:
    """An interval around 0."""
    return f"{found['low']:+.3f}~{found['high']:+.3f}"


def _influence(rows: Sequence[Mapping[str, Any]], language: Language) -> str:
    largest = max(rows, key=lambda each: int(each["rank_change"]))
    if not largest["rank_change"]:
        return say("arena_steady", language)
    taus = [each["tau"] for each in rows if each["tau"] is not None]
    tau = f"{min(taus):.3f}" if taus else _NONE
    return say("arena_influence", language, change=largest["rank_change"], judge=largest["judge"], tau=tau)


def _flags(flags: list[str], language: Language) -> str:
    return ", ".join(say(f"arena_flag_{flag}", language) for flag in flags)


def _agreement(row: Mapping[str, Any], language: Language) -> str:
    same = _NONE if row["same"] is None else f"{100 * row['same']:.1f}%"
    figures = {name: _with_interval(row[name]) for name in ("alpha", "ac2")}
    return say("arena_agreement", language, name=row["name"], same=same, units=row["units"], **figures)


def _with_interval(found: Mapping[str, Any] | None) -> str:
    if found is None or found["value"] is None:
        return _NONE
    return f"{found['value']:.3f} ({found['low']:.3f}~{found['high']:.3f})"
