"""A child process that makes one rendition: `python -m kb.app.rendition_child SOURCE TARGET`, confined like readers."""

from __future__ import annotations

import os
import sys

from kb.adapters.speech.rendition import main
from kb.adapters.workers.confinement import confine
from kb.domain.limits import ReadingLimits

if __name__ == "__main__":
    confine(ReadingLimits().memory_mb, os.getppid())
    sys.exit(main(sys.argv[1:]))
