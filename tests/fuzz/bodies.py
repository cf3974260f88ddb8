"""Requests with a form: multipart and urlencoded, as a browser sends them and as no browser would."""

from __future__ import annotations

import base64
import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final
from urllib.parse import quote_plus

from hypothesis import strategies as st

from tests.fuzz.mutations import TEXTS, Draw, broken_bytes, number, pick

BOUNDARY: Final = "----fuzz7MA4YWxk"
FILE_NAMES: Final = (
    *(
        "answers.json",
        "답안.json",
        "../../etc/passwd",
        "a\\b.json",
        "",
        ".",
        "..",
        "x" * 300 + ".json",
        "a.json\x00.exe",
    ),
    *('a".json', "a\r\nX-Y: z", "\u202enosj.exe", "&#x2f;etc", "CON", "가" * 256, "a;b=c", "\ufffd", "%00", "a\ud800b"),
)
PART_TYPES: Final = (
    *("application/json", "text/plain", "", "application/x-www-form-urlencoded", "multipart/mixed; boundary=x"),
    *("text/plain; charset=utf-16", "text/plain; charset=rot13", "text/plain; charset=", "x" * 2_000, "a/b; c*=d''%ff"),
)
MULTIPART: Final = f"multipart/form-data; boundary={BOUNDARY}"
TYPES: Final = (  # of the request, in the place of the right one
    *("", "multipart/form-data", "multipart/form-data; boundary=", "multipart/form-data; boundary=" + "b" * 300),
    *("application/json", "text/plain", "application/x-www-form-urlencoded", "multipart/mixed; boundary=" + BOUNDARY),
    *("multipart/form-data; boundary=가", 'multipart/form-data; boundary="a b"', "multipart/form-data;;;=", "/", ";"),
    *(
        f"multipart/form-data; boundary={BOUNDARY}; charset={name}"
        for name in ("utf-8", "utf-16", "rot13", "idna", "x")
    ),
    *(
        f"multipart/form-data; boundary={BOUNDARY}; {more}"
        for more in ("a*=nope''%41", "a*0*=utf-8''x; a*1=y", "a*=''")
    ),
    f"multipart/form-data; boundary*=utf-8''{BOUNDARY}; boundary={BOUNDARY}",
    "application/x-www-form-urlencoded; charset=cp949",
)


@dataclass(frozen=True)
class Part:
    """A field of a form; with a file name a file."""

    name: str
    value: bytes
    file_name: str | None = None
    content_type: str = ""
    headers: tuple[str, ...] = ()


@dataclass(frozen=True)
class Form:
    """A form of a page: where it is sent, and what a browser would send if nobody changed it."""

    path: str
    viewer: str
    fields: tuple[Part, ...]
    needs_multipart: bool

    def __str__(self) -> str:
        return f"{self.path} by {self.viewer}: {', '.join(part.name for part in self.fields)}"


@dataclass(frozen=True)
class Request:
    """What is sent. ``viewer`` says who sends it, ``then`` which pages are looked at if it was accepted."""

    method: str
    path: str
    data: bytes
    content_type: str
    viewer: str
    headers: tuple[tuple[str, str], ...] = ()
    then: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.method} {self.path} by {self.viewer}, {self.content_type[:100]!r} {self.headers}"


def multipart(parts: Sequence[Part], boundary: str = BOUNDARY) -> bytes:
    """The body of a form with files."""
    lines = b""
    for part in parts:
        lines += f"--{boundary}\r\n".encode() + _disposition(part) + b"\r\n"
        if part.content_type:
            lines += f"Content-Type: {part.content_type}\r\n".encode()
        lines += b"".join(f"{header}\r\n".encode() for header in part.headers) + b"\r\n" + part.value + b"\r\n"
    return lines + f"--{boundary}--\r\n".encode()


def _disposition(part: Part) -> bytes:
    text = f'Content-Disposition: form-data; name="{part.name}"'
    if part.file_name is not None:
        text += f'; filename="{part.file_name}"'
    return text.encode("utf-8", "surrogatepass")


def urlencoded(parts: Sequence[Part]) -> bytes:
    """The body of a form without files."""
    pairs = ((part.name.encode("utf-8", "surrogatepass"), part.value) for part in parts)
    return "&".join(f"{quote_plus(name)}={quote_plus(value)}" for name, value in pairs).encode()


@st.composite
def form_requests(draw: Draw, path: str, parts: Sequence[Part], viewer: str, *, needs_multipart: bool) -> Request:
    """A form with the fields ``parts``, one in eight as a browser would send it."""
    how = pick(draw, ("sound", "fields", "fields", "fields", "parts", "body", "type", "all"))
    fields = list(parts)
    if how in ("fields", "all"):
        fields = _changed_fields(draw, fields)
    if how in ("parts", "all"):
        fields = [_changed_part(draw, part) for part in fields]
    is_multipart = needs_multipart or draw(st.booleans())
    data = multipart(fields) if is_multipart else urlencoded(fields)
    sent_type = MULTIPART if is_multipart else "application/x-www-form-urlencoded"
    if how in ("body", "all"):
        data = _changed_body(draw, data)
    if how == "type":
        sent_type = pick(draw, TYPES)
    method = pick(draw, ("POST",) * 12 + ("PUT", "PATCH", "DELETE", "GET")) if how == "type" else "POST"
    return Request(method, path, data, sent_type, viewer)


def texts_of_a_field() -> st.SearchStrategy[bytes]:
    text = st.one_of(st.sampled_from(TEXTS), st.text(max_size=20)).map(lambda each: each.encode("utf-8", "replace"))
    return st.one_of(text, text, st.binary(max_size=12))


def _changed_fields(draw: Draw, fields: list[Part]) -> list[Part]:
    """Some fields with another text, missing, doubled, or renamed; or a great many more of them."""
    for _ in range(number(draw, 1, 3)):
        if not fields:
            break
        at = number(draw, 0, len(fields) - 1)
        how = pick(draw, ("text",) * 6 + ("drop", "double", "rename", "more", "file", "no file"))
        if how == "text" and fields[at].file_name is None:
            fields[at] = replace(fields[at], value=draw(texts_of_a_field()))
        elif how == "drop":
            fields.pop(at)
        elif how == "double":
            fields.insert(at, replace(fields[at], value=draw(texts_of_a_field())))
        elif how == "rename":
            fields[at] = replace(fields[at], name=pick(draw, ("", "file", "csrfmiddlewaretoken", "x" * 999)))
        elif how == "more":
            fields += [Part(f"more{n}", b"1") for n in range(pick(draw, (5, 990, 1_100)))]
        elif how == "file":
            fields[at] = replace(fields[at], file_name=pick(draw, FILE_NAMES))
        else:
            fields[at] = replace(fields[at], file_name=None)
    return fields


def _changed_part(draw: Draw, part: Part) -> Part:
    how = pick(draw, ("name", "type", "base64", "header", "rfc2231", "same"))
    if how == "name" and part.file_name is not None:
        return replace(part, file_name=pick(draw, FILE_NAMES))
    if how == "type":
        return replace(part, content_type=pick(draw, PART_TYPES))
    if how == "base64":
        value = base64.b64encode(part.value) if draw(st.booleans()) else part.value
        return replace(part, value=value, headers=("Content-Transfer-Encoding: base64",))
    if how == "header":
        header = pick(draw, ("X: " + "y" * 20_000, "no colon", ": ", "Content-Length: x", "\x00: 1", "가: 나"))
        return replace(part, headers=(header,))
    if how == "rfc2231":
        more = pick(draw, ("filename*=nope''%41", "name*=utf-8''%ff%fe", "filename*=utf-16''a", "filename*0*=a"))
        return replace(part, headers=(f'Content-Disposition: form-data; name="{part.name}"; {more}',))
    return part


def _changed_body(draw: Draw, data: bytes) -> bytes:
    how = pick(draw, ("bytes", "bytes", "lines", "end", "start", "shuffled", "escapes"))
    if how == "bytes":
        return broken_bytes(draw, data)
    if how == "lines":
        return data.replace(b"\r\n", pick(draw, (b"\n", b"\r", b"\r\n\r\n")))
    if how == "end":
        return data.replace(b"--\r\n", pick(draw, (b"", b"\r\n", b"--", b"--\r\n" + data)))
    if how == "start":
        return pick(draw, (b"\r\n", b"preamble\r\n", b"--", b"\x00", b"=&=&&%zz=%&%00=%00&")) + data
    if how == "escapes":
        return data.replace(b"%", b"%%").replace(b"=", b"=%ff%00%zz")
    pieces = data.split(b"--" + BOUNDARY.encode())
    random.Random(number(draw, 0, 99)).shuffle(pieces)
    return (b"--" + BOUNDARY.encode()).join(pieces)
