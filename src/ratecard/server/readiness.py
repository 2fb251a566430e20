"""Whether this process should get requests: set when it begins to end, and asked by `/readyz`."""

from threading import Event

# Set from the signal that ends the process on.
DRAINING = Event()
