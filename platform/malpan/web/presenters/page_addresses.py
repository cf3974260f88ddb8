"""The addresses of a page: without a language, and in each of them."""

from __future__ import annotations

from typing import Final
from urllib.parse import urlencode, urljoin

from django.conf import settings
from django.http import HttpRequest
from django.templatetags.static import static

LANGUAGE: Final = "lang"  # the parameter that names a language
KEPT: Final = ("track", "phase")  # the parameters that make another page; others only show it in another way


def absolute(path: str) -> str:
    """``path`` below ``SITE_URL``, whatever host the request names."""
    return urljoin(settings.SITE_URL, path)


def page_addresses(request: HttpRequest) -> dict[str, str]:
    """``plain``, the address in each language by its code, and that of the picture of the site."""
    kept = {name: request.GET[name] for name in KEPT if name in request.GET}
    plain = absolute(f"{request.path}?{urlencode(kept)}" if kept else request.path)
    found = {
        code: absolute(f"{request.path}?{urlencode(kept | {LANGUAGE: code})}") for code, _name in settings.LANGUAGES
    }
    return found | {"plain": plain, "image": absolute(static("web/preview.png"))}
