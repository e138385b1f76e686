"""The steps around quantising: equalization before quantising, bias correction after it."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from typing import Literal, get_args

from hexsim.errors import HexsimError, spelled, unknown
from hexsim.graph.ir import FloatArray, Network
from hexsim.layers import Weighted
from hexsim.quantization.bias_correction import Correction, correct_biases
from hexsim.quantization.equalization import Equalization, equalize
from hexsim.quantization.model import Model
from hexsim.quantization.options import QuantizationOptions
from hexsim.quantization.overrides import NO_OVERRIDES, Overrides
from hexsim.quantization.quantizer import quantize

Optimization = Literal["cle", "bc"]

Inputs = Callable[[], Iterable[Mapping[str, FloatArray]]]
"""Yields the calibration inputs from the first on, arrays in stored order."""

Bar = Callable[[str, int], AbstractContextManager[Callable[[int], None]]]
"""Opens a progress bar with a title and a total; yields a function that takes the number done."""


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
    bar: Bar = lambda title, total: nullcontext(lambda done: None),
    count: int = 0,
) -> Optimized:
    """Quantise `network` with `optimizations`; `count` is the number of inputs, for `bar`.

    Without `inputs` nothing is calibrated, and `Model.uncalibrated` says what should be; biases
    cannot be corrected.
    A range in `overrides` holds for the values before optimizing. So it is ignored, and reported,
    for tensors and constants that equalization rescaled and for biases that are corrected.
    Raises HexsimError like `quantize` and `parse_optimizations`.
    """
    chosen, options = parse_optimizations(optimizations), options or QuantizationOptions()
    equalization = equalize(network) if "cle" in chosen else None
    if equalization is not None:
        network = equalization.network
    with bar("calibrating", count) as progress:
        outdated = _outdated(network, equalization, corrects="bc" in chosen)
        feeds = None if inputs is None else inputs()
        model = quantize(network, feeds, options, progress, overrides, outdated)
    model = replace(model, equalized=equalization is not None)
    corrections: tuple[Correction, ...] = ()
    if "bc" in chosen and inputs is not None:
        with bar("correcting biases", len(network.layers)) as progress:
            model, corrections = correct_biases(model, inputs, options, progress)
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
