"""Errors planted in the shipped tables: slips that still look like a table, each against an example of its version."""

from typing import NamedTuple


class TableMutation(NamedTuple):
    """One slip: what stands in the newest version of a model, and what is written instead.

    `says` are words of the loader, where it refuses the table by itself.
    """

    name: str
    file: str
    model: str
    old: str
    new: str
    says: str = ""

    def __str__(self) -> str:
        return self.name

    def planted(self, table: bytes) -> bytes:
        """The table with the slip in it."""
        before, here, version = table.decode().partition(f"- model: {self.model}\n")
        assert self.old in version, f"{self.file} does not hold: {self.old}"
        return f"{before}{here}{version.replace(self.old, self.new, 1)}".encode()


KLING = ("video/kling-o3.yaml", "kling-o3-pro-text-to-video")
GROK = ("video/grok-imagine.yaml", "grok-imagine-1-5-image-to-video-private")
SEEDANCE = ("video/seedance-2-5.yaml", "seedance-2-5-reference-to-video-basic")
TOPAZ = ("video/topaz.yaml", "topaz-video-upscale")
CLAUDE, LONG = ("text/claude.yaml", "claude-opus-4-6"), ("text/grok.yaml", "grok-4-3")
EDIT, MUSIC = ("edit/flux.yaml", "flux-2-max-edit"), ("audio/music.yaml", "elevenlabs-music")
SPEECH, RPC = ("audio/speech.yaml", "tts-kokoro"), ("rpc.yaml", "crypto-rpc")
FEE = """\
          - charge: input image
            method: fixed
            unit: input_image
            rates:
              - {rate: 0.0115}
"""

TABLE_MUTATIONS = [
    TableMutation("wrong sign", *KLING, "rate: 0.154", "rate: -0.154", "is negative"),
    TableMutation("decimal comma", *KLING, "rate: 0.154", "rate: 0,154", "cut off by a comma"),
    TableMutation("digits swapped", *KLING, "rate: 0.154", "rate: 0.145"),
    TableMutation("audio swapped", *KLING, "audio: false, rate: 0.1232", "audio: false, rate: 0.154"),
    TableMutation("a place too few", *KLING, "places: 2", "places: 1"),
    TableMutation("fee dropped", *GROK, FEE, ""),
    TableMutation("fee by the second", *GROK, "unit: input_image", "unit: video_second", "counts a second of video"),
    TableMutation("markup forgotten", *SEEDANCE, "            markup: 1.25\n", ""),
    TableMutation("minimum forgotten", *SEEDANCE, "reference_minimum: 5/3", "reference_minimum: 0"),
    TableMutation("width and height of another ratio", *SEEDANCE, "size: 854x480", "size: 752x560"),
    TableMutation("tier too low", *TOPAZ, "up_to: 1080, rate: 0.02", "up_to: 900, rate: 0.02"),
    TableMutation("double from 61 frames on", *TOPAZ, "{from: 48,", "{from: 61,"),
    TableMutation("input for output", *CLAUDE, "{tokens: input, rate: 6}", "{tokens: input, rate: 30}"),
    TableMutation("cached tokens at full price", *CLAUDE, "cache_input, rate: 0.6", "cache_input, rate: 6"),
    TableMutation("threshold off by one", *LONG, "context_token_threshold: 200000", "context_token_threshold: 199999"),
    TableMutation("thousands for millions", *SPEECH, "unit: mcharacter", "unit: kcharacter"),
    TableMutation("band off by one", *MUSIC, "61..120", "62..120"),
    TableMutation("one input too many is free", *EDIT, "included: 1", "included: 2"),
    TableMutation("large calls as advanced ones", *RPC, "tier: large, factor: 4", "tier: large, factor: 2"),
]  # fmt: skip
