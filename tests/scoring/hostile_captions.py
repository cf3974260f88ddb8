"""Hostile caption files, and what it takes to read each: ``python -m tests.scoring.hostile_captions whole`` prints
JSON; without ``whole`` it reads a quarter of each, as the suite does.

It runs apart because time in a process with a past (a JVM, models, a gigabyte of other tests' heap) says little about a
web process, which is what reads uploads.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from typing import Any

from scoring.errors import InvalidFile
from scoring.reading import read_predictions, read_references
from scoring.recipes import get_recipe
from tests.scoring.caption_samples import KNOWN, dumped

SHARE = 4  # of the size that is allowed: the suite reads a quarter, which anything quadratic makes long all the same


def of(count: int) -> int:
    """The part of ``count`` that is read."""
    return count if "whole" in sys.argv else count // SHARE


HOSTILE: dict[str, Callable[[], str]] = {  # made when read: together they are 700 MB
    "open objects": lambda: '{"a":' * of(900_000),
    "open objects in a row": lambda: '[{"annotation":' * of(450_000),
    "same key again and again": lambda: "{" + '"a":"",' * of(900_000) + '"a":""}',
    "many keys": lambda: "{" + ",".join(f'"{n}":""' for n in range(of(900_000))) + "}",
    "many lists": lambda: "{" + ",".join(f'"{n}":[{{}}]' for n in range(of(300_000))) + "}",
    "many wrappers": lambda: "{" + '"captions":[{}],' * of(300_000) + '"captions":[{}]}',
    "key of megabytes": lambda: '{"' + "k" * of(19_000_000) + '":""}',
    "endings of megabytes": lambda: '{"' + ".mp4" * of(4_700_000) + '":""}',
    "caption of megabytes": lambda: '{"v-1":"' + "k" * of(19_000_000) + '"}',
    "one quote": lambda: '{"v-1":"' + "a" * of(19_000_000),
    "backslashes": lambda: '{"' + "\\" * of(19_000_000),
    "ids like keys": lambda: '[{"x":"' + '\\"image_id\\" ' * of(1_400_000) + "'",
    "keys like ids": lambda: '[{"id" ' + '"id" ' * of(3_800_000),
    "white space after a key": lambda: '{"results": [{"id":' + " " * of(19_000_000),
    "many ids without value": lambda: '[{"x": "' + "'id':" * of(3_800_000),
    "broken lines": lambda: '{"id":"1"\n' * of(400_000),
    "unknown lines": lambda: '{"id":"1","caption":""}\n' * of(300_000),
    "tiny table": lambda: "a\tb\n" * of(4_900_000),
    "lines without tabs": lambda: "a\tb\n" + "a\n" * of(9_000_000),
    "tabs": lambda: "a" + "\t" * of(19_000_000),
    "blank lines": lambda: "a\tb" + "\n \n" * of(6_000_000) + "a\tb",
    "quotes in a table": lambda: 'a\t"' + '""' * of(9_000_000),
    "odd quotes in a table": lambda: 'a\t"' + '""' * of(9_000_000) + '""x',
    "carriage returns": lambda: "a\tb" + "\r" * of(19_000_000) + "c",
    "combining marks": lambda: "a\t" + "\u0301\u0323" * of(4_500_000),
    "no tab": lambda: "가나다 " * of(1_900_000),
    "digits": lambda: "9" * of(19_000_000),
    "blank lines of CSV": lambda: "image,caption\n" + "\n" * of(19_000_000),
    "white lines of CSV": lambda: "image,caption\n" + " \n" * of(9_000_000),
    "quotes in CSV": lambda: "image,caption\n" + '"' * of(19_000_000),
    "an open quote in CSV": lambda: "image,caption\n" + 'a,"' + "b\n" * of(9_000_000),
    "commas": lambda: "image,caption\n" + "," * of(19_000_000),
    "bars": lambda: "image|caption\n" + "|" * of(19_000_000),
    "tiny CSV": lambda: "image,caption\n" + '"a","b"\n' * of(2_300_000),
    "columns without end": lambda: "image,caption" * of(1_400_000),
    "lists in lists": lambda: '{"a":' + '[{"caption":' * of(1_500_000),
    "many names of one picture": lambda: (
        '{"images":[' + '{"id":1,"file_name":"a"},' * of(400_000) + '{}],"annotations":[{"image_id":2,"caption":3}]}'
    ),
    "annotations in annotations": lambda: '{"annotations":[' + '{"image_id":1,"caption":[' * of(700_000),
    "references without end": lambda: '{"a": [' + '"x",' * of(900_000) + '"x"]}',
}

HOSTILE_REFERENCES = ("references without end", "tiny table", "many lists", "combining marks", "commas", "tiny CSV")


def measured(read: Callable[[], object], size: int) -> dict[str, Any]:
    """Processor time of ``read`` and the errors it raised: none where it raised none."""
    started = time.process_time()
    errors = ()
    try:
        read()
    except InvalidFile as invalid:
        errors = invalid.errors
    seconds = time.process_time() - started
    longest = max((len(json.dumps(error.as_dict())) for error in errors), default=0)
    return {"bytes": size, "seconds": seconds, "errors": len(errors), "longest error": longest}


def main() -> dict[str, dict[str, Any]]:
    recipe = get_recipe("captioning@1")
    known = read_references(dumped(KNOWN).encode(), recipe)
    answers = {}
    for name, text in HOSTILE.items():
        data = text().encode()
        answers[name] = measured(lambda data=data: read_predictions(data, recipe, known), len(data))
    for name in HOSTILE_REFERENCES:
        data = HOSTILE[name]().encode()
        answers[f"references: {name}"] = measured(lambda data=data: read_references(data, recipe), len(data))
    return answers


if __name__ == "__main__":
    json.dump(main(), sys.stdout)
