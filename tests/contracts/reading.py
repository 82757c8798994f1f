"""What every reader of formats promises, whether it reads in this process or in children."""

from __future__ import annotations

import threading

import pytest

from kb.domain.errors import Unreadable
from kb.domain.failures import Cancelled
from kb.domain.items import MediaType
from kb.domain.limits import ReadingLimits
from kb.domain.paths import WorkspacePath
from kb.ingest.reading_ports import FormatReader, Reading, SourceFile
from tests.fakes.reading import PagesParser, content

PATH = WorkspacePath("a.pdf")
PAGES = b"title: A\none two\n@b.txt inside\f\fthree\nfour"


class FormatReaderContract:
    """For `reader`, which reads PDF with `PagesParser`."""

    def begun(self, reader: FormatReader, data: bytes, password: str | None = None) -> Reading:
        return reader.begin(content(data), PATH, MediaType.PDF, password)

    def test_a_document_is_what_the_parser_makes_of_it(self, reader: FormatReader) -> None:
        source = SourceFile(PATH, MediaType.PDF, PAGES)
        alone = PagesParser().read(source, ReadingLimits(), lambda *_: None)
        assert self.begun(reader, PAGES).result() == alone

    def test_a_result_can_be_asked_for_again(self, reader: FormatReader) -> None:
        reading = self.begun(reader, PAGES)
        assert reading.result() == reading.result()

    def test_what_can_be_read_has_a_version(self, reader: FormatReader) -> None:
        assert MediaType.PDF in reader.media_types
        assert all(reader.version(media_type) for media_type in reader.media_types)
        assert reader.width >= 1

    def test_a_file_that_cannot_be_read_says_why_in_the_words_of_the_parser(self, reader: FormatReader) -> None:
        with pytest.raises(Unreadable) as failure:
            self.begun(reader, b"!damaged").result()
        assert (failure.value.reason, failure.value.message, failure.value.hint) == (
            "damaged",
            "the file cannot be read",
            "mend it",
        )

    def test_a_parser_that_breaks_costs_its_file_and_tells_none_of_its_words(self, reader: FormatReader) -> None:
        bad, good = self.begun(reader, b"!raise sonnet"), self.begun(reader, PAGES)
        with pytest.raises(Unreadable) as failure:
            bad.result()
        assert failure.value.reason == "crashed"
        assert "sonnet" not in failure.value.message + failure.value.hint
        assert len(good.result().blocks) == 3

    @pytest.mark.parametrize("password", [None, "wrong"])
    def test_a_locked_file_needs_its_password(self, reader: FormatReader, password: str | None) -> None:
        with pytest.raises(Unreadable) as failure:
            self.begun(reader, b"?secret\nwords", password).result()
        assert failure.value.reason == "locked"
        assert len(self.begun(reader, b"?secret\nwords", "secret").result().blocks) == 1

    def test_results_belong_to_their_files_in_whatever_order_they_are_asked_for(self, reader: FormatReader) -> None:
        readings = [self.begun(reader, f"file {number}".encode()) for number in range(20)]
        for number in reversed(range(20)):
            assert readings[number].result().blocks[0].text == f"file {number}"

    def test_waiting_ends_when_the_file_is_read(self, reader: FormatReader) -> None:
        reading = self.begun(reader, PAGES)
        assert reading.wait(60)
        assert reading.wait(0)
        done, total, unit = reading.progress()
        assert (total, unit) in {(3, "page"), (0, "")}
        assert 0 <= done <= total

    def test_many_threads_may_wait_for_one_file(self, reader: FormatReader) -> None:
        reading = self.begun(reader, PAGES)
        seen: list[int] = []
        threads = [threading.Thread(target=lambda: seen.append(len(reading.result().blocks))) for _ in range(5)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert seen == [3] * 5

    def test_a_reading_given_up_has_no_result_and_the_others_are_read(self, reader: FormatReader) -> None:
        readings = [self.begun(reader, PAGES) for _ in range(10)]
        given_up = readings.pop()
        given_up.cancel()
        given_up.cancel()
        assert given_up.wait(10)
        with pytest.raises(Cancelled):
            given_up.result()
        assert [len(reading.result().blocks) for reading in readings] == [3] * 9

    def test_a_file_that_has_been_read_cannot_be_given_up(self, reader: FormatReader) -> None:
        reading = self.begun(reader, PAGES)
        assert reading.wait(60)
        reading.cancel()
        assert len(reading.result().blocks) == 3
