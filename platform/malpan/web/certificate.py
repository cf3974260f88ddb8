"""참가 확인서 and 상장: a page of PDF about what a person took part in, or what a team was given.

The font is embedded as far as its characters are used (fpdf2), so the page looks and prints the same everywhere. It is
one of the server: ``CERTIFICATE_FONT``, else the first of ``FONTS`` that is there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from django.conf import settings
from django.http import HttpResponse
from django.utils.formats import date_format
from django.utils.translation import gettext as _

from malpan.stages.errors import CertificateFontMissing

if TYPE_CHECKING:
    from fpdf import FPDF

FONTS: Final = (
    "/usr/share/fonts/opentype/noto/NotoSansCJK-Regular.ttc#1",  # Debian: fonts-noto-cjk; 1 is the Korean one
    "/usr/share/fonts/truetype/nanum/NanumGothic.ttf",  # Debian: fonts-nanum
    "/System/Library/Fonts/AppleSDGothicNeo.ttc#0",
    "C:/Windows/Fonts/malgun.ttf",
)
MARGIN: Final = 25.0  # mm
CLOSING: Final = 216.0  # where the last part begins, from the top
LABELS: Final = 34.0  # the width of the labels
FAMILY: Final = "certificate"
INK: Final = (27, 33, 44)
QUIET: Final = (92, 101, 116)
LEAST: Final = 0.2  # of the size of the lines: two thousand letters fit


@dataclass(frozen=True, slots=True)
class Certificate:
    """What the page says: ``subject`` is who or what it is about, ``lines`` are label and value, ``results`` sentences,
    ``address`` where it is confirmed (empty: nowhere yet).
    """

    heading: str
    subject: str
    lines: Sequence[tuple[str, str]]
    results: Sequence[str]
    closing: str
    organiser: str
    issued_on: date
    address: str
    number: str = ""


def font() -> tuple[Path, int] | None:
    """The file of the font and which font of the file; ``None`` if this machine has none of them."""
    for written in (settings.CERTIFICATE_FONT,) if settings.CERTIFICATE_FONT else FONTS:
        path, _sharp, number = written.partition("#")
        if Path(path).is_file():
            return Path(path), int(number or 0)
    return None


def answer(certificate: Certificate, file_name: str) -> HttpResponse:
    """The certificate as a file to open. Raises ``CertificateFontMissing``."""
    found = font()
    if found is None:
        raise CertificateFontMissing
    response = HttpResponse(drawn(certificate, found), content_type="application/pdf")
    response["Content-Disposition"] = f'inline; filename="{file_name}"'
    return response


def drawn(certificate: Certificate, used: tuple[Path, int]) -> bytes:
    """The certificate as PDF, one page of A4 however long the names are."""
    from fpdf import FPDF  # here: it takes a while, and most processes make none

    page = FPDF(format="A4")
    page.set_auto_page_break(auto=False)
    page.set_margins(MARGIN, MARGIN)
    page.set_title(certificate.heading)
    page.add_page()
    path, number = used
    page.add_font(FAMILY, fname=path, collection_font_number=number)
    _frame(page)
    page.set_text_color(*INK)
    if certificate.number:
        page.set_y(30)
        page.set_font(FAMILY, size=11)
        page.cell(0, 8, certificate.number)
    page.set_y(48)
    _line(page, certificate.heading, 30, height=16)
    page.set_y(86)
    _line(page, certificate.subject, 20, height=11)
    page.ln(8)
    room = CLOSING - 6 - page.get_y()
    _lines(page, certificate.lines, room - min(room / 2, _results_height(page, certificate.results, 1.0)))
    page.ln(6)
    _results(page, certificate.results, CLOSING - page.get_y())
    page.set_y(CLOSING)
    _line(page, certificate.closing, 13, height=9)
    page.ln(3)
    _line(page, date_format(certificate.issued_on), 12, height=9)
    page.ln(3)
    _line(page, certificate.organiser, 17, height=11)
    page.set_y(266)
    page.set_text_color(*QUIET)
    page.set_font(FAMILY, size=8)
    if certificate.address:
        page.multi_cell(0, 4.5, _("확인: %(address)s") % {"address": certificate.address}, align="C")
    return bytes(page.output())


def _frame(page: FPDF) -> None:
    page.set_draw_color(*QUIET)
    page.set_line_width(0.6)
    page.rect(12, 12, page.w - 24, page.h - 24)
    page.set_line_width(0.2)
    page.rect(14, 14, page.w - 28, page.h - 28)


def _line(page: FPDF, text: str, size: int, *, height: float) -> None:
    """A centred line, in smaller letters where it would be wider than the page."""
    page.set_font(FAMILY, size=size)
    room = page.epw - 2 * page.c_margin
    if (width := page.get_string_width(text)) > room:
        page.set_font(FAMILY, size=max(8.0, size * room / width))
    page.multi_cell(0, height, text, align="C", new_x="LMARGIN", new_y="NEXT")


def _lines(page: FPDF, lines: Sequence[tuple[str, str]], room: float) -> None:
    """Labels and values, in smaller letters where they would be higher than ``room``."""
    scale = _scale(room, partial(_lines_height, page, lines))
    for label, value in lines:
        page.set_font(FAMILY, size=12 * scale)
        page.set_text_color(*QUIET)
        page.cell(LABELS, 9 * scale, label)
        page.set_text_color(*INK)
        page.multi_cell(0, 9 * scale, value, align="L", new_x="LMARGIN", new_y="NEXT")


def _results(page: FPDF, results: Sequence[str], room: float) -> None:
    """Sentences, a centred paragraph each, likewise."""
    scale = _scale(room, partial(_results_height, page, results))
    page.set_font(FAMILY, size=13 * scale)
    for sentence in results:
        page.multi_cell(0, 9 * scale, sentence, align="C", new_x="LMARGIN", new_y="NEXT")


def _scale(room: float, height: Callable[[float], float]) -> float:
    """How large letters may be so that their ``height`` fits in ``room``: 1 is as they are meant."""
    scale = 1.0
    while scale > LEAST and height(scale) > room:
        scale *= 0.9
    return scale


def _lines_height(page: FPDF, lines: Sequence[tuple[str, str]], scale: float) -> float:
    page.set_font(FAMILY, size=12 * scale)
    return _height(page, page.epw - LABELS, 9 * scale, "L", [value for _label, value in lines])


def _results_height(page: FPDF, results: Sequence[str], scale: float) -> float:
    page.set_font(FAMILY, size=13 * scale)
    return _height(page, page.epw, 9 * scale, "C", results)


def _height(page: FPDF, width: float, line: float, align: str, texts: Sequence[str]) -> float:
    """What ``texts`` take, each from a line of its own on."""
    measure: Any = partial(page.multi_cell, width, line, align=align, dry_run=True, output="HEIGHT")
    return float(sum(measure(text=text) for text in texts))
