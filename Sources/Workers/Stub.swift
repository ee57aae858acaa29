package enum WorkersRoom {}
