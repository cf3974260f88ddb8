"""Short texts from people: equal to the eye is equal to the database, and nothing unseen is kept."""

import time
import unicodedata

import pytest
from django.core.exceptions import ValidationError

from malpan.accounts.models import User
from malpan.competitions.services import create_competition
from malpan.core.text import has_unseen, nfc, one_line, without_unseen
from malpan.web.forms.accounts import SignupForm

FILLERS = "\u115f\u1160\u3164\uffa0"  # of Hangul
OTHERS = "\u034f\ufe00\ufe0f\U000e0100\U000e01ef\u2800\u180b\u180e\u17b4\u17b5\u00ad\u200b\u202e\ufff0\U000e0041"
EMOJI = ("❤\ufe0f", "👩\u200d💻", "1\ufe0f\u20e3", "🏃🏽\u200d♀\ufe0f", "🇰🇷")


def test_nfd_and_spaces_are_made_one():
    assert one_line(unicodedata.normalize("NFD", "  말  판\t팀\n")) == "말 판 팀"


def test_unseen_characters_are_told_and_taken_out():
    disguised = "팀\u202e\u200b\x07"

    assert has_unseen(disguised)
    assert without_unseen(disguised) == "팀"
    assert not has_unseen("팀 1호!")


@pytest.mark.parametrize("character", FILLERS + OTHERS, ids=lambda each: f"U+{ord(each):04X}")
def test_what_nobody_sees_is_unseen(character):
    assert has_unseen(f"말{character}판")
    assert without_unseen(f" {character}말{character}판 {character}") == "말판"
    assert without_unseen(character) == ""


@pytest.mark.parametrize("emoji", EMOJI)
def test_an_emoji_stays_whole(emoji):
    """Phones write a selector or a joiner into many: nobody could say what to take out of them."""
    assert not has_unseen(f"말판 {emoji}팀")
    assert without_unseen(f" 말판  {emoji}") == f"말판 {emoji}"
    selector = "\ufe0f"
    assert has_unseen(f"말{selector}판 {emoji}"), "a selector elsewhere hides"
    assert without_unseen(f"말{selector}판 {emoji}") == f"말판 {emoji}"


@pytest.mark.parametrize("character", "\u3164\u200b\u2800\ufe0f")
def test_names_of_people_and_competitions_have_none(db, character):
    said = "눈에 보이지 않는 글자가 있습니다"
    form = SignupForm({"name": f"김{character}말판", "email": "a@example.com", "password1": "x", "password2": "x"})
    assert said in str(form.errors["name"])
    with pytest.raises(ValidationError, match=said):
        User(email="a@example.com", name=f"김{character}말판").clean_fields()
    with pytest.raises(ValidationError, match=said):
        create_competition(slug="hidden", title_ko=f"말판{character}")
    with pytest.raises(ValidationError, match=said):
        create_competition(slug="hidden", title_ko="말판", organiser_ko=f"가온대{character}")
    assert create_competition(slug="seen", title_ko="말판 ❤\ufe0f").pk


def test_marks_stacked_without_end_cost_little_time():
    """In any order but theirs Python sorts them in quadratic time: 20,000 take 0.3 s, 100,000 take eight."""
    stacked = "a" + "\u0300\u0316" * 50_000
    began = time.process_time()
    assert len(one_line(stacked)) <= 31
    assert not has_unseen(stacked)
    assert len(without_unseen(stacked)) <= 31
    assert time.process_time() - began < 1


@pytest.mark.parametrize("text", ["각", "e\u0301", "ᄒᆞᆫ글", "q\u0323\u0307", "a" + "\u0316" * 30, "👩\u200d💻" * 40])
def test_marks_that_a_language_has_stay(text):
    assert nfc(text) == unicodedata.normalize("NFC", text)
