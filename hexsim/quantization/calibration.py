"""Calibration observes the values of every activation over a set of inputs.

The float network runs in onnxruntime with every tensor as an output, one input at a time, and
only an observation of each tensor is stored. So memory is bounded by one set of activations and
one histogram per tensor for any number of inputs, and each input runs once.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

import numpy as np

from hexsim.errors import HexsimError
from hexsim.graph.ir import FloatArray, Network
from hexsim.onnx_io.float_engine import FloatEngine
from hexsim.quantization.histogram import Histogram
from hexsim.quantization.observation import Observation


def observe(
    network: Network,
    inputs: Iterable[Mapping[str, FloatArray]],
    progress: Callable[[int], None] = lambda done: None,
    *,
    with_histograms: bool = False,
    change: Callable[[Mapping[str, FloatArray]], Mapping[str, FloatArray]] = lambda arrays: arrays,
) -> dict[str, Observation]:
    """Return an observation of every float activation over `inputs` (arrays in stored order).

    Tensors whose size depends on values are left out. `progress` is called with the number of
    inputs done. `change` is called with the tensors of each inference; its result is observed.
    Raises HexsimError if there is no input, or if an input or activation holds NaN or infinity.
    """
    names = _observed(network)
    engine = FloatEngine(network, outputs=[n for n in names if n not in network.inputs])
    observations: dict[str, Observation] = {}
    count = 0
    for count, feed in enumerate(inputs, start=1):
        for name in network.inputs:
            if fault := network.input_format(name).fault(feed[name]):
                raise HexsimError(f"calibration input {count}: input '{name}' holds {fault}")
        for name, array in change({**feed, **engine.run(feed)}).items():
            if name not in names:
                continue
            observation = Observation.of(array)
            if not np.isfinite((observation.low, observation.high)).all():
                raise _not_finite(name, count, network)
            if with_histograms:
                observation = replace(observation, histogram=Histogram.of(array))
            earlier = observations.get(name)
            observations[name] = observation if earlier is None else earlier.joined(observation)
        progress(count)
    if count == 0:
        raise HexsimError("calibration needs at least one input; the list is empty")
    return observations


def unobserved(network: Network) -> dict[str, Observation]:
    """Return the range 0 to 1 for every float activation, without running the network."""
    return dict.fromkeys(_observed(network), Observation(0.0, 1.0))


def _observed(network: Network) -> tuple[str, ...]:
    return tuple(
        name for name, t in network.tensors.items() if t.dtype == "float32" and not t.varies
    )


def _not_finite(name: str, count: int, network: Network) -> HexsimError:
    """Return the error for a tensor `name` that holds NaN or infinity, with the cause if known."""
    what = f"calibration input {count} gives tensor '{name}' NaN or infinite values"
    layers = [network.producers[name]] if name in network.producers else []
    for layer in layers:
        for read in layer.inputs:
            constant = network.constants.get(read)
            if constant is not None and not np.isfinite(constant.value()).all():
                return HexsimError(
                    f"{what}: layer '{layer.name}' reads constant '{read}', which holds infinite "
                    "numbers, and no code stands for one; export the model with finite numbers"
                )
    return HexsimError(f"{what}; check that input and the model's weights")
