"""The English catalogue: compares the messages marked in the sources with those of ``locale/en``.

The msgid is the Korean text. ``locale/ko`` has only what Django and allauth say of forms, in the words of this site.
Babel reads and writes the files, so that no GNU gettext programs are needed; it is a development dependency and is
imported only here.
"""

from __future__ import annotations

import io
import re
from ast import literal_eval
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from babel.messages.catalog import Catalog, Message
from babel.messages.extract import extract
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po
from django.conf import settings
from django.utils.translation.template import templatize

LOCALE: Final = "en"
COMPILED: Final = (LOCALE, "ko")
HEADER: Final = "# English texts of Malpan. The msgid is the Korean text. Kept in line by `manage.py update_messages`."
MessageId = str | tuple[str, ...]  # a tuple is (singular, plural)
Key = tuple[MessageId, str | None]  # with the context, if any

KEYWORDS: Final = {
    "_": None,
    "gettext": None,
    "gettext_lazy": None,
    "gettext_noop": None,
    "ngettext": (1, 2),
    "ngettext_lazy": (1, 2),
    "pgettext": ((1, "c"), 2),
    "pgettext_lazy": ((1, "c"), 2),
    "npgettext": ((1, "c"), 2, 3),
    "npgettext_lazy": ((1, "c"), 2, 3),
}
_IMPORTED_AS: Final = re.compile(r"\b(\w*gettext\w*) as (\w+)")
_STRING: Final = r"""('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")"""
_CALL: Final = re.compile(rf"\b(n?p?gettext)\(\s*u?{_STRING}(?:\s*,\s*u?{_STRING})?(?:\s*,\s*u?{_STRING})?")


@dataclass(frozen=True, slots=True)
class Difference:
    """How the catalogue on disk differs from the sources."""

    missing: tuple[Key, ...]
    stale: tuple[Key, ...]
    untranslated: tuple[Key, ...]
    is_compiled: bool

    def __bool__(self) -> bool:
        return bool(self.missing or self.stale or self.untranslated) or not self.is_compiled


def po_path(locale: str = LOCALE) -> Path:
    return Path(settings.LOCALE_PATHS[0]) / locale / "LC_MESSAGES" / "django.po"


def mo_path(locale: str) -> Path:
    return po_path(locale).with_suffix(".mo")


def marked_messages() -> dict[Key, list[str]]:
    """Every marked message of the sources, with the files that contain it, relative to the project's root."""
    root = Path(settings.BASE_DIR)
    found: dict[Key, set[str]] = defaultdict(set)
    for path in sorted((root / "platform").rglob("*.py")):
        for key in python_messages(path.read_bytes()):
            found[key].add(path.relative_to(root).as_posix())
    for path in sorted(p for p in (root / "platform").rglob("templates/**/*") if p.suffix in {".html", ".txt"}):
        for key in template_messages(path.read_text(encoding="utf-8")):
            found[key].add(path.relative_to(root).as_posix())
    return {key: sorted(files) for key, files in found.items()}


def python_messages(source: bytes) -> Iterator[Key]:
    """The messages of a module, those marked by a function that it imports under another name as well."""
    others = {other: KEYWORDS[name] for name, other in _IMPORTED_AS.findall(source.decode()) if name in KEYWORDS}
    for _line, message, _comments, context in extract("python", io.BytesIO(source), KEYWORDS | others):
        yield (tuple(message) if isinstance(message, list | tuple) else message, context)


def template_messages(source: str) -> Iterator[Key]:
    """The messages of a Django template, from the form that Django makes of it for xgettext."""
    for function, *quoted in _CALL.findall(templatize(source)):
        texts = [literal_eval(text) for text in quoted if text]
        context = texts.pop(0) if "p" in function.removeprefix("n")[:1] else None
        yield (tuple(texts[:2]) if function.startswith("n") else texts[0], context)


def load(locale: str = LOCALE) -> Catalog:
    """The catalogue on disk; an empty one if there is none."""
    if not po_path(locale).exists():
        return Catalog(locale=locale, charset="utf-8")
    with po_path(locale).open("rb") as file:
        return read_po(file, locale=locale)


def compare() -> Difference:
    """What is missing, stale or untranslated, and whether the compiled files match the catalogues."""
    catalogue = load()
    entries = {_key(message): message for message in _messages(catalogue)}
    marked = marked_messages()
    return Difference(
        missing=tuple(key for key in marked if key not in entries),
        stale=tuple(key for key in entries if key not in marked),
        untranslated=tuple(key for key, message in entries.items() if not _is_translated(message)),
        is_compiled=all(map(_is_compiled, COMPILED)),
    )


def update() -> Difference:
    """Add missing messages (untranslated), drop stale ones, write and compile. Returns the remaining difference."""
    catalogue = load()
    marked = marked_messages()
    known = {_key(message): message for message in _messages(catalogue)}
    for key in known.keys() - marked.keys():
        catalogue.delete(_first(key[0]), key[1])
    catalogue.obsolete.clear()
    for key, files in marked.items():
        translation = known[key].string if key in known else ""
        catalogue.delete(_first(key[0]), key[1])
        catalogue.add(key[0], translation, [(file, 0) for file in files], context=key[1])
    _head(catalogue)
    po_path().parent.mkdir(parents=True, exist_ok=True)
    with po_path().open("wb") as file:
        write_po(file, catalogue, width=110, include_lineno=False, sort_by_file=True)
    for locale in COMPILED:
        mo_path(locale).write_bytes(_compiled(load(locale)))
    return compare()


def _head(catalogue: Catalog) -> None:
    """Set headers that do not change from run to run."""
    catalogue.header_comment = HEADER
    catalogue.fuzzy = False
    catalogue.project, catalogue.version = "malpan", "1"
    catalogue.msgid_bugs_address = catalogue.last_translator = catalogue.language_team = ""
    catalogue.revision_date = catalogue.creation_date


def _is_compiled(locale: str) -> bool:
    path = mo_path(locale)
    return path.exists() and path.read_bytes() == _compiled(load(locale))


def _compiled(catalogue: Catalog) -> bytes:
    buffer = io.BytesIO()
    write_mo(buffer, catalogue)
    return buffer.getvalue()


def _messages(catalogue: Catalog) -> Iterable[Message]:
    return (message for message in catalogue if message.id)


def _key(message: Message) -> Key:
    identity = message.id
    return (identity if isinstance(identity, str) else tuple(identity), message.context)


def _first(identity: MessageId) -> str:
    return identity if isinstance(identity, str) else identity[0]


def _is_translated(message: Message) -> bool:
    strings = [message.string] if isinstance(message.string, str) else list(message.string or ())
    expected = 2 if message.pluralizable else 1
    return len(strings) == expected and all(strings) and not message.fuzzy
