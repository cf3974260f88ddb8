"""The WSGI application that the web server serves."""

import os
from typing import Any

from django.core.handlers.wsgi import WSGIRequest
from django.core.wsgi import get_wsgi_application

from malpan.core.deep_calls import with_room

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "malpan.settings")


class Request(WSGIRequest):
    """A request whose Content-Type cannot be parsed has none, so that a view or a form refuses it.

    Django parses it before anything that answers errors.
    """

    def _set_content_type_params(self, meta: dict[str, Any]) -> None:
        try:
            super()._set_content_type_params(meta)  # type: ignore[misc]
        except ValueError:
            self.content_type, self.content_params = "", {}


_handler = get_wsgi_application()
_handler.request_class = Request
application = with_room(_handler)
