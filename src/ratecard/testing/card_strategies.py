"""Strategies: random valid tables of every pricing method, written as YAML and read by the loader.

From small to large: YAML text, numbers and rates, versions of video models, versions of metered models, the worked
example of a version, whole files.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cache
from itertools import product
from typing import Any, TypeVar

from hypothesis import note
from hypothesis import strategies as st
from hypothesis.errors import InvalidArgument

from ratecard.base.money import plain, step, text
from ratecard.card import RateCard
from ratecard.examples import price_example
from ratecard.line_items.compiling import SECONDS
from ratecard.load.folder import UNITS, tables_from
from ratecard.load.positions import literal, on_one_line
from ratecard.methods import METHODS
from ratecard.tables.rate import CountedCharge
from ratecard.tables.video import LISTED_NUMBERS, LISTED_WORDS, SOURCE_MATCHED_DURATIONS, SOURCE_MATCHED_RATIOS
from ratecard.testing.offer import check_range, check_words


def yaml_text(data: Mapping[str, Any]) -> str:
    """Write nested mappings, lists and words as YAML, each rate and each example on one line.

    >>> print(yaml_text({"family": "f", "rates": [{"resolution": ["720p", "4k"], "rate": "0.10"}]}), end="")
    family: f
    rates:
      - {resolution: [720p, 4k], rate: 0.10}
    """
    return "".join(f"{line}\n" for line in _mapping(data))


def _mapping(data: Mapping[str, Any]) -> Iterator[str]:
    for key, value in data.items():
        if _fits_a_line(value):
            yield f"{literal(key)}: {on_one_line(value)}"
        else:
            yield f"{literal(key)}:"
            below = _mapping(value) if isinstance(value, Mapping) else _list(value)
            yield from (f"  {line}" for line in below)


def _list(items: list[Any]) -> Iterator[str]:
    for item in items:
        if any(isinstance(value, list) and not _fits_a_line(value) for value in item.values()):
            first, *others = _mapping(item)
            yield f"- {first}"
            yield from (f"  {line}" for line in others)
        else:
            yield f"- {on_one_line(item)}"


def _fits_a_line(value: Any) -> bool:
    """Return True for a word, a list of words or a mapping of words."""
    parts = value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ()
    return all(isinstance(part, str) for part in parts)


TableDraft = dict[str, Any]
Each = TypeVar("Each")


def numbers(*, most: int = 100_000) -> st.SearchStrategy[str]:
    """Draw amounts above zero with up to four decimal places, as they are written; the simplest is 1."""
    parts = st.tuples(st.integers(1, most), st.integers(0, 4))
    return parts.map(lambda number: text(plain(number[0] * step(number[1]))))


def rates_or_free() -> st.SearchStrategy[str]:
    """Draw a number like `numbers`, or zero; the simplest is 1."""
    return st.tuples(numbers(), st.integers(0, 9)).map(lambda drawn: "0" if drawn[1] == 9 else drawn[0])


def some(values: Sequence[Each], *, least: int = 1, most: int | None = None) -> st.SearchStrategy[list[Each]]:
    """Draw some of these values, in their order; the simplest is the first one."""
    drawn = st.lists(st.sampled_from(values), min_size=least, max_size=most or len(values), unique=True)
    return drawn.map(lambda chosen: sorted(chosen, key=values.index))


@st.composite
def rates_by(draw: st.DrawFn, choices: dict[str, list[str]]) -> list[TableDraft]:
    """Draw a rate for every combination of some of these attributes; the rates do not name the others."""
    names = draw(st.lists(st.sampled_from(sorted(choices)), unique=True)) if choices else []
    named = {name: choices[name] for name in sorted(names)}
    keys = product(*named.values())
    return [{**dict(zip(named, key, strict=True)), "rate": draw(rates_or_free())} for key in keys]


@st.composite
def charges(draw: st.DrawFn, /, method: str, unit: str, rates: list[TableDraft], **options: Any) -> TableDraft:
    """Draw a charge, marked up or not."""
    markup = {"markup": draw(numbers(most=3))} if draw(st.booleans()) else {}
    return {"charge": method, "method": method, "unit": unit, **markup, **options, "rates": rates}


DURATIONS = ("1s", "4s", "5s", "10s", "30s")
AUDIO = ("none", "always", "configurable")
_HEARD = {"none": ["false"], "always": ["true"], "configurable": ["false", "true"]}
_WIDTH, _HEIGHT = st.integers(1, 99_999).map(str), st.integers(1, 99_999).map(str)


@cache
def words_of(name: str) -> list[str]:
    """Return the words of a request field in the shipped vocabulary, except those that mean "as the source clip"."""
    matched = (*SOURCE_MATCHED_DURATIONS, *SOURCE_MATCHED_RATIOS)
    return [str(word) for word in getattr(tables_from({}).vocabulary.video, name) if word not in matched]


@st.composite
def by_the_second(draw: st.DrawFn, method: str) -> TableDraft:
    """Draw a version that charges seconds times a rate, and perhaps a fee for the input image."""
    accepts = draw(_accepts())
    draw(_clips(accepts))
    rates = draw(rates_by(_choices(accepts, "resolution", "audio")))
    charged = [draw(charges(method, "video_second", rates))]
    if draw(st.booleans()):
        charged.append(draw(charges("fixed", "input_image", draw(rates_by({})))))
    return draw(_version(accepts, charged))


@st.composite
def by_the_clip(draw: st.DrawFn, method: str) -> TableDraft:
    """Draw a version with one price per clip."""
    accepts = draw(_accepts(durations=(*DURATIONS, *(word for word in words_of("duration") if word not in SECONDS))))
    rates = draw(rates_by(_choices(accepts, "resolution", "audio", "duration")))
    return draw(_version(accepts, [draw(charges(method, "clip", rates))]))


@st.composite
def by_video_tokens(draw: st.DrawFn, method: str) -> TableDraft:
    """Draw a version that charges video tokens, with reference video or without."""
    accepts = draw(_accepts(audio=False))
    sizes = draw(_sizes(accepts))
    clips = draw(_clips(accepts))
    # If every duration is that of the clip, no request is without a clip, and no rate can be for that case.
    chosen = clips and any(word in SECONDS for word in accepts["duration"])
    choices = _choices(accepts, "resolution") | ({"video_input": ["false", "true"]} if chosen else {})
    options = {
        "frames_per_second": draw(st.sampled_from(("24", "30"))),
        "pixels_per_token": draw(st.sampled_from(("1024", "1000"))),
        "sizes": sizes,
    } | ({"reference_minimum": draw(st.sampled_from(("5/3", "0", "2")))} if clips else {})
    return draw(_version(accepts, [draw(charges(method, "mtoken", draw(rates_by(choices)), **options))]))


@st.composite
def by_the_megapixel(draw: st.DrawFn, method: str) -> TableDraft:
    """Draw a version that charges megapixels of listed sizes, or of the source video."""
    options: TableDraft = {"megapixels": draw(st.sampled_from(("exact", "rounded-up")))}
    if draw(st.booleans()):
        accepts = draw(_accepts(audio=False))
        plus = str(draw(st.integers(0, 1)))
        options |= {"frames": {"per_second": "24", "plus": plus}, "sizes": draw(_sizes(accepts))}
        rates = draw(rates_by(_choices(accepts, "resolution")))
    else:
        accepts = draw(_source())
        rates = draw(rates_by({}))
    return draw(_version(accepts, [draw(charges(method, "megapixel", rates, **options))]))


@st.composite
def by_the_tier(draw: st.DrawFn, method: str) -> TableDraft:
    """Draw a version of upscaling or interpolation, with a rate per tier of heights and perhaps enhancement model."""
    accepts = draw(_source(factor="upscale_factor" if method == "upscale-rate" else "slowdown_factor"))
    accepts["target_fps"] = {"min": "16", "max": "120"}
    choices = {"up_to": [*draw(some(("480", "720", "1080"))), "any"]}
    if draw(st.booleans()):
        choices["enhancement_model"] = accepts["enhancement_model"] = draw(some(("Proteus", "Gaia")))
    rates = draw(rates_by(choices).filter(lambda rates: "up_to" in rates[0]))
    if method == "upscale-rate":
        step = {"from": str(draw(st.integers(17, 120))), "factor": draw(numbers(most=4))}
        charge = charges(method, "video_second", rates, frame_rate=step)
    else:
        charge = charges(method, "interpolated_second", rates, at_frame_rate=draw(st.sampled_from(("60", "24"))))
    return draw(_version(accepts, [draw(charge)]))


@st.composite
def _accepts(draw: st.DrawFn, audio: bool = True, durations: Sequence[str] = DURATIONS) -> TableDraft:
    accepts: TableDraft = {"duration": draw(some(durations))}
    for name in ("resolution", "aspect_ratio"):
        if draw(st.booleans()):
            accepts[name] = draw(some(words_of(name), most=4))
    return accepts | {"audio": draw(st.sampled_from(AUDIO)) if audio else "none"}


@st.composite
def _clips(draw: st.DrawFn, accepts: TableDraft) -> bool:
    """Let a version take reference video or not; a clip may say how long the video is, and how wide."""
    if not draw(st.booleans()):
        return False
    cap = draw(st.integers(1, 15))
    accepts["reference_video_total_duration"] = {"max": str(cap)}
    if cap >= 4 and draw(st.booleans()):  # Only a clip of at least 4 seconds may say how long the video is.
        stated = [f"{second}s" for second in range(4, cap + 1)] if draw(st.booleans()) else []
        accepts["duration"] = [*stated, *draw(some(SOURCE_MATCHED_DURATIONS))]
    if "aspect_ratio" in accepts and draw(st.booleans()):
        accepts["aspect_ratio"] = [*accepts["aspect_ratio"], *draw(some(SOURCE_MATCHED_RATIOS))]
    return True


@st.composite
def _source(draw: st.DrawFn, factor: str = "upscale_factor") -> TableDraft:
    factors = draw(some(words_of(factor)))
    limit = {"video_url": {"max_seconds": str(draw(st.integers(1, 300)))}} if draw(st.booleans()) else {}
    return {"duration": [*draw(some(DURATIONS)), "Auto"], factor: factors, "audio": "none", **limit}


@st.composite
def _sizes(draw: st.DrawFn, accepts: TableDraft) -> list[TableDraft]:
    named = {name: accepts[name] for name in ("resolution", "aspect_ratio") if name in accepts}
    keys = (dict(zip(named, key, strict=True)) for key in product(*named.values()))
    return [{**key, "size": f"{draw(_WIDTH)}x{draw(_HEIGHT)}"} for key in keys]


@st.composite
def _version(draw: st.DrawFn, accepts: TableDraft, charged: list[TableDraft]) -> TableDraft:
    """Draw a version, with a default for some of its choices."""
    names = [name for name, values in accepts.items() if isinstance(values, list)]
    defaults = {name: draw(st.sampled_from(accepts[name])) for name in names if draw(st.booleans())}
    places = draw(st.integers(0, 4))
    rounding = {"places": str(places), "mode": "half-up"}
    if draw(st.booleans()):
        rounding["line_places"] = str(draw(st.integers(places, 12)))
    kept = {"defaults": defaults} if defaults else {}
    return {"accepts": accepts, **kept, "charges": charged, "rounding": rounding}


def _choices(accepts: TableDraft, *names: str) -> dict[str, list[str]]:
    choices: dict[str, Any] = {name: accepts[name] for name in names if name in accepts}
    return choices | ({"audio": _HEARD[accepts["audio"]]} if "audio" in names else {})


VIDEO_VERSIONS: dict[str, tuple[str, Callable[[str], st.SearchStrategy[TableDraft]]]] = {
    "fixed": ("text-to-video", by_the_clip),
    "duration-rate": ("text-to-video", by_the_second),
    "resolution-rate": ("image-to-video", by_the_second),
    "duration-resolution-rate": ("text-to-video", by_the_clip),
    "token-formula": ("reference-to-video", by_video_tokens),
    "megapixel-rate": ("text-to-video", by_the_megapixel),
    "upscale-rate": ("upscale", by_the_tier),
    "interpolation-rate": ("interpolation", by_the_tier),
}


# Buckets beside those that every provider counts, and conditions with values other than the default.
_PARTS = ("cache_write_1h", "input_audio", "cache_input_audio", "input_text", "input_image", "output_audio")
_WHOLES = ("input", "output")
_CACHES: st.SearchStrategy[list[str]] = st.just([]) | some(("cache_input", "cache_write"))
_CONDITIONS = {"service_tier": ("batch", "priority"), "speed": ("fast",)}


@st.composite
def by_tokens(draw: st.DrawFn, kind: str) -> TableDraft:
    """Draw a version that charges tokens by bucket, perhaps with further tiers, conditions and factors."""
    options: TableDraft = {}
    sides = ["input", "output"] if kind == "text" else ["input"]
    buckets = [*sides, *draw(_CACHES), *draw(st.just([]) | some(_PARTS))] if kind == "text" else sides
    lines = [{"tokens": bucket, "rate": draw(rates_or_free())} for bucket in buckets]
    tiers: list[TableDraft] = []
    if draw(st.booleans()):
        options["context_token_threshold"] = str(draw(st.integers(1, 1_000_000)))
        tiers = [{"context": "extended"}]
        further = [*sides, *draw(_CACHES)] if kind == "text" else sides
        lines += [{**tiers[0], "tokens": bucket, "rate": draw(rates_or_free())} for bucket in further]
    elif draw(st.booleans()):
        edges = draw(st.lists(st.integers(1, 1_000_000), min_size=1, max_size=2, unique=True))
        tiers = [{draw(st.sampled_from(("above", "from"))): str(10 * edge)} for edge in edges]
        dearer = [(tier, bucket) for tier in tiers for bucket in draw(some(buckets))]
        lines += [{**tier, "tokens": bucket, "rate": draw(rates_or_free())} for tier, bucket in dearer]
    name = draw(st.sampled_from(sorted(_CONDITIONS)))
    if draw(st.booleans()):  # The rates are for every tier of a bucket, so that no two rates hold at once.
        value = draw(st.sampled_from(_CONDITIONS[name]))
        stated = {"tokens": draw(st.sampled_from(buckets)), name: value}
        # The other buckets keep their rate under this value, or are refused; with tiers, the prompt must have one.
        ways = ("default",) if tiers and stated["tokens"].startswith("output") else ("default", "refuse")
        options["without_rate"] = {value: draw(st.sampled_from(ways))}
        lines += [{**tier, **stated, "rate": draw(rates_or_free())} for tier in ({}, *tiers)]
    if draw(st.booleans()):
        options |= draw(_factors())
    if draw(st.booleans()):
        options["missing_cache_rate"] = "input"
    if kind == "text" and draw(st.booleans()):  # One side has no price; with tiers, the prompt must have one.
        refused = draw(st.sampled_from(("output",) if tiers else ("output", "input")))
        lines = [line for line in lines if line["tokens"] != refused or name in line]
        options["without_rate"] = options.get("without_rate", {}) | {refused: "refuse"}
    return _metered_version(draw(charges("tokens", "mtoken", lines, **options)))


@st.composite
def by_the_image(draw: st.DrawFn, kind: str) -> TableDraft:
    """Draw a version that charges images by resolution and quality, inputs of an edit, or larger images by factor."""
    if kind == "upscale":
        factors = [{"factor": factor, "rate": draw(rates_or_free())} for factor in draw(some(("2x", "4x")))]
        larger = draw(charges("per-upscale", "image", factors))
        return _metered_version(draw(charges("per-image", "image", draw(rates_by({})))), larger)
    choices = {"resolution": draw(some(("1K", "2K", "4K"))), "quality": draw(some(("low", "high")))}
    charged = [draw(charges("per-image", "image", draw(rates_by(choices))))]
    if kind == "edit" and draw(st.booleans()):
        included = str(draw(st.integers(0, 3)))
        charged.append(draw(charges("per-input-image", "input_image", draw(rates_by({})), included=included)))
    version = _metered_version(*charged)
    words = {name: [rate[name] for rate in charged[0]["rates"] if name in rate] for name in choices}
    defaults = {name: draw(st.sampled_from(named)) for name, named in words.items() if draw(st.booleans()) and named}
    return version | ({"defaults": defaults} if defaults else {})


@st.composite
def by_the_band(draw: st.DrawFn, kind: str) -> TableDraft:
    """Draw a version that charges songs by the band of their seconds; there may be gaps between bands."""
    edges = draw(st.lists(st.integers(1, 999), min_size=2, max_size=6, unique=True).map(sorted))
    bands = list(zip(edges[:-1:2], edges[1::2], strict=True))
    lines = [{"seconds": f"{first}..{last}", "rate": draw(rates_or_free())} for first, last in bands]
    return _metered_version(draw(charges("duration-band", "song", lines)))


@st.composite
def by_credits(draw: st.DrawFn, kind: str) -> TableDraft:
    """Draw a version that charges calls to blockchain nodes in credits."""
    options: dict[str, Any] = {
        "failed_credits": str(draw(st.integers(0, 9))),
        "max_calls": str(draw(st.integers(1, 100))),
        "chains": [
            {"chain": name, "networks": draw(some(("mainnet", "testnet"))), "credits": str(draw(st.integers(1, 99)))}
            for name in draw(some(("ethereum", "base")))
        ],
        "tiers": [
            {"tier": "standard", "factor": "1", "methods": ["eth_*"]},
            {"tier": "advanced", "factor": str(draw(st.integers(1, 9))), "methods": ["debug_*", "trace_call"]},
        ],
        "refused": ["eth_subscribe"],
    }
    return _metered_version(draw(charges("rpc-credits", "credit", draw(rates_by({})), **options)))


def _metered_version(*charged: TableDraft) -> TableDraft:
    return {"charges": list(charged), "rounding": "none"}


# Units to use in place of shipped ones; one counted thing is not an exact decimal part of them.
_ODD_UNITS = {
    "mtoken": {"unit": "token_block", "counts": "token", "per": "3000"},
    "mcharacter": {"unit": "page_of_text", "counts": "character", "per": "1800"},
    "kcharacter": {"unit": "page_of_text", "counts": "character", "per": "1800"},
    "audio_second": {"unit": "audio_hour", "counts": "second of audio", "per": "3600"},
    "image": {"unit": "dozen_images", "counts": "image", "per": "12"},
    "krequest": {"unit": "seven_requests", "counts": "search request", "per": "7"},
}


@st.composite
def _with_options(draw: st.DrawFn, version: TableDraft, kind: str) -> TableDraft:
    """Draw a metered version, perhaps with odd units, options that change the charged counts, and a minimum."""
    if draw(st.integers(0, 2)) < 2:
        return version
    for charge in version["charges"]:
        if charge["unit"] in _ODD_UNITS and draw(st.booleans()):
            charge["unit"] = _ODD_UNITS[charge["unit"]]["unit"]
        if issubclass(METHODS[charge["method"]], CountedCharge):
            least = {"included": 0, "at_least": 1, "started": 1}
            charge |= {name: str(draw(st.integers(least[name], 100))) for name in draw(some(tuple(least), least=0))}
        if charge["method"] != "tokens" and draw(st.booleans()):
            charge |= draw(_under_conditions(charge))
    if kind not in ("surcharge", "embedding") and draw(st.booleans()):
        fee = draw(charges("count", draw(st.sampled_from(("request", "kpage"))), draw(rates_by({}))))
        version["charges"].append(draw(_under_conditions(fee)))
    # Every charge accepts the values that another one names, so that each rate is charged.
    if len(version["charges"]) > 1:
        for charge in version["charges"]:
            without_rate = {name: action for name, action in charge.get("without_rate", {}).items() if name in _WHOLES}
            charge["without_rate"] = without_rate | dict.fromkeys(_CONDITIONS, "default")
    minimum = {"minimum": draw(numbers(most=1_000))} if kind != "surcharge" and draw(st.booleans()) else {}
    places = {"line_places": str(draw(st.integers(0, 30)))} if draw(st.booleans()) else {}
    return minimum | places | version


@st.composite
def _under_conditions(draw: st.DrawFn, charge: TableDraft) -> TableDraft:
    """Draw a charge with further rates under a condition for some of its lines, and with factors."""
    name = draw(st.sampled_from(sorted(_CONDITIONS)))
    value = draw(st.sampled_from(_CONDITIONS[name]))
    numbered = draw(some(range(len(charge["rates"])), least=0))
    further = [{**charge["rates"][index], name: value, "rate": draw(rates_or_free())} for index in numbered]
    charge["rates"] += further
    return charge | draw(_factors())


@st.composite
def _factors(draw: st.DrawFn) -> TableDraft:
    values = [(name, value) for name, words in _CONDITIONS.items() for value in words]
    return {"factors": [{name: value, "factor": draw(numbers(most=300))} for name, value in draw(some(values))]}


def _one(method: str, *units: str) -> Callable[[str], st.SearchStrategy[TableDraft]]:
    """Return the strategy of versions with one rate for characters, seconds, songs or searches."""

    @st.composite
    def by_one_count(draw: st.DrawFn, kind: str) -> TableDraft:
        return _metered_version(draw(charges(method, draw(st.sampled_from(units)), draw(rates_by({})))))

    return by_one_count


# By method: the types of model that have it as their first charge, and the strategy of a version of each. A method
# itself knows more types: an image model has `per-upscale` beside `per-image`.
METERED_VERSIONS: dict[str, tuple[tuple[str, ...], Callable[[str], st.SearchStrategy[TableDraft]]]] = {
    "tokens": (("text", "embedding"), by_tokens),
    "per-image": (("image", "edit"), by_the_image),
    "per-input-image": (("edit",), by_the_image),
    "per-upscale": (("upscale",), by_the_image),
    "per-character": (("speech", "music"), _one("per-character", "mcharacter", "kcharacter")),
    "per-audio-second": (("transcription", "music"), _one("per-audio-second", "audio_second")),
    "per-song": (("music",), _one("per-song", "song")),
    "duration-band": (("music",), by_the_band),
    "surcharge": (("surcharge",), _one("surcharge", "krequest", "kurl", "prompt")),
    "rpc-credits": (("rpc",), by_credits),
}


def example_of(version: TableDraft, kind: str) -> TableDraft:
    """Return the simplest request that a version prices, as a table writes it: `request` and `source`, or `usage`."""
    charge = version["charges"][0]
    if kind == "video":
        return _of_video(version["accepts"])
    counts = {"counts": {"page": "1000"}} if any(draft["unit"] == "kpage" for draft in version["charges"]) else {}
    return {"usage": _usage(charge, kind, version.get("defaults", {})) | counts}


def _of_video(accepts: TableDraft) -> TableDraft:
    request = {name: accepts[name][0] for name in (*LISTED_WORDS, *LISTED_NUMBERS) if name in accepts}
    if "slowdown_factor" in accepts:
        request["target_fps"] = "60"
    if request["duration"] in SOURCE_MATCHED_DURATIONS or request.get("aspect_ratio") in SOURCE_MATCHED_RATIOS:
        request["reference_video_total_duration"] = "4"
    elif "Auto" in accepts["duration"]:
        return {"request": request, "source": {"seconds": "1", "width": "1280", "height": "720", "fps": "24"}}
    return {"request": request}


def _usage(charge: TableDraft, kind: str, defaults: TableDraft) -> dict[str, Any]:
    match charge["method"]:
        case "per-image":
            first = charge["rates"][0]
            return {name: first[name] for name in ("resolution", "quality") if name in first and name not in defaults}
        case "tokens":
            refused = charge.get("without_rate", {})
            sides = {"prompt_tokens": "input"} | ({"completion_tokens": "output"} if kind == "text" else {})
            return {field: "0" if bucket in refused else "1000000" for field, bucket in sides.items()}
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


DRAWN_METHODS = (*VIDEO_VERSIONS, *METERED_VERSIONS)
FIRST_DAY, SECOND_DAY = "2026-01-01", "2026-07-01"
_RPC = "rpc-credits"
_NAME = "tables.yaml"
_SEARCHES = ("web_search", "web_scraping", "x_search")


def rate_cards(
    *, methods: Collection[str] | None = None, min_models: int = 1, max_models: int = 3
) -> st.SearchStrategy[RateCard]:
    """Return a strategy for rate cards of a few models, of some pricing methods or of all.

    Every model has a price from 2026-01-01 on, and perhaps another one from 2026-07-01 on. Shrinks to one model with
    one rate of 1; the YAML is shown with a failing example.

    >>> from hypothesis import given, settings
    >>> @settings(max_examples=5, deadline=None)
    ... @given(rate_cards(methods=["tokens", "surcharge"]))
    ... def every_card_names_its_tables(card):
    ...     assert len(card.digest) == 16
    >>> every_card_names_its_tables()
    """
    return table_files(methods=methods, min_models=min_models, max_models=max_models).map(card_of)


def table_files(
    *, methods: Collection[str] | None = None, min_models: int = 1, max_models: int = 3
) -> st.SearchStrategy[dict[str, bytes]]:
    """Draw tables like `rate_cards`, but as the bytes of each file by name, for a folder. Every example is right."""
    check_range("min_models", min_models, "max_models", max_models)
    known = check_words("methods", methods, DRAWN_METHODS)
    if known == (_RPC,) and min_models > 1:
        raise InvalidArgument(f"Cannot have min_models={min_models} of {_RPC}: a usage does not name its model")
    drawn = st.lists(st.sampled_from(known), min_size=min_models, max_size=max_models)
    return drawn.filter(lambda methods: methods.count(_RPC) < 2).flatmap(_files)


def card_of(files: dict[str, bytes]) -> RateCard:
    """Return the card of these files, with the shipped units, vocabulary and limits."""
    return RateCard(tables_from(files))


@st.composite
def _files(draw: st.DrawFn, methods: list[str]) -> dict[str, bytes]:
    models = [draw(_models(method, f"model-{number}")) for number, method in enumerate(methods, 1)]
    for model in models:
        surcharges = [other for other in models if other["type"] == "surcharge"]
        searches = [other["model"] for other in surcharges if other["currency"] == model["currency"]]
        if model["type"] == "text" and searches:
            for version in model["versions"]:
                version["surcharges"] = {kind: draw(st.sampled_from(searches)) for kind in draw(some(_SEARCHES))}
    family = {"family": "made-up", "models": models}
    units = {charge["unit"] for model in models for version in model["versions"] for charge in version["charges"]}
    odd = {unit["unit"]: unit for unit in _ODD_UNITS.values() if unit["unit"] in units}
    further = {UNITS: yaml_text({"units": list(odd.values())}).encode()} if odd else {}
    # A person would work out the totals of examples by hand; here the tables themselves are read to know them.
    card = card_of({**further, _NAME: yaml_text(family).encode()})
    for model in models:
        priced = card.tables.models[model["model"]]
        for version, draft in zip(priced.versions, model["versions"], strict=True):
            quote = price_example(card._unproved.at(version.effective), priced, version.examples[0])
            draft["examples"][0]["total"] = text(plain(quote.total))
    written = yaml_text(family)
    note(written)
    return {**further, _NAME: written.encode()}


@st.composite
def _models(draw: st.DrawFn, method: str, name: str) -> TableDraft:
    model: dict[str, Any] = {"model": name, "name": name.title()}
    if method in VIDEO_VERSIONS:
        mode, strategy_of = VIDEO_VERSIONS[method]
        model |= {"type": "video", "mode": mode}
        versions = strategy_of(method)
    else:
        kinds, strategy_of = METERED_VERSIONS[method]
        model["type"] = draw(st.sampled_from(kinds))
        versions = strategy_of(model["type"])
    model["currency"] = draw(st.sampled_from(("USD", "EUR")))
    days = [SECOND_DAY, FIRST_DAY] if draw(st.booleans()) else [FIRST_DAY]
    if method in METERED_VERSIONS:
        versions = versions.flatmap(lambda version: _with_options(version, model["type"]))
    model["versions"] = [_dated(draw(versions), day, model["type"]) for day in days]
    return model


def _dated(version: TableDraft, day: str, kind: str) -> TableDraft:
    head = {"effective": day, "checked": day, "source": "made-up"}
    return head | version | {"examples": [example_of(version, kind) | {"total": "0"}]}
