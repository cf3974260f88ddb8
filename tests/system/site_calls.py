"""Calls beside a running site: one process that calls functions on the site's database, as management commands do.

Started by ``Stack.call``. Each line of its input is a call in JSON, ``[module, function, arguments]``; the answer is a
line with what the function returned. It ends with its input, or with the error of a function: the next call has another
process, whose factories number on behind the rows of this one.
"""

from __future__ import annotations

import json
import os
import sys
from importlib import import_module

from tests.paths import ROOT


def main() -> None:
    os.environ["DJANGO_SETTINGS_MODULE"] = "malpan.settings"
    from malpan.local import environment

    environment.prepare(ROOT, needs_services=True)
    import django
    from django.conf import settings
    from django.db import close_old_connections

    # nobody logs in as the people made here: a quarter of a second each for their passwords is for nothing
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    django.setup()
    from tests.factories import number_on

    number_on()
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what a function prints is no answer
    for line in sys.stdin:
        module, function, arguments = json.loads(line)
        close_old_connections()  # as before a request: tests kill the database's server
        print(json.dumps(getattr(import_module(module), function)(*arguments)), file=answers, flush=True)


if __name__ == "__main__":
    main()
