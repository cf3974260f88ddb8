"""The tables of this app, one file for each aggregate."""

from malpan.submissions.models.alike import AlikeFiles
from malpan.submissions.models.canary import CanaryRows
from malpan.submissions.models.chain import ChainEntry
from malpan.submissions.models.judge import JudgeAgreement, Judgement, JudgeReservation, JudgeUsage
from malpan.submissions.models.quota import QuotaEntry
from malpan.submissions.models.rescore import RescoreBatch, RescoreOrder
from malpan.submissions.models.run import FreshResult, HiddenResult, MetricResult, PairValue, ScoringRun
from malpan.submissions.models.submission import FinalChoice, Rejection, Submission

__all__ = [
    "AlikeFiles",
    "CanaryRows",
    "ChainEntry",
    "FinalChoice",
    "FreshResult",
    "HiddenResult",
    "JudgeAgreement",
    "JudgeReservation",
    "JudgeUsage",
    "Judgement",
    "MetricResult",
    "PairValue",
    "QuotaEntry",
    "Rejection",
    "RescoreBatch",
    "RescoreOrder",
    "ScoringRun",
    "Submission",
]
