"""Zip archives: of a whole competition, and of frames. Sound members are changed, or the zip around them."""

from __future__ import annotations

import bz2
import io
import json
import lzma
import struct
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from hypothesis import strategies as st
from PIL import Image

from malpan.archive import format as form
from scoring.media import MediaFault, MediaSet, check_frames, frames_of
from scoring.media.archive import Limits, extract
from tests.fuzz.mutations import TEXTS, Draw, broken_bytes, broken_value, number, pick, values

BOMB_BYTES: Final = 30_000_000  # that a bomb of a few kilobytes unpacks to
NAMES: Final = (
    *("../outside", "/etc/passwd", "files/../../x", "tables/teams.jsonl/", "C:\\x", "files/" + "0" * 64, "x" * 300),
    *("a\x00b", "people.jsonl", "manifest.json", "tables/nothing.jsonl", "\u202egpj.exe", "가.jpg", ".hidden/1.jpg"),
)
LIMITS: Final = Limits(files=50, file_bytes=4_000_000, total_bytes=16_000_000)


@dataclass(frozen=True)
class Packed:
    """A zip, and what was done to it."""

    data: bytes
    changes: str

    def __str__(self) -> str:
        return self.changes


def competition_archives(members: Mapping[str, bytes]) -> st.SearchStrategy[Packed]:
    """Archives of the competition whose sound archive holds ``members``."""
    return _archives({name: data for name, data in members.items() if name != form.MANIFEST}, members[form.MANIFEST])


@st.composite
def _archives(draw: Draw, members: dict[str, bytes], manifest: bytes) -> Packed:
    how = pick(draw, ("sound", "row", "row", "row", "row", "line", "manifest", "manifest", "member", "zip", "zip"))
    changed, body = dict(members), json.loads(manifest)
    if how in ("row", "line"):
        name = pick(draw, [name for name, data in members.items() if name.endswith("l") and data])
        changed[name] = (_changed_row if how == "row" else broken_bytes)(draw, members[name])
    elif how == "member":
        _change_member(draw, changed)
    if draw(st.booleans()) or how in ("row", "line"):  # the manifest fits again
        body["members"] = [
            {"name": name, "size": len(data), "sha256": sha256(data).hexdigest()} for name, data in changed.items()
        ]
    text = json.dumps(_changed_manifest(draw, body) if how == "manifest" else body).encode()
    if how == "manifest" and number(draw, 0, 9) == 0:
        text = broken_bytes(draw, text)
    data = zipped({**changed, form.MANIFEST: text})
    return Packed(_changed_zip(draw, data) if how == "zip" else data, how)


def _changed_row(draw: Draw, data: bytes) -> bytes:
    """The lines of a table with one of them changed: a column, or something inside one."""
    lines = [json.loads(line) for line in data.splitlines()]
    place = number(draw, 0, len(lines) - 1)
    if draw(st.booleans()):
        column = pick(draw, sorted(lines[place]))
        lines[place][column] = draw(values())
    else:
        lines[place] = broken_value(draw, lines[place])
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines)


def _changed_manifest(draw: Draw, body: dict[str, Any]) -> Any:
    if draw(st.booleans()):
        body[pick(draw, sorted(body))] = draw(values())
        return body
    if draw(st.booleans()):
        member = pick(draw, body["members"])
        member[pick(draw, ("name", "size", "sha256"))] = draw(values())
        return body
    return broken_value(draw, body)


def _change_member(draw: Draw, members: dict[str, bytes]) -> None:
    name = pick(draw, sorted(members))
    how = pick(draw, ("drop", "rename", "add", "bytes"))
    if how == "bytes":
        members[name] = broken_bytes(draw, members[name])
    elif how == "add":
        members[pick(draw, NAMES)] = draw(st.binary(max_size=20))
    else:
        data = members.pop(name)
        if how == "rename":
            members[pick(draw, NAMES)] = data


def zipped(members: Mapping[str, bytes], compression: int = zipfile.ZIP_DEFLATED) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", compression) as archive:
        for name, data in members.items():
            info = zipfile.ZipInfo(name)  # by its name alone, which may be empty, the method of the archive fails
            info.compress_type = compression
            archive.writestr(info, data)
    return target.getvalue()


def _changed_zip(draw: Draw, data: bytes) -> bytes:
    """The container itself damaged, compressed by another method, or with a bomb in the place of a member."""
    how = pick(draw, ("bytes", "bytes", "method", "bomb", "header", "empty", "twice"))
    if how == "bytes":
        return broken_bytes(draw, data)
    if how == "empty":
        return zipped({})
    if how == "twice":
        return data + data
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    if how == "method":
        return zipped(members, pick(draw, (zipfile.ZIP_STORED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA)))
    if how == "bomb":
        return with_bomb(data, pick(draw, sorted(members)), pick(draw, tuple(BOMBS)))
    return _with_header(draw, data)


def _with_header(draw: Draw, data: bytes) -> bytes:
    """One number of one entry in the directory at the end of the zip replaced."""
    entries = [at for at in range(len(data)) if data.startswith(b"PK\x01\x02", at)]
    offset, form_ = pick(draw, ((6, "<H"), (8, "<H"), (10, "<H"), (16, "<I"), (20, "<I"), (24, "<I")))
    number = pick(draw, (0, 1, 8, 12, 14, 99, 0x41, 0x800, 0x7FFF, 0xFFFF))
    at = pick(draw, entries) + offset
    if form_ == "<I":
        number = pick(draw, (0, 1, 2**31, 2**32 - 1, number))
    return data[:at] + struct.pack(form_, number) + data[at + struct.calcsize(form_) :]


@cache
def _deflated() -> bytes:
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    return packer.compress(b"[]," * (BOMB_BYTES // 3)) + packer.flush()


@cache
def _bzip2() -> bytes:
    return bz2.compress(bytes(BOMB_BYTES))


@cache
def _lzma() -> bytes:
    filters = [{"id": lzma.FILTER_LZMA1}]
    properties = lzma._encode_filter_properties(filters[0])
    packer = lzma.LZMACompressor(lzma.FORMAT_RAW, filters=filters)
    return struct.pack("<BBH", 9, 4, len(properties)) + properties + packer.compress(bytes(BOMB_BYTES)) + packer.flush()


BOMBS: Final[dict[str, tuple[int, Callable[[], bytes]]]] = {
    "deflate": (zipfile.ZIP_DEFLATED, _deflated),
    "bzip2": (zipfile.ZIP_BZIP2, _bzip2),
    "lzma": (zipfile.ZIP_LZMA, _lzma),
}


def with_bomb(data: bytes, name: str, kind: str, declared: int | None = None) -> bytes:
    """The zip with the member ``name`` packed so that it becomes ``BOMB_BYTES``, and declares ``declared`` of them."""
    method, bomb = BOMBS[kind]
    packed, target = bomb(), io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as new:
        for each in old.namelist():
            new.writestr(each, packed if each == name else old.read(each), _stored(each, name))
    mended = bytearray(target.getvalue())
    numbers = (method, packed, BOMB_BYTES if declared is None else declared)
    with zipfile.ZipFile(io.BytesIO(mended)) as new:
        _mend(mended, new.getinfo(name).header_offset, 8, *numbers)
    for at in range(len(mended)):
        is_entry = mended.startswith(b"PK\x01\x02", at)
        if is_entry and mended[at + 46 : at + 46 + len(name.encode())] == name.encode():
            _mend(mended, at, 10, *numbers)
    return bytes(mended)


def _stored(each: str, name: str) -> int:
    return zipfile.ZIP_STORED if each == name else zipfile.ZIP_DEFLATED


def _mend(data: bytearray, at: int, method_at: int, method: int, packed: bytes, declared: int) -> None:
    """Let the header at ``at`` say that its member is ``packed`` by ``method``."""
    struct.pack_into("<H", data, at + method_at, method)
    struct.pack_into("<III", data, at + method_at + 6, 0, len(packed), declared)


# --- frames -----------------------------------------------------------------------------------------------------------
@cache
def image(suffix: str) -> bytes:
    target = io.BytesIO()
    Image.new("RGB", (16, 16), "red").save(target, {"jpg": "JPEG", "png": "PNG", "webp": "WEBP"}[suffix])
    return target.getvalue()


@st.composite
def frame_archives(draw: Draw) -> Packed:
    """Archives of the frames of two items."""
    members = {"v-1.jpg": image("jpg"), "v-2/1.png": image("png"), "v-2/2.webp": image("webp")}
    how = pick(draw, ("sound", "image", "image", "image", "name", "zip", "zip"))
    if how == "image":
        name = pick(draw, sorted(members))
        members[name] = broken_bytes(draw, members[name])
    elif how == "name":
        data = members.pop(pick(draw, sorted(members)))
        name = pick(draw, (*NAMES, *(text for text in TEXTS if len(text) < 99)))
        members[name.encode("utf-8", "replace").decode() + pick(draw, ("", ".jpg", "/1.png"))] = data
    data = zipped(members)
    return Packed(_changed_zip(draw, data) if how == "zip" else data, how)


def unpack_frames(packed: Packed) -> str:
    """What becomes of an archive of frames, as when it is checked before a version takes it."""
    with tempfile.TemporaryDirectory(prefix="fuzz-") as temporary:
        folder = Path(temporary) / "frames"
        try:
            extract(io.BytesIO(packed.data), folder, LIMITS)
            frames = frames_of(folder)
            MediaSet(frames).require(("v-1", "v-2"))
            check_frames(frames)
        except MediaFault as refusal:
            fault = refusal
        else:
            return "accepted"
    assert fault.message("ko").encode()
    assert fault.message("en").encode()
    return f"refused: {fault.code}"
