"""The site's settings, on embedded PostgreSQL and Redis that test runs share; they stop after the last run.

This module starts them because pytest-django reads the settings before any conftest.
"""

import os
from pathlib import Path

from malpan.local import embedded, environment

_ROOT = Path(__file__).resolve().parents[1]
_VAR = Path(os.environ.get("MALPAN_TEST_VAR") or _ROOT / "var" / "test")

if "PYTEST_XDIST_WORKER" in os.environ:  # the processes share the cores; torch would take all of them in each
    os.environ.setdefault("OMP_NUM_THREADS", "1")
environment.provide_java()
embedded.provide(_VAR, durable=False)
os.environ.setdefault("MALPAN_VAR", str(_VAR))
(_VAR / "static").mkdir(exist_ok=True)

from malpan.settings import *  # noqa: E402,F403 (they are read from the environment completed above)
from malpan.settings import CACHES, DATABASES  # noqa: E402

# each process has a database (tests.database) and cache keys of its own, so that two runs at once do not meet
CACHES["default"] |= {"BACKEND": "tests.caches.OwnKeysRedisCache", "KEY_PREFIX": f"test-{os.getpid()}"}
DATABASES["default"].setdefault("OPTIONS", {}).update(
    options="-c lock_timeout=60s",  # a test that waits for a lock which nobody gives back fails, and the run goes on
    connect_timeout=60,  # the server of the tests does not hang: it shares two cores with all of them
)
CHECK_LOCK_ORDER = True
API_REQUESTS_PER_TOKEN = API_REQUESTS_PER_ADDRESS = API_UPLOADS_PER_TEAM = 0  # tests of limits set them
CHAIN_DOWNLOADS_PER_ADDRESS = BOARD_DOWNLOADS_PER_ADDRESS = ITEM_LISTS_PER_PERSON = 0
WHITENOISE_AUTOREFRESH = True  # static files are looked up when asked for; else every new client reads them all
CELERY_BROKER_URL = "memory://"  # tests that need a queue start a stack of their own: tests/system
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
EMAIL_BACKEND = MAIL_TRANSPORT = "django.core.mail.backends.locmem.EmailBackend"
MAILS_ARE_PRINTED = False
