package enum ControlRoom {}
