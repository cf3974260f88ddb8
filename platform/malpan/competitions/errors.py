"""Errors about competitions: set-up, references, roles, terms, questions and notices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from django.utils.translation import gettext_lazy as _

from malpan.core.errors import Conflict, Forbidden, NotFound, RequestError, SystemFault, Unprocessable

if TYPE_CHECKING:
    from scoring.errors import FileError


class ReferencesNotPublished(SystemFault):
    """The phase is open but its organiser has not published reference answers. Params: none."""

    text = _("이 단계의 정답이 아직 등록되지 않아 제출을 받을 수 없습니다. 주최 측에 알려 주십시오.")


class ReferencesRejected(Unprocessable):
    """A reference file breaks the format. ``errors`` are located and never contain an answer; ``total`` counts all."""

    text = _("정답 파일에서 오류 %(total)s건을 찾았습니다. 표를 보고 고쳐 다시 올려 주십시오.")

    def __init__(self, *, errors: Sequence[FileError], total: int) -> None:
        self.errors = tuple(errors)
        self.total = total
        super().__init__(total=total)


class MediaRejected(Unprocessable):
    """An archive of frames cannot be used. Params: ``reason``, a sentence in the reader's language."""

    text = _("프레임 파일을 등록하지 않았습니다. %(reason)s")


class SynonymsRejected(Unprocessable):
    """A table of synonyms cannot be used. Params: ``reason``, a sentence in the reader's language."""

    text = _("유의어 표를 등록하지 않았습니다. %(reason)s")


class FilesTooLarge(RequestError):
    """The files that an organiser sends at once, of references, frames or for download, are above the site's cap on
    uploads. Params: ``size_bytes``, ``limit_bytes``.
    """

    http_status = 413
    text = _(
        "올린 파일의 크기(%(size_bytes)s)가 상한(%(limit_bytes)s)을 넘습니다. 파일을 줄여 다시 올리거나, "
        "사이트 관리자에게 업로드 상한(UPLOAD_MAX_BYTES)을 늘려 달라고 요청해 주십시오."
    )


class ReferencesInUse(Conflict):
    """Submissions of the phase were scored with the current references. Params: ``count``."""

    text = _(
        "이 단계에는 현재 정답으로 접수된 제출이 %(count)s건 있습니다. "
        "정답을 바꾸면 기존 점수가 순위표에서 빠집니다. 초안으로 올려 재채점하거나, 그래도 바꾸려면 그렇게 확인한 뒤 "
        "다시 보내 주십시오."
    )


class AnswersWouldLeak(Conflict):
    """The same bytes are both reference answers and a file for download."""

    text = _(
        "이 파일은 정답 파일과 같은 파일이라 공개 자료로 쓸 수 없습니다. 두 파일을 확인하고 다른 파일을 올려 주십시오."
    )


class ReferencesArePublic(AnswersWouldLeak):
    """The same, of a file that is offered for download already, in whatever competition. Params: none."""

    text = _(
        "이 파일은 이 사이트에서 공개 자료로 내려받을 수 있는 파일과 같은 파일이라 정답으로 쓸 수 없습니다. 두 파일을 "
        "확인하고 다른 파일을 올려 주십시오."
    )


class CompetitionStorageFull(SystemFault):
    """The file would take the competition above its limit on stored bytes. Params: ``used_bytes``, ``limit_bytes``."""

    http_status = 507
    text = _(
        "이 대회에 정해진 저장 공간이 부족해 파일을 저장하지 못했습니다. "
        "주최 측에 알려 주십시오. 주최 측은 쓰지 않는 자료를 지우거나 사이트 관리자에게 한도를 늘려 달라고 요청할 수 "
        "있습니다."
    )


class UnknownTrackRecipe(RequestError):
    """No recipe has this id. Params: ``recipe``."""

    text = _("채점 방식 ‘%(recipe)s’이(가) 없습니다. 트랙의 채점 방식을 확인해 주십시오.")


class RecipeNotInstalled(SystemFault):
    """The recipe of a track is not on this server: the plug-in it came from was removed. Params: ``recipe``."""

    text = _("이 트랙의 채점 방식이 이 서버에 설치되어 있지 않습니다. 주최 측에 알려 주십시오.")


class ProfileNotOffered(Unprocessable):
    """Only an administrator may name a profile that is a file of the server. Params: ``known``."""

    text = _("고를 수 있는 모델 프로필이 아닙니다. 다음 가운데 하나를 적거나 비워 주십시오: %(known)s")


class ManageNotFound(NotFound):
    """A request for the manage pages of a competition by somebody without a role in it."""

    text = _("이 주소에는 페이지가 없습니다.")


class MayNotCreate(Forbidden):
    """The person may not make competitions, whatever competitions there are. Params: none."""

    text = _("사이트의 대회를 만들 권한이 없습니다. 이 권한은 사이트 관리자가 줍니다.")


class NotAllowed(Forbidden):
    """The person's role in the competition does not include the ``permission``."""

    text = _("이 대회에서 맡은 역할로는 할 수 없는 일입니다. 대회 소유자에게 요청해 주십시오.")


class CompetitionNotFound(NotFound):
    """No competition that the person may see has this address."""

    text = _("대회를 찾을 수 없습니다. 주소를 확인해 주십시오.")


class TrackNotFound(NotFound):
    """No track of the competition has this address."""

    text = _("트랙을 찾을 수 없습니다. 주소를 확인해 주십시오.")


class PhaseNotFound(NotFound):
    """No phase of the track has this name. Params: ``known``, the names that there are."""

    text = _("이 트랙에 그런 단계가 없습니다. 있는 단계: %(known)s.")


class DataFileNotFound(NotFound):
    """No file for download has this number and name, or its competition is hidden."""

    text = _("자료를 찾을 수 없습니다. 데이터 탭에서 다시 내려받아 주십시오.")


class CompetitionNotReady(Conflict):
    """The checklist has gaps and the organiser did not confirm to publish anyway. Params: ``count``."""

    text = _(
        "점검표에 아직 갖추지 못한 항목이 %(count)s건 있어 공개하지 않았습니다. 항목을 채우거나, 그래도 공개하려면 "
        "그렇다고 확인하고 다시 보내 주십시오."
    )


class RoleAlreadyHeld(Conflict):
    """The person already has a role in the competition, which can be changed. Params: none."""

    text = _("이미 이 대회에서 역할을 맡은 사람입니다. 아래 목록에서 역할을 바꿔 주십시오.")


class RoleNotFound(NotFound):
    """The person has no role in the competition (any more)."""

    text = _("이 사람은 이 대회에서 맡은 역할이 없습니다. 목록을 새로 고쳐 확인해 주십시오.")


class LastOwner(Conflict):
    """The change would leave the competition without an owner who can log in. Params: none."""

    text = _("대회에는 로그인할 수 있는 소유자가 한 명은 있어야 합니다. 다른 사람을 먼저 소유자로 지정해 주십시오.")


class QuestionNotFound(NotFound):
    """No question of this competition has this number."""

    text = _("문의를 찾을 수 없습니다. 목록에서 다시 열어 주십시오.")


class QuestionInvalid(Unprocessable):
    """A text is empty or too long. Params: ``field``, ``limit``."""

    text = _("문의의 제목과 내용을 모두 입력해 주십시오. 이 항목은 %(limit)s자까지 쓸 수 있습니다.")


class TooManyQuestions(Conflict):
    """The person has reached the limit of unanswered questions. Params: ``limit``."""

    text = _("답변을 기다리는 문의가 이미 %(limit)s건 있습니다. 답변을 받은 뒤에 다시 문의해 주십시오.")


class NoticeNotFound(NotFound):
    """No notice of this competition has this number."""

    text = _("공지를 찾을 수 없습니다. 목록에서 다시 열어 주십시오.")


class RuleInUse(Conflict):
    """A track's recipe or models cannot be edited while ``count`` scores use them; rescoring can change them."""

    text = _(
        "이 채점 방식과 모델로 채점한 제출이 %(count)s건 있습니다. 바꾸면 순위표에서 빠지므로, ‘재채점’에서 "
        "새 규칙으로 다시 채점한 뒤 적용해 주십시오."
    )


class TargetsInvalid(Unprocessable):
    """The baseline and milestones of a track cannot be set. ``reason``: what is wrong. Params: ``limit``."""

    text = {
        "count": _("기준선과 이정표는 모두 %(limit)s개까지 둘 수 있습니다. 필요 없는 것을 지워 주십시오."),
        "value": _("값은 0부터 1까지(최종 점수가 아니면 10까지)의 수여야 합니다. 0.3052처럼 적어 주십시오."),
        "score": _(
            "기준선은 최종 점수에만, 이정표는 이 트랙의 순위표에 있는 점수에만 둘 수 있습니다. 점수를 다시 골라 "
            "주십시오."
        ),
        "label": _("이름이 빈 기준선이나 이정표가 있습니다. 순위표에 보일 이름을 적어 주십시오."),
        "baselines": _("기준선은 하나만 둘 수 있습니다. 나머지는 지우거나 이정표로 바꾸어 주십시오."),
        "zero": _("기준선의 값은 0보다 커야 합니다. 변화율을 이 값으로 나누어 구합니다."),
    }

    def __init__(self, *, reason: Literal["count", "value", "score", "label", "baselines", "zero"], limit: int) -> None:
        super().__init__(reason=reason, limit=limit)


class CompositeInUse(Conflict):
    """The components of a track's composite cannot change once ``count`` scores are ranked by them."""

    text = _(
        "이미 채점한 제출이 %(count)s건 있습니다. 종합 순위의 지표와 가중치는 점수가 나오기 전에만 바꿀 수 있습니다."
    )


class CompositeInvalid(Unprocessable):
    """The components of a composite cannot be used. ``reason``: what is wrong. Params: ``score``, ``limit`` and
    ``known``, the scores that may rank.
    """

    text = {
        "form": _("종합 순위의 지표마다 점수 이름과 가중치가 하나씩 있어야 합니다."),
        "count": _("종합 순위의 지표는 %(limit)s개까지 둘 수 있습니다. 필요 없는 줄을 지워 주십시오."),
        "score": _("이 채점 방식에는 ‘%(score)s’(이)라는 점수가 없습니다. 쓸 수 있는 점수: %(known)s."),
        "direction": _(
            "‘%(score)s’은(는) 높거나 낮을수록 좋은 점수가 아니라 참고로 보이는 값이어서 순위를 매길 수 없습니다. "
            "쓸 수 있는 점수: %(known)s."
        ),
        "twice": _("‘%(score)s’이(가) 두 번 있습니다. 지표마다 한 줄만 적어 주십시오."),
        "weight": _("‘%(score)s’의 가중치는 0보다 크고 %(limit)s을(를) 넘지 않는 수여야 합니다."),
    }

    def __init__(
        self,
        *,
        reason: Literal["form", "count", "score", "direction", "twice", "weight"],
        score: str = "",
        limit: int,
        known: str = "",
    ) -> None:
        super().__init__(reason=reason, score=score, limit=limit, known=known)


class CountingInvalid(Unprocessable):
    """What counts where a composite ranks does not fit the phase or the recipe. Params: ``score``."""

    text = {
        "latest": _(
            "가장 최근 제출이 반영되는 단계에서는 팀이 최종 제출을 고르지 않습니다. 최종 선택 한도를 비우십시오."
        ),
        "chosen": _("팀이 고른 제출이 반영되려면 최종 선택 한도가 1이어야 합니다."),
        "ladder": _(
            "지표별 순위로 매기는 단계에는 ‘오른 점수만 공개’를 쓸 수 없습니다. 종합 점수는 다른 팀에 따라 바뀌므로 "
            "한 제출이 올랐는지 정해지지 않습니다."
        ),
        "score": _("이 트랙의 채점 방식에는 ‘%(score)s’(이)라는 점수가 없습니다. 점수를 다시 골라 주십시오."),
        "direction": _(
            "‘%(score)s’은(는) 높거나 낮을수록 좋은 점수가 아니라 가장 좋은 제출을 가릴 수 없습니다. 점수를 다시 골라 "
            "주십시오."
        ),
    }

    def __init__(self, *, reason: Literal["latest", "chosen", "ladder", "score", "direction"], score: str = "") -> None:
        super().__init__(reason=reason, score=score)

    @property
    def field(self) -> str:
        """The column of the phase to change."""
        fields = {"score": "counting_score", "direction": "counting_score", "ladder": "is_ladder"}
        return fields.get(self.params["reason"], "finals_limit")


class PartInUse(Conflict):
    """A competition, track, phase or file cannot be removed because other rows use it. Params: none."""

    text = _("이미 쓰이고 있어 지울 수 없습니다. 딸린 단계, 정답, 제출을 확인해 주십시오.")


class TermsNotAccepted(Forbidden):
    """The person has not accepted the current terms of the competition. Params: ``version``."""

    text = _(
        "이 대회의 참가 약관(%(version)s판)에 아직 동의하지 않았습니다. 대회의 약관 페이지에서 읽고 동의한 뒤 "
        "다시 시도해 주십시오."
    )


class TermsChanged(Conflict):
    """The accepted terms are no longer the current ones. Params: ``version``, the current one."""

    text = _("읽는 동안 약관이 %(version)s판으로 바뀌었습니다. 바뀐 약관을 읽고 다시 동의해 주십시오.")


class PhaseSettingsInvalid(Unprocessable):
    """Settings of a phase contradict each other. ``fields`` are the invalid columns, ``reasons`` whole sentences."""

    text = _("단계 설정이 서로 맞지 않습니다(%(fields)s). %(reasons)s")

    def __init__(self, *, fields: Sequence[str], reasons: Sequence[str]) -> None:
        self.fields = tuple(fields)
        super().__init__(fields=", ".join(fields), reasons=" ".join(reasons))


class PhaseNotRunning(Conflict):
    """It has not begun, or is over."""

    text = _("지금 제출을 받고 있는 단계만 마감할 수 있습니다. 기간은 단계 설정에서 고칠 수 있습니다.")


class PhaseAlreadyPublished(Conflict):
    """The final board is published: the end, the split and what counts on it can no longer change."""

    text = _(
        "최종 순위표를 발표한 단계입니다. 마감, 공개 문항, 반영할 제출, 최종 선택 한도는 더 이상 바꿀 수 없습니다."
    )


class SplitInvalid(Unprocessable):
    """A list of public items cannot be used. Params: ``count``, ``first``. ``reason``: unknown or empty."""

    text = {
        "unknown": _(
            "공개 문항 목록에 정답 파일에 없는 id가 %(count)s건 있습니다(첫 번째: ‘%(first)s’). 목록을 확인해 주십시오."
        ),
        "empty": _(
            "공개 문항과 비공개 문항이 모두 1문항 이상이어야 합니다(공개 문항 %(count)s건). "
            "비율이나 목록을 확인해 주십시오."
        ),
    }

    def __init__(self, *, reason: Literal["unknown", "empty"], count: int, first: str) -> None:
        super().__init__(reason=reason, count=count, first=first)


class ReferenceNotDraft(Conflict):
    """The version is published (or gone): it cannot be edited, discarded or published again."""

    text = _("이미 반영된 정답 판입니다. 고치려면 새 정답 판을 초안으로 올려 주십시오.")


class ReferenceDraftInUse(Conflict):
    """Runs or a rescoring batch use the draft, so it is kept as evidence."""

    text = _("재채점에 쓰인 초안은 지울 수 없습니다. 기록으로 남겨 둡니다.")
