"""Inputs about limits, keys, estimates and RPC that could be taken for something that they are not."""

import json
from collections.abc import Callable
from dataclasses import astuple
from datetime import UTC, date, datetime
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from click.testing import CliRunner
from input_case import InputCase
from starlette.testclient import TestClient

import ratecard
from bad_limits import SHIPPED
from git_tables import FILES, repository, write
from ratecard.cli import main
from ratecard.server import LiveRateCard, application
from shipped import CARD

TOKENS: dict[str, Any] = {"prompt_tokens": 0, "max_completion_tokens": 0}
SUNSET_DAY = int(datetime(2026, 9, 16, tzinfo=UTC).timestamp()) * 10**9
USAGE = "/api/v1/billing/usage"


@cache
def card() -> ratecard.RateCard:
    return CARD


def prices() -> ratecard.PriceBook:
    return card().at(date(2026, 10, 1))


def answered(ask: Callable[[], Any], shown: Callable[[Any], Any]) -> str:
    """Return the result of a call, or the reason why it is refused."""
    try:
        return f"priced: {shown(ask())}"
    except ratecard.QuoteError as error:
        words = (f"{'.'.join(map(str, path))}: {message}" for path, message in error.problems)
        return f"refused: {'; '.join(words) or error.error}"
    except (ValueError, TypeError) as error:
        return f"refused: {error}"


def table(old: str, new: str) -> str:
    """Return the output of `ratecard check` for limits.yaml with one edit, without the line."""
    assert SHIPPED.count(old) == 1, old
    with TemporaryDirectory() as folder:
        write(Path(folder), {**FILES, "limits.yaml": SHIPPED.replace(old, new)})
        sent = CliRunner().invoke(main, ["check", folder])
    return _said(sent.exit_code, sent.stdout)


def edited(old: str, new: str) -> str:
    """Return the output of `ratecard check --against` for an edit of limits in effect."""
    with TemporaryDirectory() as root:
        folder = repository(Path(root), {**FILES, "limits.yaml": SHIPPED})
        write(folder, {**FILES, "limits.yaml": SHIPPED.replace(old, new)})
        sent = CliRunner().invoke(main, ["check", str(folder), "--against=HEAD", "--as-of=2026-11-01T00:00:00Z"])
    return _said(sent.exit_code, sent.stdout).partition(". Put")[0]


def _said(status: int, printed: str) -> str:
    place, _, words = printed.splitlines()[0].partition(": ")
    return f"refused: {place.partition(':')[0]}: {words}" if status == 1 else "priced: sound"


def estimated(model: str, **searches: Any) -> str:
    return answered(lambda: prices().estimate_text(model, **TOKENS, **searches).highest, lambda most: most.normalize())


def called(network: str, method: str, *, failed: bool = False) -> str:
    call = {"method": method, "failed": failed}
    usage = {"type": "rpc", "network": network, "calls": [call]}
    return answered(lambda: prices().rate(usage), lambda quote: quote.lines[0].quantity)


def limit(*words: str, **asked_for: Any) -> str:
    def shown(found: ratecard.limits.Limit | ratecard.limits.VideoLimit) -> str:
        both = (found.queue, found.retrieve) if isinstance(found, ratecard.limits.VideoLimit) else ()
        return ", ".join(str(each.requests) for each in both) or str(astuple(found))

    return answered(lambda: prices().limits_for(*words, **asked_for), shown)


def written(record: str) -> str:
    return answered(lambda: ratecard.accounts.ApiKey.model_validate_json(record), lambda key: key.model_dump_json())


def usage_answer(method: str, instant: int) -> str:
    with TestClient(application(LiveRateCard(card(), clock=lambda: instant))) as client:
        answer = client.request(method, USAGE)
    return f"refused: {answer.status_code} {answer.headers.get('Sunset')}"


def told(instant: date) -> str:
    found = card().at(instant).sunset("GET /billing/usage")
    return f"refused: {found.status if found else None}"


def ended(period: str) -> str:
    return answered(lambda: ratecard.accounts.period_end(period, datetime(2026, 9, 29, 12, tzinfo=UTC)), str)


_EXACT = json.dumps({"consumptionLimits": {"usd": 50}, "createdAt": "2026-01-01T12:00:00.000Z", "more": None})
LIMITS_INPUTS = [
    InputCase("deprecated: yesterday", "tables", partial(table, "deprecated: 2026-07-09", "deprecated: yesterday"),
              "refused: limits.yaml: deprecated 'yesterday' is not a date. Write YYYY-MM-DD, like 2026-09-28"),
    InputCase("a sunset before it is deprecated", "tables", partial(table, "sunset: 2026-09-16", "sunset: 2026-07-01"),
              "refused: limits.yaml: sunset 2026-07-01 is before 2026-07-09, from which it is deprecated. "
              "Write a later day"),
    InputCase("a successor that is not a path", "tables",
              partial(table, "successor: /billing/usage-history", "successor: garbage"),
              "refused: limits.yaml: successor 'garbage' is not a path. Write it without method and base path, "
              "like /billing/usage-history"),
    InputCase("tier S twice, and M missing", "tables",
              partial(table, "tier: M, partner: false", "tier: S, partner: false"),
              "refused: limits.yaml: no limit for tier M, partner false. Add a line for it"),
    InputCase("tier MM", "tables", partial(table, "tier: M, partner: false", "tier: MM, partner: false"),
              "refused: limits.yaml: tier 'MM' is not known. Did you mean 'M'? Allowed: XS, S, M, L"),
    InputCase("type adio", "tables", partial(table, "type: audio, partner: false", "type: adio, partner: false"),
              "refused: limits.yaml: type 'adio' is not known. Did you mean 'audio'? "
              "Allowed: image, audio, embedding, video-queue, video-retrieve"),
    InputCase("requests: 0", "tables", partial(table, "requests: 75", "requests: 0"),
              "refused: limits.yaml: requests '0' must be more than zero"),
    InputCase("a limit in effect that was edited", "tables", partial(edited, "requests: 75", "requests: 80"),
              "refused: limits.yaml: the limits of 2026-08-03 are in effect, and were edited: "
              "text: partner false, requests 75, tier S, tokens 750000 "
              "-> partner false, requests 80, tier S, tokens 750000"),
    InputCase("a search by suffix in an estimate", "python", partial(estimated, "grok-4-3:enable_web_search=on"),
              "priced: 0.01"),
    InputCase("scraping by suffix in an estimate", "python", partial(estimated, "grok-4-3:enable_web_scraping=true"),
              "priced: 0.05"),
    InputCase("X search of which nothing says the most", "python", partial(estimated, "grok-4-3:enable_x_search=true"),
              "refused: x_search_results: Required: the limits do not say the most of one request"),
    InputCase("a search that the model does not have, in an estimate", "python",
              partial(estimated, "claude-opus-4-6:enable_x_search=true"),
              "priced: 0"),
    InputCase("getLargestAccounts on ethereum", "python", partial(called, "ethereum-mainnet", "getLargestAccounts"),
              "refused: calls.0.method: This method is not supported on ethereum: getLargestAccounts"),
    InputCase("eth_call on solana", "python", partial(called, "solana-mainnet", "eth_call"),
              "refused: calls.0.method: This method is not supported on solana: eth_call"),
    InputCase("a failed call of an unknown method", "python",
              partial(called, "base-mainnet", "nothing", failed=True), "priced: 5"),
    InputCase("an unknown method", "python", partial(called, "base-mainnet", "nothing"),
              "refused: calls.0.method: This method is not supported: nothing", guard=True),
    InputCase("the limit of music", "python", partial(limit, "music"), "priced: (60, None, False)"),
    InputCase("the limit of a video model", "python", partial(limit, model="ovi-image-to-video"),
              "priced: 40, 120"),
    InputCase("the limit of a text model without a tier", "python", partial(limit, model="grok-4-3"),
              "refused: the tables do not say the tier of grok-4-3. Give one, like tier='S': XS, S, M, L"),
    InputCase("a partner's limit where none is published", "python", partial(limit, "video-queue", partner=True),
              "priced: (40, None, True)"),
    InputCase("the limit of RPC", "python", partial(limit, "rpc"),
              "refused: type 'rpc' has no published limit of requests; a batch of calls is limited by its own table"),
    InputCase("a key record with an integer, a time and a further field", "python", partial(written, _EXACT),
              f"priced: {_EXACT.replace(': ', ':').replace(', ', ',')}"),
    InputCase("a key record with null for its limits", "python", partial(written, '{"consumptionLimits":null}'),
              'priced: {"consumptionLimits":null}'),
    InputCase("a limit of more digits than a float has", "python",
              partial(written, '{"consumptionLimits":{"usd":0.10000000000000000001}}'),
              'priced: {"consumptionLimits":{"usd":0.10000000000000000001}}'),
    InputCase("the end of a lifetime", "python", partial(ended, "LIFETIME"), "priced: None"),
    InputCase("the end of an epoch", "python", partial(ended, "EPOCH"), "priced: 2026-09-30 00:00:00+00:00"),
    InputCase("an endpoint on the day before it ends", "python", partial(told, date(2026, 9, 15)), "refused: 404"),
    InputCase("GET of it on the day before", "http", partial(usage_answer, "GET", SUNSET_DAY - 1),
              "refused: 404 Wed, 16 Sep 2026 00:00:00 GMT"),
    InputCase("GET of it from its day on", "http", partial(usage_answer, "GET", SUNSET_DAY),
              "refused: 410 Wed, 16 Sep 2026 00:00:00 GMT", guard=True),
    InputCase("HEAD of it from its day on", "http", partial(usage_answer, "HEAD", SUNSET_DAY),
              "refused: 410 Wed, 16 Sep 2026 00:00:00 GMT"),
]  # fmt: skip
