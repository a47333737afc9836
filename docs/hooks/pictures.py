"""The pages show the pictures that commands have written into `results/`, as they are there.

A page says `![...](../results/figures/huffpost.png)`, so that the picture shows wherever the page is read.
"""

from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parent.parent.parent


def on_files(files: Files, *, config: Any) -> Files:
    """The event that mkdocs calls with the files that make the site."""
    for picture in sorted((ROOT / "results").rglob("*.png")):
        files.append(File.generated(config, picture.relative_to(ROOT).as_posix(), abs_src_path=str(picture)))
    return files


def on_page_markdown(markdown: str, **_: Any) -> str:
    """The event that mkdocs calls with the source of each page: in the site, `results/` lies beside the pages."""
    return markdown.replace("](../results/", "](results/")
