"""A short form of ``make fuzz``, the same every time: each kind of upload, and what expands when it is read."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from tests.fuzz import archives
from tests.fuzz.files import RECIPES, File, read, sound_file
from tests.fuzz.kinds import FILE, FRAMES, Kind, file_kinds, judge_without_okt, site_kinds
from tests.fuzz.run import SIZED, measured
from tests.fuzz.site import CHARGED, Site, site

EXAMPLES = {"answers": 200, "captions": 100, "bytes": 120, "frames": 50}
EXAMPLES |= {"archives": 25, "page": 25, "api": 30, "forms": 30}
FILE_KINDS = {kind.name: kind for kind in file_kinds()}
FILE_KINDS["captions"] = replace(FILE_KINDS["captions"], judge=judge_without_okt)  # a second is left of ten


@pytest.fixture(scope="module")
def made(kept: None) -> Iterator[Site]:
    with site() as found:
        yield found


def send_all(kind: Kind) -> set[str]:
    """Send uploads of ``kind``, each of which is judged; what came of them."""
    words = set()

    @settings(
        max_examples=EXAMPLES[kind.name],
        derandomize=True,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(kind.uploads)
    def send(upload: Any) -> None:
        words.add(kind.judge(upload, kind.send(upload)))

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # a zip with the same name twice
        send()
    return words


@pytest.mark.parametrize("name", FILE_KINDS)
def test_a_file_is_read_the_same_twice_and_scored_or_refused_with_a_place_and_a_text(name: str) -> None:
    words = send_all(FILE_KINDS[name])
    assert len(words) > 1 or name == "bytes", "some are accepted, some are not"


@pytest.mark.django_db
@pytest.mark.parametrize("name", ["archives", "page", "api", "forms"])
def test_a_request_is_answered_and_charged_if_and_only_if_it_is_accepted(made: Site, name: str) -> None:
    words = send_all({kind.name: kind for kind in site_kinds(made)}[name])
    assert len(words) > 1, "some are accepted, some are not"
    if name in ("page", "api"):
        assert {CHARGED in what for what in words} == {True, False}


@pytest.mark.parametrize("recipe", RECIPES)
@pytest.mark.parametrize("is_reference", [False, True])
def test_the_sound_files_are_accepted(recipe: str, is_reference: bool) -> None:
    assert not isinstance(read(File(sound_file(recipe, is_reference=is_reference), recipe, is_reference)), Exception)


@pytest.mark.parametrize(
    "data", [b"[" * 900_000, b"[]," * 600_000, b'{"a":' * 400_000, b"{}\n" * 30_000, b"1," * 900_000]
)
@pytest.mark.parametrize("recipe", ["rag-qa@1", "captioning-lexical@1"])
def test_what_expands_when_it_is_decoded_stays_within_the_bound(data: bytes, recipe: str) -> None:
    _, cost = measured(read, File(data, recipe))
    assert cost.size > SIZED
    assert cost.grown < FILE.bytes_for(cost.size)


@pytest.mark.parametrize("kind", archives.BOMBS)
@pytest.mark.parametrize("declared", [None, 100])
def test_a_bomb_among_frames_stays_within_the_bound(kind: str, declared: int | None) -> None:
    frames = archives.zipped({"v-1.jpg": archives.image("jpg"), "v-2/1.png": archives.image("png")})
    bomb = archives.Packed(archives.with_bomb(frames, "v-2/1.png", kind, declared), kind)
    word, cost = measured(archives.unpack_frames, bomb)
    assert word != "accepted"
    assert cost.grown < FRAMES.bytes_for(cost.size) / 4
