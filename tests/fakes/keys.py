"""A backend of keyring in memory, and one that is locked."""

from __future__ import annotations


class MemoryBackend:
    """Keeps what it is given."""

    priority = 1.0

    def __init__(self) -> None:
        self.kept: dict[tuple[str, str], str] = {}

    def get_password(self, service: str, username: str) -> str | None:
        """Return what is kept."""
        return self.kept.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        """Keep it."""
        self.kept[service, username] = password

    def delete_password(self, service: str, username: str) -> None:
        """Keep it no longer."""
        del self.kept[service, username]


class LockedBackend(MemoryBackend):
    """Refuses everything, and repeats what it was given as it does."""

    def get_password(self, service: str, username: str) -> str | None:
        """Refuse."""
        raise RuntimeError(f"locked: {service} {username}")

    def set_password(self, service: str, username: str, password: str) -> None:
        """Refuse."""
        raise RuntimeError(f"locked: {service} {username} {password}")

    def delete_password(self, service: str, username: str) -> None:
        """Refuse."""
        raise RuntimeError(f"locked: {service} {username}")
