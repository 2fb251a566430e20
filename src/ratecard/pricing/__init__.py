"""Floor 3: one version of a model, compiled into one function from a request to a quote; one type of request a file."""
