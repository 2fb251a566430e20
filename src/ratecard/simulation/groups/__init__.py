"""Usage as groups: what is asked of the rows, the queries that group them by shape, and roll-ups that are kept."""
