package enum SQLiteRoom {}
