package enum WatchRoom {}
