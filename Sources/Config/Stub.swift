package enum ConfigRoom {}
