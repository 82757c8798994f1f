"""Files of evaluation in our data: suites by name, and the folder of each run."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from kb.adapters.files.atomic import private_folder, unwritten, write_atomically
from kb.domain.errors import InvalidInput, NotFound
from kb.domain.failures import StorageFailed
from kb.evaluation.ports import QueryOutcome, outcome_from_json, outcome_to_json

_SUFFIX = ".yaml"
_LARGEST = 64 << 20


class FileEvalRuns:
    """Wraps `runs/` of the data folder: questions one by one as `per_query.jsonl`, and reports for people."""

    def __init__(self, data_dir: Path) -> None:
        self._folder = data_dir / "runs"

    def write(self, run_id: str, outcomes: Sequence[QueryOutcome], reports: Mapping[str, str]) -> None:
        """Write the questions of a run, and its reports by file name.

        Raises:
            StorageFailed: the disk refuses.
        """
        lines = "".join(json.dumps(outcome_to_json(one), ensure_ascii=False) + "\n" for one in outcomes)
        folder = self._folder / run_id
        try:
            private_folder(self._folder)
            private_folder(folder)
            for name, text in {**reports, "per_query.jsonl": lines}.items():
                write_atomically(folder / name, text.encode())
        except OSError as error:
            raise unwritten("the report", error) from error

    def outcomes(self, run_id: str) -> Sequence[QueryOutcome]:
        """Return the questions of a run in order.

        Raises:
            NotFound: the folder is gone, or what is in it is not a run's.
        """
        try:
            # JSON escapes every line end but these of U+2028 and its like, which splitlines would cut at.
            lines = (self._folder / run_id / "per_query.jsonl").read_text("utf-8").split("\n")
            return [outcome_from_json(json.loads(line)) for line in lines if line]
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise NotFound(
                f"the questions of the run {run_id[:64]!r} are gone", hint="run the suite again with `kb eval run`"
            ) from error


class SuiteFiles:
    """Wraps suites: `NAME` is `suites/NAME.yaml` of the data folder, anything else the path of a YAML file."""

    def __init__(self, data_dir: Path) -> None:
        self._folder = data_dir / "suites"

    def names(self) -> Sequence[str]:
        """Return the names of the suites in the data folder."""
        return sorted(path.stem for path in self._folder.glob(f"*{_SUFFIX}") if path.is_file())

    def read(self, suite: str) -> str | None:
        """Return the text of a suite; None when there is no such file.

        Raises:
            InvalidInput: it is not a text file of at most 64 MB.
        """
        path = self._path(suite)
        try:
            if path.stat().st_size > _LARGEST:
                raise InvalidInput("the suite is larger than 64 MB", hint="split it into several files")
            return path.read_text("utf-8")
        except FileNotFoundError:
            return None
        except (OSError, UnicodeDecodeError) as error:
            raise InvalidInput(f"the suite {path.name!r} cannot be read", hint="is it a UTF-8 YAML file?") from error

    def write(self, suite: str, text: str) -> None:
        """Put a text in place of a suite, all at once.

        Raises:
            StorageFailed: the disk refuses.
        """
        path = self._path(suite)
        try:
            if path.parent == self._folder:
                private_folder(self._folder)
            write_atomically(path, text.encode())
        except OSError as error:
            raise StorageFailed(
                f"the suite {path.name!r} could not be written ({error.strerror})", hint="is its folder there?"
            ) from error

    def _path(self, suite: str) -> Path:
        if "/" not in suite and "\\" not in suite and not suite.endswith((_SUFFIX, ".yml")):
            if not suite or suite.startswith("."):
                raise InvalidInput("that is no name of a suite", hint="use letters and digits, or the path of a file")
            return self._folder / f"{suite}{_SUFFIX}"
        path = Path(suite).expanduser()
        if path.suffix not in {_SUFFIX, ".yml"}:
            raise InvalidInput(f"{path.name!r} is not a YAML file", hint="a suite's name ends in .yaml or .yml")
        return path
