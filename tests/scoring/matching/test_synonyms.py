"""The table of synonyms: what it may hold, and where a malformed one is wrong."""

import hashlib
import unicodedata
from collections import Counter

import pytest

from scoring.errors import ScoringError
from scoring.matching.synonyms import BUILT_IN, InvalidSynonyms, SynonymsUnreadable, load_synonyms, parse_synonyms
from scoring.text.lemmas import morphs_of
from scoring.text.okt import okt

HEADER = "group\tword\tpos\tsource\n"


def parse(text):
    return parse_synonyms(text.encode(), "s.tsv")


def rows(content):
    lines = content.decode().split("\n")
    return [line.split("\t") for line in lines if line and not line.startswith(("#", "group\t"))]


def test_words_of_one_group_are_synonyms_wherever_their_rows_stand():
    table = parse("a\t바다\tnoun\tx\nb\t길\tnoun\tx\na\t해양\tnoun\tx\nb\t거리\tnoun\tx\n")
    assert table.of("바다") == table.of("해양") != table.of("길")
    assert table.of("하늘") == ()
    assert table.count == 2


def test_a_word_may_be_in_several_groups_without_joining_them():
    table = parse("a\t차\tnoun\tx\na\t자동차\tnoun\tx\nb\t차\tnoun\tx\nb\t홍차\tnoun\tx\n")
    assert set(table.of("차")) == {*table.of("자동차"), *table.of("홍차")}
    assert not set(table.of("자동차")) & set(table.of("홍차"))


@pytest.mark.parametrize("head", ["", HEADER, "# 설명\n\n" + HEADER, "\ufeff" + HEADER])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_header_comments_empty_lines_and_line_ends_do_not_count(head, end):
    text = (head + "a\t바다\tnoun\tx\n# 주석\n\na\t해양\tnoun\tx").replace("\n", end)
    assert len(parse(text).groups) == 2


def test_words_are_compared_in_nfc_and_lower_case():
    table = parse(unicodedata.normalize("NFD", "a\t바다\tnoun\tx\na\tTV\tnoun\tx\n"))
    assert set(table.groups) == {"바다", "tv"}


@pytest.mark.parametrize(
    ("text", "line", "word"),
    [
        ("a\t바다\tnoun\tx\na\t해양\tnoun\n", 2, "4"),
        (HEADER + "# 주석\na 바다 noun x\n", 3, "4"),
        ("a\t바다\tnoun\tx\n\t해양\tnoun\tx\n", 2, "group"),
        ("a\t\tnoun\tx\n", 1, "word"),
        ("a\t바다\tnoun\tx\na\t넓은 바다\tnoun\tx\n", 2, "넓은 바다"),
        ("a\t바다\tnoun\tx\na\t해\u200b양\tnoun\tx\n", 2, "u200b"),
        ("a\t바다\tnoun\tx\na\t해양\t명사\tx\n", 2, "명사"),
        ("a\t바다\tnoun\tx\na\t해양\tnoun\tx\n\na\t바다\tnoun\ty\n", 4, "바다"),
        ("a\t바다\tnoun\tx\na\t해양\tnoun\tx\nb\t길\tnoun\tx\n", 3, "b"),
        ("a\t바다\tnoun\tx\n" + HEADER, 2, "pos"),
    ],
)
def test_malformed_table_is_located_by_line_in_both_languages(text, line, word):
    with pytest.raises(InvalidSynonyms) as caught:
        parse(text)
    assert caught.value.params["line"] == line
    assert f"s.tsv {line}번째 줄" in caught.value.message("ko")
    assert f"line {line} of s.tsv" in caught.value.message("en")
    assert all(word in caught.value.message(language) for language in ("ko", "en"))
    assert isinstance(caught.value, ScoringError)


def test_a_table_in_another_encoding_is_located_too():
    with pytest.raises(InvalidSynonyms) as caught:
        parse_synonyms(b"a\tsea\tnoun\tx\n" + "a\t바다\tnoun\tx\n".encode("cp949"))
    assert caught.value.params["line"] == 2


def test_a_table_that_cannot_be_opened_is_named(tmp_path):
    with pytest.raises(SynonymsUnreadable, match=r"none\.tsv"):
        load_synonyms(tmp_path / "none.tsv")
    with pytest.raises(SynonymsUnreadable):
        load_synonyms(tmp_path)


def test_an_empty_table_has_no_synonyms():
    assert parse("").of("바다") == ()


def test_signature_holds_the_hash_of_the_file_and_the_number_of_groups(tmp_path):
    path = tmp_path / "s.tsv"
    path.write_bytes("a\t바다\tnoun\tx\na\t해양\tnoun\tx\n".encode())
    sha256 = hashlib.sha256(path.read_bytes()).hexdigest()
    assert load_synonyms(path).signature() == {"sha256": sha256, "groups": 1, "words": 2}


def test_built_in_table_has_at_least_170_groups_of_two_to_five_words():
    content = BUILT_IN.read_bytes()
    sizes = Counter(group for group, *_ in rows(content))
    assert load_synonyms().count == len(sizes) >= 170
    assert set(sizes.values()) <= {2, 3, 4, 5}
    assert {source for *_, source in rows(content)} == {"malpan"}


def test_no_word_of_the_built_in_table_is_in_two_groups():
    words = Counter(word for _, word, *_ in rows(BUILT_IN.read_bytes()))
    assert [word for word, count in words.items() if count > 1] == []


def test_every_word_of_the_built_in_table_is_a_morph_or_a_lemma_of_okt():
    """A word that the analyser never gives would never match."""
    contexts = ["{}", "{}가 있다", "{}이 있다"]
    inflected = ["{}고 있다", "{}는 사람", "{}며 웃는다", "{}게 한다", "{}지만"]
    unknown = []
    for _, word, pos, _ in rows(BUILT_IN.read_bytes()):
        texts = [context.format(word) for context in contexts]
        if pos in ("verb", "adjective"):
            texts += [context.format(word[:-1]) for context in inflected]
            found = {morph.lemma for text in texts for morph in morphs_of(okt().tokenize(text))}
        else:
            found = {morph.surface for text in texts for morph in morphs_of(okt().tokenize(text))}
        if word not in found:
            unknown.append(word)
    assert unknown == []
