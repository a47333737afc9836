"""Image files into arrays."""

from collections.abc import Sequence
from io import BytesIO
from pathlib import Path

import numpy as np

from spanwise.errors import DataError, MissingExtraError
from spanwise.learner import Array

try:
    from PIL import Image, UnidentifiedImageError
except ImportError as error:
    raise MissingExtraError("Pillow", "vision") from error


def decoded(pictures: Sequence[Path | bytes], side: int | None, positions: Array) -> Array:
    """The pictures at `positions` as uint8 (n, height, width, 3).

    Args:
        pictures: files, or what is in them.
        side: height and width to shrink them to, by Wild-Time's filter; None leaves them as they are.
        positions: which.
    """
    return np.stack([_pixels(pictures[i], side) for i in positions])


def _pixels(picture: Path | bytes, side: int | None) -> Array:
    try:
        with Image.open(BytesIO(picture) if isinstance(picture, bytes) else picture) as opened:
            image = opened if side is None else opened.resize((side, side), Image.Resampling.LANCZOS)
            return np.asarray(image.convert("RGB"))
    except (UnidentifiedImageError, OSError) as error:
        name = "an image" if isinstance(picture, bytes) else f"image {picture}"
        raise DataError(f"{name} cannot be read: {error}. Get the images again.") from error
