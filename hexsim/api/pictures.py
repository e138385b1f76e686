"""`hexsim.pictures`: a folder of pictures as inputs of networks."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal, TypedDict, Unpack

import numpy as np

from hexsim.errors import HexsimError, unknown, warn_caller
from hexsim.graph.network_ends import PictureSteps
from hexsim.inputs.input_sets import Pictures
from hexsim.texts.arguments import arguments_checked


class Steps(TypedDict, total=False):
    """How pictures become inputs, as `pictures` says."""

    mean: float | Sequence[float] | None
    std: float | Sequence[float] | None
    size: int | None
    channel_order: Literal["rgb", "bgr"] | None
    fit: Literal["crop", "stretch"] | None
    mean_file: str | Path | None


_CHOICES: Mapping[str, tuple[str, ...]] = {
    "channel_order": ("rgb", "bgr"),
    "fit": ("crop", "stretch"),
}


@arguments_checked
def pictures(folder: str | Path, **how: Unpack[Steps]) -> Pictures:
    """Return the pictures in `folder` as inputs for the functions that take some.

    `how` are the fields of `Steps`. A value of an input is (byte - `mean`) / `std`, one number or
    one for each channel, where a byte is 0 .. 255; a mean of 0.485 of numbers up to 1 is 123.675
    here. `mean_file`, an .npy file of channels x height x width, replaces `mean`. `size` is the
    shorter side in pixels before the middle is cut out (`fit` "crop"); "stretch" cuts nothing. What
    is None is as the file of the network says, else 0, 1, as small as the input allows, "rgb" and
    "crop". Pictures are read when they are used. Raises HexsimError if the folder holds none, or
    the steps are impossible.
    """
    given = Pictures(Path(folder), steps_of(how))
    _ = given.files
    std = how.get("std")
    if std is not None and np.all(np.abs(np.asarray(std)) < 1):
        warn_caller(
            f"std {std} is less than 1, and pictures are bytes, 0 .. 255: for the mean and std of "
            "numbers up to 1, give both times 255"
        )
    return given


def steps_of(how: Steps) -> dict[str, object]:
    """Return steps as fields of `PictureSteps`; HexsimError if they are impossible."""
    for name, step in how.items():
        if name not in Steps.__annotations__:
            raise unknown("step of pictures", name, Steps.__annotations__)
        if name in _CHOICES and step not in (None, *_CHOICES[name]):
            raise unknown(f"value of {name}", str(step), _CHOICES[name])
    named = {"resize" if name == "size" else name: step for name, step in how.items()}
    steps = {name: step for name, step in named.items() if step is not None}
    mean_file = steps.pop("mean_file", None)
    for name in steps.keys() & {"mean", "std"}:
        try:
            numbers = np.asarray(steps[name], np.float64).reshape(-1)
        except (TypeError, ValueError):
            raise HexsimError(
                f"{name} is {steps[name]!r}; give a number, or one for each channel"
            ) from None
        steps[name] = tuple(numbers.tolist())
    if mean_file is not None:
        from hexsim.inputs.preprocessing import mean_image

        if "mean" in steps:
            raise HexsimError("a mean is a number (mean) or an image (mean_file); give one")
        steps |= {"mean": (0.0,), "mean_image": mean_image(Path(str(mean_file)))}
    fault = PictureSteps.of(None, steps).fault()
    if fault is not None:
        raise HexsimError(f"hexsim.pictures got {fault}; give finite numbers, and no std of 0")
    return steps
