"""The pricing methods: one entry for each, with the class of its charges, knows all of it; everything else asks it."""

from ratecard.methods.audio import Characters, DurationBands, Seconds, Songs
from ratecard.methods.count import PricedByCount
from ratecard.methods.images import Images, InputImages, Upscales
from ratecard.methods.method import METHODS, register
from ratecard.methods.rpc import RpcBatches
from ratecard.methods.surcharge import Surcharges
from ratecard.methods.tokens import TokensByBucket
from ratecard.methods.video import InterpolatedSeconds, SecondsOfVideo, UpscaledSeconds, WholeClips
from ratecard.methods.video_sizes import Megapixels, TokensOfPixels

__all__ = ["METHODS", "register"]

register(TokensByBucket())
register(Images())
register(InputImages())
register(Upscales())
register(Characters())
register(Seconds())
register(Songs())
register(DurationBands())
register(Surcharges())
register(RpcBatches())
register(PricedByCount())
register(SecondsOfVideo())
register(WholeClips())
register(TokensOfPixels())
register(Megapixels())
register(UpscaledSeconds())
register(InterpolatedSeconds())
