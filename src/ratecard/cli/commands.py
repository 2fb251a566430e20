"""The group of all commands, and their exit statuses."""

from importlib import import_module
from keyword import iskeyword
from typing import Any

import click

from ratecard.base.csv_text import is_utf8
from ratecard.base.errors import RateCardError
from ratecard.base.messages import echo
from ratecard.base.suggestions import did_you_mean

# The module of each command. It is loaded when the command is called, so that a quote starts quickly.
_MODULES = {
    "check": "check",
    "compare": "compare",
    "demo-usage": "demo_usage",
    "diff": "diff",
    "explain": "views",
    "import": "import_prices",
    "models": "views",
    "promote": "diff",
    "quote": "quote",
    "rate": "quote",
    "rollup": "simulate",
    "schema": "views",
    "serve": "serve",
    "sheet": "views",
    "simulate": "simulate",
    "statement": "statement",
    "whatif": "whatif",
}


# The exit status of a command that Ctrl-C ends.
_INTERRUPTED = 130
# The commands whose words an engine reads.
_OF_ENGINE = frozenset(("compare", "demo-usage", "rollup", "simulate", "statement", "whatif"))


class Commands(click.Group):
    """A group that refuses options of its commands that take one value and are given twice, and empty values."""

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        """Return the name of a command, the command, and its words."""
        name, command, rest = super().resolve_command(ctx, args)
        if command is not None:
            _refuse_unclear(command, rest, ctx)
        return name, command, rest


class _AllCommands(Commands):
    """A group that exits with 1 and the message of an error of `ratecard` or of a file, with 2 for unknown commands."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_MODULES)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _MODULES:
            return None
        module = import_module(f"ratecard.cli.{_MODULES[cmd_name]}")
        name = cmd_name.replace("-", "_")
        command: click.Command = getattr(module, f"{name}_" if iskeyword(name) else name)
        return command

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        if args and args[0] not in _MODULES:
            near = did_you_mean(args[0], _MODULES)
            raise click.UsageError(f"No command '{args[0]}'.{near} Commands: {', '.join(_MODULES)}")
        name, command, rest = super().resolve_command(ctx, args)
        if args and args[0] in _OF_ENGINE:
            _refuse_undecoded(rest)
        return name, command, rest

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except RateCardError as error:
            click.echo(str(error), err=True)
            ctx.exit(1)
        except KeyboardInterrupt as stop:
            click.echo(f"Interrupted; {stop}" if str(stop) else "Interrupted", err=True)
            ctx.exit(_INTERRUPTED)
        except BrokenPipeError:
            raise  # The reader has closed the pipe, and `click` ends the command.
        except OSError as error:
            click.echo(f"{error.filename}: {error.strerror}" if error.filename else str(error), err=True)
            ctx.exit(1)


def _refuse_undecoded(words: list[str]) -> None:
    """Refuse a word in another encoding than UTF-8."""
    for word in words:
        if not is_utf8(word):
            raise click.UsageError(f"{echo(word)}: this word is not in UTF-8, and the engine reads no other encoding")


def _refuse_unclear(command: click.Command, words: list[str], parent: click.Context) -> None:
    """Refuse an option that takes one value and is given twice, as the last would win in silence, and an empty value.

    An empty value is mostly a variable of a shell that is not set, and would count as no option.
    """
    context = click.Context(command, parent=parent, info_name=command.name)
    try:
        values, _, order = command.make_parser(context).parse_args(args=list(words))
    except click.UsageError:
        return  # The command reports this error itself when it reads the words.
    for option in order:
        if not isinstance(option, click.Option) or option.is_flag:
            continue
        if not option.multiple and order.count(option) > 1:
            raise click.UsageError(
                f"{option.opts[0]} is given {order.count(option)} times, and takes one value.", context
            )
        given = values[str(option.name)]
        if "" in (given if option.multiple else [given]) and not _may_be_empty(command, option):
            raise click.BadParameter("It is empty. Give a value, or leave the option out", context, option)


def _may_be_empty(command: click.Command, option: click.Option) -> bool:
    """Return True for keys, as there may be none, and for settings of a server that are text, such as its base path."""
    return option.name == "by" or (command.name == "serve" and option.type is click.STRING)


@click.group(cls=_AllCommands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="ratecard", prog_name="ratecard")
def main() -> None:
    """Exact, explained prices for an AI inference API, from YAML rate tables.

    \b
    ratecard quote --model kling-o3-pro-text-to-video --duration 5s
    ratecard quote '{"model": "ovi-image-to-video"}' --json
    ratecard rate --model grok-4-3 --prompt-tokens 5500 --completion-tokens 300
    ratecard explain kling-o3-pro-text-to-video      where its prices come from
    ratecard sheet kling-o3 --format html            a page of prices
    ratecard check pricing_tables                    every fault of a folder
    ratecard diff HEAD~1 pricing_tables              which prices differ
    ratecard compare ours theirs --map models.yaml   our prices beside others'
    ratecard import genai-prices --out market        another price list
    ratecard serve pricing_tables                    quotes over HTTP
    ratecard simulate usage.parquet --candidate a.yaml   usage at other prices
    ratecard rollup usage.parquet --out kept         the groups of usage
    ratecard whatif usage.parquet                    a page to try prices
    ratecard statement usage.csv --account a --month 2026-10   a bill

    Exit status: 0 done, 1 the answer is an error body or a failed check, 2 wrong use, 130 interrupted.
    """
