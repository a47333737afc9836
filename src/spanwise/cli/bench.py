"""`spanwise bench`: the paper's tables and figures, measured."""

from importlib import import_module

import click

from spanwise.bench.stop import stoppable


@click.command(
    add_help_option=False,
    context_settings={"ignore_unknown_options": True},
    help="""The paper's tables and figures, measured: table1, wins, voting, resolutions, figures, controls, regret.
    And what we recommend: suite, ablation.

    \b
    Example:  spanwise bench table1 --streams digits --learners ft si --seeds 2 --out results
    """,
)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def bench(arguments: tuple[str, ...]) -> None:
    with stoppable():
        command = import_module("spanwise.bench.__main__")  # not at the top, as torch is optional and slow to load
        command.main(arguments)
