package enum HTTPClientRoom {}
