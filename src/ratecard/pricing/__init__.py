"""Compile one version of a model into a function from a request to a quote."""
