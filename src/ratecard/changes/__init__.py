"""Changes of tables: what differs, what may change, and writing a change into the files."""
