"""The engine that holds groups, prices and amounts here: DuckDB, which spills to a folder of its own."""
