"""Character error rate of reading pictures, by language and kind of page, and the time beside the bare engine.

    python tests/bench/ocr_errors.py [--pages N] [--languages ko,en] [--variants 150,skew] [--times N] [--images]

Needs Debian's fonts-noto-cjk and fonts-noto-core and the shared data (`KEBAB_SHARED`, else `../shared`). N pages of
every kind are rendered for every language, the same ones every time. Errors are edits (Levenshtein) by characters of
the truth; runs of white space count as one space, and as none in Chinese.
"""

from __future__ import annotations

import argparse
import re
import statistics
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from PIL import Image

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from kb.adapters.ocr import rapid
from kb.adapters.ocr.reader import find_reader
from kb.adapters.parsers.picture.opening import displayed
from kb.adapters.parsers.shared.ocr_blocks import page_from_ocr
from kb.ingest.reading_ports import PictureTextReader, Raster
from tests.bench.material import shared_data
from tests.bench.measure import Row
from tests.bench.ocr_pages import LANGUAGES, VARIANTS, pages

MODELS = Path(sys.prefix) / "share" / "kb" / "models"
# The pictures of the shared data that have a text, below data/ocr/tesseract
TEXTS = (
    ("phototest.tif", "phototest.gold.txt"),
    ("phototest-rotated-180.png", "phototest.gold.txt"),
    ("8071_093.3B.tif", "8071_093.3B.txt"),
    ("8087_054.3B.tif", "8087_054.3B.txt"),
)


def edits(said: str, read: str) -> int:
    """Return the Levenshtein distance, row by row: Wagner and Fischer (1974), insertions by a running minimum."""
    letters = np.array([ord(c) for c in read], np.int64)
    steps = np.arange(len(read) + 1)
    row = steps.copy()
    for number, letter in enumerate(said, 1):
        following = np.empty_like(row)
        following[0] = number
        following[1:] = np.minimum(row[1:] + 1, row[:-1] + (letters != ord(letter)))
        row = np.minimum.accumulate(following - steps) + steps
    return int(row[-1])


def error_rate(said: str, read: str, language: str) -> float:
    """Return edits by characters of the truth."""
    space = "" if language.startswith("zh") else " "
    truth, found = (re.sub(r"\s+", space, text.strip()) for text in (said, read))
    return edits(truth, found) / max(len(truth), 1)


def words_found(said: str, read: str) -> float:
    """Return the share of the words of the truth that were read, in whatever order: magazines have many orders."""
    truth, found = Counter(said.split()), Counter(read.split())
    return (truth & found).total() / max(truth.total(), 1)


def read(reader: PictureTextReader, image: Image.Image) -> tuple[str, float, int]:
    """Return the text of a picture, the CPU seconds it took, and how it was turned."""
    picture = displayed(image)
    raster = Raster(picture.width, picture.height, picture.tobytes())
    began = time.process_time()
    page = reader.read(raster)
    seconds = time.process_time() - began
    text, _ = page_from_ocr(page, 1, picture.width, picture.height, picture.width, picture.height)
    return text.text, seconds, page.turned


def rendered(reader: PictureTextReader, languages: list[str], variants: list[str], count: int) -> None:
    """Print a row for every language and kind of page."""
    print("language variant pages error_mean error_median error_worst cpu_seconds turned", flush=True)
    for language in languages:
        every: list[float] = []
        for variant in variants:
            rates, times, turns = [], [], set()
            for page in pages(language, variant, count):
                text, seconds, turned = read(reader, page.image)
                rates.append(error_rate(page.text, text, language))
                times.append(seconds)
                turns.add(turned)
            every += rates
            figures = (statistics.mean(rates), statistics.median(rates), max(rates))
            shown = " ".join(f"{figure:.4f}" for figure in figures)
            print(language, variant, len(rates), shown, f"{statistics.mean(times):.2f}", sorted(turns), flush=True)
        print(language, "all", len(every), f"{statistics.mean(every):.4f} {statistics.median(every):.4f}", flush=True)


def images(reader: PictureTextReader) -> None:
    """Print a row for every picture of the shared data that has a text."""
    data = shared_data()
    if data is None:
        return
    for name, text in TEXTS:
        folder = data / "ocr" / "tesseract"
        with Image.open(folder / name) as image:
            found, seconds, turned = read(reader, image)
        said = (folder / text).read_text(encoding="utf-8")
        rates = f"{error_rate(said, found, 'en'):.4f} words_found {words_found(said, found):.3f}"
        print("image", name, rates, f"{seconds:.2f}", turned, flush=True)


def beside_the_engine(reader: PictureTextReader, count: int) -> Iterator[float]:
    """Yield our CPU time by that of the bare engine, page by page, each first in turn, with the same threads."""
    from rapidocr import RapidOCR

    threads = {f"EngineConfig.onnxruntime.{kind}_op_num_threads": 1 for kind in ("intra", "inter")}
    engine = RapidOCR(params={"Global.log_level": "critical", "Global.return_word_box": True, **threads})
    engine(np.full((200, 600, 3), 255, np.uint8))
    for number in range(count):
        language = ("en", "zh-Hans", "zh-Hant")[number % 3]
        *_, page = pages(language, "150", number // 3 + 1)
        pixels = np.ascontiguousarray(np.asarray(page.image.convert("RGB"))[:, :, ::-1])
        ours = read(reader, page.image)[1] if number % 2 else 0.0
        began = time.process_time()
        engine(pixels)
        bare = time.process_time() - began
        ours = ours or read(reader, page.image)[1]
        print("time", language, f"ours {ours:.2f} bare {bare:.2f} ratio {ours / bare:.3f}", flush=True)
        yield ours / bare


def recognition(scratch: Path, rounds: int) -> list[Row]:
    """Measure the time of recognising a page against the bare engine, in one run; error rates take this file itself."""
    del scratch
    reader = find_reader([MODELS])
    if reader is None or rapid.installed() is None:
        return []
    ratios = list(beside_the_engine(reader, max(rounds, 3)))
    what = "a page recognised, turned upright and put in order ÷ RapidOCR alone, CPU"
    detail = f"{len(ratios)} rendered pages, English and Chinese, {min(ratios):.2f} to {max(ratios):.2f}"
    return [Row("ocr", what, statistics.median(ratios), "×", "at most", 1.1, detail)]


def main() -> None:
    """Measure what the arguments ask for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int, default=5)
    parser.add_argument("--languages", default=",".join(LANGUAGES))
    parser.add_argument("--variants", default=",".join(VARIANTS))
    parser.add_argument("--times", type=int, default=0)
    parser.add_argument("--images", action="store_true")
    arguments = parser.parse_args()
    reader = find_reader([MODELS])
    if reader is None or rapid.installed() is None:
        sys.exit("no engine: run `python3 dev.py setup`")
    print(reader.version, flush=True)
    read(reader, Image.effect_noise((400, 200), 90))
    if arguments.images:
        images(reader)
    if arguments.times:
        print("time median ratio", f"{statistics.median(beside_the_engine(reader, arguments.times)):.3f}", flush=True)
    if arguments.pages:
        rendered(reader, arguments.languages.split(","), arguments.variants.split(","), arguments.pages)


if __name__ == "__main__":
    main()
