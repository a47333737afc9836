"""Examples in docstrings are shown as code: Markdown alone would take their `>>>` for quotes within quotes."""

import re
from typing import Any

from markdown import Markdown
from markdown.extensions import Extension
from markdown.preprocessors import Preprocessor

FENCE = re.compile(r"\s*(```|~~~)")


class Doctests(Preprocessor):
    """Puts a fence around each run of lines from `>>>` to the next blank line."""

    def run(self, lines: list[str]) -> list[str]:
        shown: list[str] = []
        fenced = example = False
        for line in lines:
            fenced ^= bool(FENCE.match(line))
            if example and not line.strip():
                shown.append("```")
                example = False
            elif not fenced and not example and line.lstrip().startswith(">>> "):
                shown.append("```pycon")
                example = True
            shown.append(line.lstrip() if example and line.lstrip().startswith((">>>", "...")) else line)
        return [*shown, "```"] if example else shown


class DoctestExtension(Extension):
    def extendMarkdown(self, md: Markdown) -> None:
        md.preprocessors.register(Doctests(md), "doctests", 30)  # before the fences are looked for


def on_config(config: Any, **_: Any) -> Any:
    """The event that mkdocs calls once, before anything is built."""
    config.markdown_extensions.append(DoctestExtension())
    return config
