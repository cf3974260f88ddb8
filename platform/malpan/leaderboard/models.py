"""Boards in the database: the standings, which follow the live scores, and boards of the past, final
ones as they were published."""

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from malpan.competitions.models import Phase
from malpan.core.language import in_language
from malpan.jobs.models import Job
from malpan.submissions.models import ScoringRun, Submission
from malpan.teams.models import Team


class Snapshot(models.Model):
    """A result as it was published, which never changes: its ``rows`` in order, and the hash of what it says.

    Publishing again (after an erratum, with the reason as its note) makes another one with the next ``number``; the
    newest is the one shown.
    """

    number = models.PositiveSmallIntegerField(_("판"))
    rows = models.JSONField(_("순위"))
    sha256 = models.CharField(_("sha256"), max_length=64)
    note_ko = models.CharField(_("안내"), max_length=300, blank=True)
    note_en = models.CharField(_("안내(영어)"), max_length=300, blank=True)
    published_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+", verbose_name=_("발표한 사람")
    )
    published_at = models.DateTimeField(_("발표 시각"))

    class Meta:
        abstract = True

    @property
    def note(self) -> str:
        return in_language(self.note_ko, self.note_en)


class BoardSnapshot(Snapshot):
    """The final board of a phase or, of kind ``PUBLIC``, a public board as it was right before what ranks changed
    (``leaderboard.keeping``) or, of kind ``DAY``, as the KST ``day`` ended (``leaderboard.day_boards``). ``sha256`` is
    of the canonical JSON of the rows. ``components``: what it ranks by where that is a composite, whose parts are in
    the rows.
    """

    class Kind(models.TextChoices):
        FINAL = "final", _("최종 순위표")
        PUBLIC = "public", _("지난 공개 순위표")
        DAY = "day", _("하루 끝의 공개 순위표")

    kind = models.CharField(_("종류"), max_length=6, choices=Kind.choices, default=Kind.FINAL)
    published_by = models.ForeignKey(  # type: ignore[assignment]  # null: a public board that a command or the clock kept
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+", verbose_name=_("발표한 사람")
    )
    day = models.DateField(_("날"), null=True, blank=True)
    phase = models.ForeignKey(Phase, on_delete=models.PROTECT, related_name="snapshots", verbose_name=_("단계"))
    recipe = models.CharField(_("채점 방식"), max_length=60)
    signature_hash = models.CharField(_("서명 해시"), max_length=64, blank=True)
    components = models.JSONField(_("종합 순위의 지표와 가중치"), default=list, blank=True)

    class Meta:
        verbose_name = _("최종 순위표")
        verbose_name_plural = _("최종 순위표")
        ordering = ["phase", "kind", "-number"]
        constraints = [
            models.UniqueConstraint(fields=["phase", "kind", "number"], name="snapshot_number_unique_in_phase"),
            models.UniqueConstraint(fields=["phase", "day"], name="one_board_of_a_day"),
            models.CheckConstraint(
                condition=models.Q(kind="day") ^ models.Q(day=None), name="boards_of_days_name_them"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.phase} #{self.number}"


class Standing(models.Model):
    """The live result of a team in a phase that counts among its results with one signature; ``standings`` keeps it.

    ``composite``: where one ranks, that of the row among all with its signature, with its parts. ``key`` orders the
    board: of two rows the one with the lower key is higher, then the earlier submission. The ``current_*`` fields are
    about the results, with this signature, of the current references and recipe: they decide which signature the board
    has.
    """

    class Scope(models.TextChoices):
        LIVE = "live"
        FROZEN = "frozen"  # of what was submitted before the board was frozen

    phase = models.ForeignKey(Phase, on_delete=models.CASCADE, related_name="+")
    scope = models.CharField(max_length=6, choices=Scope.choices)
    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="+")
    signature_hash = models.CharField(max_length=64)
    is_baseline = models.BooleanField()
    key = ArrayField(models.FloatField())
    submission = models.ForeignKey(Submission, on_delete=models.CASCADE, related_name="+")
    submitted_at = models.DateTimeField()
    final_score = models.FloatField()  # 0-1
    scores = models.JSONField()
    composite = models.JSONField(null=True)
    is_demo_models = models.BooleanField()
    coverage = models.FloatField(null=True)  # the share of reasons given, where the recipe counts them
    scored_at = models.DateTimeField(null=True)
    submission_count = models.PositiveIntegerField()  # of the team's charged submissions, of any signature
    result_count = models.PositiveIntegerField()
    current_count = models.PositiveIntegerField()
    current_newest_at = models.DateTimeField(null=True)  # the arrival of the newest of them, and its submission
    current_newest_id = models.BigIntegerField(null=True)

    class Meta:
        indexes = [
            models.Index(
                fields=["phase", "scope", "signature_hash", "key", "submitted_at", "submission"],
                name="standing_in_board_order",
            )
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["phase", "scope", "team", "signature_hash"], name="one_standing_per_team_and_signature"
            )
        ]

    def __str__(self) -> str:
        return f"{self.phase_id} {self.scope} {self.team_id} {self.final_score}"


class StandingsVersion(models.Model):
    """Names the present standings of a phase, with the names of their teams: another value whenever one differs.

    Drawn by chance, so that no value ever comes back, not even after a backup was restored.
    """

    phase = models.OneToOneField(Phase, on_delete=models.CASCADE, primary_key=True, related_name="standings_version")
    value = models.UUIDField()

    def __str__(self) -> str:
        return f"{self.phase_id} {self.value}"


class DayRanks(models.Model):
    """The ranks on the live board of a phase as its present KST ``day`` began (``leaderboard.days``), by the key of the
    team. Empty where nobody looked at that hour.
    """

    phase = models.OneToOneField(Phase, on_delete=models.CASCADE, primary_key=True, related_name="day_ranks")
    day = models.DateField()
    ranks = models.JSONField(default=dict)

    def __str__(self) -> str:
        return f"{self.phase_id} {self.day}"


class StandingMark(models.Model):
    """What changed since the standings of a phase were computed: those of a team, or of every team where it is null.

    Triggers of the database write it (``leaderboard.triggers``), in the transaction of the change. Nothing refers to
    it, and it locks nothing.
    """

    phase = models.ForeignKey(Phase, on_delete=models.DO_NOTHING, db_constraint=False, related_name="+")
    team = models.ForeignKey(
        Team, on_delete=models.DO_NOTHING, db_constraint=False, db_index=False, null=True, related_name="+"
    )
    made_at = models.DateTimeField(db_default=Now())

    def __str__(self) -> str:
        return f"{self.phase_id} {self.team_id}"


class BoardSureness(models.Model):
    """How sure the scores and ranks of a board are, as a job computed them (``leaderboard.sureness``): of the board of
    a phase in a ``scope``, or of a ``snapshot``.

    ``basis`` is a hash of all that it was computed from, ``version`` the standings that had this basis last; both are
    empty before the first result. ``rows`` are by the public id of a submission: ``rank``; ``scores``, the interval of
    each by name; ``places``, that of the rank; ``band``, ``first``, the rank of the first in the band, and ``tied``,
    how many are in it; ``p``, of the difference to the rank above. ``reason``: why there are no bands. ``stamp`` is
    another value whenever the row is.
    """

    phase = models.ForeignKey(Phase, on_delete=models.CASCADE, related_name="+")
    scope = models.CharField(max_length=6, choices=Standing.Scope.choices, default=Standing.Scope.LIVE)
    snapshot = models.OneToOneField(BoardSnapshot, null=True, on_delete=models.CASCADE, related_name="sureness")
    job = models.OneToOneField(Job, null=True, on_delete=models.SET_NULL, related_name="+")
    version = models.UUIDField(null=True)
    basis = models.CharField(max_length=64, blank=True)
    signature_hash = models.CharField(max_length=64, blank=True)
    seed = models.PositiveBigIntegerField(default=0)
    trials = models.PositiveIntegerField(default=0)
    level = models.FloatField(default=0.0)
    items = models.PositiveIntegerField(default=0)
    pairs = models.PositiveIntegerField(default=0)
    rows = models.JSONField(default=dict)
    reason = models.CharField(max_length=30, blank=True)
    seconds = models.FloatField(default=0.0)  # that the last computation took
    computed_at = models.DateTimeField(null=True)
    stamp = models.UUIDField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["phase", "scope"], condition=models.Q(snapshot=None), name="one_sureness_per_phase_and_scope"
            )
        ]

    def __str__(self) -> str:
        return f"{self.phase_id} {self.scope} {self.snapshot_id or ''}"


class BoardItems(models.Model):
    """What the items of a board's teams say beyond its scores (``leaderboard.sureness.items``), apart from the row that
    every page of the board reads. ``found`` is empty for a board without teams.
    """

    sureness = models.OneToOneField(
        BoardSureness, primary_key=True, on_delete=models.CASCADE, related_name="items_found"
    )
    found = models.JSONField(default=dict)

    def __str__(self) -> str:
        return f"{self.sureness_id}"


class ResultSureness(models.Model):
    """How sure the scores of a result are, on its board or not (``leaderboard.sureness.results``): ``scores`` has the
    ends of the interval of each by name, of those that follow from the stored items.
    """

    run = models.ForeignKey(ScoringRun, on_delete=models.CASCADE, related_name="+")
    is_private = models.BooleanField(default=False)  # of the private split
    scores = models.JSONField(default=dict)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["run", "is_private"], name="one_sureness_of_a_result")]

    def __str__(self) -> str:
        return f"{self.run_id}"


class ResultComparison(models.Model):
    """What resampling the items says of two results of a team, as a job computed it (``leaderboard.comparing``).

    ``lines`` are by score: the values ``a`` and ``b``, ``p`` after Holm's correction, ``interval`` of the difference
    b - a, ``a_interval`` and ``b_interval``, and whether it ``is_significant``; ``None`` where a score was not tested.
    ``reason``: why there are none. ``computed_at`` is empty until then.
    """

    CRASHED = "crashed"

    one = models.ForeignKey(ScoringRun, on_delete=models.CASCADE, related_name="+")
    other = models.ForeignKey(ScoringRun, on_delete=models.CASCADE, related_name="+")
    is_private = models.BooleanField(default=False)  # of the private split
    job = models.OneToOneField(Job, null=True, on_delete=models.SET_NULL, related_name="+")
    lines = models.JSONField(default=dict)
    items = models.PositiveIntegerField(default=0)
    seed = models.PositiveBigIntegerField(default=0)
    trials = models.PositiveIntegerField(default=0)
    reason = models.CharField(max_length=30, blank=True)
    computed_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["one", "other", "is_private"], name="one_comparison_of_two_results")
        ]

    def __str__(self) -> str:
        return f"{self.one_id} {self.other_id}"
