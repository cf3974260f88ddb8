"""Embeddings kept in memory and on disk: bit for bit, checked, bounded, private, and never a reason to fail."""

from __future__ import annotations

import errno
import logging
import os
import stat
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
import torch

from scoring.metrics import load_metric
from scoring.models import cache as cache_module
from scoring.models import cache_files
from scoring.models.cache import Embedded, EmbeddingCache
from scoring.models.store import ModelStore
from tests.paths import ROOT
from tests.scoring.tiny_models import SENTENCES, make_bert, one_thread, write_profile
from tests.threads import at_once

WIDTH = 4
NONE: dict[str, Embedded] = {}


def embedded(seed: int, tokens: int = 3) -> Embedded:
    numbers = torch.Generator().manual_seed(seed)
    return Embedded(torch.randn(tokens, WIDTH, generator=numbers), torch.tensor([0.0] + [1.0] * (tokens - 1)))


def some(count: int, first: int = 0) -> dict[str, Embedded]:
    return {f"정답 {number}": embedded(number, 2 + number % 5) for number in range(first, first + count)}


def on_disk(folder: Path, **options: Any) -> EmbeddingCache:
    """A process that has just started: nothing in memory, and room there for nothing."""
    return EmbeddingCache(0, folder, **options)


def files(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.safetensors"), key=lambda path: path.stat().st_mtime_ns)


def same(found: dict[str, Embedded], expected: dict[str, Embedded]) -> bool:
    """Whether both hold the same texts and the same bits."""
    return found.keys() == expected.keys() and all(
        bits(found[text].vectors) == bits(expected[text].vectors)
        and bits(found[text].weights) == bits(expected[text].weights)
        and found[text].vectors.shape == expected[text].vectors.shape
        for text in found
    )


def bits(numbers: torch.Tensor) -> bytes:
    return numbers.contiguous().numpy().tobytes()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "cache" / "embeddings"


# --- memory -----------------------------------------------------------------------------------------------------------
def test_without_a_folder_memory_alone_holds_them() -> None:
    cache = EmbeddingCache(10_000)
    cache.put_many(some(3))
    assert same(cache.get_many(["정답 2", "정답 0", "다른 글"]), {k: some(3)[k] for k in ("정답 2", "정답 0")})
    assert "정답 1" in cache
    assert cache.get_many(["다른 글"]) == {}


def test_a_text_used_late_outlives_one_put_later() -> None:
    cache = EmbeddingCache(2 * 3 * WIDTH * 4)
    cache.put_many({"가": embedded(1)})
    cache.put_many({"나": embedded(2)})
    cache.get_many(["가"])
    cache.put_many({"다": embedded(3)})
    assert [text in cache for text in ("가", "나", "다")] == [True, False, True]


def test_what_is_kept_does_not_hold_the_batch_it_was_cut_from() -> None:
    cache = EmbeddingCache(10_000)
    batch = torch.randn(100, WIDTH)
    cache.put_many({"가": Embedded(batch[3:6], torch.ones(3))})
    kept = cache.get_many(["가"])["가"]
    assert kept is not None
    assert kept.vectors.untyped_storage().nbytes() == kept.vectors.nbytes
    assert torch.equal(kept.vectors, batch[3:6])


# --- disk -------------------------------------------------------------------------------------------------------------
def test_another_process_finds_the_same_bits(folder: Path) -> None:
    strange = {"": embedded(1), "\ud800": embedded(2), "가" * 5_000: embedded(3, 500)}
    odd = Embedded(torch.tensor([[-0.0, 1e-45, float("nan"), 3.4e38]]), torch.ones(1))
    kept = some(50) | strange | {"이상한 수": odd}
    EmbeddingCache(10_000, folder).put_many(kept)

    assert len(files(folder)) == 1
    again = on_disk(folder)
    assert "정답 7" in again
    assert same(again.get_many([*kept, "다른 글"]), kept)
    assert same(again.get_many(["정답 7"]), {"정답 7": kept["정답 7"]})


def test_what_comes_from_disk_stays_in_memory_and_may_be_written_to(folder: Path) -> None:
    on_disk(folder).put_many(some(3))
    cache = EmbeddingCache(10_000, folder)
    cache.get_many(some(3))
    files(folder)[0].unlink()
    found = cache.get_many(some(3))
    assert same(found, some(3))
    found["정답 0"].vectors.mul_(2)


def test_a_text_that_is_on_disk_is_not_written_again(folder: Path) -> None:
    cache = on_disk(folder)
    cache.put_many(some(3))
    cache.put_many(some(5))
    cache.put_many(some(5))
    assert len(files(folder)) == 2
    assert same(on_disk(folder).get_many(some(5)), some(5))


def test_a_text_without_tokens_is_no_trouble(folder: Path) -> None:
    empty = Embedded(torch.zeros(0, WIDTH), torch.zeros(0))
    on_disk(folder).put_many({"": empty} | some(2))
    on_disk(folder).put_many({"빈": empty})
    assert same(on_disk(folder).get_many(["", "빈", *some(2)]), some(2))


def test_another_model_has_embeddings_of_its_own(folder: Path) -> None:
    on_disk(folder, namespace="bert layer 9 float32").put_many(some(3))
    other = on_disk(folder, namespace="bert layer 8 float32")
    assert other.get_many(some(3)) == NONE
    assert "정답 0" not in other


def test_what_another_process_wrote_since_is_found(folder: Path) -> None:
    early = on_disk(folder)
    assert early.get_many(some(3)) == NONE
    on_disk(folder).put_many(some(3))
    assert same(early.get_many(some(3)), some(3))


def test_a_folder_that_is_there_keeps_its_mode(folder: Path) -> None:
    """Somebody may name /tmp."""
    folder.mkdir(parents=True)
    folder.chmod(0o755)
    on_disk(folder).put_many(some(3))
    assert stat.S_IMODE(folder.stat().st_mode) == 0o755


def test_one_file_that_cannot_be_read_hides_no_other(folder: Path) -> None:
    on_disk(folder).put_many(some(3))
    (path,) = files(folder)
    (folder / path.name.replace("-", "-0", 1)).mkdir()  # a name like a segment's that opens as no file
    assert same(on_disk(folder).get_many(some(3)), some(3))


def test_neither_texts_nor_the_folder_are_open_to_others(folder: Path) -> None:
    on_disk(folder, namespace="모델").put_many(some(3))
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    (path,) = files(folder)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert "정답".encode() not in path.read_bytes()
    assert list(folder.iterdir()) == [path]  # no draft is left


# --- damage -----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("place", [0.0, 0.3, 0.6, 0.99])
@pytest.mark.parametrize("how", ["flipped", "cut", "emptied"])
def test_a_damaged_file_is_deleted_and_made_again(
    folder: Path, how: str, place: float, caplog: pytest.LogCaptureFixture
) -> None:
    on_disk(folder).put_many(some(40))
    knew_it_before = on_disk(folder)
    (path,) = files(folder)
    data = bytearray(path.read_bytes())
    at = int(place * len(data))
    data[at] ^= 1
    path.write_bytes({"flipped": data, "cut": data[:at], "emptied": b""}[how])

    for cache in (on_disk(folder), knew_it_before):
        found = cache.get_many(some(40))
        assert same(found, {text: some(40)[text] for text in found})
        assert len(found) < 40
    assert not path.exists()
    assert "정답" not in caplog.text

    cache = on_disk(folder)
    cache.put_many(some(40))
    assert same(cache.get_many(some(40)), some(40))


def test_bytes_that_are_no_embeddings_are_deleted(folder: Path) -> None:
    on_disk(folder).put_many(some(2))
    (path,) = files(folder)
    prefix = path.name.split("-")[0]
    for number, junk in enumerate([b"", b"x" * 47, b"x" * 48, b"x" * 4_000, b"\xff" * 40 + b"MPEMBED1"]):
        (folder / f"{prefix}-{number}.safetensors").write_bytes(junk)
    assert same(on_disk(folder).get_many(some(2)), some(2))
    assert files(folder) == [path]


def test_a_file_that_another_process_deleted_is_forgotten(folder: Path) -> None:
    cache = on_disk(folder)
    cache.put_many(some(3))
    files(folder)[0].unlink()
    assert cache.get_many(some(3)) == NONE
    cache.put_many(some(3))
    assert same(cache.get_many(some(3)), some(3))


# --- a help, never a need ---------------------------------------------------------------------------------------------
def test_a_full_disk_is_only_told(
    folder: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    cache = EmbeddingCache(10_000, folder)
    monkeypatch.setattr(cache_files, "save_file", full)
    with caplog.at_level(logging.WARNING):
        cache.put_many(some(3))
    assert "No space left on device" in caplog.text
    assert list(folder.iterdir()) == []
    assert same(cache.get_many(some(3)), some(3))


def test_a_folder_that_cannot_be_made_leaves_memory(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "file").write_text("")
    cache = EmbeddingCache(10_000, tmp_path / "file" / "embeddings")
    cache.put_many(some(3))
    assert same(cache.get_many([*some(3), "다른 글"]), some(3))
    assert "cannot be used" in caplog.text


# --- bounds -----------------------------------------------------------------------------------------------------------
def test_the_file_used_longest_ago_goes_first_whosever_it_is(folder: Path) -> None:
    a_file = 10 * 3 * (WIDTH + 1) * 4
    room = 3 * a_file + 3 * 1_500  # and three footers
    sets = {mark: {f"{mark}{n}": embedded(n) for n in range(10)} for mark in "가나다라"}
    for age, mark in enumerate("가나다"):
        on_disk(folder, namespace=mark, max_disk_bytes=room).put_many(sets[mark])
        newest = files(folder)[-1]
        os.utime(newest, (time.time() - 100 + age,) * 2)

    assert same(on_disk(folder, namespace="가").get_many(sets["가"]), sets["가"])  # used just now
    on_disk(folder, namespace="라", max_disk_bytes=room).put_many(sets["라"])
    left = {mark: len(on_disk(folder, namespace=mark).get_many(sets[mark])) for mark in "가나다라"}
    assert left == {"가": 10, "나": 0, "다": 10, "라": 10}


def test_more_than_the_folder_may_hold_is_not_written(folder: Path) -> None:
    on_disk(folder, max_disk_bytes=200).put_many(some(50))
    assert files(folder) == []


def test_there_are_never_too_many_files(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache_files, "MAX_FILES", 4)
    cache = on_disk(folder)
    for number in range(9):
        cache.put_many(some(1, number))
    assert len(files(folder)) == 4
    assert "정답 8" in cache
    assert "정답 0" not in cache


def test_a_draft_that_nobody_finished_is_swept_away(folder: Path) -> None:
    cache = on_disk(folder)
    old, fresh = folder / ".a-1.draft", folder / ".a-2.draft"
    for draft in (old, fresh):
        draft.write_bytes(b"half")
    os.utime(old, (time.time() - 7_200,) * 2)
    cache.put_many(some(1))
    assert [draft.exists() for draft in (old, fresh)] == [False, True]


# --- many at once -----------------------------------------------------------------------------------------------------
def test_caches_that_write_read_and_make_room_at_once_harm_nobody(folder: Path) -> None:
    """Each keeps sets that overlap in a folder with room for few of them; whatever is found is right."""
    room = 6 * 4_000

    def work(start: int) -> int:
        found_in_all = 0
        for turn in range(15):
            cache = on_disk(folder, max_disk_bytes=room)
            wanted = some(20, (start * 7 + turn * 5) % 40)
            found = cache.get_many(wanted)
            assert same(found, {text: wanted[text] for text in found})
            cache.put_many({text: kept for text, kept in wanted.items() if text not in found})
            found_in_all += len(found)
        return found_in_all

    assert sum(at_once([lambda start=start: work(start) for start in range(6)])) > 0
    assert sum(path.stat().st_size for path in files(folder)) <= room + 6 * 4_000


def test_two_processes_share_a_folder(folder: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from tests.scoring.models.test_cache import on_disk, some;"
        "cache = on_disk(Path(sys.argv[1])); first = int(sys.argv[2]);"
        "[cache.put_many(some(20, first + turn)) for turn in range(10)]"
    )
    command = [sys.executable, "-c", code, str(folder)]
    running = [subprocess.Popen([*command, str(first)], cwd=ROOT) for first in (0, 15)]
    assert [process.wait(120) for process in running] == [0, 0]
    assert same(on_disk(folder).get_many(some(44)), some(44))


# --- the metric -------------------------------------------------------------------------------------------------------
def test_bertscore_of_another_process_encodes_no_reference_and_gives_the_same_values(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_bert(tmp_path / "bert")
    profile = write_profile(tmp_path / "tiny.toml", bertscore=tmp_path / "bert")
    references, candidates = [f"{text} {n}" for n in range(5) for text in SENTENCES], ["같은 답"] * 5 * len(SENTENCES)
    monkeypatch.setenv("MALPAN_EMBEDDINGS", str(folder))

    def values_and_texts_encoded() -> tuple[list[float], set[str]]:
        metric = load_metric("bertscore", ModelStore(profile, "cpu"))
        encoder, encoded = metric._store.bertscore, set()
        embed = encoder.embed

        def noted(texts: Iterable[str], heard: Any) -> dict[str, Embedded]:
            texts = set(texts)
            encoded.update(texts)
            return embed(texts, heard)

        monkeypatch.setattr(encoder, "embed", noted)
        with one_thread():
            return metric.score_pairs(references, candidates), encoded

    first, encoded_first = values_and_texts_encoded()
    second, encoded_second = values_and_texts_encoded()
    assert encoded_first == {*references, *candidates}
    assert encoded_second == set(candidates)
    assert second == first


def test_on_a_full_device_nothing_is_kept_and_nothing_fails(monkeypatch):
    cache = EmbeddingCache(1 << 20)
    cache.put_many({"가": embedded(3)})

    def full(part):
        raise torch.OutOfMemoryError

    monkeypatch.setattr(cache_module, "_own", full)
    cache.put_many({"나": embedded(3)})
    assert (cache.bytes, "가" in cache, "나" in cache) == (0, False, False)
    monkeypatch.undo()
    cache.put_many({"나": embedded(3)})
    assert "나" in cache
