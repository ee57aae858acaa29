package enum HTTPRoom {}
