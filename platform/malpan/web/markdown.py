"""Markdown that organisers write, as sanitised HTML."""

from __future__ import annotations

from typing import Final
from xml.etree.ElementTree import Element

import nh3
from django.utils.safestring import SafeString, mark_safe
from markdown import Markdown
from markdown.extensions import Extension
from markdown.extensions.tables import TableExtension
from markdown.treeprocessors import Treeprocessor

TAGS: Final = {
    "a", "abbr", "blockquote", "br", "code", "dd", "del", "dl", "dt", "em", "h2", "h3", "h4", "hr", "img", "li", "ol",
    "p", "pre", "s", "strong", "sub", "sup", "table", "tbody", "td", "th", "thead", "tr", "ul",
}  # fmt: skip
ATTRIBUTES: Final = {
    "a": {"href", "title"},
    "abbr": {"title"},
    "img": {"src", "alt", "title"},
    "ol": {"start"},
    "td": {"align"},
    "th": {"align"},
}


class _HeadingsBelowTheTitle(Treeprocessor):
    """The page has one ``h1``, its title: a ``#`` heading inside a text becomes ``h2``."""

    def run(self, root: Element) -> None:
        for heading in root.iter("h1"):
            heading.tag = "h2"


class _Headings(Extension):
    def extendMarkdown(self, md: Markdown) -> None:  # noqa: N802 - the name the Markdown package calls
        md.treeprocessors.register(_HeadingsBelowTheTitle(md), "headings_below_the_title", 0)


def to_html(text: str) -> SafeString:
    """Render Markdown (tables, fenced code) to HTML that holds no script, style or event handler."""
    extensions = [TableExtension(use_align_attribute=True), "fenced_code", "sane_lists", _Headings()]
    html = Markdown(extensions=extensions, output_format="html").convert(text)
    clean = nh3.clean(html, tags=TAGS, attributes=ATTRIBUTES)
    return mark_safe(clean)  # noqa: S308 - sanitised on the line above
