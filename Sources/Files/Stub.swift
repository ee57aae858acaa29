package enum FilesRoom {}
