"""``python -m scoring``: the instrument on files, without a server. The engine, and so every number, is that of the
site.

Exit status: 0 done; 1 a predictions or references file has errors (all are listed); 2 wrong usage, or a fault that is
not the file's. Reports go to standard output, progress and errors to standard error. Only ``score`` and ``models`` may
load a model library; the others start at once.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from io import TextIOWrapper
from typing import Final, TextIO

from scoring.arguments import EXIT_USAGE, language_of
from scoring.cli.files import STDIN, InvalidInput, print_file_errors
from scoring.cli.parser import build_parser
from scoring.cli.words import error_text, say
from scoring.errors import ScoringError

EXIT_OK: Final = 0
EXIT_INVALID_FILE: Final = 1
EXIT_FAULT: Final = EXIT_USAGE
EXIT_INTERRUPTED: Final = 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return the exit status. Wrong usage exits with ``EXIT_USAGE`` at once."""
    _write_whatever_the_terminal_lacks(sys.stdout)
    given = list(sys.argv[1:] if arguments is None else arguments)
    language = language_of(given)
    try:
        parser = build_parser(language)
        options = parser.parse_args(given)
        if list(vars(options).values()).count(STDIN) > 1:
            parser.error(say("stdin_once", language))
        from scoring.cli import commands

        status: int = getattr(commands, f"run_{options.command.replace('-', '_')}")(options, language)
        sys.stdout.flush()
    except InvalidInput as error:
        print_file_errors(error, language, sys.stdout if options.command == "check" else sys.stderr)
        return EXIT_INVALID_FILE
    except ScoringError as error:
        sys.stderr.write(say("error", language, text=error_text(error, language)) + "\n")
        return EXIT_FAULT
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED
    except BrokenPipeError:  # the reader of our output, such as `head`, has ended: no error
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return EXIT_OK
    return status


def _write_whatever_the_terminal_lacks(stream: TextIO) -> None:
    """Write a character outside the encoding of ``stream`` as an escape, like standard error, instead of failing."""
    if isinstance(stream, TextIOWrapper):
        stream.reconfigure(errors="backslashreplace")
