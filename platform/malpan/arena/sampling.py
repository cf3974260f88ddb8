"""Which items are evaluated, and what they say: a sample of the references, stratified by type, with every system's
answer. Only reads; the outputs are not yet blinded (``freezing`` does that).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from malpan.arena.errors import ReferencesMissing, SplitMissing, SystemUnfit, TooFewItems
from malpan.arena.models import Campaign, CampaignSystem
from malpan.competitions.models import DataFile, ReferenceVersion, Track
from malpan.competitions.references import load_references, recipe_of
from malpan.core.storage import read_private
from scoring.arena.draws import draws, shuffled
from scoring.errors import InvalidFile
from scoring.reading import read_offered
from scoring.reading.questions import read_questions
from scoring.reading.shown import answer_text, question_text, reference_text, type_of
from scoring.records import Item, Items


@dataclass(frozen=True, slots=True)
class Sampled:
    """An item of the sample. ``outputs``: the text of each system as it was submitted, by the system's primary key."""

    reference_id: str
    stratum: str
    input_text: str
    reference_text: str
    outputs: Mapping[int, str]


@dataclass(frozen=True, slots=True)
class Available:
    """How many items of the part there are in each stratum."""

    counts: Mapping[str, int]

    @property
    def total(self) -> int:
        return sum(self.counts.values())


def available_items(campaign: Campaign) -> Available:
    """The items that could be drawn. Raises ``ReferencesMissing``, ``SplitMissing``, and faults of ``core.storage``."""
    counts: dict[str, int] = defaultdict(int)
    for item in _items_of_part(campaign):
        counts[type_of(item)] += 1
    return Available(dict(sorted(counts.items())))


def sample_items(campaign: Campaign, systems: Sequence[CampaignSystem]) -> tuple[list[Sampled], list[Sampled]]:
    """The items of ``campaign`` and its calibration items, drawn by its seed, in the order of their drawing.

    Raises as ``available_items``, ``TooFewItems``, and ``SystemUnfit`` for a file that cannot be read.
    """
    items = _items_of_part(campaign)
    wanted = campaign.item_count + campaign.practice_drawn
    if len(items) < wanted:
        raise TooFewItems(count=len(items), wanted=wanted)
    real = drawn(items, campaign.item_count, campaign.seed)
    taken = {item.id for item in real}
    rest = [item for item in items if item.id not in taken]
    practice = shuffled(draws(campaign.seed, "calibration items"), sorted(rest, key=lambda item: item.id))
    practice = practice[: campaign.practice_drawn]
    return _with_outputs(campaign, systems, real, practice)


def drawn(items: Sequence[Item], count: int, seed: str) -> list[Item]:
    """``count`` of ``items``, each type in proportion (largest remainders), in random order. Pure."""
    strata: dict[str, list[Item]] = defaultdict(list)
    for item in sorted(items, key=lambda item: item.id):
        strata[type_of(item)].append(item)
    found: list[Item] = []
    for name, share in shares({name: len(members) for name, members in strata.items()}, count).items():
        found += shuffled(draws(seed, "items", name), strata[name])[:share]
    return shuffled(draws(seed, "order of items"), found)


def shares(sizes: Mapping[str, int], count: int) -> dict[str, int]:
    """How many of ``count`` each stratum gets: in proportion to its size, the rest by the largest remainders; of equal
    ones the earlier name.
    """
    total = sum(sizes.values())
    whole = {name: count * sizes[name] // total for name in sorted(sizes)}
    by_remainder = sorted(whole, key=lambda name: (-(count * sizes[name] % total), name))
    for name in by_remainder[: count - sum(whole.values())]:
        whole[name] += 1
    return whole


def _items_of_part(campaign: Campaign) -> list[Item]:
    version = _version(campaign)
    items = load_references(version, campaign.track.recipe).items
    if campaign.part == Campaign.Part.ALL:
        return list(items)
    if version.public_ids is None:
        raise SplitMissing(phase=campaign.phase.title)
    public, is_public = frozenset(version.public_ids), campaign.part == Campaign.Part.PUBLIC
    return [item for item in items if (item.id in public) == is_public]


def _version(campaign: Campaign) -> ReferenceVersion:
    version = ReferenceVersion.objects.filter(phase=campaign.phase_id, is_current=True).first()
    if version is None:
        raise ReferencesMissing(phase=campaign.phase.title)
    return version


def _with_outputs(
    campaign: Campaign, systems: Sequence[CampaignSystem], real: Sequence[Item], practice: Sequence[Item]
) -> tuple[list[Sampled], list[Sampled]]:
    form = recipe_of(campaign.track).answer_form
    references = load_references(_version(campaign), campaign.track.recipe)
    answers = {system.pk: _answers(campaign, system, references) for system in systems}
    asked = {} if all(item.input for item in (*real, *practice)) else _published_questions(campaign.track, form)

    def sampled(item: Item) -> Sampled:
        return Sampled(
            reference_id=item.id,
            stratum=type_of(item),
            input_text=question_text(item, form) or asked.get(item.id, ""),
            reference_text=reference_text(item, form),
            outputs={pk: answer_text(given.get(item.id), form) for pk, given in answers.items()},
        )

    return [sampled(item) for item in real], [sampled(item) for item in practice]


def _answers(campaign: Campaign, system: CampaignSystem, references: Items) -> dict[str, Item]:
    """The answers of a system by the ids of the references."""
    submission = system.submission
    try:
        found = read_offered(read_private(submission.file_sha256), recipe_of(campaign.track), references)
    except InvalidFile:
        team = submission.team.name
        raise SystemUnfit("unreadable", team=team, submission=str(submission.public_id)[:8]) from None
    return found.by_id()


def _published_questions(track: Track, form: str) -> dict[str, str]:
    """What the published files of ``track`` ask, by item: for references that do not say it."""
    found: dict[str, str] = {}
    for file in DataFile.objects.filter(track=track, kind=DataFile.Kind.DATA).order_by("position", "pk"):
        try:
            items = read_questions(read_private(file.file_sha256)).items
        except InvalidFile:
            continue
        for item in items:
            found.setdefault(item.id, question_text(item, form) or item.text)
    return found
