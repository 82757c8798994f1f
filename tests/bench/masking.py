"""What masking costs an ingest, and what it masks that is no secret, on 2,000 clean pages."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.bench import material
from tests.bench.measure import Row, alternate, cpu_of

_PAGES = 2_000
_SETS = ("xquad-en", "xquad-zh", "xquad-es", "xquad-de", "xquad-ru", "xquad-ar", "xquad-vi", "cmrc2018", "korquad")


def clean_pages(scratch: Path, rounds: int) -> list[Row]:
    """Mask real documentation and passages without secrets, and tell every place that was taken for one."""
    del rounds
    from kb.governance.masking import SecretMasker

    masker = SecretMasker()
    pages = [*_parsed_vaults(scratch), *_parsed_passages(scratch)]
    pages = pages[:_PAGES]
    characters = sum(len(block.text) for _, page in pages for block in page.blocks)
    mistakes = [(name, place) for name, page in pages for place in masker.mask(page)[1]]
    for name, place in mistakes:
        print(f"  masked in {name}: {place.kind} at {place.span}", file=sys.stderr)
    detail = f"{len(pages)} pages, {characters / 1e6:.1f} million characters, program documentation among them"
    return [Row("masking", "false maskings on clean pages", len(mistakes), "places", "at most", 4, detail)]


def cost(scratch: Path, rounds: int) -> list[Row]:
    """Compare masking with the ingest that it is part of, and with reading the text at all."""
    from kb.governance.masking import SecretMasker

    corpus = material.vaults(scratch)
    pages = [page for _, page in _parsed_vaults(scratch)]
    megabytes = sum(file.stat().st_size for file in corpus.folder.rglob("*.md")) / 1e6
    masker = SecretMasker()
    home = scratch / "home"

    def masks() -> None:
        for page in pages:
            masker.mask(page)

    def ingests() -> None:
        import shutil

        shutil.rmtree(home, ignore_errors=True)
        with material.opened(home, corpus.folder, vectors=False) as parts:
            material.ingest(parts)

    pair = alternate(masks, ingests, rounds=max(3, rounds // 2))
    speed = megabytes / cpu_of(masks)
    detail = f"{pair.ours * 1e3:.0f} ms of {pair.bare * 1e3:.0f} ms; {corpus.name}"
    return [
        Row("masking", "masking as a share of an ingest without vectors, CPU", pair.ratio, "", "at most", 0.05, detail),
        Row("masking", "text masked per CPU second", speed, "MB/s"),
    ]


def _parsed_vaults(scratch: Path) -> Iterator[tuple[str, Any]]:
    from kb.adapters.encoding.decoder import CharsetNormalizerDecoder
    from kb.adapters.parsers.markdown.parser import MarkdownItParser
    from kb.domain.paths import workspace_path

    parser = MarkdownItParser(CharsetNormalizerDecoder())
    folder = material.vaults(scratch).folder
    for file in sorted(folder.rglob("*.md")):
        name = file.relative_to(folder).as_posix()
        yield name, parser.parse(file.read_bytes(), workspace_path(name))


def _parsed_passages(scratch: Path) -> Iterator[tuple[str, Any]]:
    """Yield passages, of each set in turn, so that the first pages hold all languages."""
    from kb.adapters.encoding.decoder import CharsetNormalizerDecoder
    from kb.adapters.parsers.text.plain import PlainTextParser
    from kb.domain.paths import workspace_path

    parser = PlainTextParser(CharsetNormalizerDecoder())
    sets = material.question_sets(_SETS)
    for number in range(max(len(one.passages) for one in sets)):
        for one in sets:
            if number < len(one.passages):
                name = f"{one.name}/{number}.txt"
                yield name, parser.parse(one.passages[number].encode(), workspace_path(name))
