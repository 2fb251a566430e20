"""Every setting of `ratecard serve`: its name, allowed values, default, effect, and where it is read from.

A setting `header_bytes` is the option `--header-bytes`, `RATECARD_HEADER_BYTES` in the environment, and the key
`header-bytes` of a settings file (TOML). An option overrides the environment, which overrides the file.
"""

import re
import tomllib
from collections.abc import Iterable, Mapping
from ipaddress import ip_network
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    ValidationInfo,
    field_validator,
)

from ratecard.accounts.limits import BASE_PATH
from ratecard.base.errors import RateCardError
from ratecard.base.suggestions import did_you_mean
from ratecard.ledger.clock import AHEAD, MOST_AHEAD
from ratecard.requests.body import MOST_BODY_BYTES


class SettingError(RateCardError):
    """A setting that is unknown or has an invalid value; the message says where it is set."""


PREFIX = "RATECARD_"
# The setting that names the settings file, and the only one that the file cannot hold.
CONFIG = "config"


def _items(given: Any) -> Any:
    """Split text at commas and white space into a list; return any other value unchanged."""
    return [item for item in re.split(r"[,\s]+", given) if item] if isinstance(given, str) else given


def _base_path(given: str) -> str:
    if given and (not given.startswith("/") or given.endswith("/") or "{" in given):
        raise ValueError(f"'{given}' must begin with / and not end with one")
    return given


def _origin(given: str) -> str:
    if given != "*" and not re.fullmatch(r"https?://[^/\s?#]+", given):
        raise ValueError(f"'{given}' is not an origin. Write one like https://shop.example, or * for all")
    return given


def _proxy(given: str) -> str:
    try:
        return given if given == "*" else str(ip_network(given)) and given
    except ValueError:
        raise ValueError(f"'{given}' is not an address. Write one like 10.0.0.1 or 10.0.0.0/8, or * for all") from None


_Count = Annotated[int, Field(ge=1)]
_Counted = Annotated[int, Field(ge=1, le=86_400)]
_Path = Annotated[str, AfterValidator(_base_path)]
_Origins = Annotated[tuple[Annotated[str, AfterValidator(_origin)], ...], BeforeValidator(_items)]
_Proxies = Annotated[tuple[Annotated[str, AfterValidator(_proxy)], ...], BeforeValidator(_items)]
# Other users of a machine can read options, and files are often not secret, so only the environment holds these.
_SECRET: dict[str, Any] = {"secret": True}


class Settings(BaseModel):
    """The settings of one server, the same in all of its processes."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    tables: Path | None = Field(None, description="Folder of rate tables: the argument FOLDER")
    host: str = Field("127.0.0.1", min_length=1, description="Address to listen on")
    port: int = Field(8000, ge=0, le=65535, description="Port; 0: any free one")
    unix_socket: Path | None = Field(None, description="Listen on this socket, and on no address")
    workers: _Count = Field(1, description="Processes that answer")
    base_path: _Path = Field(BASE_PATH, description="What every path begins with")
    root_path: _Path = Field("", description="What a proxy takes off every path before it passes it on")
    forwarded_allow: _Proxies = Field(
        ("127.0.0.1", "::1"), description="Proxy whose X-Forwarded-For and -Proto are believed; * for all"
    )
    tls_certificate: Path | None = Field(None, description="Certificate chain (PEM): answer over TLS")
    tls_key: Path | None = Field(None, description="Private key of the certificate (PEM), if it is another file")
    api_keys: str | None = Field(None, repr=False, json_schema_extra=_SECRET, description="KEY or ACCOUNT:KEY, several")
    keys_file: Path | None = Field(None, description="File of keys, read again when it changes")
    no_auth: bool = Field(False, description="Answer everybody, on a public address too")
    cors_origin: _Origins = Field(
        (), description="Web origin whose pages may ask, like https://shop.example; * for all"
    )
    database: str | None = Field(
        None, min_length=1, repr=False, description="Ledger for the usage history, like sqlite:///ledger.db"
    )
    pool_size: _Counted = Field(10, description="Connections of a worker to the database")
    connect_timeout: _Counted = Field(10, description="Seconds to connect to PostgreSQL")
    wait_timeout: _Counted = Field(30, description="Seconds to wait for other writers of an account")
    statement_timeout: _Counted = Field(60, description="Seconds for PostgreSQL to answer")
    charge_ahead: int = Field(
        AHEAD, ge=0, le=MOST_AHEAD, description="Seconds that a new charge or refund may be ahead of the clock"
    )
    charge_keys: Path | None = Field(None, description="File of ACCOUNT:KEY: keys that may book charges")
    cursor_secret: str | None = Field(
        None, min_length=16, repr=False, json_schema_extra=_SECRET, description="Signs the cursors of the usage history"
    )
    allow_edits: bool = Field(False, description="Take changed tables that edit what was in effect, without a word")
    state: Path | None = Field(
        None, description="Folder that keeps the tables that were served last, for restarts and replicas"
    )
    digest: str | None = Field(None, pattern=r"^[0-9a-f]{16}$", description="Serve only the tables of this digest")
    drain: int = Field(5, ge=0, le=3600, description="Seconds of answering on after SIGTERM, while not ready")
    grace: int = Field(10, ge=1, le=3600, description="Seconds until open requests are broken off at the end")
    keep_alive: int = Field(75, ge=1, le=3600, description="Seconds that a connection may wait for its next request")
    connections: _Count = Field(1000, description="Connections of one worker; more are answered with 503")
    address_connections: int = Field(
        0, ge=0, description="Those of one address, which is not a --forwarded-allow proxy; 0: any number"
    )
    header_bytes: int = Field(65_536, ge=1024, le=2**20, description="Most bytes of a request's line and headers")
    header_seconds: int = Field(10, ge=1, le=3600, description="Seconds in which they must arrive")
    body_bytes: int = Field(MOST_BODY_BYTES, ge=1024, le=2**30, description="Most bytes of a body, also decoded")
    body_seconds: int = Field(60, ge=1, le=3600, description="Seconds in which it must arrive")
    write_seconds: int = Field(60, ge=1, le=3600, description="Seconds in which a client must take its answer")
    log_format: Literal["text", "json"] = Field("text", description="A line of text or an object for each event")
    access_log: bool = Field(False, description="Log each request too")

    @field_validator("*", mode="before")
    @classmethod
    def _fits(cls, given: Any, info: ValidationInfo) -> Any:
        """Refuse true as a number, which would be 1, and an empty path, which would be the working directory."""
        annotation = cls.model_fields[str(info.field_name)].annotation
        if isinstance(given, bool) and annotation is int:
            raise ValueError(f"Input should be a valid integer, not {str(given).lower()}")
        if given == "" and annotation == Path | None:
            raise ValueError("is empty. Write a path, or leave the setting out")
        return given


def is_secret(name: str) -> bool:
    """Return True if a setting is read from the environment only."""
    return Settings.model_fields[name].json_schema_extra == _SECRET


def option(name: str) -> str:
    """Return the option of a setting: `--header-bytes`."""
    return f"--{key(name)}"


def variable(name: str) -> str:
    """Return the environment variable of a setting: `RATECARD_HEADER_BYTES`."""
    return f"{PREFIX}{name.upper()}"


def key(name: str) -> str:
    """Return the key of a setting in a file: `header-bytes`."""
    return name.replace("_", "-")


def read_settings(
    options: Mapping[str, Any], environment: Mapping[str, str], defaults: Mapping[str, Any] | None = None
) -> Settings:
    """Read every setting: from `options` by name, else the environment, else the settings file, else `defaults`.

    Raises `SettingError` for an unknown setting, an invalid value, and a file that cannot be read.

    >>> read_settings({"drain": 10}, {"RATECARD_PORT": "80", "RATECARD_DRAIN": "7"}).drain
    10
    >>> read_settings({}, {"RATECARD_DRIAN": "7"})
    Traceback (most recent call last):
    ratecard.processes.settings.SettingError: RATECARD_DRIAN is not a setting. Did you mean 'RATECARD_DRAIN'?
    """
    file = options.get(CONFIG, environment.get(variable(CONFIG)))
    if file == "":
        raise SettingError(f"{variable(CONFIG)} is empty. Write the path of a settings file, or leave it out")
    names = {variable(name): name for name in Settings.model_fields}
    entries = {name: environment[name] for name in environment if name.startswith(PREFIX) and name != variable(CONFIG)}
    sources = [
        ({name: value for name, value in options.items() if name != CONFIG}, option),
        ({_known(name, names): value for name, value in entries.items()}, variable),
        (_in_file(Path(file)) if file else {}, lambda name: f"{file}: {key(name)}"),
        (defaults or {}, option),
    ]
    settings: dict[str, Any] = {}
    place_of: dict[str, str] = {}
    for values, place in reversed(sources):
        settings.update(values)
        place_of.update({name: place(name) for name in values})
    try:
        return Settings.model_validate(settings)
    except ValidationError as error:
        raise SettingError("; ".join(_faults(error, place_of))) from None


def _known(name: str, names: Mapping[str, str], place: str = "") -> str:
    if name not in names:
        # Kubernetes sets such variables for a Service called ratecard.
        hint = " Kubernetes sets it for a Service: say enableServiceLinks: false" if "_SERVICE_" in name else ""
        raise SettingError(f"{place}{name} is not a setting.{did_you_mean(name, names)}{hint}")
    return names[name]


def _in_file(path: Path) -> dict[str, Any]:
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise SettingError(f"{path} cannot be read: {error.strerror}") from None
    except ValueError as error:  # not TOML, or not UTF-8
        raise SettingError(f"{path} is not TOML: {error}") from None
    names = {key(name): name for name in Settings.model_fields if not is_secret(name)}
    for entry in content:
        if entry in map(key, Settings.model_fields) and entry not in names:
            raise SettingError(f"{path}: {entry} is secret: set {variable(entry.replace('-', '_'))} instead")
    return {_known(entry, names, f"{path}: "): value for entry, value in content.items()}


def _faults(error: ValidationError, where: Mapping[str, str]) -> Iterable[str]:
    for problem in error.errors(include_url=False):
        name = str(problem["loc"][0])
        shown_value = "" if is_secret(name) or not isinstance(problem["input"], (str, int)) else f"={problem['input']}"
        yield f"{where[name]}{shown_value}: {problem['msg'].removeprefix('Value error, ')}"
