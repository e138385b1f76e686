"""`hexsim.pictures`: a folder of pictures as inputs of networks."""

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import numpy as np

from hexsim.errors import HexsimError, keywords_checked, warn_caller
from hexsim.graph.network_ends import PictureSteps
from hexsim.inputs.input_sets import Pictures


@keywords_checked
def pictures(
    folder: str | Path,
    *,
    mean: float | Sequence[float] | None = None,
    std: float | Sequence[float] | None = None,
    size: int | None = None,
    channel_order: Literal["rgb", "bgr"] | None = None,
    fit: Literal["crop", "stretch"] | None = None,
    mean_file: str | Path | None = None,
) -> Pictures:
    """Return the pictures in `folder` as inputs for the functions that take some.

    A value of an input is (byte - `mean`) / `std`, one number or one for each channel, where a byte
    is 0 .. 255; a mean of 0.485 of numbers up to 1 is 123.675 here. `mean_file`, an .npy file of
    channels x height x width, replaces `mean`. `size` is the shorter side in pixels before the
    middle is cut out (`fit` "crop"); "stretch" cuts nothing. What is None is as the file of the
    network says, else 0, 1, as small as the input allows, "rgb" and "crop". Pictures are read when
    they are used. Raises HexsimError if the folder holds none, or the steps are impossible.
    """
    chosen = {"resize": size, "channel_order": channel_order, "fit": fit}
    steps: dict[str, object] = {name: step for name, step in chosen.items() if step is not None}
    for name, values in (("mean", mean), ("std", std)):
        if values is not None:
            try:
                numbers = np.asarray(values, np.float64).reshape(-1)
            except (TypeError, ValueError):
                raise HexsimError(
                    f"{name} is {values!r}; give a number, or one for each channel"
                ) from None
            steps[name] = tuple(numbers.tolist())
    if mean_file is not None:
        from hexsim.inputs.preprocessing import mean_image

        if mean is not None:
            raise HexsimError("a mean is a number (mean) or an image (mean_file); give one")
        steps |= {"mean": (0.0,), "mean_image": mean_image(Path(mean_file))}
    fault = PictureSteps.of(None, steps).fault()
    if fault is not None:
        raise HexsimError(f"hexsim.pictures got {fault}; give finite numbers, and no std of 0")
    given = Pictures(Path(folder), steps)
    _ = given.files
    if std is not None and np.all(np.abs(np.asarray(std)) < 1):
        warn_caller(
            f"std {std} is less than 1, and pictures are bytes, 0 .. 255: for the mean and std of "
            "numbers up to 1, give both times 255"
        )
    return given
