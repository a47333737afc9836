"""The pages show the pictures that commands have written into `results/`, as they are there.

`results/figures/huffpost.png` is shown with `![...](results/figures/huffpost.png)`.
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
