"""Outputs that are bad for certain, made by rule from good ones: for controls and for practice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from malpan.arena.errors import ControlRefused
from malpan.arena.models import Campaign, CampaignItem
from scoring.arena.controls import bad_output, rules_for
from scoring.arena.draws import draws, shuffled

Outputs = Mapping[str, Mapping[str, str]]  # by label of the item, then of the system

EXPLANATIONS: Final = {  # of a practice unit, by rule
    "other_item": (
        "다른 문항의 답을 가져온 출력이 있었습니다. 묻는 것에 답하지 않으므로 낮게 평가해야 합니다.",
        "One output was the answer to another item. It does not answer the question and should be rated low.",
    ),
    "shuffled": (
        "낱말의 차례를 뒤섞은 출력이 있었습니다. 뜻이 통하지 않으므로 낮게 평가해야 합니다.",
        "The words of one output were shuffled. It makes no sense and should be rated low.",
    ),
    "cut": (
        "중간에서 끊긴 출력이 있었습니다. 답이 끝나지 않으므로 낮게 평가해야 합니다.",
        "One output was cut off in the middle. Its answer does not end and should be rated low.",
    ),
    "looped": (
        "같은 말을 되풀이하는 출력이 있었습니다. 내용이 없으므로 낮게 평가해야 합니다.",
        "One output repeated itself. It has no content and should be rated low.",
    ),
}


def bad_text(
    campaign: Campaign, item: CampaignItem, system: str, judge: str, texts: Outputs, rule: str = ""
) -> dict[str, str]:
    """The output of ``system`` for ``item``, made bad by ``rule``, or by one that the seed draws among those that fit:
    ``bad_rule`` and ``bad_text`` of an ``Assignment``.

    ``texts`` are the blinded outputs of all items, from which another answer is taken. Raises ``ControlRefused``.
    """
    own = item.outputs[system]
    rng = draws(campaign.seed, "bad output", item.label, system, judge)
    others = other_answers(item, system, texts)
    for each in [rule] if rule else shuffled(rng, fitting_rules(own, others)):
        try:
            return {"bad_rule": each, "bad_text": bad_output(each, own, others, rng)}
        except ValueError:  # it would say the same again
            continue
    raise ControlRefused(item=item.reference_id)


def fitting_rules(own: str, others: Sequence[str]) -> list[str]:
    """The rules that make a bad output of ``own``."""
    return [rule for rule in rules_for(own) if rule != "other_item" or others]


def other_answers(item: CampaignItem, system: str, texts: Outputs) -> list[str]:
    """The answers of ``system`` to other items that say something else, in the order of the items."""
    own = item.outputs[system]
    answers = (texts[label].get(system, "") for label in sorted(texts) if label != item.label)
    return list(dict.fromkeys(text for text in answers if text.strip() and text.split() != own.split()))
