"""Runs one command, and says how it ended."""

from __future__ import annotations

import io
import os
import sys
import traceback
from argparse import Namespace
from collections.abc import Sequence

from malpan_client.command_line import parser
from malpan_client.failing import INTERRUPTED, NOT_ALLOWED, NOT_ANSWERED, WRONG_INPUT, Failure
from malpan_client.keeping import site_address, token_of, usual_site
from malpan_client.showing import Result, failure_text, json_text, note, printable, write
from malpan_client.site import Site
from malpan_client.words import reason_of, say, set_language

WITHOUT_TOKEN = ("login", "logout", "competitions", "files", "download", "board")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; its exit status."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a terminal that lacks a character shows its number
    set_language(given, os.environ)
    is_json = "--json" in given  # also where the arguments are wrong
    try:
        result = _run(given)
    except Failure as failure:
        note(failure_text(failure))
        if is_json:
            write(json_text(failure.as_json()))
        return failure.status
    write(json_text(result.data) if is_json else printable(result.text))
    return result.status


def _run(given: Sequence[str]) -> Result:
    """Raises ``Failure``, whatever goes wrong."""
    try:
        options = parser().parse_args(given)
        result: Result = options.run(_site_of(options), options)
    except Failure:
        raise
    except KeyboardInterrupt as error:
        raise Failure(INTERRUPTED, say("interrupted")) from error
    except OSError as error:  # of a file of this machine; those of the network are told where they happen
        text = say("file_trouble", path=error.filename or "–", reason=reason_of(error))
        raise Failure(WRONG_INPUT, text) from error
    except Exception as error:  # an answer that no Malpan server gives, or a defect of ours
        if os.environ.get("MALPAN_DEBUG"):
            traceback.print_exc()
        raise Failure(NOT_ANSWERED, say("unexpected", error=f"{type(error).__name__}: {error}")) from error
    return result


def _site_of(options: Namespace) -> Site | None:
    """Where the command is asked; ``None`` for one that asks nobody. Raises ``Failure`` before anything is asked."""
    if options.command == "check" and options.local:
        return None
    named = getattr(options, "address", "") or options.site
    address = site_address(named) if named else usual_site()
    token = "" if options.command == "login" else token_of(address)
    if not token and options.command not in WITHOUT_TOKEN:
        raise Failure(NOT_ALLOWED, say("no_token", site=address), hint=say("log_in_there", site=address))
    return Site(address, token, is_insecure=options.insecure, max_wait=options.max_wait, note=note)


if __name__ == "__main__":
    sys.exit(main())
