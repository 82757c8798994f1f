"""`kb doctor --fix` makes places of words anew out of the same bytes, though the document is known."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.homes import Home

pytestmark = pytest.mark.timeout(120)


def one_page(text: str) -> bytes:
    """Return a PDF of one page that says a text."""
    content = f"BT /F1 18 Tf 72 700 Td ({text}) Tj ET".encode()
    font = b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>"
    page = b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>>>"
    stream = b"<</Length %d>>stream\n%s\nendstream" % (len(content), content)
    objects = [b"<</Type/Catalog/Pages 2 0 R>>", b"<</Type/Pages/Kids[3 0 R]/Count 1>>", page, stream, font]
    data, starts = b"%PDF-1.4\n", []
    for number, body in enumerate(objects, 1):
        starts.append(len(data))
        data += b"%d 0 obj%s\nendobj\n" % (number, body)
    table = b"".join(b"%010d 00000 n \n" % start for start in starts)
    return data + b"xref\n0 6\n0000000000 65535 f \n%strailer<</Size 6/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n" % (
        table,
        len(data),
    )


@pytest.mark.parametrize("harm", ["cut", "removed", "folder removed"])
def test_reading_the_same_bytes_again_restores_damaged_and_missing_artifacts(tmp_path: Path, harm: str) -> None:
    home = Home(tmp_path, {"KB_MODELS_EMBEDDING_PROVIDER": "none"})
    home.put("paper.pdf", one_page("The lighthouse keeper counts nine lamps in the winter storm."))
    home.ok("init")
    home.ok("ingest")
    (file,) = (home.data / "artifacts").glob("*/pdf-text")
    before = file.read_bytes()
    if harm == "cut":
        file.write_bytes(before[: len(before) // 2])
    else:
        file.unlink()
    if harm == "folder removed":
        file.parent.rmdir()

    ran = home.kb("doctor", "--deep", "--json")
    assert not next(one["ok"] for one in json.loads(ran.out)["checks"] if one["name"] == "artifacts")

    fixed = json.loads(home.kb("doctor", "--fix", "--deep", "--json").out)
    (check,) = (one for one in fixed["checks"] if one["name"] == "artifacts")
    assert (check["ok"], check["fixed"]) == (True, "1 files are read again")
    assert file.read_bytes() == before
