"""A billing export rated again."""
