"""`system`: the program itself."""

from __future__ import annotations

from collections.abc import Callable

import kb
from kb.contract.base import Empty
from kb.contract.system import Doctor, DoctorRequest, Health


class System:
    """Health and self-examination."""

    def __init__(self, doctor: Callable[[DoctorRequest], Doctor]) -> None:
        self._doctor = doctor

    def doctor(self, request: DoctorRequest) -> Doctor:
        """Check everything that must be in order, and with `fix` mend what is derived."""
        return self._doctor(request)

    def health(self, request: Empty) -> Health:
        """Say that the server works."""
        del request
        return Health(version=kb.__version__)
