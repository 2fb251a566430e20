"""The group of commands: what a refusal and a wrong use answer."""

from typing import Any

import click

from ratecard.doors.cli.check import check
from ratecard.doors.cli.demo_usage import demo_usage
from ratecard.doors.cli.diff import diff
from ratecard.doors.cli.explain import explain
from ratecard.doors.cli.models import models
from ratecard.doors.cli.promote import promote
from ratecard.doors.cli.quote import quote, rate
from ratecard.doors.cli.schema import schema
from ratecard.doors.cli.serve import serve
from ratecard.doors.cli.sheet import sheet
from ratecard.doors.cli.simulate import simulate
from ratecard.doors.cli.whatif import whatif
from ratecard.words.errors import RateCardError
from ratecard.words.suggest import did_you_mean


class _Commands(click.Group):
    """Answers a refusal with its message and exit status 1, a wrong use with status 2 and the nearest command."""

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        if args and self.get_command(ctx, args[0]) is None:
            near = did_you_mean(args[0], self.commands)
            raise click.UsageError(f"No command '{args[0]}'.{near} Commands: {', '.join(sorted(self.commands))}")
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except RateCardError as error:
            click.echo(str(error), err=True)
            ctx.exit(1)


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="ratecard", prog_name="ratecard")
def main() -> None:
    """Exact, explained prices for an AI inference API, from YAML rate tables.

    \b
    ratecard quote --model kling-o3-pro-text-to-video --duration 5s
    ratecard quote '{"model": "ovi-image-to-video"}' --json
    ratecard rate --model grok-4-3 --prompt-tokens 5500 --completion-tokens 300
    ratecard explain kling-o3-pro-text-to-video      where its prices come from
    ratecard sheet kling-o3-pro-text-to-video        every price of a model
    ratecard check pricing_tables                    every fault of a folder
    ratecard diff HEAD~1 pricing_tables              which prices differ
    ratecard serve pricing_tables                    quotes over HTTP
    ratecard simulate usage.parquet --candidate a.yaml   usage at other prices
    ratecard whatif usage.parquet                    a page to try prices on it

    Exit status: 0 done, 1 the answer is an error body or a failed check, 2 wrong use.
    """


for command in (check, demo_usage, diff, explain, models, promote, quote, rate, schema, serve, sheet, simulate, whatif):
    main.add_command(command)
