"""Runs the programs of the site with circus: starts them, prefixes their output, restarts and stops them."""

from __future__ import annotations

import codecs
import os
import select
import shlex
import signal
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, TextIO

from circus.arbiter import Arbiter
from circus.watcher import Watcher
from tornado import gen
from tornado.ioloop import PeriodicCallback

from malpan.local.embedded import Services
from malpan.local.paths import socket_directory
from malpan.local.programs import EX_CONFIG, Program
from malpan.local.servers import ServerFailed

_STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
_LOOK_EVERY_SECONDS = 0.5
_RETRY_SECONDS = 0.05
_LOOK_AROUND_EVERY_MILLISECONDS = 2000
_STEADY_AFTER_SECONDS = 20.0  # a program that ran this long has started properly
_LONGEST_REST_SECONDS = 30.0


class PrefixedLines:
    """Writes the output of a program line by line, with the program's name before each line."""

    def __init__(self, prefix: str, output: TextIO) -> None:
        self._prefix = prefix
        self._output = output
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._rest = ""

    def __call__(self, datum: Mapping[str, Any]) -> None:
        """Called by circus with ``{"data": bytes, ...}``, cut anywhere."""
        *lines, self._rest = (self._rest + self._decoder.decode(datum["data"])).split("\n")
        write_lines(self._output, self._prefix, lines)

    def close(self) -> None:
        """Write the last line, if the program ended without finishing it."""
        if self._rest:
            write_lines(self._output, self._prefix, [self._rest])
            self._rest = ""


def write_lines(output: TextIO, prefix: str, lines: Sequence[str]) -> None:
    """Write ``lines``; if the terminal is closed, they are lost, without any other effect."""
    with suppress(OSError):
        output.writelines(f"{prefix}{line}\n" for line in lines)
        output.flush()


class PatientWatcher(Watcher):
    """Restarts a program that ended: at once, then with longer and longer pauses if it keeps ending.

    One that refuses its settings (``EX_CONFIG``) is not restarted.
    """

    _rest_until = 0.0
    _early_deaths = 0
    _born = 0.0
    say: Callable[[str], None]

    def spawn_process(self, recovery_wid: int | None = None) -> Any:
        self._born = time.monotonic()
        return super().spawn_process(recovery_wid)

    def reap_process(self, pid: int, status: int | None = None) -> None:
        known = pid in self.processes
        super().reap_process(pid, status)
        if known and self.respawn and self.is_active() and not self.arbiter._stopping:
            self._consider(status)

    @gen.coroutine
    def manage_processes(self) -> Any:
        if time.monotonic() >= self._rest_until:
            yield super().manage_processes()

    def _consider(self, status: int | None) -> None:
        """Decide when to start the program again."""
        if status is not None and os.WIFEXITED(status) and os.WEXITSTATUS(status) == EX_CONFIG:
            self.respawn = False
            self.say(f"{self.name}: 설정을 고친 뒤 다시 실행하십시오(위 내용 참고). / not started again: see above.")
            return
        lived = time.monotonic() - self._born
        self._early_deaths = 0 if lived > _STEADY_AFTER_SECONDS else self._early_deaths + 1
        rest = min(2.0 ** (self._early_deaths - 1), _LONGEST_REST_SECONDS) if self._early_deaths > 1 else 0.0
        self._rest_until = time.monotonic() + rest
        self.say(f"{self.name}: 끝났습니다({_how(status)}). {rest:.0f}초 뒤 다시 시작합니다. / ended, starting again.")


class QuietArbiter(Arbiter):
    """Circus logs an error if its periodic check coincides with a start or stop; here the check is skipped then."""

    def manage_watchers(self) -> Any:
        return None if self._stopping or self._exclusive_running_command else super().manage_watchers()


class Supervisor:
    """The children of one site. ``run`` blocks until a signal or ``stop``."""

    def __init__(
        self,
        programs: Sequence[Program],
        *,
        root: Path,
        run_directory: Path,
        environment: Mapping[str, str],
        services: Services,
        output: TextIO = sys.stdout,
    ) -> None:
        self._root = root
        self._services = services
        self._output = output
        self._width = max(len(program.name) for program in programs)
        self._exit_code = 0
        self._is_stopping = False
        self._terminal = output.fileno() if output.isatty() else None
        watchers = [self._watcher(program, environment) for program in programs]
        sockets = socket_directory(run_directory, "circus-events")
        for stale in ("circus", "circus-events"):
            (sockets / stale).unlink(missing_ok=True)
        self._arbiter = QuietArbiter(
            watchers,
            f"ipc://{sockets / 'circus'}",
            f"ipc://{sockets / 'circus-events'}",
            check_delay=_LOOK_EVERY_SECONDS,
        )

    def run(self) -> int:
        """Start everything and run until stopped; returns the exit code."""
        for number in _STOP_SIGNALS:
            signal.signal(number, self._on_signal)
        PeriodicCallback(self._look_around, _LOOK_AROUND_EVERY_MILLISECONDS).start()
        self._arbiter.start()
        return self._exit_code

    def say(self, text: str) -> None:
        """Print a line of the supervisor itself."""
        write_lines(self._output, f"{'malpan':<{self._width}} | ", [text])

    def _watcher(self, program: Program, environment: Mapping[str, str]) -> Watcher:
        launcher = str(Path(__file__).with_name("die_with_parent.py"))
        watcher = PatientWatcher(
            program.name,
            shlex.quote(sys.executable),
            args=["-I", "-S", launcher, str(os.getpid()), sys.executable, *program.arguments],
            working_dir=str(self._root),
            copy_env=True,
            env={**environment, **program.environment},
            stop_signal=program.stop_signal,
            graceful_timeout=program.grace,
            respawn=not program.runs_once,
            use_sockets=program.takes_socket,
            stdout_stream={"stream": self._lines(program)},
            stderr_stream={"stream": self._lines(program)},
        )
        watcher.say = self.say
        return watcher

    def _lines(self, program: Program) -> PrefixedLines:
        return PrefixedLines(f"{program.name:<{self._width}} | " if program.prefixed else "", self._output)

    def _on_signal(self, _number: int, _frame: Any) -> None:
        self._arbiter.loop.add_callback_from_signal(self.stop)

    def stop(self) -> None:
        """Stop all programs; a second call kills them at once."""
        if self._is_stopping:
            self._kill_all()
            return
        self._is_stopping = True
        self.say("멈추는 중입니다. 다시 누르면 바로 끝냅니다. / stopping; once more to stop at once.")
        self._stop_when_free()

    def _stop_when_free(self) -> None:
        """Stop as soon as possible: Circus refuses to stop while it starts something, which takes only a moment."""
        if self._arbiter._exclusive_running_command:
            self._arbiter.loop.call_later(_RETRY_SECONDS, self._stop_when_free)
        else:
            self._arbiter.stop()

    def _kill_all(self) -> None:
        for watcher in self._arbiter.iter_watchers():
            for process in watcher.get_active_processes():
                watcher.send_signal_process(process, signal.SIGKILL, recursive=True)

    def _look_around(self) -> None:
        """Stop if the terminal was closed; restart PostgreSQL or Redis, with their data, if they were killed."""
        if self._is_stopping:
            return
        if self._terminal is not None and _has_hung_up(self._terminal):  # make, for example, passes no signal on
            self.stop()
            return
        try:
            for name in self._services.ensure():
                self.say(f"{name}: 끝나 있어서 다시 시작했습니다. / had ended and was started again.")
        except ServerFailed as error:
            self.say(str(error))
            self._exit_code = 1
            self.stop()


def _has_hung_up(terminal: int) -> bool:
    poll = select.poll()
    poll.register(terminal, 0)  # a hang-up is always reported
    return any(event & select.POLLHUP for _, event in poll.poll(0))


def _how(status: int | None) -> str:
    if status is None:
        return "?"
    if os.WIFSIGNALED(status):
        return signal.Signals(os.WTERMSIG(status)).name
    return f"exit {os.WEXITSTATUS(status)}"
