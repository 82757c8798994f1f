"""Shows what Kebab does, in the terminal: the sample workspace read, and its questions answered.

Run by `dev.py run`, once for each way of answering: `sample.py KB PROVIDER BEGAN`, where BEGAN is the time at which the
person's command began. All of it happens in `.dev/`: a copy of the sample, and a home of its own. Exits 0 when every
question got a cited answer, 1 when one did not.
"""

import os
import shlex
import shutil
import subprocess
import sys
import time
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SAMPLE = ROOT / "assets" / "sample"
DEV = ROOT / ".dev"
TITLES = {
    "extractive": "Extractive answers: sentences of the notes themselves",
    "llama_cpp": "Answers of llama_cpp with SmolLM2-135M, far too small to be trusted: they show the way, word by word",
}
TEST_MODEL = "smollm2-135m-instruct"
REFUSAL = 1


def main() -> int:
    """Run one round."""
    program, provider, began = sys.argv[1], sys.argv[2], float(sys.argv[3])
    env = environment(provider)
    if provider == "extractive":
        workspace = Path(env["KB_WORKSPACE_ROOT"])
        shutil.copytree(SAMPLE, workspace, dirs_exist_ok=True, ignore=shutil.ignore_patterns("questions.toml"))
        say("\nThe sample workspace, copied to .dev/sample; your own library is not touched.")
        for command in ("init", "ingest"):
            if code := kb(program, [command], env):
                return code
    return ask(program, env, TITLES[provider], began)


def environment(provider: str) -> dict[str, str]:
    """The variables of a home of its own, without those of the person's library."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("KB_")}
    mine = {"KB_HOME": str(DEV / "home"), "KB_WORKSPACE_ROOT": str(DEV / "sample"), "PYTHONUTF8": "1"}
    if provider == "llama_cpp":
        mine |= {"KB_MODELS_LLM_PROVIDER": provider, "KB_MODELS_LLM_MODEL": TEST_MODEL}
    return kept | mine


def ask(program: str, env: dict[str, str], title: str, began: float) -> int:
    """Ask every question of the sample."""
    say(f"\n{title}")
    codes = []
    for question in tomllib.loads((SAMPLE / "questions.toml").read_text(encoding="utf-8"))["question"]:
        started = time.monotonic()
        codes.append(kb(program, ["ask", question["text"]], env))
        since = "" if len(codes) > 1 else f"; {time.time() - began:.1f} s since dev.py began"
        say(f"({question['lang']}, {time.monotonic() - started:.1f} s{since})")
        if codes[-1] > REFUSAL:
            return codes[-1]
    return 0 if codes and not any(codes) else REFUSAL


def kb(program: str, arguments: list[str], env: dict[str, str]) -> int:
    """Run `kb`, shown as typed."""
    say(f"\n$ kb {shlex.join(arguments)}")
    return subprocess.call([program, *arguments], cwd=ROOT, env=env)


def say(text: str) -> None:
    """Print at once: what `kb` prints comes between."""
    print(text, flush=True)


if __name__ == "__main__":
    sys.exit(main())
