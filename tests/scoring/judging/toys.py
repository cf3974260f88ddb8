"""A recipe with a judge beside an exact match, essays with rationales, and a profile that names a demo judge."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Thread
from typing import Any

from scoring.errors import Message
from scoring.figures import Figure
from scoring.judging.demo import MODEL, Behaviour, DemoJudge
from scoring.recipes.base import Layout, Recipe, align, pair_up
from scoring.recipes.columns import FINAL, reference_column
from scoring.records import Items

ESSAY = (
    "학교 급식에 채식의 날을 두어야 한다. 첫째, 채식은 온실가스를 줄인다. 축산업이 내는 온실가스는 교통이 내는 것과 "
    "맞먹는다. 둘째, 학생들이 채소를 골고루 먹는 습관을 기른다. 물론 영양이 모자랄 것이라는 걱정도 있다. 그러나 콩과 "
    "두부로 단백질을 채울 수 있다. 따라서 한 달에 한 번은 채식의 날을 두자."
)
GOOD = (
    "내용: 채식의 날을 두자는 주장이 뚜렷하고 ‘축산업이 내는 온실가스’라는 근거가 구체적이다.\n"
    "조직: 첫째와 둘째로 근거를 나누고, 영양이 모자랄 것이라는 걱정에 답한 뒤 주장을 되풀이해 짜임이 분명하다.\n"
    "표현: ‘골고루 먹는 습관을 기른다’처럼 문장이 매끄럽고 학생들이 읽기 쉽다."
)
STOCK = "전반적으로 무난합니다. 더 노력하면 좋겠습니다."


@dataclass(frozen=True)
class Judged(Recipe):
    """Exact match ranks; the judge stands beside it, and is optional."""

    def input_rule(self, metric: str) -> str:
        return "whole-answer@1"

    def prepare(self, references: Items, predictions: Items) -> Layout:
        pairs = pair_up((r.id, r.text, p.text) for r, p in align(references, predictions))
        return Layout(item_ids=pairs.ids, pairs=dict.fromkeys((*self.metrics, *self.optional_metrics), pairs))

    def final_scores(self, means: Mapping[str, Figure]) -> dict[str, Figure]:
        return {"final_score": means["exact_match"], **means}


TOY = Judged(
    id="judged@1",
    name=Message("심사 장난감", "Judged toy"),
    metrics=("exact_match",),
    columns=(FINAL, reference_column("llm_judge", "LLM 심사", "LLM judge")),
    tie_breaks=(),
    question_types=(),
    rule_text=Message("최종 점수 = 완전 일치.", "Final = exact match."),
    optional_metrics=("llm_judge",),
)
# whoever has an answer that never comes says less; an answer that a busy machine gives late would be asked for twice
FAST = {"timeout": 30.0, "retry_seconds": 0.01, "concurrency": 4}


@contextmanager
def demo_judge(**behaviour: Any) -> Iterator[DemoJudge]:
    """A demo judge in a thread of this process."""
    server = DemoJudge(behaviour=replace(Behaviour(hang=1.5, retry_after=0.0), **behaviour))
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.close()
        thread.join()


def profile_for(path: Path, url: str, **keys: Any) -> Path:
    """The file of a profile with nothing but the judge at ``url``."""
    given = {"base_url": url, "model": MODEL, **FAST, **keys}
    lines = [f"{key} = {_toml(value)}" for key, value in given.items()]
    path.write_text("\n".join([f'name = "{path.stem}"', "[judge]", *lines]) + "\n", encoding="utf-8")
    return path


def _toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key} = {_toml(part)}" for key, part in value.items()) + "}"
    return f'"{value}"' if isinstance(value, str) else str(value).lower()
