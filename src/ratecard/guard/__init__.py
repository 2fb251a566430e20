"""The guard of the past: what a change of the tables may not do to prices that are in effect."""
