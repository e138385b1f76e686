"""The Python API: load, quantise, simulate.

    net = hexsim.load("m.onnx")
    q = hexsim.quantize(net, inputs)
    r = hexsim.simulate(q, chip="sd835", runtime="dsp", inputs=x)
    r.outputs, r.total_us, r.layers, r.timeline

Arrays that come from or go to the caller are in the ONNX file's own axis order.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from hexsim.container.loading import load, load_container
from hexsim.errors import HexsimError
from hexsim.execution.plan_executor import PlanExecutor, stored_inputs
from hexsim.graph.ir import FloatArray, Network
from hexsim.hta.offline import orders, with_hta
from hexsim.inputs.seeded import as_bytes, seeded_inputs
from hexsim.platform import Platform
from hexsim.platforms.background import load as load_background
from hexsim.quantization.optimizations import Optimization, quantize_optimized
from hexsim.quantization.options import QuantizationOptions
from hexsim.quantization.overrides import NO_OVERRIDES, Overrides
from hexsim.quantization.overrides.aimet import read_aimet
from hexsim.quantization.overrides.outcome import KeyOutcome
from hexsim.quantization.quantized import QuantizedNetwork, require_float
from hexsim.runtimes import Runtime
from hexsim.timing.results import LayerTiming, Result, Timeline

Inputs = Mapping[str, npt.ArrayLike] | npt.ArrayLike

__all__ = [
    "QuantizationOptions",
    "Simulation",
    "compile_hta",
    "load",
    "quantize",
    "read_overrides",
    "seeded_calibration",
    "simulate",
]

CALIBRATION_INPUTS = 8
"""Seeded inputs used when a float network is quantised at load and none are given; the SNPE
guide calls 5 to 10 enough to try."""


@dataclass(frozen=True)
class Simulation:
    """What one simulated inference took and, if inputs were given, what it answered.

    `outputs` maps ONNX output names to float32 arrays in the ONNX file's axis order. `overrides`
    tells what became of each that was given.
    """

    timing: Result
    outputs: dict[str, FloatArray] | None
    overrides: tuple[KeyOutcome, ...] = ()

    @property
    def total_us(self) -> float:
        """Total inference time in microseconds."""
        return self.timing.total_us

    @property
    def layers(self) -> tuple[LayerTiming, ...]:
        """Time and counters of each layer."""
        return self.timing.layers

    @property
    def timeline(self) -> Timeline:
        """Everything that happened, by track."""
        return self.timing.timeline


def quantize(
    model: Network | QuantizedNetwork,
    inputs: Iterable[Inputs] | None = None,
    options: QuantizationOptions | None = None,
    overrides: Overrides = NO_OVERRIDES,
    optimizations: Sequence[Optimization] = (),
) -> QuantizedNetwork:
    """Quantise a float network.

    `inputs` are calibration inputs, each an array (one input) or a mapping by input name, in
    ONNX axis order; None takes seeded ones. `optimizations` are "cle", cross-layer equalization,
    and "bc", bias correction, which needs it. `overrides` (see `read_overrides`) replace what the
    quantiser would choose; `QuantizedNetwork.overrides` tells what became of them. Raises
    HexsimError if `model` is quantised already, or overrides are of no use to it.
    """
    network = require_float(model)
    if inputs is None:
        feeds: Iterable[dict[str, FloatArray]] = seeded_calibration(network)
    else:
        feeds = (_stored(network, one) for one in inputs)
    if "bc" in optimizations:
        feeds = list(feeds)
    return quantize_optimized(
        network, lambda: feeds, options, optimizations, overrides=overrides
    ).model


def compile_hta(
    model: QuantizedNetwork,
    chip: str | Path = "sd855",
    partitions: str = "",
    *,
    stack: str | Path | None = None,
) -> QuantizedNetwork:
    """Return `model` with sections for the tensor engine of `chip`, which `aip` then uses.

    `partitions` lists the sections by layer ids, as in "0-11,15-20", perhaps for a chip that it
    names, as in "sm8250:0-20"; "" takes all that the rules of `stack` allow. Raises HexsimError,
    with the layer and the nearest legal cut, if a section breaks a rule, or if nothing can be
    compiled.
    """
    (order,) = orders([partitions] if partitions else [], str(chip), stack)
    return with_hta(model, order)


def read_overrides(source: str | Path) -> Overrides:
    """Read overrides from an encodings file of AIMET (.json), or those that a model holds.

    A .dlc file holds what it was converted with, an ONNX file what its quantisation nodes say.
    Raises HexsimError naming file, tensor and key of the first mistake.
    """
    if Path(source).suffix.lower() in (".json", ".encodings"):
        return read_aimet(source)
    return load_container(source).overrides


def simulate(
    model: Network | QuantizedNetwork | str | Path,
    chip: str | Path = "sd835",
    runtime: Runtime = "dsp",
    inputs: Inputs | None = None,
    *,
    stack: str | Path | None = None,
    perf_profile: str | None = None,
    idle_ms: float = 0.0,
    power_collapse: bool = True,
    background: Iterable[str | Path] = (),
    cpu_fallback: bool = True,
    overrides: Overrides = NO_OVERRIDES,
) -> Simulation:
    """Simulate one inference of `model` on `runtime` of `chip`.

    Without `inputs` only time is simulated and no weight is touched. A float network on dsp is
    quantised at load, which lengthens its initialisation; `overrides` (see `read_overrides`) are
    then applied, none otherwise. `idle_ms` is how long the phone had
    been idle before the call, `power_collapse` whether DSP and tensor engine then fall asleep;
    `background` names loads (or their TOML files) whose clients use the
    DSP meanwhile, their latencies being in `timing.clients`. Raises HexsimError for anything that
    cannot be done, by name.
    """
    if isinstance(model, str | Path):
        model = load(model)
    platform = Platform.load(chip, stack)
    if not power_collapse:
        platform = platform.without_power_collapse()
    loaded = as_loaded(model, platform, runtime, overrides) if overrides else model
    plan = platform.plan(loaded, runtime, cpu_fallback=cpu_fallback)
    if loaded is not model:
        plan = plan.of_float_file()
    outcomes = loaded.overrides if isinstance(loaded, QuantizedNetwork) and overrides else ()
    timing = platform.simulate(
        plan,
        perf_profile=perf_profile,
        idle_ms=idle_ms,
        background=tuple(load_background(name) for name in background),
    )
    if inputs is None:
        return Simulation(timing, None, outcomes)
    network = plan.network
    feed = _stored(network, inputs)
    loaded = as_loaded(loaded, platform, runtime)
    outputs = PlanExecutor(plan, loaded, signed_weights=platform.signed_weights(runtime)).run(feed)
    return Simulation(timing, {n: _source(network, n, a) for n, a in outputs.items()}, outcomes)


def as_loaded(
    model: Network | QuantizedNetwork,
    platform: Platform,
    runtime: Runtime,
    overrides: Overrides = NO_OVERRIDES,
) -> Network | QuantizedNetwork:
    """`model` as `runtime` computes it: quantised on seeded inputs if it does that at load.

    Raises HexsimError if there are `overrides` and it does not.
    """
    quantised = isinstance(model, QuantizedNetwork)
    effect = platform.load_rule(runtime, quantized=quantised).effect
    if not isinstance(model, QuantizedNetwork) and effect == "quantise":
        return platform.quantize(model, seeded_calibration(model), overrides)
    if overrides:
        what = "quantised already" if quantised else "not quantised at load"
        raise HexsimError(
            f"overrides are applied when a network is quantised, and '{model.name}' is {what} on "
            f"{runtime} of {platform.stack.name}; leave them out, or quantise it with them first"
        )
    return model


def seeded_calibration(
    network: Network, count: int = CALIBRATION_INPUTS, seed: int = 0
) -> list[dict[str, FloatArray]]:
    """Seeded inputs for `network`, in stored order."""
    shapes = {name: network.tensors[name].source_shape for name in network.inputs}
    sets = seeded_inputs(shapes, count, seed)
    for name, form in network.input_formats.items():
        if form.type == "image":
            for one in sets:
                one[name] = as_bytes(one[name])
    return [stored_inputs(network, one) for one in sets]


def _stored(network: Network, inputs: Inputs) -> dict[str, FloatArray]:
    if isinstance(inputs, Mapping):
        return stored_inputs(network, {n: np.asarray(a) for n, a in inputs.items()})
    return stored_inputs(network, {network.inputs[0]: np.asarray(inputs)})


def _source(network: Network, name: str, array: FloatArray) -> FloatArray:
    source: FloatArray = np.asarray(network.tensors[name].to_source(array), order="C")
    return source
