"""Groups of the facade that shape and prove retrieval; as `groups`, part of the method table."""

from __future__ import annotations
