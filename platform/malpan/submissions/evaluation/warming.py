"""What the waiting runs need and takes seconds to start, Java above all, a new process starts beside its first run.

Only what a queued run needs: most sites never score captions, and a JVM takes 300 MB.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterable

from malpan.competitions.errors import UnknownTrackRecipe
from malpan.competitions.references import recipe_named
from malpan.submissions.models import ScoringRun
from scoring.errors import ScoringError

logger = logging.getLogger(__name__)


def begin() -> threading.Thread | None:
    """A thread that warms this process up for the runs that wait; ``None`` if none does."""
    waiting = ScoringRun.objects.filter(state=ScoringRun.State.QUEUED).order_by().values_list("recipe", flat=True)
    recipes = list(waiting.distinct())
    if not recipes:
        return None
    thread = threading.Thread(target=_warm_up, args=(recipes,), name="warm-up", daemon=True)
    thread.start()
    return thread


def _warm_up(recipes: Iterable[str]) -> None:
    from scoring import engine  # not at the top: a process that only takes files and queues runs never loads it

    for recipe in recipes:
        try:
            engine.warm_up(recipe_named(recipe))
        except (ScoringError, UnknownTrackRecipe) as error:  # the run that needs it says so too
            logger.warning("nothing is warm for %s: %s", recipe, type(error).__name__)
        except Exception:  # a defect in one recipe keeps no other cold
            logger.exception("nothing is warm for %s", recipe)
