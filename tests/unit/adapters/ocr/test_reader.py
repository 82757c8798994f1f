from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from kb.adapters.ocr import rapid
from kb.adapters.ocr.geometry import Quad, quad_of
from kb.adapters.ocr.lines import ReadLine
from kb.adapters.ocr.reader import RapidOcrTesseractReader, find_reader
from kb.ingest.reading_ports import OcrPage, Raster
from tests.fakes.line_reading import ShadedKorean, ShadedLines, drawn, reading


def line(x0: float, y0: float, x1: float, y1: float) -> Quad:
    return quad_of([(x0, y0), (x1, y0), (x1, y1), (x0, y1)])


def rows(count: int) -> list[Quad]:
    return [line(20, 20 + 30 * n, 380, 40 + 30 * n) for n in range(count)]


def read(
    quads: Sequence[Quad], general: Sequence[ReadLine], korean: Sequence[ReadLine] | None = None
) -> tuple[OcrPage, ShadedLines, ShadedKorean | None]:
    """Read a picture of 400 x 600 whose n-th line says what the n-th reading of each engine says."""
    lines = ShadedLines(quads, dict(enumerate(general)))
    tesseract = ShadedKorean(dict(enumerate(korean))) if korean is not None else None
    reader = RapidOcrTesseractReader(lines, tesseract, "v")
    return reader.read(Raster(400, 600, drawn(quads, 400, 600))), lines, tesseract


def texts(page: OcrPage) -> list[str]:
    return [line.text for line in page.lines]


def test_a_picture_without_lines_has_no_text() -> None:
    assert read([], [])[0] == OcrPage(())


def test_lines_come_with_words_where_they_stand() -> None:
    page, _, _ = read([line(100, 20, 300, 40)], [reading("ab cd")])
    (only,) = page.lines
    assert (only.text, only.language, only.block) == ("ab cd", "und", 0)
    assert [(only.text[w.start : w.end], w.x0, w.y0, w.x1, w.y1) for w in only.words] == [
        ("ab", 100, 20, 180, 40),
        ("cd", 220, 20, 300, 40),
    ]


def test_what_the_engine_does_not_believe_itself_is_no_text() -> None:
    page, _, _ = read(rows(3), [reading("yes"), reading("noise", 0.3), reading(" ")])
    assert texts(page) == ["yes"]


def test_clear_pages_never_reach_the_korean_engine() -> None:
    page, lines, korean = read(rows(6), [reading(f"line {n}") for n in range(6)], [])
    assert texts(page) == [f"line {n}" for n in range(6)]
    assert korean is not None
    assert korean.read_lines == []
    assert sorted(lines.read_lines) == list(range(6)), "every line is read once"


def test_a_korean_page_is_read_by_the_korean_engine() -> None:
    said = [reading(f"한국어 문장 {n}", 0.99, "ko") for n in range(8)]
    page, lines, _ = read(rows(8), [reading("O|", 0.55)] * 8, said)
    assert texts(page) == [f"한국어 문장 {n}" for n in range(8)]
    assert {line.language for line in page.lines} == {"ko"}
    assert len(lines.read_lines) == 4, "only the samples"


def test_an_english_line_on_a_korean_page_stays_english() -> None:
    general = [reading("O|", 0.55)] * 7 + [reading("An English line", 0.99)]
    said = [reading("한국어 문장", 0.99, "ko")] * 7 + [reading("An Engllsh Iine", 0.9, "ko")]
    assert texts(read(rows(8), general, said)[0])[-1] == "An English line"


def test_korean_lines_on_an_english_page_are_found() -> None:
    general = [reading(f"line number {n}") for n in range(8)]
    general[5] = reading("9|", 0.6)
    general[6] = reading("01", 0.97)
    said = [reading("", 0.1, "ko")] * 8
    said[5] = reading("안녕하세요", 0.98, "ko")
    said[6] = reading("이", 0.9, "ko")
    page, _, _ = read(rows(8), general, said)
    assert texts(page)[5:7] == ["안녕하세요", "이"]
    assert [line.language for line in page.lines] == ["und"] * 5 + ["ko", "ko", "und"]


@pytest.mark.parametrize(("text", "confidence"), [("검역 지평미 허", 0.93), ("30 파이 50006 0218", 0.99)])
def test_hangul_that_is_made_of_another_script_is_left_out(text: str, confidence: float) -> None:
    general = [reading("clear line")] * 4 + [reading("333", 0.6)] * 6
    page, _, _ = read(rows(10), general, [reading(text, confidence, "ko")] * 10)
    assert texts(page) == ["clear line"] * 4 + ["333"] * 6
    assert texts(read(rows(5), [reading("", 0.0)] * 5, [reading(text, confidence, "ko")] * 5)[0]) == []


def test_noise_is_tried_only_so_often() -> None:
    _, _, korean = read(
        rows(18), [reading("clear line")] * 2 + [reading("###", 0.6)] * 16, [reading("", 0.1, "ko")] * 18
    )
    assert korean is not None
    assert len(korean.read_lines) <= 16


def test_without_the_korean_engine_hangul_is_left_out_and_not_invented() -> None:
    assert texts(read(rows(3), [reading("O|", 0.4)] * 3)[0]) == []


def test_a_page_on_its_head_is_read_in_the_order_of_its_reader() -> None:
    quads = [quad.reversed() for quad in rows(4)][::-1]
    plain = [Quad(q.c, q.d, q.a, q.b) for q in quads]
    lines = ShadedLines(plain, {n: reading(f"line {n}") for n in range(4)})
    page = RapidOcrTesseractReader(lines, None, "v").read(Raster(400, 600, drawn(quads, 400, 600)))
    assert texts(page) == ["line 0", "line 1", "line 2", "line 3"]
    assert page.turned == 180
    first = page.lines[0].words[0]
    assert (first.x1, first.y1) == (380, 130), "the beginning is at the lower right"


@pytest.mark.parametrize("degrees", [90, 270])
def test_a_page_on_its_side_is_read_from_its_own_top(degrees: int) -> None:
    # Read downwards (turn back by 270 degrees), the first line is at the right; read upwards, at the left.
    standing = [line(350 - 40 * n, 20, 370 - 40 * n, 580) for n in range(4)]
    along = [Quad(q.b, q.c, q.d, q.a) for q in standing]
    if degrees == 90:
        along = [quad.reversed() for quad in along[::-1]]
        standing.reverse()
    lines = ShadedLines(standing, {n: reading(f"line number {n}") for n in range(4)})
    page = RapidOcrTesseractReader(lines, None, "v").read(Raster(400, 600, drawn(along, 400, 600)))
    assert texts(page) == [f"line number {n}" for n in range(4)]
    assert page.turned == degrees


def test_the_version_says_whether_korean_is_read(tmp_path: Path) -> None:
    if rapid.installed() is None:
        pytest.skip("the engine's models are not installed")
    without = find_reader([tmp_path])
    (tmp_path / "tesseract-korean").mkdir()
    (tmp_path / "tesseract-korean" / "kor.traineddata").write_bytes(b"model")
    with_korean = find_reader([tmp_path / "nowhere", tmp_path])
    assert without is not None
    assert with_korean is not None
    assert "no-korean" in without.version
    assert "kor" in with_korean.version
    assert with_korean.version != without.version


def test_without_the_engine_there_is_no_reader(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(rapid, "installed", lambda: None)
    assert find_reader([tmp_path]) is None


def test_finding_a_reader_loads_nothing_heavy() -> None:
    import subprocess

    script = (
        "import sys; from kb.adapters.ocr.reader import find_reader; import kb.adapters.parsers.picture.parser; "
        "find_reader([]); "
        "print([m for m in ('numpy', 'cv2', 'onnxruntime', 'rapidocr', 'tesserocr', 'PIL') if m in sys.modules])"
    )
    command = [sys.executable, "-c", script]
    backend = Path(__file__).resolve().parents[4] / "backend"
    done = subprocess.run(command, capture_output=True, text=True, check=True, env={"PYTHONPATH": str(backend)})
    assert done.stdout.strip() == "[]"
