"""The worked example of a made-up version: the simplest request that it prices."""

from typing import Any

from ratecard.testing.table_parts import Draft

_CHOICES = ("duration", "aspect_ratio", "resolution", "enhancement_model", "upscale_factor", "slowdown_factor")


def example_of(version: Draft, kind: str) -> Draft:
    """What is asked, as a table writes it: `request` and `source` of a video, `usage` of anything else."""
    charge = version["charges"][0]
    if kind == "video":
        return _of_video(version["accepts"])
    return {"usage": _usage(charge, kind)}


def _of_video(accepts: Draft) -> Draft:
    request = {name: accepts[name][0] for name in _CHOICES if name in accepts}
    if "slowdown_factor" in accepts:
        request["target_fps"] = "60"
    if "Auto" in accepts["duration"]:
        return {"request": request, "source": {"seconds": "1", "width": "1280", "height": "720", "fps": "24"}}
    return {"request": request}


def _usage(charge: Draft, kind: str) -> dict[str, Any]:
    match charge["method"]:
        case "tokens":
            return {"prompt_tokens": "1000000"} | ({"completion_tokens": "1000000"} if kind == "text" else {})
        case "per-character":
            return {"character_count" if kind == "music" else "characters": "1000000"}
        case "per-audio-second":
            return {"duration_seconds" if kind == "music" else "seconds": "1"}
        case "surcharge":
            return {"count": "1000"}
        case "rpc-credits":
            chain = charge["chains"][0]
            return {"network": f"{chain['chain']}-{chain['networks'][0]}", "method": "eth_call"}
        case _:
            return {}
