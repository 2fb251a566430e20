"""`ratecard serve` as processes: its settings, its workers, the limits of a connection, draining, and the log."""
