package enum MetadataRoom {}
