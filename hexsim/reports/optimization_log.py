"""What the optimizations did, in the style of the quantiser's log."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hexsim.quantization.bias_correction import Correction
from hexsim.quantization.equalization import Equalization
from hexsim.quantization.optimizations import Optimized


def optimization_log(done: Optimized) -> Iterator[str]:
    """Yield lines on cross-layer equalization and on bias correction, none if neither ran."""
    if done.equalization is not None:
        yield from _equalization(done.equalization)
    if done.corrections:
        yield _correction(done.corrections)


def _equalization(done: Equalization) -> Iterator[str]:
    yield (
        f"[INFO] Cross-layer equalization: chains found: {len(done.chains)}, "
        f"convolutions skipped: {len(done.skipped)}."
    )
    for one in done.chains:
        yield (
            f"[INFO] Equalized {' - '.join(one.chain.layers)}: channels multiplied by "
            f"{one.smallest:.3g} to {one.largest:.3g}; ends at '{one.chain.layers[-1]}' because "
            f"{one.chain.end}."
        )
    for chain in done.skipped:
        yield f"[INFO] Skipped '{chain.layers[0]}': {chain.end}."
    if done.without_relu6:
        yield (
            "[WARNING] Relu6 became Relu, which changes the network where values exceed 6: "
            f"{_names(done.without_relu6)}."
        )
    for absorbed in done.absorptions:
        yield (
            f"[INFO] High biases of '{absorbed.giver}' absorbed by '{absorbed.taker}': "
            f"{absorbed.channels} channels, at most {absorbed.largest:.3g}."
        )
    if done.without_moments:
        yield "[WARNING] Invalid model for HBA quantization algorithm."
        yield (
            "[WARNING] That is: high biases stay where they are, as the model has no batch norm "
            f"whose beta and gamma would tell which are high: {_names(done.without_moments)}. "
            "Equalization itself was done."
        )


def _correction(corrections: Sequence[Correction]) -> str:
    most = max(corrections, key=lambda one: one.steps)
    return (
        f"[INFO] Bias correction: {len(corrections)} layers, at most {most.largest:.3g} "
        f"({most.steps:.3g} steps of the output, in '{most.layer}')."
    )


def _names(layers: Sequence[str]) -> str:
    return ", ".join(f"'{name}'" for name in layers)
