"""The bodies of the quotes as JSON Schema: the values of the vocabulary, and those that any model has beside them."""

import re
from collections.abc import Iterable
from typing import Any

from ratecard.card import RateCard
from ratecard.tables.video import VideoModel, VideoVersion

Schema = dict[str, Any]

# The same as `requests.fields.Url`: only its beginning matters.
_URL = r"^\s*([dD][aA][tT][aA]:[^,]{0,200},|[a-zA-Z][a-zA-Z0-9+.-]*://[^\s/?#]+)"
_MOST = 10**12


def video_body(card: RateCard) -> Schema:
    """The body of `POST /video/quote`. Which fields matter, and their values, vary by model: see `GET /models`."""
    fields = card.tables.vocabulary.video
    models = [model for model in card.tables.models.values() if isinstance(model, VideoModel)]
    versions = [version for model in models for version in model.versions]
    properties = {
        "model": _model("The model to quote", (model.model for model in models)),
        "duration": {
            "type": "string",
            "enum": _all(fields.duration, versions, "duration"),
            "description": "Seconds of video, or `-1` and `auto` to match the source clip",
        },
        "aspect_ratio": {
            "type": "string",
            "enum": _all(fields.aspect_ratio, versions, "aspect_ratio"),
            "description": "`adaptive` and `auto` match the source clip",
        },
        "resolution": {
            "type": "string",
            "pattern": _any_case(_all(fields.resolution, versions, "resolution")),
            "description": "In capital or small letters",
            "examples": ["720p", "1080p", "4k"],
        },
        "upscale_factor": {"type": "integer", "enum": list(fields.upscale_factor)},
        "enhancement_model": {
            "type": "string",
            "examples": _all((), versions, "enhancement_model"),
            "description": "Enhancement models only; the values are in `constraints.topaz.models` of `GET /models`",
        },
        "target_fps": {
            "type": "integer",
            "minimum": int(fields.target_fps.min),
            "maximum": int(fields.target_fps.max),
            "description": "Enhancement models only; left out, the frame rate of the source, or the dearest if unknown",
        },
        "slowdown_factor": {"type": "integer", "enum": list(fields.slowdown_factor)},
        "audio": {"type": "boolean", "default": True},
        "video_url": {
            "type": "string",
            "pattern": _URL,
            "examples": ["https://example.com/clip.mp4"],
            "description": "The video to process: a URL or a base64 data URI",
        },
        "reference_video_total_duration": {
            "type": "number",
            "minimum": int(fields.reference_video_total_duration.min),
            "maximum": int(fields.reference_video_total_duration.max),
            "description": "Seconds of all reference videos together",
        },
    }
    return {"type": "object", "title": "VideoQuoteRequest", "required": ["model"], "properties": properties}


def audio_body(card: RateCard) -> Schema:
    """The body of `POST /audio/quote`: a count of seconds or of characters, whichever the model is billed by."""
    types = ("speech", "transcription", "music")
    names = (model.model for model in card.tables.models.values() if model.type in types)
    seconds = [
        {"type": "integer", "minimum": 1, "maximum": _MOST},
        {"type": "string", "pattern": "^(?=[0-9]{1,12}$)0*[1-9][0-9]*$"},
    ]
    properties = {
        "model": _model("The model of speech, transcription or music to quote", names),
        "duration_seconds": {"anyOf": seconds, "description": "Whole seconds, as a number or as its digits"},
        "character_count": {"type": "integer", "minimum": 0, "maximum": _MOST},
    }
    return {"type": "object", "title": "AudioQuoteRequest", "required": ["model"], "properties": properties}


def _model(description: str, names: Iterable[str]) -> Schema:
    """An id: one of those known when this was written, or of a model that is new since."""
    known = {"enum": sorted(names), "title": "known models"}
    return {"type": "string", "description": description, "anyOf": [known, {"title": "any other model"}]}


def _all(words: Iterable[str], versions: Iterable[VideoVersion], field: str) -> list[str]:
    """The API-wide words of a field, and those of every version beside them."""
    own = (word for version in versions for word in getattr(version.accepts, field) or ())
    return list(dict.fromkeys((*words, *own)))


def _any_case(words: Iterable[str]) -> str:
    """A pattern of these words in capital or small letters."""
    pattern = "|".join(map(re.escape, words))
    return f"^({re.sub('[A-Za-z]', lambda letter: f'[{letter[0].lower()}{letter[0].upper()}]', pattern)})$"
