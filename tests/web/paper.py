"""Where the texts of a paper stand."""

from __future__ import annotations

from io import BytesIO

from pypdf import PdfReader


def heights_in(paper: bytes) -> dict[str, float]:
    """The height of each text of the first page, from the bottom."""
    places: dict[str, float] = {}

    def note(text: str, _matrix: object, place: list[float], *_rest: object) -> None:
        places[text.replace("\0", "").strip()] = place[5]

    PdfReader(BytesIO(paper)).pages[0].extract_text(visitor_text=note)
    return places
