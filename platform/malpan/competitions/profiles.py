"""Which model profiles may be chosen for a track: those that come with the instrument. A file on the server only an
administrator may name.
"""

from __future__ import annotations

from malpan.accounts.models import User
from malpan.competitions.errors import ProfileNotOffered
from scoring.models.profile import profile_names


def require_offered(profile: str, user: User, *, own: str = "") -> None:
    """Raises ``ProfileNotOffered`` unless ``user`` may choose ``profile``; ``own``, the present one, may stay."""
    if profile and profile != own and profile not in profile_names() and not user.is_superuser:
        raise ProfileNotOffered(known=", ".join(profile_names()))
