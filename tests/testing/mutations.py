"""Planted errors: what a mistake in the library, or in what it was compiled from, would look like.

Each says on which shipped models it is looked for, which laws it must break at least, and how it is planted.
"""

from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from itertools import islice
from typing import NamedTuple

from mistakes import (
    cached_twice,
    dearer_failures,
    dearer_in_sheet,
    first_values,
    line_below,
    million_for_thousand,
    next_second,
    no_cache_in_the_prompt,
    no_markup,
    other_defaults,
    other_sound,
    per_bucket,
    reference_subtracted,
    rounded_down,
    rounded_lines,
    slowest_unless_known,
    through_a_float,
    tier_below,
    twice_rounded,
    without_inputs,
)
from planting import (
    TEXT,
    Plant,
    lines_of,
    options_of,
    quotes,
    shapes_of,
    tiers_at,
    times,
    versions,
    wrapped,
)

import ratecard.card
import ratecard.line_items.tokens
import ratecard.methods.metered
import ratecard.methods.rpc
import ratecard.price_book
import ratecard.requests.video
import ratecard.testing.case
import ratecard.views.sheet
from ratecard.line_items.compiling import Compiling
from ratecard.line_items.quote import Quote
from ratecard.line_items.tokens import TokenRates
from ratecard.methods.audio import BandSeconds
from ratecard.methods.metered import Metered
from ratecard.requests.fields import Boolean
from ratecard.requests.video import VideoRequests
from ratecard.tables.rate import Charge

KLING, GROK, TOPAZ = "kling-o3-pro-text-to-video", "grok-imagine-1-5-image-to-video-private", "topaz-video-upscale"
SEEDANCE, SLOW = "seedance-2-5-reference-to-video-basic", "topaz-video-interpolation"
CLAUDE, LONG, EDIT, IMAGE = "claude-opus-4-6", "grok-4-3", "flux-2-max-edit", "nano-banana-pro"


class Mutation(NamedTuple):
    """One planted error."""

    name: str
    models: tuple[str, ...]
    breaks: tuple[str, ...]
    plant: Plant

    def __str__(self) -> str:
        return self.name


MUTATIONS = [
    Mutation(
        "wrong sign",
        (KLING,),
        ("no_amount_is_negative", "a_line_is_quantity_times_rate"),
        lines_of("duration-rate", times(-1)),
    ),
    Mutation("fee subtracted", (GROK,), ("no_amount_is_negative",), lines_of("fixed", times(-1))),
    Mutation(
        "fee dropped",
        (GROK,),
        ("every_charge_has_one_line",),
        versions("price_video", lambda version: version.model_copy(update={"charges": version.charges[:1]})),
    ),
    Mutation(
        "lines rounded to cents",
        (KLING, SEEDANCE),
        ("a_line_is_quantity_times_rate",),
        lines_of("token-formula", rounded_lines),
    ),
    Mutation(
        "lines less by more than a rounding",
        (KLING,),
        ("a_line_is_quantity_times_rate",),
        lines_of("duration-rate", lambda line, shape: replace(line, amount=line.amount - Decimal("8E-13"))),
    ),
    Mutation(
        "total rounded twice",
        (SEEDANCE, "seedance-2-0-reference-to-video-basic"),
        ("every_price_cell_is_rounded_once",),
        quotes(twice_rounded),
    ),
    Mutation("total rounded down", (KLING,), ("the_total_is_rounded_once",), quotes(rounded_down)),
    Mutation(
        "exact is the total",
        (KLING,),
        ("lines_add_up_to_the_exact_amount",),
        quotes(lambda quote, body: replace(quote, exact=quote.total)),
    ),
    Mutation(
        "another currency",
        (KLING,),
        ("a_valid_request_has_a_price",),
        quotes(lambda quote, body: replace(quote, version=replace(quote.version, currency="EUR"))),
    ),
    Mutation(
        "sound for silence",
        (KLING,),
        ("a_line_is_charged_at_the_rate_that_fits",),
        wrapped(Boolean, "accept", other_sound),
    ),
    Mutation(
        "markup forgotten",
        (SEEDANCE, TOPAZ),
        ("a_line_names_the_line_of_its_rate",),
        wrapped(Compiling, "compiled", no_markup),
    ),
    Mutation(
        "source one line below",
        (KLING,),
        ("a_line_names_the_line_of_its_rate",),
        wrapped(Compiling, "compiled", line_below),
    ),
    Mutation(
        "seconds counted twice",
        (KLING,),
        ("a_line_counts_what_its_method_says",),
        lines_of("duration-rate", lambda line, shape: replace(line, count=line.count * 2, amount=line.amount * 2)),
    ),
    Mutation(
        "longer is cheaper",
        (KLING,),
        ("longer_is_never_cheaper",),
        lines_of("duration-rate", lambda line, shape: replace(line, amount=line.unit_rate / line.quantity)),
    ),
    Mutation(
        "minimum ignored",
        (SEEDANCE,),
        ("reference_video_is_never_below_its_minimum",),
        options_of("token-formula", reference_minimum=lambda least: Fraction(0)),
    ),
    Mutation(
        "reference video subtracted",
        (SEEDANCE,),
        ("more_reference_video_is_never_cheaper",),
        shapes_of("token-formula", reference_subtracted),
    ),
    Mutation(
        "threshold at 49 frames",
        (TOPAZ,),
        ("from_a_frame_rate_on_an_upscale_costs_a_multiple",),
        options_of("upscale-rate", frame_rate=lambda step: step.model_copy(update={"from_": Decimal(49)})),
    ),
    Mutation(
        "frame rate without effect",
        (SLOW,),
        ("interpolation_is_linear_in_the_frame_rate",),
        shapes_of("interpolation-rate", lambda shape: {"target_fps": 60}),
    ),
    Mutation(
        "slow motion without effect",
        (SLOW,),
        ("slow_motion_multiplies",),
        shapes_of("interpolation-rate", lambda shape: {"slowdown_factor": 1}),
    ),
    Mutation(
        "tier off by one", (TOPAZ,), ("a_tier_holds_its_upper_edge",), tiers_at(lambda height: height and height + 1)
    ),
    Mutation(
        "unknown height is the cheapest",
        (TOPAZ, SLOW),
        ("an_unknown_source_is_never_cheaper",),
        tiers_at(lambda height: height or 1),
    ),
    Mutation(
        "unknown frame rate is the slowest",
        (TOPAZ,),
        ("an_unknown_source_is_never_cheaper",),
        shapes_of("upscale-rate", slowest_unless_known),
    ),
    Mutation(
        "a required field is guessed",
        (KLING,),
        ("a_field_left_out_is_required_or_has_no_effect", "a_wrong_request_is_refused_field_by_field"),
        wrapped(VideoRequests, "__init__", first_values),
    ),
    Mutation(
        "another default",
        (TOPAZ,),
        ("a_field_left_out_is_required_or_has_no_effect",),
        wrapped(VideoRequests, "__init__", other_defaults),
    ),
    Mutation(
        "ignored fields not named",
        (KLING,),
        ("fields_without_effect_change_nothing",),
        quotes(lambda quote, body: replace(quote, ignored=())),
    ),
    Mutation(
        "stated seconds beside a known source not named",
        (TOPAZ,),
        ("fields_without_effect_change_nothing",),
        wrapped(VideoRequests, "replaced", lambda original, *given: ()),
    ),
    Mutation(
        "every key named as ignored",
        (KLING,),
        ("extra_keys_and_order_change_nothing",),
        quotes(lambda quote, body: replace(quote, ignored=tuple(body))),
    ),
    Mutation(
        "what is kept of one body is the answer to all",
        (KLING,),
        ("what_was_asked_before_changes_nothing",),
        wrapped(VideoRequests, "layout", lambda original, *args: replace(original(*args), words=lambda body: ())),
    ),
    Mutation(
        "only the first wrong field is told",
        (KLING,),
        ("a_wrong_request_is_refused_field_by_field",),
        wrapped(ratecard.requests.video, "field_problems", lambda original, *args: original(*args)[:1]),
    ),
    Mutation(
        "wrong values are taken",
        (KLING,),
        ("a_wrong_request_is_refused_field_by_field",),
        wrapped(Boolean, "accept", lambda original, *given: "true"),
    ),
    Mutation(
        "answers through a float",
        (KLING,),
        ("the_answer_has_the_digits_of_the_total",),
        wrapped(Quote, "to_json", through_a_float),
    ),
    Mutation(
        "price sheet of other prices",
        (KLING,),
        ("a_price_cell_equals_its_quote",),
        wrapped(ratecard.testing.case, "price_cells", dearer_in_sheet),
    ),
    Mutation(
        "a rate that no usage reaches",
        (CLAUDE,),
        ("every_rate_is_charged_somewhere",),
        wrapped(ratecard.views.sheet, "unit_usages", lambda original, *args: islice(original(*args), 1)),
    ),
    Mutation(
        "cached tokens counted twice",
        (CLAUDE,),
        ("every_token_is_charged_once",),
        wrapped(ratecard.line_items.tokens, "_compiled", cached_twice),
    ),
    Mutation(
        "a cache is read in one dialect only",
        (CLAUDE,),
        ("every_dialect_costs_the_same",),
        wrapped(TEXT, "read_tokens", no_cache_in_the_prompt),
    ),
    Mutation(
        "unknown keys of a usage are not looked at",
        (CLAUDE,),
        ("an_unknown_key_of_a_usage_is_refused",),
        wrapped(TEXT, "usage_problems", lambda original, *given: []),
    ),
    Mutation(
        "a tier for each bucket",
        (LONG,),
        ("the_whole_prompt_chooses_one_tier",),
        wrapped(TokenRates, "tier_of", per_bucket),
    ),
    Mutation(
        "token tier off by one",
        (LONG,),
        ("the_whole_prompt_chooses_one_tier",),
        wrapped(TokenRates, "tier_of", tier_below),
    ),
    Mutation(
        "search fee times a thousand",
        (CLAUDE,),
        ("a_search_adds_its_own_price",),
        wrapped(TEXT, "surcharge_line", lambda original, surcharge: lambda count: original(surcharge)(count * 1_000)),
    ),
    Mutation(
        "estimate without completion",
        (CLAUDE,),
        ("an_estimate_holds_what_it_will_cost",),
        wrapped(ratecard.price_book, "estimate", lambda original, metered, prompt, most: original(metered, prompt, 0)),
    ),
    Mutation(
        "n ignored",
        (EDIT, IMAGE),
        ("so_many_images_cost_so_many_times_one",),
        wrapped(Metered, "counter", lambda original, *args: lambda count, *more: original(*args)(min(count, 1), *more)),
    ),
    Mutation(
        "further inputs are free",
        (EDIT,),
        ("further_input_images_cost_their_rate",),
        versions("price_counted", without_inputs),
    ),
    Mutation(
        "thousands for millions",
        ("tts-kokoro",),
        ("a_count_costs_its_rate",),
        wrapped(ratecard.methods.metered, "per_unit", million_for_thousand),
    ),
    Mutation(
        "twice the rate",
        ("tts-kokoro",),
        ("a_line_costs_its_rate_times_the_factors_that_hold",),
        wrapped(Charge, "unit_rate", lambda original, charge, rate: 2 * original(charge, rate)),
    ),
    Mutation(
        "band off by one",
        ("elevenlabs-music",),
        ("a_song_costs_the_rate_of_its_band",),
        wrapped(BandSeconds, "accept", next_second),
    ),
    Mutation(
        "failed calls as others",
        ("crypto-rpc",),
        ("a_batch_costs_the_sum_of_its_calls",),
        wrapped(ratecard.methods.rpc, "rpc_lines", dearer_failures),
    ),
]
