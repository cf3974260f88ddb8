"""A few fixed items that every metric must score alike wherever it runs.

A worker whose numbers differ (a damaged file of weights, another build of a library, a faulty processor) gives no
error: it gives other scores. So its metrics score these items before they work for anybody, and their rows are compared
with those that are known. Those of the metrics of this package, with the demo models where a metric needs one, are in
``canary.json`` (made by ``python -m scoring.canary``). Of other models the platform keeps the rows of the first worker
that had them; ``scoring models verify`` compares such a worker with the packages.
"""

from __future__ import annotations

import json
import math
import struct
import sys
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from scoring.metrics import METRICS, CorpusMetric, Metric, MetricOptions, PairMetric, Row, load_metric
from scoring.models.store import ModelStore, shared_store
from scoring.signature import json_sha256

TOLERANCE: Final = 1e-5  # of a number; those of a pair move by up to 6e-8 with the processor and the batch
ENVIRONMENT: Final = ("libraries", "device_class")  # of a signature: another may not change a number by more
_FILE: Final = "canary.json"
_SIDE: Final = 32  # pixels of a frame

CanaryPair = tuple[tuple[str, ...], str]  # references and candidate

TEXTS: Final[tuple[CanaryPair, ...]] = (
    (("'맞히다'는 문제의 답을 옳게 대는 것이다.",), "'맞히다'는 문제의 답을 옳게 대는 것이다."),
    (("‘안’은 ‘아니’가 줄어든 말이므로 띄어 쓴다.",), "‘안’은 부사 ‘아니’의 준말이어서 뒤의 말과 띄어 쓴다."),
    (
        ("한 아이가 빨간 우산을 쓰고 빗속을 걸어간다.", "우산을 쓴 아이가 비 오는 길을 걷고 있다."),
        "아이가 우산을 들고 걷는다.",
    ),
    (("바닷가에서 갈매기 세 마리가 날고 있다.", "갈매기들이 모래밭 위를 난다."), "산속 오두막에 눈이 쌓여 있다."),
    (("‘며칠’은 어원이 분명하지 않으므로 소리 나는 대로 적는다.",), "며칠이 맞다. 몇 일로 적지 않는다."),
    (("부엌 식탁 위에 김치찌개와 밥 두 그릇이 있다.",), "식탁에 김치찌개와 밥이 차려져 있다. Dinner is ready at 7!"),
)
NUMBERS: Final[tuple[CanaryPair, ...]] = ((("1",), "1"), (("2.5",), "2"), (("-3", "3"), "3.5"), (("4",), "0.125"))
TARGETS: Final[tuple[CanaryPair, ...]] = (
    (('{"1":"적절","2":"부적절"}',), '{"1":"적절","2":"부적절"}'),
    (('{"3":"적절"}',), '{"3":"부적절"}'),
)
OPINIONS: Final[tuple[CanaryPair, ...]] = (
    (('[["품질","negative"],["가격","positive"]]',), '[["품질","negative"],["가격","negative"]]'),
    (('[["디자인","neutral"]]',), '[["가격","neutral"],["디자인","neutral"]]'),
)
_ESSAY: Final = "학교 급식에 지역 농산물을 써야 한다. 가까운 밭에서 오는 채소는 싱싱하고, 농민에게도 도움이 된다."
_SCORED: Final = (
    f'{{"content":3.4,"organization":2.75,"expression":4.0,"average":3.383,"prompt_num":"1","essay":"{_ESSAY}"}}'
)
ESSAYS: Final[tuple[CanaryPair, ...]] = (
    (
        (_SCORED,),
        '{"content":{"score":3.5,"rationale":"‘가까운 밭에서 오는 채소’를 근거로 들었다."},'
        '"organization":{"score":2.5,"rationale":"The order is clear."},"expression":{"score":4,"rationale":""}}',
    ),
    ((_SCORED,), "null"),
)
ITEMS: Final = {"essays": ESSAYS, "text": TEXTS, "number": NUMBERS, "targets": TARGETS, "opinions": OPINIONS}


@dataclass(frozen=True, slots=True)
class Difference:
    """A number that is not the known one. ``place``: of which row and column."""

    metric: str
    place: tuple[int, int]
    known: float
    computed: float

    def __str__(self) -> str:
        return (
            f"{self.metric}, row {self.place[0]}, number {self.place[1]}: {self.computed!r} instead of {self.known!r}"
        )


def rows_of(metric: Metric) -> list[Row]:
    """What ``metric`` computes for the fixed items: the value of every pair, or the row of every item."""
    items = ITEMS[metric.texts]
    if isinstance(metric, PairMetric):
        pairs = [(reference, candidate) for references, candidate in items for reference in references]
        values = metric.score_pairs([pair[0] for pair in pairs], [pair[1] for pair in pairs])
        return [(value,) for value in values]
    assert isinstance(metric, CorpusMetric)
    ids = [str(number) for number in range(len(items))]
    return metric.statistics(ids, [item[0] for item in items], [item[1] for item in items])


def is_checked(kind: type[Metric], store: ModelStore | None) -> bool:
    """Whether the fixed items say anything about this machine and can be scored; frames are there (``loaded``).

    What another server computes says nothing about it, and would be paid for every day: the signature names that
    server.
    """
    return not kind.is_remote and kind.is_configured(store, MetricOptions(media=Path()))


@contextmanager
def loaded(name: str, store: ModelStore | None) -> Iterator[Metric]:
    """The metric ``name`` for the fixed items, with a frame of each where it needs any."""
    if not METRICS[name].needs_media:
        yield load_metric(name, store)
        return
    with TemporaryDirectory() as folder:
        for number in range(len(ITEMS[METRICS[name].texts])):
            Path(folder, f"{number}.png").write_bytes(_frame(number))
        yield load_metric(name, store, MetricOptions(media=Path(folder)))


def _frame(number: int) -> bytes:
    """A small picture, of a colour that changes from one corner to the other, as PNG: the same bytes everywhere."""
    rows = (
        b"\0" + bytes(value % 256 for x in range(_SIDE) for value in (8 * x, 8 * y, 40 * number)) for y in range(_SIDE)
    )
    header = struct.pack(">IIBBBBB", _SIDE, _SIDE, 8, 2, 0, 0, 0)
    packed = zlib.compress(b"".join(rows), level=0)  # stored: no version of the library packs otherwise
    parts = ((b"IHDR", header), (b"IDAT", packed), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in parts
    )


def identity(metric: Metric) -> str:
    """What decides the rows of ``metric``: its signature without the environment it runs in."""
    return json_sha256({name: part for name, part in metric.signature().items() if name not in ENVIRONMENT})


def known_rows(metric: Metric) -> list[Row] | None:
    """The rows that ``metric`` must have; ``None`` for a metric or a model that this package does not know."""
    entry = _known().get(metric.name)
    return None if entry is None or entry["identity"] != identity(metric) else [tuple(row) for row in entry["rows"]]


def difference(metric: str, known: Sequence[Sequence[float]], rows: Sequence[Sequence[float]]) -> Difference | None:
    """The first number of ``rows`` that is farther from the known one than ``TOLERANCE``, if any."""
    for place, (expected, found) in enumerate(zip(known, rows, strict=False)):
        for column, (one, other) in enumerate(zip(expected, found, strict=False)):
            if not math.isclose(one, other, rel_tol=TOLERANCE, abs_tol=TOLERANCE):  # nan is never close
                return Difference(metric, (place, column), one, other)
    if [len(row) for row in known] != [len(row) for row in rows]:
        return Difference(metric, (len(known), 0), float(len(known)), float(len(rows)))
    return None


@cache
def _known() -> dict[str, Any]:
    return dict(json.loads(files("scoring").joinpath(_FILE).read_text("utf-8")))


def _computed() -> dict[str, Any]:
    store = shared_store("demo", "cpu")
    own = [name for name, kind in sorted(METRICS.items()) if is_checked(kind, store)]
    found = {}
    for name in own:
        if not METRICS.origin(name):
            with loaded(name, store) as metric:
                found[name] = {"identity": identity(metric), "rows": rows_of(metric)}
    return found


if __name__ == "__main__":
    path = Path(__file__).with_name(_FILE)
    path.write_text(json.dumps(_computed(), indent=1) + "\n", "utf-8")
    sys.stdout.write(f"{path}\n")
