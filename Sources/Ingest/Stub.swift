package enum IngestRoom {}
