"""What could give a team away in a campaign that is not open yet: words of one system's outputs alone, as judges would
see them. A worker looks for them, once for the same submissions, items and hidden names.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from malpan.arena.computations import Kind, Question, answer_to
from malpan.arena.errors import ComputationFailed
from malpan.arena.freezing import blinded, names_to_hide
from malpan.arena.models import Campaign, CampaignSystem, Computation
from malpan.arena.sampling import sample_items
from malpan.arena.systems import systems_of
from malpan.competitions.models import ReferenceVersion
from scoring.arena.telling import telling_words
from scoring.signature import canonical_json


def telling_words_of(campaign: Campaign) -> list[tuple[CampaignSystem, list[tuple[str, int]]]]:
    """The systems of a draft whose outputs have such words, each with these and the number of outputs that have them.

    Raises ``StillComputing``, ``ComputationFailed``.
    """
    systems = systems_of(campaign)
    found: dict[str, list[tuple[str, int]]] = json.loads(answer_to(_question(campaign, systems)))
    return [(system, words) for system in systems if (words := found[str(system.pk)])]


def found_words(row: Computation) -> bytes:
    """The answer to ``row``: words with the number of outputs that have them, by the primary key of the system.

    Raises ``ComputationFailed`` if the draft is another than when this was asked, and as ``sampling.sample_items``.
    """
    assert row.campaign_id is not None
    campaign = Campaign.objects.select_related("track__competition", "phase").get(pk=row.campaign_id)
    systems = systems_of(campaign)
    if _question(campaign, systems).given != bytes(row.given):
        raise ComputationFailed
    items, _practice = sample_items(campaign, systems)
    names = names_to_hide(campaign, systems)
    outputs = {str(system.pk): [blinded(item.outputs[system.pk], names) for item in items] for system in systems}
    known = [text for item in items for text in (item.input_text, item.reference_text)]
    found = telling_words(outputs, known)
    return canonical_json({pk: [(each.word, each.outputs) for each in words] for pk, words in found.items()})


def _question(campaign: Campaign, systems: Sequence[CampaignSystem]) -> Question:
    """What is asked: all that the answer depends on. The seed, which draws the items, is the campaign's for ever."""
    version = ReferenceVersion.objects.filter(phase=campaign.phase_id, is_current=True).values_list("pk", flat=True)
    given: dict[str, Any] = {
        "campaign": campaign.pk,
        "phase": campaign.phase_id,
        "references": version.first(),
        "items": [campaign.part, campaign.item_count, campaign.practice_drawn],
        "outputs": [[system.pk, system.submission.file_sha256] for system in systems],
        "names": names_to_hide(campaign, systems),
    }
    return Question(campaign.track.competition, Kind.WORDS, canonical_json(given), campaign=campaign)
