"""Photos as networks take them."""

import csv
from pathlib import Path

import numpy as np
from PIL import Image


def photo(path: Path, size: int, crop: float = 1.0) -> np.ndarray:
    """The central part `crop` of a photo, resized bilinearly: u8 of shape (size, size, 3)."""
    image = Image.open(path).convert("RGB")
    width, height = (round(crop * side) for side in image.size)
    left, top = (image.width - width) // 2, (image.height - height) // 2
    part = image.crop((left, top, left + width, top + height))
    return np.asarray(part.resize((size, size), Image.Resampling.BILINEAR))


def rows(table: Path) -> list[list[str]]:
    """The lines of a folder's labels.csv behind its heading."""
    with table.open(newline="", encoding="utf-8") as file:
        return list(csv.reader(file))[1:]
