"""Counters in the default registry of prometheus_client: a host that exposes the registry exposes them too."""

from prometheus_client import Counter, Histogram

REQUEST_SECONDS = Histogram(
    "ratecard_request_seconds",
    "Requests by endpoint and status, and the seconds that they took.",
    ("endpoint", "status"),
    buckets=("0.0001", "0.00025", "0.0005", "0.001", "0.0025", "0.01", "0.05", "0.25", "1", "5"),
)
TABLES_TAKEN = Counter("ratecard_tables_taken_total", "Changed folders of tables that were taken into service.")
TABLES_REFUSED = Counter("ratecard_tables_refused_total", "Changed folders of tables that were refused.")
