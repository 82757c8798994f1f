"""`KeyringKeyStore`: keys in the system's key store through keyring, else from the environment, read only.

A key is never logged, never part of a message, and leaves only through `get`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Protocol

from kb.domain.errors import InvalidInput
from kb.domain.failures import StorageFailed
from kb.domain.keys import Key, KeyName

SERVICE = "kebab"
_LONGEST = 4096


class Backend(Protocol):
    """As keyring has it."""

    @property
    def priority(self) -> float:
        """Above 0 when it can keep anything."""

    def get_password(self, service: str, username: str) -> str | None:
        """Return what is kept."""

    def set_password(self, service: str, username: str, password: str) -> None:
        """Keep something."""

    def delete_password(self, service: str, username: str) -> None:
        """Keep it no longer."""


class KeyringKeyStore:
    """`KeyStore` over the best backend that keyring finds.

    Args:
        backend: instead of that one.
        environment: where keys are looked up that the key store has not.
    """

    def __init__(self, backend: Backend | None = None, environment: Mapping[str, str] | None = None) -> None:
        self._given = backend
        self._environment = os.environ if environment is None else environment

    def is_available(self) -> bool:
        """Return whether keys can be kept on this system."""
        return self._backend() is not None

    def get(self, name: KeyName) -> Key | None:
        """Return a key; None where there is none. A key store that is locked or broken has none."""
        backend = self._backend()
        kept = None
        if backend is not None:
            try:
                kept = backend.get_password(SERVICE, name.account)
            except Exception:  # noqa: BLE001 - backends raise what they like; its text could hold anything
                kept = None
        if kept:
            return Key(kept, "key_store")
        given = self._environment.get(name.variable, "").strip()
        return Key(given, "environment") if given else None

    def set(self, name: KeyName, key: str) -> None:
        """Keep a key, in place of an earlier one.

        Raises:
            InvalidInput: it is no key.
            StorageFailed: there is no key store, or it refused.
        """
        if not (0 < len(key) <= _LONGEST and key.isascii() and key.isprintable() and " " not in key):
            raise InvalidInput("this is no key: keys are letters and signs without spaces", hint="copy it once more")
        backend = self._writable(name)
        try:
            backend.set_password(SERVICE, name.account, key)
        except Exception:  # noqa: BLE001 - as above; and a chained error could show the key
            raise _refused(name) from None

    def remove(self, name: KeyName) -> bool:
        """Forget a key; return whether there was one. One in the environment stays.

        Raises:
            StorageFailed: there is no key store, or it refused.
        """
        backend = self._writable(name)
        try:
            if backend.get_password(SERVICE, name.account) is None:
                return False
            backend.delete_password(SERVICE, name.account)
        except Exception:  # noqa: BLE001 - as above
            raise _refused(name) from None
        return True

    def _writable(self, name: KeyName) -> Backend:
        backend = self._backend()
        if backend is None:
            raise StorageFailed(
                "this system has no key store that Kebab can use",
                hint=f"set the environment variable {name.variable} instead, or install a Secret Service",
            )
        return backend

    def _backend(self) -> Backend | None:
        if self._given is not None:
            return self._given
        try:
            import keyring

            found: Backend = keyring.get_keyring()
            works = found.priority > 0
        except Exception:  # noqa: BLE001 - a desktop that is half there: no key store, then
            return None
        return found if works else None


def _refused(name: KeyName) -> StorageFailed:
    return StorageFailed(
        "the system's key store refused", hint=f"unlock it, or set the environment variable {name.variable}"
    )
