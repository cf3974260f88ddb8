# 말판 / Malpan. `make` alone lists the targets.
# the system's own where it is new enough and can make environments: distributions build it optimised, and one built
# without, as pyenv does, takes a third longer for everything
NEW_ENOUGH := import ensurepip, sys; sys.exit(sys.version_info < (3, 11))
PYTHON ?= $(or $(shell for each in /usr/bin/python3 python3; do \
  $$each -c '$(NEW_ENOUGH)' 2>/dev/null && echo $$each && break; done),python3)
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --disable-pip-version-check --quiet
RUN_STAMP := $(VENV)/.installed-run
TEST_STAMP := $(VENV)/.installed-test
# the whole suite runs in a process for each core and two more, as some wait (at most four, 2 GB each); a selection in
# one: TESTS=tests/web
WORKERS ?= $(shell n=$$(nproc 2>/dev/null || echo 1); echo $$((n < 2 ? n + 2 : 4)))
SHARED := $(if $(TESTS),,-n $(WORKERS) --dist loadfile --no-loadscope-reorder)
# what tests/deploy and tests/system/test_deployed.py ask; Debian keeps nginx where only administrators look
DEPLOY_TOOLS := nginx systemd-analyze openssl prometheus promtool
CHROMIUM := $(shell command -v chromium-headless-shell || command -v chromium || command -v chromium-browser || \
  command -v google-chrome)
lint: export MALPAN_VAR := $(CURDIR)/var/test
# compiled once, not in each of the hundreds of processes of the tests
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help run test chaos fuzz mutation openapi appearance lint lint-types lint-rest tests-compiled bench bench-gpu clean
.PHONY: browser-present deploy-tools-present

help: ## 이 목록을 보여 준다 / show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-9s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
	@echo
	@echo "  설정은 환경 변수로, 모두 deploy/env.example에 / settings are variables, all in deploy/env.example: PORT=8001 make run"

run: $(RUN_STAMP) ## 사이트를 실행한다: 설치, 데모, 채점기까지 (Ctrl-C로 끝) / run the whole site (Ctrl-C stops it)
	@exec $(BIN)/python manage.py up

test: BESIDE := $(if $(TESTS),,tests-compiled)
test: browser-present deploy-tools-present lint ## 모든 검사와 시험을 돌린다 / run every check and test
	@$(BIN)/python -m pytest $(SHARED) $(TESTS)

chaos: $(TEST_STAMP) ## 사이트를 30분 동안 끊고 멈추며 잃은 제출이 없는지 본다 / half an hour of faults (SEED=7 SECONDS=600)
	@$(BIN)/python -m tests.chaos $(if $(SEED),--seed $(SEED)) $(if $(SECONDS),--seconds $(SECONDS))

fuzz: $(TEST_STAMP) ## 망가진 파일과 요청 10만 건을 올려 본다 / 100,000 broken files and requests (UPLOADS=1000 SEED=7 KIND=api KEEP=folder)
	@$(BIN)/python -m tests.fuzz $(if $(UPLOADS),--uploads $(UPLOADS)) $(if $(SEED),--seed $(SEED)) \
	  $(if $(KIND),--kind $(KIND)) $(if $(KEEP),--keep $(KEEP))

mutation: $(TEST_STAMP) ## 규칙을 한 곳씩 틀리게 바꾸어 시험이 알아채는지 본다 / change the rules one by one: do tests notice (MODULE=ranking)
	@$(BIN)/python -m tests.mutation $(if $(MODULE),--module $(MODULE)) $(MUTATION)

openapi: $(TEST_STAMP) ## API 문서를 지금의 코드로 다시 펴낸다: 깨지는 변경이면 거부 / release the API's document, unless it breaks programs
	@$(BIN)/python -m tests.api.release

appearance: browser-present $(TEST_STAMP) ## 모든 화면을 브라우저로 열어 접근성과 폭을 살핀다 / open every page in a browser: axe, widths (PICTURES=folder)
	@$(BIN)/python -m tests.appearance $(if $(PICTURES),--pictures $(PICTURES))

lint: $(TEST_STAMP) ## 형식, 타입, 의존 방향, 템플릿, 마이그레이션, 번역을 검사한다 / check style, types, contracts, catalogues
	@$(MAKE) --no-print-directory --jobs=2 --output-sync=target lint-types lint-rest $(BESIDE)

lint-types: # takes longest: in parallel, the others cost no time
	@$(BIN)/mypy scoring platform/malpan platform/malpan_client

lint-rest:
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/lint-imports
	@$(BIN)/djlint platform/malpan/web/templates --lint --check --quiet
	@$(BIN)/python manage.py makemigrations --check --dry-run
	@$(BIN)/python manage.py update_messages --check

# pytest rewrites every assertion before it compiles, and imports much: once here, not in all of its processes at once.
# What is wrong with the tests they say themselves.
tests-compiled: $(VENV)/.tests-compiled

$(VENV)/.tests-compiled: $(TEST_STAMP) $(shell find platform scoring tests -name '*.py')
	@$(BIN)/python -m pytest --collect-only -q >/dev/null || true
	@touch $@

bench: $(TEST_STAMP) ## 실제 크기의 모델로 다른 구현과 시간을 견준다 / time scoring against other implementations
	@$(BIN)/python -m tests.benchmarks

bench-gpu: $(TEST_STAMP) ## GPU에서 정밀도별 처리량과 이용률을 잰다 / measure throughput and utilisation on a GPU
	@$(BIN)/python -m tests.benchmarks gpu

clean: ## 설치한 것과 캐시를 지운다(var의 데이터는 남긴다) / remove the installation and caches, never var/
	@rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .import_linter_cache
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +

browser-present:
	@test -n "$(CHROMIUM)" || { \
	  echo "브라우저가 없습니다. 브라우저 시험에는 Chromium이 필요합니다: apt-get install chromium-headless-shell fonts-noto-cjk"; \
	  echo "No browser found. The browser tests need Chromium: apt-get install chromium-headless-shell fonts-noto-cjk"; exit 1; }

deploy-tools-present:
	@for tool in $(DEPLOY_TOOLS); do PATH=$$PATH:/usr/sbin command -v $$tool >/dev/null || { \
	  echo "$$tool: 없습니다. 배포 파일의 시험에 필요합니다: apt-get install nginx-light systemd openssl prometheus"; \
	  echo "$$tool: not found. The tests of deploy/ need it: apt-get install nginx-light systemd openssl prometheus"; exit 1; }; done

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "Python 3.11 이상이 필요합니다: make PYTHON=python3.11 $(MAKECMDGOALS)"; \
	  echo "Python 3.11 or later is needed: make PYTHON=python3.11 $(MAKECMDGOALS)"; exit 1; }
	@$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); \
	  echo "가상 환경을 만들지 못했습니다: apt-get install python3-venv"; \
	  echo "Could not make a virtual environment: apt-get install python3-venv"; exit 1; }

$(RUN_STAMP): requirements.txt requirements-web.txt constraints.txt pyproject.toml | $(BIN)/python
	@echo "설치하는 중입니다. 처음에는 2 GB쯤 받아 풀므로 몇 분 동안 아무 말이 없습니다."
	@echo "Installing: the first time some 2 GB are fetched and unpacked, in silence for some minutes."
	@$(PIP) -r requirements.txt
	@$(PIP) --no-deps --editable .
	@touch $@

$(TEST_STAMP): requirements.txt requirements-web.txt requirements-test.txt constraints.txt pyproject.toml | $(BIN)/python
	@echo "시험 도구를 설치하는 중입니다. / installing what the tests need."
	@$(PIP) --no-compile -r requirements-test.txt # most is never imported, the rest is compiled then: 40 s less
	@$(PIP) --no-deps --editable .
	@touch $(RUN_STAMP) $@
