"""The steps around quantising: equalization before quantising, bias correction after it.

Empirical bias correction subtracts the average shift of quantisation from the bias
(docs/concepts/equalisation.md). Source: Nagel et al., arXiv:1906.04721, section 4.2 and appendix D.
The quantised side is simulated layer by layer in floats, with inputs, weights, biases and outputs
rounded to the values of their codes; integer kernels differ from chip to chip, and a file is made
for all of them. Between layers only the codes of all inputs are stored, so memory is bounded by the
widest cut through the network times the number of inputs.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from hexsim.errors import HexsimError, counting, spelled, unknown
from hexsim.graph.ir import Constant, FloatArray, Layer, Network, Tensor
from hexsim.layers import NO_CLAMP, Neuron, Weighted
from hexsim.onnx_io.float_engine import FloatEngine
from hexsim.quantization.calibration import Calibrated
from hexsim.quantization.equalization import Equalization, equalize, with_own_parameters
from hexsim.quantization.model import Model
from hexsim.quantization.options import QuantizationOptions
from hexsim.quantization.overrides import NO_OVERRIDES, Overrides
from hexsim.quantization.quantizer import quantize
from hexsim.quantization.rules.choice import encode
from hexsim.quantization.rules.rule import MinMax
from hexsim.records import dataclass, replace

Feed = Mapping[str, FloatArray]


class Codes:
    """Tensors of all calibration inputs, stored as codes or float16 if the model does so."""

    def __init__(self, model: Model) -> None:
        self._encodings = model.activations
        self._floats = model.floats
        self._arrays: dict[str, list[npt.NDArray[np.generic]]] = {}

    def add(self, name: str, array: FloatArray) -> None:
        """Store a tensor of the next input."""
        encoding = self._encodings.get(name)
        stored: npt.NDArray[np.generic] = array if encoding is None else encoding.quantize(array)
        if self._floats.get(name) == 16:
            stored = array.astype(np.float16)
        self._arrays.setdefault(name, []).append(stored)

    def feeds(self, names: Iterable[str]) -> Iterator[Feed]:
        """Yield the tensors `names` of each input in turn, as real numbers."""
        columns = {name: self._arrays[name] for name in dict.fromkeys(names)}
        for row in zip(*columns.values(), strict=True):
            yield {
                name: self._real(name, stored) for name, stored in zip(columns, row, strict=True)
            }

    def forget_all_but(self, names: set[str]) -> None:
        """Drop all tensors except `names`."""
        self._arrays = {name: arrays for name, arrays in self._arrays.items() if name in names}

    def _real(self, name: str, stored: npt.NDArray[Any]) -> FloatArray:
        encoding = self._encodings.get(name)
        if encoding is None:
            return stored.astype(np.float32, copy=False) if stored.dtype == np.float16 else stored
        return encoding.dequantize(stored)


def run_rounded(layer: Layer, model: Model, codes: Codes) -> Iterator[Feed]:
    """Yield the outputs of a layer with rounded parameters for each input, before rounding."""
    tensors = model.network.tensors
    names = [name for name in dict.fromkeys(layer.inputs) if name in tensors]
    engine = FloatEngine(model.as_coded.subnetwork([layer], names, layer.outputs))
    return (engine.run(feed) for feed in codes.feeds(names))


Means = npt.NDArray[np.float64]
"""One number per channel, in real units."""


@dataclass(frozen=True)
class Correction:
    """The largest change of a layer's bias, in real units and in steps of its output."""

    layer: str
    largest: float
    steps: float


def correct_biases(
    model: Model,
    inputs: Callable[[], Iterable[Feed]],
    options: QuantizationOptions,
    progress: Callable[[int], None] = lambda done: None,
    calibrated: Calibrated | None = None,
) -> tuple[Model, tuple[Correction, ...]]:
    """Correct the biases of `model`, quantised with `options`, over `inputs` (at least one).

    Each call of `inputs` yields all calibration inputs, arrays in stored order. `progress` is
    called with the number of layers done. A layer whose weights stay float is not changed.
    """
    model = replace(model, network=with_own_parameters(model.network))
    wanted = (calibrated or Calibrated()).part(
        ("means", model.network), lambda: _float_means(model.network, inputs())
    )
    codes = Codes(model)
    for feed in inputs():
        for name, array in feed.items():
            codes.add(name, array)
    corrections = []
    for done, layer in enumerate(model.network.layers, start=1):
        if isinstance(layer, Weighted) and layer.weight in model.parameters:
            shift = wanted[layer.name] - _mean(layer, model, codes)
            model = _with_bias(model, layer, shift, options)
            largest = float(np.abs(shift).max())
            step = model.activations[layer.output].delta
            corrections.append(Correction(layer.name, largest, largest / step))
        for output in run_rounded(layer, model, codes):
            for name, array in output.items():
                codes.add(name, array)
        codes.forget_all_but({n for later in model.network.layers[done:] for n in later.inputs})
        progress(done)
    return model, tuple(corrections)


def _mean(layer: Weighted, model: Model, codes: Codes) -> Means:
    """Return the mean of each channel of the layer's output before its clamp."""
    mean = _Mean()
    for output in run_rounded(layer.replace(clamp=NO_CLAMP), model, codes):
        mean.add(output[layer.output])
    return mean.value


def _float_means(network: Network, inputs: Iterable[Feed]) -> dict[str, Means]:
    layers: list[Layer] = []
    tensors: list[Tensor] = []
    before: dict[str, str] = {}
    for layer in network.layers:
        if not isinstance(layer, Weighted):
            layers.append(layer)
            continue
        output, name = layer.output, f"{layer.output} before its clamp"
        before[layer.name] = name
        tensors.append(replace(network.tensors[output], name=name))
        layers.append(layer.replace(outputs=(name,), clamp=NO_CLAMP))
        clamp = Neuron(
            name=f"{layer.name} clamp",
            inputs=(name,),
            outputs=(output,),
            function="clamp",
            clamp=layer.clamp,
        )
        layers.append(clamp)
    engine = FloatEngine(network.with_layers(layers, tensors), outputs=list(before.values()))
    means = {name: _Mean() for name in before}
    for feed in inputs:
        run = engine.run(feed)
        for name, mean in means.items():
            mean.add(run[before[name]])
    return {name: mean.value for name, mean in means.items()}


class _Mean:
    """Mean of each channel, the last axis, over all arrays added."""

    def __init__(self) -> None:
        self._sum: Means = np.zeros(1)
        self._count = 0

    def add(self, array: FloatArray) -> None:
        rows = array.reshape(-1, array.shape[-1])
        self._sum = self._sum + rows.sum(axis=0, dtype=np.float64)
        self._count += len(rows)

    @property
    def value(self) -> Means:
        return self._sum / self._count


def _with_bias(model: Model, layer: Weighted, shift: Means, options: QuantizationOptions) -> Model:
    """Return the model with `shift` added to a bias and an 8-bit encoding computed anew."""
    assert layer.bias is not None
    network, old = model.network, model.network.constants[layer.bias]
    bias = Constant(old.name, old.shape, old.finite().astype(np.float64) + shift, old.dtype)
    network = network.with_layers(network.layers, constants=[bias])
    if old.name not in model.parameters:  # the bias has the accumulator's scale
        return replace(model, network=network)
    encoding = encode(MinMax(minimum_range=options.minimum_range), bias.value())
    return replace(model, network=network, parameters={**model.parameters, bias.name: encoding})


Optimization = Literal["cle", "bc"]

Inputs = Callable[[], Iterable[Mapping[str, FloatArray]]]
"""Yields the calibration inputs from the first on, arrays in stored order."""


@dataclass(frozen=True)
class Optimized:
    """A quantised network, and the changes that the optimizations made."""

    model: Model
    equalization: Equalization | None = None
    corrections: tuple[Correction, ...] = ()


def quantize_optimized(
    network: Network,
    inputs: Inputs | None,
    options: QuantizationOptions | None = None,
    optimizations: Sequence[Optimization] = (),
    overrides: Overrides = NO_OVERRIDES,
    count: int = 0,
    calibrated: Calibrated | None = None,
) -> Optimized:
    """Quantise `network` with `optimizations`; `count` is the number of inputs, if known.

    What was `calibrated` for another way to quantise on the same inputs is not computed again.

    Without `inputs` nothing is calibrated, and `Model.uncalibrated` says what should be; biases
    cannot be corrected.
    A range in `overrides` holds for the values before optimizing. So it is ignored, and reported,
    for tensors and constants that equalization rescaled and for biases that are corrected.
    Raises HexsimError like `quantize` and `parse_optimizations`.
    """
    chosen, options = parse_optimizations(optimizations), options or QuantizationOptions()
    calibrated, equalization = calibrated or Calibrated(), None
    if "cle" in chosen:
        equalization = calibrated.part(("equalised", network), partial(equalize, network))
        network = equalization.network
    with counting("calibrating", count) as progress:
        outdated = _outdated(network, equalization, corrects="bc" in chosen)
        feeds = None if inputs is None else inputs()
        model = quantize(network, feeds, options, progress, overrides, outdated, calibrated)
    model = replace(model, equalized=equalization is not None)
    corrections: tuple[Correction, ...] = ()
    if "bc" in chosen and inputs is not None:
        with counting("correcting biases", len(network.layers)) as progress:
            model, corrections = correct_biases(model, inputs, options, progress, calibrated)
    return Optimized(model, equalization, corrections)


def quantize_coded(
    network: Network,
    options: QuantizationOptions | None,
    optimizations: Sequence[Optimization],
    overrides: Overrides,
) -> Optimized | tuple[str, ...]:
    """Quantise a network whose overrides leave nothing to calibrate, or return what they leave.

    That is nothing if no inputs are needed for ranges, but for `optimizations`, or if there are no
    overrides.
    """
    if not overrides or "bc" in optimizations:
        return ()
    done = quantize_optimized(network, None, options, optimizations, overrides)
    return done.model.uncalibrated or done


def _outdated(
    network: Network, equalization: Equalization | None, *, corrects: bool
) -> dict[str, str]:
    """Return the tensors and constants whose values differ from the float file, with the reason."""
    biases: set[str] = set()
    if corrects:
        weighted = (layer for layer in network.layers if isinstance(layer, Weighted))
        biases = {layer.bias for layer in weighted if layer.bias is not None}
    rescaled = equalization.rescaled if equalization else frozenset()
    return {
        **{name: f"bias correction changes '{name}'" for name in biases},
        **{name: f"cross-layer equalization rescaled '{name}'" for name in rescaled},
    }


def parse_optimizations(words: Sequence[str]) -> tuple[Optimization, ...]:
    """Check names of optimizations; a word may hold several names separated by commas.

    Raises HexsimError for an unknown name, and for `bc` without `cle`.
    """
    known = get_args(Optimization)
    requested = {part.strip() for word in words for part in word.split(",")}
    for name in sorted(requested):
        if name not in known:
            raise unknown("optimization", name, known)
    if requested == {"bc"}:
        raise HexsimError(
            "bias correction (bc) is never run without cross-layer equalization: correcting the "
            f"means of weights that are this coarse saves nothing; give "
            f"{spelled('optimizations', ('cle', 'bc'))}"
        )
    return tuple(name for name in known if name in requested)
