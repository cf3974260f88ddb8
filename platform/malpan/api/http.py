"""Answers of the API: JSON in UTF-8, and refusals as problem documents (RFC 9457).

A refusal has the HTTP status of its error's class and ``type``, ``title``, ``status``, ``detail``, ``code`` and
``kind``: ``submission`` (제출 오류), ``system`` (시스템 오류) or ``request`` (요청 오류). ``error`` says the same once
more, in the form from before problem documents.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from itertools import islice
from typing import Any, Final

from django.conf import settings
from django.core.serializers.json import DjangoJSONEncoder
from django.http import HttpResponse

from malpan.accounts.errors import ApiTokenInvalid
from malpan.api.errors import FieldsInvalid, MethodNotAllowed
from malpan.arena.errors import (
    CampaignSettingsInvalid,
    JudgeNamed,
    PlanInvalid,
    PracticeInvalid,
    PracticeProblem,
    RubricInvalid,
    TeamsNotNear,
    TeamsUnknown,
)
from malpan.competitions.errors import ReferencesRejected
from malpan.core.errors import DomainError, SubmissionError, SystemFault
from malpan.core.language import reader_language
from malpan.core.messages import heading_of, text_of
from malpan.stages.errors import Problem, StageSettingsInvalid, TableInvalid
from malpan.submissions.errors import DuplicateUpload, FileRejected, HumanScoresRejected, QuotaExceeded
from scoring.errors import MAX_ERRORS_KEPT

SETTINGS_INVALID: Final = (
    StageSettingsInvalid,
    CampaignSettingsInvalid,
    RubricInvalid,
    PlanInvalid,
    JudgeNamed,
    TeamsUnknown,
    TeamsNotNear,
)
PROBLEM: Final = "application/problem+json"
ERRORS_BYTES: Final = 64 * 1024  # of the list of errors, which an answer has twice
VERSION: Final = "1.0.0"


def dumped(data: Any) -> str:
    """``data`` as JSON: Hangul as it is, not as six characters a syllable."""
    return json.dumps(data, cls=DjangoJSONEncoder, ensure_ascii=False)


def problem_address(code: str) -> str:
    """What identifies a kind of refusal: its place in the documentation."""
    return f"{settings.SITE_URL}/api/docs/#{code}"


def problem_of(error: DomainError) -> dict[str, Any]:
    """The problem document of ``error``."""
    said = text_of(error)
    facts: dict[str, Any] = {"code": error.code, "kind": kind_of(error)}
    more = _more(error)
    return {
        "type": problem_address(error.code),
        "title": heading_of(error),
        "status": error.http_status,
        "detail": said,
        **facts,
        **more,
        "error": {**facts, "message": said, **more},
    }


def error_response(error: DomainError) -> HttpResponse:
    """The answer for ``error``."""
    content = dumped(problem_of(error))
    response = HttpResponse(content, content_type=PROBLEM, status=error.http_status, headers=error.headers)
    say_version(response)
    if isinstance(error, ApiTokenInvalid):
        response["WWW-Authenticate"] = "Bearer"
    if isinstance(error, MethodNotAllowed):
        response["Allow"] = error.params["allowed"]
    return response


def say_version(response: HttpResponse) -> HttpResponse:
    """``response`` with the version of the API: a program written for another one says so instead of guessing."""
    response["API-Version"] = VERSION
    return response


def kind_of(error: DomainError | type[DomainError]) -> str:
    """Who must do something: ``submission``, ``system`` or ``request``."""
    kind = error if isinstance(error, type) else type(error)
    if issubclass(kind, SubmissionError):
        return "submission"
    return "system" if issubclass(kind, SystemFault) else "request"


def _more(error: DomainError) -> dict[str, Any]:
    """What some errors say beyond their sentence."""
    if isinstance(error, FileRejected | ReferencesRejected | HumanScoresRejected):
        return _listed((each.as_dict(reader_language()) for each in error.errors), error.total)
    if isinstance(error, PracticeInvalid):
        return _listed(map(_practice_problem, error.problems), error.params["count"])
    if isinstance(error, TableInvalid):
        return _listed(map(_problem, error.problems), len(error.problems))
    if isinstance(error, FieldsInvalid):
        return _listed(({"field": each.field, "message": each.message} for each in error.errors), error.total)
    if isinstance(error, SETTINGS_INVALID):
        return {"errors": [{"field": f"body.{error.field}", "message": text_of(error)}]}
    if isinstance(error, QuotaExceeded):
        return {"limit_kind": error.kind, "next_allowed_at": error.next_allowed_at}
    if isinstance(error, DuplicateUpload):
        return {"submission": error.params["public_id"]}
    return {}


def _listed(errors: Iterable[dict[str, Any]], total: int) -> dict[str, Any]:
    """The first of ``errors``, a hundred and ``ERRORS_BYTES`` at most, and how many there are."""
    kept: list[dict[str, Any]] = []
    room = ERRORS_BYTES
    for each in islice(errors, MAX_ERRORS_KEPT):
        room -= len(dumped(each).encode()) + len(", ")
        if room < 0:
            break
        kept.append(each)
    return {"total": total, "errors": kept}


def _problem(problem: Problem) -> dict[str, Any]:
    """What is wrong in a line of a table of scores."""
    return {"line": problem.line, "code": problem.code, "value": problem.value, "message": problem.text}


def _practice_problem(problem: PracticeProblem) -> dict[str, Any]:
    """What is wrong in practice items: with which, from 1, and at which place in it."""
    return {"item": problem.item, "place": problem.place, "code": problem.code, "message": problem.text}
