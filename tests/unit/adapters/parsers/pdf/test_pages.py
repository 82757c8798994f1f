"""What becomes of every page: text, recognised, blank, waiting, failed; locked, damaged and hostile files."""

from __future__ import annotations

import os
import subprocess
import sys
import zlib
from pathlib import Path

import pymupdf
import pytest

from kb.adapters.workers.process import ChildSetup
from kb.adapters.workers.reader import COMMAND, ChildReader
from kb.domain.coverage import CoverageUnit
from kb.domain.documents import ParsedDocument
from kb.domain.errors import Unreadable
from kb.domain.items import MediaType
from kb.domain.limits import ReadingLimits
from kb.domain.metadata import ProvenanceKind
from kb.domain.paths import WorkspacePath
from kb.ingest.reading_ports import OcrLine, OcrPage, OcrWord, Raster
from tests.fakes.reading import content
from tests.unit.adapters.parsers.pdf.making import KnownReader, check_places, laid_out, read

BACKEND = Path(__file__).parents[5] / "backend"
SENTENCE = "The lighthouse keeper wrote down every ship that passed in the night."


class TypistReader:
    """Recognises the same line on every picture; `right` and `y` say where, as shares of it."""

    version = "typist-v1"

    def __init__(self, text: str, y: float = 0.5, right: float = 0.9) -> None:
        self.text = text
        self.y = y
        self.right = right
        self.shown: list[Raster] = []

    def read(self, picture: Raster) -> OcrPage:
        self.shown.append(picture)
        top = self.y * picture.height
        word = OcrWord(0, len(self.text), 0.12 * picture.width, top, self.right * picture.width, top + 20)
        return OcrPage((OcrLine(self.text, (word,), 0.8, 0),))


class BrokenReader:
    version = "broken-v1"

    def read(self, picture: Raster) -> OcrPage:
        raise RuntimeError("no")


def states(document: ParsedDocument) -> list[tuple[str, int, int]]:
    return [(unit.state, unit.start, unit.end) for unit in document.coverage]


def mixed() -> pymupdf.Document:
    """Two pages of text, two scans, an empty page, one more of text."""
    document = pymupdf.open()
    for _ in range(2):
        document.new_page().insert_text((72, 100), SENTENCE)
    scan = laid_out([SENTENCE], scanned=True)
    for _ in range(2):
        document.insert_pdf(pymupdf.open(stream=scan.data))
    document.new_page()
    document.new_page().insert_text((72, 100), SENTENCE)
    return document


def test_every_page_of_a_mixed_file_is_accounted_for() -> None:
    ocr = TypistReader("what the scan says")
    document = read(mixed().tobytes(), ocr)
    check_places(document)
    assert document.coverage == (
        CoverageUnit("page", 1, 2, "text"),
        CoverageUnit("page", 3, 4, "ocr", 0.8),
        CoverageUnit("page", 5, 5, "blank"),
        CoverageUnit("page", 6, 6, "text"),
    )
    assert [page.source for page in document.pages] == ["text", "text", "ocr", "ocr", "text"]
    assert document.steps == ((ProvenanceKind.OCR_APPLIED, "typist-v1"),)
    assert document.waits_for == ""
    assert [(raster.width, len(raster.rgb)) for raster in ocr.shown] == [(1389, 1389 * 1945 * 3)] * 2


def test_without_recognition_scans_wait_and_the_rest_is_read() -> None:
    document = read(mixed().tobytes())
    assert states(document) == [("text", 1, 2), ("waiting", 3, 4), ("blank", 5, 5), ("text", 6, 6)]
    assert document.waits_for == "ocr_model"
    assert document.coverage[1].reason == "ocr_model"


def test_the_letters_of_an_invisible_layer_are_used_and_not_doubled() -> None:
    made = laid_out([SENTENCE], scanned=True)
    document = pymupdf.open(stream=made.data)
    for word in made.words:
        at = (word.x0 * 500, word.y0 * 700 + 8.8)
        document[0].insert_text(at, word.text, fontsize=11, render_mode=3)
    ocr = KnownReader([made.words])
    result = read(document.tobytes(), ocr)
    assert [block.text for block in result.blocks] == [SENTENCE]


def test_a_picture_beside_few_letters_is_recognised_and_the_letters_kept_once() -> None:
    document = pymupdf.open(stream=laid_out([SENTENCE], scanned=True).data)
    document[0].insert_text((60, 690), "Exhibit 12", fontsize=11)
    result = read(document.tobytes(), TypistReader("what the scan says"))
    check_places(result)
    assert sorted(block.text for block in result.blocks) == ["Exhibit 12", "what the scan says"]
    assert states(result) == [("ocr", 1, 1)]
    stamped = read(document.tobytes(), TypistReader("Exhibit 12", y=0.975, right=0.23))
    assert [block.text for block in stamped.blocks] == ["Exhibit 12"]


def test_a_picture_without_letters_is_no_blank_page() -> None:
    class Nothing:
        version = "nothing-v1"

        def read(self, picture: Raster) -> OcrPage:
            return OcrPage(())

    result = read(laid_out([SENTENCE], scanned=True).data, Nothing())
    assert result.coverage == (CoverageUnit("page", 1, 1, "ocr", None, "no_text"),)
    assert result.blocks == ()


def test_an_engine_that_stumbles_costs_the_page_only() -> None:
    result = read(mixed().tobytes(), BrokenReader())
    assert states(result) == [("text", 1, 2), ("failed", 3, 4), ("blank", 5, 5), ("text", 6, 6)]
    assert result.coverage[1].reason == "ocr_failed"
    assert "no" not in [block.text for block in result.blocks]


def scan_with(text: str, lines: int = 1) -> bytes:
    """A scanned page with letters of its own at its foot."""
    document = pymupdf.open()
    page = document.new_page(width=500, height=700)
    page.insert_image(page.rect, pixmap=pymupdf.open(stream=laid_out([SENTENCE]).data)[0].get_pixmap(dpi=100))
    for line in range(lines):
        page.insert_text((60, 690 - 12 * line), text, fontsize=11)
    return bytes(document.tobytes())


@pytest.mark.parametrize(
    ("ocr", "limits", "state", "reason"),
    [
        (BrokenReader(), ReadingLimits(), "failed", "ocr_failed"),
        (TypistReader("x"), ReadingLimits(pixels=1000), "failed", "too_many_pixels"),
        (None, ReadingLimits(), "waiting", "ocr_model"),
    ],
)
def test_a_stamped_number_does_not_pass_for_the_page_of_a_scan_that_was_not_read(
    ocr: TypistReader | BrokenReader | None, limits: ReadingLimits, state: str, reason: str
) -> None:
    result = read(scan_with("17"), ocr, limits=limits)
    check_places(result)
    assert [(unit.state, unit.reason) for unit in result.coverage] == [(state, reason)]
    assert [block.text for block in result.blocks] == ["17"]


@pytest.mark.parametrize(
    ("ocr", "limits", "reason"),
    [
        (BrokenReader(), ReadingLimits(), "ocr_failed"),
        (TypistReader("x"), ReadingLimits(pixels=1000), "too_many_pixels"),
    ],
)
def test_a_page_of_text_stays_text_and_says_that_its_picture_was_not_read(
    ocr: TypistReader | BrokenReader, limits: ReadingLimits, reason: str
) -> None:
    result = read(scan_with("Exhibit twelve, as filed with the court", lines=2), ocr, limits=limits)
    assert [(unit.state, unit.reason) for unit in result.coverage] == [("text", reason)]
    assert "Exhibit twelve" in result.blocks[0].text


def test_a_few_words_on_a_page_whose_drawing_breaks_are_no_page(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> bool:
        raise RuntimeError("no such object")

    monkeypatch.setattr("kb.adapters.parsers.pdf.mupdf_drawing.may_draw", broken)
    result = read(scan_with("17"), TypistReader("x"))
    assert [(unit.state, unit.reason) for unit in result.coverage] == [("failed", "damaged")]
    assert [block.text for block in result.blocks] == ["17"]


def test_when_no_page_can_be_read_the_ledger_says_so_for_each() -> None:
    document = pymupdf.open()
    scan = laid_out([SENTENCE], scanned=True)
    for _ in range(3):
        document.insert_pdf(pymupdf.open(stream=scan.data))
    result = read(document.tobytes(), BrokenReader())
    assert result.coverage == (CoverageUnit("page", 1, 3, "failed", None, "ocr_failed"),)
    assert result.blocks == ()
    assert [warning.kind for warning in result.warnings] == ["extract_failed"]


def test_a_locked_file_asks_for_its_password_and_opens_with_it() -> None:
    document = pymupdf.open()
    document.new_page().insert_text((72, 100), SENTENCE)
    data = document.tobytes(encryption=pymupdf.PDF_ENCRYPT_AES_256, user_pw="sesame", owner_pw="owner")
    for password in (None, "wrong"):
        with pytest.raises(Unreadable) as caught:
            read(data, password=password)
        assert caught.value.reason == "locked"
        assert "kb ingest --password" in caught.value.hint
        assert "wrong" not in str(caught.value)
    assert read(data, password="sesame").blocks[0].text == SENTENCE


def test_a_file_that_only_forbids_printing_is_read() -> None:
    document = pymupdf.open()
    document.new_page().insert_text((72, 100), SENTENCE)
    data = document.tobytes(encryption=pymupdf.PDF_ENCRYPT_AES_256, owner_pw="owner", permissions=0)
    assert read(data).blocks[0].text == SENTENCE


def test_pages_that_a_file_cut_short_only_names_are_not_blank() -> None:
    document = pymupdf.open()
    for number in range(3):
        document.new_page().insert_text((72, 100), f"Page {number} of a file that is cut short in a while.")
    data = document.tobytes()
    result = read(data[: data.index(b"/FlateDecode", data.index(b"endstream")) + 40])
    assert [(unit.start, unit.end, unit.state, unit.reason) for unit in result.coverage] == [
        (1, 1, "text", None),
        (2, 3, "failed", "damaged"),
    ]


def test_a_file_cut_short_is_damaged_and_not_done_with_no_pages() -> None:
    document = pymupdf.open()
    for _ in range(50):
        document.new_page().insert_text((72, 100), SENTENCE)
    whole = document.tobytes(use_objstms=1)
    with pytest.raises(Unreadable) as caught:
        read(whole[: len(whole) // 5])
    assert caught.value.reason == "damaged"


@pytest.mark.parametrize("data", [b"<html><body>not a PDF</body></html>", "메모일 뿐이다\n".encode()])
def test_text_named_pdf_is_no_damaged_pdf(data: bytes) -> None:
    with pytest.raises(Unreadable) as caught:
        read(data)
    assert caught.value.reason == "wrong_type"


def test_more_pages_than_allowed_fail_the_file() -> None:
    with pytest.raises(Unreadable) as caught:
        read(mixed().tobytes(), limits=ReadingLimits(pages=5))
    assert caught.value.reason == "too_many_pages"


def test_more_letters_than_allowed_fail_the_file() -> None:
    with pytest.raises(Unreadable) as caught:
        read(mixed().tobytes(), limits=ReadingLimits(characters=100))
    assert caught.value.reason == "expands_too_much"


def test_a_picture_beyond_the_limit_of_pixels_is_not_decoded() -> None:
    ocr = TypistReader("x")
    result = read(mixed().tobytes(), ocr, limits=ReadingLimits(pixels=1000))
    assert states(result) == [("text", 1, 2), ("failed", 3, 4), ("blank", 5, 5), ("text", 6, 6)]
    assert result.coverage[1].reason == "too_many_pixels"
    assert ocr.shown == []


def test_progress_is_told_for_every_page() -> None:
    from kb.adapters.parsers.pdf.parser import PyMuPdfParser
    from kb.domain.items import MediaType
    from kb.domain.paths import WorkspacePath
    from kb.ingest.reading_ports import SourceFile

    told: list[tuple[int, int, str]] = []
    source = SourceFile(WorkspacePath("a.pdf"), MediaType.PDF, mixed().tobytes())
    PyMuPdfParser().read(source, ReadingLimits(), lambda done, total, unit: told.append((done, total, unit)))
    assert told == [(number, 6, "page") for number in range(1, 7)]


def test_importing_the_parser_loads_no_library() -> None:
    script = (
        "import sys; from kb.adapters.parsers.pdf.parser import PyMuPdfParser; print(PyMuPdfParser(None).version);"
        "print([name for name in ('pymupdf', 'pypdfium2', 'PIL', 'numpy') if name in sys.modules])"
    )
    lines = run_child(script).splitlines()
    assert lines[0].startswith("pdf-v2+pymupdf-")
    assert lines[1] == "[]"


def run_child(script: str, stdin: bytes = b"", seconds: float = 20) -> str:
    environment = {**os.environ, "PYTHONPATH": str(BACKEND)}
    try:
        done = subprocess.run(
            [sys.executable, "-c", script],
            input=stdin,
            capture_output=True,
            timeout=seconds,
            env=environment,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return "hung"
    return done.stdout.decode() if done.returncode == 0 else f"died {done.returncode}"


READ = """
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30))
from kb.adapters.parsers.pdf.parser import PyMuPdfParser
from kb.domain.errors import Unreadable
from kb.domain.items import MediaType
from kb.domain.limits import ReadingLimits
from kb.ingest.reading_ports import SourceFile
try:
    source = SourceFile("a.pdf", MediaType.PDF, sys.stdin.buffer.read())
    document = PyMuPdfParser(None).read(source, ReadingLimits(), lambda *_: None)
    print("read", [unit.state for unit in document.coverage])
except Unreadable as error:
    print("refused", error.reason)
"""


def raw_pdf(*objects: bytes) -> bytes:
    """Put numbered objects together without a cross-reference table: readers repair that."""
    body = b"".join(b"%d 0 obj\n%s\nendobj\n" % (number, content) for number, content in enumerate(objects, 1))
    return b"%PDF-1.7\n" + body + b"trailer\n<</Root 1 0 R/Size %d>>\n%%%%EOF" % (len(objects) + 1)


def stream(content: bytes, extra: bytes = b"") -> bytes:
    return b"<<%s/Length %d>>\nstream\n%s\nendstream" % (extra, len(content), content)


PAGE = b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 300 300]/Contents 4 0 R/Resources<<%s>>>>"
ROOT, PAGES = b"<</Type/Catalog/Pages 2 0 R%s>>", b"<</Type/Pages/Kids[3 0 R]/Count 1>>"
FONT = b"/Font<</F<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>>>"
WORDS = b"BT /F 12 Tf 20 100 Td (A line of words that can be read all the same) Tj ET"


def test_a_loop_of_bookmarks_does_not_stop_the_reading() -> None:
    data = raw_pdf(
        ROOT % b"/Outlines 5 0 R",
        PAGES,
        PAGE % FONT,
        stream(WORDS),
        b"<</First 6 0 R/Last 6 0 R/Count 1>>",
        b"<</Title(Round and round)/Parent 5 0 R/Next 6 0 R/First 6 0 R/Dest[3 0 R/Fit]>>",
    )
    assert run_child(READ, data) == "read ['text']\n"


def test_a_page_that_contains_itself_ends() -> None:
    form = stream(
        b"/X Do " + WORDS, b"/Type/XObject/Subtype/Form/BBox[0 0 300 300]/Resources<</XObject<</X 5 0 R>>%s>>" % FONT
    )
    data = raw_pdf(ROOT % b"", PAGES, PAGE % (b"/XObject<</X 5 0 R>>" + FONT), stream(b"/X Do " + WORDS), form)
    assert run_child(READ, data).startswith("read")


def test_a_hundred_thousand_objects_are_read() -> None:
    data = raw_pdf(ROOT % b"", PAGES, PAGE % FONT, stream(WORDS), *[b"<</A 1>>"] * 100_000)
    assert run_child(READ, data) == "read ['text']\n"


def test_hostile_files_end_with_a_reason_and_the_next_file_is_read(tmp_path: Path) -> None:
    names = [b"/X%d %d 0 R" % (level, level + 5) for level in range(10)]
    forms = [
        stream(
            b"/X%d Do " % (level + 1) * 10 if level < 9 else WORDS,
            b"/Type/XObject/Subtype/Form/BBox[0 0 300 300]/Resources<</XObject<<%s>>%s>>" % (b" ".join(names), FONT),
        )
        for level in range(10)
    ]
    nested = raw_pdf(ROOT % b"", PAGES, PAGE % (b"/XObject<<%s>>" % b" ".join(names)), stream(b"/X0 Do"), *forms)
    inner = zlib.compress(b"\0" * (64 << 20), 9)
    twice = zlib.compress(inner * 16, 9)
    bomb = raw_pdf(ROOT % b"", PAGES, PAGE % FONT, stream(twice, b"/Filter[/FlateDecode/FlateDecode]"))
    limits = ReadingLimits(seconds=3, memory_mb=512)
    reader = ChildReader({MediaType.PDF: "pdf"}, ChildSetup(COMMAND, limits, folder=tmp_path), width=1)
    files = [nested, bomb, raw_pdf(ROOT % b"", PAGES, PAGE % FONT, stream(WORDS))]
    readings = [reader.begin(content(data), WorkspacePath("a.pdf"), MediaType.PDF) for data in files]
    ends = []
    for reading in readings:
        try:
            ends.append([unit.reason or unit.state for unit in reading.result().coverage])
        except Unreadable as error:
            ends.append([error.reason])
    reader.close()
    assert ends[0][0] in {"too_slow", "too_complex", "too_much_memory", "crashed"}
    # Where it is unpacked in time and memory there is nothing in it.
    assert ends[1][0] in {
        "too_slow",
        "too_complex",
        "too_much_memory",
        "crashed",
        "expands_too_much",
        "damaged",
        "blank",
    }
    assert ends[2] == ["text"]
