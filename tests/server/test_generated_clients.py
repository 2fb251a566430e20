"""Clients that openapi-python-client and openapi-typescript make without options ask a real server.

Each is checked by the types of its language first. `make test-clients` runs them; what npm cannot install is skipped.
"""

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from serving import Server, serving

import ratecard
from ratecard.ledger import open_ledger

KEY = "open-sesame"
# What clients need is kept from run to run: the packages of Node, and the types of packages of Python.
KEPT = Path(__file__).parent.parent.parent / ".cache" / "clients"
TOOLS = {"openapi-fetch": "0.17.0", "openapi-typescript": "7.13.0", "typescript": "5.9.3"}
SHOWN = """\
0.77
0.77 USD kling-o3-pro-text-to-video-duration-rate-5s-audio 0.77
['Number must be less than or equal to 120']
Authentication failed: the API key is not known
0.00315 tts-kokoro
['0.00315', 'Specified model not found: zzz', ['Required']]
0.0033 0.07125 USD
No estimate for tts-kokoro, which is of type speech: only text has one. POST /rate prices what it counts
text 1000000 6 tokens
openai/whisper-large-v3
Specified model not found: a/b
0.22 -0.22 None
r-2 -0.22
refund-1 0.1
['Exactly one of amount and corrected is needed']
GET /billing/usage was sunset
ok
"""

PYTHON = """
import sys
from datetime import datetime, timezone

from ratecard_client import AuthenticatedClient
from ratecard_client.api.billing import usage, usage_history
from ratecard_client.api.charges import charge as charges, refund
from ratecard_client.api.models import list_models, retrieve_model
from ratecard_client.api.operation import health
from ratecard_client.api.quotes import estimate, rate, video_quote
from ratecard_client.models import (
    ChargeAnswer, ChargeRequest, ErrorObject, EstimatedCost, Health, InvalidRequest, ListedModel, MeteredUsage,
    ModelList, PriceQuote, RatedList, RatedQuote, RefundAnswer, RefundRequest, TextEstimateRequest, UsageList,
    UsagePage, VideoQuoteRequest,
)

client = AuthenticatedClient(base_url=sys.argv[1], token=sys.argv[2])
body = VideoQuoteRequest(model="kling-o3-pro-text-to-video", duration="5s")
quoted = video_quote.sync(client=client, body=body)
assert isinstance(quoted, PriceQuote)
print(quoted.quote)
quoted = video_quote.sync(client=client, body=body, explain=True)
assert isinstance(quoted, PriceQuote) and isinstance(quoted.lines, list)
print(quoted.total, quoted.currency, quoted.lines[0].sku, quoted.lines[0].amount)
body.target_fps = 500
refused = video_quote.sync(client=client, body=body)
assert isinstance(refused, InvalidRequest)
print(refused.details["target_fps"].field_errors)
unknown = video_quote.sync(client=AuthenticatedClient(base_url=sys.argv[1], token="x"), body=body)
assert isinstance(unknown, ErrorObject)
print(unknown.error)

speech = MeteredUsage.from_dict({"type": "speech", "model": "tts-kokoro", "characters": 900})
rated = rate.sync(client=client, body=speech)
assert isinstance(rated, RatedQuote)
print(rated.total, rated.model)
several = rate.sync(client=client, body=UsageList(usages=[speech, MeteredUsage(model="zzz"), MeteredUsage()]))
assert isinstance(several, RatedList)
first, second, third = several.data
assert isinstance(first, RatedQuote) and isinstance(second, ErrorObject) and isinstance(third, InvalidRequest)
print([first.total, second.error, third.details["model"].field_errors])

tokens = TextEstimateRequest(model="claude-opus-4-6", prompt_tokens=5500, max_completion_tokens=1000)
estimated = estimate.sync(client=client, body=tokens)
assert isinstance(estimated, EstimatedCost)
print(estimated.lowest, estimated.highest, estimated.currency)
tokens.model = "tts-kokoro"
none = estimate.sync(client=client, body=tokens)
assert isinstance(none, ErrorObject)
print(none.error)

listed = list_models.sync(client=client, type_="text")
assert isinstance(listed, ModelList)
opus = next(model for model in listed.data if model.id == "claude-opus-4-6")
charge = opus.pricing.charges[0]
print(opus.type_, opus.pricing["context_tokens"], charge.rates[0].rate, charge.method)
slashed = retrieve_model.sync("openai/whisper-large-v3", client=client)
assert isinstance(slashed, ListedModel)
print(slashed.id)
missing = retrieve_model.sync("a/b", client=client)
assert isinstance(missing, ErrorObject)
print(missing.error)

page = usage_history.sync(client=client)
assert isinstance(page, UsagePage)
print(page.data[0].price_per_unit_usd, page.data[0].amount, page.next_cursor)
when = datetime(2026, 10, 1, tzinfo=timezone.utc)
clip = MeteredUsage.from_dict({"type": "video", "model": "ovi-image-to-video"})
booked = charges.sync(client=client, body=ChargeRequest(usage=clip, timestamp=when, request_id="r-2"))
assert isinstance(booked, ChargeAnswer)
print(booked.request_id, booked.entries[0].amount)
asked = RefundRequest(id="refund-1", sku=booked.entries[0].sku, timestamp=when, amount="0.10")
paid = refund.sync("r-2", client=client, body=asked)
assert isinstance(paid, RefundAnswer)
print(paid.id, paid.entries[0].amount)
asked.corrected = "0.12"
both = refund.sync("r-2", client=client, body=asked)
assert isinstance(both, InvalidRequest)
print(both.details["amount"].field_errors)
gone = usage.sync(client=client)
assert isinstance(gone, ErrorObject)
print(gone.error.split(" on ")[0])
well = health.sync(client=client)
assert isinstance(well, Health)
print(well.status)
"""

TYPESCRIPT = """
import createClient from "openapi-fetch";
import type { components, paths } from "./api";

declare const process: { argv: string[] };
const [baseUrl, token] = process.argv.slice(2);
const headers = (key: string) => ({ headers: { Authorization: `Bearer ${key}` } });
const client = createClient<paths>({ baseUrl, ...headers(token) });
const say = (...words: unknown[]) =>
  console.log(words.map((word) => (word === null ? "None" : typeof word === "object" ? list(word) : word)).join(" "));
const list = (words: unknown): string =>
  "[" + (words as unknown[]).map((word) => (typeof word === "object" ? list(word) : `'${word}'`)).join(", ") + "]";
type Refused = components["schemas"]["InvalidRequest"];

const body = { model: "kling-o3-pro-text-to-video", duration: "5s" };
const quoted = await client.POST("/api/v1/video/quote", { body });
const price: number = quoted.data!.quote;
say(price);
const explained = await client.POST("/api/v1/video/quote", { body, params: { query: { explain: true } } });
const line = explained.data!.lines![0];
say(explained.data!.total, explained.data!.currency, line.sku, line.amount);
const refused = await client.POST("/api/v1/video/quote", { body: { ...body, target_fps: 500 } });
say((refused.error as Refused).details["target_fps"]._errors);
// @ts-expect-error: a model is text
await client.POST("/api/v1/video/quote", { body: { model: 5 } });
const unknown = await createClient<paths>({ baseUrl, ...headers("x") }).POST("/api/v1/video/quote", { body });
say(unknown.error!.error);

const speech = { type: "speech" as const, model: "tts-kokoro", characters: 900 };
const rated = await client.POST("/api/v1/rate", { body: speech });
if (rated.data && "total" in rated.data) say(rated.data.total, rated.data.model);
const several = await client.POST("/api/v1/rate", { body: { usages: [speech, { model: "zzz" }, {}] } });
if (several.data && "data" in several.data) {
  const data = (several.data as components["schemas"]["RatedList"]).data;
  const refusal = (each: Refused | components["schemas"]["ErrorObject"]) =>
    "details" in each ? each.details["model"]._errors : each.error;
  say(data.map((each) => ("total" in each ? each.total : refusal(each))));
}

const tokens = { model: "claude-opus-4-6", prompt_tokens: 5500, max_completion_tokens: 1000 };
const estimated = (await client.POST("/api/v1/estimate", { body: tokens })).data!;
say(estimated.lowest, estimated.highest, estimated.currency);
const none = await client.POST("/api/v1/estimate", { body: { ...tokens, model: "tts-kokoro" } });
say(none.error!.error);

const listed = (await client.GET("/api/v1/models", { params: { query: { type: "text" } } })).data!;
const opus = listed.data.find((model) => model.id === "claude-opus-4-6")!;
const charge = opus.pricing.charges[0];
say(opus.type, opus.pricing["context_tokens"], charge.rates[0].rate, charge.method);
const one = (id: string) => client.GET("/api/v1/models/{id}", { params: { path: { id } } });
say((await one("openai/whisper-large-v3")).data!.id);
say((await one("a/b")).error!.error);

const page = (await client.GET("/api/v1/billing/usage-history")).data!;
if (typeof page !== "string") say(page.data[0].pricePerUnitUsd, page.data[0].amount, page.nextCursor);
const timestamp = "2026-10-01T00:00:00Z";
const clip = { type: "video" as const, model: "ovi-image-to-video" };
const ran: components["schemas"]["ChargeRequest"] = { usage: clip, timestamp, request_id: "r-2" };
const booked = (await client.POST("/api/v1/charges", { body: ran })).data!;
say(booked.request_id, booked.entries[0].amount);
const refund = { id: "refund-1", sku: booked.entries[0].sku, timestamp, amount: "0.10" };
const params = { path: { request_id: "r-2" } };
const paid = (await client.POST("/api/v1/charges/{request_id}/refunds", { params, body: refund })).data!;
say(paid.id, paid.entries[0].amount);
const twice = { ...refund, corrected: "0.12" };
const both = await client.POST("/api/v1/charges/{request_id}/refunds", { params, body: twice });
say((both.error as Refused).details["amount"]._errors);
say((await client.GET("/api/v1/billing/usage")).error!.error.split(" on ")[0]);
say((await client.GET("/api/v1/healthz")).data!.status);
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server with every endpoint, over a ledger with one row."""
    folder = tmp_path_factory.mktemp("ledger")
    database, keys = f"sqlite:///{folder}/ledger.db", folder / "keys"
    keys.write_text(f"acme:{KEY}")
    when = datetime(2026, 10, 1, tzinfo=UTC)
    with open_ledger(database) as ledger:
        quote = ratecard.load_rate_card().at(when).quote_video({"model": "ovi-image-to-video"})
        ledger.append(quote, account="acme", request_id="r-1", timestamp=when)
    with serving("--database", database, "--charge-keys", str(keys), RATECARD_API_KEYS=f"acme:{KEY}") as found:
        yield found


@pytest.fixture(scope="module")
def description(server: Server, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("description") / "openapi.json"
    path.write_bytes(server.get("/openapi.json").content)
    return path


def run(*command: str | Path, folder: Path) -> str:
    """Return the output of a command, which must succeed."""
    done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    assert done.returncode == 0, done.stdout
    return done.stdout


def tool(name: str) -> Path:
    return Path(sys.executable).with_name(name)


def test_the_python_client_is_typed_and_works(server: Server, description: Path, tmp_path: Path) -> None:
    said = run(
        tool("openapi-python-client"), "generate", "--path", description, "--output-path", "made", folder=tmp_path
    )
    assert "Unable to" not in said, said
    assert "WARNING parsing" not in said, said
    script = tmp_path / "made" / "asks.py"
    script.write_text(PYTHON)
    # What is known of the packages that a client imports is kept from run to run.
    checks = ("--follow-imports=silent", "--cache-dir", KEPT / "mypy", "--config-file", "")
    run(sys.executable, "-m", "mypy", "--strict", *checks, script.name, folder=script.parent)
    assert run(sys.executable, script.name, server.base, KEY, folder=script.parent) == SHOWN


@pytest.fixture(scope="module")
def node_tools() -> Path:
    """The folder with the tools of TypeScript, installed by npm where they are not there yet."""
    for each in ("node", "npm"):
        if shutil.which(each) is None:
            pytest.skip(f"there is no {each} here")
    KEPT.mkdir(parents=True, exist_ok=True)
    wanted = json.dumps({"private": True, "type": "module", "dependencies": TOOLS})
    kept = KEPT / "package.json"
    if not (kept.exists() and kept.read_text() == wanted and (KEPT / "node_modules" / ".bin" / "tsc").exists()):
        kept.write_text(wanted)
        options = ("--no-audit", "--no-fund", "--no-package-lock", "--ignore-scripts")
        npm = ["npm", "install", *options]
        done = subprocess.run(npm, cwd=KEPT, capture_output=True, text=True, check=False)
        if done.returncode:
            pytest.skip(f"npm cannot install {', '.join(TOOLS)}: {done.stderr.strip().splitlines()[-1:]}")
    return KEPT


def test_the_typescript_client_is_typed_and_works(
    server: Server, description: Path, node_tools: Path, tmp_path: Path
) -> None:
    (tmp_path / "node_modules").symlink_to(node_tools / "node_modules")
    (tmp_path / "package.json").write_text('{"type": "module"}')
    (tmp_path / "asks.ts").write_text(TYPESCRIPT)
    bin_ = node_tools / "node_modules" / ".bin"
    run(bin_ / "openapi-typescript", description, "-o", "api.ts", folder=tmp_path)
    options = (
        "--strict",
        "--target",
        "es2022",
        "--module",
        "es2022",
        "--moduleResolution",
        "bundler",
        "--skipLibCheck",
    )
    run(bin_ / "tsc", *options, "asks.ts", folder=tmp_path)
    assert run("node", "asks.js", server.base, KEY, folder=tmp_path) == SHOWN
