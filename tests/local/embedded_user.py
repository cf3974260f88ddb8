"""A process that uses the embedded servers of a directory: prints their addresses, then waits for a line or the end.

Run as ``python -m tests.local.embedded_user VAR_DIR``; ends with ``release`` at the line, without it at end of input.
"""

import json
import sys
from pathlib import Path

from malpan.local import embedded

if __name__ == "__main__":
    services = embedded.start(Path(sys.argv[1]))
    print(json.dumps({"database_url": services.database_url, "redis_url": services.redis_url}), flush=True)
    if sys.stdin.readline():
        services.release()
        print("released", flush=True)
