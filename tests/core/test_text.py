"""Short texts from people: equal to the eye is equal to the database, and nothing unseen is kept."""

import unicodedata

from malpan.core.text import has_unseen, one_line, without_unseen


def test_nfd_and_spaces_are_made_one():
    assert one_line(unicodedata.normalize("NFD", "  말  판\t팀\n")) == "말 판 팀"


def test_unseen_characters_are_told_and_taken_out():
    disguised = "팀\u202e\u200b\x07"

    assert has_unseen(disguised)
    assert without_unseen(disguised) == "팀"
    assert not has_unseen("팀 1호!")
