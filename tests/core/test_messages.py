"""Every error has its words; they are filled, dated in KST, and say nothing that is not in their data."""

import re
from datetime import UTC, datetime, timedelta

import pytest
from django.utils import translation

from malpan.api.errors import ServerError
from malpan.core.errors import DatabaseAway, DomainError, MailNotSent, RequestError, SubmissionError, SystemFault
from malpan.core.messages import duration_text, heading_of, text_of, text_of_code
from malpan.submissions.errors import PhaseNotOpen, QuotaExceeded, UploadTooLarge
from malpan.teams.errors import TeamNameTaken

NOON = datetime(2026, 11, 20, 3, 0, tzinfo=UTC)  # 12:00 KST


def _classes(root: type[DomainError] = DomainError) -> list[type[DomainError]]:
    return [root, *(leaf for child in root.__subclasses__() for leaf in _classes(child))]


def test_codes_are_unique():
    codes = [each.code for each in _classes()]

    assert len(codes) == len(set(codes))


def _texts(error: type[DomainError]) -> list[str]:
    return [str(text) for text in (error.text.values() if isinstance(error.text, dict) else [error.text])]


def test_every_error_says_something_of_its_own():
    """The roots share the sentence of what they are a kind of; what is raised has one that nobody else has."""
    raised = [each for each in _classes() if not each.__subclasses__()]
    said = [text for each in raised for text in _texts(each)]

    assert len(raised) > 90
    assert len(said) == len(set(said))
    assert not {str(each.text) for each in _classes() if each.__subclasses__()} & set(said)


@pytest.mark.parametrize("language", ["ko", "en"])
def test_no_error_names_a_field_or_column_as_the_code_does(language):
    for_operators = {"collect_files", "UPLOAD_MAX_BYTES"}  # a command and a setting to type
    with translation.override(language):
        texts = [re.sub(r"%\(\w+\)s", "", text) for each in _classes() for text in _texts(each)]

    assert {name for text in texts for name in re.findall(r"[A-Za-z]+_\w+", text)} == for_operators


@pytest.mark.parametrize(
    ("kind", "limit", "next_allowed_at"),
    [
        ("daily", 5, NOON),
        ("daily", 5, None),
        ("total", 4, None),
        ("interval", timedelta(hours=72), NOON),
        ("interval", timedelta(hours=72), None),
    ],
)
def test_quota_text_names_the_limit_and_the_exact_moment(kind, limit, next_allowed_at):
    text = text_of(QuotaExceeded(kind=kind, limit=limit, next_allowed_at=next_allowed_at))

    assert (duration_text(limit) if isinstance(limit, timedelta) else str(limit)) in text
    assert ("2026-11-20 12:00 KST" in text) == (next_allowed_at is not None)


def test_phase_text_tells_before_from_after():
    before = PhaseNotOpen(starts_at=NOON, ends_at=NOON + timedelta(days=1), is_over=False)
    after = PhaseNotOpen(starts_at=NOON, ends_at=NOON + timedelta(days=1), is_over=True)

    assert "2026-11-20 12:00 KST" in text_of(before)
    assert "2026-11-21 12:00 KST" in text_of(after)


def test_sizes_are_shown_with_their_unit():
    with translation.override("ko"):
        text = text_of(UploadTooLarge(size_bytes=30 * 1024 * 1024, limit_bytes=20 * 1024 * 1024))

    assert "30.0\xa0MB" in text
    assert "20.0\xa0MB" in text


@pytest.mark.parametrize(
    ("root", "heading"), [(SubmissionError, "제출 오류"), (SystemFault, "시스템 오류"), (RequestError, "요청 오류")]
)
def test_heading_says_whose_it_is_to_mend(root, heading):
    with translation.override("ko"):
        assert {heading_of(each.__new__(each)) for each in _classes(root)} == {heading}


def test_faults_of_ours_promise_that_nothing_is_charged():
    with translation.override("ko"):
        texts = {each: text_of_code(each.code) for each in _classes(SystemFault)}

    unsure = {each for each, text in texts.items() if "차감되지 않습니다" not in text}
    assert unsure == {DatabaseAway, ServerError, MailNotSent}, "it may have been done; or it is of no submission"
    assert "이미 접수되었을 수 있으니" in texts[DatabaseAway]


def test_unknown_stored_code_is_still_a_fault_of_ours():
    assert text_of_code("gone_since") == text_of_code("system_fault")


def test_str_of_an_error_carries_no_data():
    assert str(TeamNameTaken(name="우리 팀")) == "team_name_taken"


@pytest.mark.parametrize(
    ("span", "text"),
    [
        (timedelta(hours=72), "72시간"),
        (timedelta(minutes=90), "90분"),
        (timedelta(seconds=45), "45초"),
    ],
)
def test_duration_is_shown_in_the_largest_even_unit(span, text):
    with translation.override("ko"):
        assert duration_text(span) == text
