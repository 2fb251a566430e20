"""Usage as groups: the plan of a roll-up, the queries that group rows by shape, and kept roll-ups."""
