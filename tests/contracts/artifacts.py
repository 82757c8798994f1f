"""What every artifact store promises."""

from __future__ import annotations

from kb.domain.pages import PageText, Word, WordBoxes
from kb.domain.recipes import DocumentId
from kb.domain.transcripts import Transcript, TranscriptSegment
from kb.ingest.ports import ArtifactStore

DOC = DocumentId("0123456789abcdef" * 2)
OTHER = DocumentId("fedcba9876543210" * 2)
FIRST = PageText(1, 595.0, 842.0, "text", "두 마리 cats", WordBoxes([Word(0, 1, 10, 20, 30, 40, 0)]))
SCAN = PageText(2, 612.5, 792.0, "ocr", "一只猫\nsleeps", WordBoxes([Word(0, 3, 1, 2, 3, 4, 0)]), 0.93)
BLANK = PageText(7, 100.0, 100.0, "text", "", WordBoxes())
SPOKEN = Transcript((TranscriptSegment(0, 900, "안녕", 0.8), TranscriptSegment(950, 1200, "bye")), "w1", "ko", 1300)


class ArtifactPromises:
    """Held by the fake and by the files."""

    def test_pages_come_back_as_they_were_whichever_way_they_were_read(self, artifacts: ArtifactStore) -> None:
        artifacts.keep(DOC, [FIRST, SCAN, BLANK], None)
        artifacts.settle()
        assert [artifacts.page(DOC, number) for number in (1, 2, 7)] == [FIRST, SCAN, BLANK]
        assert artifacts.page(DOC, 3) is None
        assert artifacts.page(OTHER, 1) is None
        assert artifacts.transcript(DOC) is None

    def test_a_transcript_comes_back_as_it_was(self, artifacts: ArtifactStore) -> None:
        artifacts.keep(DOC, [], SPOKEN)
        artifacts.settle()
        assert artifacts.transcript(DOC) == SPOKEN
        assert artifacts.page(DOC, 1) is None

    def test_what_is_kept_again_replaces_all_that_was_there(self, artifacts: ArtifactStore) -> None:
        artifacts.keep(DOC, [FIRST, SCAN], SPOKEN)
        artifacts.settle()
        artifacts.keep(DOC, [SCAN], None)
        artifacts.settle()
        assert (artifacts.page(DOC, 1), artifacts.page(DOC, 2), artifacts.transcript(DOC)) == (None, SCAN, None)

    def test_what_is_discarded_is_gone_and_the_rest_stays(self, artifacts: ArtifactStore) -> None:
        artifacts.keep(DOC, [FIRST], None)
        artifacts.keep(OTHER, [SCAN], None)
        artifacts.settle()
        artifacts.discard([DOC, DocumentId("0" * 32)])
        assert (artifacts.page(DOC, 1), artifacts.page(OTHER, 2)) == (None, SCAN)

    def test_nothing_is_kept_of_a_document_without_pages_or_speech(self, artifacts: ArtifactStore) -> None:
        artifacts.keep(DOC, [], None)
        artifacts.settle()
        assert artifacts.page(DOC, 1) is None
