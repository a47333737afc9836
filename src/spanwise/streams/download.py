"""The one module that uses the network: Wild-Time's data as the HDF5 files that wild-time-data publishes.

Nothing else in the library calls it. FMoW is not here: its images come with the WILDS package.
"""

from http.client import HTTPException
from pathlib import Path
from shutil import copyfileobj
from urllib.request import urlopen

from spanwise.errors import DataError, UnknownNameError

DRIVE = "https://drive.usercontent.google.com/download?id={}&export=download&confirm=t"
FILES = {
    "arxiv": DRIVE.format("1dlYnA-C_4aHRLcjwNhrz768VkQ7E5Jn6"),
    "huffpost": DRIVE.format("1kcILM6jENF_g2-0c5SkGsdXBGDkPjCHZ"),
    "yearbook": DRIVE.format("16lPT5DS3tz0XWnBuP8C-8zBnK0bwK7eX"),
}
"""Dataset -> where its HDF5 file is; the addresses are those of github.com/wistuba/Wild-Time-Data."""

SIGNATURE = b"\x89HDF\r\n\x1a\n"


def fetch(name: str, folder: str | Path) -> Path:
    """Download `<name>.hdf5` into `folder`, unless it is there; nothing is left if that fails.

    Args:
        name: "arxiv", "huffpost" or "yearbook".
        folder: made where it is missing.
    """
    if name not in FILES:
        raise UnknownNameError(f"{name!r} cannot be downloaded here, only {', '.join(FILES)}; FMoW: wilds.stanford.edu")
    path = Path(folder) / f"{name}.hdf5"
    if path.exists():
        return path
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(".part")
    try:
        _copy(FILES[name], part)
        return part.rename(path)
    except (HTTPException, OSError) as error:
        raise DataError(f"{FILES[name]} could not be downloaded: {error}. Download it by hand as {path}.") from error
    finally:
        part.unlink(missing_ok=True)


def _copy(address: str, path: Path) -> None:
    """Download a file; raises if it is not HDF5, or not whole."""
    with urlopen(address, timeout=60) as answer, path.open("w+b") as file:
        copyfileobj(answer, file)
        if answer.length:  # what is still to come, where the server told how much there is
            raise OSError(f"the answer was cut off {answer.length:,} bytes before its end")
        file.seek(0)
        if file.read(len(SIGNATURE)) != SIGNATURE:
            raise OSError(f"the answer is no HDF5 file but {answer.headers.get_content_type()}")
