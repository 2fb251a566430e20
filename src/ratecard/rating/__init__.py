"""Floor 2: pure calculators, one method a file. No clock, no I/O, no globals that change."""
