"""Floor 2: the only place that knows YAML and the file system. Turns a folder into checked tables, or into faults."""
