"""A process of its own that kills its children with SIGKILL, each one step later than the one before.

Steps are before each call that changes a disk, and after each piece of a request was sent, its answer not yet read.
After each death every file that a row names must be readable; then the same work is done to its end.
``python -m tests.core.kill_drill FOLDER`` prints the counts as JSON; the settings come from the environment.
"""

from __future__ import annotations

import http.client
import io
import itertools
import json
import os
import shutil
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

import boto3.session

from malpan.core.errors import StoredFileCorrupt, StoredFileMissing
from malpan.core.storage import collecting, s3
from malpan.core.storage.moving import move
from malpan.core.storage.places import store_at
from malpan.core.storage.stores import CHUNK_BYTES, Store
from tests.killing import Step, dies

CALLS = ("write", "fsync", "replace", "unlink")  # of os
SMALL = (b"one", b"two")
LARGE = (bytes(5 * CHUNK_BYTES) + b"in two parts",)
NOW = timedelta(seconds=-5)  # older than this is everything, whatever the clocks


@dataclass
class Count:
    """Of one work: how often it was killed, files of rows not readable after that, reruns that did not finish it."""

    kills: int = 0
    lost: int = 0
    unfinished: int = 0


@dataclass
class Scene:
    """A ``work`` to be killed, on stores of its own. The files of ``rows`` must always be in one of ``kept_in``."""

    work: Callable[[], object]
    rows: Callable[[], Iterable[str]]
    kept_in: Sequence[Store]
    is_done: Callable[[], bool]


def drill(stage: Callable[[], Scene]) -> Count:
    """Kill the work at its first step, on another stage at its second, and so on until it comes to its end."""
    count = Count()
    while True:
        scene = stage()
        is_killed = dies(partial(_work, scene.work), count.kills + 1)
        count.lost += _lost(scene.rows(), scene.kept_in)
        for store in scene.kept_in:
            store.remove_unfinished(NOW)  # what the killed one left half written, and nothing else
        scene.work()
        count.unfinished += not scene.is_done()
        if not is_killed:
            return count
        count.kills += 1


class Stages:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.numbers = itertools.count()

    def stores(self) -> dict[str, Store]:
        number = next(self.numbers)
        shutil.rmtree(self.folder / str(number - 1), ignore_errors=True)
        places = {"disk": str(self.folder / str(number)), "S3": f"{os.environ['MALPAN_STORAGE']}/{number}"}
        return {kind: store_at(place) for kind, place in places.items()}

    def putting(self, kind: str, contents: Sequence[bytes]) -> Scene:
        """A row is committed when ``put`` has returned, not earlier."""
        store = self.stores()[kind]
        rows = self.folder / "rows"
        rows.write_text("")

        def put() -> None:
            for data in contents:
                stored = store.put(io.BytesIO(data))
                with rows.open("a") as committed:
                    committed.write(f"{stored.sha256}\n")

        def is_done() -> bool:
            sound = {copy.sha256 for copy in store.copies() if store.is_sound(copy)}
            return len(sound) == len(contents) and store.remove_unfinished(NOW) == 0

        return Scene(put, lambda: rows.read_text().split(), [store], is_done)

    def copying(self, source_kind: str, target_kind: str) -> Scene:
        """The site still uses the source."""
        stores = self.stores()
        source, target = stores[source_kind], stores[target_kind]
        rows = [source.put(data).sha256 for data in SMALL]

        def is_done() -> bool:
            return not _lost(rows, [target]) and len(list(source.copies())) == len(rows)

        return Scene(lambda: move(source=source, target=target), lambda: rows, [source], is_done)

    def removing(self, source_kind: str, target_kind: str) -> Scene:
        """The site uses the target now; a last file came to the source after the first move."""
        stores = self.stores()
        source, target = stores[source_kind], stores[target_kind]
        rows = [source.put(b"one").sha256]
        move(source=source, target=target)
        rows.append(source.put(b"two").sha256)

        def is_done() -> bool:
            return not _lost(rows, [target]) and not list(source.copies())

        return Scene(lambda: move(source=source, target=target, removes=True), lambda: rows, [source, target], is_done)

    def collecting(self, kind: str) -> Scene:
        store = self.stores()[kind]
        named = {store.put(data).sha256 for data in (b"named", b"named too", b"named")}  # one of them twice
        for data in (b"of nobody", b"of nobody either"):
            store.put(data)
        collecting.named_by_rows = named.intersection

        def is_done() -> bool:
            return sorted(copy.sha256 for copy in store.copies()) == sorted(named)

        return Scene(lambda: collecting.collect(store=store), lambda: named, [store], is_done)


def main(folder: Path) -> dict[str, Count]:
    _prepare()
    stages = Stages(folder)
    counts = {}
    for kind, other in (("disk", "S3"), ("S3", "disk")):
        counts[f"put on {kind}"] = drill(lambda kind=kind: stages.putting(kind, SMALL))
        counts[f"put on {kind}, large"] = drill(lambda kind=kind: stages.putting(kind, LARGE))
        counts[f"copy {kind} to {other}"] = drill(lambda kind=kind, other=other: stages.copying(kind, other))
        counts[f"remove from {kind}"] = drill(lambda kind=kind, other=other: stages.removing(kind, other))
        counts[f"collect on {kind}"] = drill(lambda kind=kind: stages.collecting(kind))
    return counts


def _prepare() -> None:
    """One session for the clients of all children, and no database: its part is played by lists of rows."""
    s3.PART_BYTES = 5 * CHUNK_BYTES  # the least that S3 takes
    collecting.KEPT = NOW
    session = boto3.session.Session()
    session.client("s3", region_name="us-east-1")
    boto3.session.Session = lambda: session
    collecting.this_site = lambda: "the drill"


def _work(work: Callable[[], object], step: Step) -> None:
    """Do ``work`` in this process, which takes a step with each call that changes a disk or sends."""

    def stepping(call: Callable[..., Any]) -> Callable[..., Any]:
        def stepped(*arguments: Any, **named: Any) -> Any:
            step()
            return call(*arguments, **named)

        return stepped

    for name in CALLS:
        setattr(os, name, stepping(getattr(os, name)))

    send, sent = http.client.HTTPConnection.send, itertools.count()

    def stepping_send(self: Any, data: Any) -> None:
        send(self, data)
        if len(data) < 4096 or next(sent) % 300 == 99:  # of a large body one piece is enough
            step()

    http.client.HTTPConnection.send = stepping_send
    work()


def _lost(addresses: Iterable[str], stores: Iterable[Store]) -> int:
    return sum(not any(_is_readable(store, sha256) for store in stores) for sha256 in addresses)


def _is_readable(store: Store, sha256: str) -> bool:
    try:
        store.open(sha256).close()
    except (StoredFileCorrupt, StoredFileMissing):
        return False
    return True


if __name__ == "__main__":
    print(json.dumps({name: asdict(count) for name, count in main(Path(sys.argv[1])).items()}))
