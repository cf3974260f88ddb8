"""Errors about judges: their invitation, consent and bars."""

from __future__ import annotations

from django.utils.translation import gettext_lazy as _

from malpan.core.errors import Conflict, Forbidden, Gone, NotFound, SystemFault, Unprocessable


class JudgeNotFound(NotFound):
    """No such judge in this campaign."""

    text = _("평가자를 찾을 수 없습니다. 목록에서 다시 열어 주십시오.")


class JudgeAddressInvalid(Unprocessable):
    """Params: ``email``."""

    text = _("‘%(email)s’은(는) 이메일 주소가 아닙니다.")


class JudgeInvited(Conflict):
    """The address was invited already. Params: ``email``."""

    text = _("%(email)s은(는) 이미 초대했습니다.")


class TooManyDeclared(Conflict):
    """A judge who has seen outputs declares more teams than they may alone. Params: ``limit``."""

    text = _(
        "출력을 본 뒤에는 팀을 모두 %(limit)s개까지 스스로 알릴 수 있습니다. 아는 팀이 더 있으면 운영자에게 알려 "
        "주십시오. 운영자가 제척합니다."
    )


class OrganiserMustBar(Conflict):
    """A judge alone declares so many teams that too few systems would be left. ``reason`` selects the text. Params:
    ``limit``, how many they may declare alone.
    """

    text = {
        "some": _(
            "이 평가에서는 팀을 모두 %(limit)s개까지 스스로 알릴 수 있습니다. 남는 출력이 적으면 누가 낸 것인지 "
            "드러나기 때문입니다. 이번에 적은 팀은 기록하지 않았습니다. 아는 팀을 모두 운영자에게 알려 주십시오. "
            "운영자가 제척합니다."
        ),
        "none": _(
            "출력이 적어 누가 낸 것인지 드러날 수 있으므로, 이 평가에서는 아는 팀을 운영자가 제척합니다. 적은 팀은 "
            "기록하지 않았습니다. 아는 팀을 운영자에게 알려 주십시오."
        ),
        "late": _(
            "스스로 알린 팀이 많아 남는 출력이 너무 적습니다. 운영자에게 알려 주십시오. 운영자가 그 팀을 확인하여 "
            "제척하면 초대를 수락할 수 있습니다."
        ),
    }

    def __init__(self, *, reason: str, limit: int = 0) -> None:
        super().__init__(reason=reason, limit=limit)


class TeamsUnknown(Unprocessable):
    """An organiser bars a judge from teams that the competition does not have. Params: ``teams``, as typed."""

    text = _("이 대회에 없는 팀이라 제척하지 않았습니다: %(teams)s. 팀 화면에서 번호나 이름을 확인해 주십시오.")
    field = "team_numbers"


class TeamsNotNear(Unprocessable):
    """Teams whose institutions are not asked about for this judge. Params: ``teams``, their numbers."""

    text = _(
        "이 평가자의 기관과 이름이 비슷하여 확인할 팀이 아닙니다: %(teams)s. 그사이 답했거나 제척한 팀일 수 있으니 "
        "화면을 새로 열어 주십시오."
    )
    field = "team_numbers"


class TooManyJudges(Conflict):
    """Params: ``limit``."""

    text = _("한 평가에 평가자를 %(limit)s명까지 초대할 수 있습니다.")


class InvitationMailFailed(SystemFault):
    """The mail server refused. Params: none."""

    text = _("초대 메일을 보내지 못했습니다. 메일 설정을 확인하고 다시 보내 주십시오.")


class JudgeInvitationNotFound(NotFound):
    """No invitation has this token. Params: none."""

    text = _("초대를 찾을 수 없습니다. 메일에 적힌 주소를 그대로 열었는지 확인해 주십시오.")


class JudgeInvitationExpired(Gone):
    """Params: none."""

    text = _("기한이 지난 초대입니다. 운영자에게 새 초대를 부탁해 주십시오.")


class JudgeInvitationUsed(Gone):
    """Another person accepted it. Params: none."""

    text = _("이미 다른 사람이 수락한 초대입니다. 운영자에게 새 초대를 부탁해 주십시오.")


class JudgeInvitationForAnother(Forbidden):
    """The invitation went to an address that this person has not verified. Params: ``email``, masked."""

    text = _("이 초대는 %(email)s 주소로 보낸 것입니다. 그 주소를 내 계정에 등록하고 인증한 사람만 수락할 수 있습니다.")


class JudgeIsOrganiser(Conflict):
    """Whoever runs the competition or takes part in it with a system of its own cannot judge. Params: none."""

    text = _("이 대회를 운영하는 사람은 평가자가 될 수 없습니다. 출력을 낸 팀을 알 수 있기 때문입니다.")


class JudgeAlready(Conflict):
    """The person judges in this campaign under another address. Params: none."""

    text = _("이미 다른 주소로 이 평가의 초대를 수락했습니다.")


class JudgeAccepted(Conflict):
    """The invitation was accepted, so there is nothing to send again. Params: none."""

    text = _("이미 초대를 수락한 평가자입니다. 다시 보낼 것이 없습니다.")


class JudgeBarredEverywhere(Conflict):
    """The judge may see no unit. Params: none."""

    text = _("볼 수 있는 출력이 없어 평가자가 될 수 없습니다. 제척된 팀이 너무 많습니다.")


class JudgeNotRemoved(Conflict):
    """Only who was removed is invited again. Params: none."""

    text = _("내보내지 않은 평가자입니다. 초대를 수락하지 않았으면 초대를 다시 보내 주십시오.")


class JudgeRemoved(Forbidden):
    """The judge was removed. Params: none."""

    text = _("운영자가 내보내어 이 평가를 더 할 수 없습니다. 궁금한 점은 운영자에게 물어 주십시오.")


class WordMissing(Unprocessable):
    """Nothing to tell the organisers, or too much. Params: ``limit``, of characters at a time."""

    text = _("운영자에게 알릴 말을 %(limit)s자까지 적어 주십시오. 이미 여러 번 알렸다면 운영자의 답을 기다려 주십시오.")
    field = "text"


class ConsentMissing(Forbidden):
    """The judge has not agreed to the notice or not acknowledged the guideline. Params: none."""

    text = _("먼저 안내에 동의하고 평가 지침을 확인해 주십시오.")


class GuidelineChanged(Conflict):
    """The guideline or the notice is another one than the person saw. Params: none."""

    text = _("보는 동안 안내나 지침이 바뀌었습니다. 다시 읽고 확인해 주십시오.")


class NobodyCanTakeOver(Conflict):
    """Open assignments of a removed judge that no other judge may take. Params: ``count``."""

    text = _("배정 %(count)s개를 맡을 수 있는 평가자가 없습니다. 평가자를 더 초대한 뒤에 다시 해 주십시오.")
