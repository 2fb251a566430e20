"""Floor 3: bodies and usage objects -> shapes, or the error tree. Validation happens here and nowhere else."""
