"""The full-text index: words, stems, letter triples and CJK bigrams in Tantivy."""
