"""The engines that group usage: DuckDB in this process, or Spark; each is imported when it is used."""
