"""Seconds, size and frame rate of a video, read from its URL or data URI. Needs `ratecard[probe]`."""

from ratecard.probe.probing import Limits, probe

__all__ = ["Limits", "probe"]
