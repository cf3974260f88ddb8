"""The instrument on lists of texts, for notebooks and programs: ``scoring.score`` and ``scoring.metric``."""

from scoring.lists.choosing import metric_names
from scoring.lists.errors import WrongArgument
from scoring.lists.result import Scores
from scoring.lists.scoring import score
from scoring.lists.single import ListMetric

__all__ = ["ListMetric", "Scores", "WrongArgument", "metric", "metric_names", "score"]

metric = ListMetric
