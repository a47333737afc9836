"""The `spanwise` command: one file a subcommand; parse, call, print."""

from typing import Any

import click

from spanwise._version import __version__
from spanwise.cli.bench import bench
from spanwise.cli.demo import demo
from spanwise.cli.run import run
from spanwise.cli.spans import spans
from spanwise.errors import SpanwiseError


class Commands(click.Group):
    """Prints our own errors as one line instead of a traceback."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except (SpanwiseError, OSError) as error:
            raise click.ClickException(f"{type(error).__name__}: {error}") from error


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__)
def cli() -> None:
    """Makes any online learner choose its own attention span.

    \b
    Example:  spanwise demo
    """


cli.add_command(bench)
cli.add_command(demo)
cli.add_command(run)
cli.add_command(spans)
