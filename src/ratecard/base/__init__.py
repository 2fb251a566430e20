"""Floor 0: errors, money and their wording. Imports the standard library only."""
