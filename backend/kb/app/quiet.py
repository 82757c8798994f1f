"""Nothing reports home: what libraries read from the environment before they are imported."""

from __future__ import annotations

import os
from collections.abc import Mapping

_QUIET: Mapping[str, str] = {
    "ANONYMIZED_TELEMETRY": "False",  # chromadb
    "ORT_DISABLE_TELEMETRY": "1",  # onnxruntime
    "HF_HUB_DISABLE_TELEMETRY": "1",
    # Models are looked up in folders of ours; without this a missing file would be asked for over the network.
    "HF_HUB_OFFLINE": "1",
    "DO_NOT_TRACK": "1",
    # Its thread pool does not survive a fork and would only warn about that.
    "TOKENIZERS_PARALLELISM": "false",
}


def keep_libraries_quiet() -> None:
    """Set the variables for this process and its children; to be called before any heavy import."""
    os.environ.update(_QUIET)
