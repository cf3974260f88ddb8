"""Template filters of the pages: thin wrappers over ``web.presenters.formatting`` and ``web.markdown``."""

from __future__ import annotations

from datetime import datetime, timedelta

from django import template
from django.conf import settings
from django.http import HttpRequest
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe

from malpan.accounts.models import ApiToken, Scope
from malpan.competitions.models import Phase, Track
from malpan.core.messages import duration_text
from malpan.core.times import kst_text
from malpan.stages.awarded import basis_of_award
from malpan.stages.models import Award, Stage
from malpan.submissions.models import Submission
from malpan.web import markdown
from malpan.web.presenters import audit, composites, formatting, scores, stages
from malpan.web.presenters import page_addresses as addresses
from malpan.web.presenters import phase_rules as phase_facts
from scoring.composite import Part
from scoring.particles import fitted
from scoring.recipes import Recipe

register = template.Library()


@register.filter
def award_basis(award: Award) -> str:
    """The track and the rank of an award, where the competition has several tracks."""
    basis = basis_of_award(award)
    return basis.text if basis else ""


@register.filter
def kst(moment: datetime | None) -> SafeString | str:
    """``<time>`` to the minute, in KST."""
    return _time(moment, seconds=False)


@register.filter
def kst_seconds(moment: datetime | None) -> SafeString | str:
    """``<time>`` to the second, in KST."""
    return _time(moment, seconds=True)


@register.filter
def when(moment: datetime | None, precision: str = "minutes") -> SafeString | str:
    """``<time>`` in KST, to the minute or second, with how long ago that is, or until then: for prose.

    Not in what is remembered (``web.fragments``) or compared with what a browser has: it changes by itself.
    """
    if moment is None:
        return "–"
    ago = formatting.ago_text(moment, timezone.now())
    return format_html('{} <span class="ago">({})</span>', _time(moment, seconds=precision == "seconds"), ago)


def _time(moment: datetime | None, *, seconds: bool) -> SafeString | str:
    if moment is None:
        return "–"
    return format_html('<time datetime="{}">{}</time>', moment.isoformat(), kst_text(moment, seconds=seconds))


@register.filter
def resting_names(resting: list[Stage | None]) -> str:
    """The names of published results that rest on another one."""
    return stages.resting_names(resting)


@register.filter
def closes_in(ends_at: datetime) -> str:
    """``마감 D-3`` counted from now."""
    return formatting.closes_in_text(ends_at, timezone.now())


@register.filter
def starts_in(starts_at: datetime) -> str:
    """``시작 D-12`` counted from now."""
    return formatting.starts_in_text(starts_at, timezone.now())


@register.filter
def score(value: float | str | None, track: Track) -> str:
    """A score 0-1, or its text in the chain, on the scale and with the decimals of its track."""
    return formatting.scaled_text(
        float(value) if isinstance(value, str) else value, track.score_scale, track.score_decimals
    )


@register.filter
def composite_part(part: Part, recipe: Recipe) -> str:
    """A part of a composite with its name: ``RMSE 3.5위 · 0.500``."""
    return composites.named_part(part, recipe)


@register.filter
def counting(phase: Phase) -> str:
    """Which submission of a team counts in ``phase``, as a sentence."""
    return composites.counting_of(phase)


@register.filter
def counting_name(phase: Phase) -> str:
    """The same in a few words, for a table: ``가장 최근 제출``."""
    return composites.counting_name(phase)


@register.filter
def phase_rules(phase: Phase) -> list[phase_facts.Fact]:
    """What decides in ``phase``, each with its name."""
    return phase_facts.rules_of_phase(phase)


@register.filter
def weights(track: Track) -> str:
    """``RMSE 45, Spearman 45``, what the composite of ``track`` is made of; empty where none ranks."""
    return composites.weights_of(track)


@register.filter
def action_words(action: str) -> str:
    """What an entry of the audit log says was done."""
    return audit.action_label(action)


@register.filter
def field_words(name: str, object_type: str) -> str:
    """The name of a column or fact in an entry of the audit log about a row of ``object_type``."""
    return audit.field_label(object_type, name)


@register.filter(name="markdown")
def markdown_filter(text: str) -> SafeString:
    """Sanitised HTML of a Markdown text."""
    return markdown.to_html(text)


@register.filter
def particles(text: str) -> str:
    """Korean particles chosen by what stands before them; for ``{% filter particles %}`` around a filled sentence."""
    return mark_safe(fitted(text)) if isinstance(text, SafeString) else fitted(text)  # noqa: S308 - nothing is added


@register.filter
def file_format(submission: Submission) -> str:
    """The format of its file in words."""
    return scores.file_format(submission)


@register.filter
def percent(share: float | None) -> str:
    """A share 0-1 as a whole percentage, rounded down so that 100 % means done."""
    return f"{int((share or 0) * 100)}%"


@register.filter
def ends(values: tuple[int, int]) -> str:
    """The lowest and the highest of some numbers: ``2–3``, or ``2`` where both are the same."""
    return formatting.range_text(*values)


@register.filter
def rough(count: int) -> str:
    """``120,000``: two digits of a whole number."""
    return formatting.rough_text(count)


@register.filter
def duration(span: timedelta) -> str:
    """``72시간``, ``90분``, ``30초``."""
    return duration_text(span)


@register.filter
def unlocalized(value: float) -> str:
    """A number for HTML attributes, whatever the language of the page."""
    return f"{value:.4f}"


@register.filter
def kst_plain(moment: datetime) -> SafeString:
    """``<time>`` to the minute under a heading that already says KST; to the second in its title."""
    exact = kst_text(moment, seconds=True)
    return format_html(
        '<time datetime="{}" title="{}">{}</time>', moment.isoformat(), exact, exact[: len("2026-11-20 23:50")]
    )


@register.filter
def kst_short(moment: datetime) -> str:
    """``2026-11-20 23:50``, where no element may stand."""
    return formatting.short_time(moment)


@register.simple_tag
def page_addresses(request: HttpRequest) -> dict[str, str]:
    """The addresses of this page, plain and by language."""
    return addresses.page_addresses(request)


@register.simple_tag
def site_contact() -> str:
    """The address of who answers for the site; may be empty."""
    return settings.SITE_CONTACT


@register.simple_tag
def mail_is_printed() -> bool:
    """Whether mails go to the terminal of the site, as no mail server is configured."""
    return settings.MAILS_ARE_PRINTED


@register.filter
def scope_names(token: ApiToken) -> str:
    """What a token is for: ``읽기, 제출과 팀``."""
    return ", ".join(str(Scope(each).label) for each in token.scopes)
