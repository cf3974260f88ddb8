"""Files of baselines, which organisers submit by name: the team is made with its first file."""

from __future__ import annotations

from django.core.files.uploadedfile import UploadedFile

from malpan.accounts.models import User
from malpan.competitions import permissions
from malpan.competitions.models import Phase
from malpan.competitions.permissions import Permission
from malpan.submissions.intake import submit
from malpan.submissions.models import Submission
from malpan.teams.baselines import baseline_named
from malpan.teams.errors import TeamNameTaken


def submit_baseline(
    *,
    phase: Phase,
    name: str,
    user: User,
    file_name: str,
    upload: UploadedFile,
    memo: str = "",
    upload_key: str = "",
    address: str = "",
) -> Submission:
    """Accept a file of the baseline with this ``name``, which is made in the same transaction if there is none: a
    refused file leaves no team. The rest is as in ``submit``. For organisers (MANAGE).

    Raises ``TeamNameInvalid``, ``TeamNameTaken`` and what ``submit`` raises.
    """
    competition = phase.track.competition
    permissions.require(user, competition, Permission.MANAGE)

    def send() -> Submission:
        team = baseline_named(competition=competition, name=name)
        return submit(
            phase=phase,
            team=team,
            user=user,
            file_name=file_name,
            upload=upload,
            memo=memo,
            upload_key=upload_key,
            address=address,
        )

    try:
        return send()
    except TeamNameTaken:  # if by this baseline, of a second click or another organiser, it is a file of that one
        upload.seek(0)
        return send()
