"""Where the checkout lies."""

import os
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[1]


def python_path(root: Path = ROOT) -> str:
    """``PYTHONPATH`` for the code at ``root``: another checkout may be the installed one."""
    return f"{root / 'platform'}{os.pathsep}{root}"
