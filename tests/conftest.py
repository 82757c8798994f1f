"""What holds for every test: no network, no telemetry, no person's library."""

import atexit
import os
import shutil
import tempfile

# Set before anything is imported: these libraries read them at import time, and children inherit them.
os.environ.update(
    HF_HUB_OFFLINE="1",
    HF_HUB_DISABLE_TELEMETRY="1",
    ANONYMIZED_TELEMETRY="False",
    ORT_DISABLE_TELEMETRY="1",
    TOKENIZERS_PARALLELISM="false",
)
# A test that forgets to name a home lands in an empty one, never in the library of whoever runs the tests.
if "KB_HOME" not in os.environ:
    os.environ["KB_HOME"] = tempfile.mkdtemp(prefix="kb-tests-")
    atexit.register(shutil.rmtree, os.environ["KB_HOME"], ignore_errors=True)
