"""The pricing methods of models that are not video: one entry for each knows all of it, and everything else asks it."""

from ratecard.methods.audio import Characters, DurationBands, Seconds, Songs
from ratecard.methods.count import PricedByCount
from ratecard.methods.images import Images, InputImages, Upscales
from ratecard.methods.method import METHODS, register
from ratecard.methods.rpc import RpcBatches
from ratecard.methods.surcharge import Surcharges
from ratecard.methods.tokens import TokensByBucket

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
