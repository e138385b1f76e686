"""Preprocess a picture: rotate, crop, resize, order channels, subtract the mean and scale.

1. The picture is rotated as its EXIF data say and converted to RGB, or grey for one channel.
2. It is cropped to the proportions of the input, in its middle (`fit` "crop"), or not ("stretch").
   With `resize` its shorter side gets that many pixels before it is cropped.
3. It is resized bilinearly, with antialiasing where it shrinks.
4. Channels are put in `channel_order`, then value = (byte - mean) / std, per channel or for all.
   A mean may be an image: an .npy file of channels x height x width in that order, whose upper left
   part is used, as in the scripts for AlexNet (documented).

Left out: means that depend on the picture, and other filters than the bilinear one.
"""

import warnings
from pathlib import Path
from tokenize import TokenError

import numpy as np
import numpy.typing as npt

from hexsim import budget
from hexsim.errors import HexsimError, spelled
from hexsim.files.places import require_ordinary
from hexsim.files.zip_faults import ZIP_FAULTS
from hexsim.graph.ir import FloatArray
from hexsim.graph.network_ends import MeanImage, PictureSteps
from hexsim.texts.extras import missing

Doubles = npt.NDArray[np.float64]

SUFFIXES = frozenset(
    {".bmp", ".gif", ".jpeg", ".jpg", ".pgm", ".png", ".ppm", ".tif", ".tiff", ".webp"}
)
"""Files with these endings, in upper or lower case, are pictures; others are ignored."""

_UNREADABLE: tuple[type[Exception], ...] = (
    OSError,  # the file cannot be read
    *(ValueError, EOFError),  # it is not of this format, cut, or of pickled objects
    *(SyntaxError, TokenError, RecursionError, MemoryError),  # its header is no literal of Python
    *(TypeError, LookupError, OverflowError),  # a type or shape in its header is not possible
    *ZIP_FAULTS,  # it begins as an archive (.npz)
)
"""The exceptions of `numpy.load` for files that are no arrays of numbers."""

_FORMATS = ("BMP", "GIF", "JPEG", "PNG", "PPM", "TIFF", "WEBP")
"""Allowed formats, whatever the ending: for others Pillow may start programs (Ghostscript)."""


def require_steps(how: PictureSteps, height: int, width: int, channels: int, owner: str) -> None:
    """Raise HexsimError unless the steps fit pictures of the size of `owner`."""
    for name, values in (("mean", how.mean), ("std", how.std)):
        if len(values) not in (1, channels):
            raise HexsimError(
                f"{spelled(name)} has {len(values)} values; {owner} has {channels} channels, give "
                "one "
                "value or one for each"
            )
    if how.resize is not None and how.resize < max(height, width):
        raise HexsimError(
            f"{spelled('resize', how.resize)} leaves too little for {height} x {width} pixels "
            f"of {owner}; give {max(height, width)} or more"
        )
    deep, high, wide = (channels, height, width) if how.mean_image is None else how.mean_image.shape
    if deep != channels or high < height or wide < width:
        raise HexsimError(
            f"the mean image has shape {deep}x{high}x{wide}; expected {channels} x {height} x "
            f"{width} (channels first) or larger for {owner}"
        )


def means(how: PictureSteps, height: int, width: int) -> Doubles:
    """Return what is subtracted from each byte: one value, one per channel, or an image."""
    if how.mean_image is None:
        return np.array(how.mean)
    return how.mean_image.values()[:, :height, :width].transpose(1, 2, 0)


def numbers(how: PictureSteps, pixels: npt.NDArray[np.uint8], means: Doubles) -> FloatArray:
    """Convert bytes (height, width, channels), red first, to the network's floats."""
    ordered = pixels[..., ::-1] if how.channel_order == "bgr" else pixels
    floats: FloatArray = ((ordered - means) / np.array(how.std)).astype(np.float32)
    return floats


def mean_image(path: Path) -> MeanImage:
    """Return the image in an .npy file of channels x height x width numbers.

    Raises HexsimError if it cannot be read, is no such file, or too large for a .dlc file.
    """
    array = _array(path)
    if array.ndim != 3 or not array.size:
        raise HexsimError(
            f"mean image '{path}' has shape {'x'.join(map(str, array.shape)) or 'of one number'}; "
            "expected channels x height x width"
        )
    budget.require(budget.MEAN_IMAGE, array.size, f"mean image '{path}'")
    image = MeanImage.of(array)
    if image.fault():
        raise HexsimError(f"mean image '{path}' holds NaN or infinity; write it again")
    return image


def picture_files(folder: Path) -> list[Path]:
    """Return the pictures in `folder`, in the order of their names.

    Raises HexsimError if Pillow is missing, or the folder cannot be read or holds none.
    """
    _require_pillow()
    try:
        files = sorted(p for p in folder.iterdir() if p.suffix.lower() in SUFFIXES)
    except OSError as error:
        raise HexsimError(f"cannot read folder '{folder}': {error.strerror}") from None
    for file in files:
        require_ordinary(file)
    if not files:
        raise HexsimError(
            f"folder '{folder}' holds no picture; known endings: {', '.join(sorted(SUFFIXES))}"
        )
    return files


def pixels_of(
    file: Path, height: int, width: int, channels: int, how: PictureSteps
) -> npt.NDArray[np.uint8]:
    """Return the bytes of the picture, (height, width, channels), red first.

    Raises HexsimError if it cannot be read.
    """
    from PIL import Image, ImageOps, UnidentifiedImageError

    if not file.is_file():
        raise HexsimError(f"cannot read picture '{file}': it is a folder, a pipe or a device")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)  # the budget decides
            opened = Image.open(file, formats=_FORMATS)
        with opened:
            budget.require(budget.PICTURE, opened.width * opened.height, f"picture '{file}'")
            image = ImageOps.exif_transpose(opened).convert("L" if channels == 1 else "RGB")
    except HexsimError:
        raise
    except Exception as error:  # each decoder raises its own types
        reason = str(error).strip().split("\n")[0]
        if isinstance(error, UnidentifiedImageError) or not reason:
            reason = f"it is none of {', '.join(_FORMATS)}, or damaged"
        raise HexsimError(f"cannot read picture '{file}': {reason}") from None
    part = crop_box(image.size, height, width, how)
    resized = image.resize((width, height), Image.Resampling.BILINEAR, part)
    return np.asarray(resized, np.uint8).reshape(height, width, channels)


def crop_box(
    size: tuple[int, int], height: int, width: int, how: PictureSteps
) -> tuple[float, float, float, float]:
    """Return left, top, right and bottom of the crop of a picture of `size` (w, h).

    The crop is the largest one with the proportions height x width in the middle, or the one of
    this size after the shorter side of the picture is resized to `how.resize` pixels.
    """
    wide, high = size
    if how.fit == "stretch":
        return 0, 0, wide, high
    largest = min(wide / width, high / height)
    scale = largest if how.resize is None else min(wide, high) / how.resize
    across, down = min(scale * width, wide), min(scale * height, high)
    left, top = (wide - across) / 2, (high - down) / 2
    return left, top, min(left + across, wide), min(top + down, high)


def _require_pillow() -> None:
    try:
        import PIL.Image  # noqa: F401
    except ImportError:
        raise missing("pictures need Pillow, which is not installed", "images") from None


def _array(path: Path) -> npt.NDArray[np.generic]:
    """Return the numbers of an .npy file as a memory map."""
    require_ordinary(path)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # headers of Python 2 are valid too
            array = np.load(path, mmap_mode="r", allow_pickle=False)
    except _UNREADABLE as error:
        reason = (isinstance(error, OSError) and error.strerror) or "it is no .npy file of numbers"
        raise HexsimError(f"cannot read mean image '{path}': {reason}") from None
    if not isinstance(array, np.ndarray) or array.dtype.kind not in "fiu":
        raise HexsimError(f"cannot read mean image '{path}': it is no .npy file of numbers")
    return array
