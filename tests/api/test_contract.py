"""The runner of the long form of ``test_schemathesis``: what it writes down."""

from __future__ import annotations

from tests.api.contract import REPORT, section_of, with_section
from tests.api.test_schemathesis import REPORT as PRINTED

REPORTED = """
5 requests of 2 operations by 3 roles. 5xx: 0.

- by status: 5 (200: 3, 404: 2)
- by role: 5 (owner: 5)
.
1 passed in 3.00s
"""


def test_a_section_has_the_report_and_not_what_pytest_says_after_it() -> None:
    section = section_of(REPORTED, minutes=10, cpu_seconds=61.4)
    assert section.splitlines()[2] == "`python -m tests.api.contract --minutes 10`, 61 s of processor time."
    assert section.endswith("- by role: 5 (owner: 5)\n")
    assert REPORT == PRINTED


def test_the_newest_section_comes_first() -> None:
    one = with_section("# Heading\n\nText.\n", "## one\n")
    assert one == "# Heading\n\nText.\n\n## one\n"
    assert with_section(one, "## two\n") == "# Heading\n\nText.\n\n## two\n\n## one\n"
