"""`spanwise spans`: draw the pool."""

import click

from spanwise import catalog
from spanwise.core.spans import Cover, LiteralMRI, Span
from spanwise.schemes.covers import OneResolution


@click.command()
@click.option("--rounds", default=32, show_default=True, type=click.IntRange(1, 512), help="Rounds to draw.")
@click.option("--cover", default="mri", show_default=True, type=click.Choice(list(catalog.COVERS)), help="Which pool.")
@click.option("--length", default=8, show_default=True, help="Length of a span, for one-resolution.")
def spans(rounds: int, cover: str, length: int) -> None:
    """Draw which instances are alive when: a line a start, a column a round.

    \b
    Example:  spanwise spans --rounds 32
    """
    click.echo(picture(make_cover(cover, rounds, length), rounds), nl=False)


def make_cover(name: str, rounds: int, length: int) -> Cover:
    """The cover of that name, with what it needs to know."""
    if name == "mri-literal":
        return LiteralMRI(rounds)
    if name == "one-resolution":
        return OneResolution(length)
    made: Cover = catalog.find(catalog.COVERS, name)()
    return made


def picture(cover: Cover, rounds: int) -> str:
    """Starts downwards, rounds across; below, how many instances are alive."""
    alive = {t: cover.active(t) for t in range(1, rounds + 1)}
    starts = sorted({span.start for active in alive.values() for span in active})
    lines = [f"start {start:>3}  {_bar(start, alive)}" for start in starts]
    for label, place in (("instances", 10), ("", 1)):
        counts = "".join(_digit(len(active), place) for active in alive.values())
        lines.append(f"{label:>9}  {counts}".rstrip())
    sizes = [len(active) for active in alive.values()]
    lines.append(f"most alive: {max(sizes)}, on average {sum(sizes) / len(sizes):.1f}")
    return "\n".join(lines) + "\n"


def _bar(start: int, alive: dict[int, list[Span]]) -> str:
    return "".join("█" if any(span.start == start for span in active) else "·" for active in alive.values())


def _digit(count: int, place: int) -> str:
    return str(count // place % 10) if count >= place else " "
