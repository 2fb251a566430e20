"""The pricing methods: one class for each method that a table can name, with all of its rules."""

from ratecard.methods.audio import DurationBand, PerAudioSecond, PerCharacter, PerSong
from ratecard.methods.count import PerCount
from ratecard.methods.images import PerImage, PerInputImage, PerUpscale
from ratecard.methods.method import METHODS, method_of, register
from ratecard.methods.rpc import RpcCredits
from ratecard.methods.surcharge import Surcharge
from ratecard.methods.tokens import TokensByBucket
from ratecard.methods.video import InterpolationRate, PerClip, PerSecond, UpscaleRate
from ratecard.methods.video_sizes import MegapixelRate, TokenFormula

__all__ = ["METHODS", "method_of", "register"]

register(TokensByBucket, PerImage, PerInputImage, PerUpscale)
register(PerCharacter, PerAudioSecond, PerSong, DurationBand)
register(Surcharge, RpcCredits, PerCount)
register(PerSecond, PerClip, TokenFormula, MegapixelRate, UpscaleRate, InterpolationRate)
