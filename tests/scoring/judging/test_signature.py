"""All that can change a judgement is in the signature: the prompt to the byte, parser, model, server; never the key."""

from __future__ import annotations

import hashlib
import json
import logging
import shutil
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from scoring.engine import score
from scoring.judging import fencing
from scoring.judging.client import Exchange, JudgeClient
from scoring.judging.demo import DemoJudge
from scoring.judging.errors import JudgeKeyMissing, JudgeRefused, PromptBroken
from scoring.judging.judge import Judge
from scoring.judging.naming import base_name
from scoring.judging.parsing import schema
from scoring.judging.prompt_files import FOLDER, load_prompt
from scoring.metrics import METRICS, RemoteMetric, load_metric
from scoring.models.profile import InvalidProfile, load_profile
from scoring.models.store import ModelStore
from scoring.report import report_as_json
from tests.scoring.judging.toys import ESSAY, GOOD, demo_judge, profile_for
from tests.scoring.memory_store import MemoryPairValues
from tests.scoring.texts import answer_file

KEY = "sk-geheim-0123456789"
REMOTE = [name for name, kind in METRICS.items() if issubclass(kind, RemoteMetric)]
REFERENCES, PREDICTIONS = answer_file([("a", ESSAY)]), answer_file([("a", GOOD)])


def judge_of(profile: Path) -> Judge:
    return Judge(load_profile(profile).judge_spec())


def signature_of(profile: Path, metric: str = "llm_judge") -> dict[str, Any]:
    return load_metric(metric, ModelStore(load_profile(profile), "cpu")).signature()


def test_one_byte_of_the_prompt_changes_the_signature_and_asks_anew(tmp_path: Path, server: DemoJudge) -> None:
    mine = tmp_path / "mine.toml"
    shutil.copy(FOLDER / "rationale-1.ko.toml", mine)
    profile = profile_for(tmp_path / "p.toml", server.url, prompts={"llm_judge": "mine.toml"})
    store, hashes = MemoryPairValues(), []
    for change in (b"", b"", b" "):
        mine.write_bytes(mine.read_bytes() + change)
        report = score("judged@1", REFERENCES, PREDICTIONS, store=ModelStore(profile, "cpu"), pair_values=store)
        hashes.append((report.signature_hash, report.metric_signatures["llm_judge"], server.stats.asked.total()))
    assert hashes[0] == hashes[1]
    assert hashes[1][0] != hashes[2][0]
    assert hashes[1][1] != hashes[2][1]
    assert [asked for _, _, asked in hashes] == [1, 1, 2]


@pytest.mark.parametrize(
    "keys",
    [
        {"model": "another"},
        {"temperature": 0.5},
        {"seed": 43},
        {"max_tokens": 401},
        {"max_chars": 5999},
        {"language": "en"},
        {"extra": {"chat_template_kwargs": {"enable_thinking": False}}},
    ],
    ids=lambda keys: next(iter(keys)),
)
def test_whatever_changes_a_request_changes_the_signature(keys: dict[str, Any], tmp_path: Path, judged: Path) -> None:
    url = load_profile(judged).judge_spec().base_url
    assert signature_of(profile_for(tmp_path / "other.toml", url, **keys)) != signature_of(judged)


@pytest.mark.parametrize(
    "keys", [{"timeout": 9}, {"retries": 1}, {"concurrency": 1}, {"max_requests": 9}, {"max_tokens_total": 99}]
)
def test_what_changes_no_judgement_changes_no_signature(keys: dict[str, Any], tmp_path: Path, judged: Path) -> None:
    url = load_profile(judged).judge_spec().base_url
    assert signature_of(profile_for(tmp_path / "other.toml", url, **keys)) == signature_of(judged)


def test_what_the_server_says_of_itself_is_in_the_signature(tmp_path: Path, judged: Path) -> None:
    one = signature_of(judged)
    assert one["server"]["model"]["id"] == "malpan-demo-judge"
    assert one["server"]["version"] == "1"
    assert "created" not in one["server"]["model"]  # the time of the request
    assert one["schema"] == schema("score")
    assert one["fencing"] == fencing.VERSION
    with demo_judge(quantisation="Q4_K_M") as other:
        two = signature_of(profile_for(tmp_path / "other.toml", other.url))
    assert two["server"]["quantisation"] == "Q4_K_M"
    assert {**two, "server": None} == {**one, "server": None}
    assert not {"http", "127.0.0.1"} & set(json.dumps(one).split('"'))


@pytest.mark.parametrize(
    ("models", "version", "expected"),
    [
        (  # vLLM: the time and the permissions are other ones at every request
            {"id": "Qwen/Qwen3-8B-AWQ", "created": 1, "root": "Qwen/Qwen3-8B-AWQ", "max_model_len": 40960,
             "permission": [{"id": "modelperm-1"}]},
            {"/version": {"version": "0.11.0"}},
            {"version": "0.11.0", "quantisation": "AWQ",
             "model": {"id": "Qwen/Qwen3-8B-AWQ", "root": "Qwen/Qwen3-8B-AWQ", "max_model_len": 40960}},
        ),
        (  # llama.cpp
            {"id": "Qwen3.6-35B-A3B-UD-Q4_K_XL.gguf", "created": 2, "owned_by": "llamacpp",
             "meta": {"n_params": 35, "n_ctx_train": 262144}},
            {"/props": {"build_info": "b6800-abc", "model_path": "/srv/x.gguf"}},
            {"version": "b6800-abc", "quantisation": "Q4_K_XL",
             "model": {"id": "Qwen3.6-35B-A3B-UD-Q4_K_XL.gguf", "owned_by": "llamacpp",
                       "meta": {"n_ctx_train": 262144, "n_params": 35}}},
        ),
        (  # Ollama
            {"id": "qwen3:8b", "created": 3, "owned_by": "library"},
            {"/api/version": {"version": "0.12.3"}},
            {"version": "0.12.3", "quantisation": None, "model": {"id": "qwen3:8b", "owned_by": "library"}},
        ),
    ],
    ids=["vllm", "llama.cpp", "ollama"],
)  # fmt: skip
def test_servers_name_themselves_in_their_own_ways(
    models: dict[str, Any], version: dict[str, Any], expected: dict[str, Any], tmp_path: Path
) -> None:
    answers = {"/v1/models": {"data": [{"id": "other"}, models]}, **version}

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            found = answers.get(self.path)
            body = json.dumps(found).encode()
            self.send_response(404 if found is None else 200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as running:
        Thread(target=running.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        url = f"http://127.0.0.1:{running.server_address[1]}/v1/"
        assert judge_of(profile_for(tmp_path / "p.toml", url, model=models["id"])).identity() == expected
        running.shutdown()


# --- the key ----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("name", "base"),
    [
        ("Qwen/Qwen3-8B", "Qwen/Qwen3-8B"),
        ("qwen3:8b", "qwen3:8b"),
        ("b6800-abc", "b6800-abc"),
        ("/srv/geheim/models/Qwen3-8B-AWQ/", "Qwen3-8B-AWQ"),
        ("~/geheim/x.gguf", "x.gguf"),
        ("./geheim/x", "x"),
        ("geheim/models/x", "x"),
        ("geheim/x-Q4_K_M.gguf", "x-Q4_K_M.gguf"),
        ("C:\\geheim\\x.gguf", "x.gguf"),
        ("file:///geheim/x.gguf", "x.gguf"),
        ("http://10.0.0.1:8000/geheim/x", "x"),
        ("/", "***"),
    ],
)
def test_a_path_is_reduced_to_its_base_name(name: str, base: str) -> None:
    assert base_name(name) == base


def test_no_path_and_no_secret_is_in_the_signature(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that names its model by a path and repeats the key; a profile with secrets in ``extra``."""
    monkeypatch.setenv("JUDGE_KEY", KEY)
    path = "/srv/geheim/models/Qwen3-8B-AWQ"
    entry = {
        "id": path, "root": path, "parent": "/srv/geheim/base", "owned_by": f"owner of {KEY}",
        "meta": {"file": "/srv/geheim/x.gguf", "note": "x" * 295 + KEY, "n": 8}, "details": [path, KEY],
    }  # fmt: skip
    said = {"/v1/models": {"data": [entry]}, "/version": {"version": f"1.0+{KEY}"}}
    monkeypatch.setattr(JudgeClient, "get", lambda _self, at: Exchange(said.get(at), status=200))
    extra = {
        "api_key": KEY,
        "template": "/srv/geheim/t.jinja",
        "top_k": 20,
        "nested": {"token": "geheim-2", "on": True},
    }

    def signature(**keys: Any) -> dict[str, Any]:
        given = {"model": path, "api_key_env": "JUDGE_KEY", "extra": extra} | keys
        return signature_of(profile_for(tmp_path / "p.toml", "http://127.0.0.1:9", **given))

    made = signature()
    text = json.dumps(made, ensure_ascii=False)
    assert not [each for each in ("geheim", KEY, KEY[:6], "/srv") if each in text]
    assert made["model"] == made["server"]["model"]["id"] == "Qwen3-8B-AWQ"
    assert made["server"]["quantisation"] == "AWQ"
    assert (made["extra"]["top_k"], made["extra"]["nested"]["on"]) == (20, 1)
    assert made["extra"]["template"] == f"sha256:{hashlib.sha256(b'/srv/geheim/t.jinja').hexdigest()[:16]}"
    assert signature() == made
    assert signature(extra=extra | {"template": "/srv/geheim/u.jinja"}) != made
    judge = judge_of(tmp_path / "p.toml")
    body = json.loads(judge.body(judge.prompt("llm_judge", "rationale-1"), {"reference": ESSAY, "candidate": GOOD}))
    assert (body["model"], body["template"]) == (path, "/srv/geheim/u.jinja")  # the server gets them as they are


def test_the_key_goes_to_the_server_and_nowhere_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    monkeypatch.setenv("JUDGE_KEY", KEY)
    seen: list[str | None] = []
    from scoring.judging import demo

    whole = demo._Handler.do_POST
    monkeypatch.setattr(
        demo._Handler, "do_POST", lambda self: (seen.append(self.headers.get("Authorization")), whole(self))[1]
    )
    with demo_judge() as server:
        profile = profile_for(tmp_path / "p.toml", server.url, api_key_env="JUDGE_KEY")
        store = ModelStore(profile, "cpu")
        report = score("judged@1", REFERENCES, PREDICTIONS, store=store)
        shown = [report_as_json(report), repr(store.judge), repr(store.profile), repr(vars(store)), caplog.text]
        monkeypatch.setattr("scoring.judging.demo.MAX_QUESTION_BYTES", 1)
        with pytest.raises(JudgeRefused) as caught:
            score("judged@1", REFERENCES, PREDICTIONS, store=store)
        shown.append(repr(caught.value) + str(caught.value) + repr(caught.value.__cause__))
    assert seen == [f"Bearer {KEY}"] * 2
    assert not [text for text in shown if KEY in text]


@pytest.mark.parametrize("value", [None, "", "  ", "키\n"])
def test_a_missing_key_says_which_variable(
    value: str | None, judged: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("JUDGE_KEY", raising=False)
    if value is not None:
        monkeypatch.setenv("JUDGE_KEY", value)
    profile = profile_for(tmp_path / "p.toml", "http://127.0.0.1:9", api_key_env="JUDGE_KEY")
    with pytest.raises(JudgeKeyMissing, match="JUDGE_KEY"):
        judge_of(profile).identity()


# --- the profile ------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("line", "key"),
    [
        ('base_url = "ftp://x"', "judge.base_url"),
        ('base_url = "http://user:secret@x"', "judge.base_url"),
        ('base_url = "http://x/?a=b"', "judge.base_url"),
        ('base_url = "x"', "judge.base_url"),
        ('base_url = "http://x"\nbase_url_env = "X"', "judge.base_url"),
        ('base_url = "http://x"\ntemprature = 0', "judge.temprature"),
        ('base_url = "http://x"\ntemperature = 3', "judge.temperature"),
        ('base_url = "http://x"\ntemperature = true', "judge.temperature"),
        ('base_url = "http://x"\nconcurrency = 0', "judge.concurrency"),
        ('base_url = "http://x"\nconcurrency = 1.5', "judge.concurrency"),
        ('base_url = "http://x"\nparser = 2', "judge.parser"),
        ('base_url = "http://x"\nparser = true', "judge.parser"),
        ('base_url = "http://x"\nlanguage = "de"', "judge.language"),
        ('base_url = "http://x"\nprompts = {llm_judge = 1}', "judge.prompts"),
        ('base_url = "http://x"\nextra = {model = "x"}', "judge.extra"),
        ('base_url = "http://x"\nextra = {when = 2026-01-01}', "judge.extra"),
        (f'base_url = "http://x"\napi_key_env = "{KEY}"', "judge.api_key_env"),
    ],
)
def test_a_wrong_section_is_refused_by_its_key(line: str, key: str, tmp_path: Path) -> None:
    path = tmp_path / "p.toml"
    path.write_text(f'name = "p"\n[judge]\nmodel = "m"\n{line}\n', encoding="utf-8")
    with pytest.raises(InvalidProfile) as caught:
        load_profile(path)
    assert caught.value.params["key"] == key
    assert KEY not in str(caught.value)
    assert "secret" not in str(caught.value)


def test_the_defaults_are_greedy_and_seeded(judged: Path) -> None:
    judge = judge_of(judged)
    body = judge.body(judge.prompt("llm_judge", "rationale-1"), {"reference": ESSAY, "candidate": GOOD})
    request = json.loads(body)
    assert (request["temperature"], request["seed"], request["stream"]) == (0.0, 42, False)
    assert request["response_format"]["json_schema"]["schema"] == schema("score")


def test_without_an_address_in_the_environment_the_demo_profile_has_no_judge(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MALPAN_DEMO_JUDGE_URL", raising=False)
    assert load_profile("demo").judge is None
    monkeypatch.setenv("MALPAN_DEMO_JUDGE_URL", "http://127.0.0.1:9")
    assert load_profile("demo").judge_spec().base_url == "http://127.0.0.1:9"


def test_a_score_without_a_judge_says_so() -> None:
    report = score("judged@1", REFERENCES, PREDICTIONS, profile="")
    assert "llm_judge" not in report.scores
    assert [each.code for each in report.warnings if each.code.startswith("llm_judge")] == ["llm_judge_not_configured"]


def test_what_the_demo_judge_scored_says_that_it_is_a_demo(server: DemoJudge, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MALPAN_DEMO_JUDGE_URL", server.url)
    report = score("judged@1", REFERENCES, PREDICTIONS, profile="demo", device="cpu")
    assert report.signature["about"]["is_demo"] is True
    codes = [each.code for each in report.warnings]
    assert ("demo_judge" in codes, "demo_models" in codes) == (True, False), "no BERTScore or BLEURT took part"
    assert report.scores["llm_judge"] > 0


def test_the_demo_judge_is_a_demo_under_any_profile(judged: Path, tmp_path: Path, server: DemoJudge) -> None:
    for keys, is_demo in (({}, True), ({"model": "another"}, False)):
        profile = profile_for(tmp_path / "p.toml", server.url, **keys)
        report = score("judged@1", REFERENCES, PREDICTIONS, store=ModelStore(profile, "cpu"))
        assert report.signature["about"]["is_demo"] is is_demo


# --- prompt files -----------------------------------------------------------------------------------------------------
def test_every_prompt_is_there_in_both_languages_and_sound() -> None:
    names = {path.name.rsplit(".", 2)[0] for path in FOLDER.glob("*.toml")}
    assert names == {"rationale-1", "fluency-1", "faithfulness-1", "preference-1"}
    for name in names:
        korean, english = (load_prompt(FOLDER / f"{name}.{language}.toml") for language in ("ko", "en"))
        assert (korean.id, korean.language, english.id, english.language) == (name, "ko", name, "en")
        assert (korean.task, korean.roles) == (english.task, english.roles)
        assert set(korean.roles) <= {"reference", "candidate", "first", "second"}
        if korean.task == "score":  # an anchor for every score
            for text in (korean.system, english.system):
                assert [line[0] for line in text.splitlines() if line[1:2] == ":"] == list("54321")
    assert {METRICS[name].built_in_prompt for name in REMOTE} <= names  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace("{fence}", "fence"),
        lambda text: text.replace('task = "score"', 'task = "grade"'),
        lambda text: text.replace('roles = ["reference", "candidate"]', 'roles = ["reference", "system"]'),
        lambda text: text.replace('roles = ["reference", "candidate"]', "roles = []"),
        lambda text: text.replace('roles = ["reference", "candidate"]', 'roles = ["reference"]'),
        lambda text: text.replace('roles = ["reference", "candidate"]', 'roles = ["candidate", "first"]'),
        lambda text: text.replace('task = "score"', 'task = "choice"'),
        lambda text: text.replace("closing =", "ending ="),
        lambda text: text[:-1],
        lambda text: text + "x" * 100_000,
    ],
)
def test_a_broken_prompt_is_refused(change: Any, tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(change((FOLDER / "rationale-1.en.toml").read_text("utf-8")).rstrip('"'), encoding="utf-8")
    with pytest.raises(PromptBroken, match=r"mine\.toml"):
        load_prompt(path)
    with pytest.raises(PromptBroken):
        load_prompt(tmp_path / "missing.toml")


def test_a_prompt_of_another_task_is_refused_before_anything_is_asked(tmp_path: Path, server: DemoJudge) -> None:
    prompts = {"judge_fluency": str(FOLDER / "preference-1.ko.toml"), "preference": str(FOLDER / "fluency-1.ko.toml")}
    judge = Judge(load_profile(profile_for(tmp_path / "p.toml", server.url, prompts=prompts)).judge_spec())
    for metric, own in (("judge_fluency", "fluency-1"), ("preference", "preference-1")):
        with pytest.raises(PromptBroken, match="task"):
            judge.prompt(metric, own)
    assert judge.prompt("judge_faithfulness", "faithfulness-1").task == "score"
    assert server.stats.asked.total() == 0
