"""The pages must read the same without a network: whatever a browser would fetch from elsewhere is a warning.

With `--strict` a warning fails the build. Ordinary links are fine: nobody follows them but the reader.
"""

import logging
import re
from typing import Any

REMOTE = re.compile(
    r"""<(?:script|link|img|iframe|source|video|audio)\b[^>]*?\s(?:src|href)=["']?(?:https?:)?//[^>]*>"""
)

log = logging.getLogger("mkdocs.hooks.offline")


def on_post_page(output: str, *, page: Any, **_: Any) -> str:
    """The event that mkdocs calls with each page as it will be written."""
    for tag in REMOTE.findall(output):
        log.warning("%s would fetch something from the network: %s", page.file.src_uri, tag)
    return output
