-- Jobs that outlive their process, versions with their times, generations built beside the serving one, and an outbox
-- of what is to be removed from disk once the library no longer holds it.

-- subject: what a job works on; of one kind and subject one job lives at a time.
-- request_key: chosen by who asked: the same key is the same job, also when it is over.
-- fencing_token rises with every claim: a worker that lost its lease holds an old one and can write nothing.
-- lease_expires_at and not_before are UTC with microseconds, so that they compare as texts.
-- rest: why it does nothing for now.
ALTER TABLE jobs ADD COLUMN subject TEXT NOT NULL DEFAULT '';
ALTER TABLE jobs ADD COLUMN request_key TEXT;
ALTER TABLE jobs ADD COLUMN priority INTEGER NOT NULL DEFAULT 0;
ALTER TABLE jobs ADD COLUMN fencing_token INTEGER NOT NULL DEFAULT 0;
ALTER TABLE jobs ADD COLUMN owner TEXT;
ALTER TABLE jobs ADD COLUMN lease_expires_at TEXT;
ALTER TABLE jobs ADD COLUMN not_before TEXT;
ALTER TABLE jobs ADD COLUMN most_attempts INTEGER NOT NULL DEFAULT 5;
ALTER TABLE jobs ADD COLUMN rest TEXT CHECK (rest IN ('asked','battery'));
ALTER TABLE jobs ADD COLUMN dead INTEGER NOT NULL DEFAULT 0;
ALTER TABLE jobs ADD COLUMN retry_of TEXT;
DROP INDEX jobs_live;
CREATE UNIQUE INDEX jobs_live ON jobs(kind, subject, payload_json) WHERE status IN ('pending','running');
CREATE UNIQUE INDEX jobs_request ON jobs(request_key) WHERE request_key IS NOT NULL;

-- Chunks are shared between generations: which one serves is said of versions. chunks.generation_id is no longer read.
ALTER TABLE document_versions ADD COLUMN generation_id INTEGER NOT NULL DEFAULT 1;
ALTER TABLE document_versions ADD COLUMN activated_at TEXT;
ALTER TABLE document_versions ADD COLUMN superseded_at TEXT;
DROP INDEX document_versions_doc;
CREATE INDEX document_versions_doc
  ON document_versions(doc_id, item_id, state, chunking_key, chunk_count, generation_id);

-- recipe_json: chunk policy, chunker, parsers and embedding model; NULL until the first ingest says it.
CREATE TABLE generations_now (
  generation_id INTEGER PRIMARY KEY AUTOINCREMENT,
  fingerprint   TEXT NOT NULL,
  state         TEXT NOT NULL CHECK (state IN ('building','ready','serving','retired','discarded')),
  recipe_json   TEXT,
  created_at    TEXT NOT NULL,
  ready_at      TEXT,
  switched_at   TEXT
);
INSERT INTO generations_now (generation_id, fingerprint, state, created_at)
  SELECT generation_id, fingerprint, state, created_at FROM generations;
DROP TABLE generations;
ALTER TABLE generations_now RENAME TO generations;
CREATE UNIQUE INDEX generations_serving ON generations(state) WHERE state = 'serving';

-- What each item shows under a generation that does not serve: one being built, or one that can be gone back to.
CREATE TABLE generation_documents (
  generation_id INTEGER NOT NULL REFERENCES generations(generation_id) ON DELETE CASCADE,
  item_id       TEXT NOT NULL REFERENCES items(item_id) ON DELETE CASCADE,
  checksum      TEXT,
  doc_id        TEXT NOT NULL,
  chunking_key  INTEGER NOT NULL REFERENCES chunkings(chunking_key),
  chunk_count   INTEGER NOT NULL,
  fingerprint   TEXT,
  PRIMARY KEY (generation_id, item_id)
) WITHOUT ROWID;
CREATE INDEX generation_documents_doc ON generation_documents(doc_id, generation_id);

-- Whether another passage has a text is asked whenever one goes: its vector stays as long as any has.
CREATE INDEX chunks_text ON chunks(text_hash);

-- Written with the commit that declares something gone; taken off once it is gone from the disk, too.
CREATE TABLE removals (
  removal_id INTEGER PRIMARY KEY AUTOINCREMENT,
  kind       TEXT NOT NULL CHECK (kind IN ('asset','artifacts','projection')),
  name       TEXT NOT NULL,
  created_at TEXT NOT NULL,
  UNIQUE (kind, name)
);
