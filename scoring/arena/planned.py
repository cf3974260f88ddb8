"""What a design is made of, and why one may be impossible."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

from scoring.errors import Language, Message, ScoringError, WordedError

Kind = Literal["real", "control", "repeat"]
Group = tuple[str, ...]  # the systems of a unit, sorted


@dataclass(frozen=True, slots=True)
class JudgeSpec:
    """A judge of the panel; ``barred`` are the systems this judge never sees."""

    label: str
    barred: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Settings:
    """The numbers of a design.

    ``group`` systems are shown together, ``units_per_item`` different groups of each item, each to
    ``judges_per_unit`` different judges. The shares are those of controls and of repeats in a judge's whole queue.
    """

    group: int
    units_per_item: int
    judges_per_unit: int
    control_share: float = 0.05
    repeat_share: float = 0.05


@dataclass(frozen=True, slots=True)
class Unit:
    """One item with a group of systems."""

    item: str
    group: Group


@dataclass(frozen=True, slots=True)
class Planned:
    """One assignment: ``systems`` of ``item`` in the order shown to ``judge``.

    ``bad`` is the place in ``systems`` of the output that a control makes bad. ``repeats`` is the position, in the
    judge's own queue, of the real assignment that this one repeats with the order turned.
    """

    judge: str
    item: str
    systems: tuple[str, ...]
    kind: Kind = "real"
    bad: int | None = None
    repeats: int | None = None

    @property
    def unit(self) -> Unit:
        return Unit(self.item, tuple(sorted(self.systems)))


Queue = Mapping[int, Planned]  # assignments by position
Queues = Mapping[str, Queue]  # by judge


NAMES: Final = {  # of the settings, as people read them in the forms of the platform
    "group": Message("함께 보이는 출력 수", "Outputs shown together"),
    "units_per_item": Message("문항마다 묶음 수", "Groups per item"),
    "judges_per_unit": Message("묶음마다 평가자 수", "Judges per group"),
    "control_share": Message("확인 문항의 비율", "Share of controls"),
    "repeat_share": Message("되풀이 문항의 비율", "Share of repeats"),
}


class DesignImpossible(WordedError, ScoringError):
    """No design has these numbers; the text names the number to change, ``params`` hold all of them."""


class NothingToJudge(DesignImpossible):
    code = "design_nothing"
    words = Message(
        "평가할 것이 없습니다(문항 {items}개, 시스템 {systems}개, 평가자 {judges}명). 모두 1 이상이어야 합니다.",
        "There is nothing to judge ({items} items, {systems} systems, {judges} judges). Each must be 1 or more.",
    )


class NumberOutOfRange(DesignImpossible):
    """A number of the settings is none that any design can have. ``setting``: its name in ``Settings``."""

    code = "design_number"
    words = Message(
        "‘{name}’이(가) {value}입니다. {low} 이상 {high} 이하로 바꾸십시오.",
        "‘{name}’ is {value}. Change it to {low} or more and {high} or less.",
    )

    def message(self, language: Language = "ko") -> str:
        name = NAMES[self.params["setting"]].text(language)
        return self.words.filled(language, name=name, **self.params)


class SharesTooHigh(DesignImpossible):
    code = "design_shares"
    words = Message(
        "확인 문항과 되풀이 문항의 비율을 더하면 {share:.0%}입니다. 합을 {most:.0%} 이하로 줄이십시오.",
        "The shares of controls and repeats add up to {share:.0%}. Lower their sum to {most:.0%}.",
    )


class TooFewSystems(DesignImpossible):
    code = "design_systems"
    words = Message(
        "한 번에 출력 {group}개를 보이려 하지만 시스템은 {systems}개입니다. ‘함께 보이는 출력 수’를 {systems} 이하로 "
        "줄이거나 시스템을 더하십시오.",
        "{group} outputs are to be shown together, but there are {systems} systems. Lower ‘Outputs shown together’ to "
        "{systems} or add systems.",
    )


class TooManyUnits(DesignImpossible):
    code = "design_units"
    words = Message(
        "문항마다 서로 다른 묶음 {units}개가 필요하지만 만들 수 있는 묶음은 {most}개입니다. ‘문항마다 묶음 수’를 "
        "{most} 이하로 줄이고, 판단이 더 필요하면 ‘묶음마다 평가자 수’를 늘리십시오.",
        "Each item needs {units} different groups of systems, but only {most} can be made. Lower ‘Groups per item’ to "
        "{most}; for more judgements raise ‘Judges per group’.",
    )


class TooFewJudges(DesignImpossible):
    code = "design_judges"
    words = Message(
        "묶음마다 평가자 {panel}명이 필요하지만 평가자는 {judges}명입니다. ‘묶음마다 평가자 수’를 {judges} 이하로 "
        "줄이거나 평가자를 더 초대하십시오.",
        "Each group needs {panel} judges, but there are {judges}. Lower ‘Judges per group’ to {judges} or invite more "
        "judges.",
    )


class TooFewMaySee(DesignImpossible):
    """Bars leave too few judges for some systems, but some."""

    code = "design_barred"
    words = Message(
        "제척 때문에 {systems}이(가) 든 묶음을 볼 수 있는 평가자가 {most}명뿐입니다({panel}명 필요). ‘묶음마다 평가자 "
        "수’를 {most} 이하로 줄이거나 이 시스템을 볼 수 있는 평가자를 더 초대하십시오.",
        "Bars leave {most} judges who may see a group with {systems} ({panel} are needed). Lower ‘Judges per group’ to "
        "{most} or invite judges who may see these systems.",
    )


class NobodyMaySee(DesignImpossible):
    """Bars leave no judge at all for some systems."""

    code = "design_unseen"
    words = Message(
        "제척 때문에 {systems}이(가) 든 묶음(시스템 {group}개)을 볼 수 있는 평가자가 없습니다. 이 시스템을 볼 수 있는 "
        "평가자를 {panel}명 이상 초대하거나, ‘함께 보이는 출력 수’를 줄이거나, 시스템을 빼십시오.",
        "Bars leave no judge who may see a group ({group} systems) with {systems}. Invite {panel} judges or more who "
        "may see them, lower ‘Outputs shown together’, or leave a system out.",
    )
