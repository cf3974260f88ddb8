"""Own submissions item by item, and two of them compared."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

from malpan_client.failing import DONE, NOT_SCORED
from malpan_client.places import submission_path
from malpan_client.showing import Result, table
from malpan_client.site import Facts, Site, each_of
from malpan_client.watching import watch
from malpan_client.words import has, say

FEW_ITEMS = 20  # are listed, unless all are asked for
ANSWER_CHARS = 60  # characters of an answer in a table


def items(site: Site, options: Namespace) -> Result:
    path = submission_path(options.id, "items/")
    found = _items_of(site, path, options.all, by=options.by)
    metrics = list(each_of(found["metrics"]))
    rows = [
        (each["id"], shortened(each["answer"]), *(_between(each["values"].get(metric["key"])) for metric in metrics))
        for each in _few_of(found, options.all)
    ]
    heads = ["id", say("answer"), *(each["label"] for each in metrics)]
    return Result(found, _items_text(found, heads, rows))


def compare(site: Site, options: Namespace) -> Result:
    path = submission_path(options.id, f"compare/{quote(options.other, safe='')}/")
    split = "private" if options.private else ""
    found = site.get(path, split=split)
    if options.wait:
        found = watch(
            site,
            found,
            f"{path}?split=private" if split else path,
            is_over=lambda each: bool(each["is_computed"] or each["refusal"]),
            line=lambda each: say("being_compared"),
            seconds=options.wait_limit,
        )
    text = _differences_text(found)
    if options.answers:
        pairs = _items_of(site, f"{path}items/", options.all, changed="" if options.all else "true")
        found = Facts(found, answers=pairs)
        text = f"{text}\n\n{_pairs_text(pairs, options.all)}"
    is_open = not (found["is_computed"] or found["refusal"])
    return Result(found, text, NOT_SCORED if options.wait and is_open else DONE)


def _differences_text(found: Any) -> str:
    if found["refusal"]:
        return _reason_text(f"not_compared_{found['refusal']}", found["refusal"])
    rows = [
        (
            each["label"],
            each["one_text"],
            each["other_text"],
            each["difference_text"],
            "–" if each.get("p") is None else f"{each['p']:.4f}",
            "–" if each.get("p") is None else say("is_different" if each["is_significant"] else "may_be_chance"),
        )
        for each in each_of(found["scores"])
    ]
    heads = [say("metric"), say("earlier"), say("later"), say("difference"), "p", say("verdict")]
    parts = [
        f"{say('earlier')} {found['one']}\n{say('later')} {found['other']}",
        table(heads, rows, right=[1, 2, 3, 4]),
    ]
    if found["split"] == "private":
        parts.insert(0, say("private_scores"))
    if not found["is_computed"]:
        parts.append(say("being_compared"))
    elif found["reason"]:
        parts.append(_reason_text(f"not_tested_{found['reason']}", found["reason"]))
    return "\n\n".join(parts)


def _pairs_text(found: Any, shows_all: bool) -> str:
    metrics = list(each_of(found["metrics"]))
    rows = [
        (
            each["id"],
            shortened(each["one"]),
            shortened(each["other"]),
            *(" → ".join(map(_between, each["values"].get(metric["key"]) or [None])) for metric in metrics),
        )
        for each in _few_of(found, shows_all)
    ]
    told = say("changed_answers", count=found["changed_count"])
    heads = ["id", say("earlier"), say("later"), *(each["label"] for each in metrics)]
    return f"{told}\n{_items_text(found, heads, rows)}"


def _items_text(found: Any, heads: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    if found["is_unreadable"]:
        return say("unreadable_file")
    text = table(heads, rows) if rows else say("no_items")
    left = found["count"] - len(rows)
    return text + (f"\n{say('more_rows', count=left)}" if rows and left > 0 else "")


def _items_of(site: Site, path: str, shows_all: bool, **query: Any) -> Any:
    if shows_all:
        return site.pages(path, "items", **query)
    return site.get(path, page_size=FEW_ITEMS, **query)


def _few_of(found: Any, shows_all: bool) -> list[Any]:
    return list(each_of(found["items"]))[: None if shows_all else FEW_ITEMS]


def shortened(answer: str | None) -> str:
    """An answer on one line."""
    text = "–" if answer is None else " ".join(answer.split())
    return text if len(text) <= ANSWER_CHARS else f"{text[: ANSWER_CHARS - 1]}…"


def _between(value: Any) -> str:
    """``0.8123``, or the quarter it is in."""
    if value is None:
        return "–"
    return f"{value['low']:.4f}" if value["low"] == value["high"] else f"{value['low']:g}–{value['high']:g}"


def _reason_text(name: str, code: str) -> str:
    """A text of the reason; one of a newer server is its own name."""
    return say(name) if has(name) else str(code)
