"""Runs one command, and says how it ended."""

from __future__ import annotations

import io
import os
import sys
import traceback
from argparse import Namespace
from collections.abc import Sequence

from malpan_client.command_line import parser
from malpan_client.failing import DONE, INTERRUPTED, NOT_ANSWERED, Failure
from malpan_client.keeping import site_address, token_of, usual_site
from malpan_client.showing import Result, as_text, failure_text, note, write
from malpan_client.site import Site
from malpan_client.taking_part import require_token
from malpan_client.words import say, set_language

WITHOUT_TOKEN = ("login", "logout", "competitions", "files", "download", "board")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; its exit status."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a terminal that lacks a character shows its number
    set_language(given, os.environ)
    options = parser().parse_args(given)
    try:
        return _run(options)
    except Failure as failure:
        return _failed(failure, options)
    except KeyboardInterrupt:
        note(say("interrupted"))
        return INTERRUPTED
    except BrokenPipeError:  # the reader of our output, such as `head`, has ended: no error
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return DONE
    except (LookupError, TypeError, AttributeError, ValueError) as error:  # an answer that no Malpan server gives
        if os.environ.get("MALPAN_DEBUG"):
            traceback.print_exc()
        return _failed(Failure(NOT_ANSWERED, say("unexpected", error=f"{type(error).__name__}: {error}")), options)


def _run(options: Namespace) -> int:
    is_here = options.command == "check" and options.local
    site = None if is_here else _site_of(options)
    result: Result = options.run(site, options)
    write(result, as_json=options.json)
    sys.stdout.flush()
    return result.status


def _site_of(options: Namespace) -> Site:
    named = getattr(options, "address", "") or options.site
    address = site_address(named) if named else usual_site()
    token = "" if options.command == "login" else token_of(address)
    site = Site(address, token, is_insecure=options.insecure, max_wait=options.max_wait, note=note)
    if options.command not in WITHOUT_TOKEN:
        require_token(site)
    return site


def _failed(failure: Failure, options: Namespace) -> int:
    note(failure_text(failure))
    if options.json:
        sys.stdout.write(as_text(failure.as_json()) + "\n")
    return failure.status


if __name__ == "__main__":
    sys.exit(main())
