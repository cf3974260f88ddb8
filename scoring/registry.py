"""Metrics, recipes and tokenizers by name, built in or from a plug-in.

A plug-in is an installed distribution with entry points (``EXTENDING.md`` shows how). All are loaded at the first
access, once for each process. One that cannot be loaded, does not fit its group, or uses an existing name raises
``PluginFault`` at every access: a score without it would be a different one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from inspect import isabstract
from pkgutil import iter_modules
from typing import Any, Final, Generic, TypeVar

from scoring.errors import Language, Message, ScoringError

Offered = TypeVar("Offered")

_FAULTS: Final[dict[str, Message]] = {
    "failed": Message("불러오지 못했습니다({detail})", "it cannot be loaded ({detail})"),
    "taken": Message("같은 이름이 이미 있습니다({detail})", "the name is taken ({detail})"),
    "unfit": Message("선언이 맞지 않습니다({detail})", "its declaration is not right ({detail})"),
}


class PluginFault(ScoringError):
    """An installed plug-in cannot be used. ``code`` is the key of the reason, ``detail`` fills it."""

    def __init__(self, group: str, name: str, distribution: str, code: str, detail: object) -> None:
        self.group, self.name, self.distribution = group, name, distribution
        self.code, self.detail = code, str(detail)
        super().__init__(self.message("en"))

    def message(self, language: Language = "ko") -> str:
        reason = _FAULTS[self.code].text(language).format(detail=self.detail)
        if language == "ko":
            return (
                f"플러그인 {self.distribution}의 {self.group} '{self.name}'을(를) 쓸 수 없습니다: {reason}. "
                "플러그인을 고치거나 지운 뒤 다시 실행하십시오."
            )
        return (
            f"'{self.name}' ({self.group}) of the plug-in {self.distribution} cannot be used: {reason}. "
            "Fix or remove the plug-in and run again."
        )


class Unfit(ValueError):
    """The object of a plug-in does not fit its group; the text says why."""


class Registry(Mapping[str, Offered], Generic[Offered]):
    """Everything of one kind by name: first the built-in objects in their order, then those of plug-ins.

    ``check`` is given the name and the object of an entry point; it returns the object or raises ``Unfit``.
    """

    def __init__(
        self, group: str, built_in: Callable[[], Mapping[str, Offered]], check: Callable[[str, Any], Offered]
    ) -> None:
        self.group = group
        self._built_in, self._check = built_in, check

    def __getitem__(self, name: str) -> Offered:
        return self.entries[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.entries)

    def __len__(self) -> int:
        return len(self.entries)

    @cached_property
    def entries(self) -> dict[str, Offered]:
        """All by name. Raises ``PluginFault``."""
        found = dict(self._built_in())
        for name, point in self._points.items():
            if name in found:
                raise _fault(point, "taken", name)
            found[name] = self._load(point)
        return found

    def origin(self, name: str) -> dict[str, dict[str, str]]:
        """The entry of a signature for the plug-in of ``name``; empty if it is built in."""
        point = self._points.get(name)
        if point is None or point.dist is None:
            return {}
        return {"plugin": {"distribution": point.dist.name, "version": point.dist.version}}

    @cached_property
    def _points(self) -> dict[str, EntryPoint]:
        points: dict[str, EntryPoint] = {}
        for point in entry_points(group=self.group):
            if point.name in points:
                raise _fault(point, "taken", _distribution(points[point.name]))
            points[point.name] = point
        return points

    def _load(self, point: EntryPoint) -> Offered:
        try:
            offered = point.load()
        except (Exception, SystemExit) as error:  # a plug-in's module may raise anything
            raise _fault(point, "failed", f"{type(error).__name__}: {error}") from error
        try:
            return self._check(point.name, offered)
        except Unfit as error:
            raise _fault(point, "unfit", error) from error
        except Exception as error:  # the object is so different that the check itself fails
            raise _fault(point, "unfit", f"{type(error).__name__}: {error}") from error


def classes_in(package: str, base: type[Offered]) -> dict[str, type[Offered]]:
    """The classes with a ``name`` derived from ``base`` in the modules of ``package``: a new file is enough."""
    found: dict[str, type[Offered]] = {}
    for module in iter_modules(import_module(package).__path__, f"{package}."):
        for kind in vars(import_module(module.name)).values():
            if _is_offered(kind, base) and kind.__module__ == module.name:
                found[kind.name] = kind
    return found


def _is_offered(kind: Any, base: type[Any]) -> bool:
    return isinstance(kind, type) and issubclass(kind, base) and hasattr(kind, "name") and not isabstract(kind)


def require(condition: object, what: str) -> None:
    """Raise ``Unfit`` with ``what`` unless ``condition`` holds."""
    if not condition:
        raise Unfit(what)


def _fault(point: EntryPoint, code: str, detail: object) -> PluginFault:
    return PluginFault(point.group, point.name, _distribution(point), code, detail)


def _distribution(point: EntryPoint) -> str:
    return f"{point.dist.name} {point.dist.version}" if point.dist is not None else point.value
