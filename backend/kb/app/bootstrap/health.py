"""What checks of health ask of the disk; the adapters are picked here."""

from __future__ import annotations

from kb.adapters.files.disk import free_bytes, require_room, taken_bytes
from kb.adapters.files.filesystems import FileSystem, file_system

__all__ = ["FileSystem", "file_system", "free_bytes", "require_room", "taken_bytes"]
