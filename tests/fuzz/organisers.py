"""The pages where organisers upload a file: references of each recipe, and what ``organiser_files`` makes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from malpan.accounts.models import User
from malpan.competitions.models import Competition, CompetitionRole, Phase
from malpan.teams.models import Team
from tests.fuzz.bodies import Form, Part
from tests.fuzz.organiser_files import IDS, TEAMS
from tests.fuzz.sound import CAPTIONS, sound_file
from tests.judged_submissions import judged_submission
from tests.stages.conftest import make_contest

IN_STAGES: Final = "stages"  # the competition that has a stage with a table, and a submission that a judge scored
FILE: Final = Part("file", b"", "file.json", "application/octet-stream")  # empty: ``with_file`` fills it


def with_file(form: Form, data: bytes) -> tuple[Part, ...]:
    """The fields of ``form`` with ``data`` as the file that it has none of yet."""
    empty = next(part for part in form.fields if part.file_name is not None and not part.value)
    return tuple(replace(part, value=data) if part is empty else part for part in form.fields)


def organiser_forms(owner: User, phases: Mapping[str, Phase]) -> dict[str, Form]:
    """A form for each recipe of ``phases``, for the file of references, and for each reader but that of questions."""
    forms = {recipe: _references_form(phase, FILE) for recipe, phase in phases.items()}
    known = Part("file", sound_file(CAPTIONS, is_reference=True), "references.json", "application/json")
    forms["synonyms"] = _references_form(phases[CAPTIONS], known, Part("synonyms", b"", "s.tsv", "text/plain"))
    return forms | _forms_of_stages(owner)


def _references_form(phase: Phase, *files: Part) -> Form:
    path = f"/competitions/{phase.track.competition.slug}/manage/setup/phases/{phase.pk}/references/"
    return Form(path, "owner", (*files, Part("note", "첫 판".encode())), needs_multipart=True)


def _forms_of_stages(owner: User) -> dict[str, Form]:
    contest = make_contest(items=4)  # another file than the archive that comes in has
    Competition.objects.filter(pk=contest.competition.pk).update(slug=IN_STAGES)
    CompetitionRole.objects.create(user=owner, competition=contest.competition, role="owner")
    for team in TEAMS:
        Team.objects.filter(competition=contest.competition, number=team.number).update(name=team.name)
    contest.publish(contest.stage())
    stage = contest.stage()
    judged = judged_submission(contest.phase, contest.teams[5], dict.fromkeys(IDS, 0.5))
    manage = f"/competitions/{IN_STAGES}/manage/"
    table = (Part("text", b""), Part("reason", b""), Part("based_on", b"0"), Part("save", b"1"), FILE)
    scores = (Part("judged", f"{judged.pk}:llm_judge".encode()), Part("source", "교사 2명".encode()), FILE)
    return {
        "stages": Form(f"{manage}stages/{stage.pk}/table/", "owner", table, needs_multipart=True),
        "scores": Form(f"{manage}judge/", "owner", scores, needs_multipart=True),
    }
