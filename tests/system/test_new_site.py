"""The directory that sites begin as a copy of: made once for a state of the code, never taken for another one."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.system import new_site
from tests.system.new_site import copied, kept


def test_processes_that_start_at_once_make_it_once_and_another_state_makes_its_own(tmp_path: Path) -> None:
    made = []

    def begin(number: int, state: str) -> str:
        def make(directory: Path) -> None:
            made.append(state)
            (directory / "tables").write_text(state)

        with kept(tmp_path / "kept", state, make) as directory:
            return (copied(directory, tmp_path / f"{state}-{number}") / "tables").read_text()

    with ThreadPoolExecutor(3) as pool:
        assert list(pool.map(begin, range(3), ["before"] * 3)) == ["before"] * 3
    assert [begin(number, "after") for number in range(2)] == ["after"] * 2
    assert made == ["before", "after"]
    assert [path.name for path in (tmp_path / "kept").iterdir() if path.is_dir()] == ["after"]


def test_what_was_broken_off_is_not_taken(tmp_path: Path) -> None:
    def break_off(directory: Path) -> None:
        (directory / "half").touch()
        raise OSError("no room")

    with pytest.raises(OSError, match="no room"), kept(tmp_path, "state", break_off):
        pass
    (tmp_path / "unfinished").mkdir()  # as one that was killed while it copied leaves it
    with kept(tmp_path, "state", lambda directory: (directory / "whole").touch()) as made:
        assert [path.name for path in made.iterdir()] == ["whole"]


def test_its_name_changes_with_the_tables_and_with_how_the_servers_are_started(monkeypatch: pytest.MonkeyPatch) -> None:
    state = new_site._state
    names = {state()}
    monkeypatch.setattr(new_site.database, "fingerprint", lambda _folders: "other tables")
    names.add(state())
    monkeypatch.setattr(new_site, "version", lambda _name: "other servers")
    names.add(state())
    monkeypatch.setattr(new_site, "ROOT", Path("/nowhere"))
    names.add(state())
    assert len(names) == 4
