"""Markdown that organisers write (CommonMark with tables and ~~strikethrough~~), as sanitised HTML."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

import nh3
from django.utils.html import linebreaks
from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt
from markdown_it.rules_core import StateCore

from malpan.core.text import MARKDOWN_MAX_CHARS

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
# an address below this site: browsers read a backslash as a slash, and skip tabs and line ends
_OWN_ADDRESS: Final = re.compile(r"/(?!/)[^\\\x00-\x1f\x7f]*")
RENDERED_KEPT: Final = 256  # texts, in each process


@lru_cache(maxsize=RENDERED_KEPT)
def to_html(text: str) -> SafeString:
    """Render Markdown to HTML that has no script, style, event handler or image from another site.

    Hostile text takes time quadratic in its length (``[`` 20,000 times: 0.3 s), so a text beyond what the forms accept
    is shown as it is.
    """
    if len(text) > MARKDOWN_MAX_CHARS:
        return mark_safe(linebreaks(text, autoescape=True))  # noqa: S308 - escaped
    clean = nh3.clean(_MARKDOWN.render(text), tags=TAGS, attributes=ATTRIBUTES, attribute_filter=_own_images_only)
    reachable = clean.strip().replace("<pre>", '<pre tabindex="0">')  # long lines are scrolled, by keyboard too
    return mark_safe(reachable)  # noqa: S308 - sanitised above


def _own_images_only(tag: str, attribute: str, value: str) -> str | None:
    """An image from elsewhere would tell that site who reads the page: it keeps its text alone."""
    is_foreign = tag == "img" and attribute == "src" and not _OWN_ADDRESS.fullmatch(value)
    return None if is_foreign else value


def _fit_into_the_page(state: StateCore) -> None:
    """A ``#`` heading becomes ``h2``, as the page's title is its one ``h1``; cells have ``align``, as styles go."""
    for token in state.tokens:
        if token.tag == "h1":
            token.tag = "h2"
        if token.tag in {"td", "th"} and "style" in token.attrs:
            token.attrs = {"align": str(token.attrs["style"]).removeprefix("text-align:")}


_MARKDOWN: Final = MarkdownIt("commonmark").enable(["table", "strikethrough"])
_MARKDOWN.core.ruler.push("fit_into_the_page", _fit_into_the_page)
