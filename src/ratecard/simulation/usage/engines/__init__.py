"""What rolls usage up: DuckDB in this process, Spark for what outgrows a machine; each is loaded when it is used."""
