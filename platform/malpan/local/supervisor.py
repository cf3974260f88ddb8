"""Runs the programs of the site: starts them, prefixes their output, restarts what dies, stops all.

One thread and one loop. Each program has one pipe for its output, made once: all processes that ever run the program
write into it, so that no descriptor is opened or closed when one dies and the next one starts.
"""

from __future__ import annotations

import codecs
import os
import select
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TextIO

import psutil

from malpan.local.embedded import Services
from malpan.local.programs import EX_CONFIG, Program
from malpan.local.readiness import DESCRIPTOR
from malpan.local.servers import ServerFailed

_STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
_LAUNCHER = Path(__file__).with_name("die_with_parent.py")
_TURN_SECONDS = 0.25  # how late a death is noticed at most
_CHECK_SECONDS = 2.0
_STEADY_AFTER_SECONDS = 5.0  # a program that ran this long has started properly
_LONGEST_PAUSE_SECONDS = 10.0
_READY_WITHIN_SECONDS = 20.0  # what waits for a program waits no longer for its start
_READ_BYTES = 65536


class PrefixedLines:
    """Writes what a program prints line by line, each line after the program's name."""

    def __init__(self, prefix: str, output: TextIO) -> None:
        self._prefix = prefix
        self._output = output
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._rest = ""

    def write(self, data: bytes) -> None:
        """Write the whole lines of ``data``, which may be cut anywhere; the rest waits for what follows."""
        *lines, self._rest = (self._rest + self._decoder.decode(data)).split("\n")
        write_lines(self._output, self._prefix, lines)

    def flush(self) -> None:
        """Write the last line, if the program ended without finishing it."""
        if self._rest:
            write_lines(self._output, self._prefix, [self._rest])
            self._rest = ""


def write_lines(output: TextIO, prefix: str, lines: Sequence[str]) -> None:
    """Write ``lines``; they are lost where the terminal is closed, and the site runs on or stops as it would."""
    with suppress(OSError):
        output.writelines(f"{prefix}{line}\n" for line in lines)
        output.flush()


class Child:
    """One program: at most one process of it, when to start the next one, and the pipe that all of them write into.

    A program that died is started again at once, then after ever longer pauses if it keeps dying. One that refuses its
    settings (``EX_CONFIG``) and one that ``runs_once`` are not started again. It waits while one of those that it
    is ``after`` is starting: all at once, everybody would be ready late.
    """

    def __init__(
        self,
        program: Program,
        *,
        root: Path,
        environment: Mapping[str, str],
        lines: PrefixedLines,
        after: Sequence[Child] = (),
    ) -> None:
        self.program = program
        self._root = root
        self._lines = lines
        self._after = after
        self.output, self._pipe = os.pipe()
        self._ready, self._ready_pipe = os.pipe()
        os.set_blocking(self.output, False)
        os.set_blocking(self._ready, False)
        self._environment = {
            **os.environ,
            **environment,
            **program.environment,
            "MALPAN_PROGRAM": program.name,
            DESCRIPTOR: str(self._ready_pipe),
        }
        self._is_ready = False
        self._process: subprocess.Popen[bytes] | None = None
        self._start_at: float | None = 0.0  # on the monotonic clock; None: never again
        self._started = 0.0
        self._early_deaths = 0
        self._kill_at: float | None = None

    @property
    def is_running(self) -> bool:
        return self._process is not None

    def is_starting(self, now: float) -> bool:
        """Whether it has a process that is not ready yet, and not for long, or will have one in a moment."""
        if self._process is None:
            return self._start_at is not None and now >= self._start_at
        with suppress(BlockingIOError):
            self._is_ready = bool(os.read(self._ready, _READ_BYTES)) or self._is_ready
        return not self._is_ready and now - self._started < _READY_WITHIN_SECONDS

    def pass_on_output(self) -> None:
        """Write what has arrived since the last call."""
        with suppress(BlockingIOError):
            while data := os.read(self.output, _READ_BYTES):
                self._lines.write(data)
                if len(data) < _READ_BYTES:
                    break

    def attend(self) -> str | None:
        """Start, restart or kill the process where it is time for that. What happened, if something did."""
        now = time.monotonic()
        if self._process is not None and (status := self._process.poll()) is not None:
            self._process = None
            self.pass_on_output()
            self._lines.flush()
            return self._plan_restart(status, now)
        if self._process is not None and self._kill_at is not None and now >= self._kill_at:
            self.kill()
        is_due = self._process is None and self._start_at is not None and now >= self._start_at
        if is_due and not any(child.is_starting(now) for child in self._after):
            return self._start(now)
        return None

    def stop(self) -> None:
        """Ask the process to end and start none again; ``attend`` kills it when its grace is over."""
        self._start_at = None
        self._kill_at = time.monotonic() + self.program.grace
        if self._process is not None:
            self._process.send_signal(self.program.stop_signal)

    def kill(self) -> None:
        """End the process and all processes below it at once."""
        if self._process is None:
            return
        with suppress(psutil.NoSuchProcess):
            for below in psutil.Process(self._process.pid).children(recursive=True):
                with suppress(psutil.NoSuchProcess):
                    below.kill()
        self._process.kill()

    def _start(self, now: float) -> str | None:
        self._started, self._start_at, self._is_ready = now, None, False
        with suppress(BlockingIOError):
            os.read(self._ready, _READ_BYTES)  # what the process before said
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", str(_LAUNCHER), str(os.getpid()), sys.executable, *self.program.arguments],
                stdin=subprocess.DEVNULL,
                stdout=self._pipe,
                stderr=self._pipe,
                cwd=self._root,
                env=self._environment,
                pass_fds=(*self.program.descriptors, self._ready_pipe),
                start_new_session=True,  # Ctrl-C is for the supervisor, which stops each program in its own way
            )
        except OSError as error:  # the machine is out of processes or memory
            return self._start_later(error.strerror or str(error), now)
        return None

    def _plan_restart(self, status: int, now: float) -> str | None:
        is_stopping = self._kill_at is not None
        if is_stopping or self.program.runs_once:
            return None
        if status == EX_CONFIG:
            return "설정을 고친 뒤 다시 실행하십시오(위 내용 참고). / not started again: see above."
        return self._start_later(_how(status), now)

    def _start_later(self, how: str, now: float) -> str:
        """Plan the next start after an end that was not asked for."""
        is_early = now - self._started <= _STEADY_AFTER_SECONDS
        self._early_deaths = self._early_deaths + 1 if is_early else 0
        pause = min(2.0 ** (self._early_deaths - 1), _LONGEST_PAUSE_SECONDS) if self._early_deaths > 1 else 0.0
        self._start_at = now + pause
        return f"끝났습니다({how}). {pause:.0f}초 뒤 다시 시작합니다. / ended, starting again."


class Supervisor:
    """The programs of one site. ``run`` blocks until a signal or ``stop``."""

    def __init__(
        self,
        programs: Sequence[Program],
        *,
        root: Path,
        environment: Mapping[str, str],
        services: Services,
        output: TextIO = sys.stdout,
    ) -> None:
        self._services = services
        self._output = output
        self._width = max(len(program.name) for program in programs)
        self._services_at = 0.0  # when to look after PostgreSQL and Redis next
        self._failed_starts = 0  # of theirs, one after the other
        self._stops_asked = 0
        self._stops_done = 0
        self._terminal = output.fileno() if output.isatty() else None
        children: dict[str, Child] = {}
        for program in programs:
            children[program.name] = Child(
                program,
                root=root,
                environment=environment,
                lines=self._lines(program),
                after=[children[name] for name in program.after],
            )
        self._children = list(children.values())

    def run(self) -> None:
        """Start everything and stay until told to stop."""
        for number in _STOP_SIGNALS:
            signal.signal(number, lambda *_: self.stop())
        with selectors.DefaultSelector() as selector:
            for child in self._children:
                selector.register(child.output, selectors.EVENT_READ, child)
            check_at = 0.0
            while not self._stops_done or any(child.is_running for child in self._children):
                for key, _ in selector.select(_TURN_SECONDS):
                    key.data.pass_on_output()
                if self._stops_done < self._stops_asked:
                    self._stop_children()
                for child in self._children:
                    if news := child.attend():
                        self.say(f"{child.program.name}: {news}")
                if not self._stops_asked and time.monotonic() >= check_at:
                    self._check_surroundings()
                    check_at = time.monotonic() + _CHECK_SECONDS

    def stop(self) -> None:
        """Have all programs stopped; asked a second time, at once. For signal handlers and other threads."""
        self._stops_asked += 1

    def say(self, text: str) -> None:
        """Print a line of the supervisor's own."""
        write_lines(self._output, f"{'malpan':<{self._width}} | ", [text])

    def _lines(self, program: Program) -> PrefixedLines:
        return PrefixedLines(f"{program.name:<{self._width}} | " if program.prefixed else "", self._output)

    def _stop_children(self) -> None:
        is_repeated = self._stops_done > 0 or self._stops_asked > 1
        if not self._stops_done:
            self.say("멈추는 중입니다. 다시 누르면 바로 끝냅니다. / stopping; once more to stop at once.")
        self._stops_done = self._stops_asked
        for child in self._children:
            child.stop()
            if is_repeated:
                child.kill()

    def _check_surroundings(self) -> None:
        """Stop with the terminal; look after PostgreSQL and Redis."""
        if self._terminal is not None and _has_hung_up(self._terminal):  # make, for one, keeps the signal to itself
            self.stop()
        elif time.monotonic() >= self._services_at:
            self._ensure_services()

    def _ensure_services(self) -> None:
        """Start PostgreSQL or Redis again, on the data they wrote, if they have ended.

        One that cannot start, as its disk is full, is tried again, after ever longer pauses; meanwhile the pages say
        that it is away.
        """
        try:
            for name in self._services.ensure():
                self.say(f"{name}: 끝나 있어서 다시 시작했습니다. / had ended and was started again.")
            self._failed_starts = 0
        except ServerFailed as error:
            self._failed_starts += 1
            pause = min(2.0**self._failed_starts, _LONGEST_PAUSE_SECONDS)
            self.say(f"{error}\n{pause:.0f}초 뒤 다시 시도합니다. / trying again in {pause:.0f} s.")
            self._services_at = time.monotonic() + pause


def _has_hung_up(terminal: int) -> bool:
    poll = select.poll()
    poll.register(terminal, 0)  # a hang-up is always reported
    return any(event & select.POLLHUP for _, event in poll.poll(0))


def _how(status: int) -> str:
    """How a process ended, from its return code: a negative one is that of a signal."""
    return signal.Signals(-status).name if status < 0 else f"exit {status}"
