#!/usr/bin/env python3
"""Entry point of the site: puts the source root on sys.path and, where none is given, finds the embedded services."""

import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent


def main() -> None:
    sys.path.insert(0, str(ROOT / "platform"))
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    if not os.environ.get("DATABASE_URL") or not os.environ.get("REDIS_URL"):
        from config import embedded

        services = embedded.start(Path(os.environ.get("MALPAN_VAR", ROOT / "var")))
        os.environ.setdefault("DATABASE_URL", services.database_url)
        os.environ.setdefault("REDIS_URL", services.redis_url)

    from django.core.management import execute_from_command_line

    execute_from_command_line(sys.argv)


if __name__ == "__main__":
    main()
