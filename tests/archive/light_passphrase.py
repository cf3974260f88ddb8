"""A key that was locked with a passphrase at the least cost that the age format knows, and opens without waiting.

Opening it is the real thing, for the right passphrase and for a wrong one; locking would take seconds every time.
"""

from __future__ import annotations

import pytest

from malpan.archive import crypto

PASSPHRASE = "열두 글자가 넘는 암호 구문"
KEY = "AGE-SECRET-KEY-19R6NVC2VRWU4MPLD9MPWDYMPAAUA7YVJQS8KZD6GLRLZX42LLFRQWMDE0W"
LOCKED = {  # scrypt with two rounds, where ``locked_key`` takes half a million
    "key": "YWdlLWVuY3J5cHRpb24ub3JnL3YxCi0+IHNjcnlwdCBreGZDWXFvbjdqRWhZUjdYR2I3V3VnIDEKTzFIN2Z1MHVyUmw4NFJFZUw1bU10"
    "RHpDVHhyMk5uc0F4Y0xRUm1xYUxCZwotLS0gT0tBT25SOW5ja1hYVElyY2VraThnelFsWDBVcFRGU1FJVS9TUmJISmhHOAqt+3/ZM9KQLC3clQRi"
    "9x3vvR6ds9UNOy2ebKT5051QZdsVzDBpFHhy3difUocX3CfJvTZPa7ccYrO/oW6eyQORGjIMkTuX4RPPyOnfVjixmAmpdiJqjbsn2TbWpZU8CLsB"
    "gkAJsjhY9CmG"
}


def use(monkeypatch: pytest.MonkeyPatch, asked_for: str = PASSPHRASE) -> str:
    """Lock every archive with this key from now on; its passphrase, and none but ``asked_for`` may be asked for."""

    def locked_key(key: crypto.Key, passphrase: str) -> dict[str, str]:
        assert (str(key), passphrase) == (KEY, asked_for)
        return LOCKED

    monkeypatch.setattr(crypto, "new_key", lambda: crypto.Key.from_str(KEY))
    monkeypatch.setattr(crypto, "locked_key", locked_key)
    return PASSPHRASE
