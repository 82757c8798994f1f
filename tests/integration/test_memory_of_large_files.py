"""How memory grows with one file: the growth from one size to twice that, by what Python allocated, without a clock."""

from __future__ import annotations

import gc
import random
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest

from kb.adapters.encoding.decoder import CharsetNormalizerDecoder
from kb.adapters.parsers.pdf.parser import PyMuPdfParser
from kb.adapters.parsers.text.code import SourceCodeParser
from kb.adapters.parsers.text.plain import PlainTextParser
from kb.adapters.workers.codec import decode_document, encode_document
from kb.domain.chunks import ChunkPolicy
from kb.domain.files import FileBytes, FileIdentity
from kb.domain.ids import content_hash
from kb.domain.items import MediaType
from kb.domain.limits import ReadingLimits
from kb.domain.paths import WorkspacePath
from kb.governance.masking import SecretMasker
from kb.ingest.making import MadeDocument, ParsedAndChunked
from kb.ingest.ports import Parser
from kb.ingest.reading_ports import SourceFile
from tests.bench.large import write_json, write_pdf, write_text
from tests.fakes.parsing import FixedDetector

_SIZE = 3 << 19
_DECODER = CharsetNormalizerDecoder(1 << 17)


def made(data: bytes, name: str, media_type: MediaType) -> MadeDocument:
    parsers: list[Parser] = [PlainTextParser(_DECODER), SourceCodeParser(_DECODER)]
    maker = ParsedAndChunked(parsers, FixedDetector(), ChunkPolicy(), None, masker=SecretMasker())
    content = FileBytes(data, content_hash(data), FileIdentity(len(data), 0, "1"))
    return maker.begin(WorkspacePath(name), content, media_type).finish()


def peak(work: Callable[[], object]) -> int:
    """Return the most bytes that Python held during `work`, its result included, beyond those it held before."""
    gc.collect()
    tracemalloc.start()
    try:
        kept = work()
        del kept
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def write_emoji(file: Path, size: int) -> None:
    """Write prose with one letter outside the basic plane in it: as one string, all of it takes four bytes a letter."""
    write_text(file, size)
    data = file.read_bytes()
    file.write_bytes(data[:1000] + "\U0001f600".encode() + data[1000:])


def write_secrets(file: Path, size: int) -> None:
    """Write prose with a password in every hundredth line, less of it, since each is sought everywhere."""
    write_text(file, size // 4)
    chance = random.Random(1)
    lines = file.read_text(encoding="utf-8").split("\n")
    for number in range(0, len(lines), 100):
        lines[number] += f"\npassword: xK9#{chance.randbytes(6).hex()}"
    file.write_text("\n".join(lines), encoding="utf-8")


@pytest.mark.parametrize(
    ("write", "name", "media_type", "most"),
    [
        (write_text, "long.txt", MediaType.TEXT, 2.5),
        (lambda file, size: write_text(file, size, cjk=True), "long.txt", MediaType.TEXT, 4.0),
        (write_emoji, "long.txt", MediaType.TEXT, 2.5),
        # For a moment the text as it was read and as it is masked are both there.
        (write_secrets, "long.txt", MediaType.TEXT, 4.0),
        (write_text, "long.py", MediaType.CODE, 2.5),
        (write_json, "one-line.json", MediaType.CODE, 6.0),
    ],
    ids=["prose", "chinese and korean", "one emoji", "secrets", "code", "json in one line"],
)
def test_a_text_takes_a_few_times_its_bytes(
    write: Callable[[Path, int], None], name: str, media_type: MediaType, most: float, tmp_path: Path
) -> None:
    sizes, peaks = [], []
    made(b"Words of a file that loads what every file needs.\n", name, media_type)
    for factor in (1, 2):
        file = tmp_path / name
        write(file, factor * _SIZE)
        data = file.read_bytes()
        sizes.append(len(data))
        # What threads of other tests allocate meanwhile only adds.
        peaks.append(min(peak(lambda data=data: made(data, name, media_type)) for _ in range(2)))  # type: ignore[misc]
    assert (peaks[1] - peaks[0]) / (sizes[1] - sizes[0]) < most


def test_a_page_of_six_hundred_words_takes_less_than_eighty_kilobytes(tmp_path: Path) -> None:
    parser, limits = PyMuPdfParser(None), ReadingLimits()

    def read(pages: int) -> int:
        file = tmp_path / f"{pages}.pdf"
        write_pdf(file, pages)
        source = SourceFile(WorkspacePath(file.name), MediaType.PDF, file.read_bytes(), "0" * 64)

        def work() -> object:
            data = b"".join(encode_document(parser.read(source, limits, lambda _done, _total, _unit: None)))
            return decode_document(data)

        return peak(work)

    read(2)
    assert (read(30) - read(10)) / 20 < 80_000
