CREATE INDEX answer_sources_doc ON answer_sources(doc_id);
CREATE INDEX answers_created_at ON answers(created_at);
CREATE INDEX chunk_layer_losses_doc ON chunk_layer_losses(doc_id);
CREATE INDEX chunk_layer_places_chunk ON chunk_layer_places(chunk_key);
CREATE INDEX chunk_layers_item ON chunk_layers(item_id, state);
CREATE INDEX chunks_disabled ON chunks(chunk_key) WHERE enabled = 0;
CREATE INDEX chunks_doc ON chunks(doc_id, chunking_key, ordinal, role, enabled, generation_id);
CREATE INDEX chunks_text ON chunks(text_hash);
CREATE INDEX collection_items_item ON collection_items(item_id, collection_id);
CREATE UNIQUE INDEX collections_name ON collections(name_key) WHERE archived_at IS NULL;
CREATE INDEX document_links_key ON document_links(name_key, doc_id);
CREATE INDEX document_tags_tag ON document_tags(tag);
CREATE INDEX document_versions_doc
  ON document_versions(doc_id, item_id, state, chunking_key, chunk_count, generation_id);
CREATE INDEX document_versions_indexing ON document_versions(doc_id) WHERE state = 'indexing';
CREATE INDEX documents_asset ON documents(asset_id);
CREATE INDEX documents_hidden ON documents(doc_id) WHERE privacy_state <> 'current';
CREATE INDEX documents_unread ON documents(doc_id) WHERE unread_units > 0;
CREATE INDEX edges_to ON edges(to_item, from_item);
CREATE INDEX embedding_records_pending ON embedding_records(model_key, char_count, text_hash) WHERE state = 'pending';
CREATE INDEX embedding_records_written ON embedding_records(model_key, log_seq) WHERE state = 'written';
CREATE INDEX eval_runs_created ON eval_runs(created_at);
CREATE INDEX generation_documents_doc ON generation_documents(doc_id, generation_id);
CREATE UNIQUE INDEX generations_serving ON generations(state) WHERE state = 'serving';
CREATE INDEX index_log_text ON index_log(seq) WHERE projection = 'text';
CREATE INDEX items_active_doc ON items(active_doc_id) WHERE active_doc_id IS NOT NULL;
CREATE UNIQUE INDEX items_live_path ON items(workspace_path) WHERE deleted_at IS NULL;
CREATE INDEX items_shown ON items(active_doc_id, item_id)
  WHERE deleted_at IS NULL AND included = 1 AND archived_at IS NULL;
CREATE UNIQUE INDEX jobs_live ON jobs(kind, subject, payload_json) WHERE status IN ('pending','running');
CREATE UNIQUE INDEX jobs_request ON jobs(request_key) WHERE request_key IS NOT NULL;
CREATE INDEX jobs_status ON jobs(status);
CREATE INDEX link_names_item ON link_names(item_id);
CREATE TABLE answer_sources (
  trace_id TEXT NOT NULL REFERENCES answers(trace_id) ON DELETE CASCADE,
  doc_id   TEXT NOT NULL,
  PRIMARY KEY (trace_id, doc_id)
) WITHOUT ROWID;
CREATE TABLE answers (
  trace_id                TEXT PRIMARY KEY,
  query                   TEXT NOT NULL,
  answer                  TEXT NOT NULL,
  grounded                INTEGER NOT NULL,
  refusal_reason          TEXT,
  model_id                TEXT NOT NULL,
  model_provider          TEXT NOT NULL,
  embedding_model_id      TEXT,
  embedding_provider      TEXT,
  embedding_dimensions    INTEGER,
  prompt_template_version TEXT NOT NULL,
  retrieval_mode          TEXT NOT NULL,
  retrieval_k             INTEGER NOT NULL,
  score_gate              REAL NOT NULL,
  top_score               REAL NOT NULL,
  chunks_returned         INTEGER NOT NULL,
  chunks_used             INTEGER NOT NULL,
  passages_searched       INTEGER NOT NULL,
  unread_items            INTEGER NOT NULL,
  degraded_json           TEXT NOT NULL,
  citations_json          TEXT NOT NULL,
  claims_json             TEXT NOT NULL,
  packed_chunks_json      TEXT NOT NULL,
  prompt_system           TEXT NOT NULL,
  prompt_user             TEXT NOT NULL,
  temperature             REAL NOT NULL,
  seed                    INTEGER NOT NULL,
  prompt_tokens           INTEGER NOT NULL,
  completion_tokens       INTEGER NOT NULL,
  latency_ms              INTEGER NOT NULL,
  finish_reason           TEXT NOT NULL,
  created_at              TEXT NOT NULL
);
CREATE TABLE assets (
  asset_id      TEXT PRIMARY KEY,
  media_type    TEXT NOT NULL,
  byte_len      INTEGER NOT NULL,
  checksum      TEXT NOT NULL,
  storage_kind  TEXT NOT NULL CHECK (storage_kind IN ('copied','reference')),
  storage_path  TEXT NOT NULL,
  discovered_at TEXT NOT NULL
);
CREATE TABLE blocks (
  doc_id            TEXT NOT NULL REFERENCES documents(doc_id) ON DELETE CASCADE,
  ordinal           INTEGER NOT NULL,
  block_id          TEXT NOT NULL,
  kind              TEXT NOT NULL,
  heading_path_json TEXT NOT NULL,
  source_span_json  TEXT NOT NULL,
  payload_json      TEXT NOT NULL,
  PRIMARY KEY (doc_id, ordinal)
) WITHOUT ROWID;
CREATE TABLE chunk_layer_losses (
  layer_id     TEXT NOT NULL REFERENCES chunk_layers(layer_id) ON DELETE CASCADE,
  doc_id       TEXT NOT NULL REFERENCES documents(doc_id) ON DELETE CASCADE,
  chunking_key INTEGER NOT NULL,
  reason       TEXT NOT NULL,
  PRIMARY KEY (layer_id, doc_id, chunking_key)
) WITHOUT ROWID;
CREATE TABLE chunk_layer_places (
  layer_id     TEXT NOT NULL REFERENCES chunk_layers(layer_id) ON DELETE CASCADE,
  chunk_key    INTEGER NOT NULL REFERENCES chunks(chunk_key) ON DELETE CASCADE,
  changes_json TEXT NOT NULL DEFAULT '[]',
  PRIMARY KEY (layer_id, chunk_key)
) WITHOUT ROWID;
CREATE TABLE chunk_layers (
  layer_id    TEXT PRIMARY KEY,
  item_id     TEXT NOT NULL REFERENCES items(item_id) ON DELETE CASCADE,
  kind        TEXT NOT NULL CHECK (kind IN ('text','disabled','deleted')),
  state       TEXT NOT NULL DEFAULT 'active' CHECK (state IN ('active','replaced','taken_off')),
  replaces    TEXT NOT NULL DEFAULT '[]',
  source_text TEXT NOT NULL,
  new_text    TEXT NOT NULL DEFAULT '',
  own         INTEGER NOT NULL DEFAULT 0,
  before_text TEXT NOT NULL DEFAULT '',
  after_text  TEXT NOT NULL DEFAULT '',
  place       REAL NOT NULL DEFAULT 0,
  place_json  TEXT NOT NULL,
  created_at  TEXT NOT NULL,
  updated_at  TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE chunk_originals (
  chunk_key         INTEGER PRIMARY KEY REFERENCES chunks(chunk_key) ON DELETE CASCADE,
  text              TEXT NOT NULL,
  text_hash         BLOB NOT NULL,
  char_count        INTEGER NOT NULL,
  token_estimate    INTEGER NOT NULL,
  segments_json     TEXT NOT NULL,
  source_spans_json TEXT NOT NULL
);
CREATE TABLE chunk_policies (
  policy_hash TEXT PRIMARY KEY,
  policy_json TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE chunkings (
  chunking_key    INTEGER PRIMARY KEY,
  chunker_version TEXT NOT NULL,
  policy_hash     TEXT NOT NULL,
  UNIQUE (chunker_version, policy_hash)
);
CREATE TABLE chunks (
  chunk_key         INTEGER PRIMARY KEY AUTOINCREMENT,
  chunk_id          TEXT NOT NULL UNIQUE,
  doc_id            TEXT NOT NULL REFERENCES documents(doc_id) ON DELETE CASCADE,
  generation_id     INTEGER NOT NULL DEFAULT 1 REFERENCES generations(generation_id),
  ordinal           INTEGER NOT NULL,
  role              TEXT NOT NULL DEFAULT 'standalone' CHECK (role IN ('standalone','parent','child')),
  enabled           INTEGER NOT NULL DEFAULT 1,
  manually_edited   INTEGER NOT NULL DEFAULT 0,
  chunking_key      INTEGER NOT NULL REFERENCES chunkings(chunking_key),
  parent_chunk_id   TEXT,
  lang              TEXT NOT NULL,
  token_estimate    INTEGER NOT NULL,
  char_count        INTEGER NOT NULL,
  text_hash         BLOB NOT NULL,
  section_label     TEXT,
  heading_path_json TEXT NOT NULL,
  block_ids_json    TEXT NOT NULL,
  source_spans_json TEXT NOT NULL,
  segments_json     TEXT NOT NULL,
  text              TEXT NOT NULL,
  created_at        TEXT NOT NULL,
  updated_at        TEXT
);
CREATE TABLE collection_items (
  collection_id TEXT NOT NULL REFERENCES collections(collection_id) ON DELETE CASCADE,
  item_id       TEXT NOT NULL REFERENCES items(item_id) ON DELETE CASCADE,
  kind          TEXT NOT NULL CHECK (kind IN ('added','left_out')),
  created_at    TEXT NOT NULL,
  PRIMARY KEY (collection_id, item_id)
) WITHOUT ROWID;
CREATE TABLE collections (
  collection_id  TEXT PRIMARY KEY,
  name           TEXT NOT NULL,
  name_key       TEXT NOT NULL,
  position       INTEGER NOT NULL,
  revision       INTEGER NOT NULL DEFAULT 1,
  archived_at    TEXT,
  rules_json     TEXT NOT NULL DEFAULT '[]',
  chunking_json  TEXT,
  retrieval_json TEXT,
  created_at     TEXT NOT NULL,
  updated_at     TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE document_links (
  doc_id   TEXT NOT NULL REFERENCES documents(doc_id) ON DELETE CASCADE,
  ordinal  INTEGER NOT NULL,
  kind     TEXT NOT NULL CHECK (kind IN ('wiki','link','heading')),
  target   TEXT NOT NULL,
  fragment TEXT NOT NULL DEFAULT '',
  label    TEXT NOT NULL DEFAULT '',
  name_key TEXT NOT NULL,
  outcome  TEXT,
  PRIMARY KEY (doc_id, ordinal)
) WITHOUT ROWID;
CREATE TABLE document_tags (
  doc_id TEXT NOT NULL REFERENCES documents(doc_id) ON DELETE CASCADE,
  tag    TEXT NOT NULL,
  PRIMARY KEY (doc_id, tag)
) WITHOUT ROWID;
CREATE TABLE document_versions (
  item_id      TEXT NOT NULL REFERENCES items(item_id) ON DELETE CASCADE,
  number       INTEGER NOT NULL,
  doc_id       TEXT NOT NULL,
  state        TEXT NOT NULL CHECK (state IN ('indexing','ready','superseded','purging','purged')),
  chunking_key INTEGER NOT NULL REFERENCES chunkings(chunking_key),
  chunk_count  INTEGER NOT NULL,
  created_at   TEXT NOT NULL, generation_id INTEGER NOT NULL DEFAULT 1, activated_at TEXT, superseded_at TEXT,
  PRIMARY KEY (item_id, number)
) WITHOUT ROWID;
CREATE TABLE documents (
  doc_id          TEXT PRIMARY KEY,
  asset_id        TEXT NOT NULL REFERENCES assets(asset_id) ON DELETE RESTRICT,
  workspace_path  TEXT NOT NULL,
  title           TEXT NOT NULL,
  lang            TEXT NOT NULL,
  source_type     TEXT NOT NULL,
  trust_level     TEXT NOT NULL,
  trust_rank      INTEGER NOT NULL,
  media_type      TEXT NOT NULL,
  parser_version  TEXT NOT NULL,
  schema_version  INTEGER NOT NULL,
  privacy_state   TEXT NOT NULL DEFAULT 'current',
  line_count      INTEGER NOT NULL,
  block_count     INTEGER NOT NULL,
  text_lines_json TEXT NOT NULL,
  warnings_json   TEXT NOT NULL,
  metadata_json   TEXT NOT NULL,
  provenance_json TEXT NOT NULL,
  created_at      TEXT NOT NULL,
  updated_at      TEXT NOT NULL
, coverage_json TEXT NOT NULL DEFAULT '[]', masked_json TEXT NOT NULL DEFAULT '[]', unread_units INTEGER NOT NULL DEFAULT 0);
CREATE TABLE edges (
  from_item  TEXT NOT NULL REFERENCES items(item_id) ON DELETE CASCADE,
  to_item    TEXT NOT NULL REFERENCES items(item_id) ON DELETE CASCADE,
  kind       TEXT NOT NULL CHECK (kind IN ('wiki','link','tag','heading','manual')),
  origin     TEXT NOT NULL CHECK (origin IN ('derived','manual')),
  state      TEXT NOT NULL DEFAULT 'active' CHECK (state IN ('active','removed')),
  weight     REAL NOT NULL DEFAULT 1,
  label      TEXT NOT NULL DEFAULT '',
  fragment   TEXT NOT NULL DEFAULT '',
  updated_at TEXT NOT NULL,
  PRIMARY KEY (from_item, to_item, kind)
) WITHOUT ROWID;
CREATE TABLE embedding_models (
  model_key        INTEGER PRIMARY KEY,
  fingerprint      TEXT NOT NULL UNIQUE,
  model_id         TEXT NOT NULL,
  model_version    TEXT NOT NULL,
  provider         TEXT NOT NULL,
  dimensions       INTEGER NOT NULL,
  enrolled_through INTEGER NOT NULL DEFAULT 0,
  created_at       TEXT NOT NULL
);
CREATE TABLE embedding_records (
  model_key  INTEGER NOT NULL REFERENCES embedding_models(model_key),
  chunk_key  INTEGER NOT NULL REFERENCES chunks(chunk_key) ON DELETE CASCADE,
  state      TEXT NOT NULL CHECK (state IN ('pending','written','committed')),
  char_count INTEGER NOT NULL,
  text_hash  BLOB NOT NULL,
  log_seq    INTEGER,
  PRIMARY KEY (chunk_key, model_key)
) WITHOUT ROWID;
CREATE TABLE eval_runs (
  run_id       TEXT PRIMARY KEY,
  suite        TEXT NOT NULL,
  suite_hash   TEXT NOT NULL,
  config_json  TEXT NOT NULL,
  metrics_json TEXT NOT NULL,
  created_at   TEXT NOT NULL,
  finished_at  TEXT
) WITHOUT ROWID;
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
CREATE TABLE "generations" (
  generation_id INTEGER PRIMARY KEY AUTOINCREMENT,
  fingerprint   TEXT NOT NULL,
  state         TEXT NOT NULL CHECK (state IN ('building','ready','serving','retired','discarded')),
  recipe_json   TEXT,
  created_at    TEXT NOT NULL,
  ready_at      TEXT,
  switched_at   TEXT
);
CREATE TABLE index_log (
  seq        INTEGER PRIMARY KEY AUTOINCREMENT,
  projection TEXT NOT NULL CHECK (projection IN ('text','vector')),
  op         TEXT NOT NULL CHECK (op IN ('add','remove')),
  doc_id     TEXT,
  chunk_key  INTEGER,
  model_key  INTEGER
);
CREATE TABLE ingest_run_items (
  run_id    TEXT NOT NULL REFERENCES ingest_runs(run_id) ON DELETE CASCADE,
  ordinal   INTEGER NOT NULL,
  item_json TEXT NOT NULL,
  PRIMARY KEY (run_id, ordinal)
) WITHOUT ROWID;
CREATE TABLE ingest_runs (
  run_id        TEXT PRIMARY KEY,
  scope_json    TEXT NOT NULL,
  scanned       INTEGER NOT NULL,
  new_count     INTEGER NOT NULL,
  updated_count INTEGER NOT NULL,
  skipped_count INTEGER NOT NULL,
  deleted_count INTEGER NOT NULL,
  renamed_count INTEGER NOT NULL,
  error_count   INTEGER NOT NULL,
  duration_ms   INTEGER NOT NULL,
  started_at    TEXT NOT NULL,
  finished_at   TEXT
);
CREATE TABLE item_chunking (
  item_id     TEXT PRIMARY KEY REFERENCES items(item_id) ON DELETE CASCADE,
  wanted_json TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE items (
  item_id        TEXT PRIMARY KEY,
  workspace_path TEXT NOT NULL,
  disk_name      TEXT NOT NULL,
  size           INTEGER NOT NULL,
  mtime_ns       INTEGER NOT NULL,
  file_id        TEXT NOT NULL,
  state          TEXT NOT NULL
                 CHECK (state IN ('new','ready','empty','unsupported','waiting','failed','deleted')),
  reason         TEXT,
  included       INTEGER NOT NULL DEFAULT 1,
  archived_at    TEXT,
  deleted_at     TEXT,
  asset_id       TEXT,
  checksum       TEXT,
  media_type     TEXT,
  active_doc_id  TEXT,
  fingerprint    TEXT,
  created_at     TEXT NOT NULL,
  updated_at     TEXT NOT NULL
, coverage_json TEXT NOT NULL DEFAULT '[]');
CREATE TABLE jobs (
  job_id           TEXT PRIMARY KEY,
  kind             TEXT NOT NULL,
  status           TEXT NOT NULL CHECK (status IN ('pending','running','succeeded','failed','canceled')),
  payload_json     TEXT NOT NULL,
  progress_json    TEXT NOT NULL,
  error_json       TEXT,
  result_json      TEXT,
  attempts         INTEGER NOT NULL DEFAULT 0,
  cancel_requested INTEGER NOT NULL DEFAULT 0,
  created_at       TEXT NOT NULL,
  updated_at       TEXT NOT NULL,
  finished_at      TEXT
, subject TEXT NOT NULL DEFAULT '', request_key TEXT, priority INTEGER NOT NULL DEFAULT 0, fencing_token INTEGER NOT NULL DEFAULT 0, owner TEXT, lease_expires_at TEXT, not_before TEXT, most_attempts INTEGER NOT NULL DEFAULT 5, rest TEXT CHECK (rest IN ('asked','battery')), dead INTEGER NOT NULL DEFAULT 0, retry_of TEXT);
CREATE TABLE link_names (
  name_key TEXT NOT NULL,
  item_id  TEXT NOT NULL REFERENCES items(item_id) ON DELETE CASCADE,
  kind     TEXT NOT NULL CHECK (kind IN ('file','title','alias')),
  name     TEXT NOT NULL,
  PRIMARY KEY (name_key, item_id, kind, name)
) WITHOUT ROWID;
CREATE TABLE links_noted (
  item_id        TEXT PRIMARY KEY REFERENCES items(item_id) ON DELETE CASCADE,
  doc_id         TEXT NOT NULL,
  workspace_path TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE links_read (
  doc_id  TEXT PRIMARY KEY REFERENCES documents(doc_id) ON DELETE CASCADE,
  version TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE links_waiting (
  item_id TEXT PRIMARY KEY REFERENCES items(item_id) ON DELETE CASCADE
) WITHOUT ROWID;
CREATE TABLE migrations (
  id INTEGER PRIMARY KEY, applied_at TEXT NOT NULL, description TEXT NOT NULL
);
CREATE TABLE removals (
  removal_id INTEGER PRIMARY KEY AUTOINCREMENT,
  kind       TEXT NOT NULL CHECK (kind IN ('asset','artifacts','projection')),
  name       TEXT NOT NULL,
  created_at TEXT NOT NULL,
  UNIQUE (kind, name)
);
CREATE TABLE saved_searches (
  search_id    TEXT PRIMARY KEY,
  name         TEXT NOT NULL,
  name_key     TEXT NOT NULL UNIQUE,
  request_json TEXT NOT NULL,
  created_at   TEXT NOT NULL,
  updated_at   TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE schema_meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE search_counters (
  day     TEXT NOT NULL,
  mode    TEXT NOT NULL,
  measure TEXT NOT NULL,
  count   INTEGER NOT NULL,
  total   REAL NOT NULL,
  most    REAL NOT NULL,
  PRIMARY KEY (day, mode, measure)
) WITHOUT ROWID;
CREATE TABLE settings (
  key   TEXT PRIMARY KEY,
  value TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE vectors (
  model_key  INTEGER NOT NULL REFERENCES embedding_models(model_key),
  text_hash  BLOB NOT NULL,
  dimensions INTEGER NOT NULL,
  vector     BLOB NOT NULL,
  checksum   INTEGER NOT NULL,
  created_at TEXT NOT NULL,
  UNIQUE (text_hash, model_key)
);
