"""말판 명령 / The command for Malpan: submit and follow files, set up and run contests, from a terminal or a script.

    python malpan.py login https://SITE        토큰을 묻고 저장합니다. / asks for a token and keeps it
    python malpan.py submit CONTEST/TRACK answers.json --wait
    python malpan.py --help                    모든 명령과 종료 코드 / all commands and the exit statuses

Python 3.9 or newer and nothing else (TOML files of contests: Python 3.11 or newer). The site serves it as one file at
/api/malpan.py, with its version and sha256 at /api/docs/. Its source is the package ``malpan_client``, a file for each
subject, because one file of this length is hard to read; ``malpan_client.single_file`` joins them, so that no copy has
to be kept equal by hand.
"""

from __future__ import annotations

VERSION = "1.0.0"
API = "/api/v1/"
API_MAJOR = 1  # of the versions of the API that this command speaks
