"""``python -m scoring``: the instrument on files, without a server."""

import sys

from scoring.cli import main

if __name__ == "__main__":
    sys.exit(main())
