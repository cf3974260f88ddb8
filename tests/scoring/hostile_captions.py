"""Hostile caption files, and what it takes to read each: ``python -m tests.scoring.hostile_captions whole`` prints
JSON; without ``whole`` it reads a part of each, as the suite does.

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
from tests.scoring.growth import Sized, growth

SHARE = 32  # of the size that is allowed
SECONDS = 8.0  # of processor time for this part: 1 to 4 by the machine, far below what anything quadratic takes
HOSTILE: dict[str, Callable[[Sized], str]] = {  # made when read: whole they are 700 MB together
    "open objects": lambda of: '{"a":' * of(900_000),
    "open objects in a row": lambda of: '[{"annotation":' * of(450_000),
    "same key again and again": lambda of: "{" + '"a":"",' * of(900_000) + '"a":""}',
    "many keys": lambda of: "{" + ",".join(f'"{n}":""' for n in range(of(900_000))) + "}",
    "many lists": lambda of: "{" + ",".join(f'"{n}":[{{}}]' for n in range(of(300_000))) + "}",
    "many wrappers": lambda of: "{" + '"captions":[{}],' * of(300_000) + '"captions":[{}]}',
    "key of megabytes": lambda of: '{"' + "k" * of(19_000_000) + '":""}',
    "endings of megabytes": lambda of: '{"' + ".mp4" * of(4_700_000) + '":""}',
    "caption of megabytes": lambda of: '{"v-1":"' + "k" * of(19_000_000) + '"}',
    "one quote": lambda of: '{"v-1":"' + "a" * of(19_000_000),
    "backslashes": lambda of: '{"' + "\\" * of(19_000_000),
    "ids like keys": lambda of: '[{"x":"' + '\\"image_id\\" ' * of(1_400_000) + "'",
    "keys like ids": lambda of: '[{"id" ' + '"id" ' * of(3_800_000),
    "white space after a key": lambda of: '{"results": [{"id":' + " " * of(19_000_000),
    "many ids without value": lambda of: '[{"x": "' + "'id':" * of(3_800_000),
    "broken lines": lambda of: '{"id":"1"\n' * of(400_000),
    "unknown lines": lambda of: '{"id":"1","caption":""}\n' * of(300_000),
    "tiny table": lambda of: "a\tb\n" * of(4_900_000),
    "lines without tabs": lambda of: "a\tb\n" + "a\n" * of(9_000_000),
    "tabs": lambda of: "a" + "\t" * of(19_000_000),
    "blank lines": lambda of: "a\tb" + "\n \n" * of(6_000_000) + "a\tb",
    "quotes in a table": lambda of: 'a\t"' + '""' * of(9_000_000),
    "odd quotes in a table": lambda of: 'a\t"' + '""' * of(9_000_000) + '""x',
    "carriage returns": lambda of: "a\tb" + "\r" * of(19_000_000) + "c",
    "combining marks": lambda of: "a\t" + "\u0301\u0323" * of(4_500_000),
    "no tab": lambda of: "가나다 " * of(1_900_000),
    "digits": lambda of: "9" * of(19_000_000),
    "blank lines of CSV": lambda of: "image,caption\n" + "\n" * of(19_000_000),
    "white lines of CSV": lambda of: "image,caption\n" + " \n" * of(9_000_000),
    "quotes in CSV": lambda of: "image,caption\n" + '"' * of(19_000_000),
    "an open quote in CSV": lambda of: "image,caption\n" + 'a,"' + "b\n" * of(9_000_000),
    "commas": lambda of: "image,caption\n" + "," * of(19_000_000),
    "bars": lambda of: "image|caption\n" + "|" * of(19_000_000),
    "tiny CSV": lambda of: "image,caption\n" + '"a","b"\n' * of(2_300_000),
    "columns without end": lambda of: "image,caption" * of(1_400_000),
    "lists in lists": lambda of: '{"a":' + '[{"caption":' * of(1_500_000),
    "many names of one picture": lambda of: (
        '{"images":[' + '{"id":1,"file_name":"a"},' * of(400_000) + '{}],"annotations":[{"image_id":2,"caption":3}]}'
    ),
    "annotations in annotations": lambda of: '{"annotations":[' + '{"image_id":1,"caption":[' * of(700_000),
    "references without end": lambda of: '{"a": [' + '"x",' * of(900_000) + '"x"]}',
}

HOSTILE_REFERENCES = ("references without end", "tiny table", "many lists", "combining marks", "commas", "tiny CSV")


def measured(name: str, read: Callable[[bytes], object], share: int) -> dict[str, Any]:
    """Processor time of ``read`` for a part of the file and a quarter of that; the errors it raised, if it did."""
    told: dict[str, Any] = {}

    def seconds_of(of: Sized) -> float:
        data, errors = HOSTILE[name](of).encode(), ()
        started = time.process_time()
        try:
            read(data)
        except InvalidFile as invalid:
            errors = invalid.errors
        seconds = time.process_time() - started
        longest = max((len(json.dumps(error.as_dict())) for error in errors), default=0)
        told.update({"bytes": len(data), "errors": len(errors), "longest error": longest})
        return seconds

    return vars(growth(share, seconds_of, SECONDS)) | told


def main(share: int) -> dict[str, dict[str, Any]]:
    recipe = get_recipe("captioning@1")
    known = read_references(dumped(KNOWN).encode(), recipe)
    answers = {name: measured(name, lambda data: read_predictions(data, recipe, known), share) for name in HOSTILE}
    for name in HOSTILE_REFERENCES:
        answers[f"references: {name}"] = measured(name, lambda data: read_references(data, recipe), share)
    return answers


if __name__ == "__main__":
    json.dump(main(1 if "whole" in sys.argv else SHARE), sys.stdout)
