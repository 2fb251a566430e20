"""Contracts: what some accounts pay instead of the list price, laid over the tables before they are compiled."""
