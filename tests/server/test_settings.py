"""The settings of `ratecard serve`: one list, three sources, and nothing that is not on the list."""

from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from ratecard.cli import main
from ratecard.ledger.clock import MOST_AHEAD
from ratecard.processes.settings import SettingError, Settings, is_secret, option, read_settings, variable

PAGE = Path(__file__).parent.parent.parent / "docs" / "operation.md"


def file_of(folder: Path, text: str) -> dict[str, str]:
    path = folder / "settings.toml"
    path.write_text(text)
    return {"config": str(path)}


def test_an_option_comes_before_the_environment_and_that_before_the_file(tmp_path: Path) -> None:
    file = file_of(tmp_path, "port = 1\ndrain = 1\ngrace = 1")
    found = read_settings(file | {"port": 3}, {"RATECARD_PORT": "2", "RATECARD_DRAIN": "2"}, {"workers": 4, "grace": 9})
    assert (found.port, found.drain, found.grace, found.workers, found.keep_alive) == (3, 2, 1, 4, 75)


def test_the_environment_may_name_the_file(tmp_path: Path) -> None:
    file = file_of(tmp_path, 'cors-origin = ["https://a.example", "*"]\nno-auth = true')["config"]
    found = read_settings({}, {"RATECARD_CONFIG": file})
    assert (found.cors_origin, found.no_auth) == (("https://a.example", "*"), True)


def test_text_is_read_as_what_the_setting_is() -> None:
    given = {"CORS_ORIGIN": "https://a.example, http://b:80", "ACCESS_LOG": "yes", "BASE_PATH": "", "TABLES": "x"}
    found = read_settings({}, {variable(name): value for name, value in given.items()})
    assert found.cors_origin == ("https://a.example", "http://b:80")
    assert (found.access_log, found.base_path, found.tables) == (True, "", Path("x"))


@pytest.mark.parametrize(
    ("name", "given", "words"),
    [
        ("DRIAN", "1", "RATECARD_DRIAN is not a setting. Did you mean 'RATECARD_DRAIN'?"),
        ("SERVICE_HOST", "10.0.0.1", "enableServiceLinks: false"),
        ("PORT", "tcp://10.0.0.1:80", "RATECARD_PORT=tcp://10.0.0.1:80: Input should be a valid integer"),
        ("PORT", "65536", "RATECARD_PORT=65536: Input should be less than or equal to 65535"),
        ("DRAIN", "", "RATECARD_DRAIN=: Input should be a valid integer"),
        ("STATE", "", "RATECARD_STATE=: is empty. Write a path, or leave the setting out"),
        ("CONFIG", "", "RATECARD_CONFIG is empty. Write the path of a settings file"),
        ("ACCESS_LOG", "maybe", "RATECARD_ACCESS_LOG=maybe: Input should be a valid boolean"),
        ("LOG_FORMAT", "xml", "RATECARD_LOG_FORMAT=xml: Input should be 'text' or 'json'"),
        ("BASE_PATH", "api", "RATECARD_BASE_PATH=api: 'api' must begin with / and not end with one"),
        ("CORS_ORIGIN", "https://a.example/", "'https://a.example/' is not an origin. Write one like"),
        ("FORWARDED_ALLOW", "proxy", "'proxy' is not an address. Write one like 10.0.0.1"),
        ("CURSOR_SECRET", "short", "RATECARD_CURSOR_SECRET: String should have at least 16 characters"),
    ],
)
def test_what_is_not_understood_is_refused(name: str, given: str, words: str) -> None:
    with pytest.raises(SettingError) as refused:
        read_settings({}, {f"RATECARD_{name}": given})
    assert words in str(refused.value)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("header_bytes = 2000", "settings.toml: header_bytes is not a setting. Did you mean 'header-bytes'"),
        ("config = 'x'", "config is not a setting"),
        ("api-keys = 'x'", "api-keys is secret: set RATECARD_API_KEYS instead"),
        ("port = 'x'", "settings.toml: port=x: Input should be a valid integer"),
        ("workers = true", "settings.toml: workers=True: Input should be a valid integer, not true"),
        ("port = ", "is not TOML"),
    ],
)
def test_a_file_that_is_not_understood_is_refused(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(SettingError) as refused:
        read_settings(file_of(tmp_path, text), {})
    assert words in str(refused.value)


def test_an_address_beside_a_socket_is_refused() -> None:
    done = CliRunner().invoke(main, ["serve", "--unix-socket", "no-such/socket", "--port", "9000"])
    said = "--unix-socket listens on no address, and nothing uses --port"
    assert (done.exit_code, said in done.output) == (2, True), done.output


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingError, match="cannot be read: No such file"):
        read_settings({"config": tmp_path / "none.toml"}, {})


COUNTED, SECONDS = (1, 86_400), (1, 3600)
# The least and the most of each number; None: any.
BOUNDS = {
    **dict.fromkeys(("pool_size", "connect_timeout", "wait_timeout", "statement_timeout"), COUNTED),
    **dict.fromkeys(("grace", "keep_alive", "header_seconds", "body_seconds", "write_seconds"), SECONDS),
    **dict.fromkeys(("workers", "connections"), (1, None)),
    "port": (0, 65535),
    "charge_ahead": (0, MOST_AHEAD),
    "drain": (0, 3600),
    "address_connections": (0, None),
    "header_bytes": (1024, 2**20),
    "body_bytes": (1024, 2**30),
}


def test_each_number_has_its_bounds() -> None:
    assert {name for name, field in Settings.model_fields.items() if type(field.default) is int} == BOUNDS.keys()
    for name, (least, most) in BOUNDS.items():
        for bound, beyond in ((least, least - 1), *([] if most is None else [(most, most + 1)])):
            assert getattr(read_settings({name: bound}, {}), name) == bound
            with pytest.raises(SettingError, match=option(name)):
                read_settings({name: beyond}, {})


def test_a_proxy_is_kept_as_it_was_written() -> None:
    assert read_settings({"forwarded_allow": "10.0.0.1,10.0.0.0/8"}, {}).forwarded_allow == ("10.0.0.1", "10.0.0.0/8")


def test_no_message_and_no_representation_shows_a_secret() -> None:
    given = {"RATECARD_API_KEYS": "sesame", "RATECARD_CURSOR_SECRET": "s" * 16, "RATECARD_DATABASE": "sqlite:///pw"}
    shown = repr(read_settings({}, given))
    assert not [value for value in given.values() if value in shown]


def test_the_command_has_an_option_for_every_setting_that_is_not_secret() -> None:
    said = CliRunner().invoke(main, ["serve", "--help"]).output
    for name in Settings.model_fields:
        assert (f"  {option(name)} " in said) == (not is_secret(name) and name != "tables"), name


def test_the_page_has_the_list() -> None:
    rows = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if "| `RATECARD_" in line]
    assert rows == [row(name) for name in Settings.model_fields]


def row(name: str) -> str:
    """The line of a setting on the page."""
    field = Settings.model_fields[name]
    default: Any = field.default
    shown = "" if default is None else str(default)
    if isinstance(default, (tuple, bool)):
        shown = ", ".join(default) if isinstance(default, tuple) else shown.lower()
    given = "" if is_secret(name) else "`FOLDER`" if name == "tables" else f"`{option(name)}`"
    return f"| {given} | `{variable(name)}` | {shown} | {field.description} |"
