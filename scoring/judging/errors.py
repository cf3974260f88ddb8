"""What can go wrong with a judge. No error contains a key, a text that was sent, or what the server wrote."""

from __future__ import annotations

from scoring.errors import Message, ModelUnavailable, ScoringError, WordedError


class JudgeError(WordedError, ScoringError):
    """Base of the errors of a judge at work."""


class JudgeUnreachable(JudgeError):
    """The server did not answer, or only with errors or what is not the protocol, however often; later it may.

    ``retry_after``: seconds after which the server itself wants to be asked again, if it said so.
    """

    code = "judge_unreachable"
    words = Message(
        "심사 모델 서버({url})에서 쓸 수 있는 응답이 없습니다({why}). 서버와 네트워크를 확인한 뒤 다시 실행하십시오.",
        "The judge's server ({url}) gives no usable answer ({why}). Check the server and the network, then run again.",
    )

    def __init__(self, *, url: str, why: str, retry_after: float | None = None) -> None:
        self.retry_after = retry_after
        super().__init__(url=url, why=why)


class JudgeRefused(JudgeError):
    """The server refuses the request itself: a wrong key, an unknown model, an option that it does not know."""

    code = "judge_refused"
    words = Message(
        "심사 모델 서버({url})가 요청을 거절했습니다(HTTP {status}). 프로필 [judge]의 base_url·model·api_key_env와 "
        "서버가 JSON 스키마(response_format)를 지원하는지 확인하십시오.",
        "The judge's server ({url}) refuses the request (HTTP {status}). Check base_url, model and api_key_env in "
        "[judge] of the profile, and that the server supports JSON schemas (response_format).",
    )


class JudgeBudgetSpent(JudgeError):
    """The next request could exceed the budget of the profile; nothing was sent."""

    code = "judge_budget_spent"
    words = Message(
        "심사 모델의 예산을 다 썼습니다(요청 {requests}회, 토큰 {tokens}개; 한도 {max_requests}회, {max_tokens}개). "
        "프로필 [judge]의 max_requests나 max_tokens_total을 늘린 뒤 다시 실행하십시오.",
        "The judge's budget is used up ({requests} requests, {tokens} tokens; the limits are {max_requests} and "
        "{max_tokens}). Raise max_requests or max_tokens_total in [judge] of the profile, then run again.",
    )


class JudgeKeyMissing(WordedError, ModelUnavailable):
    """The environment lacks the variable that the profile names for the key."""

    code = "judge_key_missing"
    words = Message(
        "심사 모델의 키가 없습니다. 환경 변수 {variable}에 키를 넣은 뒤 다시 실행하십시오.",
        "The judge's key is missing. Set the environment variable {variable} and run again.",
    )


class PromptBroken(WordedError, ModelUnavailable):
    """A prompt file is missing or invalid."""

    code = "judge_prompt_broken"
    words = Message(
        "심사 프롬프트를 쓸 수 없습니다: {where} — {what}. 파일을 고친 뒤 다시 실행하십시오.",
        "The judge's prompt cannot be used: {where} - {what}. Mend the file and run again.",
    )
