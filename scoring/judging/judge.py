"""The judge of a profile: what it is, as far as its server says, and its judgements of texts."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from scoring.judging import fencing, naming, parsing
from scoring.judging.asking import Asking, Tally, TurnsOf
from scoring.judging.budget import Ledger, MemoryLedger
from scoring.judging.client import Exchange, JudgeClient
from scoring.judging.errors import JudgeRefused, JudgeUnreachable, PromptBroken
from scoring.judging.parsing import Judgement, schema
from scoring.judging.prompt_files import Prompt, built_in, load_prompt
from scoring.judging.spec import JudgeSpec

# Of the server's entry of a model: what names it. The time of the request and random permissions change every time.
_ENTRY: Final = ("id", "root", "parent", "owned_by", "max_model_len", "quantization", "meta", "details")
_VERSIONS: Final = (
    ("/version", "version"),
    ("/api/version", "version"),
    ("/props", "build_info"),
)  # vLLM, Ollama, llama
_QUANTISATION: Final = re.compile(
    r"(?:IQ|Q)\d(?:_[A-Z0-9]+)*|AWQ|GPTQ|FP8|NVFP4|MXFP4|INT[48]|BNB|[48]-?bit|EXL[23]|BF16|FP16", re.IGNORECASE
)
_TEXT_CHARS: Final = 300  # of what a server says of itself
_TRIES: Final = 3

Texts = Mapping[str, str]  # by role


class Judge:
    """Asks the server of ``spec``. Nothing is sent before the first question, or the first look at the server."""

    def __init__(self, spec: JudgeSpec) -> None:
        self.spec = spec

    def prompt(self, metric: str, built_in_name: str) -> Prompt:
        """The prompt of ``metric``: the file that the profile names, which must ask for the same kind of answer, or the
        built-in one. Raises ``PromptBroken``.
        """
        own, named = load_prompt(built_in(built_in_name, self.spec.language)), dict(self.spec.prompts).get(metric)
        found = load_prompt(named) if named else own
        if found.task != own.task:
            raise PromptBroken(where=str(named), what=f"task: {own.task}")
        return found

    def describe(self, prompt: Prompt) -> dict[str, Any]:
        """Everything that can change a judgement. Asks the server for its model and version, which costs nothing.

        Neither address nor key nor a path is in it (``naming``). Raises ``JudgeUnreachable``, ``JudgeRefused``,
        ``JudgeKeyMissing``.
        """
        spec, secret = self.spec, self._client().key
        return {
            "model": naming.shown(spec.model, secret),
            "server": self.identity(),
            "prompt": prompt.describe(),
            "schema": schema(prompt.task),
            "parser": spec.parser,
            "fencing": fencing.VERSION,
            "sampling": self._sampling(),
            "extra": naming.shown(naming.hashed(json.loads(spec.extra)), secret),
            "max_chars": spec.max_chars,
        }

    def identity(self) -> dict[str, Any]:
        """What the server says of itself: version, the model's entry, and the quantisation as it is named there."""
        client = self._client()
        models = self._asked(client, "/v1/models", has_json=True)
        listed = models.get("data") if models is not None else None
        entries = [each for each in listed if isinstance(each, dict)] if isinstance(listed, list) else []
        entry = next((each for each in entries if each.get("id") == self.spec.model), None)
        named = {
            key: _short(naming.shown(entry[key], client.key)) for key in _ENTRY if entry is not None and key in entry
        }
        version = None
        for path, key in _VERSIONS:
            said = self._asked(client, path)
            if said is not None and isinstance(said.get(key), str):
                version = naming.shown(said[key], client.key)[:_TEXT_CHARS]
                break
        return {"version": version, "model": named, "quantisation": _quantisation(named, self.spec.model)}

    def ask(
        self,
        prompt: Prompt,
        questions: Sequence[Texts],
        *,
        ledger: Ledger | None = None,
        tally: Tally | None = None,
        each_turn: Callable[[], None] = lambda: None,
        turns: TurnsOf | None = None,
    ) -> Iterator[tuple[int, Judgement | None]]:
        """The judgement of each of ``questions`` as it comes, by its place; ``None`` if it stays unparsable.

        ``turns`` may leave questions out, or have them wait (``Asking.ask``). Raises ``JudgeBudgetSpent``,
        ``JudgeUnreachable``, ``JudgeRefused``, ``JudgeKeyMissing``.
        """
        asking = Asking(self._client(), self.spec, ledger or MemoryLedger(), tally or Tally())
        bodies = [self.body(prompt, question) for question in questions]
        return asking.ask(bodies, prompt.task, each_turn, turns)

    def body(self, prompt: Prompt, texts: Texts) -> bytes:
        """The request about ``texts``."""
        spec, of = self.spec, {role: texts[role] for role in prompt.roles}
        messages = prompt.messages(fencing.fenced(of, prompt.sha256, spec.max_chars))
        form = {"name": "judgement", "strict": True, "schema": schema(prompt.task)}
        request = {
            "model": spec.model,
            "messages": messages,
            **self._sampling(),
            **json.loads(spec.extra),
            "stream": False,
            "response_format": {"type": "json_schema", "json_schema": form},
        }
        return json.dumps(request, ensure_ascii=False).encode("utf-8")

    def _sampling(self) -> dict[str, Any]:
        spec = self.spec
        return {"temperature": spec.temperature, "top_p": 1.0, "seed": spec.seed, "max_tokens": spec.max_tokens}

    def is_cut(self, text: str) -> bool:
        """Whether only the beginning of ``text`` is sent."""
        return len(fencing.cleaned(text)) > self.spec.max_chars

    def _client(self) -> JudgeClient:
        return JudgeClient(self.spec.base_url, api_key_env=self.spec.api_key_env, timeout=self.spec.timeout)

    def _asked(self, client: JudgeClient, path: str, *, has_json: bool = False) -> Mapping[str, Any] | None:
        """What the server answers to a free question; ``None`` if it does not know it. Raises ``JudgeUnreachable``.

        ``has_json``: what is no JSON is a fault, as an error is. A page of a proxy in the place of the model's entry
        would make another signature, and everything would be asked and paid for again.
        """
        exchange = Exchange()
        for number in range(_TRIES):
            time.sleep(self.spec.retry_seconds * number)
            exchange = client.get(path)
            if exchange.failure is None or (exchange.failure in ("no_json", "too_large") and not has_json):
                return exchange.answer
            if exchange.failure == "refused":
                if exchange.status in (401, 403):
                    raise JudgeRefused(url=self.spec.base_url, status=exchange.status)
                return None
        raise JudgeUnreachable(url=self.spec.base_url, why=exchange.failure or "", retry_after=exchange.retry_after)


def value_of(judgement: Judgement | None) -> float:
    """A score from 1 to 5 as a share, 0.2-1; 0 for an unparsable answer, as the contest counts a parse failure."""
    return int(judgement.decision) / parsing.HIGHEST if judgement is not None else 0.0


def _short(value: Any) -> Any:
    """``value`` if it is a number or a short text, or an object or a list of such; else its beginning as JSON."""
    if isinstance(value, list):
        return [_short(part) for part in value[:50] if isinstance(part, str | int | float | bool)]
    if isinstance(value, dict):
        plain = {key: part for key, part in value.items() if isinstance(part, str | int | float | bool)}
        return {str(key)[:_TEXT_CHARS]: _short(part) for key, part in sorted(plain.items())[:50]}
    if isinstance(value, bool | int | float):
        return value
    return (value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))[:_TEXT_CHARS]


def _quantisation(entry: Mapping[str, Any], model: str) -> str | None:
    """How the server names the quantisation: in a field of its own, or in the name of the model or its file."""
    details = entry.get("details")
    level = details.get("quantization_level") if isinstance(details, dict) else None
    if named := entry.get("quantization") or level:
        return str(named)
    for name in (entry.get("root"), entry.get("id"), model):
        if isinstance(name, str) and (found := _QUANTISATION.search(Path(name).name)):
            return found.group()
    return None
