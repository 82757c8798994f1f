-- Collections, how items are cut, what people changed in passages, links between items, saved searches, evaluation runs,
-- and counts of searches that hold no content.

-- == Collections. name_key: the name folded (NFKC, case); two that are shown never share it.
-- rules_json: which items belong by themselves (folder, tag, type). revision rises with every change.
-- chunking_json and retrieval_json: settings of its own; NULL is the workspace's.
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
CREATE UNIQUE INDEX collections_name ON collections(name_key) WHERE archived_at IS NULL;

-- What a person put in by hand, or left out though a rule matches.
CREATE TABLE collection_items (
  collection_id TEXT NOT NULL REFERENCES collections(collection_id) ON DELETE CASCADE,
  item_id       TEXT NOT NULL REFERENCES items(item_id) ON DELETE CASCADE,
  kind          TEXT NOT NULL CHECK (kind IN ('added','left_out')),
  created_at    TEXT NOT NULL,
  PRIMARY KEY (collection_id, item_id)
) WITHOUT ROWID;
CREATE INDEX collection_items_item ON collection_items(item_id, collection_id);

-- == How items are cut. wanted_json: an item's own settings.
CREATE TABLE item_chunking (
  item_id     TEXT PRIMARY KEY REFERENCES items(item_id) ON DELETE CASCADE,
  wanted_json TEXT NOT NULL
) WITHOUT ROWID;

-- Policies other than those of generations that passages were cut by: `chunkings` says which one each version has.
CREATE TABLE chunk_policies (
  policy_hash TEXT PRIMARY KEY,
  policy_json TEXT NOT NULL
) WITHOUT ROWID;

-- == What people changed in passages: layers over the source text, which belong to the item and survive reading it again.
-- state: `replaced` by a later change of the same passage, and back when that one is undone; `taken_off` by the person.
-- replaces: JSON list of the layers this one took the place of.
-- source_text: what the passage said before any layer; up to own it repeats the passage before. before_text and
-- after_text: what stood around it. place: where in its document it stood, 0 to 1; place_json says it to people.
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
CREATE INDEX chunk_layers_item ON chunk_layers(item_id, state);

-- Which passages a layer lies on, and what it changes there: [[start, end, text], ...] of what the passage said before.
-- Passages of versions and generations that are not shown have theirs, too.
CREATE TABLE chunk_layer_places (
  layer_id     TEXT NOT NULL REFERENCES chunk_layers(layer_id) ON DELETE CASCADE,
  chunk_key    INTEGER NOT NULL REFERENCES chunks(chunk_key) ON DELETE CASCADE,
  changes_json TEXT NOT NULL DEFAULT '[]',
  PRIMARY KEY (layer_id, chunk_key)
) WITHOUT ROWID;
CREATE INDEX chunk_layer_places_chunk ON chunk_layer_places(chunk_key);

-- What of a layer fits no passage of a document as it is cut, and why.
CREATE TABLE chunk_layer_losses (
  layer_id     TEXT NOT NULL REFERENCES chunk_layers(layer_id) ON DELETE CASCADE,
  doc_id       TEXT NOT NULL REFERENCES documents(doc_id) ON DELETE CASCADE,
  chunking_key INTEGER NOT NULL,
  reason       TEXT NOT NULL,
  PRIMARY KEY (layer_id, doc_id, chunking_key)
) WITHOUT ROWID;
CREATE INDEX chunk_layer_losses_doc ON chunk_layer_losses(doc_id);

-- What a passage said before any layer; chunks.text is what is searched and shown.
CREATE TABLE chunk_originals (
  chunk_key         INTEGER PRIMARY KEY REFERENCES chunks(chunk_key) ON DELETE CASCADE,
  text              TEXT NOT NULL,
  text_hash         BLOB NOT NULL,
  char_count        INTEGER NOT NULL,
  token_estimate    INTEGER NOT NULL,
  segments_json     TEXT NOT NULL,
  source_spans_json TEXT NOT NULL
);

-- == Links between items. What documents point to, as written, under the folded last part of their target (name_key),
-- and what became of it when it was last led to its target (outcome; NULL: not yet).
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
CREATE INDEX document_links_key ON document_links(name_key, doc_id);
CREATE TABLE links_read (
  doc_id  TEXT PRIMARY KEY REFERENCES documents(doc_id) ON DELETE CASCADE,
  version TEXT NOT NULL
) WITHOUT ROWID;

-- By which names items are known, and what they were when that was noted.
CREATE TABLE link_names (
  name_key TEXT NOT NULL,
  item_id  TEXT NOT NULL REFERENCES items(item_id) ON DELETE CASCADE,
  kind     TEXT NOT NULL CHECK (kind IN ('file','title','alias')),
  name     TEXT NOT NULL,
  PRIMARY KEY (name_key, item_id, kind, name)
) WITHOUT ROWID;
CREATE INDEX link_names_item ON link_names(item_id);
CREATE TABLE links_noted (
  item_id        TEXT PRIMARY KEY REFERENCES items(item_id) ON DELETE CASCADE,
  doc_id         TEXT NOT NULL,
  workspace_path TEXT NOT NULL
) WITHOUT ROWID;

-- Items whose links are to be led to their targets, because they or what they may mean changed.
CREATE TABLE links_waiting (
  item_id TEXT PRIMARY KEY REFERENCES items(item_id) ON DELETE CASCADE
) WITHOUT ROWID;

-- Edges belong to items, so that they survive new versions. Derived ones are put anew when links are led; a removed one
-- stays as it is. Shared tags are read from the tags themselves: of kind `tag` only what people removed stands here,
-- with from_item before to_item. weight: of its kind. label: the words of the link, or what a person noted.
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
CREATE INDEX edges_to ON edges(to_item, from_item);

-- == Saved searches.
CREATE TABLE saved_searches (
  search_id    TEXT PRIMARY KEY,
  name         TEXT NOT NULL,
  name_key     TEXT NOT NULL UNIQUE,
  request_json TEXT NOT NULL,
  created_at   TEXT NOT NULL,
  updated_at   TEXT NOT NULL
) WITHOUT ROWID;

-- == Searches in numbers: no question, no text, no path. One row a day, mode and measure.
CREATE TABLE search_counters (
  day     TEXT NOT NULL,
  mode    TEXT NOT NULL,
  measure TEXT NOT NULL,
  count   INTEGER NOT NULL,
  total   REAL NOT NULL,
  most    REAL NOT NULL,
  PRIMARY KEY (day, mode, measure)
) WITHOUT ROWID;

-- == Evaluation: runs with what they were made by; the questions one by one lie in runs/<run_id>/.
CREATE TABLE eval_runs (
  run_id       TEXT PRIMARY KEY,
  suite        TEXT NOT NULL,
  suite_hash   TEXT NOT NULL,
  config_json  TEXT NOT NULL,
  metrics_json TEXT NOT NULL,
  created_at   TEXT NOT NULL,
  finished_at  TEXT
) WITHOUT ROWID;
CREATE INDEX eval_runs_created ON eval_runs(created_at);

-- == Counting what is shown need not touch the rows of items, which are wide.
CREATE INDEX items_shown ON items(active_doc_id, item_id)
  WHERE deleted_at IS NULL AND included = 1 AND archived_at IS NULL;
