"""What `hexsim validate` compares: the inputs, the model with encodings, the float reference.

Each function also says where its part comes from, in words for the report.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from hexsim.errors import HexsimError

if TYPE_CHECKING:
    from hexsim.accuracy.validation import Feed
    from hexsim.graph.ir import Network
    from hexsim.loading import InputDims
    from hexsim.quantization.quantized import QuantizedNetwork


def loaded(
    model: str, float_model: str | None, dims: InputDims
) -> tuple[Network | QuantizedNetwork, str]:
    """The model, over the weights of `float_model` if that is given."""
    from hexsim.accuracy.reference import with_reference
    from hexsim.loading import load
    from hexsim.quantization.quantized import QuantizedNetwork, require_float

    read = load(model, input_dims=dims)
    if not isinstance(read, QuantizedNetwork):
        if float_model is not None:
            raise HexsimError(
                f"--float goes with a quantised model, and '{model}' is float; leave it out"
            )
        return read, "float reference: the model itself"
    if float_model is None:
        return read, (
            "float reference: the file's own weights, which are rounded already; give the float "
            "model (--float) to see what rounding them costs"
        )
    floats = require_float(load(float_model, input_dims=dims))
    how = ", equalised as the quantised file was" if read.equalized else ""
    return with_reference(read, floats), f"float reference: '{float_model}'{how}"


def inputs(path: Path | None, network: Network) -> tuple[Callable[[], Iterable[Feed]], int, str]:
    """A function that yields the inputs from the first on, their number, and their source."""
    from hexsim.api import seeded_calibration
    from hexsim.benchmark import EVALUATION_INPUTS
    from hexsim.quantization.input_list import read_input_list

    if path is not None:
        listed = read_input_list(path, network)
        return lambda: listed.arrays(network), len(listed.sets), f"inputs of '{path}'"
    seeded = seeded_calibration(network, EVALUATION_INPUTS, seed=1)
    return lambda: seeded, len(seeded), "seeded inputs, on which classes mean nothing"


def quantized(
    model: Network | QuantizedNetwork, calibration_list: Path | None, input_list: Path | None
) -> tuple[QuantizedNetwork, str]:
    """The model with encodings, and where they come from."""
    from hexsim import api
    from hexsim.cli._progress import bar
    from hexsim.quantization.input_list import read_input_list
    from hexsim.quantization.quantized import QuantizedNetwork, require_float
    from hexsim.quantization.quantizer import quantize

    if isinstance(model, QuantizedNetwork):
        if calibration_list is not None:
            require_float(model)
        return model, "encodings of the file"
    path = calibration_list or input_list
    if path is None:
        return api.quantize(model), "quantised with default options on seeded inputs"
    listed = read_input_list(path, model)
    with bar("calibrating", len(listed.sets)) as progress:
        coded = quantize(model, listed.arrays(model), progress=progress)
    return coded, f"quantised with default options on the inputs of '{path}'"
