"""Formulas become MathML while the pages are built, so that a reader needs neither a network nor a script.

`pymdownx.arithmatex` finds the formulas, in pages and in docstrings alike, and marks them; here each mark is
replaced by what a browser can draw by itself.
"""

import html
import re
from typing import Any

from latex2mathml.converter import convert

MARKED = re.compile(r'<(span|div) class="arithmatex">\\[(\[](.*?)\\[)\]]</\1>', re.DOTALL)


def on_page_content(content: str, **_: Any) -> str:
    """The event that mkdocs calls with the HTML of each page."""
    return MARKED.sub(_as_mathml, content)


def _as_mathml(mark: re.Match[str]) -> str:
    tag, latex = mark.groups()
    return convert(html.unescape(latex), display="block" if tag == "div" else "inline")
