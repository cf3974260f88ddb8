"""Human evaluation in an archive: who judged stays with the site, and what nobody may know yet is sealed.

Judges are their labels, as in the votes file; of their institutions it says which are of one, and of times the day.
A campaign's seed before its end, and the items' inputs and reference answers, travel in ``SEALED`` alone, which is
encrypted as the reference answers are, and so only with a passphrase.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import IO, Any, Final

from malpan.archive.errors import ArchiveRefused
from malpan.archive.format import BY_LABEL
from malpan.archive.reading import lines_of
from malpan.archive.rows import Renumber
from malpan.arena.design_rows import panel_at_opening
from malpan.arena.errors import RubricInvalid
from malpan.arena.models import Assignment, Campaign, CampaignItem, CampaignResult, Rubric
from malpan.arena.rubric_form import clean_criteria, clean_reasons
from malpan.arena.votes_file import institution_groups, votes_of
from malpan.competitions.models import Competition
from malpan.core.errors import SystemFault
from malpan.core.storage import read_private
from scoring.arena.votes import read_votes, votes_bytes
from scoring.errors import ScoringError

SEALED: Final = "sealed.jsonl.age"
_SECRET: Final = {"arena.campaign": ("seed",), "arena.campaignitem": ("input_text", "reference_text")}


class Leaving:
    """The rows of the campaigns of ``competition`` as they leave the site."""

    def __init__(self, competition: Competition) -> None:
        self.competition = competition
        self._groups: dict[int, dict[int, str]] = {}

    def row(self, label: str, row: Mapping[str, Any]) -> Mapping[str, Any]:
        """``row`` of the model ``label``, by column and with ``pk``, without judges and secrets."""
        if label == "arena.campaignjudge":
            campaign = self._campaigns[row["campaign_id"]]
            moments = {name: row[name] and campaign.opened_at for name in ("accepted_at", "removed_at")}
            group = self._group(campaign, row["pk"])
            kept = {"institution": group, "barred_at_opening": self._bars(campaign)}
            return {**row, **moments, **kept, "invited_by_id": campaign.created_by_id}
        if label == "arena.judgement":
            return {**row, "created_at": row["created_at"].replace(hour=0, minute=0, second=0, microsecond=0)}
        if label == "arena.assignment" and row["void_reason"] == Assignment.VoidReason.BARRED:
            return {**row, "void_reason": Assignment.VoidReason.MOVED}
        return {**row, **dict.fromkeys(self._secrets(label, row), "")}

    def sealed(self, renumber: Renumber) -> Iterator[dict[str, Any]]:
        """The lines of ``SEALED``: the ``table`` and the number of a ``row`` with what was taken out of it."""
        number = 0
        for label, names in _SECRET.items():
            table = BY_LABEL[label]
            columns = {"pk", "closed_at", *names} if label == "arena.campaign" else {"pk", *names}
            for row in table.rows(self.competition).values(*columns).iterator():
                secrets = {name: row[name] for name in self._secrets(label, row) if row[name]}
                if secrets:
                    number += 1
                    yield {"id": number, "table": table.name, "row": renumber(label, row["pk"]), "columns": secrets}

    def _secrets(self, label: str, row: Mapping[str, Any]) -> tuple[str, ...]:
        is_told = label == "arena.campaign" and row["closed_at"] is not None
        return () if is_told else _SECRET.get(label, ())

    @cached_property
    def _campaigns(self) -> dict[int, Campaign]:
        return Campaign.objects.filter(track__competition=self.competition).in_bulk()

    def _bars(self, campaign: Campaign) -> list[str] | None:
        """The bars of every judge of the opening, if there were none; otherwise they stay with the site."""
        panel = panel_at_opening(campaign)
        return [] if panel and not any(judge.barred_at_opening for judge in panel) else None

    def _group(self, campaign: Campaign, judge: int) -> str:
        if campaign.pk not in self._groups:
            self._groups[campaign.pk] = institution_groups(campaign)
        return self._groups[campaign.pk].get(judge, "")


def unseal(file: IO[bytes], keys: Mapping[str, Mapping[int, int]]) -> None:
    """Write what ``SEALED``, decrypted as ``file``, holds into the imported rows, whose primary keys are ``keys``, by
    label and the archive's number. Raises ``ArchiveRefused``.
    """
    labels = {BY_LABEL[label].name: label for label in _SECRET}
    for line in lines_of(file, SEALED):
        try:
            label, columns = labels[line["table"]], line["columns"]
            is_sound = columns.keys() <= set(_SECRET[label]) and all(isinstance(each, str) for each in columns.values())
            if not is_sound or "\x00" in "".join(columns.values()) or len(columns.get("seed", "")) > 64:
                raise ValueError
            key = keys[label][line["row"]]
        except (LookupError, TypeError, ValueError, AttributeError):
            raise ArchiveRefused(reason="rows", table=SEALED) from None
        BY_LABEL[label].model._default_manager.filter(pk=key).update(**columns)


def require_sound(competition: Competition) -> None:
    """Refuse imported campaigns that pages could not show: ``ArchiveRefused``, or whatever reading a misfit raises."""
    try:
        _read_all(competition)
    except (ScoringError, RubricInvalid):
        raise ArchiveRefused(reason="rows", table="tables/campaigns.jsonl") from None


def _read_all(competition: Competition) -> None:
    for rubric in Rubric.objects.filter(track__competition=competition):
        clean_criteria(rubric.criteria)
        clean_reasons(rubric.reasons)
    for item in CampaignItem.objects.filter(campaign__track__competition=competition).iterator():
        if not all(isinstance(text, str) for text in item.outputs.values()):
            raise ArchiveRefused(reason="rows", table="tables/campaign_items.jsonl")
    for campaign in Campaign.objects.filter(track__competition=competition, opened_at__isnull=False):
        read_votes(votes_bytes(votes_of(campaign)))
    for result in CampaignResult.objects.filter(campaign__track__competition=competition):
        _require_files(result)


def _require_files(result: CampaignResult) -> None:
    """Whether the files of ``result``, where they are here, are the ones that it says."""
    try:
        written, votes = read_private(result.result_sha256), read_private(result.votes_sha256)
    except SystemFault:
        return
    document = json.loads(written)
    read_votes(votes)
    labels = [row["label"] for row in document["systems"]]
    if document["signature_hash"] != result.signature_hash or labels != [row["label"] for row in result.rows]:
        raise ArchiveRefused(reason="rows", table="tables/campaign_results.jsonl")
