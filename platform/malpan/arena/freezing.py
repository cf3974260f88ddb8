"""What judges will see, fixed at the opening: items with the outputs of all systems, blinded."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from django.db.models import QuerySet

from malpan.arena.bad_texts import EXPLANATIONS, fitting_rules, other_answers
from malpan.arena.bars import WAS_MEMBER, merged_into
from malpan.arena.errors import ControlRefused
from malpan.arena.model_names import model_names
from malpan.arena.models import Campaign, CampaignItem, CampaignSystem
from malpan.arena.own_practice import shown_labels
from malpan.arena.sampling import Sampled, sample_items
from malpan.core.models import AuditEntry
from malpan.teams.models import Membership, Team
from scoring.arena.blinding import masked, normalised

NAME_LEAST: Final = 2  # characters: shorter names would hide what they are part of


def item_labels(count: int) -> list[str]:
    """The labels of the items of a campaign: what the design is made of."""
    return [f"I{number:04d}" for number in range(1, count + 1)]


def freeze_items(campaign: Campaign, systems: Sequence[CampaignSystem]) -> list[CampaignItem]:
    """Write the items of ``campaign``, calibration ones too, in the caller's transaction. ``systems`` have labels.

    Raises as ``sample_items``, and ``ControlRefused`` where no practice unit can be made.
    """
    real, practice = sample_items(campaign, systems)
    names = names_to_hide(campaign, systems)
    label_of = {system.pk: system.label for system in systems}
    labels = item_labels(len(real))
    rows = [_row(campaign, label, each, label_of, names) for label, each in zip(labels, real, strict=True)]
    texts = {row.label: row.outputs for row in rows}
    for number, each in enumerate(practice, start=1):
        row = _row(campaign, f"C{number:02d}", each, label_of, names)
        _make_practice(row, number, texts)
        rows.append(row)
    rows += [_own_practice(campaign, number, each, names) for number, each in enumerate(campaign.practice, start=1)]
    return CampaignItem.objects.bulk_create(rows, batch_size=200)


def names_to_hide(campaign: Campaign, systems: Sequence[CampaignSystem]) -> list[str]:
    """Names of the teams (earlier ones, and of all merged into them) and of their models, of everybody who is or was in
    them, of their institutions, and the campaign's words.
    """
    merged = merged_into({system.submission.team_id for system in systems})
    teams = {team for each in merged.values() for team in each}
    log = AuditEntry.objects.filter(object_type="teams.team", object_id__in=[str(team) for team in teams])
    found = [
        *Team.objects.filter(pk__in=teams).values_list("name", flat=True),
        *(before["name"] for before in log.filter(action="team.rename").values_list("before", flat=True)),
        *_of_models(teams, log),
        *Membership.objects.filter(team__in=teams).values_list("user__name", flat=True),
        *log.filter(action__in=WAS_MEMBER, person__isnull=False).values_list("person__name", flat=True),
        *(system.submission.submitted_by.name for system in systems),
        *(system.institution for system in systems),
        *campaign.masked_words,
    ]
    return sorted({name for name in map(str.strip, found) if len(name) >= NAME_LEAST})


def _of_models(teams: Iterable[int], log: QuerySet[AuditEntry]) -> Iterator[str]:
    """What the teams call their models on boards, and did."""
    now = Team.objects.filter(pk__in=teams).values("model_name", "model_url")
    for each in (*now, *log.filter(action="team.describe_model").values_list("before", flat=True)):
        yield from model_names(each.get("model_name", ""), each.get("model_url", ""))


def blinded(text: str, names: Sequence[str]) -> str:
    """``text`` as judges see it."""
    return masked(normalised(text), names)


def _row(
    campaign: Campaign, label: str, sampled: Sampled, label_of: Mapping[int, str], names: Sequence[str]
) -> CampaignItem:
    return CampaignItem(
        campaign=campaign,
        label=label,
        reference_id=sampled.reference_id,
        stratum=sampled.stratum[:120],
        input_text=sampled.input_text,
        reference_text=sampled.reference_text,
        outputs={label_of[pk]: blinded(text, names) for pk, text in sampled.outputs.items()},
    )


def _make_practice(row: CampaignItem, number: int, texts: Mapping[str, Mapping[str, str]]) -> None:
    """Make ``row`` a calibration item, by a rule that fits every output; each item has another one if it can.

    Raises ``ControlRefused``.
    """
    rules = [
        rule
        for rule in EXPLANATIONS
        if all(rule in fitting_rules(own, other_answers(row, label, texts)) for label, own in row.outputs.items())
    ]
    if not rules:
        raise ControlRefused(item=row.reference_id)
    rule = rules[(number - 1) % len(rules)]
    row.kind, row.expected = CampaignItem.Kind.CALIBRATION, {"rule": rule}
    row.explanation_ko, row.explanation_en = EXPLANATIONS[rule]


def _own_practice(campaign: Campaign, number: int, given: Mapping[str, Any], names: Sequence[str]) -> CampaignItem:
    return CampaignItem(
        campaign=campaign,
        label=f"C{number:02d}",
        input_text=given["input"],
        reference_text=given["reference"],
        outputs={label: blinded(text, names) for label, text in shown_labels(given)},
        kind=CampaignItem.Kind.CALIBRATION,
        expected={"value": given["expected"]},
        explanation_ko=given["feedback_ko"],
        explanation_en=given["feedback_en"],
    )
