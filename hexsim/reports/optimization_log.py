"""The quantiser's log of its optimizations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hexsim.quantization.bias_correction import Correction
from hexsim.quantization.equalization import Equalization
from hexsim.quantization.optimizations import Optimized


def optimization_log(optimized: Optimized) -> Iterator[str]:
    """Yield lines on cross-layer equalization and on bias correction, none if neither ran."""
    if optimized.equalization is not None:
        yield from _equalization(optimized.equalization)
    if optimized.corrections:
        yield _correction(optimized.corrections)


def _equalization(equalization: Equalization) -> Iterator[str]:
    yield (
        f"[INFO] Cross-layer equalization: chains found: {len(equalization.chains)}, "
        f"convolutions skipped: {len(equalization.skipped)}."
    )
    for equalized in equalization.chains:
        yield (
            f"[INFO] Equalized {' - '.join(equalized.chain.layers)}: channels multiplied by "
            f"{equalized.smallest:.3g} to {equalized.largest:.3g}; ends at "
            f"'{equalized.chain.layers[-1]}' because {equalized.chain.end}."
        )
    for chain in equalization.skipped:
        yield f"[INFO] Skipped '{chain.layers[0]}': {chain.end}."
    if equalization.without_relu6:
        yield (
            "[WARNING] Relu6 became Relu, which changes the network where values exceed 6: "
            f"{_names(equalization.without_relu6)}."
        )
    for absorbed in equalization.absorptions:
        yield (
            f"[INFO] High biases of '{absorbed.giver}' absorbed by '{absorbed.taker}': "
            f"{absorbed.channels} channels, at most {absorbed.largest:.3g}."
        )
    for giver, taker in equalization.padded:
        yield (
            f"[INFO] High biases of '{giver}' stay where they are: '{taker}' pads its input with "
            "zeros, and would miss them at the border."
        )
    if equalization.without_moments:
        yield "[WARNING] Invalid model for HBA quantization algorithm."
        yield (
            "[WARNING] That is: high biases stay where they are, as the model has no batch norm "
            f"whose beta and gamma would tell which are high: "
            f"{_names(equalization.without_moments)}. Equalization itself was done."
        )


def _correction(corrections: Sequence[Correction]) -> str:
    largest = max(corrections, key=lambda correction: correction.steps)
    return (
        f"[INFO] Bias correction: {len(corrections)} layers, at most {largest.largest:.3g} "
        f"({largest.steps:.3g} steps of the output, in '{largest.layer}')."
    )


def _names(layers: Sequence[str]) -> str:
    return ", ".join(f"'{name}'" for name in layers)
