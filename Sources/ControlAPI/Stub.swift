package enum ControlAPIRoom {}
