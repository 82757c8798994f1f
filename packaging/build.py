"""Builds the wheel into `dist/` and tries it in an environment that sees the pinned libraries, but not the source.

Run by `dev.py package` in its environment.
"""

import os
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DIST = ROOT / "dist"


def main() -> None:
    """Build, install, ask for help."""
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(DIST), str(ROOT)]
    subprocess.run(command, check=True, cwd=ROOT, stdout=subprocess.DEVNULL)
    wheel = max(DIST.glob("kebab-*.whl"), key=lambda path: path.stat().st_mtime)
    with tempfile.TemporaryDirectory() as scratch:
        try_out(wheel, Path(scratch))
    print(f"Built and tried: {wheel.relative_to(ROOT)} ({wheel.stat().st_size / 1e3:.0f} kB)")


def try_out(wheel: Path, scratch: Path) -> None:
    """Install the wheel alone and run what it installs."""
    trial = scratch / "venv"
    subprocess.run([sys.executable, "-m", "venv", str(trial)], check=True)
    programs = trial / ("Scripts" if os.name == "nt" else "bin")
    install = ["-m", "pip", "--disable-pip-version-check", "install", "-qq", "--no-deps", "--no-index", str(wheel)]
    subprocess.run([str(programs / "python"), *install], check=True)
    where = [str(programs / "python"), "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]
    inside = Path(subprocess.run(where, check=True, capture_output=True, text=True).stdout.strip())
    # .pth files in a folder that a .pth file names are not read, so the links to the source stay out
    (inside / "libraries.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    subprocess.run([str(programs / "kb"), "--help"], check=True, cwd=scratch)


if __name__ == "__main__":
    main()
