"""Why a backup or a restore did not happen."""

from __future__ import annotations


class BackupError(Exception):
    """Nothing was made or changed, or it was undone; the text says why and what to do, in Korean and English."""
