package enum CodecsRoom {}
