"""The library of record: one SQLite file that everything else can be rebuilt from."""
