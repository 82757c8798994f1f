from __future__ import annotations

import io
import struct
import zlib
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from PIL import Image, ImageDraw, PngImagePlugin

from kb.adapters.parsers.picture.parser import PillowPictureParser
from kb.domain.coverage import CoverageUnit
from kb.domain.documents import ParsedDocument
from kb.domain.errors import Unreadable
from kb.domain.items import MediaType
from kb.domain.limits import ReadingLimits
from kb.domain.metadata import ProvenanceKind
from kb.domain.paths import WorkspacePath
from kb.domain.spans import PageSpan, RegionSpan, Segment
from kb.ingest.reading_ports import PictureTextReader, SourceFile
from tests.fakes.recognising import FixedOcr, ShadeOcr

_LIMITS = ReadingLimits()


def picture(size: tuple[int, int] = (60, 40), mode: str = "RGB", grey: int = 0) -> Image.Image:
    """A white picture with a dark square in its top left corner."""
    image = Image.new("L", size, 255)
    ImageDraw.Draw(image).rectangle((2, 2, 20, 20), fill=grey)
    return image.convert(mode)


def saved(image: Image.Image, form: str, **options: Any) -> bytes:
    kept = io.BytesIO()
    image.save(kept, form, **options)
    return kept.getvalue()


def read(
    data: bytes, ocr: PictureTextReader | None, limits: ReadingLimits = _LIMITS, told: list[object] | None = None
) -> ParsedDocument:
    source = SourceFile(WorkspacePath("photos/a.png"), MediaType.IMAGE, data)
    tell = (lambda *step: told.append(step)) if told is not None else (lambda *step: None)
    return PillowPictureParser(ocr).read(source, limits, tell)


def refused(data: bytes, limits: ReadingLimits = _LIMITS) -> str:
    with pytest.raises(Unreadable) as error:
        read(data, FixedOcr(("x",)), limits)
    assert error.value.message
    return error.value.reason


@pytest.mark.parametrize("form", ["PNG", "JPEG", "WEBP", "GIF", "TIFF", "BMP", "HEIF", "AVIF", "ICO"])
def test_every_kind_of_picture_is_opened_and_read(form: str) -> None:
    if form == "HEIF":
        import pillow_heif

        pillow_heif.register_heif_opener()
    document = read(saved(picture((64, 64)), form), FixedOcr(("one word",)))
    assert [block.text for block in document.blocks] == ["one word"]
    assert document.coverage == (CoverageUnit("image", 1, 1, "ocr", 0.9),)
    assert document.steps == ((ProvenanceKind.OCR_APPLIED, "fixed-ocr-1"),)


def test_each_line_has_its_region_and_the_page_text_is_that_of_the_blocks() -> None:
    document = read(saved(picture((60, 40)), "PNG"), FixedOcr(("first", "second")))
    (page,) = document.pages
    assert page.text == "first\n\nsecond"
    assert (page.page, page.width, page.height, page.source) == (1, 60, 40, "ocr")
    assert [block.segments for block in document.blocks] == [
        (Segment(0, 5, RegionSpan(0, 0, 60, 20)),),
        (Segment(0, 6, RegionSpan(0, 20, 60, 20)),),
    ]


def test_a_picture_turned_by_its_camera_is_read_as_displayed() -> None:
    exif = Image.Exif()
    exif[0x0112] = 6  # turn by 90 degrees clockwise
    ocr = FixedOcr(("word",))
    document = read(saved(picture((60, 40)), "JPEG", exif=exif), ocr)
    assert (document.pages[0].width, document.pages[0].height) == (40, 60)
    (seen,) = ocr.read_pictures
    corner = seen.rgb[(5 * seen.width + 35) * 3]  # the dark square is at the top right now
    assert (seen.width, seen.height) == (40, 60)
    assert corner < 60


def _seen(image: Image.Image, form: str = "PNG", **options: Any) -> tuple[int, int]:
    """Grey values at the dark square and outside it, as the engine gets them."""
    ocr = FixedOcr()
    read(saved(image, form, **options), ocr)
    (raster,) = ocr.read_pictures
    return raster.rgb[(10 * raster.width + 10) * 3], raster.rgb[(30 * raster.width + 50) * 3]


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "RGBA"])
def test_modes_come_as_rgb(mode: str) -> None:
    assert _seen(picture(mode=mode)) == (0, 255)


def test_cmyk_comes_as_rgb() -> None:
    dark, light = _seen(picture(mode="CMYK"), "TIFF")
    assert (dark, light) == (0, 255)


def test_sixteen_bits_are_spread_over_eight() -> None:
    values = [100 if x <= 20 and y <= 20 else 4000 for y in range(40) for x in range(60)]
    deep = Image.frombytes("I;16", (60, 40), struct.pack(f"<{len(values)}H", *values))
    assert _seen(deep) == (0, 255)


def test_what_is_transparent_is_white() -> None:
    image = Image.new("RGBA", (60, 40), (0, 0, 0, 0))
    ImageDraw.Draw(image).rectangle((2, 2, 20, 20), fill=(0, 0, 0, 255))
    assert _seen(image) == (0, 255)


def test_white_letters_on_nothing_are_shown_on_black() -> None:
    image = Image.new("RGBA", (60, 40), (255, 255, 255, 0))
    ImageDraw.Draw(image).rectangle((2, 2, 20, 20), fill=(255, 255, 255, 255))
    assert _seen(image) == (255, 0)


def test_a_picture_of_one_colour_is_blank_and_needs_no_engine() -> None:
    ocr = FixedOcr(("never",))
    for engine in (ocr, None):
        document = read(saved(Image.new("RGB", (50, 50), "white"), "PNG"), engine)
        assert document.coverage == (CoverageUnit("image", 1, 1, "blank"),)
        assert document.waits_for == ""
    assert ocr.read_pictures == []


def test_a_photo_without_text_is_blank_with_the_reason() -> None:
    assert read(saved(picture(), "PNG"), FixedOcr()).coverage == (
        CoverageUnit("image", 1, 1, "blank", None, "no_text"),
    )


def test_without_an_engine_a_picture_waits_for_the_model() -> None:
    document = read(saved(picture(), "PNG"), None)
    assert document.coverage == (CoverageUnit("image", 1, 1, "waiting", None, "ocr_model"),)
    assert document.waits_for == "ocr_model"
    assert document.blocks == ()


def test_the_version_names_the_engine() -> None:
    assert PillowPictureParser(None).version == "picture-v1+no-ocr"
    assert PillowPictureParser(FixedOcr()).version == "picture-v1+fixed-ocr-1"


def frames(greys: Sequence[int]) -> list[Image.Image]:
    return [picture(grey=grey) for grey in greys]


@pytest.mark.parametrize("form", ["GIF", "WEBP", "PNG"])
def test_frames_that_repeat_are_counted_and_not_read_again(form: str) -> None:
    first, *others = frames([0, 0, 120, 120])
    options: dict[str, Any] = {"lossless": True} if form == "WEBP" else {}
    data = saved(first, form, save_all=True, append_images=others, duration=[100, 110, 120, 130], **options)
    document = read(data, ShadeOcr())
    with Image.open(io.BytesIO(data)) as again:
        total = int(getattr(again, "n_frames", 1))
    assert sum(unit.end - unit.start + 1 for unit in document.coverage) == total >= 2
    assert sum(unit.end - unit.start + 1 for unit in document.coverage if unit.state == "ocr") == 2
    assert len(document.blocks) == 2
    assert all(isinstance(block.span, PageSpan) for block in document.blocks)


def test_pages_of_a_tiff_are_all_read() -> None:
    first, *others = frames([0, 90, 0])
    document = read(saved(first, "TIFF", save_all=True, append_images=others), ShadeOcr())
    assert [page.page for page in document.pages] == [1, 2, 3]
    assert [block.span for block in document.blocks] == [PageSpan(n, 0, len("shade 215")) for n in (1, 2, 3)]
    for block, page in zip(document.blocks, document.pages, strict=True):
        assert page.text == block.text


def test_progress_is_told_for_every_frame() -> None:
    first, *others = frames([0, 90])
    told: list[object] = []
    read(saved(first, "TIFF", save_all=True, append_images=others), ShadeOcr(), told=told)
    assert told == [(0, 2, "image"), (1, 2, "image"), (2, 2, "image")]


def test_too_many_frames_are_refused() -> None:
    first, *others = frames([0, 60, 120])
    data = saved(first, "TIFF", save_all=True, append_images=others)
    assert refused(data, ReadingLimits(frames=2)) == "too_many_pages"


def _chunk(name: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))


def test_a_huge_png_is_refused_before_it_is_decoded() -> None:
    header = _chunk(b"IHDR", struct.pack(">IIBBBBB", 30_000, 30_000, 8, 2, 0, 0, 0))
    packed = zlib.compress(bytes(90_001) * 300, 9)
    data = b"\x89PNG\r\n\x1a\n" + header + _chunk(b"IDAT", packed) + _chunk(b"IEND", b"")
    assert len(data) < 100_000
    assert refused(data) == "too_many_pixels"


def test_a_small_limit_of_pixels_holds() -> None:
    assert refused(saved(picture((60, 40)), "PNG"), ReadingLimits(pixels=2_000)) == "too_many_pixels"


def noisy(size: tuple[int, int]) -> Image.Image:
    return Image.effect_noise(size, 90).convert("RGB")


@pytest.mark.parametrize("form", ["JPEG", "PNG", "BMP"])
def test_of_a_truncated_picture_the_rest_is_read_and_the_damage_told(form: str) -> None:
    data = saved(noisy((200, 200)), form)
    document = read(data[: len(data) * 2 // 3], FixedOcr(("upper half",)))
    assert [block.text for block in document.blocks] == ["upper half"]
    assert document.coverage == (CoverageUnit("image", 1, 1, "failed", 0.9, "damaged"),)
    assert [warning.kind for warning in document.warnings] == ["extract_failed"]


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\x89PNG\r\n\x1a\n",
        b"\xff\xd8\xff\xe0",
        b"GIF89a",
        b"II*\x00\x08\x00\x00\x00",
        b"BM" + bytes(60),
        b"RIFF1234WEBP",
    ],
)
def test_what_is_only_a_beginning_is_damaged(data: bytes) -> None:
    assert refused(data) == "damaged"


def test_when_every_frame_is_damaged_the_ledger_says_so_for_each() -> None:
    data = bytearray(
        saved(noisy((64, 64)), "TIFF", save_all=True, append_images=[noisy((64, 64))], compression="tiff_adobe_deflate")
    )
    with Image.open(io.BytesIO(data)) as whole:
        for number in range(2):
            whole.seek(number)
            for start, size in zip(whole.tag_v2[273], whole.tag_v2[279], strict=True):  # type: ignore[attr-defined]
                data[start : start + size] = b"\xff" * size
    document = read(bytes(data), FixedOcr(("x",)))
    assert document.coverage == (CoverageUnit("image", 1, 2, "failed", reason="damaged"),)
    assert document.blocks == ()
    assert [warning.kind for warning in document.warnings] == ["extract_failed"]


def test_flipped_bytes_never_raise_anything_else() -> None:
    whole = saved(picture(), "PNG") + saved(picture(), "GIF")
    for position in range(0, len(whole), 7):
        broken = bytearray(whole)
        broken[position] ^= 0x5A
        try:
            read(bytes(broken), FixedOcr(("x",)))
        except Unreadable as error:
            assert error.reason in {"damaged", "too_many_pixels", "too_many_pages"}  # noqa: PT017 - both ends are fine


def test_a_very_large_picture_is_read_smaller_and_its_places_are_as_displayed() -> None:
    ocr = FixedOcr(("word",))
    document = read(saved(picture((9_000, 600), "L"), "PNG"), ocr)
    (seen,) = ocr.read_pictures
    assert max(seen.width, seen.height) <= 4_096
    assert (document.pages[0].width, document.pages[0].height) == (9_000, 600)
    assert isinstance(document.blocks[0].span, RegionSpan)
    assert document.blocks[0].span.w == 9_000


def test_exif_tells_title_description_author_and_date() -> None:
    exif = Image.Exif()
    exif[0x010E] = "Blick vom Turm über Köln".encode()
    exif[0x013B] = "A. Sample"
    exif.get_ifd(0x8769)[0x9003] = "2024:05:06 07:08:09"
    exif.get_ifd(0x8769)[0x9011] = "+02:00"
    exif[0x9C9B] = "Köln".encode("utf-16-le")
    document = read(saved(picture(), "JPEG", exif=exif), None)
    assert document.front_matter == {
        "title": "Köln",
        "description": "Blick vom Turm über Köln",
        "author": "A. Sample",
        "created": "2024-05-06T07:08:09+02:00",
    }


def test_xmp_tells_title_and_tags() -> None:
    xmp = (
        '<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">'
        '<rdf:Description rdf:about="" xmlns:dc="http://purl.org/dc/elements/1.1/">'
        '<dc:title><rdf:Alt><rdf:li xml:lang="x-default">부산의 항구</rdf:li></rdf:Alt></dc:title>'
        "<dc:subject><rdf:Bag><rdf:li>sea</rdf:li><rdf:li>ship</rdf:li></rdf:Bag></dc:subject>"
        "</rdf:Description></rdf:RDF></x:xmpmeta>"
    )
    texts = PngImagePlugin.PngInfo()
    texts.add_itxt("XML:com.adobe.xmp", xmp)
    document = read(saved(picture(), "PNG", pnginfo=texts), None)
    assert document.front_matter == {"title": "부산의 항구", "tags": ["sea", "ship"]}


def test_what_cameras_write_by_themselves_is_no_description() -> None:
    exif = Image.Exif()
    exif[0x010E] = "OLYMPUS DIGITAL CAMERA         "
    assert read(saved(picture(), "JPEG", exif=exif), None).front_matter == {}


@pytest.fixture
def svg() -> Callable[[str], ParsedDocument]:
    def parse(body: str) -> ParsedDocument:
        head = '<svg xmlns="http://www.w3.org/2000/svg" width="300" height="200">'
        return read(f"{head}{body}</svg>".encode(), None)

    return parse


@pytest.mark.parametrize(
    ("attributes", "width", "height"),
    [("", 300, 150), ('width="40" height="20.4px"', 40, 20), ('width="100%" viewBox="0 0 640 480"', 640, 480)],
)
def test_an_svg_is_as_large_as_it_says_or_as_browsers_draw_it(attributes: str, width: int, height: int) -> None:
    document = read(f'<svg xmlns="http://www.w3.org/2000/svg" {attributes}><text>Lamp</text></svg>'.encode(), None)
    assert document.blocks[0].span == RegionSpan(0, 0, width, height)


def test_an_svg_gives_its_texts_in_order(svg: Callable[[str], ParsedDocument]) -> None:
    document = svg(
        "<title>Plan</title><g><text>Roof</text></g><text x='1'>Wa<tspan>ll</tspan><tspan y='9'>two</tspan></text>"
    )
    assert [block.text for block in document.blocks] == ["Plan", "Roof", "Wall two"]
    assert document.blocks[0].span == RegionSpan(0, 0, 300, 200)
    assert document.front_matter == {"title": "Plan"}
    assert document.coverage == (CoverageUnit("image", 1, 1, "text"),)


def test_an_svg_gives_no_scripts_and_styles(svg: Callable[[str], ParsedDocument]) -> None:
    document = svg("<script>alert('x')</script><style>text{}</style><text onload='x()'>word</text>")
    assert [block.text for block in document.blocks] == ["word"]


def test_an_svg_without_words_is_blank(svg: Callable[[str], ParsedDocument]) -> None:
    assert svg("<path d='M0 0'/>").coverage == (CoverageUnit("image", 1, 1, "blank"),)


def test_entities_of_an_svg_are_never_expanded() -> None:
    laughs = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10))
    data = f'<!DOCTYPE svg [<!ENTITY l0 "lol">{laughs}]><svg xmlns="http://www.w3.org/2000/svg"><text>&l9;</text></svg>'
    try:
        texts = [block.text for block in read(data.encode(), None).blocks]
    except Unreadable as error:
        assert error.reason == "too_complex"  # noqa: PT017 - refusing is as good
    else:
        assert "lol" not in "".join(texts)


def test_an_svg_whose_words_are_entities_is_not_empty_but_too_complex() -> None:
    doctype = '<!DOCTYPE svg [<!ENTITY name "Warehouse">]>'
    drawing = '<svg xmlns="http://www.w3.org/2000/svg">{}</svg>'
    alone = read((doctype + drawing.format("<text>&name;</text>")).encode(), None)
    assert alone.blocks == ()
    assert alone.coverage == (CoverageUnit("image", 1, 1, "failed", reason="too_complex"),)
    assert [warning.kind for warning in alone.warnings] == ["extract_failed"]
    beside = read((doctype + drawing.format("<text>North <tspan>&name;</tspan></text>")).encode(), None)
    assert [block.text for block in beside.blocks] == ["North"]
    assert [(unit.state, unit.reason) for unit in beside.coverage] == [("failed", "too_complex")]
    unseen = read((doctype + drawing.format("<style>&name;</style><text>North</text>")).encode(), None)
    assert unseen.coverage == (CoverageUnit("image", 1, 1, "text"),)


def test_a_file_named_by_an_svg_is_not_read(tmp_path: Any) -> None:
    (tmp_path / "secret.txt").write_text("hidden words")
    uri = (tmp_path / "secret.txt").as_uri()
    data = (
        f'<!DOCTYPE svg [<!ENTITY x SYSTEM "{uri}">]><svg xmlns="http://www.w3.org/2000/svg"><text>a &x; b</text></svg>'
    )
    try:
        texts = [block.text for block in read(data.encode(), None).blocks]
    except Unreadable as error:
        assert error.reason == "too_complex"  # noqa: PT017 - refusing is as good
    else:
        assert "hidden" not in "".join(texts)


def test_a_packed_svg_is_unpacked_within_limits() -> None:
    import gzip

    svg = b'<svg xmlns="http://www.w3.org/2000/svg"><text>packed</text></svg>'
    assert [block.text for block in read(gzip.compress(svg), None).blocks] == ["packed"]
    assert refused(gzip.compress(svg + b" " * 50_000_000)) == "expands_too_much"
    assert refused(gzip.compress(svg)[:-20]) == "damaged"


def test_xml_that_is_no_drawing_is_the_wrong_type() -> None:
    assert refused(b"<?xml version='1.0'?><html><body>x</body></html>") == "wrong_type"
