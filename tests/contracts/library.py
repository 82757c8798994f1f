"""What the stores of the library promise, whatever they are made of."""

from __future__ import annotations

from dataclasses import dataclass, replace

from kb.domain.chunks import ChunkRole
from kb.domain.coverage import CoverageUnit
from kb.domain.embeddings import ChunkKey
from kb.domain.files import FileIdentity, ScannedFile
from kb.domain.items import ItemState, MediaType
from kb.domain.metadata import SourceType, TrustLevel
from kb.domain.search import SearchFilters
from kb.ingest.library_ports import DocumentWriter, IndexLog, ItemStore, VectorStore
from kb.retrieval.ports import GatedChunks
from tests.builders import MODEL, Staged, an_item, path_of, staged, vector_of

EVERYTHING = SearchFilters()


@dataclass(frozen=True)
class Ports:
    items: ItemStore
    documents: DocumentWriter
    vectors: VectorStore
    log: IndexLog
    gate: GatedChunks

    def stage(self, *documents: Staged) -> None:
        for one in documents:
            self.documents.stage(one.item, one.asset, one.document, one.chunks, MODEL)

    def publish(self, *documents: Staged) -> None:
        self.stage(*documents)
        self.documents.activate([one.document.doc_id for one in documents])

    def embed(self) -> None:
        texts = self.vectors.pending(MODEL, 1000)
        self.vectors.save(MODEL, [(text, vector_of(text.text)) for text in texts])

    def texts(self, filters: SearchFilters = EVERYTHING) -> list[str]:
        shown = self.gate.visible(self.gate.matching(filters))
        return [shown[key].chunk.text for key in sorted(shown)]

    def indexed_texts(self) -> list[str]:
        return [entry.text for entry in self.log.text_snapshot().entries]


class ItemStoreContract:
    def test_a_saved_item_is_among_the_live_ones(self, ports: Ports) -> None:
        item = an_item("notes/a.md", state=ItemState.FAILED)
        ports.items.save_item(replace(item, reason="binary: it has no text"))
        assert ports.items.live_items() == {"notes/a.md": replace(item, reason="binary: it has no text")}

    def test_saving_an_item_again_keeps_its_active_document(self, ports: Ports) -> None:
        one = staged("a.md", "Kebab grills.")
        ports.publish(one)
        ports.items.save_item(replace(one.item, state=ItemState.FAILED, active_doc_id=None))
        item = ports.items.live_items()[path_of("a.md")]
        assert (item.state, item.active_doc_id) == (ItemState.FAILED, one.document.doc_id)
        assert ports.texts() == ["Kebab grills."]

    def test_touching_an_item_records_its_new_identity(self, ports: Ports) -> None:
        one = staged("a.md", "Kebab grills.")
        ports.publish(one)
        identity = FileIdentity(99, 5, "7:7")
        ports.items.touch([(one.item.item_id, ScannedFile(path_of("a.md"), "a.md", identity))])
        assert ports.items.live_items()[path_of("a.md")].identity == identity
        assert ports.texts() == ["Kebab grills."]

    def test_the_item_that_was_last_at_a_path_is_known_while_its_file_is_gone(self, ports: Ports) -> None:
        one, other = staged("a.md", "First.", item_id="one"), staged("a.md", "Second.", item_id="other")
        for document in (one, other):
            ports.publish(document)
            ports.items.delete_items([document.item.item_id])
        gone = ports.items.gone_items()
        assert [(path, item.item_id, item.checksum) for path, item in gone.items()] == [
            ("a.md", "other", other.item.checksum)
        ]
        ports.publish(other)
        assert ports.texts() == ["Second."]
        assert "other" not in {item.item_id for item in ports.items.gone_items().values()}

    def test_two_items_can_swap_their_paths(self, ports: Ports) -> None:
        one, two = staged("a.md", "First."), staged("b.md", "Second.")
        ports.publish(one, two)
        identity = FileIdentity(1, 1, "1:1")
        ports.items.touch(
            [
                (one.item.item_id, ScannedFile(path_of("b.md"), "b.md", identity)),
                (two.item.item_id, ScannedFile(path_of("a.md"), "a.md", identity)),
            ]
        )
        shown = ports.gate.visible(ports.gate.matching(EVERYTHING)).values()
        assert {stored.path: stored.chunk.text for stored in shown} == {"b.md": "First.", "a.md": "Second."}
        assert {entry.path: entry.text for entry in ports.log.text_snapshot().entries} == {
            "b.md": "First.",
            "a.md": "Second.",
        }

    def test_an_item_that_takes_the_path_of_another_hides_it(self, ports: Ports) -> None:
        ports.publish(staged("a.md", "Old.", item_id="first"))
        ports.publish(staged("a.md", "New.", item_id="second"))
        assert ports.texts() == ["New."]
        assert [item.item_id for item in ports.items.live_items().values()] == ["second"]

    def test_a_deleted_item_is_gone_from_everything_at_once(self, ports: Ports) -> None:
        one, two = staged("a.md", "First."), staged("b.md", "Second.")
        ports.publish(one, two)
        ports.embed()
        before = ports.gate.facts(MODEL)
        ports.items.delete_items([one.item.item_id])
        assert ports.texts() == ["Second."]
        assert list(ports.items.live_items()) == ["b.md"]
        assert ports.indexed_texts() == ["Second."]
        changes = ports.log.text_changes(before.text_position, 10)
        assert changes is not None
        assert (changes.remove, changes.add) == ((one.document.doc_id,), ())
        vectors = ports.log.vector_changes(MODEL, before.vector_position, 10)
        assert vectors is not None
        assert (len(vectors.remove), vectors.add) == (1, ())


class DocumentWriterContract:
    def test_a_staged_document_is_indexed_but_not_shown(self, ports: Ports) -> None:
        one = staged("a.md", "Kebab grills.", "It rotates.")
        ports.stage(one)
        assert ports.texts() == []
        assert ports.documents.staged() == [one.document.doc_id]
        changes = ports.log.text_changes(0, 10)
        assert changes is not None
        assert [entry.text for entry in changes.add] == ["Kebab grills.", "It rotates."]

    def test_documents_read_in_part_are_known(self, ports: Ports) -> None:
        whole, part = staged("a.md", "Kebab grills."), staged("b.md", "It rotates.")
        lacking = replace(
            part.document, coverage=(CoverageUnit("page", 1, 1, "text"), CoverageUnit("page", 2, 2, "failed"))
        )
        ports.publish(whole, replace(part, document=lacking))
        assert ports.documents.unread() == {lacking.doc_id}

    def test_activation_shows_it_whole(self, ports: Ports) -> None:
        one = staged("a.md", "Kebab grills.", "It rotates.")
        ports.publish(one)
        assert ports.texts() == ["Kebab grills.", "It rotates."]
        assert ports.documents.staged() == []
        item = ports.items.live_items()[path_of("a.md")]
        assert (item.state, item.active_doc_id) == (ItemState.READY, one.document.doc_id)

    def test_the_old_version_answers_until_the_new_one_is_activated(self, ports: Ports) -> None:
        old, new = staged("a.md", "Old."), staged("a.md", "New.")
        ports.publish(old)
        ports.stage(new)
        assert ports.texts() == ["Old."]
        assert ports.indexed_texts() == ["Old.", "New."]
        ports.documents.activate([new.document.doc_id])
        assert ports.texts() == ["New."]
        assert ports.indexed_texts() == ["New."]

    def test_staging_twice_is_staging_once(self, ports: Ports) -> None:
        one = staged("a.md", "Kebab grills.")
        ports.stage(one)
        position = ports.gate.facts(MODEL).text_position
        ports.stage(one)
        assert ports.gate.facts(MODEL).text_position == position
        ports.documents.activate([one.document.doc_id])
        assert ports.texts() == ["Kebab grills."]
        ports.publish(one)
        assert ports.texts() == ["Kebab grills."]
        assert ports.indexed_texts() == ["Kebab grills."]

    def test_staging_what_is_shown_already_leaves_it_shown(self, ports: Ports) -> None:
        one = staged("a.md", "Kebab grills.")
        ports.publish(one)
        ports.stage(one)
        assert ports.documents.staged() == []
        assert ports.items.live_items()[path_of("a.md")].state is ItemState.READY
        assert ports.texts() == ["Kebab grills."]

    def test_a_text_that_comes_back_before_the_other_was_shown_wins(self, ports: Ports) -> None:
        a, b = staged("a.md", "First."), staged("a.md", "Second.")
        ports.publish(a)
        ports.embed()
        ports.stage(b, a)
        ports.documents.activate([b.document.doc_id, a.document.doc_id])
        assert ports.texts() == ["First."]
        assert ports.indexed_texts() == ["First."]
        assert ports.gate.facts(MODEL).vectors == 1

    def test_a_text_that_comes_back_is_shown_again(self, ports: Ports) -> None:
        a, b = staged("a.md", "First."), staged("a.md", "Second.")
        for version in (a, b, a):
            ports.embed()
            ports.publish(version)
            assert ports.texts() == [version.chunks[0].text]
            assert ports.indexed_texts() == [version.chunks[0].text]
        assert ports.gate.facts(MODEL).vectors == 0
        assert ports.vectors.adopt(MODEL) == 1
        assert ports.gate.facts(MODEL).vectors == 1

    def test_new_chunks_of_the_same_document_replace_the_old_ones_at_activation(self, ports: Ports) -> None:
        old, new = staged("a.md", "Same text."), staged("a.md", "Same text.", policy="policy-2")
        ports.publish(old)
        ports.stage(new)
        shown = ports.gate.visible(ports.gate.matching(EVERYTHING))
        assert [stored.chunk.policy_hash for stored in shown.values()] == ["policy-1"]
        ports.documents.activate([new.document.doc_id])
        shown = ports.gate.visible(ports.gate.matching(EVERYTHING))
        assert [stored.chunk.policy_hash for stored in shown.values()] == ["policy-2"]
        assert len(ports.indexed_texts()) == 1

    def test_following_the_log_gives_what_a_snapshot_gives(self, ports: Ports) -> None:
        held: dict[str, set[str]] = {}
        position = 0
        steps = (
            staged("a.md", "One."),
            staged("b.md", "Two."),
            staged("a.md", "Three."),
            staged("a.md", "One."),
            staged("a.md", "One.", policy="policy-2"),
        )
        for step in steps:
            ports.publish(step)
            while changes := ports.log.text_changes(position, 1):
                for doc_id in changes.remove:
                    held.pop(doc_id, None)
                for entry in changes.add:
                    held.setdefault(entry.doc_id, set()).add(f"{entry.key} {entry.text}")
                position = changes.position
        entries = {f"{entry.key} {entry.text}" for entry in ports.log.text_snapshot().entries}
        assert set().union(*held.values()) == entries

    def test_an_empty_document_keeps_its_state(self, ports: Ports) -> None:
        ports.publish(staged("a.md", state=ItemState.EMPTY))
        assert ports.items.live_items()[path_of("a.md")].state is ItemState.EMPTY
        assert ports.texts() == []

    def test_a_chunk_reads_back_as_it_was_written(self, ports: Ports) -> None:
        one = staged("a.md", "Kebab grills.", "It rotates.", title="케밥", lang="ko")
        ports.publish(one)
        shown = ports.gate.visible(ports.gate.matching(EVERYTHING))
        assert [shown[key].chunk for key in sorted(shown)] == list(one.chunks)
        stored = shown[min(shown)]
        assert (stored.path, stored.title, stored.lang, stored.media) == ("a.md", "케밥", "ko", "markdown")

    def test_purge_leaves_the_versions_asked_for(self, ports: Ports) -> None:
        versions = [staged("a.md", text) for text in ("One.", "Two.", "Three.")]
        for version in versions:
            ports.publish(version)
        assert list(ports.documents.purge(1)) == [versions[0].asset.storage_path]
        assert list(ports.documents.purge(0)) == [versions[1].asset.storage_path]
        assert list(ports.documents.purge(0)) == []
        assert ports.texts() == ["Three."]

    def test_purge_keeps_a_copy_that_another_document_needs(self, ports: Ports) -> None:
        ports.publish(staged("a.md", "Same."), staged("b.md", "Same."))
        ports.items.delete_items([staged("a.md", "Same.").item.item_id])
        assert list(ports.documents.purge(0)) == []
        assert ports.texts() == ["Same."]


class GatedChunksContract:
    def test_neighbours_stand_in_document_order_without_the_chunk_itself(self, ports: Ports) -> None:
        ports.publish(staged("a.md", "One.", "Two.", "Three.", "Four."), staged("b.md", "Other."))
        keys = {s.chunk.text: key for key, s in ports.gate.visible(ports.gate.matching(EVERYTHING)).items()}
        assert [s.chunk.text for s in ports.gate.neighbours(keys["Two."], 1)] == ["One.", "Three."]
        assert [s.chunk.text for s in ports.gate.neighbours(keys["Two."], 2)] == ["One.", "Three.", "Four."]
        assert list(ports.gate.neighbours(keys["Two."], 0)) == []

    def test_a_child_has_a_parent_that_is_no_candidate_itself(self, ports: Ports) -> None:
        ports.publish(staged("a.md", "One.", "Two.", parents=True), staged("b.md", "Alone."))
        keys = {s.chunk.text: key for key, s in ports.gate.visible(ports.gate.matching(EVERYTHING)).items()}
        parents = ports.gate.parents([keys["One."], keys["Alone."], ChunkKey(9999)])
        assert {key: stored.chunk.role for key, stored in parents.items()} == {keys["One."]: ChunkRole.PARENT}
        parent = parents[keys["One."]]
        assert "One." in parent.chunk.text
        assert "Two." in parent.chunk.text
        assert ports.gate.visible([parent.key]) == {}

    def test_a_key_that_is_hidden_or_unknown_shows_nothing(self, ports: Ports) -> None:
        ports.publish(staged("a.md", "One."))
        (key,) = ports.gate.matching(EVERYTHING)
        ports.publish(staged("a.md", "Two."))
        unknown = ChunkKey(9999)
        assert ports.gate.visible([key, unknown]) == {}
        assert list(ports.gate.neighbours(key, 1)) == []

    def test_filters_choose_by_tag_language_path_trust_and_type(self, ports: Ports) -> None:
        ports.publish(
            staged("notes/a.md", "a", tags=("red", "blue"), lang="zh-Hans"),
            staged("notes/deep/b.md", "b", tags=("green",), lang="zh-Hant", trust_level=TrustLevel.GENERATED),
            staged("papers/c.pdf", "c", lang="zhx", source_type=SourceType.PAPER, media_type=MediaType.PDF),
            staged(
                "papers/[d].txt",
                "d",
                source_type=SourceType.MARKDOWN,
                trust_level=TrustLevel.SECONDARY,
                media_type=MediaType.TEXT,
            ),
            staged("work/e.docx", "e", media_type=MediaType.DOCX, lang="fr"),
        )
        for filters, expected in (
            (SearchFilters(tags_any=("red", "green")), "ab"),
            (SearchFilters(tags_any=("purple",)), ""),
            (SearchFilters(lang="zh"), "ab"),
            (SearchFilters(lang="zh-Hant"), "b"),
            (SearchFilters(path_glob="notes/*.md"), "a"),
            (SearchFilters(path_glob="notes/**"), "ab"),
            (SearchFilters(path_glob="**/*.md"), "ab"),
            (SearchFilters(path_glob="papers/?.pdf"), "c"),
            (SearchFilters(path_glob="papers/[[]d].*"), "d"),
            (SearchFilters(path_glob="NOTES/*"), ""),
            (SearchFilters(trust_min=TrustLevel.SECONDARY), "acde"),
            (SearchFilters(source_types=("paper", "text")), "cd"),
            (SearchFilters(source_types=("docx",)), "e"),
            (SearchFilters(source_types=("office",)), "e"),
            (SearchFilters(source_types=("mail",)), ""),
            (SearchFilters(source_types=("markdown",)), "ab"),
            (SearchFilters(source_types=("note",), tags_any=("blue",), lang="zh"), "a"),
        ):
            assert "".join(ports.texts(filters)) == expected, filters

    def test_facts_count_what_can_be_searched_now(self, ports: Ports) -> None:
        ports.publish(staged("a.md", "One.", "Two."))
        ports.items.save_item(an_item("scan.pdf", state=ItemState.WAITING))
        ports.items.save_item(an_item("broken.pdf", state=ItemState.FAILED))
        facts = ports.gate.facts(MODEL)
        assert (facts.chunks, facts.vectors, facts.unread_items) == (2, 0, 2)
        ports.vectors.save(MODEL, [(t, vector_of(t.text)) for t in ports.vectors.pending(MODEL, 1)])
        assert ports.gate.facts(MODEL).vectors == 1
        assert ports.gate.facts(None).vectors == 0
        ports.stage(staged("b.md", "Three."))
        assert ports.gate.facts(MODEL).chunks == 2
        ports.embed()
        assert ports.gate.facts(MODEL).vectors == 2
