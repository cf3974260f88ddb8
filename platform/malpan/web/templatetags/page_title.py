"""What the title of a page says before its name: that a form came back with errors."""

from __future__ import annotations

from typing import Final

from django import template
from django.template.base import Node, NodeList, Parser, Token
from django.template.context import Context
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import pgettext

register = template.Library()
# Why the page is read, and not what it is made of: looking before at all forms of the context and at the messages was
# tried. It misses the refusals that are no form's (rows of targets, a rejected file: 5 of 45 tests), which every view
# would have to name. The status of the answer would miss the forms of allauth and a message after a redirect: 200.
#
# Of a field that was refused, of its message, and of a refusal of the whole form: whatever a page is made of, these are
# in what was rendered, and nothing that people typed is, as its quotation marks are escaped
_MARKS: Final = ('aria-invalid="true"', '<ul class="errorlist', 'class="notice error" role="alert"')
_TITLE: Final = "<title>"


class TitledNode(Node):
    """A whole page. The title comes first, and only the rest knows whether a form was refused."""

    child_nodelists = ("nodelist",)

    def __init__(self, nodelist: NodeList) -> None:
        self.nodelist = nodelist

    def render(self, context: Context) -> SafeString:
        page = self.nodelist.render(context)
        if not any(mark in page for mark in _MARKS):
            return page
        words = escape(pgettext("title", "오류"))
        return mark_safe(page.replace(_TITLE, f"{_TITLE}{words} · ", 1))  # noqa: S308 - the page was safe


@register.tag
def titled(parser: Parser, token: Token) -> TitledNode:
    """``{% titled %} … {% endtitled %}`` around a page: its title begins with "오류 ·" where a form has errors."""
    nodelist = parser.parse(("endtitled",))
    parser.delete_first_token()
    return TitledNode(nodelist)
