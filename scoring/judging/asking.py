"""Asking a judge many questions: several at once, within a budget, with bounded and counted repetitions.

One loop in the calling thread decides what is sent when; other threads only wait for answers. So the caller can keep
every answer as it comes, and ledger and store are used from its thread alone. An outage ends the asking only after the
requests on their way are answered: what was paid for is never thrown away. Right before a question is sent the caller
says whether it still is to be (``TurnsOf``): another scoring may have the answer by now, or be asking.

Two kinds of bad answers are told apart. One that is not the protocol (no JSON, too large, without a first choice) is a
fault of the server, as an error or a cut connection is: after ``retries`` pauses it is an outage, never a value. One in
which the *model* wrote something else than the schema demands is asked for again at once, and then unparsable.
"""

from __future__ import annotations

import heapq
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal

from scoring.judging.budget import Ledger, Limits, Reservation, Usage
from scoring.judging.client import NOT_DONE, Exchange, JudgeClient
from scoring.judging.errors import JudgeBudgetSpent, JudgeError, JudgeRefused, JudgeUnreachable
from scoring.judging.parsing import Judgement, Task, Unparsable, parse
from scoring.judging.spec import JudgeSpec

PATH: Final = "/v1/chat/completions"
UNUSABLE_TRIES: Final = 3  # of a question whose answers cannot be used, as the contest's rule: two more tries
LONGEST_PAUSE: Final = 60.0  # seconds; a server that wants a longer one is asked again later, by another attempt
TURN_SECONDS: Final = 0.5  # how long the loop waits at most before it calls ``each_turn`` again
WAIT_SECONDS: Final = 1.0  # until a question that another scoring asks is looked at again
_NO_ANSWER: Final = ("abort", "error")  # why a generation ended where the server gave up, not the model

Turn = Literal["ask", "known", "wait"]  # send it; it need not be asked any more; another scoring is asking it
TurnsOf = Callable[[Sequence[int], float], Sequence[Turn]]  # of questions by place, each for at most so many seconds


@dataclass(slots=True)
class Tally:
    """What one asking took. ``repeated``: requests beyond the first of each question, by the reason for them."""

    requests: int = 0
    tokens: int = 0
    unparsable: int = 0
    repeated: Counter[str] = field(default_factory=Counter)

    def as_dict(self) -> dict[str, Any]:
        return {
            "requests": self.requests,
            "tokens": self.tokens,
            "unparsable": self.unparsable,
            "repeated": dict(sorted(self.repeated.items())),
        }


@dataclass(order=True, slots=True)
class _Open:
    """A question that is to be asked, not before ``due`` (monotonic clock)."""

    due: float
    number: int
    faults: int = field(default=0, compare=False)  # of the server or the network
    unusable: int = field(default=0, compare=False)


class Asking:
    """Asks the questions in ``bodies``, each a request in JSON, once."""

    def __init__(self, client: JudgeClient, spec: JudgeSpec, ledger: Ledger, tally: Tally) -> None:
        self._client, self._spec, self._ledger, self._tally = client, spec, ledger, tally
        self._limits = Limits(spec.max_requests, spec.max_tokens_total)
        self._waiting: list[_Open] = []
        self._running: dict[Future[Exchange], tuple[_Open, Reservation]] = {}
        self._error: JudgeError | None = None
        self._paused_until = 0.0
        self._awaits_budget = False  # the budget may suffice when the next answer has come

    def ask(
        self, bodies: Sequence[bytes], task: Task, each_turn: Callable[[], None], turns: TurnsOf | None = None
    ) -> Iterator[tuple[int, Judgement | None]]:
        """The judgement of each question as it comes, by its place in ``bodies``; ``None`` if it stays unparsable.

        ``each_turn`` is called at least every ``TURN_SECONDS``; what it raises ends the asking at once. ``turns`` says
        what to do with the questions that are about to be sent; what is known is left out. Raises
        ``JudgeBudgetSpent``, ``JudgeUnreachable`` and ``JudgeRefused`` after the answers that are on their way.
        """
        self._waiting = [_Open(0.0, number) for number in range(len(bodies))]
        pool = ThreadPoolExecutor(self._spec.concurrency, thread_name_prefix="judge")
        is_over = False
        try:
            while self._waiting or self._running:
                each_turn()
                self._send(pool, bodies, turns or _ask_all)
                if self._error is not None and not self._running:
                    break
                done, _ = wait(self._running, self._pause(), return_when=FIRST_COMPLETED)
                if not self._running:
                    time.sleep(self._pause())
                for future in done:
                    yield from self._take(*self._running.pop(future), future.result(), task)
            is_over = True
        finally:
            if not is_over:
                self._client.abort()
            pool.shutdown(cancel_futures=True)
        if self._error is not None:
            raise self._error

    def _pause(self) -> float:
        """How long to wait for an answer before the next question is due."""
        is_full = self._awaits_budget or len(self._running) >= self._spec.concurrency
        if self._error is not None or not self._waiting or is_full:
            return TURN_SECONDS
        due = max(self._waiting[0].due, self._paused_until) - time.monotonic()
        return min(max(due, 0.001), TURN_SECONDS)

    def _send(self, pool: ThreadPoolExecutor, bodies: Sequence[bytes], turns: TurnsOf) -> None:
        """Send what is due, as far as there are threads and budget, and it is our turn."""
        if not (due := self._due()):
            return
        seconds = self._spec.timeout + LONGEST_PAUSE  # until the answer is there or the question asked again
        for question, turn in zip(due, turns([each.number for each in due], seconds), strict=True):
            if turn == "wait":
                question.due = time.monotonic() + WAIT_SECONDS
            is_sent = turn == "ask" and self._is_sent(pool, question, bodies[question.number])
            if turn != "known" and not is_sent:
                heapq.heappush(self._waiting, question)

    def _due(self) -> list[_Open]:
        """Take out the questions that are due, as many as there are free threads."""
        now, due = time.monotonic(), list[_Open]()
        if self._error is not None or self._awaits_budget or self._paused_until > now:
            return due
        free = self._spec.concurrency - len(self._running)
        while self._waiting and len(due) < free and self._waiting[0].due <= now:
            due.append(heapq.heappop(self._waiting))
        return due

    def _is_sent(self, pool: ThreadPoolExecutor, question: _Open, body: bytes) -> bool:
        """Send ``body`` if the budget suffices; whether it did. Without budget nothing more is sent for now."""
        if self._error is not None or self._awaits_budget:
            return False
        reserved = self._ledger.reserve(self._limits, len(body) + self._spec.max_tokens)  # a token: at least a byte
        if reserved is None:
            self._awaits_budget = bool(self._running)
            self._error = None if self._running else self._budget_spent()
            return False
        self._tally.requests += 1
        self._running[pool.submit(self._client.post, PATH, body)] = question, reserved
        return True

    def _take(
        self, question: _Open, reserved: Reservation, exchange: Exchange, task: Task
    ) -> Iterator[tuple[int, Judgement | None]]:
        """Settle a request, and give its judgement or have the question asked again."""
        self._awaits_budget = False
        self._settle(exchange, reserved)
        choice = _choice(exchange.answer)
        if choice is None:
            is_json = exchange.failure is None
            self._after_fault(question, replace(exchange, failure="no_protocol") if is_json else exchange)
            return
        try:
            judgement = parse(_content(choice), task)
        except Unparsable:
            question.unusable += 1
            if question.unusable < UNUSABLE_TRIES:
                self._ask_again(question, "unparsable", 0.0)
                return
            self._tally.unparsable += 1
            judgement = None
        yield question.number, judgement

    def _settle(self, exchange: Exchange, reserved: Reservation) -> None:
        """Give back what a request did not cost; one that may have been done is taken to have cost all it could."""
        if exchange.failure in NOT_DONE:
            self._ledger.settle(reserved, Usage())
            return
        used = _tokens(exchange.answer)
        spent = reserved.tokens if used is None else used
        self._tally.tokens += spent
        self._ledger.settle(reserved, Usage(1, spent))

    def _after_fault(self, question: _Open, exchange: Exchange) -> None:
        question.faults += 1
        why = exchange.failure or ""
        if why == "refused":
            self._fail(JudgeRefused(url=self._client.url, status=exchange.status))
        elif question.faults > self._spec.retries or (exchange.retry_after or 0) > LONGEST_PAUSE:
            self._fail(JudgeUnreachable(url=self._client.url, why=why, retry_after=exchange.retry_after))
        else:
            pause = min(self._spec.retry_seconds * 2 ** (question.faults - 1), LONGEST_PAUSE)
            if why == "busy":  # nobody else need ask before that either
                pause = max(pause, exchange.retry_after or 0.0)
                self._paused_until = max(self._paused_until, time.monotonic() + pause)
            self._ask_again(question, why, pause)

    def _ask_again(self, question: _Open, why: str, pause: float) -> None:
        self._tally.repeated[why] += 1
        question.due = time.monotonic() + pause
        heapq.heappush(self._waiting, question)

    def _fail(self, error: JudgeError) -> None:
        """Send nothing more; the first reason counts."""
        if self._error is None:
            self._error = error

    def _budget_spent(self) -> JudgeBudgetSpent:
        usage = self._ledger.usage()
        return JudgeBudgetSpent(
            requests=usage.requests,
            tokens=usage.tokens,
            max_requests=self._limits.requests or "∞",
            max_tokens=self._limits.tokens or "∞",
        )


def _ask_all(places: Sequence[int], _seconds: float) -> Sequence[Turn]:
    return ["ask"] * len(places)


def _choice(answer: Any) -> Mapping[str, Any] | None:
    """The first choice of an answer; ``None`` where the answer is not one of the protocol, or no model finished it."""
    choices = answer.get("choices") if isinstance(answer, dict) else None
    choice = choices[0] if isinstance(choices, list) and choices else None
    if not isinstance(choice, dict) or choice.get("finish_reason") in _NO_ANSWER:
        return None
    message = choice.get("message")
    is_message = isinstance(message, dict) and isinstance(message.get("content"), str | None)
    return choice if is_message else None


def _content(choice: Mapping[str, Any]) -> str | None:
    """What the model wrote; ``None`` if nothing (it refused, or only thought), or if it was cut off."""
    content: str | None = choice["message"].get("content")
    return content if choice.get("finish_reason") in ("stop", None) else None


def _tokens(answer: Any) -> int | None:
    """The tokens that an answer says it cost."""
    usage = answer.get("usage") if isinstance(answer, dict) else None
    total = usage.get("total_tokens") if isinstance(usage, dict) else None
    return total if type(total) is int and total >= 0 else None
