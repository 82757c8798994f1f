"""Where config, data, cache, logs and models are, per platform, or all under `KB_HOME`."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Locations:
    """The program's own folders; the workspace is the person's and named by the settings.

    Attributes:
        bundled_models: models that came with the program or were made by `dev.py setup`; read only.
    """

    config_file: Path
    data_dir: Path
    cache_dir: Path
    log_dir: Path
    default_workspace: Path
    bundled_models: Path


def locate(environ: dict[str, str] | None = None) -> Locations:
    """Find the folders: `KB_HOME` moves all of them under one folder.

    On Linux the defaults are `~/.config/kb`, `~/.local/share/kb`, `~/.cache/kb` and
    `~/.local/state/kb/logs`; macOS and Windows have their equivalents (platformdirs).
    """
    env = dict(os.environ) if environ is None else environ
    home = env.get("KB_HOME", "")
    if home:
        root = Path(home).expanduser().absolute()
        return Locations(
            config_file=root / "config" / "config.toml",
            data_dir=root / "data",
            cache_dir=root / "cache",
            log_dir=root / "logs",
            default_workspace=root / "KnowledgeBase",
            bundled_models=_bundled_models(),
        )
    from platformdirs import PlatformDirs

    dirs = PlatformDirs("kb", appauthor=False, roaming=False)
    return Locations(
        config_file=dirs.user_config_path / "config.toml",
        data_dir=dirs.user_data_path,
        cache_dir=dirs.user_cache_path,
        log_dir=dirs.user_state_path / "logs",
        default_workspace=Path("~/KnowledgeBase").expanduser(),
        bundled_models=_bundled_models(),
    )


def readable(path: Path) -> str:
    """Return a path for people: below the home folder it starts with `~`."""
    home = Path.home()
    if path == home or home in path.parents:
        return str(Path("~") / path.relative_to(home))
    return str(path)


def _bundled_models() -> Path:
    # In a frozen bundle the models lie beside the program, else in the environment's share folder.
    base = Path(sys.executable).parent if getattr(sys, "frozen", False) else Path(sys.prefix)
    return base / "share" / "kb" / "models"
