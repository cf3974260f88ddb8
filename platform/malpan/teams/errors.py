"""Errors about teams: members, invitations, merging, disqualification."""

from __future__ import annotations

from typing import Any

from django.utils.translation import gettext_lazy as _

from malpan.core.errors import Conflict, Forbidden, Gone, NotFound, RequestError, Unprocessable


class NotTeamMember(Forbidden):
    """The person is in no team of this competition, or not in this one."""

    text = _("이 대회에 참가하는 팀의 구성원만 할 수 있습니다. 팀을 만들거나 초대를 받아 주십시오.")


class NotTeamLeader(Forbidden):
    """Only the leader of the team may do this."""

    text = _("팀장만 할 수 있습니다. 팀장에게 요청해 주십시오.")


class AlreadyInTeam(Conflict):
    """One team per person per competition. Params: none."""

    text = _("이 대회에서 이미 팀에 속해 있습니다. 한 대회에는 한 팀으로만 참가할 수 있습니다.")


class TeamNameTaken(Conflict):
    """Params: ``name``."""

    text = _("‘%(name)s’은(는) 이미 쓰는 팀 이름이거나 그 이름과 똑같아 보입니다. 다른 이름을 입력해 주십시오.")


class TeamNameInvalid(RequestError):
    """Empty, too long, or with characters that nobody sees. Params: ``limit``."""

    text = _("팀 이름은 1자 이상 %(limit)s자 이하로, 눈에 보이지 않는 글자 없이 입력해 주십시오.")


class TeamFull(Conflict):
    """Params: ``limit``."""

    text = _("팀 인원이 상한 %(limit)s명에 이르렀습니다. 팀장에게 문의해 주십시오.")


class InvitationNotFound(NotFound):
    """No invitation has this token, or not in this team."""

    text = _("초대 링크가 올바르지 않습니다. 팀장에게 새 링크를 요청해 주십시오.")


class InvitationExpired(Gone):
    """Params: ``expired_at``."""

    text = _("초대 링크가 %(expired_at)s에 만료되었습니다. 팀장에게 새 링크를 요청해 주십시오.")


class InvitationUsed(Gone):
    """Somebody has already joined with this invitation."""

    text = _("이미 사용한 초대 링크입니다. 팀장에게 새 링크를 요청해 주십시오.")


class InvitationRevoked(Gone):
    """The team's leader revoked it."""

    text = _("취소된 초대 링크입니다. 팀장에게 새 링크를 요청해 주십시오.")


class InvitationForAnother(Forbidden):
    """It was mailed to an address that this person has not verified. Params: ``email``, masked."""

    text = _(
        "이 초대는 %(email)s 주소로 보낸 것입니다. 그 주소를 내 계정에 등록하고 인증한 사람만 쓸 수 있습니다. "
        "계정의 이메일 페이지에서 인증한 뒤 다시 열어 주십시오."
    )


class InvitationAddressInvalid(Unprocessable):
    """The text is no e-mail address."""

    text = _("이메일 주소를 올바른 형식으로 입력해 주십시오.")


class AddressInTeam(Conflict):
    """The address is the leader's own, or that of an invitation that a member used. Params: ``email``."""

    text = _("%(email)s 주소의 사람은 이미 이 팀에 있습니다. 초대할 사람의 주소를 확인해 주십시오.")


class AlreadyInvited(Conflict):
    """An invitation of the team to this address is still open. Params: ``email``, ``until``."""

    text = _(
        "%(email)s 주소로 보낸 초대가 %(until)s까지 열려 있습니다. 메일을 다시 보내려면 그 초대를 취소한 뒤 초대해 "
        "주십시오."
    )


class TooManyInvitations(Conflict):
    """The team has reached the limit of open or mailed invitations. Params: ``limit``."""

    text = _(
        "한 팀은 열린 초대를 %(limit)s건까지, 초대 메일도 하루에 그만큼만 보낼 수 있습니다. 쓰지 않는 초대를 "
        "취소하거나 내일 다시 시도해 주십시오."
    )


class CompetitionOver(Conflict):
    """The last phase has ended, so members of teams can no longer change. Params: ``ended_at``."""

    text = _("대회가 %(ended_at)s에 끝나 팀 구성을 바꿀 수 없습니다.")


class TeamNameFinal(Conflict):
    """A final board is published with the team's name. Params: none."""

    text = _("최종 순위표가 발표되어 팀 이름을 바꿀 수 없습니다. 고쳐야 하면 주최 측에 문의해 주십시오.")


class LeaderCannotLeave(Conflict):
    """A leader must hand over before leaving or being removed, while others are in the team."""

    text = _("팀장은 다른 팀원에게 팀장을 넘긴 뒤에 나갈 수 있습니다.")


class LastMemberCannotLeave(Conflict):
    """The team has submitted files, so somebody must stay responsible for them."""

    text = _(
        "파일을 보낸 기록이 있는 팀은 마지막 한 사람이 나갈 수 없습니다. 다른 팀과 함께하려면 팀 합치기를 이용해 "
        "주십시오."
    )


class TeamInUse(Conflict):
    """The team cannot be removed: it has submitted files, or another team was merged into it. Params: none."""

    text = _("파일을 보낸 기록이 있거나 다른 팀과 합친 팀은 지울 수 없습니다. 순위표에서 빼려면 실격 처리해 주십시오.")


class TeamDisqualified(Forbidden):
    """The organisers disqualified the team."""

    text = _(
        "실격 처리된 팀은 할 수 없는 일입니다. 사유는 순위표 아래에 있습니다. 이의가 있으면 주최 측에 문의해 주십시오."
    )


class TeamNotFound(NotFound):
    """No team of this competition has this name or number."""

    text = _("이 대회에 그런 이름의 팀이 없습니다. 이름을 확인해 주십시오.")


class DisqualificationNoteInvalid(Unprocessable):
    """The public note is missing or too long. Params: ``limit``."""

    text = _("공개할 사유를 한 줄, %(limit)s자까지 입력해 주십시오.")


class ProgramStays(Conflict):
    """The team submitted as a program already; only organisers may call it people's. Params: none."""

    text = _("프로그램이 이미 제출한 팀입니다. 사람의 팀으로 바꾸려면 운영자에게 문의해 주십시오.")


class MergeImpossible(Conflict):
    """The two teams cannot be merged. ``reason``: same, baseline, program, disqualified, merged, size, over, daily
    or total.
    """

    text = {
        "same": _("같은 팀끼리는 합칠 수 없습니다."),
        "baseline": _("기준 모델과는 합칠 수 없습니다."),
        "program": _("프로그램의 팀과 사람의 팀은 합칠 수 없습니다."),
        "disqualified": _("실격 처리된 팀과는 합칠 수 없습니다."),
        "merged": _("이미 다른 팀에 합쳐진 팀입니다."),
        "size": _("두 팀을 합치면 %(size)s명이 되어 팀 상한 %(limit)s명을 넘습니다."),
        "over": _("대회의 모든 단계가 끝나 더 이상 팀을 합칠 수 없습니다."),
        "daily": _(
            "‘%(phase)s’ 단계에서 %(day)s 하루에 두 팀이 제출한 횟수의 합(%(used)s회)이 한 팀의 하루 한도 "
            "%(limit)s회를 넘어 합칠 수 없습니다."
        ),
        "total": _(
            "‘%(phase)s’ 단계에서 두 팀이 제출한 횟수의 합(%(used)s회)이 한 팀의 전체 한도 %(limit)s회를 넘어 합칠 "
            "수 없습니다."
        ),
    }

    def __init__(self, *, reason: str, **params: Any) -> None:
        super().__init__(reason=reason, **params)


class MergeAlreadyAsked(Conflict):
    """The team already has an open request; it can have only one."""

    text = _("답을 기다리는 합치기 요청이 이미 있습니다. 그 요청을 취소한 뒤 다시 요청해 주십시오.")


class MergeRequestNotFound(NotFound):
    """No such request to or of this team, or it was answered already."""

    text = _(
        "합치기 요청을 찾을 수 없습니다. 이미 답했거나 취소된 요청일 수 있습니다. 팀 페이지를 새로 고쳐 확인해 "
        "주십시오."
    )
