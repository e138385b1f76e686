"""What is compared: the model with encodings, the float reference, the classes.

Each function also says where its part comes from, in words for the report.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from hexsim.errors import HexsimError
from hexsim.quantization.overrides import NO_OVERRIDES, Overrides

if TYPE_CHECKING:
    from hexsim.container.loading import InputDims
    from hexsim.graph.ir import Network
    from hexsim.inputs.source import InputSource
    from hexsim.platform import Platform
    from hexsim.quantization.quantized import QuantizedNetwork


@dataclass(frozen=True)
class Given:
    """A model, over the weights of a float model if there is one, and what the reference is.

    `held` are the overrides of the float file, `overrides` those to be applied to it.
    """

    model: Network | QuantizedNetwork
    reference: str
    held: Overrides = NO_OVERRIDES
    overrides: Overrides = NO_OVERRIDES


def loaded(
    model: str, float_model: str | None, dims: InputDims, *, override_params: bool = False
) -> Given:
    """Load the model, over the weights of `float_model` if that is given.

    `override_params` asks for the overrides of the model.
    """
    from hexsim.accuracy.reference import with_reference
    from hexsim.container.loading import applied_overrides, load, load_container
    from hexsim.quantization.quantized import QuantizedNetwork, require_float

    source = load_container(model, input_dims=dims)
    read, overrides = source.model, applied_overrides(source, model, asked=override_params)
    if not isinstance(read, QuantizedNetwork):
        if float_model is not None:
            raise HexsimError(
                f"--float goes with a quantised model, and '{model}' is float; leave it out"
            )
        return Given(read, "float reference: the model itself", source.overrides, overrides)
    if float_model is None:
        return Given(
            read,
            "float reference: the file's own weights, which are rounded already; give the float "
            "model (--float) to see what rounding them costs",
        )
    floats = require_float(load(float_model, input_dims=dims))
    how = ", equalised as the quantised file was" if read.equalized else ""
    return Given(with_reference(read, floats), f"float reference: '{float_model}'{how}")


def both(
    model: str, float_model: str | None, dims: InputDims, *, override_params: bool = False
) -> tuple[Network | None, Given]:
    """The float network, if there is one, and what is quantised or to be."""
    from hexsim.container.loading import load
    from hexsim.quantization.quantized import QuantizedNetwork, float_network

    checked = loaded(model, float_model, dims, override_params=override_params)
    if not isinstance(checked.model, QuantizedNetwork):
        return checked.model, checked
    floats = None if float_model is None else float_network(checked.model)
    return floats, replace(checked, model=load(model, input_dims=dims))


def labelled(labels: Path | None, source: InputSource, network: Network) -> tuple[int, ...] | None:
    """The class of each input, if there is a file; seeded inputs have none."""
    from hexsim.accuracy.labels import read_labels

    if labels is None:
        return None
    if source.seeded:
        raise HexsimError("--labels belongs to the inputs of --input-list or --images; give both")
    return read_labels(labels, source.items, network, source.names, source.batch)


def quantized(
    given: Given,
    platform: Platform,
    calibration_list: Path | None,
    source: InputSource,
) -> tuple[QuantizedNetwork, str]:
    """The model with encodings, and where they come from: the calibration list, else `source`.

    Seeded inputs are calibrated on others than those that are compared.
    """
    from hexsim.api import seeded_calibration
    from hexsim.cli._progress import bar
    from hexsim.inputs.source import listed
    from hexsim.quantization.overrides.use import OverrideUse
    from hexsim.quantization.quantized import QuantizedNetwork, require_float

    model, overrides = given.model, given.overrides
    if isinstance(model, QuantizedNetwork):
        if calibration_list is not None:
            require_float(model)
        others = ", which suit the inputs it was calibrated on, not these" if source.seeded else ""
        return model, f"encodings of the file{others}"
    if calibration_list is not None:
        source = listed(calibration_list, model)
    if source.seeded:
        coded, on = platform.quantize(model, seeded_calibration(model), overrides), "seeded inputs"
    else:
        with bar("calibrating", source.sets) as progress:
            coded = platform.quantize(model, source.feeds(), overrides, progress)
        on = f"the {source.description}"
    use = OverrideUse.of(given.held, coded.overrides)
    return coded, f"quantised with default options on {on}{f'; {use}' if use else ''}"
