package enum ServiceRoom {}
