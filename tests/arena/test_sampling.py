"""The sample: every type in proportion, the same for the same seed, with what was asked and answered."""

from __future__ import annotations

import json
import random
from collections import Counter

import pytest

from malpan.arena.errors import ReferencesMissing, SplitMissing, SystemUnfit, TooFewItems
from malpan.arena.sampling import available_items, drawn, sample_items, shares
from malpan.arena.systems import systems_of
from malpan.competitions.models import DataFile, ReferenceVersion
from malpan.core.storage import store_private
from malpan.submissions.models import Submission
from malpan.submissions.scoring_changes import publish_reference_version
from scoring.reading.shown import answer_text, question_text, reference_text, type_of
from scoring.records import Item
from tests.arena.conftest import CANARY, ITEMS, World, answer, kind_of, reference_rows
from tests.factories import PhaseFactory

SEED = "5" * 64


def fair_shares(sizes: dict[str, int], count: int) -> dict[str, int]:
    """Largest remainders, one place at a time: to whom most is owed, the earlier name first."""
    total, given = sum(sizes.values()), dict.fromkeys(sizes, 0)
    for name in sizes:
        while (given[name] + 1) * total <= count * sizes[name]:
            given[name] += 1
    while sum(given.values()) < count:
        owed = {name: count * sizes[name] - given[name] * total for name in sizes}
        given[min(owed, key=lambda name: (-owed[name], name))] += 1
    return given


def test_shares_are_in_proportion() -> None:
    rng = random.Random(3)
    for _round in range(300):
        sizes = {f"t{number}": rng.randint(1, 40) for number in range(rng.randint(1, 6))}
        count = rng.randint(1, sum(sizes.values()))
        found = shares(sizes, count)
        assert found == fair_shares(sizes, count)
        assert sum(found.values()) == count
        assert all(found[name] <= sizes[name] for name in sizes)


def items(count: int) -> list[Item]:
    return [Item(f"q{number:03d}", "답", number, kind_of(number)) for number in range(1, count + 1)]


def test_the_sample_depends_on_the_seed_alone() -> None:
    known = items(90)
    first = drawn(known, 30, SEED)
    assert drawn(list(reversed(known)), 30, SEED) == first
    assert drawn(known, 30, "6" * 64) != first
    assert Counter(type_of(item) for item in first) == {"선택형": 20, "교정형": 10}
    assert len({item.id for item in first}) == 30


def test_every_item_is_drawn_about_equally_often() -> None:
    known, counts = items(30), Counter[str]()
    for number in range(600):
        counts.update(item.id for item in drawn(known, 6, f"seed {number}"))
    assert len(counts) == 30
    assert 80 <= min(counts.values()) <= max(counts.values()) <= 165  # 120 on average; five standard deviations


@pytest.mark.django_db
def test_items_come_with_what_every_team_answered(world: World) -> None:
    campaign = world.ready()
    systems = systems_of(campaign)
    real, practice = sample_items(campaign, systems)
    assert (len(real), len(practice)) == (12, 2)
    assert not {each.reference_id for each in real} & {each.reference_id for each in practice}
    assert Counter(each.stratum for each in real) == {"선택형": 8, "교정형": 4}
    for each in real + practice:
        number = int(each.reference_id[1:])
        assert each.input_text == f"{number}번째 문제: 무엇이 옳은가?"
        assert each.reference_text.startswith(f"{CANARY}{number}이 옳다.")
        assert each.outputs == {system.pk: answer(system.submission.team.name, number) for system in systems}


@pytest.mark.django_db
def test_the_part_says_which_items_there_are(world: World) -> None:
    assert available_items(world.campaign()).counts == {"교정형": 8, "선택형": 16}
    with pytest.raises(SplitMissing):
        available_items(world.campaign(part="private"))
    public = [f"q{number:02d}" for number in range(1, 10)]
    ReferenceVersion.objects.filter(phase=world.phase).update(public_ids=public)
    assert available_items(world.campaign(part="public")).total == 9
    hidden = world.ready(part="private", item_count=10)
    assert available_items(hidden).total == ITEMS - 9
    real, practice = sample_items(hidden, systems_of(hidden))
    assert not {each.reference_id for each in real + practice} & set(public)


@pytest.mark.django_db
def test_too_few_items_are_refused_with_the_numbers(world: World) -> None:
    campaign = world.ready(item_count=ITEMS - 1)
    with pytest.raises(TooFewItems) as caught:
        sample_items(campaign, systems_of(campaign))
    assert caught.value.params == {"count": ITEMS, "wanted": ITEMS + 1}


@pytest.mark.django_db
def test_without_references_there_are_no_items(world: World) -> None:
    with pytest.raises(ReferencesMissing):
        available_items(world.campaign(phase=PhaseFactory.create(track=world.track)))


@pytest.mark.django_db
def test_a_file_that_cannot_be_read_is_named(world: World) -> None:
    campaign = world.ready()
    stored = store_private(b"[{")
    Submission.objects.filter(pk=world.submissions[2].pk).update(file_sha256=stored.sha256)
    with pytest.raises(SystemUnfit) as caught:
        sample_items(campaign, systems_of(campaign))
    assert caught.value.params["reason"] == "unreadable"
    assert caught.value.params["team"] == world.teams[2].name


@pytest.mark.django_db
def test_an_item_that_was_added_later_has_an_empty_answer(world: World) -> None:
    campaign = world.ready(item_count=ITEMS, calibration_count=1)
    more = json.dumps(reference_rows(ITEMS + 1), ensure_ascii=False).encode()
    publish_reference_version(phase=world.phase, data=more, actor=None, replace_in_use=True)
    real, practice = sample_items(campaign, systems_of(campaign))
    outputs = {each.reference_id: set(each.outputs.values()) for each in real + practice}
    assert outputs[f"q{ITEMS + 1}"] == {""}
    assert all(len(texts) == 4 for name, texts in outputs.items() if name != f"q{ITEMS + 1}")


@pytest.mark.django_db
def test_questions_come_from_the_published_file_where_the_references_have_none(world: World) -> None:
    rows = [{**row, "input": {}} for row in reference_rows()]
    publish_reference_version(phase=world.phase, data=json.dumps(rows).encode(), actor=None, replace_in_use=True)
    asked = [{"id": f"q{number:02d}", "input": {"question": f"물음 {number}"}} for number in range(1, ITEMS + 1)]
    for title, data in (("안내", b"no json"), ("문제", json.dumps(asked).encode())):
        stored = store_private(data)
        DataFile.objects.create(
            track=world.track, title_ko=title, file_name="q.json", file_sha256=stored.sha256, file_size=stored.size
        )
    campaign = world.ready()
    real, _practice = sample_items(campaign, systems_of(campaign))
    assert {each.input_text for each in real} == {f"물음 {int(each.reference_id[1:])}" for each in real}


# --- what an item says, by the form of its answers --------------------------------------------------------------------
TRAITS = {
    name: {"score": score, "rationale": f"{name}의 까닭"}
    for name, score in {"content": 4, "organization": 3.5, "expression": 2}.items()
}


def test_essays_are_shown_with_their_task_and_answers_with_their_reasons() -> None:
    scores = {"content": 3.4, "organization": 3.25, "expression": 3.75, "average": 3.467}
    asked = {"document_id": "d", "prompt_num": "Q1", "prompt": "주장하는 글을 쓰시오.", "essay": "나는 주장한다."}
    reference = Item("1", json.dumps({**scores, "essay": "나는 주장한다."}), 1, None, asked)
    assert question_text(reference, "essays") == "주장하는 글을 쓰시오.\n\n나는 주장한다."
    assert reference_text(reference, "essays") == "내용: 3.4\n조직: 3.25\n표현: 3.75\n평균: 3.467"
    assert type_of(reference) == "Q1"
    answered = Item("1", json.dumps(TRAITS), 1)
    assert answer_text(answered, "essays").split("\n\n")[1] == "조직: 3.5\norganization의 까닭"
    assert answer_text(Item("1", json.dumps("점수는 없습니다."), 1), "essays") == "점수는 없습니다."
    assert answer_text(Item("1", "", 1), "essays") == ""


def test_captions_have_no_question_and_all_their_references() -> None:
    reference = Item("1", "개가 뛴다", 1, others=("강아지가 달린다", "개가 뛴다"))
    assert question_text(reference, "captions") == ""
    assert reference_text(reference, "captions") == "개가 뛴다\n강아지가 달린다"
    assert answer_text(None, "captions") == ""


def test_what_a_short_reference_accepts_is_on_lines_of_its_own_and_other_texts_are_as_they_are() -> None:
    assert reference_text(Item("1", "직지심체요절# 직지 #직지", 1, "단답형"), "answers") == "직지심체요절\n직지"
    assert reference_text(Item("1", "C#으로 쓴다", 1, "서술형"), "answers") == "C#으로 쓴다"
    assert reference_text(Item("1", "C#으로 쓴다", 1), "answers") == "C#으로 쓴다"


def test_several_parts_of_a_question_are_named() -> None:
    reference = Item("1", "답", 1, "선택형", {"question_type": "선택형", "question": "무엇?", "options": ["가", "나"]})
    assert question_text(reference, "answers") == "질문: 무엇?\n보기: 가, 나"


def test_a_conversation_stands_as_it_was_spoken() -> None:
    said = [{"speaker": "가", "utterance": "어디 가?"}, {"speaker": "나", "utterance": "학교에 가."}]
    asked = {"conversation": said, "subject_keyword": ["학교", "길"], "of_ours": {"a": 1}, "category": ""}
    wanted = '대화:\n가: 어디 가?\n나: 학교에 가.\n\n주제어: 학교, 길\nof_ours: {"a": 1}'
    assert question_text(Item("1", "답", 1, None, asked), "answers") == wanted
    assert question_text(Item("1", "답", 1, None, {"conversation": said}), "answers") == "가: 어디 가?\n나: 학교에 가."


def test_what_is_no_conversation_is_written_as_it_is() -> None:
    asked = {"conversation": [{"who": "가"}], "context": "길" * 50}
    assert question_text(Item("1", "답", 1, None, asked), "answers") == f'대화: [{{"who": "가"}}]\n글:\n{"길" * 50}'
