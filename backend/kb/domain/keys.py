"""Keys of servers: by what name they are kept, and where they are."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Literal, Protocol


@dataclass(frozen=True, slots=True)
class KeyName:
    """Under which a key is kept: a name that people choose, and the one host it may be sent to.

    With the host in it a key for one server is never sent to another because an address in the settings changed.
    """

    name: str
    host: str

    @property
    def account(self) -> str:
        """The entry in the key store."""
        return f"{self.name}@{self.host}"

    @property
    def variable(self) -> str:
        """The environment variable that stands in where there is no key store."""
        return f"KB_KEY_{re.sub('[^A-Z0-9]+', '_', self.name.upper()).strip('_')}"


@dataclass(frozen=True, slots=True)
class Key:
    """A key and where it came from; its text shows nowhere by itself."""

    text: str = field(repr=False)
    source: Literal["key_store", "environment"]


class KeyStore(Protocol):
    """Keeps keys outside of the library and the settings."""

    def is_available(self) -> bool:
        """Return whether keys can be kept on this system."""

    def get(self, name: KeyName) -> Key | None:
        """Return a key, from the environment where the key store has none."""

    def set(self, name: KeyName, key: str) -> None:
        """Keep a key, in place of an earlier one.

        Raises:
            InvalidInput: it is no key.
            StorageFailed: there is no key store, or it refused.
        """

    def remove(self, name: KeyName) -> bool:
        """Forget a key; return whether there was one.

        Raises:
            StorageFailed: there is no key store, or it refused.
        """
