"""One small file of every format, each full of made-up secrets: five of each kind, in text and in tables."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable, Sequence
from email.message import EmailMessage
from typing import Any

from tests.unit.governance.made_up import line_with, planted

KINDS = (
    "aws_key",
    "aws_secret",
    "github_token",
    "slack_token",
    "google_key",
    "stripe_key",
    "ai_key",
    "jwt",
    "api_key",
    "password",
    "connection_string",
    "bearer_token",
)
GROUPS = 5


class Planted:
    """The sixty secrets of one file and the lines they stand in."""

    def __init__(self, seed: int) -> None:
        made = [planted(seed * 10 + group) for group in range(GROUPS)]
        self.groups = [[line_with(kind, secrets[kind]) for kind in KINDS] for secrets in made]
        self.secrets = [secrets[kind] for secrets in made for kind in KINDS]

    @property
    def lines(self) -> list[str]:
        return [line for group in self.groups for line in group]


Writer = Callable[[Planted], bytes]


def markdown(made: Planted) -> bytes:
    first, *others = made.groups
    front = f"---\ntitle: Notes {first[2]}\ntags: [ops]\n---\n"
    body = "".join(f"## Part {number}\n\n" + "\n\n".join(group) + "\n\n" for number, group in enumerate(others, 2))
    table = "| what | value |\n|---|---|\n" + "".join(f"| {number} | {line} |\n" for number, line in enumerate(first))
    return f"{front}# Keys\n\n{table}\n{body}".encode()


def text(made: Planted) -> bytes:
    return "\n".join(made.lines).encode()


def code(made: Planted) -> bytes:
    return "\n\n".join("\n".join(f"# {line}" for line in group) + "\nrun()" for group in made.groups).encode()


def html(made: Planted) -> bytes:
    first, *others = made.groups
    rows = "".join(f"<tr><td>{n}</td><td>{line}</td></tr>" for n, line in enumerate(first))
    parts = "".join(f"<h2>Part</h2>{''.join(f'<p>{line}</p>' for line in group)}" for group in others)
    link = f'<p><a href="https://x.invalid/?{first[8].lower()}&amp;k={first[8]}">here</a></p>'
    return (
        f"<html><head><title>{first[2]}</title></head><body><table>{rows}</table>{link}{parts}</body></html>".encode()
    )


def feed(made: Planted) -> bytes:
    entries = "".join(
        f"<item><title>{group[2]}</title><description><![CDATA[{''.join(f'<p>{line}</p>' for line in group)}]]>"
        "</description></item>"
        for group in made.groups
    )
    return f'<?xml version="1.0"?><rss version="2.0"><channel><title>Keys</title>{entries}</channel></rss>'.encode()


def csv(made: Planted) -> bytes:
    return "\n".join(["number,what", *(f'{n},"{line}"' for n, line in enumerate(made.lines))]).encode()


def docx(made: Planted) -> bytes:
    import docx as library

    document = library.Document()
    document.core_properties.title = made.groups[0][2]
    for group in made.groups[:-1]:
        document.add_heading("Part", level=1)
        for line in group:
            # As editors do, a paragraph in several runs.
            paragraph = document.add_paragraph()
            for start in range(0, len(line), 11):
                paragraph.add_run(line[start : start + 11])
    table = document.add_table(rows=len(made.groups[-1]), cols=2)
    for row, line in zip(table.rows, made.groups[-1], strict=True):
        row.cells[0].text, row.cells[1].text = "what", line
    return _saved(document)


def xlsx(made: Planted) -> bytes:
    import openpyxl

    book = openpyxl.Workbook()
    for group in made.groups:
        sheet = book.create_sheet()
        for number, line in enumerate(group):
            sheet.append([number, line, "spare"])
    return _saved(book)


def pptx(made: Planted) -> bytes:
    import pptx as library

    deck = library.Presentation()
    for group in made.groups:
        slide = deck.slides.add_slide(deck.slide_layouts[1])
        slide.shapes.title.text = group[2]
        slide.placeholders[1].text = "\n".join(group[:6])
        slide.notes_slide.notes_text_frame.text = "\n".join(group[6:])
    return _saved(deck)


def odt(made: Planted) -> bytes:
    import odfdo

    document = odfdo.Document("text")
    document.body.clear()
    for group in made.groups:
        document.body.append(odfdo.Header(1, "Part"))
        for line in group:
            document.body.append(odfdo.Paragraph(line))
    return _saved(document)


def ods(made: Planted) -> bytes:
    import odfdo

    document = odfdo.Document("spreadsheet")
    document.body.clear()
    table = odfdo.Table("Keys")
    for line in ("remark", *made.lines):
        row = odfdo.Row()
        row.set_values(["what", line])
        table.append_row(row)
    document.body.append(table)
    return _saved(document)


def rtf(made: Planted) -> bytes:
    escaped = [line.replace("\\", "\\\\").replace("{", "\\{").replace("}", "\\}") for line in made.lines]
    return ("{\\rtf1\\ansi " + "".join(f"{line}\\par\n" for line in escaped) + "}").encode()


def _message(lines: Sequence[str], subject: str, attachment: str = "") -> EmailMessage:
    message = EmailMessage()
    message["From"], message["To"] = "ann@example.org", "bob@example.org"
    message["Date"] = "Mon, 02 Mar 2026 10:00:00 +0000"
    message["Subject"] = subject
    message.set_content("\n".join(lines))
    if attachment:
        message.add_attachment(attachment, filename="keys.txt")
    return message


def eml(made: Planted) -> bytes:
    first, *others = made.groups
    inside = [line for group in others for line in group]
    return _message(inside, f"Keys {first[2]}", "\n".join(first)).as_bytes()


def mbox(made: Planted) -> bytes:
    parts = [
        b"From ann@example.org Mon Mar  2 10:00:00 2026\n" + _message(group, "Keys").as_bytes() + b"\n"
        for group in made.groups
    ]
    return b"".join(parts)


def notebook(made: Planted) -> bytes:
    cells: list[dict[str, Any]] = []
    for group in made.groups:
        cells.append({"cell_type": "markdown", "metadata": {}, "source": "\n\n".join(group[:6])})
        output = {"output_type": "stream", "name": "stdout", "text": "\n".join(group[9:])}
        source = "\n".join(f"# {line}" for line in group[6:9])
        cells.append({"cell_type": "code", "metadata": {}, "source": source, "outputs": [output], "execution_count": 1})
    return json.dumps({"nbformat": 4, "nbformat_minor": 4, "metadata": {}, "cells": cells}).encode()


def epub(made: Planted) -> bytes:
    from ebooklib import epub as library

    book = library.EpubBook()
    book.set_identifier("keys")
    book.set_title(made.groups[0][2])
    book.set_language("en")
    chapters = []
    for number, group in enumerate(made.groups):
        chapter = library.EpubHtml(title=f"Part {number}", file_name=f"part{number}.xhtml")
        chapter.content = f"<h1>Part {number}</h1>" + "".join(f"<p>{line}</p>" for line in group)
        book.add_item(chapter)
        chapters.append(chapter)
    book.toc = chapters
    book.spine = ["nav", *chapters]
    book.add_item(library.EpubNcx())
    book.add_item(library.EpubNav())
    stream = io.BytesIO()
    library.write_epub(stream, book)
    return stream.getvalue()


def pdf(made: Planted) -> bytes:
    import pymupdf

    with pymupdf.open() as document:
        for group in made.groups:
            page = document.new_page()
            for number, line in enumerate(group):
                # Long ones are broken as a narrow column breaks them.
                for part in range(0, len(line), 70):
                    page.insert_text((40, 60 + number * 36 + part // 70 * 11), line[part : part + 70], fontsize=9)
        return bytes(document.tobytes())


def picture(made: Planted) -> bytes:
    from PIL import Image, ImageDraw, ImageFont

    image = Image.new("RGB", (2400, 1400), "white")
    draw = ImageDraw.Draw(image)
    for number, line in enumerate(made.groups[0]):
        draw.text((60, 60 + number * 100), line, fill="black", font=ImageFont.load_default(36))
    stream = io.BytesIO()
    image.save(stream, "PNG")
    return stream.getvalue()


def archive(made: Planted) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as opened:
        for number, group in enumerate(made.groups):
            opened.writestr(f"part{number}.txt", "\n".join(group))
    return stream.getvalue()


def _saved(document: Any) -> bytes:
    stream = io.BytesIO()
    document.save(stream)
    return stream.getvalue()


WRITERS: dict[str, Writer] = {
    "keys.md": markdown,
    "keys.txt": text,
    "keys.py": code,
    "keys.html": html,
    "keys.rss": feed,
    "keys.csv": csv,
    "keys.docx": docx,
    "keys.xlsx": xlsx,
    "keys.pptx": pptx,
    "keys.odt": odt,
    "keys.ods": ods,
    "keys.rtf": rtf,
    "keys.eml": eml,
    "keys.mbox": mbox,
    "keys.ipynb": notebook,
    "keys.epub": epub,
    "keys.pdf": pdf,
    "keys.png": picture,
    "keys.zip": archive,
}


BROKEN_SECRETS = [planted(900)[kind] for kind in KINDS]
"""The secrets in files that cannot be read, or not wholly."""


def broken() -> dict[str, bytes]:
    """Return files whose errors a library would tell with a piece of their content."""
    lines = "\n".join(line_with(kind, secret) for kind, secret in zip(KINDS, BROKEN_SECRETS, strict=True))
    first = BROKEN_SECRETS[2]
    front = f"---\ntitle: [{first}\npassword: {{{BROKEN_SECRETS[9]}: [\n---\nText with {first}.\n"
    encoded = first.replace("_", "=5F")
    package = io.BytesIO()
    with zipfile.ZipFile(package, "w") as opened:
        opened.writestr("[Content_Types].xml", f"<Types><{first}>")
        opened.writestr("word/document.xml", f"<w:document><w:p>{lines}</{first}>")
    return {
        "front.md": front.encode(),
        "cells.ipynb": f'{{"cells": [{{"source": "{first}", {lines}'.encode(),
        "page.html": f"<html><{first} <p {first}={first}>{lines}</p".encode(),
        "feed.rss": f'<?xml version="1.0"?><rss><channel><{first}>{lines}</rss>'.encode(),
        "letter.eml": f"From: ann@example.org\nSubject: =?utf-8?q?{encoded}?=\nContent-Type: {first}\n\n".encode()
        + lines.encode(),
        "letter.docx": package.getvalue(),
        "odd.rtf": f"{{\\rtf1 {{\\*\\{first} {lines}".encode(),
        "table.csv": f'"{first}\n{lines}'.encode(),
    }


def files() -> dict[str, tuple[Planted, bytes]]:
    """Return each file with what was planted in it."""
    made = {name: Planted(number) for number, name in enumerate(WRITERS, 1)}
    return {name: (made[name], write(made[name])) for name, write in WRITERS.items()}
