-- What became of every page, second and part of a file, and what was masked in it. Documents of lines keep an empty
-- ledger: text_lines_json says it. unread_units counts the failed and waiting units, so that lists need not read JSON.

ALTER TABLE documents ADD COLUMN coverage_json TEXT NOT NULL DEFAULT '[]';
ALTER TABLE documents ADD COLUMN masked_json TEXT NOT NULL DEFAULT '[]';
ALTER TABLE documents ADD COLUMN unread_units INTEGER NOT NULL DEFAULT 0;
CREATE INDEX documents_unread ON documents(doc_id) WHERE unread_units > 0;

-- Of files that no document came of.
ALTER TABLE items ADD COLUMN coverage_json TEXT NOT NULL DEFAULT '[]';
