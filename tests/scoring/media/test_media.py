"""Frames come from a folder or a zip; nothing in a zip leaves its folder, links, fills the disk or goes unnamed."""

from __future__ import annotations

import errno
import io
import os
import stat
import struct
import subprocess
import sys
import unicodedata
import zipfile
from contextlib import suppress
from pathlib import Path

import pytest
from PIL import Image

from scoring.media import (
    FrameBroken,
    FramesAmbiguous,
    FramesMissing,
    MediaNotFound,
    MediaSet,
    check_frames,
    frames_of,
    item_id,
    open_frame,
)
from scoring.media.archive import ArchiveBroken, ArchiveTooLarge, ArchiveUnsafe, Limits, extract, media_folder
from tests.paths import ROOT


def png(shade: int = 0, size: tuple[int, int] = (4, 4)) -> bytes:
    file = io.BytesIO()
    Image.new("RGB", size, (shade, shade, shade)).save(file, "PNG")
    return file.getvalue()


def tree(folder: Path, files: dict[str, bytes]) -> Path:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return folder


def archive(path: Path, entries: dict[str | zipfile.ZipInfo, bytes], compression: int = zipfile.ZIP_DEFLATED) -> Path:
    with zipfile.ZipFile(path, "w", compression) as opened:
        for entry, content in entries.items():
            opened.writestr(entry, content)
    return path


def names(frames: dict[str, tuple[Path, ...]]) -> dict[str, list[str]]:
    return {item: [path.name for path in paths] for item, paths in frames.items()}


def test_an_item_has_one_file_or_a_folder_of_frames_in_order(tmp_path):
    files = ["b.JPG", "a/10.png", "a/02.webp", "a/1.jpeg", "c.mp4/0.png", "d.mp4.jpg", "v1.5.png"]
    tree(tmp_path, dict.fromkeys(files, png()))
    assert names(frames_of(tmp_path)) == {
        "a": ["02.webp", "1.jpeg", "10.png"],
        "b": ["b.JPG"],
        "c": ["0.png"],
        "d": ["d.mp4.jpg"],
        "v1.5": ["v1.5.png"],
    }


def test_what_is_no_image_is_passed_over(tmp_path):
    files = ["a.png", "a.txt", "b/readme.md", ".DS_Store", "Thumbs.db", "._a.png", "__MACOSX/a.png", "c/.hidden.png"]
    tree(tmp_path, dict.fromkeys(files, png()))
    assert names(frames_of(tmp_path)) == {"a": ["a.png"]}


def test_ids_are_nfc_whatever_wrote_the_names(tmp_path):
    tree(tmp_path, {unicodedata.normalize("NFD", "영상.png"): png()})
    assert list(frames_of(tmp_path)) == ["영상"]


@pytest.mark.parametrize("name", ["c1", "c1.mp4", "c1.json", "c1.jpg", "c1.MP4", "c1.mp4.jpg", "c1.webp"])
def test_an_id_loses_its_suffix_as_ids_of_captions_do(name):
    assert item_id(name) == "c1"


def test_an_id_that_kept_its_suffix_finds_its_frames(tmp_path):
    media = MediaSet(frames_of(tree(tmp_path, {"a.png": png()})))
    assert media.of("a.png") == media.of("a.mp4") == media.of("a") != ()


def test_exif_data_that_cannot_be_packed_anew_make_a_broken_frame(tmp_path, monkeypatch):
    def transpose(_):
        raise struct.error("required argument is not an integer")

    monkeypatch.setattr("PIL.ImageOps.exif_transpose", transpose)
    tree(tmp_path, {"a.png": png()})
    with pytest.raises(FrameBroken, match=r"a\.png"):
        open_frame(tmp_path / "a.png", "a")


def test_two_places_for_one_item_are_refused(tmp_path):
    tree(tmp_path, {"a.png": png(), "a/1.png": png()})
    with pytest.raises(FramesAmbiguous, match=r"a\.png"):
        frames_of(tmp_path)


def test_a_folder_that_is_not_there_is_named(tmp_path):
    with pytest.raises(MediaNotFound, match="none"):
        frames_of(tmp_path / "none")
    with pytest.raises(MediaNotFound, match="none"):
        media_folder(tmp_path / "none", tmp_path)


def test_missing_frames_are_counted_and_the_first_ids_named(tmp_path):
    media = MediaSet(frames_of(tree(tmp_path, {"a.png": png()})))
    media.require(["a"])
    with pytest.raises(FramesMissing) as caught:
        media.require(["a", *(f"없음{number}" for number in range(9))])
    for language in ("ko", "en"):
        message = caught.value.message(language)
        assert "없음4" in message
        assert "없음5" not in message
        assert "9" in message
        assert "10" in message


def test_the_digest_of_a_set_is_of_ids_and_contents(tmp_path):
    base = MediaSet(frames_of(tree(tmp_path / "1", {"a.png": png(1), "b/1.png": png(2), "b/2.png": png(3)})))
    moved = MediaSet(frames_of(tree(tmp_path / "2", {"a/x.png": png(1), "b/2.png": png(2), "b/1.png": png(3)})))
    other = MediaSet(frames_of(tree(tmp_path / "3", {"a.png": png(2), "b/1.png": png(1), "b/2.png": png(3)})))
    assert base.sha256 == moved.sha256 != other.sha256


def test_an_image_is_upright_and_rgb(tmp_path):
    exif = Image.Exif()
    exif[0x0112] = 6  # taken with the camera on its side
    Image.new("L", (8, 4)).save(tmp_path / "a.jpg", exif=exif)
    image = open_frame(tmp_path / "a.jpg", "a")
    assert (image.size, image.mode) == ((4, 8), "RGB")


@pytest.mark.parametrize("content", [b"", b"text", png()[:-30], b"GIF89a" + bytes(20)])
def test_a_broken_image_is_named_with_its_item(tmp_path, content):
    tree(tmp_path, {"하나.png": png(), "둘.png": content})
    with pytest.raises(FrameBroken, match="둘"):
        check_frames(frames_of(tmp_path))


def test_an_image_of_too_many_pixels_is_not_unfolded(tmp_path, monkeypatch):
    monkeypatch.setattr("scoring.media.MAX_PIXELS", 99)
    tree(tmp_path, {"a.png": png(size=(10, 10))})
    with pytest.raises(FrameBroken, match="a"):
        check_frames(frames_of(tmp_path))


def test_a_zip_is_unpacked_once_into_a_private_folder(tmp_path):
    path = archive(tmp_path / "f.zip", {"a.png": png(1), "b/": b"", "b/1.png": png(2), "__MACOSX/._a.png": b"x"})
    folder = media_folder(path, tmp_path / "cache")
    assert names(frames_of(folder)) == {"a": ["a.png"], "b": ["1.png"]}
    assert (folder / "a.png").read_bytes() == png(1)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    stamp = (folder / "a.png").stat().st_mtime_ns
    assert media_folder(path, tmp_path / "cache") == folder
    assert (folder / "a.png").stat().st_mtime_ns == stamp
    assert media_folder(folder) == folder


@pytest.mark.parametrize(
    "name",
    [
        "../a.png",
        "/etc/a.png",
        "a/../../b.png",
        "..\\a.png",
        "C:\\a.png",
        "a/b/c.png",
        "a//b.png",
        "./a.png",
        "a\x07.png",
    ],
)
def test_a_name_that_could_leave_the_folder_is_refused(tmp_path, name):
    path = archive(tmp_path / "f.zip", {name: png()})
    with pytest.raises(ArchiveUnsafe):
        media_folder(path, tmp_path / "cache")
    assert [each for each in tmp_path.rglob("*") if each.is_file() and each.suffix == ".png"] == []


@pytest.mark.parametrize("name", ["a.txt", "a.svg", "a.png.exe", "b/run.sh", "a"])
def test_what_is_no_image_is_refused_by_name(tmp_path, name):
    path = archive(tmp_path / "f.zip", {name: b"x"})
    with pytest.raises(ArchiveUnsafe, match=name.rsplit("/", 1)[-1]):
        media_folder(path, tmp_path / "cache")


def test_an_entry_without_a_name_is_refused(tmp_path):
    entry = zipfile.ZipInfo("")
    with pytest.raises(ArchiveUnsafe):
        media_folder(archive(tmp_path / "f.zip", {entry: b"x"}), tmp_path / "cache")


@pytest.mark.parametrize("kind", [stat.S_IFLNK, stat.S_IFIFO, stat.S_IFCHR])
def test_links_and_devices_are_refused(tmp_path, kind):
    entry = zipfile.ZipInfo("a.png")
    entry.external_attr = (kind | 0o777) << 16
    with pytest.raises(ArchiveUnsafe, match=r"a\.png"):
        media_folder(archive(tmp_path / "f.zip", {entry: b"/etc/passwd"}), tmp_path / "cache")


def test_one_name_twice_or_a_file_that_is_also_a_folder_is_refused(tmp_path):
    with pytest.warns(UserWarning, match="Duplicate"):
        archive(tmp_path / "1.zip", {zipfile.ZipInfo("a.png"): png(1), zipfile.ZipInfo("a.png"): png(2)})
    archive(tmp_path / "2.zip", {"a.png": png(1), "a.png/1.png": png(2)})
    for name in ("1.zip", "2.zip"):
        with pytest.raises(ArchiveUnsafe):
            media_folder(tmp_path / name, tmp_path / "cache")


@pytest.mark.parametrize(
    "limits", [Limits(files=2), Limits(file_bytes=1000), Limits(total_bytes=2500)], ids=["files", "one", "all"]
)
def test_more_than_the_limits_is_refused_and_leaves_nothing(tmp_path, limits):
    path = archive(tmp_path / "f.zip", {f"{number}.png": bytes(1001) for number in range(3)})
    with pytest.raises(ArchiveTooLarge):
        media_folder(path, tmp_path / "cache", limits)
    assert list((tmp_path / "cache").rglob("*.png")) == []
    assert [each for each in (tmp_path / "cache").iterdir() if each.is_dir()] == []


def test_a_header_that_lies_about_the_size_does_not_help(tmp_path):
    path = archive(tmp_path / "f.zip", {"a.png": bytes(100_000)})
    data = bytearray(path.read_bytes())
    place = data.rindex(b"PK\x01\x02") + 24  # the size in the central directory
    data[place : place + 4] = (10).to_bytes(4, "little")
    path.write_bytes(bytes(data))
    with pytest.raises((ArchiveTooLarge, ArchiveBroken)):
        media_folder(path, tmp_path / "cache", Limits(file_bytes=1000))


@pytest.mark.parametrize("harm", ["no zip", "cut", "flipped", "encrypted"])
def test_a_damaged_or_encrypted_zip_is_refused(tmp_path, harm):
    path = archive(tmp_path / "f.zip", {"a.png": png()}, zipfile.ZIP_STORED)
    data = bytearray(path.read_bytes())
    if harm == "no zip":
        data = bytearray(b"no zip at all")
    elif harm == "cut":
        del data[len(data) // 2 :]
    elif harm == "flipped":
        data[60] ^= 1
    else:
        data[data.rindex(b"PK\x01\x02") + 8] |= 1
    path.write_bytes(bytes(data))
    with pytest.raises((ArchiveBroken, ArchiveUnsafe)):
        media_folder(path, tmp_path / "cache")


@pytest.mark.parametrize("compression", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_what_zipfile_would_unpack_without_a_limit_is_refused(tmp_path, compression):
    path = archive(tmp_path / "f.zip", {"a.png": png()}, compression)
    with pytest.raises(ArchiveBroken, match="compression method"):
        media_folder(path, tmp_path / "cache")


@pytest.mark.parametrize("compression", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_a_zip_with_a_wrong_byte_is_refused_or_read_whatever_byte_it_is(tmp_path, compression):
    sound = archive(tmp_path / "f.zip", {"a.png": png(), "b/1.png": png(9)}, compression).read_bytes()
    for place in range(len(sound)):
        data = bytearray(sound)
        data[place] ^= 0xA5
        with suppress(ArchiveBroken, ArchiveUnsafe, ArchiveTooLarge):
            extract(io.BytesIO(data), tmp_path / str(place))


def test_a_full_disk_is_no_fault_of_the_zip(tmp_path, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("scoring.media.archive._copy", full)
    with pytest.raises(OSError, match="space"):
        media_folder(archive(tmp_path / "f.zip", {"a.png": png()}), tmp_path / "cache")


@pytest.mark.parametrize("encoding", ["utf-8", "cp949"])
def test_korean_names_of_a_mac_and_of_windows_are_read(tmp_path, encoding):
    """Neither sets the flag that says how the names are written."""
    plain = "x" * len("영상".encode(encoding))
    path = archive(tmp_path / "f.zip", {f"{plain}.png": png()})
    path.write_bytes(path.read_bytes().replace(plain.encode(), "영상".encode(encoding)))
    assert list(frames_of(media_folder(path, tmp_path / "cache"))) == ["영상"]


def test_looking_at_frames_imports_no_model_library():
    script = (
        "import sys, scoring.media, scoring.media.archive;"
        "assert not {'torch', 'transformers', 'numpy', 'PIL'} & set(sys.modules), sorted(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", script], cwd=ROOT, env=dict(os.environ), check=True)
