"""The tables of this app, one file for each aggregate."""

from malpan.competitions.models.competition import Competition, Notice, Question
from malpan.competitions.models.endpoint import CompetitionEndpoint
from malpan.competitions.models.people import CompetitionRole, TermsAcceptance
from malpan.competitions.models.phase import Phase
from malpan.competitions.models.reference_version import ReferenceVersion
from malpan.competitions.models.target import TrackTarget
from malpan.competitions.models.track import DataFile, Track

__all__ = [
    "Competition",
    "CompetitionEndpoint",
    "CompetitionRole",
    "DataFile",
    "Notice",
    "Phase",
    "Question",
    "ReferenceVersion",
    "TermsAcceptance",
    "Track",
    "TrackTarget",
]
