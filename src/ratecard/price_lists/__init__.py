"""The import of other price lists into tables: what a list says, the folder written from it, and what is left out."""
