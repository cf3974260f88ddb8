"""By how much each number format moves the scores of a profile's models on this machine, and what it saves.

An organiser who thinks of scoring in a faster format sees here what it costs: the formats are recorded in signatures
and never rank against each other, so the choice is made once, before a phase begins.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Final

from scoring.metrics import load_pair_metric
from scoring.models.devices import DeviceName, resolve_device
from scoring.models.precision import available_precisions
from scoring.models.profile import ModelRole, Profile
from scoring.models.store import EMBEDDINGS_VARIABLE, ModelStore
from scoring.running.run import score_distinct

ROLES: Final[tuple[ModelRole, ...]] = ("bertscore", "bleurt")

# (reference, candidate): reasons as the contest asks for, from nearly equal to unrelated.
SAMPLES: Final[tuple[tuple[str, str], ...]] = (
    (
        "'-대'는 다른 사람이 말한 내용을 간접적으로 전할 때 쓰고, '-데'는 자신이 직접 겪은 일을 회상하여 말할 때 쓴다.",
        "'-대'는 남이 말한 내용을 전할 때 쓰는 말이고, '-데'는 자신이 겪은 일을 돌이켜 말할 때 쓰는 말이다.",
    ),
    (
        "의존 명사는 앞말과 띄어 쓴다. 따라서 '아는 것이 힘이다'에서 '것'은 의존 명사이므로 앞말과 띄어 써야 한다.",
        "'것'은 의존 명사이므로 '아는 것이'처럼 앞말과 띄어 써야 한다.",
    ),
    (
        "순우리말로 된 합성어에서 뒷말의 첫소리가 된소리로 나면 앞말에 사이시옷을 받치어 적는다. '나뭇가지'가 그렇다.",
        "한자어로만 된 합성어에는 사이시옷을 적지 않는 것이 원칙이므로 '초점'으로 적는다.",
    ),
    (
        "'안'은 부사 '아니'의 준말이고 '않-'은 '아니하-'의 준말이므로, 서술어를 꾸미는 자리에는 '안'을 쓴다.",
        "'안'은 '아니'가 줄어든 말이고, '않-'은 '아니하-'가 줄어든 말이다.",
    ),
    ("'되어'가 줄면 '돼'가 되므로 '되요'가 아니라 '돼요'로 적는다.", "'되어요'의 준말은 '돼요'이므로 '돼요'가 옳다."),
    (
        "조사는 홀로 쓰일 수 없으므로 앞말에 붙여 쓴다. '학교에서만이라도'와 같이 조사가 여럿 이어져도 모두 붙여 쓴다.",
        "오늘은 아침부터 비가 내려 운동장이 젖었고, 아이들은 교실에서 책을 읽으며 시간을 보냈다.",
    ),
    (
        "단위를 나타내는 명사는 띄어 쓴다. 다만 순서를 나타내거나 숫자와 어울려 쓰일 때에는 붙여 쓸 수 있다.",
        "단위 명사는 띄어 쓰는 것이 원칙이지만, '제일과'처럼 순서를 나타내거나 '10개'처럼 숫자와 쓰면 붙여도 된다.",
    ),
    ("'바람'은 '바라다'에서 온 말이므로 '바램'으로 적지 않는다.", "'바라다'의 명사형은 '바람'이 옳다."),
)


@dataclass(frozen=True, slots=True)
class Deviation:
    """How far scores in ``precision`` lie from those in fp32 over ``SAMPLES``; ``speed`` is in times of fp32's."""

    role: ModelRole
    precision: str
    largest: float
    mean: float
    speed: float


def measure_precisions(profile: Profile, device: DeviceName = "auto") -> tuple[Deviation, ...]:
    """One ``Deviation`` for each model of ``profile`` and each further precision that the device computes in.

    Loads the models once in every precision, one at a time. Raises ``ModelUnavailable``, and ``MetricFault`` where
    a format gives no number at all.
    """
    others = [name for name in available_precisions(resolve_device(device)) if name != "fp32"]
    found: list[Deviation] = []
    for role in (role for role in ROLES if getattr(profile, role) is not None):
        exact, seconds = _values(profile, role, "fp32", device)
        for precision in others:
            values, took = _values(profile, role, precision, device)
            moved = [abs(one - other) for one, other in zip(values, exact, strict=True)]
            found.append(Deviation(role, precision, max(moved), sum(moved) / len(moved), seconds / took))
    return tuple(found)


def _values(profile: Profile, role: ModelRole, precision: str, device: DeviceName) -> tuple[Sequence[float], float]:
    """Scores of ``SAMPLES`` in ``precision``, and the seconds they took once the model was loaded and warm."""
    with _without_kept_embeddings():
        metric = load_pair_metric(role, ModelStore(replace(profile, precision=precision), device))
        metric.score_pairs([SAMPLES[0][1]], [SAMPLES[0][0]])
    started = time.perf_counter()
    values = score_distinct(metric, SAMPLES, lambda *_: None)
    return values, time.perf_counter() - started


@contextmanager
def _without_kept_embeddings() -> Iterator[None]:
    """What lies on disk would be read instead of computed, and the speed would be the disk's."""
    folder = os.environ.pop(EMBEDDINGS_VARIABLE, None)
    try:
        yield
    finally:
        if folder is not None:
            os.environ[EMBEDDINGS_VARIABLE] = folder
