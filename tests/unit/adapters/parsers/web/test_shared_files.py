"""Real pages, a feed, a book and a notebook; what must be found was copied from what other programs show of them."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from kb.adapters.encoding.decoder import CharsetNormalizerDecoder
from kb.adapters.parsers.archive.parser import ArchiveParser
from kb.adapters.parsers.book.epub import EpubParser
from kb.adapters.parsers.notebook.parser import NotebookParser
from kb.adapters.parsers.web.feed import FeedParser
from kb.adapters.parsers.web.html import HtmlParser
from kb.ingest.reading_ports import FormatParser
from tests.fakes.format_reading import parse

SHARED = Path(os.environ.get("KEBAB_SHARED") or Path(__file__).resolve().parents[6] / "shared")
FOLDER = SHARED / "data" / "office" / "packages" / "markitdown" / "tests" / "test_files"
needs_files = pytest.mark.skipif(not FOLDER.is_dir(), reason="the office files are not here (KEBAB_SHARED)")

FOUND: dict[str, tuple[Callable[[], FormatParser], list[str]]] = {
    "test_blog.html": (
        lambda: HtmlParser(CharsetNormalizerDecoder()),
        [
            "Does Model and Inference Parameter Matter in LLM Applications? - A Case Study for MATH",
            "accurate (e.g., 35% vs. 20%) and less expensive than untuned gpt-4",
            "MATH consists of 12K math competition problems from AMC-10, AMC-12 and AIME",
            "target inference budget $0.02 per instance",
            "top_p: The parameter that controls the probability mass of the output tokens",
            "Put the final answer in \\boxed{{}}.",
            "gpt-4 is a better choice for the most difficult problem",
            "an example where high cost can easily prevent a generic complex task to be accomplished",
            "Principal Researcher at Microsoft Research",
            "level 4 algebra",
        ],
    ),
    "test_serp.html": (
        lambda: HtmlParser(CharsetNormalizerDecoder()),
        [
            "About 310,000 results",
            "1995–2007: Foray into the Web, Windows 95, Windows XP, and Xbox",
            "Microsoft Office is an office suite",
            "What services does Microsoft offer?",
            "Our mission is to empower every person and every organization on the planet to achieve more",
            "A Short History of Microsof",
            "April 4, 1975 in Albuquerque, New Mexico, U.S.",
            "Official website",
        ],
    ),
    "test_wikipedia.html": (
        lambda: HtmlParser(CharsetNormalizerDecoder()),
        [
            "Microsoft was founded by Bill Gates and Paul Allen on April 4, 1975",
            "entered the operating system (OS) business in 1980 with its own version of Unix called Xenix",
            "Number of employees: 221,000 (2023)",
            "Total equity: Increase US$206.2 billion (2023)",
            "performance enhancements, rather than an extensive reworking of Windows",
            "GPT-3 artificial intelligence language generator",
            "it would cost about 9 cents",
            "Microsoft employed 127,104 people as of June 5, 2014",
            "The Microsoft Pac-Man logo was used for 25 years, 5 months, and 28 days",
            "Microsoft completes Activision Blizzard acquisition",
            "Embrace, extend, and extinguish",
            "47°38′23″N 122°7′42″W",
        ],
    ),
    "test_rss.xml": (
        FeedParser,
        [
            "The Official Microsoft Blog",
            "Ignite 2024: Why nearly 70% of the Fortune 500 now use Microsoft 365 Copilot",
            "8080 Books, an imprint of Microsoft, launches",
            "Microsoft names Jay Parikh as a member of the senior leadership team",
            "In the case of AI, it is absolutely true that the industry is moving incredibly fast",
            "Internal Microsoft Sales Team data based on 687 sellers of Microsoft 365 Copilot, Jan. – June 2024",
            "microsoft-365-copilot",
        ],
    ),
    "test.epub": (
        EpubParser,
        [
            "Chapter 1: Test Content",
            "This is a test paragraph with some formatting.",
            "Another point",
            "Here's a second chapter with a different style.",
            "This is a blockquote for testing.",
        ],
    ),
    "test_notebook.ipynb": (
        NotebookParser,
        ["Test Notebook", 'print("markitdown")', "Code Cell Below", "# comment in code", "42", "End"],
    ),
}


@needs_files
@pytest.mark.parametrize("name", FOUND)
def test_what_a_person_sees_in_the_file_is_found(name: str) -> None:
    make, wanted = FOUND[name]
    document = parse(make(), (FOLDER / name).read_bytes(), name=name)
    words = " ".join(" ".join(block.text for block in document.blocks).split())
    assert [one for one in wanted if one not in words] == []


@needs_files
@pytest.mark.parametrize(
    ("name", "unwanted"),
    [
        ("test_wikipedia.html", "You are encouraged to create an account and log in"),
        ("test_wikipedia.html", "Logitech Magnavox Marantz"),
        ("test_serp.html", "data:image/"),
        ("test_blog.html", "All About Agent Descriptions"),
        ("test_blog.html", "gtag("),
    ],
)
def test_navigation_scripts_and_embedded_pictures_are_not_content(name: str, unwanted: str) -> None:
    document = parse(FOUND[name][0](), (FOLDER / name).read_bytes(), name=name)
    assert unwanted not in " ".join(" ".join(block.text for block in document.blocks).split())


@needs_files
def test_the_archive_gives_its_seven_files() -> None:
    document = parse(ArchiveParser(), (FOLDER / "test_files.zip").read_bytes())
    assert [member.name for member in document.members] == [
        "test.docx",
        "test.jpg",
        "test.pptx",
        "test.xlsx",
        "test_blog.html",
        "test_serp.html",
        "test_wikipedia.html",
    ]
    assert document.members[4].data == (FOLDER / "test_blog.html").read_bytes()
