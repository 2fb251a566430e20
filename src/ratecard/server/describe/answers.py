"""The answers of the endpoints as JSON Schema."""

_TEXT = {"type": "string"}
EXPLAIN = {
    "name": "explain",
    "in": "query",
    "required": False,
    "schema": {"type": "boolean", "default": False},
    "description": "Add the line items, the effective date and the digest of the tables",
}
_LINE = {
    "type": "object",
    "required": ["sku", "quantity", "unit", "unit_rate", "amount", "source"],
    "properties": dict.fromkeys(("sku", "quantity", "unit", "unit_rate", "amount", "source", "note"), _TEXT),
    "additionalProperties": False,
}
QUOTE = {
    "type": "object",
    "title": "Quote",
    "required": ["quote"],
    "properties": {
        "quote": {
            "type": "number",
            "minimum": 0,
            "description": "The price with its exact digits: in USD, or in `currency` where the answer has one",
        },
        **dict.fromkeys(("type", "model", "total", "exact", "digest"), _TEXT),
        "currency": {**_TEXT, "description": "ISO 4217; always there with `explain`, else where it is not USD"},
        "lines": {"type": "array", "items": _LINE},
        "effective": {"type": "string", "format": "date"},
        "ignored": {"type": "array", "items": _TEXT, "description": "Fields without effect on the price"},
    },
    "additionalProperties": False,
}


_MODEL = {
    "type": "object",
    "required": ["id", "object", "created", "owned_by", "type", "name", "constraints", "pricing", "deprecation"],
    "properties": {
        **dict.fromkeys(("id", "object", "owned_by", "type", "name"), _TEXT),
        "created": {"type": "integer", "description": "When its first prices took effect, seconds since 1970"},
        "constraints": {"type": "object", "description": "The values of each request field, by the field's name"},
        "pricing": {
            "type": "object",
            "required": ["currency", "effective", "charges"],
            "properties": {
                "currency": {**_TEXT, "description": "Of every rate and quote of this model, by its ISO 4217 code"},
                "effective": {"type": "string", "format": "date"},
                "charges": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "required": ["charge", "unit", "counts", "per", "rates"],
                        "properties": {
                            **dict.fromkeys(("charge", "unit", "counts"), _TEXT),
                            "per": {"type": "integer", "description": "How many of what it counts one unit holds"},
                            "rates": {"type": "array", "items": {"type": "object", "required": ["rate"]}},
                        },
                    },
                },
            },
        },
        "deprecation": {
            "type": ["object", "null"],
            "required": ["date", "warning", "successor"],
            "properties": {
                "date": {"type": "string", "format": "date"},
                "warning": _TEXT,
                "successor": {"type": ["string", "null"]},
            },
        },
    },
}
MODELS = {
    "type": "object",
    "required": ["data", "object"],
    "properties": {"data": {"type": "array", "items": _MODEL}, "object": {"const": "list"}},
}
HEALTH = {
    "type": "object",
    "required": ["status", "digest", "day", "changes_at", "last_refusal", "versions"],
    "properties": {
        "status": {"const": "ok"},
        "digest": {**_TEXT, "description": "The tables that are served"},
        "day": {"type": "string", "format": "date"},
        "changes_at": {"type": ["string", "null"], "description": "The next instant at which some price changes"},
        "last_refusal": {
            "type": ["object", "null"],
            "description": "The tables that were refused last; they stand while the folder still holds them",
            "required": ["at", "standing", "count", "faults"],
            "properties": {
                "at": {"type": "string", "format": "date-time"},
                "standing": {"type": "boolean"},
                "count": {"type": "integer"},
                "faults": {"type": "array", "items": _TEXT},
            },
        },
        "versions": {"type": "object", "additionalProperties": {"type": "string", "format": "date"}},
    },
}
