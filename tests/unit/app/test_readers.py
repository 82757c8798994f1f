"""The program knows every parser and its version without loading what they read with; children load what they need."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from pathlib import Path

from kb.app.bootstrap import Parts
from kb.app.config_file import load_configuration
from kb.app.readers import format_parsers
from kb.app.settings import LimitsSettings
from kb.domain.items import MediaType
from kb.domain.limits import ReadingLimits
from tests.fakes.parsing import Utf8Decoder

_HEAVY = ("cv2", "onnxruntime", "av", "pymupdf", "lxml", "PIL", "numpy", "docx", "openpyxl", "faster_whisper", "psutil")
_SCRIPT = """
import sys
from kb.app.bootstrap import Parts
from kb.app.config_file import load_configuration
parts = Parts(load_configuration({"KB_HOME": sys.argv[1], "KB_MODELS_EMBEDDING_PROVIDER": "none"}))
reader = parts.reader
print(len([reader.version(media_type) for media_type in reader.media_types]))
print(*sorted(set(sys.argv[2:]) & sys.modules.keys()))
parts.close()
"""


def test_making_the_reader_loads_no_library_that_reads_files(tmp_path: Path) -> None:
    command = [sys.executable, "-c", _SCRIPT, str(tmp_path), *_HEAVY]
    count, loaded = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    assert int(count) > 0
    assert loaded == ""


def test_a_kind_of_file_has_one_parser() -> None:
    parsers = format_parsers(Utf8Decoder(), [])
    counted = Counter(media_type for parser in parsers for media_type in parser.media_types)
    assert [media_type for media_type, count in counted.items() if count > 1] == []
    assert all(parser.version for parser in parsers)


def test_every_kind_of_file_has_a_parser() -> None:
    in_process = {MediaType.MARKDOWN, MediaType.TEXT, MediaType.CODE}
    unknown_makes = {MediaType.OFFICE, MediaType.MAIL, MediaType.BOOK, MediaType.OTHER}
    parsers = format_parsers(Utf8Decoder(), [])
    assert {media_type for parser in parsers for media_type in parser.media_types} == (
        set(MediaType) - in_process - unknown_makes
    )


def test_limits_and_width_are_settings(tmp_path: Path) -> None:
    home = {"KB_HOME": str(tmp_path), "KB_INDEXING_MAX_PARALLEL_FILES": "3", "KB_LIMITS_PAGES": "7"}
    configuration = load_configuration(home)
    assert configuration.settings.limits.for_reading() == ReadingLimits(pages=7)
    parts = Parts(configuration)
    assert parts.reader.width == 3
    assert parts.reader is parts.reader
    parts.close()


def test_the_defaults_of_settings_and_parsers_are_the_same() -> None:
    assert LimitsSettings().for_reading() == ReadingLimits()
