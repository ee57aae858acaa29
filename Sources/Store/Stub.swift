package enum StoreRoom {}
