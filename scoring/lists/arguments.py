"""Lists of texts as they are given, checked, in NFC: nothing is guessed, and nothing swapped in silence."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping, Sequence, Set, Sized
from typing import Any

from scoring.lists.errors import (
    BareText,
    NoReference,
    NoText,
    NoTextList,
    NothingToScore,
    ReferenceIsNone,
    Swapped,
    Transposed,
    UnequalLengths,
    WrongIds,
)
from scoring.records import Item, Items

LAYOUT = "lists"  # where a file has the name of its format


def read_lists(predictions: Any, references: Any, ids: Any = None) -> tuple[Items, Items]:
    """(predictions, references) as files hold them, item for item.

    ``predictions`` is a list of texts; ``references`` is one of texts, or of lists of texts. Anything ordered with a
    length is a list: tuples, arrays, a column of a table. ``ids`` name the items; by default their places do, so that
    their order is that of the lists. Raises ``WrongArgument``.
    """
    given, accepted = _as_list(predictions, "predictions"), _as_list(references, "references")
    for place, text in enumerate(given):
        if not isinstance(text, str) and _is_list(text):
            raise Swapped(place=place)
    _refuse_unequal(given, accepted)
    texts = [_text(text, "predictions", place) for place, text in enumerate(given)]
    several = [_references(each, place) for place, each in enumerate(accepted)]
    names = _names(ids, len(given))
    return (
        Items(tuple(_item(name, (text,)) for name, text in zip(names, texts, strict=True)), LAYOUT, ""),
        Items(tuple(_item(name, each) for name, each in zip(names, several, strict=True)), LAYOUT, ""),
    )


def read_pair(prediction: Any, references: Any) -> tuple[list[str], list[Any]]:
    """The lists of one item: ``prediction`` is a text, ``references`` a text or a list of texts."""
    if not isinstance(prediction, str):
        raise (Swapped(place=0) if _is_list(prediction) else NoText(name="prediction", place=0, kind=_kind(prediction)))
    return [prediction], [references]


def _refuse_unequal(given: Sequence[Any], accepted: Sequence[Any]) -> None:
    if not given and not accepted:
        raise NothingToScore
    if len(given) == len(accepted):
        return
    are_sets = accepted and all(not isinstance(each, str) and _is_list(each) for each in accepted)
    if are_sets and {len(each) for each in accepted} == {len(given)}:
        raise Transposed(sets=len(accepted))
    raise UnequalLengths(predictions=len(given), references=len(accepted))


def _references(accepted: Any, place: int) -> tuple[str, ...]:
    listed = [accepted] if isinstance(accepted, str) or not _is_list(accepted) else list(accepted)
    texts = tuple(_text(text, "references", place) for text in listed)
    if not texts or not all(text.strip() for text in texts):
        raise NoReference(place=place)
    return texts


def _as_list(value: Any, name: str) -> list[Any]:
    if isinstance(value, (str, bytes)):
        raise BareText(name=name)
    if not _is_list(value):
        raise NoTextList(name=name, kind=_kind(value))
    return list(value)


def _is_list(value: Any) -> bool:
    """Whether ``value`` has a length and an order: not a mapping, a set, a text."""
    is_ordered = isinstance(value, Iterable) and isinstance(value, Sized)
    return is_ordered and not isinstance(value, (str, bytes, Mapping, Set))


def _text(value: Any, name: str, place: int) -> str:
    if not isinstance(value, str):
        error = ReferenceIsNone if name == "references" else NoText
        raise error(name=name, place=place, kind=_kind(value))
    return str(value)


def _kind(value: Any) -> str:
    return type(value).__name__


def _names(ids: Any, count: int) -> list[str]:
    if ids is None:
        width = len(str(count))  # the order of the names is that of the items
        return [f"{place:0{width}}" for place in range(count)]
    names = [name for name in _as_list(ids, "ids") if isinstance(name, str)]
    if not len(names) == len(set(names)) == len(ids) == count:
        raise WrongIds(items=count)
    return names


def _item(name: str, texts: Sequence[str]) -> Item:
    normal = tuple(unicodedata.normalize("NFC", text) for text in texts)
    return Item(name, normal[0], 0, others=normal[1:], raw=() if normal == tuple(texts) else tuple(texts))
