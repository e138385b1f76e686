"""What is compared: the model with encodings, the float reference, the classes.

Each function also says where its part comes from, in words for the report.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from hexsim.errors import HexsimError

if TYPE_CHECKING:
    from hexsim.graph.ir import Network
    from hexsim.inputs.source import InputSource
    from hexsim.loading import InputDims
    from hexsim.quantization.options import QuantizationOptions
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


def both(
    model: str, float_model: str | None, dims: InputDims
) -> tuple[Network | None, Network | QuantizedNetwork, str]:
    """The float network, if there is one, what is quantised or to be, and what is the reference."""
    from hexsim.loading import load
    from hexsim.quantization.quantized import QuantizedNetwork, float_network

    checked, reference = loaded(model, float_model, dims)
    if not isinstance(checked, QuantizedNetwork):
        return checked, checked, reference
    floats = None if float_model is None else float_network(checked)
    return floats, load(model, input_dims=dims), reference


def labelled(labels: Path | None, source: InputSource, network: Network) -> tuple[int, ...] | None:
    """The class of each input, if there is a file; seeded inputs have none."""
    from hexsim.accuracy.labels import read_labels

    if labels is None:
        return None
    if source.seeded:
        raise HexsimError("--labels belongs to the inputs of --input-list or --images; give both")
    return read_labels(labels, source.items, network, source.names, source.batch)


def quantized(
    model: Network | QuantizedNetwork,
    calibration_list: Path | None,
    source: InputSource,
    options: QuantizationOptions | None = None,
) -> tuple[QuantizedNetwork, str]:
    """The model with encodings, and where they come from: the calibration list, else `source`.

    Seeded inputs are calibrated on others than those that are compared.
    """
    from hexsim import api
    from hexsim.cli._progress import bar
    from hexsim.inputs.source import listed
    from hexsim.quantization.quantized import QuantizedNetwork, require_float
    from hexsim.quantization.quantizer import quantize

    if isinstance(model, QuantizedNetwork):
        if calibration_list is not None:
            require_float(model)
        others = ", which suit the inputs it was calibrated on, not these" if source.seeded else ""
        return model, f"encodings of the file{others}"
    if calibration_list is not None:
        source = listed(calibration_list, model)
    if source.seeded:
        coded = api.quantize(model, options=options)
        return coded, "quantised with default options on seeded inputs"
    with bar("calibrating", source.sets) as progress:
        coded = quantize(model, source.feeds(), options, progress=progress)
    return coded, f"quantised with default options on the {source.description}"
