"""The engines that group usage: DuckDB in this process, or Spark."""
