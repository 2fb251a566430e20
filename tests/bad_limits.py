"""Mistakes in limits.yaml: each is one edit of the shipped file, and what is said of the edited line."""

from typing import NamedTuple

from ratecard.load.folder import shipped_folder

SHIPPED = (shipped_folder() / "limits.yaml").read_text(encoding="utf-8")
_TEXT_M = "      - {tier: M, partner: false, requests: 50, tokens: 750000}\n"
_TEXT_S = "      - {tier: S, partner: false, requests: 75, tokens: 750000}\n"
_AUDIO = "      - {type: audio, partner: false, requests: 60}\n"
_BLOCK = "failed_requests: {more_than: 20, within_seconds: 30, blocked_seconds: 30}"
_ENTRY = SHIPPED.partition("limits:\n")[2]
_SUNSET = SHIPPED.partition("sunsets:\n")[2]


class BadLimits(NamedTuple):
    """What is wrong, the edit (each fits one place), the line of the fault, and all words that are said of it."""

    name: str
    old: str
    new: str
    at: str
    said: str

    @property
    def text(self) -> str:
        """The file with the mistake."""
        assert SHIPPED.count(self.old) == 1, self.old
        return SHIPPED.replace(self.old, self.new)

    @property
    def line(self) -> int:
        """The line that the fault is reported at: the last one that holds `at`."""
        lines = self.text.splitlines()
        return max(number for number, line in enumerate(lines, 1) if self.at in line)


BAD_LIMITS = [
    BadLimits("no limits", f"limits:\n{_ENTRY}", "limits: []\n", "limits: []",
              "limits is empty. Write at least one, with the day from which it holds"),
    BadLimits("the same day twice", _ENTRY, f"{_ENTRY}{_ENTRY}", "effective:",
              "effective 2026-08-03 must be before 2026-08-03: newest first"),
    BadLimits("the oldest first", _ENTRY, f"{_ENTRY}{_ENTRY.replace('2026-08-03', '2026-10-01')}", "effective:",
              "effective 2026-10-01 must be before 2026-08-03: newest first"),
    BadLimits("first day in words", "effective: 2026-08-03", "effective: last August", "effective:",
              "effective 'last August' is not a date. Write YYYY-MM-DD, like 2026-09-28"),
    BadLimits("a day that does not exist", "checked: 2026-09-29", "checked: 2026-09-31", "checked:",
              "checked '2026-09-31' is not a date. Write YYYY-MM-DD, like 2026-09-28"),
    BadLimits("no source", "    source: API specification\n", "", "effective:", "source is missing in limits"),
    BadLimits("unknown tier", "tier: L, partner: false", "tier: LL, partner: false", "tier: LL",
              "tier 'LL' is not known. Did you mean 'L'? Allowed: XS, S, M, L"),
    BadLimits("tier twice", _TEXT_M, _TEXT_M + _TEXT_S.replace("75,", "80,"), "requests: 80",
              "tier S, partner false is listed twice; keep one"),
    BadLimits("tier missing", _TEXT_M, "", "    text:", "no limit for tier M, partner false. Add a line for it"),
    BadLimits("tier of partners missing", "      - {tier: M, partner: true, requests: 100, tokens: 1500000}\n", "",
              "    text:", "no limit for tier M, partner true. Add a line for it"),
    BadLimits("unknown type", "type: audio, partner: false", "type: adio, partner: false", "type: adio",
              "type 'adio' is not known. Did you mean 'audio'? "
              "Allowed: image, audio, embedding, video-queue, video-retrieve"),
    BadLimits("type twice", _AUDIO, _AUDIO + _AUDIO.replace("60", "61"), "requests: 61",
              "type audio, partner false is listed twice; keep one"),
    BadLimits("type missing", _AUDIO, "", "    types:", "no limit for type audio, partner false. Add a line for it"),
    BadLimits("no requests at all", "partner: false, requests: 75", "partner: false, requests: 0", "requests: 0",
              "requests '0' must be more than zero"),
    BadLimits("no tokens at all", "requests: 60, tokens: 1000000", "requests: 60, tokens: 0", "tokens: 0",
              "tokens '0' must be more than zero"),
    BadLimits("a fraction of a request", "{type: image, partner: false, requests: 20}",
              "{type: image, partner: false, requests: 2.5}", "requests: 2.5",
              "requests '2.5' is not a whole number. Write digits, like 16"),
    BadLimits("tokens of an image", "{type: image, partner: true, requests: 60}",
              "{type: image, partner: true, requests: 60, tokens: 5}", "tokens: 5}",
              "unknown key 'tokens'. Allowed here: type, partner, requests"),
    BadLimits("partner in words", "{type: image, partner: true", "{type: image, partner: perhaps", "perhaps",
              "partner 'perhaps' is not true or false"),
    BadLimits("a block without failures", _BLOCK, _BLOCK.replace("more_than: 20", "more_than: 0"), "more_than:",
              "more_than '0' must be more than zero"),
    BadLimits("a block without an end", _BLOCK, _BLOCK.replace(", blocked_seconds: 30", ""), "failed_requests:",
              "blocked_seconds is missing in failed_requests"),
    BadLimits("no URL at all", "scraped_urls: 5", "scraped_urls: 0", "scraped_urls:",
              "scraped_urls '0' must be more than zero"),
    BadLimits("an estimate of no search", "{web_search_requests: 1}", "{web_search_requests: 0}", "estimates:",
              "web_search_requests '0' must be more than zero"),
    BadLimits("an estimate of an unknown search", "{web_search_requests: 1}", "{web_searches: 1}", "estimates:",
              "unknown key 'web_searches'. Did you mean 'web_search_requests'? "
              "Allowed here: web_search_requests, x_search_results"),
    BadLimits("a top-up of nothing", "least: 5,", "least: 0,", "top_up:", "least '0' must be more than zero"),
    BadLimits("a top-up in words", "top_up: {currency: USD", "top_up: {currency: dollars", "top_up:",
              "currency 'dollars' is not an ISO 4217 code. Write three capitals, like USD"),
    BadLimits("a top-up paid in euros, worth a dollar each", "paid_in: [USDC, USD]", "paid_in: [USDC, EUR]", "top_up:",
              "paid_in has 'EUR', which is not worth one USD. Leave it out"),
    BadLimits("a top-up paid from a balance", "paid_in: [USDC, USD]", "paid_in: [VCU]", "top_up:",
              "paid_in has 'VCU', which is not worth one USD. Leave it out"),
    BadLimits("a stake of less than nothing", "least_staked: 0.1", "least_staked: -0.1", "diem:",
              "least_staked '-0.1' is negative. Write zero or more"),
    BadLimits("a balance named as a currency", "rates: {DIEM: 1,", "rates: {EUR: 1,", "rates:",
              "rates has 'EUR', which is not a name of a balance. Write capitals, digits and _, and no ISO 4217 code"),
    BadLimits("a worth in words", "rates: {DIEM: 1,", "rates: {DIEM: much,", "rates:",
              "DIEM 'much' is not a number. Write digits with at most 30 decimal places, like 0.10"),
    BadLimits("deprecated in words", "deprecated: 2026-07-09", "deprecated: yesterday", "deprecated:",
              "deprecated 'yesterday' is not a date. Write YYYY-MM-DD, like 2026-09-28"),
    BadLimits("sunset as its header", "sunset: 2026-09-16", "sunset: Thu, 16 Sep 2026 00:00:00 GMT", "sunset: Thu",
              "sunset 'Thu, 16 Sep 2026 00:00:00 GMT' is not a date. Write YYYY-MM-DD, like 2026-09-28"),
    BadLimits("sunset before it is deprecated", "sunset: 2026-09-16", "sunset: 2026-07-08", "sunset:",
              "sunset 2026-07-08 is before 2026-07-09, from which it is deprecated. Write a later day"),
    BadLimits("a link beside the successor", "        renamed:", "        link: garbage\n        renamed:", "link:",
              "unknown key 'link'. Allowed here: endpoint, deprecated, sunset, successor, renamed"),
    BadLimits("a day that says the sunset again", "        renamed:", "        on: 2026-10-01\n        renamed:", "on:",
              "unknown key 'on'. Allowed here: endpoint, deprecated, sunset, successor, renamed"),
    BadLimits("a successor in words", "successor: /billing/usage-history", "successor: garbage", "successor:",
              "successor 'garbage' is not a path. Write it without method and base path, like /billing/usage-history"),
    BadLimits("a successor that ends itself", "successor: /billing/usage-history", "successor: /billing/usage",
              "successor:", "successor '/billing/usage' is an endpoint that ends too. Name one that stays"),
    BadLimits("an endpoint without its method", "endpoint: GET /billing/usage", "endpoint: /billing/usage", "endpoint:",
              "endpoint '/billing/usage' is not an endpoint. Write its method and path, like GET /billing/usage"),
    BadLimits("an endpoint that ends twice", _SUNSET, f"{_SUNSET}{_SUNSET}", "endpoint:",
              "endpoint 'GET /billing/usage' is listed twice; keep one"),
]  # fmt: skip
