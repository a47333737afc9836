"""The yearbook portraits as files: `{M,F}/<year>_*.png`, shrunk to 32 x 32.

Wild-Time took the files in the order the disk gave them, which nobody can repeat; here they come by name.
"""

from collections.abc import Hashable, Sequence
from functools import partial
from pathlib import Path

import numpy as np

from spanwise.errors import DataError
from spanwise.streams.wildtime.facts import Dataset
from spanwise.streams.wildtime.period import Period, split_period
from spanwise.streams.wildtime.pictures import decoded

SIDE = 32


def read(path: Path, dataset: Dataset) -> tuple[list[Period], Sequence[Hashable]]:
    """Timestamps and classes; one seed serves all timestamps."""
    if missing := [str(sex) for sex in dataset.classes if not (path / str(sex)).is_dir()]:
        raise DataError(
            f"{path} has no folder {' and no folder '.join(missing)}: it must hold M and F. {dataset.where}"
        )
    files: dict[int, list[tuple[Path, int]]] = {}
    for label, sex in enumerate(dataset.classes):
        for file in sorted((path / str(sex)).iterdir()):
            written = file.name.split("_")[0]
            if written.isdigit() and file.is_file():
                files.setdefault(int(written), []).append((file, label))
    rng = np.random.RandomState(0)  # Wild-Time's own generator
    periods = []
    for year in dataset.timestamps:
        if year in files:
            pictures, labels = zip(*files[year], strict=True)
            reading = partial(decoded, pictures, SIDE)
            periods.append(split_period(year, np.array(labels), reading, text=False, rng=rng))
    return periods, dataset.classes
