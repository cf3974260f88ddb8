"""The English catalogue is complete, current and compiled; what finds its messages finds them all."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from django import forms
from django.conf import settings
from django.core import validators
from django.db import models
from django.utils import translation
from django.utils.functional import Promise
from django.utils.translation import gettext

from malpan.web import message_catalogue

PLACEHOLDER = re.compile(r"%\(\w+\)[sd]|%[sd]")
DOUBLED = re.compile(r"(.{20,})\W*\1$")
HANGUL = re.compile(r"[가-힣]")


@pytest.fixture(scope="module")
def left() -> message_catalogue.Difference:
    """What is left to do, of all sources and templates."""
    return message_catalogue.compare()


def test_every_marked_text_has_its_english(left: message_catalogue.Difference) -> None:
    assert left.missing == (), "run manage.py update_messages and translate what it adds"
    assert left.untranslated == ()


def test_the_catalogue_holds_nothing_that_is_no_longer_marked(left: message_catalogue.Difference) -> None:
    assert left.stale == ()


def test_the_compiled_files_are_those_of_the_catalogues(left: message_catalogue.Difference) -> None:
    assert left.is_compiled, "run manage.py update_messages"


def said_of_forms() -> set[str]:
    """What Django says of a field that was filled in wrongly, as its msgids."""
    classes = [
        kind for module in (forms, models, validators) for kind in vars(module).values() if isinstance(kind, type)
    ]
    said = [message for kind in classes for message in getattr(kind, "default_error_messages", {}).values()]
    said += [kind.message for kind in classes if hasattr(kind, "message")]
    with translation.override(None):
        return {str(message) for message in said if isinstance(message, str | Promise)}


def test_what_django_says_of_forms_is_in_the_words_of_the_site() -> None:
    with translation.override("ko"):
        korean = {message: str(gettext(message)) for message in said_of_forms()}
    assert len(korean) > 30
    assert {text for text in korean.values() if re.search(r"세요|항목입니다|이/가", text)} == set()
    for message in message_catalogue.load("ko"):
        if message.id:
            ids, strings = ([each] if isinstance(each, str) else list(each) for each in (message.id, message.string))
            assert set(PLACEHOLDER.findall(strings[0])) <= set(PLACEHOLDER.findall(ids[-1])), ids


def test_a_translation_fills_the_same_placeholders_and_holds_no_hangul() -> None:
    for message in message_catalogue.load():
        ids = [message.id] if isinstance(message.id, str) else list(message.id)
        strings = [message.string] if isinstance(message.string, str) else list(message.string)
        expected = set(PLACEHOLDER.findall(ids[0]))
        for string in strings if ids[0] else []:
            assert set(PLACEHOLDER.findall(string)) == expected, ids[0]
            assert not HANGUL.search(string), string
            assert not DOUBLED.search(string), string


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ('{% translate "제출" %}', [("제출", None)]),
        ("{% translate '제출' context 'menu' %}", [("제출", "menu")]),
        ("{% blocktranslate %}앞 {{ n }} 뒤{% endblocktranslate %}", [("앞 %(n)s 뒤", None)]),
        (
            "{% blocktranslate trimmed count n=x %}\n  하나\n{% plural %}\n  여럿\n{% endblocktranslate %}",
            [(("하나", "여럿"), None)],
        ),
        ('<a title="{% translate "그의 ‘말’" %}">{% translate "둘" %}</a>', [("그의 ‘말’", None), ("둘", None)]),
        ("{# 주석 #}그냥 글", []),
    ],
)
def test_messages_of_templates_are_found(source: str, expected: list[message_catalogue.Key]) -> None:
    assert list(message_catalogue.template_messages(source)) == expected


def test_messages_marked_by_a_function_under_another_name_are_found() -> None:
    source = """
from django.utils.translation import gettext as _t, gettext_lazy as _
from django.utils.translation import ngettext as many
from elsewhere import other as _o
found = [_t("가"), _("나"), many("다", "다", 2), _o("라")]
"""
    found = list(message_catalogue.python_messages(source.encode()))
    assert found == [("가", None), ("나", None), (("다", "다"), None)]


def test_no_template_holds_unmarked_korean() -> None:
    """Words outside translation tags: only where the Korean is data (the example file, the language switch)."""
    allowed = {
        "includes/header.html": "한국어",
        "includes/format_help_captions.html": "아이들이 눈싸움을 하고 있다",
    }
    root = Path(settings.BASE_DIR) / "platform/malpan/web/templates"
    for path in sorted([*root.rglob("*.html"), *root.rglob("*.txt")]):
        bare = re.sub(r"{% blocktranslate.*?{% endblocktranslate %}", "", path.read_text(), flags=re.S)
        bare = re.sub(r"{#.*?#}|{% translate .*?%}", "", bare, flags=re.S)
        name = path.relative_to(root).as_posix()
        if name in allowed:
            bare = re.sub(allowed[name], "", bare)
        assert not HANGUL.search(bare), (name, HANGUL.findall(bare)[:20])


def test_comments_of_templates_stay_out_of_the_pages() -> None:
    """Django takes a comment that goes on in the next line for text and shows it."""
    root = Path(settings.BASE_DIR) / "platform/malpan/web/templates"
    lines = [(path, line) for path in root.rglob("*.*") for line in path.read_text().splitlines()]
    assert [(path.name, line) for path, line in lines if "{#" in re.sub(r"{#.*?#}", "", line)] == []
