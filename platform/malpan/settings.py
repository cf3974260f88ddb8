"""All settings, read from the environment. Unset means the local default: embedded services under var/."""

import logging
import os
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import environ
from celery.schedules import crontab
from csp.constants import NONE, SELF
from django.core.exceptions import ImproperlyConfigured
from redis.backoff import NoBackoff
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.retry import Retry

BASE_DIR = Path(__file__).resolve().parents[2]


class Env(environ.Env):
    """The environment; a value that cannot be read is refused by its name."""

    def get_value(self, var: str, *arguments: Any, **options: Any) -> Any:
        """As environ's. Raises ``ImproperlyConfigured``."""
        try:
            return super().get_value(var, *arguments, **options)
        except ValueError as error:
            raise ImproperlyConfigured(f"{var} cannot be read: {error}. Mend it and start again.") from error


env = Env()

# The variable DEBUG distinguishes the local default from production. Django's own debug pages stay off in both: they
# show local variables, and those can be reference answers.
LOCAL = env.bool("DEBUG", default=True)
DEBUG = False
VAR_DIR = Path(env.str("MALPAN_VAR", default=str(BASE_DIR / "var"))).resolve()

if not LOCAL:
    required = ("SECRET_KEY", "DATABASE_URL", "REDIS_URL", "SITE_URL")
    missing = [name for name in required if not env.str(name, default="")]
    if missing:
        raise ImproperlyConfigured(f"DEBUG is off and {', '.join(missing)} is not set. Set it and start again.")

# manage.py sets one made for this site; the default is for processes started without it
SECRET_KEY = env.str("SECRET_KEY", default="local-default-key-never-used-in-production")
SITE_URL = env.str("SITE_URL", default="http://127.0.0.1:8000")
ALLOWED_HOSTS = env.list("ALLOWED_HOSTS", default=["localhost", "127.0.0.1", "[::1]", urlsplit(SITE_URL).hostname])
CSRF_TRUSTED_ORIGINS = env.list("CSRF_TRUSTED_ORIGINS", default=[])
CSRF_FAILURE_VIEW = "malpan.web.pages.refused_forms.refused_form_page"

INSTALLED_APPS = [
    "malpan.core",
    "malpan.accounts",
    "malpan.notifications",
    "malpan.competitions",
    "malpan.teams",
    "malpan.jobs",
    "malpan.submissions",
    "malpan.leaderboard",
    "malpan.arena",
    "malpan.stages",
    "malpan.privacy",
    "malpan.archive",
    "malpan.demo",
    "malpan.web",
    "malpan.local",
    "malpan.operation",
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.postgres",
    "django.forms",  # the templates of its widgets, for FORM_RENDERER
    "allauth",
    "allauth.account",
    "csp",
    "django_htmx",
]

# as an app it would load its checks, and a resolver of names for them, in every process: only the web server needs it
_HEALTH = find_spec("health_check")
_HEALTH_PAGES = [Path(folder) / "templates" for folder in (_HEALTH and _HEALTH.submodule_search_locations) or ()]

MIDDLEWARE = [
    "malpan.middleware.RequestIdMiddleware",  # first: every line about a request names it
    "malpan.operation.metrics.http.CountRequestsMiddleware",
    "malpan.middleware.OperatorsByAddressMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.middleware.http.ConditionalGetMiddleware",  # a board that has not changed is not sent again
    "csp.middleware.CSPMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "malpan.web.middleware.LanguageByAddressMiddleware",
    "django.middleware.common.CommonMiddleware",
    "malpan.web.middleware.UnreadFilesMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "malpan.middleware.CharsetMiddleware",
    "malpan.web.middleware.PersonalPagesMiddleware",
    "malpan.web.middleware.ErrorPagesMiddleware",  # last, so that its pages pass through all the others
]

ROOT_URLCONF = "malpan.urls"
WSGI_APPLICATION = "malpan.wsgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "platform/malpan/web/templates", *_HEALTH_PAGES],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.template.context_processors.i18n",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    },
]

FORM_RENDERER = "malpan.web.forms.rendering.FormRenderer"

# --- services -------------------------------------------------------------------------------------------------------
# manage.py sets both variables from the embedded servers when they are absent in the local default.
DATABASES = {
    "default": env.db_url("DATABASE_URL", default="postgresql://postgres@/malpan", engine="malpan.core.database")
}
if urlsplit(os.environ.get("DATABASE_URL", "postgresql:")).scheme not in {"postgresql", "postgres", "pgsql", "psql"}:
    raise ImproperlyConfigured("DATABASE_URL must be postgresql://user:password@host/name. Mend it and start again.")
DATABASES["default"]["CONN_MAX_AGE"] = env.int("CONN_MAX_AGE", default=60)
DATABASES["default"]["CONN_HEALTH_CHECKS"] = True
REDIS_SECONDS = 2.0  # an answer takes less than a millisecond
REDIS_URL = env.str("REDIS_URL", default="redis://127.0.0.1:6379/0")
CACHES = {
    "default": {
        "BACKEND": "django.core.cache.backends.redis.RedisCache",
        "LOCATION": REDIS_URL,
        # a Redis that hangs costs a thread so many seconds; a connection that broke meanwhile is made once more
        "OPTIONS": {
            "socket_connect_timeout": REDIS_SECONDS,
            "socket_timeout": REDIS_SECONDS,
            "retry": Retry(NoBackoff(), 1, supported_errors=(RedisConnectionError,)),
        },
    },
    "fragments": {  # rendered parts of pages, about 100 KB each (web.fragments)
        "BACKEND": "django.core.cache.backends.locmem.LocMemCache",
        "LOCATION": "fragments",
        "TIMEOUT": 3600,
        "OPTIONS": {"MAX_ENTRIES": 200},
    },
    "lines": {  # of tables, about 2 KB each: of a table that changed, the others are as they were
        "BACKEND": "django.core.cache.backends.locmem.LocMemCache",
        "LOCATION": "lines",
        "TIMEOUT": 3600,
        "OPTIONS": {"MAX_ENTRIES": 5000},
    },
}

# kombu and redis-py use different schemes for a Unix socket
CELERY_BROKER_URL = REDIS_URL.replace("unix://", "redis+socket://").replace("?db=", "?virtual_host=")
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_TRANSPORT_OPTIONS = {
    "visibility_timeout": 3600,  # rarely used: the reconciler finds lost jobs sooner
    # an upload does not wait for a broker that is down or hangs (for ever otherwise): beat rings later
    "socket_connect_timeout": REDIS_SECONDS,
    "socket_timeout": REDIS_SECONDS,
    "socket_keepalive": True,
    "health_check_interval": 5,  # a consumer notices a dead connection within 11 s
    "max_retries": 1,
    "interval_start": 0,
    "interval_step": 0,
    "interval_max": 0,
}
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
# a short failure of the broker must not end a healthy job: the lease in the database covers a lost worker
CELERY_WORKER_CANCEL_LONG_RUNNING_TASKS_ON_CONNECTION_LOSS = False
CELERY_TASK_DEFAULT_QUEUE = "housekeeping"
WORK_QUEUE = "scoring"
CELERY_TASK_ROUTES = {"malpan.jobs.tasks.work": {"queue": WORK_QUEUE}}
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_PROC_ALIVE_TIMEOUT = 600  # a child loads its models before it reports for work
CELERY_WORKER_SOFT_SHUTDOWN_TIMEOUT = 5  # seconds for a stopped worker to finish a short run; a long one is requeued
CELERY_WORKER_REDIRECT_STDOUTS = False
CELERY_WORKER_ENABLE_REMOTE_CONTROL = False  # nothing uses it, and it keeps every worker subscribed to a broadcast
CELERY_WORKER_SEND_TASK_EVENTS = False
CELERY_TIMEZONE = "Asia/Seoul"
CELERY_BEAT_SCHEDULE = {
    "look-for-work": {"task": "malpan.jobs.tasks.look_for_work", "schedule": 5.0, "options": {"expires": 4}},
    "compute-standings": {
        "task": "malpan.leaderboard.tasks.compute_standings",
        "schedule": 5.0,
        "options": {"expires": 4},
    },
    "apply-ordered-rescorings": {
        "task": "malpan.leaderboard.tasks.apply_ordered",
        "schedule": 5.0,
        "options": {"expires": 4},
    },
    "deliver-letters": {
        "task": "malpan.notifications.tasks.deliver",
        "schedule": 5.0,
        "options": {"expires": 4},
    },
    "deliver-webhooks": {
        "task": "malpan.notifications.tasks.deliver_webhooks",
        "schedule": 5.0,
        "options": {"expires": 4},
    },
    "tell-what-is-due": {
        "task": "malpan.teams.tasks.tell_due",
        "schedule": 30.0,
        "options": {"expires": 29},
    },
    "remind-judges": {
        "task": "malpan.arena.tasks.remind_due",
        "schedule": 300.0,
        "options": {"expires": 290},
    },
    "prune-pair-values": {
        "task": "malpan.submissions.tasks.prune_pair_values",
        "schedule": 300.0,
        "options": {"expires": 290},
    },
    "remove-unfinished-files": {
        "task": "malpan.submissions.tasks.remove_unfinished_files",
        "schedule": 3600.0,
        "options": {"expires": 3500},
    },
    "collect-files": {
        "task": "malpan.submissions.tasks.collect_files",
        "schedule": crontab(hour=4, minute=30),
        "options": {"expires": 3500},
    },
    "note-beat": {"task": "malpan.operation.tasks.note_beat", "schedule": 30.0, "options": {"expires": 29}},
    "follow-alarms": {"task": "malpan.operation.tasks.follow_alarms", "schedule": 60.0, "options": {"expires": 55}},
    "let-go-of-personal-data": {
        "task": "malpan.privacy.tasks.let_go",
        "schedule": crontab(hour=4, minute=0),
        "options": {"expires": 3500},
    },
}

CHECK_LOCK_ORDER = False  # on in the tests: an error if the order of malpan.core.locks is broken

# --- web server -----------------------------------------------------------------------------------------------------
WEB_WORKERS = env.int("WEB_WORKERS", default=min(2, os.cpu_count() or 1))  # processes that `manage.py up` starts
WEB_THREADS = env.int("WEB_THREADS", default=4)  # of each
WEB_CONNECTIONS = env.int("WEB_CONNECTIONS", default=1000)  # of each; more wait to be accepted
WEB_STALL_SECONDS = env.int("WEB_STALL_SECONDS", default=20)
WEB_REQUEST_SECONDS = env.int("WEB_REQUEST_SECONDS", default=120)

# --- scoring --------------------------------------------------------------------------------------------------------
# The profile of the models: a name under scoring/profiles or a path. The demo models are the local default only.
SCORING_PROFILE = env.str("SCORING_PROFILE", default="demo" if LOCAL else "official")
LOAD_DEMO = env.bool("LOAD_DEMO", default=LOCAL)  # `manage.py up` fills an empty site with the demo competitions
SCORING_DEVICE = env.str("SCORING_DEVICE", default="auto")
# a worker that says nothing for so long has lost its job; so long it tries again itself where the database is away
JOB_LEASE_SECONDS = env.int("JOB_LEASE_SECONDS", default=30)
JOB_MAX_FAILURES = 3
# a scoring process that says nothing for so long is an alarm on the pages and in /healthz/
SCORER_SILENCE_SECONDS = env.int("SCORER_SILENCE_SECONDS", default=60)
JUDGE_WAIT_SECONDS = env.int("JUDGE_WAIT_SECONDS", default=6 * 60 * 60)
SCORING_WORKERS = env.int("SCORING_WORKERS", default=1)  # how many `manage.py up` starts
SCORING_THREADS = env.int("SCORING_THREADS", default=0)  # for each of them; 0: they share the processors
# the index of this worker on its machine, from 0: with several GPUs each uses another
SCORING_WORKER_NUMBER = env.int("SCORING_WORKER_NUMBER", default=0)
# The values of a run with more unknown items than this are computed ahead by all workers, in slices of SLICE_ITEMS
LARGE_RUN_ITEMS = env.int("LARGE_RUN_ITEMS", default=8000)
SLICE_ITEMS = env.int("SLICE_ITEMS", default=2000)
# values of pairs kept for later files with the same pairs, about 190 bytes each on disk; 0: none, and no slices
PAIR_VALUES_MAX_ROWS = env.int("PAIR_VALUES_MAX_ROWS", default=5_000_000)

# --- files ----------------------------------------------------------------------------------------------------------
PRIVATE_ROOT = Path(env.str("PRIVATE_ROOT", default=str(VAR_DIR / "private")))
# s3://bucket/prefix keeps private files in a store that speaks S3; unset, they are on the disk, in PRIVATE_ROOT
MALPAN_STORAGE = env.str("MALPAN_STORAGE", default="")
S3_ENDPOINT = env.str("S3_ENDPOINT", default="")
S3_REGION = env.str("S3_REGION", default="us-east-1")
S3_ACCESS_KEY = env.str("S3_ACCESS_KEY", default="")
S3_SECRET_KEY = env.str("S3_SECRET_KEY", default="")
S3_PUBLIC_ENDPOINT = env.str("S3_PUBLIC_ENDPOINT", default="")
if MALPAN_STORAGE and (urlsplit(MALPAN_STORAGE).scheme != "s3" or not urlsplit(MALPAN_STORAGE).netloc):
    raise ImproperlyConfigured(
        f"MALPAN_STORAGE is {MALPAN_STORAGE}, but must be s3://bucket/prefix. Mend it or unset it."
    )
COMPETITION_STORAGE_BYTES = env.int(
    "COMPETITION_STORAGE_BYTES", default=0
)  # of one without a limit of its own; 0: none
UPLOAD_MAX_BYTES = env.int("UPLOAD_MAX_BYTES", default=20 * 1024 * 1024)
LARGE_CHECKS = env.int("LARGE_CHECKS", default=2)  # large files in hand at a time in each web process
CHECK_SECONDS = env.int("CHECK_SECONDS", default=60)  # for the check of one
# rejected files in ten minutes, after which one more is checked in each such share of ten minutes
REJECTIONS_PER_TEAM = env.int("REJECTIONS_PER_TEAM", default=20)
REJECTIONS_PER_ADDRESS = env.int("REJECTIONS_PER_ADDRESS", default=300)
# requests to the API in a minute; uploads also of a person through the page; 0: any number. An address is an IPv4 one
# or the /64 of an IPv6 one (core.limits.network_of)
API_REQUESTS_PER_TOKEN = env.int("API_REQUESTS_PER_TOKEN", default=600)
API_REQUESTS_PER_ADDRESS = env.int("API_REQUESTS_PER_ADDRESS", default=3000)
API_UPLOADS_PER_TEAM = env.int("API_UPLOADS_PER_TEAM", default=60)
CHAIN_DOWNLOADS_PER_ADDRESS = env.int("CHAIN_DOWNLOADS_PER_ADDRESS", default=60)  # in a minute; 0: any number
BOARD_DOWNLOADS_PER_ADDRESS = env.int("BOARD_DOWNLOADS_PER_ADDRESS", default=30)  # whole boards as CSV, as above
ITEM_LISTS_PER_PERSON = env.int("ITEM_LISTS_PER_PERSON", default=120)  # pages of own items, compared or not, as above
IMPORT_MAX_BYTES = 2 * 1024**3  # of an archive, through the browser; `manage.py import_competition` takes any
DATA_UPLOAD_MAX_MEMORY_SIZE = 2 * 1024 * 1024
FILE_UPLOAD_MAX_MEMORY_SIZE = 2 * 1024 * 1024
FILE_UPLOAD_HANDLERS = [
    "malpan.core.uploads.CappedUploadHandler",  # first: nothing above UPLOAD_MAX_BYTES reaches memory or disk
    "django.core.files.uploadhandler.MemoryFileUploadHandler",
    "django.core.files.uploadhandler.TemporaryFileUploadHandler",
]
STATIC_URL = "/static/"
STATIC_ROOT = VAR_DIR / "static"
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {
        "BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage"
        if not LOCAL
        else "django.contrib.staticfiles.storage.StaticFilesStorage"
    },
}
WHITENOISE_USE_FINDERS = LOCAL

# --- people ---------------------------------------------------------------------------------------------------------
AUTH_USER_MODEL = "accounts.User"
SESSION_ENGINE = "malpan.accounts.sessions"
AUTHENTICATION_BACKENDS = ["allauth.account.auth_backends.AuthenticationBackend"]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in (
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
        "NumericPasswordValidator",
    )
]
ACCOUNT_USER_MODEL_USERNAME_FIELD = None
ACCOUNT_LOGIN_METHODS = {"email"}
ACCOUNT_SIGNUP_FIELDS = ["email*", "password1*", "password2*"]
ACCOUNT_EMAIL_VERIFICATION = env.str("EMAIL_VERIFICATION", default="mandatory")
ACCOUNT_UNIQUE_EMAIL = True
ACCOUNT_ADAPTER = "malpan.web.account_adapter.AccountAdapter"
ACCOUNT_FORMS = {
    "add_email": "malpan.web.forms.accounts.AddEmailForm",
    "change_password": "malpan.web.forms.accounts.ChangePasswordForm",
    "login": "malpan.web.forms.accounts.LoginForm",
    "reauthenticate": "malpan.web.forms.accounts.ReauthenticateForm",
    "reset_password": "malpan.web.forms.accounts.ResetPasswordForm",
    "reset_password_from_key": "malpan.web.forms.accounts.ResetPasswordKeyForm",
    "set_password": "malpan.web.forms.accounts.SetPasswordForm",
    "signup": "malpan.web.forms.accounts.SignupForm",
}
# A school is one address: a room of 40 people who each mistype twice or log in at once is not kept out. As many guesses
# an hour as with allauth's own 10 in a minute; each log-in costs a third of a second of a processor.
LOGIN_FAILURES_PER_ACCOUNT = env.int("LOGIN_FAILURES_PER_ACCOUNT", default=5)  # in five minutes, by account and address
LOGIN_FAILURES_PER_ADDRESS = env.int("LOGIN_FAILURES_PER_ADDRESS", default=100)  # in ten minutes
LOGINS_PER_ADDRESS = env.int("LOGINS_PER_ADDRESS", default=60)  # tries in a minute, right or wrong
ACCOUNT_RATE_LIMITS = {
    "login_failed": f"{LOGIN_FAILURES_PER_ACCOUNT}/5m/key,{LOGIN_FAILURES_PER_ADDRESS}/10m/ip",
    "login": f"{LOGINS_PER_ADDRESS}/m/ip",
}
# log-ins are limited by address; behind proxies that is the address they report, not that of the last proxy
ALLAUTH_TRUSTED_PROXY_COUNT = env.int("TRUSTED_PROXY_COUNT", default=0)
ACCOUNT_SESSION_REMEMBER = True
ACCOUNT_LOGOUT_ON_GET = False
LOGIN_URL = "account_login"
LOGIN_REDIRECT_URL = "home"
ACCOUNT_LOGOUT_REDIRECT_URL = "home"
EMAIL_CONFIG = env.email_url("EMAIL_URL", default="consolemail://")
EMAIL_TIMEOUT = 15  # seconds that a mail server which hangs costs a thread
vars().update(EMAIL_CONFIG)
MAILS_ARE_PRINTED = EMAIL_CONFIG["EMAIL_BACKEND"].endswith("console.EmailBackend")
MAIL_TRANSPORT = "malpan.core.printed_mail.EmailBackend" if MAILS_ARE_PRINTED else EMAIL_CONFIG["EMAIL_BACKEND"]
EMAIL_BACKEND = "malpan.core.mail_state.EmailBackend"  # notes whether mails go
DEFAULT_FROM_EMAIL = env.str("DEFAULT_FROM_EMAIL", default="말판 <noreply@localhost>")
SERVER_EMAIL = DEFAULT_FROM_EMAIL
DAILY_MAIL_HOUR = env.int("DAILY_MAIL_HOUR", default=8)  # in Korea, from which on mails of the day are sent
if not 0 <= DAILY_MAIL_HOUR <= 23:
    raise ImproperlyConfigured("DAILY_MAIL_HOUR must be 0 to 23. Mend it and start again.")
SITE_OPERATOR = env.str("SITE_OPERATOR", default="")  # who answers for the site and its personal data
SITE_CONTACT = env.str("SITE_CONTACT", default="")  # their address
CERTIFICATE_FONT = env.str("CERTIFICATE_FONT", default="")  # file, or file#number of a collection (web.certificate)
ADMINS = [(address, address) for address in env.list("ADMINS", default=[])]  # mailed when a run was given up

# how long personal data stay that nobody needs any more (privacy.retention); 0: for ever
RETENTION_UNCONFIRMED_DAYS = env.int("RETENTION_UNCONFIRMED_DAYS", default=30)
RETENTION_INVITATION_DAYS = env.int("RETENTION_INVITATION_DAYS", default=90)
RETENTION_REJECTION_DAYS = env.int("RETENTION_REJECTION_DAYS", default=180)
RETENTION_ERASURE_RECORDS_DAYS = env.int("RETENTION_ERASURE_RECORDS_DAYS", default=365)
# of the hashes that are kept of erased people (privacy.records, accounts.addresses); unset, SECRET_KEY is
ERASURE_KEY = env.str("ERASURE_KEY", default="")
ERASURE_KEY_FALLBACKS = env.list("ERASURE_KEY_FALLBACKS", default=[])  # earlier ones, which still find whom they mean

# --- numbers that no site can work with ----------------------------------------------------------------------------
for name, least in {
    "JOB_LEASE_SECONDS": 1,
    "SCORER_SILENCE_SECONDS": 1,
    "WEB_WORKERS": 1,
    "WEB_THREADS": 1,
    "WEB_CONNECTIONS": 1,
    "WEB_STALL_SECONDS": 1,
    "WEB_REQUEST_SECONDS": 1,
    "SCORING_WORKERS": 1,
    "SCORING_THREADS": 0,
    "SCORING_WORKER_NUMBER": 0,
    "LARGE_RUN_ITEMS": 0,
    "SLICE_ITEMS": 1,
    "PAIR_VALUES_MAX_ROWS": 0,
    "UPLOAD_MAX_BYTES": 1024,
    "LARGE_CHECKS": 1,
    "CHECK_SECONDS": 1,
    "REJECTIONS_PER_TEAM": 0,
    "REJECTIONS_PER_ADDRESS": 0,
    "LOGIN_FAILURES_PER_ACCOUNT": 1,
    "LOGIN_FAILURES_PER_ADDRESS": 1,
    "LOGINS_PER_ADDRESS": 1,
    "API_REQUESTS_PER_TOKEN": 0,
    "API_REQUESTS_PER_ADDRESS": 0,
    "API_UPLOADS_PER_TEAM": 0,
    "CHAIN_DOWNLOADS_PER_ADDRESS": 0,
    "BOARD_DOWNLOADS_PER_ADDRESS": 0,
    "ITEM_LISTS_PER_PERSON": 0,
    "RETENTION_UNCONFIRMED_DAYS": 0,
    "RETENTION_INVITATION_DAYS": 0,
    "RETENTION_REJECTION_DAYS": 0,
    "RETENTION_ERASURE_RECORDS_DAYS": 0,
}.items():
    if (value := vars()[name]) < least:
        raise ImproperlyConfigured(f"{name} is {value}, but must be at least {least}. Mend it and start again.")

# --- language and time ----------------------------------------------------------------------------------------------
LANGUAGE_CODE = "ko"
LANGUAGES = [("ko", "한국어"), ("en", "English")]
LANGUAGE_COOKIE_AGE = 365 * 24 * 3600
LANGUAGE_COOKIE_HTTPONLY = True
LANGUAGE_COOKIE_SAMESITE = "Lax"
LOCALE_PATHS = [BASE_DIR / "platform" / "malpan" / "locale"]
USE_I18N = True
TIME_ZONE = "Asia/Seoul"
USE_TZ = True
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# --- hardening ------------------------------------------------------------------------------------------------------
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
if not LOCAL and SITE_URL.startswith("https://"):
    SESSION_COOKIE_SECURE = True
    CSRF_COOKIE_SECURE = True
    SECURE_SSL_REDIRECT = env.bool("SECURE_SSL_REDIRECT", default=True)
    SECURE_REDIRECT_EXEMPT = [r"^healthz/$", r"^openmetrics/$"]  # a load balancer asks in plain HTTP
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    SECURE_HSTS_SECONDS = env.int("SECURE_HSTS_SECONDS", default=30 * 24 * 3600)
# HSTS for subdomains and browser preload lists affects every other host of the domain: its owner must decide.
# Addresses are unique by a constraint of accounts.User, which leaves out people whose data were erased: they have none.
SILENCED_SYSTEM_CHECKS = ["security.W005", "security.W021", "auth.W004"]
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [SELF],
        "img-src": [SELF, "data:"],
        "object-src": [NONE],
        "base-uri": [SELF],
        "form-action": [SELF],
        "frame-ancestors": [NONE],
    }
}

# --- metrics ---------------------------------------------------------------------------------------------------------
METRICS_TOKEN = env.str("METRICS_TOKEN", default="")  # who sends it may read /openmetrics/; unset: nobody

# --- log ------------------------------------------------------------------------------------------------------------
LOG_LEVEL = env.str("LOG_LEVEL", default="INFO")
LOG_FORMAT = env.str("LOG_FORMAT", default="line")
if LOG_FORMAT not in ("line", "json"):
    raise ImproperlyConfigured(f"LOG_FORMAT is {LOG_FORMAT}, but must be line or json. Mend it and start again.")
if LOG_FORMAT == "json":
    logging.captureWarnings(True)  # else Python prints them between the objects
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "line": {"()": "malpan.core.log.Line"},
        "json": {"()": "malpan.core.log.JsonLine"},
    },
    "filters": {"no_traceback_of_bad_requests": {"()": "malpan.core.log.NoTracebackOfBadRequests"}},
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": LOG_FORMAT}},
    "root": {"handlers": ["stderr"], "level": LOG_LEVEL},
    "loggers": {
        # Django's own handlers would print each line a second time, or mail it
        "django": {"handlers": [], "level": LOG_LEVEL, "propagate": True},
        "django.request": {"filters": ["no_traceback_of_bad_requests"]},
        "django.server": {"handlers": [], "propagate": True},
        # one line a task is enough: what was done says so itself, with its ids, and what failed comes from here
        "celery.app.trace": {"level": "WARNING"},
        "celery.worker.strategy": {"level": "WARNING"},
        "celery.beat": {"level": "WARNING"},
        "celery.worker.consumer.connection": {"level": "WARNING"},
        "httpx": {"level": "WARNING"},
        "fontTools": {"level": "WARNING"},
    },
}
