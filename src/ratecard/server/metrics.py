"""Counters in the default registry of prometheus_client: a host that exposes the registry exposes them too."""

from prometheus_client import Counter, Gauge, Histogram

REQUEST_SECONDS = Histogram(
    "ratecard_request_seconds",
    "Requests by endpoint and status, and the seconds that they took.",
    ("endpoint", "status"),
    buckets=("0.0001", "0.00025", "0.0005", "0.001", "0.0025", "0.01", "0.05", "0.25", "1", "5"),
)
TABLES_TAKEN = Counter("ratecard_tables_taken_total", "Changed folders of tables that were taken into service.")
TABLES_REFUSED = Counter("ratecard_tables_refused_total", "Changed folders of tables that were refused.")
TABLES_INFO = Gauge(
    "ratecard_tables_info",
    "The tables by digest: 1 for those that are served, 0 for those that were served before.",
    ("digest",),
    multiprocess_mode="livemax",
)
TABLES_STAND_REFUSED = Gauge(
    "ratecard_tables_stand_refused",
    "Whether the folder has changed tables that are refused while others are served: 1, or 0.",
    multiprocess_mode="livemax",
)
KEYS_TAKEN = Counter("ratecard_keys_taken_total", "Changed files of keys that were taken into service.")
KEYS_REFUSED = Counter("ratecard_keys_refused_total", "Changed files of keys that were refused.")
REFUSED_REQUESTS = Counter(
    "ratecard_refused_requests_total",
    "Requests that were refused before any endpoint saw them, by reason.",
    ("reason",),
)
