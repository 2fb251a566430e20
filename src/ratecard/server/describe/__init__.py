"""What OpenAPI says of each endpoint: fields, answers, both error objects, and examples from the tables."""

from ratecard.server.describe.operations import (
    audio_quote_description,
    health_description,
    metrics_description,
    models_description,
    usage_description,
    video_quote_description,
)

__all__ = [
    "audio_quote_description",
    "health_description",
    "metrics_description",
    "models_description",
    "usage_description",
    "video_quote_description",
]
