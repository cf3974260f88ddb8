"""Where the checkout lies."""

from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[1]
