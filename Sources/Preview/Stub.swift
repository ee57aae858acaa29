package enum PreviewRoom {}
