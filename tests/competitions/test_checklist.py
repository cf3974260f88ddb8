"""The checklist: which fact makes which item, and facts gathered from real rows and files."""

from dataclasses import replace
from datetime import timedelta

import pytest
from django.utils import timezone, translation

from malpan.competitions import checklist_facts, roles
from malpan.competitions.checklist import Facts, Leak, PhaseFacts, State, TrackFacts, checklist
from malpan.competitions.models import Competition, DataFile
from malpan.competitions.services import add_data_file
from malpan.submissions.scoring_changes import publish_reference_version
from malpan.teams.selectors import competing_with_a_role
from tests.factories import (
    CANARY,
    CompetitionFactory,
    PhaseFactory,
    TeamFactory,
    TrackFactory,
    UserFactory,
    file_bytes,
    leader_of,
    prediction_bytes,
    publish,
    reference_bytes,
    rows,
)

NOW = timezone.now()
PHASE = PhaseFacts(
    title="본선",
    starts_at=NOW,
    ends_at=NOW + timedelta(days=1),
    has_references=True,
    has_limits=True,
    sample="ok",
)
TRACK = TrackFacts(
    title="규범",
    has_english_title=True,
    has_english_description=True,
    has_recipe=True,
    profile="official",
    models="ready",
    is_demo_profile=False,
    needs_models=True,
    is_searched=True,
    has_sample=True,
    has_data=True,
    phases=(PHASE,),
)
READY = Facts(
    now=NOW,
    has_summary=True,
    has_description=True,
    has_english=True,
    has_organiser=True,
    has_terms=True,
    has_terms_in_both=True,
    has_prize_places=True,
    helpers=2,
    competing=(),
    site_url="https://malpan.example",
    is_local_site=False,
    sends_email=True,
    tracks=(TRACK,),
)


def states(facts):
    return {item.code: item.state for item in checklist(facts)}


def with_track(**fields):
    return replace(READY, tracks=(replace(TRACK, **fields),))


def with_phase(**fields):
    return with_track(phases=(replace(PHASE, **fields),))


def test_a_complete_competition_has_no_gap_and_only_the_note_of_backups():
    assert set(states(READY).values()) == {State.OK, State.NOTE}
    assert [item.code for item in checklist(READY) if item.state is State.NOTE] == ["backups"]


@pytest.mark.parametrize(
    ("facts", "code"),
    [
        (replace(READY, has_summary=False), "korean_texts"),
        (replace(READY, has_description=False), "korean_texts"),
        (replace(READY, tracks=()), "tracks"),
        (with_track(phases=()), "phases"),
        (with_track(has_recipe=False), "recipe"),
        (with_track(models="unknown"), "models"),
        (with_track(leaks=(Leak("answers.json", 3, 6, is_copy=True),)), "leak"),
        (with_phase(has_references=False), "references"),
        (with_phase(wants_split=True), "split"),
        (with_phase(sample="invalid"), "sample_fits"),
    ],
)
def test_a_gap_stands_where_the_competition_could_not_run(facts, code):
    assert states(facts)[code] is State.MISSING
    assert sum(item.is_gap for item in checklist(facts)) == 1


@pytest.mark.parametrize(
    ("facts", "code"),
    [
        (replace(READY, has_english=False), "english_texts"),
        (replace(READY, has_terms=False, has_terms_in_both=False), "terms"),
        (replace(READY, has_terms_in_both=False), "terms"),
        (replace(READY, has_prize_places=False), "prize_places"),
        (replace(READY, helpers=1), "helpers"),
        (replace(READY, competing=("겸직 팀",)), "competing"),
        (replace(READY, is_local_site=True), "site_url"),
        (replace(READY, sends_email=False), "email"),
        (with_track(models="absent"), "models"),
        (with_track(is_demo_profile=True), "models"),
        (with_track(has_sample=False), "sample"),
        (with_track(leaks=(Leak("sample.json", 5, 6, is_copy=False),)), "leak"),
        (with_track(has_data=False), "data"),
        (with_track(has_english_title=False), "track_english"),
        (with_track(has_english_description=False), "track_english"),
        (with_track(phases=(PHASE, PHASE)), "phase_order"),
        (with_phase(has_limits=False), "limits"),
        (with_phase(ends_at=NOW), "phase_over"),
        (with_phase(sample="faulty"), "sample_fits"),
    ],
)
def test_what_may_be_meant_so_is_a_warning_and_no_gap(facts, code):
    assert states(facts)[code] is State.WARN
    assert not any(item.is_gap for item in checklist(facts))


@pytest.mark.parametrize(
    ("missing", "said"),
    [
        ({"has_english_title": False}, "‘규범’: 영어 제목이 없습니다."),
        ({"has_english_description": False}, "‘규범’: 영어 과제 안내가 없습니다."),
        (
            {"has_english_title": False, "has_english_description": False},
            "‘규범’: 영어 제목과 영어 과제 안내가 없습니다.",
        ),
    ],
)
def test_only_the_english_text_that_is_missing_is_named(missing, said):
    assert [item.text for item in checklist(with_track(**missing)) if item.code == "track_english"] == [said]


def test_nothing_is_said_of_models_that_do_not_score_and_files_that_are_not_there(phase):
    found = states(facts(phase))
    assert "leak" not in found, "there is nothing to search"
    assert found["models"] is State.WARN
    phase.track.recipe = "captioning-lexical@1"
    phase.track.save()
    assert "models" not in states(facts(phase))


def test_every_item_reads_in_both_languages_whatever_stands_in_its_names():
    facts = replace(
        with_track(title="100% %(x)s", leaks=(Leak("a%b", 3, 6, is_copy=True), Leak("%s", 1, 6, is_copy=False))),
        competing=("%s",),
    )
    for language in ("ko", "en"):
        with translation.override(language):
            assert all(item.text for item in checklist(facts))
    assert "100% %(x)s" in next(item.text for item in checklist(facts) if item.code == "leak")


# --- facts ------------------------------------------------------------------------------------------------------------
@pytest.fixture
def phase(db):
    competition = CompetitionFactory.create(terms_ko="약관", prize_places=[1, 3])
    phase = PhaseFactory.create(track=TrackFactory.create(competition=competition), daily_limit=5)
    publish(phase)
    return phase


def facts(phase):
    competition = Competition.objects.get(pk=phase.track.competition_id)
    return checklist_facts.facts_of(competition, competing_with_a_role(competition).values())


def offer(phase, data, kind=DataFile.Kind.SAMPLE):
    return add_data_file(track=phase.track, kind=kind, title_ko="예시", file_name="sample.json", data=data)


@pytest.mark.parametrize(
    ("data", "fit"), [(prediction_bytes(3), "ok"), (prediction_bytes(2), "invalid"), (b"not JSON", "invalid")]
)
def test_a_sample_is_held_against_the_references_as_an_upload_would_be(phase, data, fit):
    offer(phase, data)

    assert facts(phase).tracks[0].phases[0].sample == fit


def test_without_a_sample_there_is_nothing_to_hold_against(phase):
    assert facts(phase).tracks[0].phases[0].sample == "none"


@pytest.mark.parametrize("kind", DataFile.Kind.values)
def test_reference_answers_in_another_wrapping_are_found_in_a_file_for_download(phase, kind):
    data = reference_bytes(3).replace(b"{", b"{ ", 1)  # not the same bytes, which the service refuses

    offer(phase, data, kind)

    assert facts(phase).tracks[0].leaks == (Leak("sample.json", 3, 3, is_copy=True),)
    assert not any(CANARY in item.text for item in checklist(facts(phase)))


def test_a_store_that_is_away_is_a_warning_until_it_is_back(phase, settings, tmp_path):
    offer(phase, prediction_bytes(3))
    root, settings.PRIVATE_ROOT = settings.PRIVATE_ROOT, tmp_path / "elsewhere"
    checklist_facts._is_taken_in.cache_clear()
    checklist_facts.same_answers.cache_clear()

    assert (facts(phase).tracks[0].phases[0].sample, facts(phase).tracks[0].leaks) == ("faulty", ())

    settings.PRIVATE_ROOT = root
    assert facts(phase).tracks[0].phases[0].sample == "ok"


def test_a_sample_that_answers_otherwise_leaks_nothing(phase):
    offer(phase, prediction_bytes(3))
    offer(phase, file_bytes([row | {"output": {"answer": ""}} for row in rows(3)]), DataFile.Kind.DATA)

    assert facts(phase).tracks[0].leaks == ()


def test_correct_answers_with_reasons_of_their_own_are_counted(phase):
    """None of the texts is that of the references, but exact match takes three answers of five."""
    phase = PhaseFactory.create(track=phase.track)
    publish_reference_version(phase=phase, data=file_bytes(rows(5, "‘맞히다’가 옳다. 까닭")), actor=None)
    answers = ["‘맞히다’가 옳다.", " ‘맞히다’가 옳다. 예시", '"‘맞히다’가 옳다."', "‘마치다’가 옳다.", ""]
    given = [row | {"output": {"answer": text}} for row, text in zip(rows(5), answers, strict=True)]
    offer(phase, file_bytes(given))

    assert facts(phase).tracks[0].leaks == (Leak("sample.json", 3, 5, is_copy=False),)
    text = next(item.text for item in checklist(facts(phase)) if item.code == "leak")
    assert "sample.json" in text
    assert "5문항 가운데 3문항" in text
    assert "맞히다" not in text


def test_rows_and_settings_become_facts(phase, settings):
    competition = phase.track.competition
    settings.SITE_URL = "http://localhost:8000"
    settings.MAIL_TRANSPORT = "django.core.mail.backends.smtp.EmailBackend"
    roles.appoint(competition=competition, user=UserFactory.create(), role="owner", actor=None)
    roles.appoint(competition=competition, user=UserFactory.create(is_active=False), role="owner", actor=None)
    team = TeamFactory.create(competition=competition, name="겸직")
    roles.appoint(competition=competition, user=leader_of(team), role="organiser", actor=None)

    found = facts(phase)

    assert (found.helpers, found.competing, found.sends_email, found.is_local_site) == (2, ("겸직",), True, True)
    assert (found.has_terms, found.has_terms_in_both, found.has_prize_places) == (True, False, True)
    assert found.tracks[0].is_demo_profile
    assert found.tracks[0].phases[0].has_limits


def test_the_settings_of_a_split_ask_for_a_split_version(phase):
    phase.public_percent = 50
    phase.save()

    assert (found := facts(phase).tracks[0].phases[0]).wants_split
    assert not found.has_split


def test_a_track_of_a_recipe_that_is_gone_is_a_gap_and_no_crash(phase):
    offer(phase, prediction_bytes(3))
    phase.track.recipe = "gone@1"
    phase.track.save()

    assert states(facts(phase))["recipe"] is State.MISSING
