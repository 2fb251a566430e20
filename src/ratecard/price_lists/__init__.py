"""Price lists of others become tables: what a list says, the folder that is written of it, and what is left out."""
