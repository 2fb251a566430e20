"""Accounts: rate limits, balances, spending limits of keys, and endpoints that end. Nothing is stored here."""
