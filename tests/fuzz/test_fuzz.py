"""A short form of ``make fuzz``, the same every time: each kind of upload, and what expands when it is read."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from scoring.records import Items
from tests.fuzz import archives, bodies, files, organiser_files, organisers
from tests.fuzz.bodies import Request
from tests.fuzz.files import File, read
from tests.fuzz.kinds import FILE, FRAMES, Kind, file_kinds, judge_without_okt, site_kinds
from tests.fuzz.run import SIZED, measured
from tests.fuzz.site import CHARGED, Site, site
from tests.fuzz.sound import CAPTIONS, ESSAYS, OFFICIAL, RECIPES, RICH, sound_file

EXAMPLES = {"answers": 200, "captions": 100, "essays": 100, "bytes": 120}
EXAMPLES |= {"questions": 60, "scores": 60, "synonyms": 60, "stages": 60, "frames": 50}
EXAMPLES |= {"archives": 90, "page": 25, "api": 30, "organisers": 60, "forms": 30}
FILE_KINDS = {kind.name: kind for kind in file_kinds()}
FILE_KINDS["captions"] = replace(FILE_KINDS["captions"], judge=judge_without_okt)  # a second is left of ten


@pytest.fixture(scope="module")
def made(kept: None) -> Iterator[Site]:
    with site() as found:
        yield found


def generated(uploads: st.SearchStrategy[Any], count: int) -> list[Any]:
    """``count`` uploads, the same every time."""
    found = []

    @settings(
        max_examples=count, derandomize=True, database=None, deadline=None, suppress_health_check=list(HealthCheck)
    )
    @given(uploads)
    def take(upload: Any) -> None:
        found.append(upload)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # a zip with the same name twice
        take()
    return found


def send_all(kind: Kind) -> set[str]:
    """Send uploads of ``kind``, each of which is judged; what came of them."""
    return {kind.judge(upload, kind.send(upload)) for upload in generated(kind.uploads, EXAMPLES[kind.name])}


@pytest.mark.parametrize("name", FILE_KINDS)
def test_a_file_is_read_the_same_twice_and_scored_or_refused_with_a_place_and_a_text(name: str) -> None:
    words = send_all(FILE_KINDS[name])
    if name != "bytes":
        assert {word.startswith("accepted") for word in words} == {True, False}


@pytest.mark.django_db
@pytest.mark.parametrize("name", ["archives", "page", "api", "organisers", "forms"])
def test_a_request_is_answered_and_charged_if_and_only_if_it_is_accepted(made: Site, name: str) -> None:
    words = send_all({kind.name: kind for kind in site_kinds(made)}[name])
    assert len(words) > 1, "some are accepted, some are not"
    if name == "archives":
        assert {word[:3] for word in words} >= {"302", "422", "201"}, "by the page and by the API"
    if name == "organisers":
        assert {word[:3] for word in words} >= {"302", "422"}
    if name in ("page", "api"):
        assert {CHARGED in what for what in words} == {True, False}


def test_the_shares_make_up_the_whole(made: Site) -> None:
    kinds = [*file_kinds(), *site_kinds(made)]
    assert sum(round(100_000 * kind.share) for kind in kinds) == 100_000
    assert [kind.name for kind in kinds] == list(EXAMPLES)


@pytest.mark.django_db
@pytest.mark.parametrize("reader", ["scores", "synonyms", "stages"])
def test_the_page_of_an_organiser_takes_what_the_reader_accepts(made: Site, reader: str) -> None:
    form, taken = made.organiser_forms[reader], set()
    for file in filter(lambda each: each.data, generated(organiser_files.organiser_files(reader), 30)):
        is_accepted = not isinstance(organiser_files.read(file), organiser_files.REFUSALS)
        parts = organisers.with_file(form, file.data)
        word, _answers = made.send(Request("POST", form.path, bodies.multipart(parts), bodies.MULTIPART, form.viewer))
        taken.add((is_accepted, word[:3]))
    assert taken == {(True, "302"), (False, "422")}


@pytest.mark.parametrize("recipe", RECIPES)
@pytest.mark.parametrize("is_reference", [False, True])
def test_the_sound_files_are_accepted(recipe: str, is_reference: bool) -> None:
    assert not isinstance(read(File(sound_file(recipe, is_reference=is_reference), recipe, is_reference)), Exception)


@pytest.mark.parametrize(
    ("uploads", "recipes"),
    [
        (files.answer_files(), OFFICIAL),
        (files.caption_files(), (CAPTIONS, RICH)),
        (files.essay_files(), (ESSAYS,)),
    ],
)
def test_files_of_every_recipe_and_side_are_accepted_and_refused(
    uploads: st.SearchStrategy[File], recipes: tuple[str, ...]
) -> None:
    found = {(file.recipe, file.is_reference, isinstance(read(file), Items)) for file in generated(uploads, 1_500)}
    assert found == set(product(recipes, (False, True), (False, True)))


@pytest.mark.parametrize(
    "data", [b"[" * 900_000, b"[]," * 600_000, b'{"a":' * 400_000, b"{}\n" * 30_000, b"1," * 900_000]
)
@pytest.mark.parametrize("recipe", ["rag-qa@1", "captioning-lexical@1", "essay-scoring@1"])
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
