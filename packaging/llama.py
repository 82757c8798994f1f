"""Builds llama-cpp-python, which has no ready packages, into a folder: `llama.py OUT`.

Run by `dev.py` in its environment, once for each machine: the wheel holds no instructions that only this processor has,
and fits every Python, so it is kept in the cache. No image models: they have their own adapter.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FLAGS = "-DLLAVA_BUILD=OFF -DGGML_NATIVE=OFF"


def main() -> int:
    """Build in a scratch folder; only a finished wheel gets to OUT."""
    out = Path(sys.argv[1])
    out.parent.mkdir(parents=True, exist_ok=True)
    env = {**os.environ, "CMAKE_ARGS": FLAGS, "CMAKE_BUILD_PARALLEL_LEVEL": str(os.cpu_count() or 2)}
    if shutil.which("ninja"):
        env["CMAKE_GENERATOR"] = "Ninja"
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "wheel", "-qq", "--no-cache-dir"]
    # its build tools are pinned in requirements.lock; build isolation would fetch others
    command += ["--no-deps", "--no-build-isolation", "--require-hashes", "-r", str(ROOT / "requirements-llama.lock")]
    with tempfile.TemporaryDirectory(dir=out.parent) as scratch:
        if code := subprocess.call([*command, "--wheel-dir", scratch], env=env):
            return code
        (wheel,) = Path(scratch).glob("*.whl")
        out.mkdir(exist_ok=True)
        shutil.move(wheel, out / wheel.name)
    return 0


if __name__ == "__main__":
    sys.exit(main())
