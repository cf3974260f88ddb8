"""The file of a contest: what is read from it, what is wrong with it and where, and that writing it loses nothing."""

from __future__ import annotations

import json
import tomllib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from malpan.api.schemas.manage.phases import ManagedPhase, NewPhase, PhaseSettings
from malpan.api.schemas.manage.settings import ManagedTrack, NewTrack, Settings, Texts
from malpan_client.contest_file import MADE_BY_THE_SITE, MAY_BE_NONE, Fault, as_contest, as_toml, read_contest
from malpan_client.failing import Failure

TOML = """
slug = "spring"
title_ko = "봄 대회"
description_ko_file = "description.md"

[[tracks]]
slug = "main"
title_ko = "어문 규범"
recipe = "rag-qa@1"

[[tracks.phases]]
slug = "open"
starts_at = 2026-11-01T09:00:00+09:00
daily_limit = "none"
ties = "none"
"""


@pytest.fixture
def write(tmp_path):
    def write_(text, name="contest.toml"):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return str(path)

    return write_


def test_texts_may_be_in_files_of_their_own_and_none_is_none_where_there_may_be_none(write):
    write("# 안내\n", "description.md")
    found = read_contest(write(TOML), [])
    [track] = found["tracks"]
    assert found["description_ko"] == "# 안내"
    assert track["phases"] == [
        {"slug": "open", "starts_at": "2026-11-01T09:00:00+09:00", "daily_limit": None, "ties": "none"}
    ]


def test_json_says_the_same(write):
    write("# 안내\n", "description.md")
    table = tomllib.loads(TOML.replace("2026-11-01T09:00:00+09:00", '"2026-11-01T09:00:00+09:00"'))
    assert read_contest(write(json.dumps(table), "contest.json"), []) == read_contest(write(TOML), [])


WRONG = {
    "no file": (None, "contest.toml"),
    "no TOML": ("slug = ", "contest.toml"),
    "no name": ("title_ko = 'x'", "slug"),
    "tracks that are no list": ("slug = 's'\n[tracks]\nmain = 1", "tracks"),
    "phases that are no list": ("slug = 's'\n[[tracks]]\nslug = 'main'\nphases = [1]", "tracks.main.phases"),
    "two of a name": ("slug = 's'\n[[tracks]]\nslug = 't'\n[[tracks]]\nslug = 't'", "slug"),
    "one without a name": ("slug = 's'\n[[tracks]]\ntitle_ko = 't'", "slug"),
}


@pytest.mark.parametrize(("text", "said"), WRONG.values(), ids=WRONG)
def test_what_is_wrong_is_said_with_its_place(write, tmp_path, text, said):
    path = str(tmp_path / "contest.toml") if text is None else write(text)
    with pytest.raises(Failure) as caught:
        read_contest(path, [])
    assert caught.value.status == 1
    assert said in caught.value.text


def test_what_is_wrong_with_its_files_is_told_together(write):
    faults: list[Fault] = []
    both = "files = [{path = 'a/x', title_ko = 'a'}, {path = 'b/x', title_ko = 'b'}]"
    untitled = "[[tracks]]\nslug = 'second'\nfiles = [{path = 'a'}]"
    read_contest(write(f"{TOML.partition('[[tracks.phases]]')[0]}{both}\n{untitled}"), faults)
    assert [(each.place, each.field) for each in faults] == [
        ("", "description_ko_file"),
        ("main/files", ""),
        ("second/files", ""),
    ]


@pytest.mark.parametrize(("written", "kept"), [("2026-11-01T09:00:00", "2026-11-01T09:00:00"), ("2026-11-01",) * 2])
def test_a_time_without_a_zone_is_for_the_site_to_refuse_as_that_of_a_text(write, written, kept):
    text = f"slug = 's'\n[[tracks]]\nslug = 't'\n[[tracks.phases]]\nslug = 'p'\nstarts_at = {written}"
    found = read_contest(write(text), [])
    assert found["tracks"][0]["phases"][0]["starts_at"] == kept


@settings(deadline=None)  # a machine may be slow
@given(st.dictionaries(st.from_regex(r"[a-z_]{1,12}", fullmatch=True), st.text(max_size=40), max_size=4))
def test_texts_come_back_from_toml_as_they_were(table):
    assert tomllib.loads(as_toml(table)) == table


def test_a_contest_comes_back_from_toml_as_it_was():
    settings = {
        "slug": "spring",
        "title_ko": '따옴표 " 와 \\ 그리고\n줄바꿈 """\n',
        "prize_places": [1, 3],
        "has_blind_names": False,
        "is_published": True,
        "terms_version": 2,
        "personal_data_months": None,
        "tracks": [
            {
                "slug": "main",
                "composite": [{"score": "final_score", "weight": 0.5}],
                "targets": [{"kind": "baseline", "value": 0.3}],
                "phases": [{"id": 7, "slug": "open", "daily_limit": None, "score_step": 1e-06, "items": 3}],
            }
        ],
    }
    files = [
        {"file_name": f"{title}.json", "kind": "data", "title_ko": "자료", "title_en": title}
        for title in ("Data", "자료")
    ]
    contest = as_contest(settings, {"main": files})
    assert tomllib.loads(as_toml(contest)) == contest
    assert contest["tracks"][0]["files"] == [
        {"path": "Data.json", "kind": "data", "title_ko": "자료", "title_en": "Data"},
        {"path": "자료.json", "kind": "data", "title_ko": "자료"},
    ]
    assert contest["tracks"][0]["phases"] == [{"slug": "open", "score_step": 1e-06}]
    assert not {"is_published", "terms_version", "personal_data_months"} & contest.keys()


def test_what_may_be_none_and_what_the_site_makes_is_what_the_api_says():
    assert Texts.emptied | PhaseSettings.emptied == MAY_BE_NONE
    shown = (Settings, ManagedTrack, ManagedPhase)
    taken = (Texts, NewTrack, NewPhase)
    made = {*_fields(shown)} - {*_fields(taken)} - {"tracks", "phases", "targets"}
    assert made == MADE_BY_THE_SITE


def _fields(kinds):
    return [name for kind in kinds for name in kind.model_fields]
