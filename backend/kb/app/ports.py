"""What the facade reads beside the ports of the core: the catalogue of the library."""

from __future__ import annotations
