"""Prices of shapes under every compared card."""
