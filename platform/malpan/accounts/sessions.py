"""The sessions of people who are logged in: Django's, in the database."""

from __future__ import annotations

from typing import Final

from django.contrib.sessions.backends import db
from django.contrib.sessions.models import Session
from django.utils import timezone

from malpan.core.database.prepared import Prepared

_SESSION: Final = Prepared(lambda key: Session.objects.filter(session_key=key), str)


class SessionStore(db.SessionStore):
    """Django's, which every request of a person asks for their session, with the SQL for it written once."""

    def _get_session_from_db(self) -> Session | None:
        found = _SESSION.only(self.session_key or "")
        if found is not None and found.expire_date > timezone.now():
            return found
        self._session_key = None
        return None
