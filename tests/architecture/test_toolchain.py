"""What a clone on any machine relies on: the lock, dev.py, the folder packaging/, files without traces of a machine."""

from __future__ import annotations

import ast
import importlib.metadata
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import dev
import packaging
import packaging.requirements
import packaging.utils
import pytest

from tests.architecture.tree import ROOT, relative, tracked_files

LOCK = (ROOT / "requirements.lock").read_text(encoding="utf-8")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
PINNED = dict(re.findall(r"^([a-z0-9-]+)==(\S+)", LOCK, re.MULTILINE))

# put together here, so that this file holds none of them
HOSTS = ["pypi" + ".org", "python" + "hosted.org", "registry.npm" + "js.org", "deb." + "debian.org"]
PLACES = re.compile(r"(?<![\w.~-])/(?:work|root)/")


def test_the_name_packaging_is_still_the_library() -> None:
    where = Path(packaging.__file__ or "").resolve()
    assert "site-packages" in where.parts
    assert not (ROOT / "packaging" / "__init__.py").exists()


def test_dev_py_imports_only_the_standard_library() -> None:
    imported = set()
    for node in ast.walk(ast.parse((ROOT / "dev.py").read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            imported |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            imported.add((node.module or "").split(".")[0])
    assert imported - sys.stdlib_module_names == set()


def test_dev_py_can_be_read_by_a_python_too_old_to_run_it() -> None:
    ast.parse((ROOT / "dev.py").read_text(encoding="utf-8"), feature_version=(3, 7))


def test_an_old_python_gets_a_message(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "version_info", (3, 10, 13))
    assert dev.main() == 2
    assert "Kebab needs Python 3.11 or newer" in capsys.readouterr().out


def test_every_declared_dependency_is_pinned_in_the_lock() -> None:
    declared = PROJECT["dependencies"] + PROJECT["optional-dependencies"]["dev"]
    for text in declared:
        requirement = packaging.requirements.Requirement(text)
        name = packaging.utils.canonicalize_name(requirement.name)
        assert name in PINNED, f"{name} is not in requirements.lock; docs/development.md has the command"
        assert requirement.specifier.contains(PINNED[name], prereleases=True), f"{name} {PINNED[name]} is not {text}"


def test_the_environment_has_what_the_lock_says() -> None:
    # these have two pins, by Python version
    twice = {"numpy", "av", "scipy"}
    installed = {packaging.utils.canonicalize_name(d.name): d.version for d in importlib.metadata.distributions()}
    wrong = {n: (v, installed[n]) for n, v in PINNED.items() if n in installed and installed[n] != v and n not in twice}
    assert wrong == {}


def test_every_pin_has_a_hash_and_no_place_to_fetch_from() -> None:
    pins = re.split(r"\n(?=[a-z0-9])", LOCK)
    assert [pin for pin in pins if not pin.startswith("#") and "--hash=sha256:" not in pin] == []
    assert "://" not in LOCK
    assert "index-url" not in LOCK


def test_torch_stays_out() -> None:
    assert not {"torch", "transformers", "tensorflow"} & set(PINNED)


def test_the_model_runtime_has_no_way_to_report_to_its_maker() -> None:
    # found in the wheels of onnxruntime from 1.29 on; without importing it, since that alone would report
    where = Path(str(importlib.metadata.distribution("onnxruntime").locate_file("onnxruntime"))) / "capi"
    libraries = [path for path in where.iterdir() if path.name.startswith("onnxruntime_pybind11_state")]
    assert libraries
    assert [path.name for path in libraries if b"OneCollector" in path.read_bytes()] == []


def test_no_file_tells_of_a_machine_or_a_registry() -> None:
    told = []
    for path in tracked_files():
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        hits = [host for host in HOSTS if host in text] + PLACES.findall(text)
        told += [f"{relative(path)}: {hit}" for hit in hits]
    assert told == []


def test_the_ci_script_runs_the_same_checks_as_a_person() -> None:
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert "dev.py test" in script
    mode = subprocess.run(
        ["git", "ls-files", "--stage", ".ci/run"], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout
    assert mode.startswith("100755")


def test_the_models_manifest_pins_every_byte_it_takes() -> None:
    manifest = tomllib.loads((ROOT / "assets" / "models.toml").read_text(encoding="utf-8"))
    for model in manifest["model"]:
        for taken in (model, *model.get("also", ())):
            whole = taken.get("wheel_sha256") or taken["archive_sha256"]
            assert len(whole) == len(taken["member_sha256"]) == 64
        made = ROOT / ".venv" / "share" / "kb" / "models" / model["id"]
        described = tomllib.loads((made / "model.toml").read_text(encoding="utf-8"))
        assert described["version"] == model["version"]
        assert (made / described["file"]).stat().st_size == described["size"]
