"""The revision of the service and of its description: a date and a time, a new one when either changes."""

SERVICE_VERSION = "20261121.100000"
