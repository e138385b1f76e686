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
from dataclasses import dataclass
from pathlib import Path
from tokenize import TokenError

import numpy as np
import numpy.typing as npt

from hexsim import budget
from hexsim.errors import HexsimError
from hexsim.files import require_ordinary
from hexsim.files.zip_faults import ZIP_FAULTS
from hexsim.graph.input_format import PictureSteps
from hexsim.graph.ir import FloatArray
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


@dataclass(frozen=True)
class Preprocessing(PictureSteps):
    """The steps of preprocessing, which no file stores; `mean_file` replaces `mean`."""

    mean_file: Path | None = None

    def __post_init__(self) -> None:
        if self.mean_file is not None and self.mean != (0.0,):
            raise HexsimError("a mean is a number (--mean) or an image (--mean-file); give one")
        if self.resize is not None and self.fit == "stretch":
            raise HexsimError(
                "--resize is for a middle that is cut out, --fit stretch cuts nothing"
            )

    @property
    def steps(self) -> PictureSteps:
        """The steps that a file stores: all but a mean image."""
        return PictureSteps(self.mean, self.std, self.channel_order, self.fit, self.resize)

    def require(self, height: int, width: int, channels: int, owner: str) -> None:
        """Raise HexsimError unless the steps fit pictures of the size of `owner`."""
        for option, values in (("--mean", self.mean), ("--std", self.std)):
            if len(values) not in (1, channels):
                raise HexsimError(
                    f"{option} has {len(values)} values; {owner} has {channels} channels, give one "
                    "value or one for each"
                )
        if self.resize is not None and self.resize < max(height, width):
            raise HexsimError(
                f"--resize {self.resize} leaves too little for {height} x {width} pixels of "
                f"{owner}; give {max(height, width)} or more"
            )

    def means(self, height: int, width: int, channels: int) -> Doubles:
        """Return what is subtracted from each byte: one value, one per channel, or an image.

        Raises HexsimError if the file of an image cannot be read or does not fit.
        """
        if self.mean_file is None:
            return np.array(self.mean)
        image = _array(self.mean_file)
        deep, high, wide = image.shape if image.ndim == 3 else (0, 0, 0)
        if deep != channels or high < height or wide < width:
            raise HexsimError(
                f"mean image '{self.mean_file}' has shape {'x'.join(map(str, image.shape))}; "
                f"expected {channels} x {height} x {width} (channels first) or larger"
            )
        part: Doubles = image[:, :height, :width].astype(np.float64).transpose(1, 2, 0)
        if not np.isfinite(part).all():
            raise HexsimError(
                f"mean image '{self.mean_file}' holds NaN or infinity; write it again"
            )
        return part

    def numbers(self, pixels: npt.NDArray[np.uint8], means: Doubles) -> FloatArray:
        """Convert bytes (height, width, channels), red first, to the network's floats."""
        ordered = pixels[..., ::-1] if self.channel_order == "bgr" else pixels
        floats: FloatArray = ((ordered - means) / np.array(self.std)).astype(np.float32)
        return floats


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
    file: Path, height: int, width: int, channels: int, how: Preprocessing
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
    size: tuple[int, int], height: int, width: int, how: Preprocessing
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
